// A long conversation in a short page: a window of its units that grows where the reader goes.

const MOST = 300;
const KEPT = 220;
const NEAR = 1400;

/** @param {string} html */
export function made(html) {
  const template = document.createElement("template");
  template.innerHTML = html.trim();
  return template.content.firstElementChild;
}

export class Stream {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.earlier = document.getElementById("earlier");
    this.later = document.getElementById("later");
    this.url = element.dataset.sourceUrl;
    this.total = Number(element.dataset.total);
    /** Up to which number of the bridge's journal the conversation was read. */
    this.journal = Number(element.dataset.journal ?? 0);
    /** Whether all of that stands here, were it not cut off: some may be on its way after a change. */
    this.isWhole = true;
    /** Whether the reader was at the end when it was seen last: some of it may be on its way since. */
    this.follows = false;
    this.branches = new Set();
    this.busy = false;
    this.moved = () => {};
    this.settled = () => {};
    this.lost = () => {};
    this.settle();
    this.watch();
    element.addEventListener("click", (event) => this.clicked(event));
    for (const way of /** @type {Way[]} */ (["before", "after"])) {
      const line = way === "before" ? this.earlier : this.later;
      line.querySelector("a").addEventListener("click", (event) => {
        event.preventDefault();
        this.extend(way);
      });
    }
  }

  get units() {
    return [...this.element.children];
  }

  get isAtEnd() {
    const root = document.documentElement;
    const isLow = root.scrollHeight - scrollY - innerHeight < 160;
    return isLow && (this.later.hidden || this.follows);
  }

  /** @param {string} id */
  find(id) {
    return this.units.find((unit) => unit.dataset.unit === id) ?? null;
  }

  /** The unit the reader is reading. */
  get reading() {
    const units = this.units;
    // Above that, a unit stands behind what sticks to the upper edge.
    const edge = parseFloat(getComputedStyle(document.documentElement).scrollPaddingBlockStart) + 8;
    let low = 0;
    let high = units.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (units[middle].getBoundingClientRect().bottom > edge) high = middle;
      else low = middle + 1;
    }
    return units[low] ?? null;
  }

  /**
   * What the server says; null when it has no such thing. Throws while the server is away.
   * @param {Asked} query
   * @returns {Promise<Fragments>}
   */
  async fetch(query) {
    const { all, asOf, mask } = this.element.dataset;
    const asked = new URLSearchParams(query);
    if (all) asked.set("all", "1");
    if (mask) asked.set("mask", "1");
    if (asOf) asked.set("as_of", asOf);
    const response = await fetch(`${this.url}?${asked}`);
    if (response.status >= 500) throw new Error(`${this.url} failed: ${response.status}`);
    return response.ok ? response.json() : null;
  }

  /**
   * Change the page without moving what the reader looks at.
   * @param {() => void} work
   */
  keeping(work) {
    const anchor = this.reading;
    const top = anchor?.getBoundingClientRect().top ?? 0;
    const root = document.documentElement;
    root.classList.add("still");
    work();
    if (anchor?.isConnected) {
      const drift = anchor.getBoundingClientRect().top - top;
      if (drift) scrollBy({ top: drift, behavior: "instant" });
    }
    requestAnimationFrame(() => root.classList.remove("still"));
  }

  /**
   * The same while it grows; but a reader at the end stays there when that moves on.
   * @param {() => void} work
   * @param {Way} way
   */
  grow(work, way = "after") {
    this.follows = this.isAtEnd;
    this.keeping(work);
    this.settle();
    if (this.follows && way === "after") this.scrollToEnd();
  }

  // ── Growing ──

  watch() {
    const near = new IntersectionObserver(() => this.fill(), { rootMargin: `${NEAR}px 0px` });
    near.observe(this.earlier);
    near.observe(this.later);
  }

  /** Window by window; the end is looked at each time, since it may have moved on meanwhile. */
  async fill() {
    if (this.busy) return;
    if (isNear(this.later) && (await this.extend("after"))) await this.fill();
    else if (isNear(this.earlier) && (await this.extend("before"))) await this.fill();
  }

  /**
   * One more window before or after; false when there was nothing more.
   * @param {Way} way
   */
  async extend(way) {
    if (this.busy) return false;
    const edge = this.edge(way);
    if (!edge) return false;
    this.busy = true;
    try {
      const answer = await this.fetch({ [way]: edge.dataset.unit, index: edge.dataset.index });
      if (answer === null || !edge.isConnected) return false;
      // Something was put there meanwhile: what stands behind that is asked for instead.
      if (edge !== this.edge(way)) return true;
      if (answer.gone) {
        this.lost();
        return false;
      }
      this.total = answer.total;
      const fresh = answer.units.map((unit) => made(unit.html));
      this.grow(() => {
        // In a driven conversation a prompt moves on until its turn comes.
        if (this.journal) for (const { id } of answer.units) this.find(id)?.remove();
        if (way === "before") this.element.prepend(...fresh);
        else this.element.append(...fresh);
        this.trim(way);
      }, way);
      return fresh.length > 0;
    } catch {
      // The server is away: the next movement asks again.
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** @param {Way} way */
  edge(way) {
    return way === "before" ? this.element.firstElementChild : this.element.lastElementChild;
  }

  /**
   * Far-away units leave the page; they come back when the reader does.
   * @param {Way} way
   */
  trim(way) {
    const units = this.units;
    if (units.length <= MOST) return;
    const gone = way === "before" ? units.slice(KEPT) : units.slice(0, units.length - KEPT);
    for (const unit of gone) unit.remove();
  }

  settle() {
    const units = this.units;
    this.earlier.hidden = !units.length || Number(units[0].dataset.index) === 0;
    this.later.hidden = !units.length || Number(units.at(-1).dataset.index) >= this.total - 1;
    this.element.dataset.total = String(this.total);
    this.showBranches(units);
    this.moved();
    this.settled();
  }

  // ── Going somewhere ──

  /**
   * Show a window that the server chose; gives the unit it was asked around.
   * @param {Asked} query
   */
  async load(query) {
    const answer = await this.fetch(query);
    if (answer === null) return null;
    this.take(answer);
    return answer.at ? this.find(answer.at) : null;
  }

  /** The last window; false when the conversation is not there any more. */
  async loadEnd() {
    const answer = await this.fetch({ end: "1" });
    if (answer !== null) this.take(answer);
    return answer !== null;
  }

  /** @param {Fragments} answer */
  take(answer) {
    this.isWhole = true;
    this.journal = answer.journal ?? this.journal;
    this.show(answer.units.map((unit) => unit.html), answer.total);
  }

  /**
   * @param {string[]} units
   * @param {number} total
   */
  show(units, total) {
    this.total = total;
    this.follows = false;
    this.element.replaceChildren(...units.map(made));
    this.settle();
  }

  /** @param {string} message */
  async goTo(message) {
    const known =
      this.find(message) ??
      this.units.find((unit) => unit.firstElementChild?.dataset.message === message);
    const unit = known ?? (await this.load({ around: message }));
    if (unit) this.point(unit);
    return unit;
  }

  /** @param {Element} unit */
  point(unit) {
    if (unit.dataset.branch) this.openBranch(unit.dataset.branch, true);
    unit.scrollIntoView({ block: "start", behavior: "instant" });
    for (const other of this.element.querySelectorAll(".opened")) other.classList.remove("opened");
    unit.classList.add("opened");
  }

  async toStart() {
    if (!this.earlier.hidden) await this.load({ start: "1" });
    scrollTo({ top: 0, behavior: "instant" });
  }

  async toEnd() {
    if (!this.later.hidden) await this.load({ end: "1" });
    this.scrollToEnd();
  }

  scrollToEnd() {
    scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
  }

  // ── Branches ──

  /** @param {Event} event */
  clicked(event) {
    const button = /** @type {Element} */ (event.target).closest(".branch-switch");
    if (!button) return;
    this.openBranch(button.dataset.switch, button.getAttribute("aria-expanded") !== "true");
  }

  /**
   * @param {string} id
   * @param {boolean} open
   */
  openBranch(id, open) {
    if (open) this.branches.add(id);
    else this.branches.delete(id);
    this.showBranches(this.units);
  }

  /** @param {Element[]} units */
  showBranches(units) {
    for (const unit of units) {
      if (!unit.dataset.branch) continue;
      const open = this.branches.has(unit.dataset.branch);
      unit.classList.toggle("shown", open);
      unit.querySelector(".branch-switch")?.setAttribute("aria-expanded", String(open));
    }
  }

  // ── Changes ──

  /**
   * Put changed units in their places.
   * @param {Fragments} answer
   * @param {string[]} removed
   */
  apply(answer, removed) {
    this.total = answer.total;
    this.journal = answer.journal ?? this.journal;
    // Nothing was announced that this answer does not have, and it has nothing that was not.
    this.isWhole = answer.number <= Number(document.documentElement.dataset.number);
    this.grow(() => {
      for (const id of removed) this.find(id)?.remove();
      for (const unit of answer.units) this.place(unit);
      if (answer.tail) this.arrange(answer.tail);
    });
    // What has no place here yet; the observer is silent about a line that was in sight before.
    this.fill();
  }

  /**
   * The last units in the order the server has: some of them may have moved without a change.
   * @param {Fragments["tail"]} tail
   */
  arrange({ first, ids }) {
    const places = new Map(ids.map((id, place) => [id, first + place]));
    const here = new Map();
    for (const unit of this.units) {
      const { unit: id, index } = unit.dataset;
      if (here.has(id) || (!places.has(id) && Number(index) >= first)) unit.remove();
      else if (places.has(id)) here.set(id, unit);
    }
    const known = ids.filter((id) => here.has(id));
    for (const id of known) here.get(id).dataset.index = String(places.get(id));
    const isInOrder = [...here.keys()].every((id, place) => id === known[place]);
    if (!isInOrder) this.element.append(...known.map((id) => here.get(id)));
    const span = known.length ? places.get(known.at(-1)) - places.get(known[0]) + 1 : 0;
    // Something between them is not here.
    if (span > known.length) this.lost();
  }

  /**
   * One whose place is not on the page comes when the reader goes there.
   * @param {UnitHtml} unit
   */
  place(unit) {
    const node = made(unit.html);
    const known = this.find(unit.id);
    if (known) {
      keepOpen(known, node);
      known.replaceWith(node);
    } else if (unit.after === null) this.element.prepend(node);
    else this.find(unit.after)?.after(node);
  }
}

/** @param {HTMLElement} line */
function isNear(line) {
  if (line.hidden) return false;
  const { top, bottom } = line.getBoundingClientRect();
  return bottom > -NEAR && top < innerHeight + NEAR;
}

/**
 * What the reader had open stays open, and focused.
 * @param {Element} old
 * @param {Element} fresh
 */
function keepOpen(old, fresh) {
  const before = [...old.querySelectorAll("details")];
  const now = [...fresh.querySelectorAll("details")];
  const focused = before.findIndex((each) => each.querySelector("summary") === document.activeElement);
  now.forEach((each, place) => {
    if (before[place]) each.open = before[place].open;
  });
  for (const name of ["current", "opened", "shown"]) {
    fresh.classList.toggle(name, old.classList.contains(name));
  }
  if (focused >= 0 && now[focused]) {
    queueMicrotask(() => now[focused].querySelector("summary")?.focus({ preventScroll: true }));
  }
}
