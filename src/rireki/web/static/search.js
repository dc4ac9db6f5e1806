// Searching as one types: in a panel below the box, or on the page of results itself.

import { say } from "./words.js";

const box = document.getElementById("query");
const quick = document.getElementById("quick");
const page = document.getElementById("results");
const help = document.getElementById("query-help");
const helpSwitch = document.getElementById("query-help-switch");
const SOON = 120;
/** What may only be unfinished is told when nothing was typed for so long. */
const PAUSE = 1500;
/** Facets are asked for so long after the results. */
const AFTER = 250;
/** While the server is away, it is asked again so often. */
const AGAIN = 2000;

/** @type {number} */
let timer = null;
/** @type {number} */
let telling = null;
/** @type {number} */
let narrowing = null;
/** @type {AbortController} */
let asking = null;
/**
 * What was asked last, and what the panel answers.
 * @type {string}
 */
let asked = null;
/** @type {string} */
let answered = null;
/** Enter was pressed before the answer was there. */
let goesOn = false;

/**
 * Whether a key is one for the input method; 229 is what it sends in between.
 * @param {KeyboardEvent} event
 */
export function isComposing(event) {
  return event.isComposing || event.keyCode === 229;
}

box.addEventListener("input", () => {
  goesOn = false;
  clearTimeout(timer);
  clearTimeout(telling);
  timer = setTimeout(find, SOON);
  if (page) lead(box.value);
});

/**
 * The same search in another order or language is the one that stands in the box.
 * @param {string} query
 */
function lead(query) {
  /** @type {NodeListOf<HTMLAnchorElement>} */
  const links = document.querySelectorAll(".orders a, a[hreflang]");
  for (const link of links) {
    const url = new URL(link.href);
    url.searchParams.set("q", query);
    url.searchParams.delete("offset");
    link.href = url.href;
  }
}

async function find() {
  clearTimeout(timer);
  asking?.abort();
  const query = box.value;
  if (!query.trim() && !page) return close();
  asked = query;
  asking = new AbortController();
  const wanted = new URLSearchParams({ q: query, fragment: "1" });
  if (page) wanted.set("page", "1");
  if (page?.dataset.newest) wanted.set("newest", "1");
  try {
    const response = await fetch(`/search?${wanted}`, { signal: asking.signal });
    if (!response.ok) throw new Error(`${response.url} failed: ${response.status}`);
    show(await response.json());
  } catch (error) {
    if (error.name !== "AbortError") tellAway();
  }
}

/** Nothing is known about what is asked now; what stands there answers something else. */
function tellAway() {
  const place = page ?? quick;
  let line = place.querySelector(".away");
  if (!line) {
    line = document.createElement("p");
    line.className = "away";
    line.setAttribute("role", "status");
    place.prepend(line);
  }
  line.textContent = say("unanswered");
  place.classList.add("stale");
  place.hidden = false;
  timer = setTimeout(find, AGAIN);
}

/** @param {{query: string, html: string, title: string}} answer */
function show({ query, html, title }) {
  // An answer to what is not asked any more.
  if (query !== box.value) return;
  const place = page ?? quick;
  place.innerHTML = html;
  answered = query;
  if (goesOn) return follow();
  place.classList.remove("stale");
  place.hidden = false;
  telling = setTimeout(() => place.querySelector("[data-later]")?.removeAttribute("hidden"), PAUSE);
  toggleHelp(false);
  if (!page) return;
  clearTimeout(narrowing);
  narrowing = setTimeout(() => narrow(query), AFTER);
  document.title = title;
  const url = new URL(location.href);
  url.searchParams.set("q", query);
  url.searchParams.delete("offset");
  history.replaceState(null, "", url);
}

/**
 * What the results can be narrowed down by follows when the typing pauses.
 * @param {string} query
 */
async function narrow(query) {
  const wanted = new URLSearchParams({ q: query, fragment: "1", facets: "1" });
  if (page.dataset.newest) wanted.set("newest", "1");
  const response = await fetch(`/search?${wanted}`).catch(/** @returns {Response} */ () => null);
  const answer = response?.ok ? await response.json() : null;
  if (answer?.query === box.value) document.getElementById("facets").innerHTML = answer.side;
}

function close() {
  if (page) return;
  // What is on its way would open it again.
  clearTimeout(timer);
  asking?.abort();
  if (quick.contains(document.activeElement)) box.focus();
  quick.hidden = true;
  quick.replaceChildren();
  asked = answered = null;
  goesOn = false;
}

// ── Going through the results ──

document.addEventListener("keydown", (event) => {
  if (isComposing(event)) return;
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const place = page ?? quick;
  if (place.hidden || !(event.target === box || place.contains(/** @type {Node} */ (event.target)))) return;
  /** @type {Element[]} */
  const links = [box, ...place.querySelectorAll("a")];
  const next = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
  if (!links[next]) return;
  event.preventDefault();
  links[next].focus();
});

/** To the first hit; to the page of results where there is none, which says why. */
function follow() {
  goesOn = false;
  const [first] = quick.querySelectorAll(".result a");
  if (first) first.click();
  else box.form.submit();
}

box.form.addEventListener("submit", (event) => {
  if (page || !box.value.trim()) return;
  event.preventDefault();
  if (answered === box.value && !quick.hidden && !quick.classList.contains("stale")) return follow();
  goesOn = true;
  if (asked !== box.value) find();
});

box.addEventListener("keydown", (event) => {
  // Some browsers would empty the box: Escape closes what is open, and the words stay.
  if (event.key === "Escape" && !isComposing(event)) event.preventDefault();
});

document.addEventListener("click", (event) => {
  const target = /** @type {Element} */ (event.target);
  if (!target.closest("#quick, .find")) close();
  if (!target.closest("#query-help, #query-help-switch")) toggleHelp(false);
});
document.addEventListener("rireki:close", () => {
  close();
  toggleHelp(false);
});
box.addEventListener("focus", () => {
  if (!page && box.value.trim() && quick.hidden && document.activeElement === box) find();
});

// Whoever comes back from a result finds the words in the box.
quick.addEventListener("click", (event) => {
  if (/** @type {Element} */ (event.target).closest("a")) history.replaceState({ ...history.state, query: box.value }, "");
});
if (!page && history.state?.query) box.value = history.state.query;

/** @param {boolean} open */
function toggleHelp(open) {
  help.hidden = !open;
  helpSwitch.setAttribute("aria-expanded", String(open));
}
helpSwitch.addEventListener("click", () => {
  close();
  toggleHelp(help.hidden);
});

// What is saved is what stands in the box by then.
document.querySelector("form.save-search")?.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  /** @type {HTMLInputElement} */ (form.elements.namedItem("q")).value = box.value.trim();
});
