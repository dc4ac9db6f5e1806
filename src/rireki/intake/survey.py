"""Where each reader looks, what lies there, and what the archive has of it. Takes nothing in."""

from __future__ import annotations

from collections import Counter

import msgspec

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import UNREADABLE
from rireki.model.conversation import Trouble
from rireki.sources import registry
from rireki.sources.kit.places import Places
from rireki.sources.reader import Discovery, Reader, Scanned
from rireki.sources.unread import Unread, unread_stores

__all__ = ["Surveyed", "survey", "survey_unread"]


class Surveyed(msgspec.Struct, kw_only=True):
    """One source: on this machine, and in the archive."""

    source: str
    looked: list[Scanned]
    #: Files and databases that are there now, and their size.
    found: int
    bytes: int
    #: Files and databases the archive has read, and those that are gone there since.
    read: int = 0
    gone: int = 0
    #: As every list counts them; what an agent started for itself is told apart.
    conversations: int = 0
    subagents: int = 0
    troubles: list[Trouble] = msgspec.field(default_factory=list)

    @property
    def is_seen(self) -> bool:
        """Whether anything of it is there, was there, or could not be read."""
        return bool(self.found or self.read or self.gone or self.troubles)


def survey(archive: Archive | None, places: Places) -> list[Surveyed]:
    """Every source; without an archive, only what lies there."""
    if archive is not None:
        places = places.knowing(archive.projects)
    found = {reader.name: _found(reader, reader.discover(places)) for reader in registry.readers()}
    for name, trouble in registry.broken():
        source = found.setdefault(name, Surveyed(source=name, looked=[], found=0, bytes=0))
        source.troubles.append(trouble)
    if archive is not None:
        _count(archive, found)
    return list(found.values())


def survey_unread(places: Places) -> list[Unread]:
    """Stores that lie there and that no reader understands yet."""
    return unread_stores(places, registry.names())


def _found(reader: Reader, discovery: Discovery) -> Surveyed:
    return Surveyed(
        source=reader.name,
        looked=discovery.looked,
        found=len(discovery.origins),
        bytes=sum(origin.size for origin in discovery.origins),
        troubles=list(discovery.troubles),
    )


def _count_unreadable(archive: Archive, found: dict[str, Surveyed]) -> None:
    ids: dict[str, list[str]] = {}
    for found_one in archive.conversations(Filter(title=UNREADABLE, subagents=True)):
        if found_one.title == UNREADABLE:
            ids.setdefault(found_one.source, []).append(found_one.id)
    for name, some in ids.items():
        if source := found.get(name):
            trouble = Trouble.of(f"reader {name}", "some-not-interpreted", n=len(some), id=some[0])
            source.troubles.append(trouble)


def _count(archive: Archive, found: dict[str, Surveyed]) -> None:
    told = (h for h in archive.headings() if h.nature != "notes")
    talks = Counter((h.source, h.nature == "subagent") for h in told)
    for origin in archive.origins():
        # A source whose reader is not installed any more is not told of.
        if source := found.get(origin.source):
            source.conversations = talks[origin.source, False]
            source.subagents = talks[origin.source, True]
            if origin.vanished_at:
                source.gone += 1
            else:
                source.read += 1
    _count_unreadable(archive, found)
    for name, _, trouble in archive.troubles():
        if source := found.get(name):
            source.troubles.append(trouble)
