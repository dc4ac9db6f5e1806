"""Where a history may be cut: at the start of a turn, never between a call and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

from rireki.journals.history_log import Item
from rireki.providers import Media, Result, Turn, decode
from rireki.providers.kit import dumps
from rireki.providers.pairing import pair

__all__ = ["Counter", "Window", "estimate", "own_turns"]

#: How many tokens a message costs.
Counter: TypeAlias = Callable[[Any], int]
#: About what a picture costs, and the frame around a message.
PICTURE, FRAME = 1600, 4
#: Bytes of text per token, on the safe side for English and Japanese alike.
BYTES = 3


class Window:
    """The messages of a history with the places where it may be cut."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = list(items)
        self.turns: list[Turn] = []
        #: The message that each turn of the neutral form came from.
        self.owners: list[int] = []
        self._gather()

    def _gather(self) -> None:
        for place, item in enumerate(self.items):
            found = own_turns(item)
            self.turns += found
            self.owners += [place] * len(found)

    def starts(self) -> list[int]:
        """Messages with which a person began a turn."""
        found: list[int] = []
        for turn, place in zip(self.turns, self.owners, strict=True):
            typed = turn.role == "user" and not all(isinstance(p, Result) for p in turn.parts)
            if typed and self.items[place][0].kind not in ("summary", "repair"):
                found.append(place)
        return list(dict.fromkeys(found))

    def cuts(self, lead: int) -> list[int]:
        """Starts of turns before which no call waits for a result that comes later, or for any."""
        pairs = pair(self.turns)
        barred = [0] * (len(self.items) + 2)
        for call in pairs.calls:
            first = self.owners[call[0]]
            answer = pairs.answers.get(call)
            last = self.owners[answer[0]] if answer else len(self.items)
            # Every cut behind the call and not behind its result.
            barred[first + 1] += 1
            barred[last + 1] -= 1
        running, free = 0, set()
        for place in range(len(self.items) + 1):
            running += barred[place]
            if not running:
                free.add(place)
        return [place for place in self.starts() if place >= lead and place in free]

    def last_turns(self, count: int, lead: int) -> int:
        """Where the last so many turns begin; earlier if that would cut a call from its result."""
        starts = [place for place in self.starts() if place >= lead]
        if count <= 0:
            return self._tail()
        if count >= len(starts):
            return lead
        wanted = starts[-count]
        return max((place for place in self.cuts(lead) if place <= wanted), default=lead)

    def fitting(self, tokens: int, count: Counter, lead: int) -> int:
        """The first cut from which on it all fits; the last one if none is late enough."""
        costs = [count(message) for _, message in self.items]
        room = tokens - sum(costs[:lead])
        #: What it costs from each message on.
        rest = list(accumulate(reversed(costs), initial=0))[::-1]
        if rest[lead] <= room:
            return lead
        cuts = self.cuts(lead)
        fits = (place for place in cuts if rest[place] <= room)
        return next(fits, cuts[-1] if cuts else lead)

    def _tail(self) -> int:
        """What must stay although nothing is to be kept: calls without a result, and what follows."""
        pairs = pair(self.turns)
        waiting = [self.owners[call[0]] for call in pairs.calls if call not in pairs.answers]
        end = min(waiting, default=len(self.items))
        for call, answer in pairs.answers.items():
            if self.owners[answer[0]] >= end:
                end = min(end, self.owners[call[0]])
        return end


def own_turns(item: Item) -> list[Turn]:
    """A message of a history in the neutral form."""
    entry, message = item
    turns = entry.turns
    if len(turns) == 1:
        return turns[0]
    return next(own for one, own in zip(entry.messages, turns, strict=True) if one is message)


def estimate(message: Any) -> int:
    """About how many tokens a message has; more rather than fewer."""
    size = 0
    pictures = 0
    for turn in decode(None, [message]):
        for part in turn.parts:
            inner = part.content if isinstance(part, Result) else [part]
            pictures += sum(isinstance(one, Media) for one in inner)
            size += sum(_size(one) for one in inner if not isinstance(one, Media))
    return FRAME + PICTURE * pictures + size // BYTES


def _size(part: Any) -> int:
    text = getattr(part, "text", None)
    if isinstance(text, str) and text:
        return len(text.encode("utf-8", "replace"))
    return len(dumps(getattr(part, "arguments", None) or part.raw))
