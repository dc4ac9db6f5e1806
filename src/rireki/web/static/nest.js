// Sub-agents told where they were started: their messages are brought when somebody wants them here.

import { made } from "./stream.js";
import { say } from "./words.js";

/**
 * Give every sub-agent in these units a button that tells it in place.
 * @param {Element} element
 */
export function offer(element) {
  for (const line of element.querySelectorAll("p.subagent:not([data-offered])")) {
    const link = line.querySelector("a");
    if (!link) continue;
    line.dataset.offered = "1";
    const button = made('<button type="button" class="nest" aria-expanded="false"></button>');
    button.textContent = say("nest");
    button.addEventListener("click", () => toggle(button, line, link));
    line.append(button);
  }
}

/**
 * @param {Element} button
 * @param {Element} line
 * @param {HTMLAnchorElement} link
 */
async function toggle(button, line, link) {
  const open = button.getAttribute("aria-expanded") !== "true";
  const known = line.nextElementSibling?.matches(".nested") ? line.nextElementSibling : null;
  if (known) known.hidden = !open;
  else if (!(await bring(line, link))) return;
  button.setAttribute("aria-expanded", String(open));
  button.textContent = say(open ? "unnest" : "nest");
}

/**
 * @param {Element} line
 * @param {HTMLAnchorElement} link
 */
async function bring(line, link) {
  const url = new URL(link.href).pathname.replace(/^\/c\//, "/fragments/");
  const response = await fetch(url);
  if (!response.ok) {
    location.assign(link.href);
    return false;
  }
  /** @type {Fragments} */
  const answer = await response.json();
  const nested = made('<div class="nested"></div>');
  nested.append(...answer.units.map((unit) => made(unit.html)));
  if (answer.units.length < answer.total) {
    const rest = /** @type {Element} */ (link.cloneNode(true));
    rest.append(` (${answer.units.length} / ${answer.total})`);
    nested.append(rest);
  }
  offer(nested);
  line.after(nested);
  return true;
}
