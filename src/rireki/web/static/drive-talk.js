// The part of a conversation's page that drives its agent: what streams in, what is on its way, what
// waits, and where to type. The messages themselves come as always, by the feed; what stands here is
// taken away as soon as they are there.

import { Asks } from "./drive-asks.js";
import { Composer } from "./drive-composer.js";
import { forget, freshId, onPost, outbox, post, pictures, send } from "./drive-send.js";
import { blocks, follow, sessionOf, sessions } from "./driven.js";
import { made } from "./stream.js";
import { announce, say } from "./words.js";

const A_MOMENT = 250;
const A_WHILE = 600;
const LATELY = 6;
const place = document.getElementById("drive");
/** @type {(name: string) => HTMLElement} */
const part = (name) => place.querySelector(`.${name}`);
const BUSY = ["starting", "working", "permission", "answer"];
const OVER = ["ended", "failed"];

/**
 * `page` has the stream, the ids under which the conversation is known, and `also(id)`.
 * @param {{stream: import("./stream.js").Stream, ids: Set<string>, also: (id: string) => void, renew: () => void}} page
 */
export function drive(page) {
  const { stream, ids } = page;
  /** @type {SessionStatus} */
  let status = null;

  /**
   * The end of the page stays in sight for whoever looks at it.
   * @param {() => void} work
   */
  function moved(work) {
    const follows = stream.isAtEnd;
    work();
    if (follows) stream.scrollToEnd();
  }

  // ── The session ──

  function update() {
    status = sessionOf(ids);
    part("continue").hidden = status !== null || !place.dataset.agents;
    part("live").hidden = status === null;
    if (status === null) return;
    place.dataset.session = status.id;
    page.also(`bridge/${status.id}`);
    page.also(status.conversation);
    composer.belong(status.id, status.project, status.images);
    moved(() => {
      showState();
      showQueue();
      showBlocks();
      showPosts();
      asks.show();
    });
    settle();
  }

  function showState() {
    const { state, detail, calls, queue, held, recovered } = status;
    // Prompts from before a restart wait for a yes, with a card of their own; no agent is at work.
    const busy = BUSY.includes(state) && (state !== "permission" || status.asks.length > (recovered.length ? 1 : 0));
    part("drive-state").dataset.state = state;
    const running = calls.at(-1);
    const told = [say(`state.${state}`)];
    if (state === "working" && running) told.push(running.title || running.name);
    if (held && queue.length && !recovered.length) told.push(say("held"));
    put(part("what"), told.join(" · "));
    put(part("detail"), detail);
    part("detail").hidden = !detail;
    part("stop").hidden = !busy;
    part("kill").hidden = !busy && state !== "stopping";
    part("restart").hidden = !OVER.includes(state);
    part("proceed").hidden = !(held && queue.length && !recovered.length);
    part("composer").querySelector(".primary span").textContent = say(
      BUSY.includes(state) || state === "stopping" ? "queue" : "send",
    );
  }

  for (const deed of ["stop", "kill", "restart", "proceed"]) {
    part(deed).addEventListener("click", () => act("POST", `/${status.id}/${deed}`));
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   */
  async function act(method, path, body) {
    try {
      const given = await send(method, path, body);
      if (!given.ok) composer.tell(`${given.error.message} ${given.error.hint}`);
      return given.ok;
    } catch {
      composer.tell(say("away"));
      return false;
    }
  }

  // ── The queue ──

  function showQueue() {
    const list = part("queue");
    const wanted = new Map(status.queue.map((queued) => [queued.id, queued]));
    for (const line of [...list.children]) if (!wanted.has(line.dataset.prompt)) line.remove();
    for (const queued of wanted.values()) {
      const known = [...list.children].find((line) => line.dataset.prompt === queued.id);
      const line = known ?? queueLine(queued);
      if (!line.classList.contains("edited")) put(line.querySelector(".words"), queued.text);
      if (!known) list.append(line);
    }
    list.hidden = !wanted.size;
  }

  /** @param {QueuedPrompt} queued */
  function queueLine({ id, images }) {
    const line = copyOf("queue-line");
    line.dataset.prompt = id;
    line.querySelector(".count").textContent = images ? `${say("picture")} × ${images}` : "";
    const words = line.querySelector(".words");
    const box = line.querySelector("textarea");
    /** @param {boolean} on */
    const edit = (on) => {
      line.classList.toggle("edited", on);
      line.querySelector("form").hidden = !on;
      words.hidden = on;
      if (on) box.focus();
      else line.querySelector(".edit").focus();
    };
    line.querySelector(".edit").addEventListener("click", () => {
      box.value = words.textContent;
      edit(true);
    });
    line.querySelector(".leave").addEventListener("click", () => edit(false));
    line.querySelector("form").addEventListener("submit", async (event) => {
      event.preventDefault();
      if (!(await act("PUT", `/${status.id}/prompts/${id}`, { text: box.value }))) return;
      put(words, box.value);
      edit(false);
    });
    line.querySelector(".withdraw").addEventListener("click", async () => {
      if (await act("DELETE", `/${status.id}/prompts/${id}`)) announce(say("withdrawn"));
    });
    return line;
  }

  // ── What is on its way ──

  /**
   * Prompts of this page that the stream does not have yet, by id.
   * @type {Map<string, {node: HTMLElement, item: OutboxItem, since?: number}>}
   */
  const posts = new Map();

  function showPosts() {
    const queued = new Set(status.queue.map(({ id }) => id));
    for (const item of outbox(status.id)) {
      const known = posts.get(item.id) ?? { node: postNode(item), item };
      const { node } = known;
      known.item = item;
      posts.set(item.id, known);
      describe(node, item);
      tellWarnings(item.warnings ?? []);
      node.hidden = queued.has(item.id);
      const home = item.number && !item.refused ? part("given") : part("sending");
      if (node.parentElement !== home) home.append(node);
    }
  }

  /** @param {OutboxItem} item */
  function postNode(item) {
    const node = copyOf("post");
    node.dataset.prompt = item.id;
    node.querySelector(".words").textContent = item.text;
    node.querySelector(".count").textContent = item.images ? `${say("picture")} × ${item.images}` : "";
    node.querySelector(".again").addEventListener("click", async () => {
      const images = item.images ? await pictures.get(item.id) : [];
      composer.restore(item.text, images);
      forget(item);
    });
    return node;
  }

  /**
   * @param {HTMLElement} node
   * @param {OutboxItem} item
   */
  function describe(node, item) {
    const { refused } = item;
    node.classList.toggle("refused", Boolean(refused));
    const words = refused ? `${say("refused")} ${refused.message} ${refused.hint}` : say("sending");
    put(node.querySelector(".label"), item.number ? "" : words);
    node.querySelector(".again").hidden = !refused;
  }

  onPost(({ kind, item }) => {
    if (item.session !== status?.id) return;
    if (kind === "over") {
      moved(() => posts.get(item.id)?.node.remove());
      posts.delete(item.id);
    } else moved(showPosts);
    settle();
  });

  // ── What streams in ──

  /**
   * The blocks that grow, or grew and are not in the stream yet: {node, text, settled}.
   * @type {Map<string, {node: HTMLElement, words: Element, settled: number, since?: number}>}
   */
  const growing = new Map();

  function showBlocks() {
    for (const block of blocks.values()) if (block.session === status.id) showBlock(block);
  }

  /** @param {StreamedBlock} block */
  function showBlock({ id, kind, text }) {
    let known = growing.get(id);
    if (!known) {
      const node = copyOf(`block-${kind}`);
      node.dataset.block = id;
      known = { node, words: node.querySelector(".words"), settled: null };
      growing.set(id, known);
      part("streaming").append(node);
    }
    const shown = known.words.textContent;
    if (text.startsWith(shown)) known.words.append(text.slice(shown.length));
    else known.words.textContent = text;
    // One node, however many pieces it came in.
    known.words.normalize();
  }

  // ── What has arrived ──

  /** @type {number} */
  let settling = null;
  /** @type {number} */
  let looking = null;
  function settle() {
    if (status === null) return;
    const late = [arrivedPosts(), arrivedBlocks()].some(Boolean);
    if (late) settling ??= setTimeout(() => ((settling = null), settle()), A_MOMENT);
    if (isExpected()) looking ??= setTimeout(look, A_WHILE);
    overtake();
  }

  /** Whether something is stored that the stream does not have as far as we know. */
  function isExpected() {
    const queued = new Set(status.queue.map(({ id }) => id));
    return (
      [...posts].some(([id, { item }]) => item.number && !queued.has(id)) ||
      [...growing.values()].some(({ settled }) => settled)
    );
  }

  /** What changes no message is not announced, but tells how far the journal was read. */
  async function look() {
    const answer = await stream.fetch({ messages: "" }).catch(/** @returns {Fragments} */ () => null);
    looking = null;
    if (answer && !answer.many) stream.apply(answer, []);
    else settle();
  }

  /**
   * Whether the stream has it: by its own id, or, for a moment later, under the agent's.
   * @param {string} id
   * @param {number} number
   * @param {{since?: number}} known
   */
  function arrived(id, number, known) {
    const isRead = stream.journal >= number;
    const isThere = stream.find(id) !== null;
    if (!number || !(isRead || isThere)) return "no";
    if (isRead && (isThere || stream.isWhole)) return "yes";
    known.since ??= performance.now();
    return performance.now() - known.since >= A_MOMENT ? "yes" : "soon";
  }

  function arrivedPosts() {
    const queued = new Set(status.queue.map(({ id }) => id));
    let late = false;
    for (const [id, known] of [...posts]) {
      const state = queued.has(id) ? "no" : arrived(id, known.item.number, known);
      if (state === "yes") forget(known.item);
      late ||= state === "soon";
    }
    return late;
  }

  function arrivedBlocks() {
    let late = false;
    for (const [id, known] of [...growing]) {
      const state = arrived(id, known.settled, known);
      if (state === "yes") moved(() => known.node.remove());
      if (state === "yes") growing.delete(id);
      late ||= state === "soon";
    }
    return late;
  }

  /** What stands here does not stand in the stream as well. */
  function overtake() {
    const told = lately();
    for (const { node, words } of growing.values()) {
      node.classList.toggle("overtaken", told.includes(plain(words.textContent)));
    }
    const here = new Set([...growing.keys(), ...posts.keys(), ...status.queue.map(({ id }) => id)]);
    for (const unit of stream.units) unit.classList.toggle("overtaken", here.has(unit.dataset.unit));
  }

  /** What the agent's own transcript has of this turn: it may be there before the block is settled. */
  function lately() {
    const said = [];
    for (const unit of stream.units.slice(-LATELY).reverse()) {
      if (unit.querySelector(":scope > .message.person.bubble")) break;
      if (!growing.has(unit.dataset.unit)) said.push(plain(unit.querySelector(".body")?.textContent ?? ""));
    }
    return said.join(" ");
  }

  // ── Typing ──

  const composer = new Composer(/** @type {HTMLFormElement} */ (part("composer")), async ({ text, mentions, images }) => {
    await post({ session: status.id, text, mentions, images });
    stream.scrollToEnd();
  });

  const wanted = () => (status?.asks ?? []).map((ask) => ({ session: status.id, ask }));
  const asks = new Asks(part("asks"), wanted, { moved });

  /** @param {string[]} warnings */
  function tellWarnings(warnings) {
    if (!warnings.length) return;
    put(part("warnings"), warnings.join("\n"));
    part("warnings").hidden = false;
  }

  // ── Going on with one that is over ──

  part("continue").querySelector("button").disabled = false;
  part("continue").addEventListener("submit", async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const { project, conversation } = place.dataset;
    const agent = String(new FormData(form).get("agent") ?? "");
    const start = { id: freshId(), project, continues: conversation, agent };
    const trouble = form.querySelector(".composer-trouble");
    trouble.hidden = true;
    try {
      const given = await send("POST", "", start);
      if (given.ok) {
        sessions.set(given.value.session.id, given.value.session);
        update();
        tellWarnings(given.value.warnings ?? []);
        composer.box.focus();
        return;
      }
      put(trouble, `${given.error.message} ${given.error.hint}`);
    } catch {
      put(trouble, say("away"));
    }
    trouble.hidden = false;
  });

  // ── As it happens ──

  /**
   * One that nobody has talked to for long is not among those that are told of.
   * @param {string} id
   */
  async function wakeUp(id) {
    const given = await send("GET", `/${id}`).catch(/** @returns {Awaited<ReturnType<typeof send>>} */ () => null);
    if (!given?.ok || sessions.has(id)) return;
    sessions.set(id, given.value);
    update();
  }

  // What floats beside the messages stands above the dock, however high that is.
  new ResizeObserver(([{ target }]) => {
    moved(() => {
      document.documentElement.style.setProperty("--dock", `${target.offsetHeight}px`);
    });
  }).observe(part("dock"));

  stream.settled = settle;
  follow((said) => {
    if (said.kind === "delta") {
      if (said.session !== status?.id) return;
      const block = blocks.get(said.block);
      if (block) moved(() => showBlock(block));
      overtake();
      return;
    }
    if (said.kind === "settled") {
      const known = growing.get(said.block);
      if (known) known.settled = said.n;
    }
    for (const id of said.lost ?? []) {
      const known = growing.get(id);
      if (known) known.settled ??= 1;
    }
    if (said.lost?.length) page.renew();
    if (said.kind === "all" && place.dataset.session && !sessions.has(place.dataset.session)) {
      wakeUp(place.dataset.session);
    }
    update();
  });
}

/**
 * What a template of the page holds, to be filled.
 * @param {string} id
 */
function copyOf(id) {
  const template = /** @type {HTMLTemplateElement} */ (document.getElementById(id));
  return /** @type {HTMLElement} */ (template.content.firstElementChild.cloneNode(true));
}

/** @param {string} text */
function plain(text) {
  return text.replace(/\s+/g, " ").trim();
}

/**
 * Only what differs is written: a screen reader says it again otherwise.
 * @param {Element} element
 * @param {string} words
 */
function put(element, words) {
  if (element.textContent !== (words ?? "")) element.textContent = words ?? "";
}
