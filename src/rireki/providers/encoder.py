"""From fit turns to messages: the steps that a whole history and a piece of one share.

Knows codecs and rules; which pieces a history may be cut into is known in `prefix.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from rireki.providers.fit import Fitter
from rireki.providers.neutral import Turn
from rireki.providers.notes import Notes
from rireki.providers.registry import CODECS, provider_named, rules_for
from rireki.providers.shape import WHOLE, HistorySlice, shape

__all__ = ["Encoder"]


class Encoder:
    """One provider's way to spell turns."""

    def __init__(self, provider: str, model: str | None, notes: Notes) -> None:
        self.codec = provider_named(provider).codec
        self.rules = rules_for(provider, model)
        self.notes = notes
        self._fitter = Fitter(provider, self.rules, CODECS, notes)

    def lead(self, turns: Sequence[Turn]) -> int:
        """How many turns at the start go outside of the messages."""
        count = 0
        for turn in turns:
            own = turn.provider == self.codec.name and turn.raw is not None
            if self.rules.system == "outside":
                goes = turn.role in ("instructions", "system")
            else:
                goes = turn.role == "instructions" and own
            if not goes:
                break
            count += 1
        return count

    def fit(self, turns: Sequence[Turn], start: int) -> list[Turn]:
        """Each turn made fit by itself; the first one has the place `start` in the history."""
        fit = self._fitter.fit
        return [fit(place, turn) for place, turn in enumerate(turns, start)]

    def shape(
        self, fitted: list[Turn], nudge: str | None = None, piece: HistorySlice = WHOLE
    ) -> list[Turn]:
        if self.codec.prune is not None:
            fitted = self.codec.prune(fitted, self.notes)
        return shape(fitted, self.rules, self.notes, nudge, piece)

    def spell(self, shaped: Sequence[Turn]) -> list[Any]:
        """Turns in order as the provider's package takes them."""
        codec = self.codec
        messages: list[Any] = []
        for turn in shaped:
            if turn.raw is not None:
                messages.append(turn.raw)
            else:
                messages += codec.encode(turn)
        if codec.settle is not None:
            messages = codec.settle(messages)
        messages = _sendable(messages, self.notes)
        if codec.for_package is not None:
            messages = [codec.for_package(message) for message in messages]
        return messages

    def system(self, turns: Sequence[Turn]) -> Any:
        """The system prompt that turns outside of the messages come to."""
        if not turns:
            return None
        codec, only = self.codec, turns[0]
        own = only.provider == codec.name and only.raw is not None
        if len(turns) == 1 and own and only.role == "instructions":
            said = only.raw
        else:
            fit = self._fitter.fit
            fitted = [fit(place, turn, on_top=True) for place, turn in enumerate(turns)]
            spoken = [turn for turn in fitted if turn.parts]
            said = codec.encode_system(spoken) if codec.encode_system and spoken else None
        said = _sendable(said, self.notes)
        return codec.for_package(said) if codec.for_package is not None else said


def _sendable(value: Any, notes: Notes) -> Any:
    """JSON in UTF-8 cannot say half a surrogate pair."""
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError:
        notes.add("broken-characters", 0, "a text holds half a character")
        return _mended(value)
    return value


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(one) for one in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(one) for key, one in value.items()}
    return value
