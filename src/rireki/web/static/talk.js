// The page of a conversation: its stream, its outline, and what comes while it is open.

import { listen } from "./events.js";
import { showFound } from "./found.js";
import { offer } from "./nest.js";
import { made, Stream } from "./stream.js";
import { announce, say } from "./words.js";

const stream = new Stream(document.getElementById("stream"));
const id = stream.element.dataset.conversation;
/** The names it goes by: one that is driven gets its agent's own in time. */
const ids = new Set([id]);
const pill = document.getElementById("fresh");
const position = document.getElementById("position");
const prompts = document.getElementById("prompts");
const PATIENCE = 500;
let unread = 0;
/** How many units there were when the reader was last told of them, or saw them. */
let told = stream.total;

// ── Where the reader is ──

let waiting = false;
function moved() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    const unit = stream.isAtEnd ? stream.element.lastElementChild : stream.reading;
    if (!unit) return;
    tellPosition(unit);
    markPrompt(Number(unit.dataset.index));
    if (stream.isAtEnd) clearPill();
  });
}

/** @param {Element} unit */
function tellPosition(unit) {
  const all = Number(document.getElementById("facts")?.dataset.turns ?? 0);
  const n = Number(unit.dataset.turn);
  position.textContent = all && n ? say("position", { n, all: Math.max(all, n) }) : "";
}

/** @param {number} index */
function markPrompt(index) {
  const lines = prompts.children;
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Number(lines[middle].dataset.index) <= index) low = middle + 1;
    else high = middle;
  }
  const here = lines[low - 1] ?? null;
  const before = prompts.querySelector(".here");
  if (before === here) return;
  before?.classList.remove("here");
  before?.firstElementChild.removeAttribute("aria-current");
  here?.classList.add("here");
  here?.firstElementChild.setAttribute("aria-current", "true");
  if (here) reveal(here);
}

/**
 * Scrolls the outline alone: scrollIntoView would move the page as well.
 * @param {Element} line
 */
function reveal(line) {
  const panel = document.getElementById("outline");
  const { top, bottom } = panel.getBoundingClientRect();
  const place = line.getBoundingClientRect();
  if (place.top < top) panel.scrollTop -= top - place.top;
  else if (place.bottom > bottom) panel.scrollTop += place.bottom - bottom;
}

stream.moved = () => {
  offer(stream.element);
  moved();
};
stream.lost = () => {
  whole = true;
  bring();
};
addEventListener("scroll", moved, { passive: true });

async function bringOutline() {
  const answer = await stream.fetch({ outline: "1" });
  if (answer) prompts.innerHTML = answer.html;
  moved();
}

// ── Going to a message ──

document.addEventListener("click", async (event) => {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  /** @type {HTMLAnchorElement} */
  const link = /** @type {Element} */ (event.target).closest("#prompts a, .message a.at");
  if (!link) return;
  const message = new URL(link.href).searchParams.get("at");
  if (!message) return;
  event.preventDefault();
  document.getElementById("outline").classList.remove("open");
  // Where the reader comes back to; the browser would go by the place that is left, not by this one.
  history.scrollRestoration = "manual";
  history.replaceState({ at: stream.reading?.dataset.unit }, "");
  if (await stream.goTo(message)) history.pushState({ at: message }, "", link.href);
  else location.assign(link.href);
});

/**
 * Go to a message; what a search that led to this page found there is shown in it.
 * @param {string} message
 */
async function open(message) {
  const unit = await stream.goTo(message);
  const { opened, found } = stream.element.dataset;
  // Until then the browser itself goes to where the fragment leads.
  if (document.readyState !== "complete") await new Promise((wake) => addEventListener("load", wake));
  if (unit?.dataset.unit === opened) showFound(unit, JSON.parse(found));
  return unit;
}

addEventListener("popstate", async ({ state }) => {
  const at = state?.at ?? new URLSearchParams(location.search).get("at");
  const unit = at ? await open(at) : null;
  if (unit === null) location.reload();
  else if (unit.dataset.index === "0") scrollTo({ top: 0, behavior: "instant" });
});

