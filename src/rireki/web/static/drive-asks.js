// Cards of what waits for the person: brought from the server, answered by key, click or touch.

import { send } from "./drive-send.js";
import { made } from "./stream.js";
import { announce, say } from "./words.js";

const SHOWN_FOR = 5000;

export class Asks {
  /**
   * @param {HTMLElement} place
   * @param {() => {session: string, ask: Ask}[]} wanted the asks to show, in order
   * @param {{moved?: (work: () => void) => void, where?: boolean}} options
   */
  constructor(place, wanted, { moved = (work) => work(), where = false } = {}) {
    this.place = place;
    this.wanted = wanted;
    this.moved = moved;
    this.where = where;
    this.answered = new Set();
    this.bringing = false;
    place.addEventListener("click", (event) => this.clicked(event));
    place.addEventListener("submit", (event) => this.submitted(event));
    document.addEventListener("keydown", (event) => this.pressed(event));
  }

  get cards() {
    return [...this.place.querySelectorAll(".ask[data-ask]")];
  }

  /** @param {string} id */
  card(id) {
    return this.cards.find((card) => card.dataset.ask === id) ?? null;
  }

  /** Show what waits, take away what does not any more. */
  async show() {
    const wanted = this.wanted().filter(({ ask }) => !this.answered.has(ask.id));
    const ids = new Set(wanted.map(({ ask }) => ask.id));
    for (const card of this.cards) if (!ids.has(card.dataset.ask)) this.leave(card, wanted);
    const missing = wanted.filter(({ ask }) => this.card(ask.id) === null);
    if (!missing.length || this.bringing) return;
    this.bringing = true;
    try {
      await this.bring([...new Set(missing.map(({ session }) => session))], ids);
    } catch {
      // The server went away before it could be asked.
      setTimeout(() => this.show(), 500);
    } finally {
      this.bringing = false;
    }
    // What came meanwhile; what the server does not have any more is not asked for again.
    const now = this.wanted().filter(({ ask }) => !this.answered.has(ask.id));
    if (now.some(({ ask }) => !ids.has(ask.id))) await this.show();
  }

  /**
   * @param {string[]} sessions
   * @param {Set<string>} ids
   */
  async bring(sessions, ids) {
    const asked = new URLSearchParams(sessions.map((session) => ["session", session]));
    if (this.where) asked.set("where", "1");
    const response = await fetch(`/fragments/asks?${asked}`);
    if (response.status >= 500) throw new Error(String(response.status));
    if (!response.ok) return;
    /** @type {{asks: {id: string, html: string, title: string}[]}} */
    const { asks } = await response.json();
    const fresh = asks.filter(({ id }) => ids.has(id) && this.card(id) === null);
    this.moved(() => this.place.append(...fresh.map(({ html }) => made(html))));
    if (fresh.length) announce(say("askCame", { title: fresh[0].title }));
    this.place.dispatchEvent(new CustomEvent("asks", { bubbles: true }));
  }

  /**
   * It is not asked any more; prompts that were changed meanwhile are asked about anew.
   * @param {Element} card
   * @param {ReturnType<Asks["wanted"]>} wanted
   */
  leave(card, wanted) {
    /** @param {{session: string, ask: Ask}} each */
    const isAskedAnew = ({ session, ask }) => ask.what === "prompts" && session === card.dataset.session;
    if (card.matches(".prompts") && wanted.some(isAskedAnew)) this.moved(() => card.remove());
    else this.end(card, say("askOver"));
  }

  /**
   * How it ended is told for a moment in its place.
   * @param {Element} card
   * @param {string} words
   */
  end(card, words) {
    const hadFocus = card.contains(document.activeElement);
    const note = made('<p class="ask-over" role="status"></p>');
    note.textContent = words;
    delete card.dataset.ask;
    this.moved(() => card.replaceWith(note));
    announce(words);
    setTimeout(() => this.moved(() => note.remove()), SHOWN_FOR);
    this.place.dispatchEvent(new CustomEvent("asks", { bubbles: true, detail: { hadFocus } }));
  }

