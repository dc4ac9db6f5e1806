// What the person adds: forms in a dialog, saved without leaving the page.

import { announce, say } from "./words.js";

const dialog = document.getElementById("curate");

/** @returns {null} */
const nothing = () => null;

/**
 * @param {string} address
 * @param {string} field
 */
async function open(address, field = "") {
  const asked = new URL(address, location.href);
  asked.searchParams.set("fragment", "1");
  const response = await fetch(asked).catch(nothing);
  if (!response?.ok) {
    location.href = address;
    return;
  }
  const { html } = await response.json();
  dialog.innerHTML = html;
  dialog.setAttribute("aria-labelledby", "curate-title");
  dialog.showModal();
  const wanted = field ? `[name="${field}"]` : "input:not([type=hidden]), textarea";
  const input = dialog.querySelector(wanted);
  input?.focus();
  if (input instanceof HTMLInputElement) input.select();
}

document.addEventListener("click", (event) => {
  const target = /** @type {Element} */ (event.target);
  const way = /** @type {HTMLAnchorElement} */ (target.closest("a[data-dialog]"));
  if (way && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    open(way.href);
  }
  if (target.closest("#curate [data-close]") || target === dialog) {
    event.preventDefault();
    dialog.close();
  }
  const tag = target.closest("#curate [data-tag]")?.dataset.tag;
  if (tag) addTag(tag);
});

/** @param {string} tag */
function addTag(tag) {
  const field = /** @type {HTMLInputElement} */ (dialog.querySelector("[name=tags]"));
  const known = field.value.split(/[,、]/).map((each) => each.trim()).filter(Boolean);
  if (!known.includes(tag)) field.value = [...known, tag].join(", ");
  field.focus();
}

document.addEventListener("submit", async (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (!form.matches("form[data-curate]")) return;
  event.preventDefault();
  const body = new URLSearchParams();
  new FormData(form, event.submitter).forEach((value, name) => body.append(name, String(value)));
  const address = new URL(form.action);
  address.searchParams.set("fragment", "1");
  const response = await fetch(address, { method: "POST", body }).catch(nothing);
  const answer = response ? await response.json().catch(nothing) : null;
  if (!response?.ok || !answer) {
    tellWrong(form, answer);
    return;
  }
  dialog.close();
  document.dispatchEvent(new CustomEvent("rireki:curated", { detail: answer }));
  announce(say("saved"));
});

/**
 * @param {HTMLFormElement} form
 * @param {{error: string, hint: string} | null} answer
 */
function tellWrong(form, answer) {
  const words = answer?.error ? `${answer.error} ${answer.hint}` : say("unsaved");
  const place = form.querySelector(".wrong");
  if (place) {
    place.textContent = words;
    place.hidden = false;
  }
  announce(words);
}

document.addEventListener("rireki:key", ({ detail }) => {
  if (dialog.open) return;
  const edit = /** @type {HTMLAnchorElement} */ (document.querySelector("#added a.edit"));
  if (!edit) return;
  if (detail === "s") document.querySelector("#added .star")?.click();
  if (detail === "e") open(edit.href, "title");
  if (detail === "t") open(edit.href, "tags");
  if (detail === "n") {
    const note = /** @type {HTMLAnchorElement} */ (document.querySelector(".unit.current .add-note"));
    open((note ?? edit).href, "note");
  }
});
