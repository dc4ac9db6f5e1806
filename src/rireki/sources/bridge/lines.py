"""The lines of journals as entries, each with the record it stands in; what is none is a trouble."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, TypeAlias

import msgspec

from rireki.journals.session_entry import BridgeEntry, parse
from rireki.model.conversation import Trouble
from rireki.model.strand import Strand
from rireki.sources.kit.journals import JournalLine, read_journal

__all__ = ["BridgeJournal", "BridgeLine", "read_journals"]


BridgeLine: TypeAlias = JournalLine[BridgeEntry]


class BridgeJournal(msgspec.Struct):
    """The journal of one driven conversation, from however many copies of it."""

    #: The drive id.
    id: str
    #: By their bytes: a journal that was copied lies in two places, and is told once.
    lines: dict[bytes, BridgeLine] = msgspec.field(default_factory=dict)

    @property
    def entries(self) -> list[BridgeEntry]:
        return [line.entry for line in self.lines.values()]


def read_journals(strands: Sequence[Strand], troubles: list[Trouble]) -> list[BridgeJournal]:
    """The journals, the one that was begun first first."""
    found: dict[str, BridgeJournal] = {}
    for strand in sorted(strands, key=lambda strand: strand.id):
        id = _stem(strand.place)
        journal = found.setdefault(id, BridgeJournal(id))
        read_journal(strand, _entry, "not-a-session-entry", troubles, journal.lines)
    return sorted(found.values(), key=_begun)


def _begun(journal: BridgeJournal) -> tuple[int, str]:
    return min((entry.number for entry in journal.entries), default=0), journal.id


def _stem(place: str) -> str:
    kind = PureWindowsPath if "\\" in place else PurePosixPath
    return kind(place).stem


def _entry(line: bytes) -> BridgeEntry | None:
    """The entry of a line, fit to be stored and shown; None when it is none, or nested too deep."""
    entry = parse(line)
    if entry is None:
        return None
    try:
        try:
            msgspec.json.encode([entry.at, entry.kind, entry.more])
        except (UnicodeEncodeError, OverflowError):
            at, kind, more = _whole([entry.at, entry.kind, entry.more])
            return BridgeEntry(entry.number, at, kind, more)
    except RecursionError:
        return None
    return entry


def _whole(value: Any) -> Any:
    """Half a surrogate pair and a number beyond 64 bits stay in the record; nobody can show them."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(one) for name, one in value.items()}
    if type(value) is int and not -(1 << 63) <= value < 1 << 64:
        return str(value)
    return value
