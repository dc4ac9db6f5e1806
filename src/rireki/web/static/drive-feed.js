// One connection to what the driven agents do. The state is kept whole: whoever joins gets all of it.

import { isLockedOut } from "./locked-out.js";

const FIRST_WAIT = 250;
const LONGEST_WAIT = 3000;

/**
 * A block's text with a further stretch of it; what was heard before is not heard twice.
 * @param {string} text
 * @param {{at: number, text: string}} delta
 */
export function grown(text, { at, text: more }) {
  if (at > text.length) return null;
  return at + more.length < text.length ? text : text.slice(0, at) + more;
}

export class DriveFeed {
  /**
   * `tell` gets {kind: "all" | "status" | "delta" | "settled" | "gone", …}.
   * @param {(note: DriveNote) => void} tell
   */
  constructor(tell) {
    this.tell = tell;
    /** @type {Map<string, SessionStatus>} */
    this.sessions = new Map();
    this.blocks = new Map();
    this.ready = false;
    this.wait = FIRST_WAIT;
    this.connect();
  }

  /** @returns {DriveNote} */
  get all() {
    return { kind: "all", sessions: [...this.sessions.values()], blocks: [...this.blocks.values()] };
  }

  connect() {
    const source = new EventSource("/api/v1/drive/events");
    this.source = source;
    /** @type {(kind: string, work: (data: any) => void) => void} */
    const on = (kind, work) =>
      source.addEventListener(kind, (event) => work(JSON.parse(event.data)));
    on("hello", (data) => this.begin(data.sessions));
    on("status", ({ session, status }) => {
      this.sessions.set(session, status);
      this.tell({ kind: "status", status });
    });
    on("delta", (delta) => this.grow(delta));
    on("settled", ({ n, session, block }) => {
      this.blocks.delete(block);
      this.tell({ kind: "settled", n, session, block });
    });
    on("gone", ({ session }) => {
      this.sessions.delete(session);
      this.tell({ kind: "gone", session });
    });
    // A browser gives up for good after some errors; we never do.
    source.onerror = () => {
      this.again();
      isLockedOut().then((isOut) => isOut && this.tell({ kind: "out" }));
    };
  }

  /** @param {SessionStatus[]} sessions */
  begin(sessions) {
    this.wait = FIRST_WAIT;
    this.ready = true;
    this.sessions = new Map(sessions.map((status) => [status.id, status]));
    this.blocks = new Map();
    for (const { id: session, blocks } of sessions) {
      for (const block of blocks) this.blocks.set(block.id, { ...block, session });
    }
    this.tell(this.all);
  }

  /** @param {Delta & {kind: string}} delta */
  grow(delta) {
    const { session, block: id, kind } = delta;
    const known = this.blocks.get(id)?.text ?? "";
    const text = grown(known, delta);
    // Something was missed: everything is asked for again.
    if (text === null) return this.again();
    this.blocks.set(id, { id, session, kind: this.blocks.get(id)?.kind ?? kind, text });
    this.tell({ ...delta, kind: "delta", of: kind });
  }

  again() {
    this.source.close();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
  }

  close() {
    clearTimeout(this.timer);
    this.source.close();
  }
}
