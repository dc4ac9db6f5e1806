// A small page for ChatKit's protocol: one address, requests as JSON, answers as they come.

const COMPONENT = "https://cdn.platform.openai.com/deployments/chatkit/chatkit.js";
const talk = document.querySelector("#talk");
const form = /** @type {HTMLFormElement} */ (document.querySelector("#form"));
const box = /** @type {HTMLInputElement} */ (form.elements.namedItem("text"));
const chooser = /** @type {HTMLInputElement} */ (form.elements.namedItem("file"));
/** @type {string} */
let thread = null;

/**
 * @param {string} text
 * @param {string} kind
 * @param {any[]} files
 */
function say(text, kind, files = []) {
  const line = document.createElement("p");
  line.className = kind;
  line.append(text);
  for (const file of files) {
    if (file.preview_url) {
      const picture = document.createElement("img");
      picture.alt = file.name;
      picture.src = here(file.preview_url);
      line.append(picture);
    } else line.append(`\n📎 ${file.name}`);
  }
  talk.append(line);
  line.scrollIntoView({ block: "end" });
  return line;
}

// The app names itself in full; the page may have been opened under another name of this machine.
/** @param {string} address */
function here(address) {
  const { pathname, search } = new URL(address);
  return pathname + search;
}

/**
 * @param {string} type
 * @param {object} params
 */
async function post(type, params) {
  const answer = await fetch("chatkit", { method: "POST", body: JSON.stringify({ type, params }) });
  if (answer.ok) return answer;
  const told = await answer.json();
  throw new Error([told.error, told.hint].filter(Boolean).join(". "));
}

/** @param {Response} answer */
async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = "", step; !(step = await reader.read()).done;) {
    const lines = (rest + step.value).split("\n\n");
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line.replace(/^data: /, ""));
  }
}

// In two steps: the app is told what will come, and says where to send it.
/** @param {File} file */
async function upload(file) {
  const mime_type = file.type || "text/plain";
  const made = await (await post("attachments.create", { name: file.name, size: file.size, mime_type })).json();
  const sent = await fetch(here(made.upload_descriptor?.url ?? made.upload_url), { method: "PUT", body: file });
  if (!sent.ok) throw new Error((await sent.json()).error);
  return made;
}

/**
 * @param {string} text
 * @param {any[]} files
 */
async function ask(text, files) {
  const content = [{ type: "input_text", text }];
  const input = { content, attachments: files.map((file) => file.id), inference_options: {} };
  const answer = await (thread
    ? post("threads.add_user_message", { thread_id: thread, input })
    : post("threads.create", { input }));
  let line = null;
  for await (const event of events(answer)) {
    if (event.type === "thread.created") thread = event.thread.id;
    if (event.type === "thread.item.added" && event.item.type === "assistant_message") line = say("", "answer");
    if (event.type === "thread.item.updated") line?.append(event.update.delta ?? "");
    if (event.type === "error") say(event.message ?? "The answer failed. Send it once more.", "failed");
  }
}

async function earlier() {
  const { data } = await (await post("threads.list", { limit: 1 })).json();
  thread = data[0]?.id ?? null;
  for (let after = null, more = thread !== null; more;) {
    /** @type {object} */
    const params = { thread_id: thread, order: "asc", after };
    /** @type {any} */
    const page = await (await post("items.list", params)).json();
    for (const item of page.data) {
      const text = (item.content ?? []).map((/** @type {any} */ part) => part.text).join(" ");
      if (item.type === "user_message") say(text, "typed", item.attachments);
      if (item.type === "assistant_message") say(text, "answer");
    }
    ({ has_more: more, after } = page);
  }
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const [words, chosen] = [box.value, [...chooser.files]];
  form.reset();
  try {
    const files = await Promise.all(chosen.map(upload));
    say(words, "typed", files);
    await ask(words, files);
  } catch (error) {
    say(error.message, "failed");
    box.value ||= words;
  }
});

document.querySelector("#new").addEventListener("click", () => {
  thread = null;
  talk.replaceChildren();
  box.focus();
});

document.querySelector("#component").addEventListener("click", () => {
  const note = document.querySelector("#note");
  const script = document.createElement("script");
  script.src = COMPONENT;
  script.addEventListener("error", () => {
    note.textContent = "It could not be loaded: is there a network? This page goes on without it.";
  });
  script.addEventListener("load", async () => {
    await customElements.whenDefined("openai-chatkit");
    const component = /** @type {any} */ (document.createElement("openai-chatkit"));
    const api = { url: "/chatkit", domainKey: "local-dev", uploadStrategy: { type: "two_phase" } };
    component.setOptions({ api, composer: { attachments: { enabled: true } } });
    document.querySelector("main").replaceChildren(component);
  });
  document.head.append(script);
});

await earlier();
