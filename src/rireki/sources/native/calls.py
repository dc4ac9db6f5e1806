"""Ids for calls and results that came without any, so that each result finds its call."""

from __future__ import annotations

from collections.abc import Sequence

from rireki.providers import Call, Result, Turn
from rireki.providers.pairing import pair
from rireki.sources.native.entry import JournalEntry

__all__ = ["Calls"]


class Calls:
    """Goes along the turns of a story, in their order."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns
        self.asked = pair(turns).asked
        self.place = 0
        #: The ids given so far, by turn and part.
        self.given: dict[tuple[int, int], str] = {}
        #: The tool behind each call.
        self.tools: dict[str, str] = {}

    def skip(self, entry: JournalEntry) -> None:
        """The turns of an entry that is told in another way."""
        self.place += sum(len(turns) for turns in entry.turns)

    def next(self, turn: Turn, name: str) -> list[str]:
        """The id of each part of the next turn that is a call or a result; else empty."""
        assert turn is self.turns[self.place]
        ids = [self._id((self.place, index), part, name) for index, part in enumerate(turn.parts)]
        self.place += 1
        return ids

    def _id(self, spot: tuple[int, int], part: object, name: str) -> str:
        if isinstance(part, Call):
            id = part.id or f"{name}:{spot[1]}"
            self.tools[id] = part.name
        elif isinstance(part, Result):
            id = part.id or self.given.get(self.asked.get(spot, (-1, -1)), "")
        else:
            return ""
        self.given[spot] = id
        return id
