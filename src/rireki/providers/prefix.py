"""Rendering a history that grows: what was rendered before is kept, only what is new is rendered.

A history may be cut where no call before the cut waits for a result and the speaker changes:
both sides then come out alone as they would together. `tests/providers/test_prefix.py` holds
this against `encode`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Any

import msgspec

from rireki.providers.convert import encoder_for
from rireki.providers.neutral import Request, Turn
from rireki.providers.pairing import pair
from rireki.providers.registry import provider_named
from rireki.providers.shape import HistorySlice

__all__ = ["PrefixRenderer", "SharedMessages", "copied_json"]

#: From so many messages on, the collector of garbage is kept away from making copies.
MANY = 1000


class PrefixRenderer:
    """The requests of one growing history, for one provider and model."""

    def __init__(self, provider: str, model: str | None = None) -> None:
        self._encoder = encoder_for(provider, model)
        self._revision = -1
        #: How many turns are rendered for good, and what they came to.
        self._done = 0
        self._messages: list[Any] = []
        self._system: Any = None
        self._ids: set[str] = set()

    def render(self, turns: Sequence[Turn], revision: int) -> Request:
        """The request for all turns; while the revision stays, turns were only added at the end."""
        if revision != self._revision or self._done > len(turns):
            self._begin(revision)
        start = self._done or self._encoder.lead(turns)
        if not self._done:
            self._system = self._encoder.system(turns[:start])
        fitted = self._encoder.fit(turns[start:], start)
        count = self._advance(fitted, start)
        piece = HistorySlice(start + count, not self._done, True, set(self._ids))
        rest = copied_json(self._encoder.spell(self._encoder.shape(fitted[count:], None, piece)))
        made = provider_named(self._encoder.codec.name).request
        return made(SharedMessages([*self._messages, *rest]), copied_json(self._system))

    def _begin(self, revision: int) -> None:
        self._revision = revision
        self._done, self._messages, self._ids = 0, [], set()

    def _advance(self, fitted: list[Turn], start: int) -> int:
        """Render for good what will not change any more; how many of the turns that are."""
        count = last_cut(fitted)
        if not count:
            return 0
        ids = set(self._ids)
        kept = fitted[:count]
        shaped = self._encoder.shape(kept, None, HistorySlice(start, not self._done, False, ids))
        pruned = self._encoder.codec.prune
        if pruned is not None and pruned(kept, self._encoder.notes) != kept:
            # Something in it goes only together with what may still come.
            return 0
        if not shaped or shaped[-1].role != kept[-1].role:
            # A result moved away from the edge: what is next to it now depends on what follows.
            return 0
        # Copied once, from what the history has and a program may change.
        self._messages += copied_json(self._encoder.spell(shaped))
        self._ids, self._done = ids, start + count
        return count


def last_cut(turns: Sequence[Turn]) -> int:
    """The last place at which the turns may be cut; 0 if there is none."""
    pairs = pair(turns)
    #: Behind how many turns each place still waits for a result.
    waiting = [0] * (len(turns) + 1)
    for call in pairs.calls:
        answer = pairs.answers.get(call)
        waiting[call[0] + 1] += 1
        if answer is not None:
            waiting[answer[0] + 1] -= 1
    running, found = 0, 0
    for place in range(1, len(turns)):
        running += waiting[place]
        if not running and _speaker_changes(turns[place - 1], turns[place]):
            found = place
    return found


def _speaker_changes(before: Turn, after: Turn) -> bool:
    both = {before.role, after.role}
    return bool(before.parts) and bool(after.parts) and both == {"user", "assistant"}


class SharedMessages(list[Any]):
    """Messages of a request; until somebody takes one out, earlier and later requests have the same.

    Then all are copied: what a program changes in a request is its own. What reads them without
    taking one out, as `json.dumps` does, waits for no copy.
    """

    __slots__ = ("_shared",)

    def __init__(self, messages: Iterable[Any] = ()) -> None:
        super().__init__(messages)
        self._shared = True

    def _own(self) -> None:
        with _owning:
            if self._shared:
                self[:] = copied_json(list.copy(self))
                self._shared = False

    def __radd__(self, other: list[Any]) -> list[Any]:
        self._own()
        return list.__add__(other, self)

    def __reduce_ex__(self, _: Any) -> tuple[Any, ...]:
        return list, (list(self),)


#: Two threads that take messages out of one request get the same.
_owning = Lock()


def _owned_first(method: Callable[..., Any]) -> Callable[..., Any]:
    def called(self: SharedMessages, *args: Any, **options: Any) -> Any:
        self._own()
        return method(self, *args, **options)

    return called


for _name in ("__getitem__", "__iter__", "__reversed__", "__add__", "__mul__", "__rmul__"):
    setattr(SharedMessages, _name, _owned_first(getattr(list, _name)))
for _name in ("copy", "pop", "sort"):
    setattr(SharedMessages, _name, _owned_first(getattr(list, _name)))


def copied_json(value: Any) -> Any:
    """A copy in which nothing that can change is shared; bytes and texts cannot."""
    if not isinstance(value, list) or len(value) < MANY or not gc.isenabled():
        return msgspec.to_builtins(value, builtin_types=(bytes,))
    # Nothing of what is made here is garbage: looking for some takes longer than making it.
    gc.disable()
    try:
        return msgspec.to_builtins(value, builtin_types=(bytes,))
    finally:
        gc.enable()
