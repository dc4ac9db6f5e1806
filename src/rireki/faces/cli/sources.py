"""`rireki sources`: where each reader looks, what it finds, and why it finds nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rireki.faces.cli.options import (
    archive_option,
    archive_path,
    home_option,
    json_option,
    opened,
)

if TYPE_CHECKING:
    from rireki.archive.base import Archive
    from rireki.faces.cli.output import Screen
    from rireki.sources.reader import Discovery, Reader

__all__ = ["command"]


@click.command("sources", short_help="Where each source is looked for, and what was found.")
@home_option
@json_option
@archive_option
def command(home: Path | None, as_json: bool) -> None:
    """Tell for each source where rireki looks, what lies there, what the archive has of it,
    and what could not be read. Takes nothing in.

    \b
    Examples:
      rireki sources
      rireki sources --home /mnt/backup/home/ken
    """
    from rireki.faces.cli.output import Screen
    from rireki.sources import registry
    from rireki.sources.kit.places import Places

    places = Places.at(home.absolute()) if home else Places.here()
    screen = Screen()
    kept = _kept()
    found = [_source(reader, reader.discover(places), kept) for reader in registry.readers()]
    if as_json:
        screen.json(found)
    else:
        screen.say(line for source in found for line in _told(source, screen))


def _kept() -> dict[str, dict[str, Any]]:
    """What the archive has of each source; nothing while there is no archive yet."""
    if not archive_path().exists():
        return {}
    with opened() as archive:
        return _counted(archive)


def _counted(archive: Archive) -> dict[str, dict[str, Any]]:
    from rireki.archive.base import Filter

    conversations = Counter(c.source for c in archive.conversations(Filter(subagents=True)))
    kept: dict[str, dict[str, Any]] = {}
    for origin in archive.origins():
        source = kept.setdefault(
            origin.source,
            {"read": 0, "gone": 0, "conversations": conversations[origin.source], "troubles": []},
        )
        source["gone" if origin.vanished_at else "read"] += 1
    for name, _, trouble in archive.troubles():
        kept[name]["troubles"].append(trouble)
    return kept


def _source(
    reader: Reader, discovery: Discovery, kept: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    known = kept.get(reader.name, {})
    return {
        "source": reader.name,
        "looked": discovery.looked,
        "found": len(discovery.origins),
        "bytes": sum(origin.size for origin in discovery.origins),
        "read": known.get("read", 0),
        "gone": known.get("gone", 0),
        "conversations": known.get("conversations", 0),
        "troubles": [*discovery.troubles, *known.get("troubles", [])],
    }


def _told(source: dict[str, Any], screen: Screen) -> Iterator[str]:
    from rireki.faces.cli.troubles import trouble_lines
    from rireki.show.words import count, size

    style = screen.style
    yield style.bold(source["source"])
    yield from _looked(source["looked"], screen)
    if source["found"]:
        yield f"  found     {count(source['found'], 'file')}, {size(source['bytes'])}"
    else:
        yield "  found     nothing: none of these is there, or they are empty"
    if source["read"] or source["gone"]:
        gone = f", {source['gone']:,} gone there since" if source["gone"] else ""
        read = count(source["read"], "file")
        yield f"  archived  {count(source['conversations'], 'conversation')} from {read}{gone}"
    elif source["found"]:
        yield "  archived  nothing yet: run 'rireki import'"
    yield from trouble_lines(source["troubles"], screen)
    yield ""


def _looked(looked: Sequence[Any], screen: Screen) -> Iterator[str]:
    from rireki.show.safe import one_line

    for place in looked:
        note = one_line(place.note or ("there" if place.found else "not there"))
        line = f"  looked at {one_line(place.place)}: {note}"
        yield line if place.found else screen.style.dim(line)
