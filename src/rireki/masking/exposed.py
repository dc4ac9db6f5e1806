"""Which secrets stand in conversations, where and since when; none of them is kept here.

A secret is its mark: equal ones have one, wherever they stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from rireki.masking.masker import Mark, Masker
from rireki.model.conversation import Conversation
from rireki.model.message import Message

__all__ = ["Exposure", "ExposedSecret", "Exposures"]


class Exposure(msgspec.Struct, frozen=True):
    """One message, or title, that has it."""

    conversation: str
    #: None for what belongs to the conversation itself.
    message: str | None
    at: str | None
    #: The kinds of parts it stands in; "title", "project".
    where: list[str]


class ExposedSecret(msgspec.Struct):
    kind: str
    number: str
    #: How often it stands there, in messages and titles.
    times: int
    first: str | None
    last: str | None
    places: list[Exposure]


class Exposures:
    """Gathers them, conversation by conversation."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._places: dict[Mark, list[Exposure]] = {}
        self._times: Counter[Mark] = Counter()

    def note(self, about: Conversation, messages: Iterable[Message]) -> None:
        for mark in self._found(about.title):
            self._put(mark, Exposure(about.id, None, about.started_at, ["title"]))
        for mark in self._found(about.project or ""):
            self._put(mark, Exposure(about.id, None, about.started_at, ["project"]))
        for message in messages:
            where: dict[Mark, list[str]] = {}
            for part in message.parts:
                self._masker.part(part)
                kind = str(part.__struct_config__.tag)
                for mark in self._taken():
                    where.setdefault(mark, []).append(kind)
            for mark, kinds in where.items():
                place = Exposure(about.id, message.id, message.at, list(dict.fromkeys(kinds)))
                self._put(mark, place)

    def secrets(self) -> Iterator[ExposedSecret]:
        """Those that were exposed last come first."""
        made = [self._secret(mark, places) for mark, places in self._places.items()]
        return iter(sorted(made, key=lambda one: one.last or "", reverse=True))

    def _secret(self, mark: Mark, places: list[Exposure]) -> ExposedSecret:
        places = sorted(places, key=lambda place: place.at or "")
        times = [place.at for place in places if place.at]
        first, last = (times[0], times[-1]) if times else (None, None)
        return ExposedSecret(*mark, self._times[mark], first, last, places)

    def _found(self, text: str) -> list[Mark]:
        self._masker.text(text)
        return self._taken()

    def _taken(self) -> list[Mark]:
        """What was found since it was asked last."""
        found, self._masker.found = self._masker.found, Counter()
        self._times += found
        return list(found)

    def _put(self, mark: Mark, place: Exposure) -> None:
        self._places.setdefault(mark, []).append(place)
