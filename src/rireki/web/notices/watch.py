"""Notices what waits for the person: each ask once, unless it is answered within some seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rireki.model.activity import WORDS, state_of_ask
from rireki.show.catalogue import say
from rireki.web.notices.sending import WaitNotice

if TYPE_CHECKING:
    from rireki.web.driving import Driving

__all__ = ["AskWatch"]

#: Characters of what is asked.
LONGEST = 500


class AskWatch:
    """Lives in the loop of the bridge."""

    def __init__(
        self,
        driving: Driving,
        send: Callable[[WaitNotice], None],
        *,
        after: float,
        link: str,
        masked: Callable[[str], str] | None = None,
    ) -> None:
        """`masked` makes the words of an ask fit to be told; without it they are not."""
        self._driving = driving
        self._send = send
        self._after = after
        self._link = link.rstrip("/")
        self._masked = masked
        #: By session and ask; those that wait are told when their time has come.
        self._open: dict[tuple[str, str], asyncio.TimerHandle] = {}

    async def run(self) -> None:
        async for event in self._driving.bridge.listen(None):
            if event.kind == "status":
                self._look(event.session, event.more["status"])
            elif event.kind == "gone":
                self._look(event.session, {"asks": []})

    def _look(self, session: str, status: Mapping[str, Any]) -> None:
        # Prompts from before a restart are there when the person starts it: nothing new.
        asks = {ask["id"]: ask for ask in status["asks"] if ask["what"] != "prompts"}
        for name in [n for n in self._open if n[0] == session and n[1] not in asks]:
            self._open.pop(name).cancel()
        for id, ask in asks.items():
            if (session, id) not in self._open:
                loop = asyncio.get_running_loop()
                timer = loop.call_later(self._after, self._tell, session, status["agent"], ask)
                self._open[session, id] = timer

    def _tell(self, session: str, agent: str, ask: Mapping[str, Any]) -> None:
        known = self._driving.settings.agents
        title = next((each.title for each in known if each.name == agent), agent)
        words = say(WORDS[state_of_ask(ask["what"])])
        self._send(
            WaitNotice(
                what=ask["what"],
                title=f"{title}: {words}",
                agent=agent,
                session=session,
                at=ask["at"],
                link=f"{self._link}/c/bridge/{session}",
                text=self._text(ask),
            )
        )

    def _text(self, ask: Mapping[str, Any]) -> str:
        if self._masked is None:
            return ""
        # Masked before it is cut: half of a secret looks like none.
        whole = self._masked("\n".join(dict.fromkeys((ask["title"], ask["detail"]))).strip())
        return whole if len(whole) <= LONGEST else whole[:LONGEST] + "…"
