"""Giving back what was taken in: files byte for byte, database rows as files the agent can load."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from rireki.archive.base import Archive, Found, KnownOrigin
from rireki.errors import NotFound, RirekiError
from rireki.intake.understand import with_subagents
from rireki.model.strand import Strand, StrandBytes

__all__ = ["restore"]


def restore(archive: Archive, found: Found, to: Path, as_of: str | None = None) -> list[Path]:
    """Write the files of a conversation and its sub-agents below `to`; returns where they are."""
    groups = {each[1:]: None for each in with_subagents(archive, found)}
    strands = [strand for group in groups for strand in archive.strands(*group, as_of)]
    if not strands:
        raise NotFound(
            f"{found.conversation.id} was not in the archive at {as_of}",
            "Leave --as-of out to restore what was seen last.",
        )
    origins = {(origin.source, origin.place): origin for origin in archive.origins()}
    wanted: dict[Path, StrandBytes] = {}
    for strand in strands:
        path = _free(to / _name(strand, origins[strand.source, strand.place]), wanted)
        wanted[path] = archive.bytes_of(strand)
    for path, data in wanted.items():
        _refuse_to_overwrite(path, data)
    for path, data in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, data)
    return list(wanted)


def _write(path: Path, data: StrandBytes) -> None:
    """A little at a time: a file may be larger than the memory."""
    try:
        with path.open("wb") as file:
            for block in data.stream():
                file.write(block)
    except RirekiError:
        # Half a file would look like a whole one.
        path.unlink()
        raise


def _name(strand: Strand, origin: KnownOrigin) -> Path:
    """A file goes where it lay below its root; a row becomes a file named after its conversation."""
    if strand.key:
        return Path(_safe(f"{strand.conversation}") + ".json")
    kind = PureWindowsPath if "\\" in origin.place else PurePosixPath
    place: PurePath = kind(origin.place)
    try:
        relative = place.relative_to(kind(origin.root))
    except ValueError:
        relative = kind(place.name)
    parts = [_safe(part) for part in relative.parts] or [_safe(place.name)]
    return Path(*parts)


def _safe(part: str) -> str:
    """A name that stays inside the folder it is written to."""
    return re.sub(r"[\\/\x00]", "_", part) if part not in (".", "..") else "_"


def _free(path: Path, taken: Collection[Path]) -> Path:
    """The same row may lie in several stores: each gets a name of its own."""
    number = 2
    candidate = path
    while candidate in taken:
        candidate = path.with_stem(f"{path.stem}-{number}")
        number += 1
    return candidate


def _is_same(path: Path, data: StrandBytes) -> bool:
    with path.open("rb") as file:
        return all(file.read(len(block)) == block for block in data.stream()) and not file.read(1)


def _refuse_to_overwrite(path: Path, data: StrandBytes) -> None:
    if path.exists() and not (path.is_file() and _is_same(path, data)):
        raise RirekiError(
            f"{path} is there already, with other content",
            "Name an empty folder with --to.",
        )
