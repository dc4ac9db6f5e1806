"""Where each reader looks, what lies there, and what the archive has of it. Takes nothing in."""

from __future__ import annotations

from collections import Counter

import msgspec

from rireki.archive.base import Archive
from rireki.model.conversation import Trouble
from rireki.sources import registry
from rireki.sources.kit.places import Places
from rireki.sources.reader import Discovery, Looked, Reader

__all__ = ["Surveyed", "survey"]


class Surveyed(msgspec.Struct, kw_only=True):
    """One source: on this machine, and in the archive."""

    source: str
    looked: list[Looked]
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


def survey(archive: Archive | None, places: Places) -> list[Surveyed]:
    """Every source; without an archive, only what lies there."""
    found = {reader.name: _found(reader, reader.discover(places)) for reader in registry.readers()}
    if archive is not None:
        _count(archive, found)
    return list(found.values())


def _found(reader: Reader, discovery: Discovery) -> Surveyed:
    return Surveyed(
        source=reader.name,
        looked=discovery.looked,
        found=len(discovery.origins),
        bytes=sum(origin.size for origin in discovery.origins),
        troubles=list(discovery.troubles),
    )


def _count(archive: Archive, found: dict[str, Surveyed]) -> None:
    talks = Counter((h.source, h.nature == "subagent") for h in archive.headings())
    for origin in archive.origins():
        # A source whose reader is not installed any more is not told of.
        if source := found.get(origin.source):
            source.conversations = talks[origin.source, False]
            source.subagents = talks[origin.source, True]
            if origin.vanished_at:
                source.gone += 1
            else:
                source.read += 1
    for name, _, trouble in archive.troubles():
        if source := found.get(name):
            source.troubles.append(trouble)
