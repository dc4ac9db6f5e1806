// The list of conversations: rows that change are brought one by one, and come to the top.

import { listen } from "./events.js";
import { made } from "./stream.js";

const list = document.getElementById("list");
const firstPage = list.dataset.first === "yes";
const MANY = 40;
const SOON = 60;
const PATIENCE = 500;

function filters() {
  const given = new URLSearchParams(location.search);
  for (const name of ["after", "fragment", "lang"]) given.delete(name);
  return given;
}

/** @param {string} id */
function rowOf(id) {
  return [...list.querySelectorAll(".row")].find((row) => row.dataset.conversation === id) ?? null;
}

/** @param {string} day */
function section(day) {
  const known = [...list.children].find((each) => each.dataset.day === day);
  if (known) return known;
  const newest = list.firstElementChild?.dataset.day ?? "";
  if (!day || day < newest || day !== list.dataset.today) return null;
  const fresh = made('<section class="day"><h3 class="day-name"></h3><ul class="rows"></ul></section>');
  fresh.dataset.day = day;
  fresh.querySelector("h3").textContent = list.dataset.todayName;
  list.prepend(fresh);
  return fresh;
}

/** @param {Element} row */
function stampOf(row) {
  /** @type {HTMLTimeElement} */
  const time = row.querySelector(".row-when time");
  return time.dateTime;
}

/**
 * Puts a row where it belongs; false when the page has no such place.
 * @param {{id: string, html: string, day: string}} row
 * @param {boolean} move
 */
function put({ id, html, day }, move) {
  const known = rowOf(id);
  if (html === null) {
    known?.remove();
    return true;
  }
  const row = made(html);
  if (known && !move) {
    known.replaceWith(row);
    return true;
  }
  const place = section(day);
  if (place === null) return false;
  row.classList.add("fresh");
  const focused = known?.contains(document.activeElement);
  known?.remove();
  const rows = place.querySelector(".rows");
  const elder = [...rows.children].find((other) => stampOf(other) <= stampOf(row));
  rows.insertBefore(row, elder ?? null);
  if (focused) row.querySelector("a").focus({ preventScroll: true });
  return true;
}

/**
 * @param {string[]} ids
 * @param {boolean} move
 */
async function bring(ids, move) {
  const asked = filters();
  for (const id of ids) asked.append("ids", id);
  const response = await fetch(`/fragments/home?${asked}`);
  if (!response.ok) return;
  /** @type {{rows: {id: string, html: string, day: string}[], now: string}} */
  const { rows, now } = await response.json();
  showNow(now);
  const placed = rows.map((row) => put(row, move));
  sweep();
  // Of a day that is not listed yet, or of no day at all.
  if (placed.includes(false)) await bringAll();
}

/**
 * What waits and what runs; only above the whole list.
 * @param {string} html
 */
function showNow(html) {
  const place = document.getElementById("now");
  if (!("whole" in place.dataset) || place.innerHTML.trim() === html.trim()) return;
  /** @type {HTMLAnchorElement} */
  const focused = document.activeElement.closest("#now a");
  place.innerHTML = html;
  if (focused) place.querySelector(`a[href="${CSS.escape(focused.getAttribute("href"))}"]`)?.focus();
}

/** Days whose last row went elsewhere. */
function sweep() {
  for (const each of [...list.children]) if (!each.querySelector(".row")) each.remove();
}

/** The whole first page again: its filters, and its rows unless those are known. */
async function bringAll({ rows = true } = {}) {
  const asked = filters();
  asked.set("fragment", "1");
  const response = await fetch(`/?${asked}`);
  if (!response.ok) return;
  const answer = await response.json();
  document.getElementById("filters").innerHTML = answer.side;
  showNow(answer.now);
  if (!rows) return;
  list.innerHTML = answer.html;
  if (answer.next && more) goOnFrom(answer.next);
}

// ── As it happens ──

/** @type {Set<string>} */
const changed = new Set();
let counts = false;
/** @type {number} */
let timer = null;
function soon(wait = SOON) {
  timer ??= setTimeout(async () => {
    const [ids, counted] = [[...changed], counts];
    changed.clear();
    counts = false;
    try {
      if (ids.length <= MANY) await bring(ids, true);
      if (ids.length > MANY || counted) await bringAll({ rows: ids.length > MANY });
    } catch {
      // The server went away before it could be asked. What it announced is not announced again.
      ids.forEach((id) => changed.add(id));
      counts ||= counted;
    }
    timer = null;
    if (changed.size) soon(PATIENCE);
  }, wait);
}

