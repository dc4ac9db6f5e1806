// Shared by all tabs, as events-worker.js is: one connection, however many pages are open.

import { DriveFeed } from "./drive-feed.js";

/** @type {Set<MessagePort>} */
const tabs = new Set();
/** @type {DriveFeed} */
let feed = null;

/** @param {MessagePort} tab */
function welcome(tab) {
  tabs.add(tab);
  if (feed === null) feed = new DriveFeed((said) => tabs.forEach((each) => each.postMessage(said)));
  else if (feed.ready) tab.postMessage(feed.all);
}

/** @param {MessagePort} tab */
function leave(tab) {
  tabs.delete(tab);
  if (tabs.size > 0 || feed === null) return;
  feed.close();
  feed = null;
}

self.onconnect = ({ ports: [tab] }) => {
  tab.onmessage = ({ data }) => (data.kind === "hello" ? welcome(tab) : leave(tab));
};
