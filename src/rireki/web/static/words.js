// The words scripts say, in the page's language.

/** @type {Record<string, string>} */
const table = JSON.parse(document.body.dataset.words || "{}");

/**
 * @param {string} name
 * @param {Record<string, unknown>} values
 */
export function say(name, values = {}) {
  return (table[name] ?? name).replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));
}

/** @param {string} text */
export function announce(text) {
  const place = document.getElementById("said");
  if (place) place.textContent = text;
}
