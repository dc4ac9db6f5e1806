// The page of devices: it shows by itself what became of a code; notices and installing.

import { say } from "./words.js";

const EVERY = 2000;
const region = document.getElementById("devices");

async function look() {
  if (!region.querySelector(".pairing")) return;
  const response = await fetch("/devices?fragment=1").catch(/** @returns {null} */ () => null);
  // As long as the code is good, nobody is to lose the place on it.
  if (response?.ok && !(await response.json()).pairing) location.reload();
  setTimeout(look, EVERY);
}
setTimeout(look, EVERY);

// ── Installing, and being told: only where the browser believes who we are ──

const canInstall = isSecureContext && "serviceWorker" in navigator;
const install = document.getElementById("install");
/** @type {HTMLFormElement} */
const push = region.querySelector("form.push");
if (install) install.hidden = !canInstall;
if (push) push.hidden = !(canInstall && "PushManager" in window);

/** The worker, as soon as it is at work. */
async function ready() {
  await navigator.serviceWorker.register("/sw.js");
  return navigator.serviceWorker.ready;
}

/**
 * @param {Element} button
 * @param {() => Promise<unknown>} work
 */
function does(button, work) {
  button?.addEventListener("click", async () => {
    const status = button.parentElement.querySelector("[role=status]");
    try {
      await work();
      status.textContent = say("ready");
    } catch {
      status.textContent = say("notReady");
    }
  });
}

does(document.getElementById("install-switch"), ready);
does(document.getElementById("subscribe"), async () => {
  const there = await ready();
  if ((await Notification.requestPermission()) !== "granted") throw new Error("not allowed");
  const key = { userVisibleOnly: true, applicationServerKey: push.dataset.key };
  const { endpoint, keys } = (await there.pushManager.subscribe(key)).toJSON();
  const body = new URLSearchParams({ endpoint, p256dh: keys.p256dh, auth: keys.auth });
  const answer = await fetch("/devices", { method: "POST", body, redirect: "manual" });
  if (answer.type !== "opaqueredirect" && !answer.ok) throw new Error("not taken");
  location.reload();
});
