// For installing, and for notices: a page while the server is away, and nothing of what it says.

const KEPT = "rireki-away-1";
const AWAY = "/offline";

/** @type {any} */
const worker = self;

/** The page, and how it looks. */
async function keep() {
  const cache = await caches.open(KEPT);
  const answer = await fetch(AWAY);
  const html = await answer.clone().text();
  await cache.put(AWAY, answer);
  const looks = [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map((found) => found[1]);
  await cache.addAll(looks);
}

worker.addEventListener("install", (/** @type {any} */ event) => {
  event.waitUntil(keep());
  worker.skipWaiting();
});

worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  // What another site sends here goes past this worker: passed on by it, it would look like our own.
  if (request.method !== "GET" || new URL(request.url).origin !== location.origin) return;
  if (request.mode === "navigate" && request.destination === "document") {
    event.respondWith(fetch(request).catch(() => caches.match(AWAY)));
  } else if (request.destination === "style") {
    event.respondWith(fetch(request).catch(() => caches.match(request)));
  }
});

worker.addEventListener("push", (/** @type {any} */ event) => {
  const { title, body, url } = event.data.json();
  event.waitUntil(worker.registration.showNotification(title, { body, tag: url, data: { url } }));
});

worker.addEventListener("notificationclick", (/** @type {any} */ event) => {
  event.notification.close();
  const asked = new URL(event.notification.data.url, location.origin);
  // Whatever a notice says, it leads to a page of ours.
  const target = asked.origin === location.origin ? asked.href : location.origin;
  event.waitUntil(worker.clients.openWindow(target));
});