  // ── Answering ──

  /** @param {Event} event */
  clicked(event) {
    const target = /** @type {Element} */ (event.target);
    const button = target.closest("button[data-option], button[data-reasoned]");
    const card = button?.closest(".ask[data-ask]");
    if (!card) return;
    if (button.matches("[data-reasoned]")) {
      const reason = card.querySelector(".ask-reason");
      reason.hidden = false;
      button.setAttribute("aria-expanded", "true");
      reason.querySelector("textarea").focus();
    } else this.answer(card, { option: button.dataset.option }, button.dataset.said);
  }

  /** @param {SubmitEvent} event */
  submitted(event) {
    const form = /** @type {Element} */ (event.target);
    const card = form.closest(".ask[data-ask]");
    if (!card) return;
    event.preventDefault();
    if (form.matches(".ask-reason")) {
      const reason = form.querySelector("textarea").value.trim();
      const option = form.dataset.option || null;
      this.answer(card, { option, reason: reason || null }, form.dataset.said);
    } else this.answer(card, { values: valuesOf(card) }, say("askAnswered"));
  }

  /**
   * @param {Element} card
   * @param {object} answer
   * @param {string} words
   */
  async answer(card, answer, words) {
    if (card.dataset.busy) return;
    card.dataset.busy = "1";
    card.classList.add("busy");
    const { ask, session } = card.dataset;
    try {
      const given = await send("POST", `/${session}/answers`, { ask, ...answer });
      const waits = this.wanted().some((each) => each.ask.id === ask);
      if (!given.ok && given.status !== 404 && waits) {
        this.complain(card, given.error);
        return;
      }
      this.answered.add(ask);
      this.end(card, given.ok ? words : given.error.message);
    } catch {
      // Nothing was answered as far as we know: it can be tried again.
      this.complain(card, { message: say("away"), hint: "" });
    } finally {
      delete card.dataset.busy;
      card.classList.remove("busy");
    }
  }

  /**
   * @param {Element} card
   * @param {Refusal} trouble
   */
  complain(card, { message, hint }) {
    const place = card.querySelector(".ask-trouble");
    place.textContent = [message, hint].filter(Boolean).join(" ");
    place.hidden = false;
  }

  /**
   * Digits choose, in the card that has the focus or else in the first.
   * @param {KeyboardEvent} event
   */
  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const target = /** @type {Element} */ (event.target);
    if (!/^[1-9]$/.test(event.key) || target.closest("textarea, select, input:not([type=radio], [type=checkbox])")) return;
    const card = target.closest(".ask[data-ask]") ?? this.cards[0];
    if (!card || document.querySelector("dialog[open]")) return;
    const choices = [...card.querySelectorAll(".ask-options button:not([hidden])")];
    const [first] = card.querySelectorAll("fieldset");
    const here = target.closest("fieldset") ?? first;
    const chosen = here ? here.querySelectorAll("input[type=radio], input[type=checkbox]") : choices;
    const choice = chosen[Number(event.key) - 1];
    if (!choice) return;
    event.preventDefault();
    choice.click();
    choice.focus();
  }
}

/**
 * What was chosen, by question; a text of one's own counts as chosen.
 * @param {Element} card
 */
function valuesOf(card) {
  /** @type {Record<string, string[]>} */
  const values = {};
  for (const field of card.querySelectorAll("fieldset[data-question]")) {
    /** @type {NodeListOf<HTMLInputElement>} */
    const checked = field.querySelectorAll("input:checked");
    const chosen = [...checked].map((input) => input.value);
    /** @type {HTMLInputElement} */
    const box = field.querySelector(".own");
    const own = box?.value.trim();
    const isOther = field.querySelector("input.other:checked") !== null;
    const labels = chosen.filter((value) => value !== "");
    if (own && (isOther || !field.querySelector("input.other"))) labels.push(own);
    values[field.dataset.question] = labels;
  }
  return values;
}
