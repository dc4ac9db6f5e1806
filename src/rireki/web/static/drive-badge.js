// On every page: how many things wait for the person, and prompts that did not get through yet.

import { deliverAll } from "./drive-send.js";
import { follow, sessions } from "./driven.js";
import { say } from "./words.js";

const badge = document.getElementById("waiting");

function count() {
  const number = [...sessions.values()].reduce((sum, { asks }) => sum + asks.length, 0);
  badge.textContent = String(number);
  badge.hidden = number === 0;
  badge.parentElement.setAttribute("aria-label", say("inbox", { n: number }));
  const title = document.title.replace(/^\(\d+\) /, "");
  document.title = number ? `(${number}) ${title}` : title;
}

follow((said) => {
  if (said.kind !== "delta" && said.kind !== "settled") count();
});
deliverAll();
addEventListener("online", deliverAll);