/**
 * @param {string} name
 * @param {() => void} work
 */
function onClick(name, work) {
  document.getElementById(name).addEventListener("click", (event) => {
    event.preventDefault();
    work();
  });
}
onClick("to-start", () => stream.toStart());
onClick("to-end", () => {
  clearPill();
  stream.toEnd();
});
onClick("fresh", () => {
  clearPill();
  stream.toEnd();
});

// ── Keys ──

/** @param {number} by */
async function step(by) {
  const units = stream.units;
  const current = stream.element.querySelector(".unit.current");
  const from = current ?? stream.reading;
  let place = units.indexOf(from) + (current ? by : 0);
  // What is folded away with its branch is passed over.
  while (units[place]?.offsetHeight === 0) place += by;
  if (place >= units.length) {
    if (!(await stream.extend("after"))) return;
    return step(by);
  }
  if (place < 0) {
    if (!(await stream.extend("before"))) return;
    return step(by);
  }
  current?.classList.remove("current");
  const unit = units[place];
  unit.classList.add("current");
  unit.scrollIntoView({ block: "start", behavior: "instant" });
  const message = unit.querySelector(".message, .branch-switch");
  if (message && !message.matches("button")) message.tabIndex = -1;
  message?.focus({ preventScroll: true });
}

function fold() {
  const unit = stream.element.querySelector(".unit.current") ?? stream.reading;
  /** @type {NodeListOf<HTMLDetailsElement>} */
  const found = unit?.querySelectorAll(".message details");
  const folds = [...(found ?? [])];
  const open = folds.some((each) => !each.open);
  for (const each of folds) each.open = open;
  unit?.querySelector(".branch-switch")?.click();
}

document.addEventListener("rireki:key", ({ detail }) => {
  if (detail === "j") step(1);
  else if (detail === "k") step(-1);
  else if (detail === "o") fold();
  else if (detail === "g") stream.toStart();
  else if (detail === "G") stream.toEnd();
});

// ── As it happens ──

/** @type {Set<string>} */
const changed = new Set();
/** @type {Set<string>} */
const removed = new Set();
let whole = false;
let bringing = false;
/** Whether something else changed that is told there: a conversation this one is tied to. */
let stale = false;

function clearPill() {
  unread = 0;
  told = stream.total;
  pill.hidden = true;
}

async function bring() {
  if (bringing) return;
  bringing = true;
  while (changed.size || removed.size || whole || stale) {
    const [messages, gone, all] = [[...changed], [...removed], whole];
    stale = false;
    changed.clear();
    removed.clear();
    whole = false;
    try {
      await bringSome(messages, gone, all);
    } catch {
      // The server went away before it could be asked. What it announced is not announced again.
      messages.forEach((message) => changed.add(message));
      gone.forEach((message) => removed.add(message));
      whole ||= all;
      stale = true;
      await new Promise((wake) => setTimeout(wake, PATIENCE));
    }
  }
  bringing = false;
}

/**
 * @param {string[]} messages
 * @param {string[]} gone
 * @param {boolean} all
 */
async function bringSome(messages, gone, all) {
  // The empty one says that messages are meant, were none of them new.
  const asked = ["", ...messages].map((message) => ["messages", message]);
  const answer = all ? null : await stream.fetch(asked);
  if (answer === null || answer.many) {
    await renew();
    return;
  }
  const follow = stream.isAtEnd;
  stream.apply(answer, gone);
  showHead(answer);
  for (const line of answer.outline) putPrompt(line);
  if (follow) stream.scrollToEnd();
  else tellFresh();
}

