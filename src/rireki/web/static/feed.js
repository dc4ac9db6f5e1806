// One connection to the server's feed of changes. It is taken up again after every break, from the
// number that was heard last, so that nothing is missed and nothing is told twice.

import { isLockedOut } from "./locked-out.js";

const FIRST_WAIT = 250;
const LONGEST_WAIT = 3000;
const REMEMBERED = 500;

export class Feed {
  /**
   * `tell` gets {kind: "open" | "lost" | "change" | "activity" | "reset", …}.
   * @param {number} after
   * @param {(note: FeedNote) => void} tell
   */
  constructor(after, tell) {
    this.after = after;
    this.from = after;
    this.tell = tell;
    /** @type {News[]} */
    this.changes = [];
    /** @type {Activities} */
    this.activities = null;
    this.isOpen = false;
    this.wait = FIRST_WAIT;
    this.connect();
  }

  connect() {
    const source = new EventSource(`/api/v1/events?after=${this.after}`);
    this.source = source;
    source.addEventListener("hello", () => {
      this.wait = FIRST_WAIT;
      this.isOpen = true;
      this.tell({ kind: "open" });
    });
    source.addEventListener("change", (event) => this.heard(JSON.parse(event.data)));
    source.addEventListener("activity", (event) => {
      this.activities = JSON.parse(event.data).activities;
      this.tell({ kind: "activity", activities: this.activities });
    });
    source.addEventListener("reset", (event) => {
      this.after = this.from = JSON.parse(event.data).number;
      this.changes = [];
      this.tell({ kind: "reset" });
    });
    // A browser gives up for good after some errors; we never do.
    source.onerror = () => this.again();
  }

  /** @param {News} news */
  heard(news) {
    this.after = news.number;
    this.changes.push(news);
    if (this.changes.length > REMEMBERED) this.from = this.changes.shift().number;
    this.tell({ kind: "change", news });
  }

  again() {
    this.source.close();
    this.isOpen = false;
    this.tell({ kind: "lost" });
    isLockedOut().then((isOut) => isOut && this.tell({ kind: "reset" }));
    this.timer = setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
  }

  /**
   * What came after a number; null when that is too long ago to be remembered.
   * @param {number} number
   */
  since(number) {
    if (number < this.from) return null;
    return this.changes.filter((news) => news.number > number);
  }

  close() {
    clearTimeout(this.timer);
    this.source.close();
  }
}
