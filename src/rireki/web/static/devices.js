// The page of devices: what becomes of a code is seen without loading it again.

const EVERY = 2000;
const region = document.getElementById("devices");

async function look() {
  if (!region.querySelector(".pairing")) return;
  const response = await fetch("/devices?fragment=1").catch(/** @returns {null} */ () => null);
  if (response?.ok) {
    const { html, pairing } = await response.json();
    // As long as the code is good, nobody is to lose the place on it.
    if (!pairing) region.innerHTML = html;
  }
  setTimeout(look, EVERY);
}
setTimeout(look, EVERY);