/** Too much changed: the window is brought again, at the same place. */
async function renew() {
  const unit = stream.reading;
  const follow = stream.isAtEnd;
  const top = unit?.getBoundingClientRect().top ?? 0;
  const again = unit && !follow ? await stream.load({ around: unit.dataset.unit }) : null;
  if (again) scrollBy({ top: again.getBoundingClientRect().top - top, behavior: "instant" });
  else if (!(await stream.loadEnd())) return location.reload();
  if (follow) stream.scrollToEnd();
  else tellFresh();
  const head = await stream.fetch({ messages: "" });
  if (head) showHead(head);
  await bringOutline();
}

/**
 * What surrounds the messages; one that was just begun has no title yet.
 * @param {Head} head
 */
function showHead({ regions, title, continues }) {
  // What has not changed stays: the reader may have something open there, or selected.
  stream.keeping(() => {
    for (const [name, html] of Object.entries(regions)) {
      const fresh = document.createElement("template");
      fresh.innerHTML = html;
      const element = document.getElementById(name);
      if (element.innerHTML.trim() !== fresh.innerHTML.trim()) element.innerHTML = html;
    }
  });
  const form = document.querySelector("#drive form.continue");
  if (form && !continues) form.hidden = true;
  const heading = document.getElementById("title");
  if (heading.innerHTML.trim() !== title.trim()) heading.innerHTML = title;
  // In the words of the header: one that waits for the person says so in its tab, too.
  const waits = document.querySelector("#state [data-waits]")?.dataset.waits;
  const counted = document.title.match(/^\(\d+\) /)?.[0] ?? "";
  document.title = counted + [waits, heading.textContent.trim(), "rireki"].filter(Boolean).join(" · ");
}

document.addEventListener("rireki:curated", ({ detail }) => {
  showHead({ continues: true, ...detail });
  if (detail.unit) stream.find(detail.unit.id)?.replaceWith(made(detail.unit.html));
});

/** @param {string} conversation */
function isTied(conversation) {
  const ties = document.querySelectorAll("#ties [data-conversation]");
  return [...ties].some((tie) => tie.dataset.conversation === conversation);
}

function tellFresh() {
  const fresh = stream.total - told;
  told = stream.total;
  if (fresh <= 0) return;
  unread += fresh;
  pill.textContent = `${say("fresh", { n: unread })} ↓`;
  pill.hidden = false;
  announce(say("fresh", { n: unread }));
}

/** @param {{id: string, html: string}} line */
function putPrompt({ id: message, html }) {
  const line = made(html);
  const known = [...prompts.children].find((each) => each.firstElementChild.dataset.message === message);
  if (known) known.replaceWith(line);
  else prompts.append(line);
}

if (!stream.element.dataset.asOf) {
  let state = "";
  listen({
    change(changes) {
      for (const touched of changes) {
        if (!ids.has(touched.conversation)) {
          stale ||= touched.kind === "new" || isTied(touched.conversation);
          continue;
        }
        // Under another name it may still be there; renew() loads the page where it is not.
        if (touched.kind === "removed" || touched.messages === null) whole = true;
        else touched.messages.forEach((message) => changed.add(message));
        touched.removed.forEach((message) => removed.add(message));
      }
      bring();
    },
    async activity(activities) {
      const now = JSON.stringify([...ids].map((each) => activities[each] ?? ""));
      if (now === state) return;
      state = now;
      const answer = await stream.fetch({ messages: "" }).catch(/** @returns {Fragments} */ () => null);
      if (answer?.regions) showHead(answer);
    },
  });
}

// ── The beginning ──

const { opened, end } = stream.element.dataset;
if (opened || end) history.scrollRestoration = "manual";
if (opened) open(opened);
else if (history.state?.at) stream.goTo(history.state.at);
else if (end) stream.scrollToEnd();
if (prompts.dataset.later) bringOutline();
stream.moved();

// ── Driving its agent ──

if (document.getElementById("drive")) {
  const { drive } = await import("./drive-talk.js");
  drive({
    stream,
    ids,
    also(name) {
      if (ids.has(name)) return;
      ids.add(name);
      // What was told of it under this name before, nobody heard.
      whole = true;
      bring();
    },
    renew: stream.lost,
  });
}
