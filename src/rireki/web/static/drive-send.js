// What the person sends to agents. A prompt lies in the browser's own storage from the moment it is
// sent until it was seen in the conversation, and is tried again under the same id until it is taken.

const PREFIX = "rireki.out.";
const FIRST_WAIT = 300;
const LONGEST_WAIT = 4000;
const STALE = 7 * 86400 * 1000;

/** A fresh id; browsers that were reached without TLS have no randomUUID. */
export function freshId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Ask the server for something; {ok, status, value}. Throws while it is away.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
export async function send(method, path, body) {
  /** @type {RequestInit} */
  const asked = { method, headers: { "Content-Type": "application/json" } };
  if (method !== "GET") asked.body = JSON.stringify(body ?? {});
  const response = await fetch(`/api/v1/drive${path}`, asked);
  if (response.status >= 500 || response.status === 401) throw new Error(String(response.status));
  const value = await response.json();
  return { ok: response.ok, status: response.status, value, error: value.error ?? null };
}

// ── Pictures: too large for the storage that answers at once ──

/** @type {Promise<IDBDatabase>} */
let opening = null;
function database() {
  opening ??= new Promise((opened, failed) => {
    const asked = indexedDB.open("rireki", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("pictures");
    asked.onsuccess = () => opened(asked.result);
    asked.onerror = () => failed(asked.error);
  });
  return opening;
}

/**
 * @template Found
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest<Found>} work
 * @returns {Promise<Found>}
 */
async function stored(mode, work) {
  const store = (await database()).transaction("pictures", mode).objectStore("pictures");
  return new Promise((done, failed) => {
    const asked = work(store);
    asked.onsuccess = () => done(asked.result);
    asked.onerror = () => failed(asked.error);
  });
}

export const pictures = {
  /** @type {(name: string) => Promise<Picture[]>} */
  get: async (name) => (await stored("readonly", (store) => store.get(name))) ?? [],
  /** @type {(name: string, some: Picture[]) => Promise<unknown>} */
  put: (name, some) => stored("readwrite", (store) => store.put(some, name)),
  /** @type {(name: string) => Promise<unknown>} */
  drop: (name) => stored("readwrite", (store) => store.delete(name)),
};

// ── The outbox ──

addEventListener("storage", ({ key, oldValue, newValue }) => {
  // Another tab sent something, or heard what became of it.
  if (!key?.startsWith(PREFIX)) return;
  if (newValue !== null) tell("sent", JSON.parse(newValue));
  else if (oldValue !== null) tell("over", JSON.parse(oldValue));
});

/** @type {Set<(note: PostNote) => void>} */
const listeners = new Set();
const busy = new Set();

/**
 * Hear what becomes of what is sent: {kind: "sent" | "taken" | "refused" | "over", item}.
 * @param {(note: PostNote) => void} listener
 */
export function onPost(listener) {
  listeners.add(listener);
}

/**
 * @param {PostNote["kind"]} kind
 * @param {OutboxItem} item
 */
function tell(kind, item) {
  for (const listener of listeners) listener({ kind, item });
}

/** @param {OutboxItem} item */
function keep(item) {
  localStorage.setItem(PREFIX + item.id, JSON.stringify(item));
}

/**
 * Everything on its way, in the order it was sent.
 * @param {string} session
 * @returns {OutboxItem[]}
 */
export function outbox(session = null) {
  const items = Object.keys(localStorage)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => JSON.parse(localStorage.getItem(name)))
    .filter((item) => session === null || item.session === session);
  return items.sort((a, b) => a.at - b.at);
}

/**
 * Send a prompt to a session; with `start`, the session is begun with it.
 * @param {Written & {session: string, start?: Start}} written
 */
export async function post({ session, start = null, text, mentions = [], images = [] }) {
  /** @type {OutboxItem} */
  const item = { id: freshId(), session, start, text, mentions, at: Date.now(), images: images.length };
  if (images.length) await pictures.put(item.id, images);
  keep(item);
  tell("sent", item);
  deliver(item);
  return item;
}

/** @param {OutboxItem} item */
export async function deliver(item) {
  if (busy.has(item.id) || item.number) return;
  busy.add(item.id);
  try {
    const images = item.images ? await pictures.get(item.id) : [];
    const prompt = { id: item.id, text: item.text, mentions: item.mentions, images };
    const given = await insist(item, prompt);
    if (given.ok) {
      item.number = (given.value.given ?? given.value).number;
      item.warnings = given.value.warnings ?? [];
      delete item.refused;
      keep(item);
      tell("taken", item);
    } else {
      item.refused = given.error;
      keep(item);
      tell("refused", item);
    }
  } finally {
    busy.delete(item.id);
  }
}

/**
 * @param {OutboxItem} item
 * @param {Written & {id: string}} prompt
 */
async function insist(item, prompt) {
  for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
    try {
      if (item.start) return await send("POST", "", { ...item.start, id: item.session, prompt });
      return await send("POST", `/${item.session}/prompts`, prompt);
    } catch {
      await new Promise((wake) => setTimeout(wake, wait));
    }
  }
}

/**
 * It stands in the conversation now, or nobody wants it any more.
 * @param {OutboxItem} item
 */
export function forget(item) {
  localStorage.removeItem(PREFIX + item.id);
  if (item.images) pictures.drop(item.id).catch(() => {});
  tell("over", item);
}

/** Whatever another page left behind is tried again. */
export function deliverAll() {
  for (const item of outbox()) {
    if (item.number && Date.now() - item.at > STALE) forget(item);
    else if (!item.refused) deliver(item);
  }
}
