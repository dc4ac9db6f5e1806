"""Giving back what was taken in: files byte for byte, database rows as files the agent can load."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from rireki.archive.base import Archive, Found
from rireki.errors import NotFound, RirekiError
from rireki.intake.interpret import with_subagents
from rireki.model.names import as_path
from rireki.model.record import digest_of_bytes
from rireki.model.strand import Strand, StrandBytes

__all__ = ["restore", "safe_name"]

#: How many bytes the name of a file may have on nearly every system.
LONGEST = 255
#: The roles of strands that are a file of their own inside a database's origin: what came with a
#: message, and a value that is too large to be a part of its row.
FILES = ("file", "value")
#: The roles of strands that repeat a part of another file: given back where there is nothing else.
EXCERPTS = ("typed",)


def restore(archive: Archive, found: Found, to: Path, as_of: str | None = None) -> list[Path]:
    """Write the files of a conversation and its sub-agents below `to`; returns where they are."""
    groups = {(each.family, each.grouping): None for each in with_subagents(archive, found)}
    strands = [strand for group in groups for strand in archive.strands(*group, as_of)]
    if not strands:
        raise NotFound("not-archived-then", id=found.conversation.id, when=as_of)
    strands = [strand for strand in strands if strand.role not in EXCERPTS] or strands
    wanted: dict[Path, StrandBytes] = {}
    for strand in strands:
        held = archive.bytes_of(strand, strand.states[-1])
        wanted[_free(to / _name(strand), wanted)] = held
    missing = {path: data for path, data in wanted.items() if not _is_there(path, to, data)}
    for path, data in missing.items():
        _make_folder(path.parent, to)
        _write(path, data)
    return list(wanted)


def _write(path: Path, data: StrandBytes) -> None:
    """A little at a time: a file may be larger than the memory."""
    try:
        # For its owner alone, and never through a link that was put there meanwhile.
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(made, "wb") as file:
            for block in data.stream():
                file.write(block)
    except RirekiError:
        # Half a file would look like a whole one.
        path.unlink()
        raise


def _name(strand: Strand) -> Path:
    """A file goes where it lay below its root; a row becomes a file named after its conversation."""
    if strand.key and strand.role in FILES:
        # What came with a message, as it was: no JSON.
        return Path(safe_name(f"{strand.conversation}.files"), safe_name(json.loads(strand.key)[1]))
    if strand.key:
        return Path(safe_name(f"{strand.conversation}.json"))
    kind = PureWindowsPath if "\\" in strand.place else PurePosixPath
    place: PurePath = kind(strand.place)
    try:
        relative = place.relative_to(kind(strand.root))
    except ValueError:
        relative = kind(place.name)
    parts = [safe_name(part) for part in relative.parts] or [safe_name(place.name)]
    return Path(*parts)


def safe_name(part: str) -> str:
    """A name that stays inside the folder it is written to, as the system spells it."""
    # On Windows `C:name` is a place on another drive, `name:x` a stream behind a file.
    forbidden = r"[\\/\x00:]" if os.name == "nt" else r"[\\/\x00]"
    name = re.sub(forbidden, "_", as_path(part)) if part not in (".", "..") else "_"
    return _short(name)


def _short(name: str) -> str:
    """No longer than a file's name may be: what is left out is told by a digest."""
    data = os.fsencode(name)
    if len(data) <= LONGEST:
        return name
    stem, dot, ending = name.rpartition(".")
    ending = f"{dot}{ending}" if stem and len(os.fsencode(ending)) <= 16 else ""
    mark = f"~{digest_of_bytes(data).hex()[:16]}{ending}"
    # Room for the number that a second one of its name gets.
    room = LONGEST - len(os.fsencode(mark)) - 8
    return os.fsencode(name)[:room].decode("utf-8", "ignore") + mark


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


def _is_there(path: Path, to: Path, data: StrandBytes) -> bool:
    """Whether nothing is left to do; raises when something else is in the way."""
    for place in (path, *path.parents):
        if place == to:
            break
        if place.is_symlink():
            raise RirekiError("restore-link", place=place)
    if path.exists() and not (path.is_file() and _is_same(path, data)):
        raise RirekiError("restore-exists", path=path)
    return path.exists()


def _make_folder(folder: Path, to: Path) -> None:
    """What we make is for its owner alone; the folder that was named, and those above it, are theirs."""
    for place in reversed([folder, *folder.parents]):
        if not place.exists():
            place.mkdir(mode=0o700 if place == to or to in place.parents else 0o777, exist_ok=True)
