// A new conversation: where, with whom, and what to begin with.

import { Composer } from "./drive-composer.js";
import { deliver, forget, freshId, onPost, outbox, pictures, post } from "./drive-send.js";
import { say } from "./words.js";

const SOON = 150;
const form = document.getElementById("new");
const project = document.getElementById("project");
const said = document.getElementById("project-said");
const near = document.getElementById("near");
const trouble = document.getElementById("new-said");

// ── The directory ──

/** @type {number} */
let timer = null;
function soon() {
  clearTimeout(timer);
  timer = setTimeout(check, SOON);
}

async function check() {
  const path = project.value.trim();
  composer.project = path;
  if (!path) return tell("", true);
  const asked = new URLSearchParams({ path });
  const response = await fetch(`/api/v1/drive/directory?${asked}`).catch(/** @returns {Response} */ () => null);
  if (!response?.ok || path !== project.value.trim()) return;
  const answer = await response.json();
  tell(answer.allowed ? say("directoryFine") : `${answer.message}. ${answer.hint}`, answer.allowed);
  near.replaceChildren(
    ...answer.near.map((/** @type {string} */ value) => Object.assign(document.createElement("option"), { value })),
  );
}

/**
 * @param {string} words
 * @param {boolean} isFine
 */
function tell(words, isFine) {
  said.textContent = words;
  said.classList.toggle("bad", !isFine);
  project.setAttribute("aria-invalid", String(!isFine));
}

project.addEventListener("input", soon);
form.addEventListener("click", (event) => {
  const chosen = /** @type {Element} */ (event.target).closest("[data-project]");
  if (!chosen) return;
  project.value = chosen.dataset.project;
  check();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  composer.submit();
});

// ── Beginning ──

const composer = new Composer(document.querySelector(".composer"), begin);
// Each conversation that is gone on with has a draft of its own.
const from = form.dataset.from;
composer.belong(from ? `new ${from}` : "new", project.value.trim(), true);
if (from) composer.toEnd();
check();

/** @param {Written} written */
async function begin({ text, mentions, images }) {
  trouble.hidden = true;
  if (!form.reportValidity()) return false;
  const given = new FormData(form);
  const field = (/** @type {string} */ name) => String(given.get(name) ?? "").trim();
  /** @type {Start} */
  const start = { project: field("project"), agent: field("agent") };
  if (field("model")) start.model = field("model");
  const item = await post({ session: freshId(), start, text, mentions, images });
  return new Promise((done) => waiting.set(item.id, done));
}

/** @type {Map<string, (begun: boolean) => void>} */
const waiting = new Map();
onPost(({ kind, item }) => {
  const done = waiting.get(item.id);
  if (!done) return;
  if (kind === "taken") {
    done(true);
    location.assign(`/c/bridge/${item.session}`);
  } else if (kind === "refused") {
    waiting.delete(item.id);
    complain(item);
    // What was typed stays in the box.
    forget(item);
    done(false);
  }
});

/** @param {OutboxItem} item */
function complain({ refused }) {
  trouble.textContent = `${refused.message}. ${refused.hint}`;
  trouble.hidden = false;
}

// A page that was loaded again while it began: it goes on by itself, and leads to the conversation.
for (const item of outbox()) {
  if (!item.start || item.number) continue;
  if (item.refused) giveBack(item);
  else {
    waiting.set(item.id, (begun) => begun || giveBack(item));
    deliver(item);
  }
}

/** @param {OutboxItem} item */
async function giveBack(item) {
  if (item.refused) complain(item);
  composer.restore(item.text, item.images ? await pictures.get(item.id) : []);
  forget(item);
}
