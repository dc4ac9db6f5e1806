// Searching as one types: in a panel below the box, or on the page of results itself.

const box = document.getElementById("query");
const quick = document.getElementById("quick");
const page = document.getElementById("results");
const help = document.getElementById("query-help");
const helpSwitch = document.getElementById("query-help-switch");
const SOON = 120;

let timer = null;
let asking = null;

box.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(find, SOON);
});

async function find() {
  asking?.abort();
  const query = box.value;
  if (!query.trim() && !page) return close();
  asking = new AbortController();
  const asked = new URLSearchParams({ q: query, fragment: "1" });
  if (page) asked.set("page", "1");
  if (page?.dataset.newest) asked.set("newest", "1");
  try {
    const response = await fetch(`/search?${asked}`, { signal: asking.signal });
    if (response.ok) show(await response.json());
  } catch (error) {
    if (error.name !== "AbortError") close();
  }
}

function show({ query, html }) {
  // An answer to what is not asked any more.
  if (query !== box.value) return;
  const place = page ?? quick;
  place.innerHTML = html;
  place.hidden = false;
  help.hidden = true;
  if (!page) return;
  const url = new URL(location.href);
  url.searchParams.set("q", query);
  url.searchParams.delete("offset");
  history.replaceState(null, "", url);
}

function close() {
  if (quick.contains(document.activeElement)) box.focus();
  quick.hidden = true;
  quick.replaceChildren();
}

// ── Going through the results ──

document.addEventListener("keydown", (event) => {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const place = page ?? quick;
  if (place.hidden || !(event.target === box || place.contains(event.target))) return;
  const links = [box, ...place.querySelectorAll("a")];
  const next = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
  if (!links[next]) return;
  event.preventDefault();
  links[next].focus();
});

document.addEventListener("click", (event) => {
  if (!event.target.closest("#quick, .find")) close();
  if (!event.target.closest("#query-help, #query-help-switch")) toggleHelp(false);
});
document.addEventListener("rireki:close", () => {
  close();
  toggleHelp(false);
});
box.addEventListener("focus", () => {
  if (!page && box.value.trim() && quick.hidden && document.activeElement === box) find();
});

function toggleHelp(open) {
  help.hidden = !open;
  helpSwitch.setAttribute("aria-expanded", String(open));
}
helpSwitch.addEventListener("click", () => {
  close();
  toggleHelp(help.hidden);
});
