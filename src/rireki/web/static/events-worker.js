// Shared by all tabs: a browser allows few connections to one server, and each tab would take one.

import { Feed } from "./feed.js";

/** @type {Set<MessagePort>} */
const tabs = new Set();
/** @type {Feed} */
let feed = null;

/** @param {FeedNote} said */
function tellAll(said) {
  for (const tab of tabs) tab.postMessage(said);
}

/**
 * @param {MessagePort} tab
 * @param {number} after
 */
function welcome(tab, after) {
  tabs.add(tab);
  if (feed === null) {
    feed = new Feed(after, tellAll);
    return;
  }
  const missed = feed.since(after);
  if (missed === null) {
    tab.postMessage({ kind: "reset" });
    return;
  }
  if (feed.isOpen) tab.postMessage({ kind: "open" });
  for (const news of missed) tab.postMessage({ kind: "change", news });
  if (feed.activities) tab.postMessage({ kind: "activity", activities: feed.activities });
}

/** @param {MessagePort} tab */
function leave(tab) {
  tabs.delete(tab);
  if (tabs.size > 0 || feed === null) return;
  feed.close();
  feed = null;
}

self.onconnect = ({ ports: [tab] }) => {
  tab.onmessage = ({ data }) => (data.kind === "hello" ? welcome(tab, data.after) : leave(tab));
};
