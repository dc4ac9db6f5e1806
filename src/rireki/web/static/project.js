// The slider over the life of a directory: which of its conversations the sources held at a moment.

const slider = document.getElementById("moment");
const when = document.getElementById("when");
/** @type {NodeListOf<HTMLOptionElement>} */
const turns = document.querySelectorAll("#turns option");

slider?.addEventListener("input", () => {
  const turn = turns[Number(slider.value)];
  const at = turn.dataset.at;
  when.textContent = turn.label;
  slider.setAttribute("aria-valuetext", turn.label);
  for (const row of document.querySelectorAll(".held .row")) {
    const { first, last } = row.dataset;
    row.classList.toggle("elsewhen", first > at || (last !== "" && last <= at));
  }
  const url = new URL(location.href);
  url.searchParams.set("as_of", at);
  history.replaceState(null, "", url);
});
