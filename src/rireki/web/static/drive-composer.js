// Where the person types: a box that grows, keeps its draft, takes pictures and completes files.

import { pictures } from "./drive-send.js";
import { made } from "./stream.js";
import { announce, say } from "./words.js";

const DRAFT = "rireki.draft.";
const KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MB = 1024 * 1024;
const LARGEST = 5 * MB;
const ALTOGETHER = 13 * MB;
const SOON = 80;

export class Composer {
  /**
   * `sent({text, mentions, images})` is awaited before the box is emptied.
   * @param {HTMLFormElement} form
   * @param {(written: Written) => Promise<unknown>} sent
   */
  constructor(form, sent) {
    this.form = form;
    this.sent = sent;
    this.box = form.querySelector("textarea");
    this.pictured = form.querySelector(".pictures");
    this.trouble = form.querySelector(".composer-trouble");
    this.list = form.querySelector(".files");
    /** @type {Picture[]} */
    this.images = [];
    /** @type {Set<string>} */
    this.mentioned = new Set();
    /** @type {string} */
    this.name = null;
    this.project = "";
    this.takesImages = true;
    this.listen();
  }

  listen() {
    const { form, box } = this;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    box.addEventListener("keydown", (event) => this.pressed(event));
    box.addEventListener("input", () => {
      this.fit();
      this.keepDraft();
      this.complete();
    });
    box.addEventListener("blur", () => this.closeList());
    box.addEventListener("paste", (event) => this.offered(event.clipboardData, event));
    form.addEventListener("dragover", (event) => {
      if ([...event.dataTransfer.types].includes("Files")) event.preventDefault();
    });
    form.addEventListener("drop", (event) => this.offered(event.dataTransfer, event));
    /** @type {HTMLInputElement} */
    const chooser = form.querySelector("input[type=file]");
    form.querySelector(".attach").addEventListener("click", () => chooser.click());
    chooser.addEventListener("change", () => {
      this.add([...chooser.files]);
      chooser.value = "";
    });
    this.pictured.addEventListener("click", (event) => {
      const button = /** @type {Element} */ (event.target).closest("button");
      if (button) this.remove([...this.pictured.children].indexOf(button.closest("li")));
    });
    this.list.addEventListener("pointerdown", (event) => {
      // The box keeps the focus, and a phone its keyboard.
      event.preventDefault();
      const file = /** @type {Element} */ (event.target).closest("[role=option]");
      if (file) this.choose(file.dataset.path);
    });
  }

  /**
   * Whose draft it is, and where its files are.
   * @param {string} name
   * @param {string} project
   * @param {boolean} takesImages
   */
  async belong(name, project, takesImages) {
    this.project = project;
    this.takesImages = takesImages !== false;
    this.form.querySelector(".attach").hidden = !this.takesImages;
    if (this.name === name) return;
    this.name = name;
    const kept = localStorage.getItem(DRAFT + name);
    // What the page came with is only proposed; what somebody made of it counts.
    if (kept && this.box.value === this.box.defaultValue) this.box.value = kept;
    // Only from here on is what somebody types kept.
    this.box.disabled = false;
    this.fit();
    const known = await pictures.get(`draft ${name}`).catch(/** @returns {Picture[]} */ () => []);
    if (this.name === name && known.length && !this.images.length) this.show(known);
  }

  keepDraft() {
    if (this.name === null) return;
    if (this.box.value) localStorage.setItem(DRAFT + this.name, this.box.value);
    else localStorage.removeItem(DRAFT + this.name);
  }

  keepImages() {
    const name = `draft ${this.name}`;
    const kept = this.images.length ? pictures.put(name, this.images) : pictures.drop(name);
    kept.catch(() => {});
  }

  /**
   * Put something back that could not be sent.
   * @param {string} text
   * @param {Picture[]} images
   */
  restore(text, images) {
    this.box.value = [text, this.box.value].filter(Boolean).join("\n\n");
    this.fit();
    this.keepDraft();
    if (images.length) this.show([...images, ...this.images]);
    this.box.focus();
  }

  /** Where one would write on. */
  toEnd() {
    this.box.focus();
    this.box.setSelectionRange(this.box.value.length, this.box.value.length);
    this.box.scrollTop = this.box.scrollHeight;
  }

  fit() {
    // Browsers that can size a box by its content do so.
    if (CSS.supports("field-sizing", "content")) return;
    this.box.style.height = "auto";
    this.box.style.height = `${this.box.scrollHeight + 2}px`;
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    // Enter and arrows belong to the input method while it composes; 229 is what it sends in between.
    if (event.isComposing || event.keyCode === 229) return;
    if (!this.list.hidden && this.moveInList(event)) return;
    if (event.key !== "Enter" || event.shiftKey || event.altKey) return;
    event.preventDefault();
    this.submit();
  }