/** @type {Activities} */
let doing = {};
listen({
  change(changes) {
    if (!firstPage) return;
    for (const touched of changes) changed.add(touched.conversation);
    counts ||= changes.some((touched) => touched.kind !== "changed");
    soon();
  },
  activity(activities) {
    const ids = new Set([...Object.keys(doing), ...Object.keys(activities)]);
    const other = [...ids].filter((id) => JSON.stringify(doing[id]) !== JSON.stringify(activities[id]));
    doing = activities;
    if (other.length) bring(other.filter(rowOf), false).catch(() => {});
  },
});

// ── The first import ──

const first = document.getElementById("first");
async function follow() {
  const response = await fetch("/fragments/status").catch(/** @returns {Response} */ () => null);
  const answer = response?.ok ? await response.json() : null;
  if (answer?.done) return location.reload();
  if (answer) first.innerHTML = answer.html;
  setTimeout(follow, first.querySelector("progress") ? 500 : 2000);
}
if (first) setTimeout(follow, 400);

// ── The year ──

/** @type {Record<string, number>} */
const BACK = { ArrowUp: 1, ArrowLeft: 7, ArrowDown: -1, ArrowRight: -7 };
const year = document.querySelector(".year .calendar");
year?.addEventListener("keydown", (/** @type {Event} */ pressed) => {
  const event = /** @type {KeyboardEvent} */ (pressed);
  const way = BACK[event.key];
  if (!way) return;
  event.preventDefault();
  const squares = [...year.querySelectorAll("[data-day]")];
  const here = squares.findIndex((square) => square.parentNode === document.activeElement);
  // The next day in that direction that leads somewhere.
  for (let at = here - way; here >= 0 && squares[at]; at -= Math.sign(way)) {
    const link = squares[at].parentNode;
    if (link instanceof SVGAElement) {
      /** @type {SVGAElement} */ (document.activeElement).tabIndex = -1;
      link.tabIndex = 0;
      return link.focus();
    }
  }
});

// ── Earlier conversations ──

const more = document.getElementById("more");
more?.addEventListener("click", async (event) => {
  event.preventDefault();
  if (await bringMore()) name();
  else location.assign(more.href);
});

/** One more page at the end of the list; false when the server did not give it. */
async function bringMore() {
  const url = new URL(more.href);
  url.searchParams.set("fragment", "1");
  const response = await fetch(url);
  if (!response.ok) return false;
  const answer = await response.json();
  append(answer.html);
  if (answer.next) goOnFrom(answer.next);
  else more.parentElement.hidden = true;
  return true;
}

/** @param {string} place */
function goOnFrom(place) {
  const url = new URL(more.href);
  url.searchParams.set("after", place);
  more.href = url.href;
  more.parentElement.hidden = false;
}

/** @param {string} html */
function append(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  for (const fresh of [...holder.content.children]) {
    for (const row of fresh.querySelectorAll(".row")) if (rowOf(row.dataset.conversation)) row.remove();
    const last = list.lastElementChild;
    if (last && last.dataset.day === fresh.dataset.day) {
      last.querySelector(".rows").append(...fresh.querySelectorAll(".row"));
    } else if (fresh.querySelector(".row")) list.append(fresh);
  }
}

// ── Coming back ──

const KEPT = "rireki.list.";

/** The page gets a name in the history: the browser itself finds back only to its first rows. */
function name() {
  if (history.state?.list) return;
  history.scrollRestoration = "manual";
  history.replaceState({ list: String(Date.now()) }, "");
}

addEventListener("pagehide", () => {
  if (!history.state?.list) return;
  const rows = list.querySelectorAll(".row").length;
  sessionStorage.setItem(KEPT + history.state.list, JSON.stringify({ rows, top: scrollY }));
});

/** @param {{rows: number, top: number}} kept */
async function comeBack({ rows, top }) {
  while (list.querySelectorAll(".row").length < rows && more && !more.parentElement.hidden) {
    if (!(await bringMore())) break;
  }
  scrollTo({ top, behavior: "instant" });
}
const kept = history.state?.list && sessionStorage.getItem(KEPT + history.state.list);
if (kept) comeBack(JSON.parse(kept));
