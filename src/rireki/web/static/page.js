// What every page can do: theme, drawer, copying, keys. Searching is in search.js.

import { isComposing } from "./search.js";
import { announce, say } from "./words.js";

const root = document.documentElement;
root.classList.add("js");
if (root.dataset.drive) import("./drive-badge.js");

// ── Light and dark ──

const THEMES = ["", "light", "dark"];
const switcher = document.getElementById("theme-switch");

function nameTheme() {
  const name = say(root.dataset.theme || "system");
  switcher.title = name;
  switcher.setAttribute("aria-label", name);
}

switcher.addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "") + 1) % THEMES.length];
  if (next) root.dataset.theme = next;
  else delete root.dataset.theme;
  const age = next ? 365 * 86400 : 0;
  document.cookie = `rireki_theme=${next}; path=/; max-age=${age}; samesite=strict`;
  nameTheme();
});
nameTheme();

// ── Drawers ──

/**
 * @param {Element} button
 * @param {Element} panel
 */
function drawer(button, panel) {
  if (!button || !panel) return;
  /** @param {boolean} open */
  const set = (open) => {
    panel.classList.toggle("open", open);
    button.setAttribute("aria-expanded", String(open));
  };
  button.addEventListener("click", () => {
    set(!panel.classList.contains("open"));
    if (panel.classList.contains("open")) panel.querySelector("a, button")?.focus({ preventScroll: true });
  });
  document.addEventListener("click", (event) => {
    const target = /** @type {Node} */ (event.target);
    if (!panel.contains(target) && !button.contains(target)) set(false);
  });
  document.addEventListener("rireki:close", () => set(false));
}
drawer(document.querySelector(".drawer-switch"), document.getElementById("side"));
drawer(document.querySelector(".outline-switch"), document.getElementById("outline"));

// ── Menus ──

/** @returns {NodeListOf<HTMLDetailsElement>} */
const openMenus = () => document.querySelectorAll("details.menu[open]");
document.addEventListener("click", (event) => {
  const target = /** @type {Element} */ (event.target);
  // One stays open while it is used; what was chosen in it closes it.
  for (const menu of openMenus()) if (!menu.contains(target) || target.closest("a")) menu.open = false;
});
document.addEventListener("rireki:close", () => {
  for (const menu of openMenus()) {
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  }
});

// ── Copying ──

/** @param {string} text */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without TLS, other machines' browsers offer only this.
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** @param {Element} element */
function textOf(element) {
  const shown = /** @type {Element} */ (element.cloneNode(true));
  for (const number of shown.querySelectorAll(".ln, .copy, .lang")) number.remove();
  return shown.textContent;
}

/**
 * What a message says as it stands on the page, without what is only there to be pressed.
 * @param {Element} unit
 */
function wordsOf(unit) {
  /** @type {HTMLElement} */
  const said = unit.querySelector(".body") ?? unit.querySelector(".message");
  said.classList.add("copying");
  const text = said.innerText.trim();
  said.classList.remove("copying");
  return text;
}

document.addEventListener("click", async (event) => {
  const button = /** @type {Element} */ (event.target).closest("button.copy, button.copy-text, button.copy-link");
  if (!button) return;
  if (button.matches(".copy-link")) await copy(new URL(button.dataset.url, location.href).href);
  else if (button.matches(".copy-text")) {
    await copy(wordsOf(button.closest(".unit")));
  } else await copy(textOf(document.getElementById(button.dataset.copy)));
  tellCopied(button);
});

/** @param {Element} button */
function tellCopied(button) {
  announce(say("copied"));
  if (button.dataset.was) return;
  button.dataset.was = button.textContent;
  if (button.querySelector("svg")) button.classList.add("done");
  else button.textContent = say("copied");
  setTimeout(() => {
    if (!button.querySelector("svg")) button.textContent = button.dataset.was;
    button.classList.remove("done");
    delete button.dataset.was;
  }, 1200);
}

// ── Keys ──

const keys = document.getElementById("keys");

/** @param {EventTarget} target */
function isTyping(target) {
  return /** @type {Element} */ (target).closest("input, textarea, select, [contenteditable]") !== null;
}

document.addEventListener("keydown", (event) => {
  if (isComposing(event)) return;
  if (event.key === "Escape") document.dispatchEvent(new CustomEvent("rireki:close"));
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || keys.open) return;
  if (event.key === "/") {
    event.preventDefault();
    document.getElementById("query").select();
    document.getElementById("query").focus();
  } else if (event.key === "?") {
    event.preventDefault();
    keys.showModal();
  } else if ("jkogGsetn".includes(event.key) && event.key.length === 1) {
    // A letter that opens a form is not typed into it.
    if ("etn".includes(event.key)) event.preventDefault();
    document.dispatchEvent(new CustomEvent("rireki:key", { detail: event.key }));
  }
});

// On pages that list things, j and k go from one to the next.
if (!document.getElementById("stream")) {
  document.addEventListener("rireki:key", ({ detail }) => {
    const rows = [...document.querySelectorAll("main .row, main .result")];
    const here = rows.findIndex((row) => row.classList.contains("here"));
    if (detail === "o") rows[here]?.querySelector("a").click();
    if (detail === "s") star(rows[here]);
    if (!"jk".includes(detail) || !rows.length) return;
    const next = Math.min(Math.max(here + (detail === "j" ? 1 : -1), 0), rows.length - 1);
    rows[here]?.classList.remove("here");
    rows[next].classList.add("here");
    rows[next].querySelector("a").focus({ preventScroll: true });
    rows[next].scrollIntoView({ block: "nearest" });
  });
}

/**
 * Star a row, or take its star away; the list hears of it like of every other change.
 * @param {Element | undefined} row
 */
async function star(row) {
  const id = row?.dataset.conversation;
  if (!id) return;
  const isStarred = row.querySelector(".row-star") !== null;
  const address = `/curate/${id.split("/").map(encodeURIComponent).join("/")}?fragment=1`;
  const body = new URLSearchParams({ star: isStarred ? "0" : "1" });
  const response = await fetch(address, { method: "POST", body }).catch(/** @returns {null} */ () => null);
  if (response?.ok) announce(say(isStarred ? "unstarred" : "starred"));
}

// What could still be taken back, until it is too late.
for (const form of document.querySelectorAll("form.leaving[data-due]")) {
  setTimeout(() => form.remove(), Math.max(Date.parse(form.dataset.due) - Date.now(), 0));
}
