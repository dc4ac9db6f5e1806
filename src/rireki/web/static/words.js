// The words scripts say, in the page's language.

const table = JSON.parse(document.body.dataset.words || "{}");

export function say(name, values = {}) {
  return (table[name] ?? name).replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));
}

export function announce(text) {
  const place = document.getElementById("said");
  if (place) place.textContent = text;
}
