"""What is the same of every archive that only shows what may be seen: nothing is written through it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import msgspec

from rireki.archive.base import Archive, Heading, KnownOrigin, PersonFact, Stream, StreamFacts
from rireki.archive.batch import Batch
from rireki.archive.delta import Delta, Have, Held
from rireki.errors import Ambiguous, RirekiError
from rireki.intake.curate import told_to_teams
from rireki.model.conversation import Conversation, Trouble
from rireki.model.strand import StrandBytes

__all__ = ["OwnedConversation", "OwnedName", "ReadOnlyArchive", "ambiguous", "without_notes"]

EXAMPLES = 5


class OwnedConversation(Conversation, kw_only=True):
    """A conversation, and whose it is."""

    owner: str = ""
    #: With which teams it is shared.
    teams: list[str] = msgspec.field(default_factory=list)


class OwnedName(str):
    """The family of a group, which remembers whose it is. Not its own name: readers get that."""

    __slots__ = ("person",)
    person: int

    @classmethod
    def of(cls, name: str, person: int) -> OwnedName:
        made = cls(name)
        made.person = person
        return made


class ReadOnlyArchive(Archive):
    """Nothing is written through it, and nothing is told to other archives."""

    @contextmanager
    def writing(self) -> Iterator[Batch]:
        _refuse()
        yield

    def set_note(self, name: str, value: str, *, keep: bool = False) -> None:
        _refuse()

    def add_facts(self, *facts: PersonFact) -> None:
        _refuse()

    def stream(self, archive: str, machine: str, epoch: int = 1) -> Stream:
        _refuse()

    def streams(self) -> list[StreamFacts]:
        _refuse()

    def keep(self, stream: int, delta: Delta, seals: tuple[str, str]) -> int | None:
        _refuse()

    def come_to(self, stream: int) -> tuple[int, str]:
        _refuse()

    def delta(self, after: int, limit: int, have: Have) -> Delta:
        _refuse()

    def held(self, stream: int, strands: Sequence[int]) -> dict[int, Held]:
        _refuse()

    def take(self, stream: int, delta: Delta, seals: tuple[str, str] = ("", "")) -> int:
        _refuse()

    def mark_stale(self, drop: bool = True) -> None:
        _refuse()

    def held_bytes(self, source: str, place: str, key: str = "") -> StrandBytes | None:
        _refuse()

    def fetch_records(self, strand: int, lane: str, ordinals: Sequence[int]) -> list[bytes]:
        _refuse()

    def cursors(self, source: str, place: str) -> dict[str, Any]:
        _refuse()

    def facts_of_kind(self, kind: str) -> list[PersonFact]:
        return []

    def noted_messages(self, after: int, until: int) -> set[str]:
        return set()

    def check(self) -> list[Trouble]:
        return []

    def settle(self) -> None:
        return

    def origins(self, named: bool = False) -> Iterator[KnownOrigin]:
        return iter(())

    def troubles(self, source: str | None = None) -> list[tuple[str, str, Trouble]]:
        return []

    def forgotten(self, names: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        return iter(())

    @property
    def read_only(self) -> bool:
        return True


def _refuse() -> NoReturn:
    raise RirekiError("team-read-only")


def without_notes(heading: Heading) -> Heading:
    """With the titles and tags that its owner gave it, and nothing else of what he added."""
    return heading._replace(added=told_to_teams(heading.added), notes=())


def ambiguous(name: str, ids: Sequence[str]) -> Ambiguous:
    examples = ", ".join(ids[:EXAMPLES]) + (" …" if len(ids) > EXAMPLES else "")
    return Ambiguous("ambiguous-id", id=name, n=len(ids), examples=examples)
