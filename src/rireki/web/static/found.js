// What a search found, in the message it led to: unfolded, marked, and brought into view.

import { say } from "./words.js";

const BLOCKS = "p, li, td, th, pre, div, summary, dt, dd, h2, h3, h4, h5, h6";
/** What is written around a message, not by anybody in it. */
const AROUND = "button, header, .usage, .ln, .lang, .sign, .outcome, p.more";
/** What Markdown is made of, and white space. */
const SIGNS = /[\s*_`#~>|]+/;
/** Places that are marked for one word. */
const MOST = 200;
const HEADER = 72;
const FLOAT = 72;

/**
 * The words are pieces of the message as they are written there.
 * @param {Element} unit
 * @param {string[]} words
 */
export function showFound(unit, words) {
  const message = unit.querySelector(".message");
  if (!message || !words.length) return;
  const text = textOf(message);
  const found = words.map((word) => placesOf(word, text));
  const ranges = found.flat().sort((one, other) => one.compareBoundaryPoints(Range.START_TO_START, other));
  for (const range of ranges) unfold(range.startContainer);
  // Older browsers unfold and scroll only.
  if (window.Highlight) CSS.highlights.set("found", new Highlight(...ranges));
  const cut = found.some((places) => !places.length) ? tellCut(message, ranges.length > 0) : null;
  const first = ranges.find((range) => !range.startContainer.parentElement.closest("summary")) ?? ranges[0];
  if (first) bringIntoView(first);
  else cut?.scrollIntoView({ block: "center", behavior: "instant" });
}

/**
 * The text of an element in one piece, and where in it each of its nodes begins.
 * @param {Element} element
 */
function textOf(element) {
  const nodes = [];
  let text = "";
  let last = null;
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    if (node.parentElement.closest(AROUND)) continue;
    const block = node.parentElement.closest(BLOCKS);
    // One paragraph follows the other without a space between them.
    if (block !== last) text += "\n";
    last = block;
    nodes.push({ node, start: text.length });
    text += node.data;
  }
  return { text, nodes };
}

/**
 * Where a word stands; inside of other words only where it stands nowhere else.
 * @param {string} word
 * @param {ReturnType<typeof textOf>} all
 */
function placesOf(word, { text, nodes }) {
  const letters = escaped(word.trim().split(/\s+/)).join("\\s+");
  const before = /^[a-z0-9]/.test(word) ? "(?<![A-Za-z0-9])" : "";
  const behind = /[A-Za-z]$/.test(word) ? "(?![a-z])" : "";
  for (const pattern of [before + letters + behind, letters, asRendered(word)]) {
    if (!pattern) continue;
    const spans = [...text.matchAll(new RegExp(pattern, "g"))].slice(0, MOST);
    if (spans.length) return spans.map((span) => rangeOf(nodes, span.index, span.index + span[0].length));
  }
  return [];
}

/**
 * The same where signs became the looks of what they stand around: `**PEP 484** - Type hints`.
 * @param {string} word
 */
function asRendered(word) {
  return escaped(word.split(SIGNS).filter(Boolean)).join(`(?:${SIGNS.source})?`);
}

/** @param {string[]} pieces */
function escaped(pieces) {
  return pieces.map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
}

/**
 * @param {{node: Text, start: number}[]} nodes
 * @param {number} start
 * @param {number} end
 */
function rangeOf(nodes, start, end) {
  const range = new Range();
  const first = nodes.findLast((each) => each.start <= start);
  const last = nodes.findLast((each) => each.start < end);
  range.setStart(first.node, start - first.start);
  range.setEnd(last.node, end - last.start);
  return range;
}

/** @param {Node} node */
function unfold(node) {
  for (let fold = node.parentElement.closest("details"); fold; fold = fold.parentElement.closest("details")) {
    // The line that opens it is seen anyway.
    if (!fold.querySelector(":scope > summary")?.contains(node)) fold.open = true;
  }
}

/**
 * What was found is not here: said where something is left out, beside the way to all of it.
 * @param {Element} message
 * @param {boolean} isPartly
 */
function tellCut(message, isPartly) {
  const lines = [...message.querySelectorAll("p.more")];
  if (!lines.length && !isPartly) lines.push(lineIn(message));
  for (const line of lines) {
    unfold(line);
    if (line.querySelector(".beyond")) continue;
    const note = document.createElement("strong");
    note.className = "beyond";
    note.textContent = say("beyond");
    line.append(" ", note);
  }
  return lines[0] ?? null;
}

/**
 * Nothing says that something is left out, as where a program wrote over what it had printed.
 * @param {Element} message
 */
function lineIn(message) {
  for (const fold of message.querySelectorAll("details")) fold.open = true;
  const line = document.createElement("p");
  line.className = "more";
  return message.appendChild(line);
}

/** @param {Range} range */
function bringIntoView(range) {
  const { top, bottom } = range.getBoundingClientRect();
  const block = top >= HEADER && bottom <= innerHeight - FLOAT ? "nearest" : "center";
  // Only an element can be scrolled to, in everything around it that scrolls.
  const place = document.createElement("span");
  const start = range.cloneRange();
  start.collapse(true);
  start.insertNode(place);
  place.scrollIntoView({ block, inline: "nearest", behavior: "instant" });
  const parent = place.parentNode;
  place.remove();
  parent.normalize();
}
