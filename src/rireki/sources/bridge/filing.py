"""Which conversation a journal belongs to: its own, until the agent reveals the one it keeps.

Knows the entries that say so, and whether there is a reader for what the agent leaves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rireki.home import BRIDGE
from rireki.journals.session_entry import BridgeEntry, parse
from rireki.sources import registry

__all__ = ["Filed", "named", "note", "note_line"]

_KINDS = ("start", "session")
#: A line without any of these is not looked into.
_MARKS = tuple(f'"{kind}"'.encode() for kind in _KINDS)


class Filed(NamedTuple):
    """Whose transcript it is joined with: the source, and the conversation's own id there."""

    source: str = ""
    id: str = ""

    @property
    def family(self) -> str | None:
        """The family of that source; None when it cannot be filed there."""
        known = self.source in registry.names() and self.source != BRIDGE
        if not known or not self.id or self.id.startswith("@"):
            return None
        reader = registry.find(self.source)
        return reader.family if reader is not None else None

    @property
    def group(self) -> str:
        """What the records of that conversation are filed under."""
        grouping = getattr(registry.find(self.source), "grouping", None)
        return grouping(self.id) if grouping is not None else self.id


def note(filed: Filed, entry: BridgeEntry) -> Filed:
    """What is known after one more entry."""
    if entry.kind == "start":
        return Filed(entry.text("source") or filed.source, entry.text("continues") or filed.id)
    if entry.kind == "session":
        return Filed(entry.text("source") or filed.source, entry.text("id") or filed.id)
    return filed


def note_line(filed: Filed, line: bytes) -> Filed:
    if not any(mark in line for mark in _MARKS):
        return filed
    entry = parse(line)
    return note(filed, entry) if entry is not None else filed


def name_in(entries: Iterable[BridgeEntry], group: str) -> str | None:
    """The conversation of a group, by the name a journal gives it; None when it is not its."""
    names = named(entries)
    return next((id for id in names if Filed(names[id], id).group == group), None)


def named(entries: Iterable[BridgeEntry]) -> dict[str, str]:
    """Every conversation that a journal ever said it belongs to: the source by its id."""
    found: dict[str, str] = {}
    filed = Filed()
    for entry in entries:
        if entry.kind in _KINDS:
            filed = note(filed, entry)
            if filed.family is not None:
                found[filed.id] = filed.source
    return found
