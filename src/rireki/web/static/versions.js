// The slider over the moments of a conversation: what stands below it is brought as it was then.

import { Stream } from "./stream.js";

const slider = document.getElementById("moment");
const stream = new Stream(document.getElementById("stream"));
/** @type {Element[]} */
const moments = [...document.querySelectorAll(".moments a")];
const summary = document.getElementById("summary");
const whole = document.getElementById("whole");
const SOON = 80;

/** @type {number} */
let timer = null;
/** @type {AbortController} */
let asking = null;

slider.addEventListener("input", () => {
  const moment = moments[Number(slider.value)];
  slider.setAttribute("aria-valuetext", moment.textContent);
  clearTimeout(timer);
  timer = setTimeout(() => show(moment), SOON);
});

for (const moment of moments) {
  moment.addEventListener("click", (event) => {
    event.preventDefault();
    slider.value = moment.dataset.place;
    show(moment);
  });
}

/** @param {Element} moment */
async function show(moment) {
  asking?.abort();
  asking = new AbortController();
  const asked = new URLSearchParams({ as_of: moment.dataset.at });
  const url = `${slider.dataset.url}?${asked}`;
  let answer;
  try {
    const response = await fetch(`${url}&fragment=1`, { signal: asking.signal });
    if (!response.ok) return location.assign(url);
    answer = await response.json();
  } catch (error) {
    if (error.name === "AbortError") return;
    throw error;
  }
  const holder = document.createElement("template");
  holder.innerHTML = answer.html;
  stream.element.dataset.asOf = answer.as_of;
  stream.show([...holder.content.children].map((unit) => unit.outerHTML), answer.total);
  summary.innerHTML = answer.summary;
  whole.href = `${whole.pathname}?${asked}`;
  for (const each of moments) each.parentElement.removeAttribute("aria-current");
  moment.parentElement.setAttribute("aria-current", "true");
  history.replaceState(null, "", url);
}
