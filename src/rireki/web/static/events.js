// What this page hears of the feed, from the number it was made at.

import { Feed } from "./feed.js";

const LOST_FOR = 700;

/**
 * Handlers: change(touched, news), activity(map). A reset loads the page anew.
 * @param {{change?: (changes: Touched[]) => void, activity?: (activities: Activities) => void}} handlers
 */
export function listen({ change, activity }) {
  let number = Number(document.documentElement.dataset.number);
  const banner = document.getElementById("connection");
  /** @type {number} */
  let alarm = null;

  /** @param {FeedNote} said */
  function heard(said) {
    if (said.kind === "open") {
      clearTimeout(alarm);
      alarm = null;
      banner.hidden = true;
    } else if (said.kind === "lost") {
      // A short break is nobody's business.
      alarm ??= setTimeout(() => (banner.hidden = false), LOST_FOR);
    } else if (said.kind === "reset") {
      location.reload();
    } else if (said.kind === "activity") {
      activity?.(said.activities);
    } else if (said.news.number > number) {
      number = said.news.number;
      document.documentElement.dataset.number = String(number);
      change?.(said.news.changes);
    }
  }

  let ends = start(number, heard);
  addEventListener("pagehide", () => ends());
  addEventListener("pageshow", (event) => {
    if (event.persisted) ends = start(number, heard);
  });
}

/**
 * Listens with all other tabs, or alone where the browser cannot; gives what ends it.
 * @param {number} number
 * @param {(note: FeedNote) => void} heard
 */
function start(number, heard) {
  let end = () => {};
  const alone = () => {
    const feed = new Feed(number, heard);
    end = () => feed.close();
  };
  if (typeof SharedWorker === "undefined") alone();
  else {
    const place = new URL("./events-worker.js", import.meta.url);
    const worker = new SharedWorker(place, { type: "module", name: "rireki" });
    worker.onerror = alone;
    worker.port.onmessage = ({ data }) => heard(data);
    worker.port.postMessage({ kind: "hello", after: number });
    end = () => worker.port.postMessage({ kind: "bye" });
  }
  return () => end();
}
