// What this page knows of the driven agents: their sessions by id, and the blocks that still grow.

import { DriveFeed, grown } from "./drive-feed.js";

/** @type {Map<string, SessionStatus>} */
export const sessions = new Map();
/** @type {Map<string, StreamedBlock>} */
export const blocks = new Map();
/** @type {Set<(said: DriveNote) => void>} */
const listeners = new Set();

/**
 * Hear whatever changes; what is known already is heard at once.
 * @param {(said: DriveNote) => void} listener
 */
export function follow(listener) {
  listeners.add(listener);
  if (begun) listener({ kind: "all", lost: [] });
}

let begun = false;

/** @param {DriveNote} said */
function heard(said) {
  if (said.kind === "out") location.reload();
  else if (said.kind === "all") takeAll(said);
  else if (said.kind === "status") sessions.set(said.status.id, said.status);
  else if (said.kind === "gone") sessions.delete(said.session);
  else if (said.kind === "settled") blocks.delete(said.block);
  else if (said.kind === "delta") grow(said);
  for (const listener of listeners) listener(said);
}

/** @param {Extract<DriveNote, {kind: "all"}>} said */
function takeAll(said) {
  begun = true;
  sessions.clear();
  for (const status of said.sessions) sessions.set(status.id, status);
  const known = new Set(said.blocks.map(({ id }) => id));
  // They were settled while nobody listened.
  said.lost = [...blocks.keys()].filter((id) => !known.has(id));
  blocks.clear();
  for (const block of said.blocks) blocks.set(block.id, block);
}

/** @param {Extract<DriveNote, {kind: "delta"}>} delta */
function grow({ session, block: id, of: kind, at, text }) {
  const known = blocks.get(id);
  const now = grown(known?.text ?? "", { at, text });
  if (now !== null) blocks.set(id, { id, session, kind: known?.kind ?? kind, text: now });
}

/** Listens with all other tabs, or alone where the browser cannot; gives what ends it. */
function start() {
  let end = () => {};
  const alone = () => {
    const feed = new DriveFeed(heard);
    end = () => feed.close();
  };
  if (typeof SharedWorker === "undefined") alone();
  else {
    const place = new URL("./drive-worker.js", import.meta.url);
    const worker = new SharedWorker(place, { type: "module", name: "rireki drive" });
    worker.onerror = alone;
    worker.port.onmessage = ({ data }) => heard(data);
    worker.port.postMessage({ kind: "hello" });
    end = () => worker.port.postMessage({ kind: "bye" });
  }
  return () => end();
}

let ends = start();
addEventListener("pagehide", () => ends());
addEventListener("pageshow", (event) => {
  if (event.persisted) ends = start();
});

/**
 * The session that drives a conversation now, or drove it last.
 * @param {Set<string>} ids
 */
export function sessionOf(ids) {
  const found = [...sessions.values()].filter(
    (status) => ids.has(status.conversation) || ids.has(`bridge/${status.id}`),
  );
  /** @param {SessionStatus} status */
  const isOver = (status) => (status.state === "ended" || status.state === "failed" ? 1 : 0);
  found.sort((a, b) => isOver(a) - isOver(b) || b.number - a.number);
  return found[0] ?? null;
}