  async submit() {
    const text = this.box.value.trim();
    if ((!text && !this.images.length) || this.sending) return;
    this.sending = true;
    const mentions = [...this.mentioned].filter((path) => text.includes(`@${path}`));
    try {
      if ((await this.sent({ text, mentions, images: this.images })) === false) return;
      this.box.value = "";
      this.mentioned.clear();
      this.show([]);
      this.keepDraft();
      this.fit();
      this.tell("");
    } finally {
      this.sending = false;
    }
  }

  /** @param {string} words */
  tell(words) {
    this.trouble.textContent = words;
    this.trouble.hidden = !words;
  }

  // ── Pictures ──

  /**
   * @param {DataTransfer} data
   * @param {Event} event
   */
  offered(data, event) {
    const files = [...(data?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    this.add(files);
  }

  /** @param {File[]} files */
  async add(files) {
    this.tell("");
    for (const file of files) {
      const all = this.images.reduce((sum, { data }) => sum + data.length * 0.75, 0);
      if (!this.takesImages) this.tell(say("noImages"));
      else if (!KINDS.includes(file.type)) this.tell(say("imageKind", { name: file.name }));
      else if (file.size > LARGEST) this.tell(say("imageSize", { name: file.name, n: LARGEST / MB }));
      else if (all + file.size > ALTOGETHER) this.tell(say("imagesSize", { n: ALTOGETHER / MB }));
      else this.show([...this.images, await pictureOf(file)]);
    }
  }

  /** @param {number} place */
  remove(place) {
    this.show(this.images.filter((_, index) => index !== place));
    this.box.focus();
  }

  /** @param {Picture[]} images */
  show(images) {
    this.images = images;
    this.pictured.replaceChildren(...images.map(shownPicture));
    this.pictured.hidden = !images.length;
    this.keepImages();
  }

  // ── Files ──

  complete() {
    clearTimeout(this.timer);
    const before = this.box.value.slice(0, this.box.selectionStart);
    const begun = /(?:^|\s)@([^\s@]*)$/.exec(before);
    if (!begun || !this.project) return this.closeList();
    this.timer = setTimeout(() => this.bringFiles(begun[1]), SOON);
  }

  /** @param {string} typed */
  async bringFiles(typed) {
    const asked = new URLSearchParams({ project: this.project, q: typed });
    const response = await fetch(`/api/v1/drive/files?${asked}`).catch(/** @returns {Response} */ () => null);
    if (!response?.ok || document.activeElement !== this.box) return;
    const { files } = await response.json();
    this.list.replaceChildren(...files.slice(0, 8).map(shownFile));
    this.list.hidden = !files.length;
    this.box.setAttribute("aria-expanded", String(files.length > 0));
    this.point(0);
  }

  /** @param {number} place */
  point(place) {
    const options = [...this.list.children];
    this.pointed = (place + options.length) % Math.max(options.length, 1);
    options.forEach((option, index) => option.setAttribute("aria-selected", String(index === this.pointed)));
    const here = options[this.pointed];
    if (here) this.box.setAttribute("aria-activedescendant", here.id);
    else this.box.removeAttribute("aria-activedescendant");
    here?.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  moveInList(event) {
    if (event.key === "ArrowDown") this.point(this.pointed + 1);
    else if (event.key === "ArrowUp") this.point(this.pointed - 1);
    else if ((event.key === "Enter" && !event.shiftKey) || event.key === "Tab") {
      this.choose(this.list.children[this.pointed].dataset.path);
    } else if (event.key === "Escape") this.closeList();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** @param {string} path */
  choose(path) {
    const caret = this.box.selectionStart;
    const start = this.box.value.lastIndexOf("@", caret - 1);
    this.box.setRangeText(`@${path} `, start, caret, "end");
    this.mentioned.add(path);
    this.closeList();
    this.keepDraft();
    announce(path);
  }

  closeList() {
    clearTimeout(this.timer);
    this.list.hidden = true;
    this.list.replaceChildren();
    this.box.setAttribute("aria-expanded", "false");
    this.box.removeAttribute("aria-activedescendant");
  }
}

/**
 * @param {File} file
 * @returns {Promise<Picture>}
 */
function pictureOf(file) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onerror = () => failed(reader.error);
    reader.onload = () =>
      done({ media_type: file.type, data: String(reader.result).split(",")[1] ?? "", name: file.name });
    reader.readAsDataURL(file);
  });
}

/** @param {Picture} picture */
function shownPicture({ media_type: kind, data, name }) {
  const line = made('<li><img alt=""><button type="button" class="quiet"></button></li>');
  line.querySelector("img").src = `data:${kind};base64,${data}`;
  line.querySelector("img").alt = name || say("picture");
  line.querySelector("button").textContent = "×";
  line.querySelector("button").setAttribute("aria-label", say("removePicture", { name }));
  return line;
}

/**
 * @param {string} path
 * @param {number} index
 */
function shownFile(path, index) {
  const line = made('<li role="option" aria-selected="false"></li>');
  line.id = `file-${index}`;
  line.dataset.path = path;
  line.textContent = path;
  return line;
}
