// Everything that waits, over all agents, to be worked off one after the other.

import { Asks } from "./drive-asks.js";
import { follow, sessions } from "./driven.js";

const place = document.getElementById("asks");
const nothing = document.getElementById("nothing-waits");

function waiting() {
  return [...sessions.values()]
    .flatMap((status) => status.asks.map((ask) => ({ session: status.id, ask })))
    .sort((a, b) => a.ask.number - b.ask.number);
}

const asks = new Asks(place, waiting, { where: true, moved: (work) => work() });

/**
 * The first one is the one to answer; the keyboard is there already.
 * @param {boolean} takeFocus
 */
function settle(takeFocus) {
  const [first] = asks.cards;
  for (const card of asks.cards) card.classList.toggle("next", card === first);
  nothing.hidden = asks.cards.length > 0;
  const free = document.activeElement === document.body || !document.activeElement.isConnected;
  if (first && (takeFocus || free)) first.focus({ preventScroll: !takeFocus });
}

place.addEventListener("asks", ({ detail }) => settle(Boolean(detail?.hadFocus)));
follow(async (said) => {
  if (said.kind === "delta" || said.kind === "settled") return;
  await asks.show();
  settle(false);
});
