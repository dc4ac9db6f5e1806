"""Where the files of a source lie, said once: what finds, watches, locates and reads them follows from it.

A reader that is a `FileReader` says which kinds of files lie below which folders. Files are told by
their names alone; only those that a person named by hand are looked into (`owns`).
"""

# Strings instead of pathlib: a thousand files are listed at every run.
# ruff: noqa: PTH112, PTH116, PTH118, PTH120, PTH206

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from rireki.model.conversation import Conversation, Reading, Trouble
from rireki.model.strand import Strand
from rireki.sources.kit.document import read_document
from rireki.sources.kit.jsonl import read_lines
from rireki.sources.kit.pieces import Cuts
from rireki.sources.kit.places import Places
from rireki.sources.kit.stamps import database_stamp, file_stamp, is_regular
from rireki.sources.reader import Discovery, Form, Known, Origin, Roll, Scanned, Update, Watched

__all__ = [
    "ANYTHING",
    "NOTHING_THERE",
    "FileKind",
    "FileReader",
    "FilesBelow",
    "belonging",
    "database_names",
    "listing",
    "no_conversation",
    "origin_at",
    "parent_of",
    "stem_of",
    "with_project",
]

NOTHING_THERE = "nothing there"
#: As a part of a pattern: any folders, or none; as its last one, every file below, however deep.
ANYTHING = "**"


def stem_of(path: str) -> str:
    """The name of a file without its ending."""
    return os.path.splitext(os.path.basename(path))[0]  # noqa: PTH119, PTH122


def no_conversation(path: str) -> None:
    """Of a database, or a file that belongs to no one conversation."""


def parent_of(path: str) -> str:
    """The name of the folder that a file lies in."""
    return os.path.basename(os.path.dirname(path))  # noqa: PTH119


class FileKind(NamedTuple):
    """A kind of file: how its path goes on below the root, what it is, and whose."""

    #: Parts divided by "/"; "*" stands for some characters of one part.
    pattern: str
    form: Form = "lines"
    role: str = "main"
    #: The conversation's own id, told from the path; None where the path does not say.
    conversation: Callable[[str], str | None] = stem_of


class FilesBelow(NamedTuple):
    """The files of a source below one folder; where kinds overlap, the first one counts."""

    root: Path
    kinds: Sequence[FileKind]
    #: What `rireki sources` says of them; "{n}" is their number.
    note: str = ""

    @property
    def place(self) -> str:
        """What is looked at: the one file there may be, else the root."""
        pattern = self.kinds[0].pattern
        is_one = len(self.kinds) == 1 and "*" not in pattern
        return str(self.root / pattern) if is_one else str(self.root)

    def folders(self) -> list[Watched]:
        """The folders in which such files appear."""
        found: dict[Watched, None] = {}
        for kind in self.kinds:
            parts = kind.pattern.split("/")
            fixed = next((n for n, part in enumerate(parts) if "*" in part), len(parts) - 1)
            folder = str(self.root.joinpath(*parts[:fixed]))
            found[Watched(folder, len(parts) > fixed + 1 or ANYTHING in parts)] = None
        deep = [one.folder for one in found if one.deep]
        return [
            one
            for one in found
            if not any(_is_below(one.folder, other) for other in deep if other != one.folder)
            and (one.deep or one.folder not in deep)
        ]


#: Kinds that a path may still become, each with the parts of its pattern that are left.
_Left: TypeAlias = "list[tuple[FileKind, list[str]]]"


class FileReader:
    """The part of a reader that knows where files lie. A subclass says `name`, `family` and `below`."""

    name: str
    family: str
    #: The module whose `interpret(source, conversation, strands)` knows what records mean: imported
    #: when there is something new, which most runs do not find.
    meaning: str
    #: Documents that are cut into pieces when they are read, by role.
    cuts: Mapping[str, Cuts] = {}

    def below(self, places: Places) -> list[FilesBelow]:
        """Where the files of this source may lie."""
        raise NotImplementedError

    def owns(self, origin: Origin) -> bool:
        """Whether a file that was named by hand is really of this source, as its content tells."""
        return True

    def discover(self, places: Places) -> Discovery:
        found = Discovery()
        for files in self.below(places):
            before = len(found.origins)
            walk = _Walk(self.name, files, found)
            walk.enter(str(files.root), _all(files))
            count = len(found.origins) - before
            note = _counted(files.note, count) if count else NOTHING_THERE
            found.looked.append(Scanned(self.name, files.place, count > 0, note))
        return found

    def recognise(self, path: Path) -> list[Origin]:
        path = path.absolute()
        found = self.discover(Places.at(path)).origins if path.is_dir() else []
        for files in self.below(Places.at(path)) if not found else ():
            found = found or self._around(files, path)
        return [origin for origin in found if self.owns(origin)]

    def _around(self, files: FilesBelow, path: Path) -> list[Origin]:
        """What a path is in a tree like ours, wherever that begins; with a file, its conversation's."""
        deepest = max(kind.pattern.count("/") + 1 for kind in files.kinds)
        for root in (path, *path.parents[:deepest]):
            here = files._replace(root=root)
            found = self.found_in(here, str(path))
            if found and path.is_file():
                beside = self.found_in(here, str(path.parent))
                found = [one for one in beside if one.conversation == found[0].conversation]
            if found:
                return found
        return []

    def found_in(self, files: FilesBelow, path: str) -> list[Origin]:
        """The files at a path, or below it. What is nobody's is answered without a look at the disk."""
        return _at(self.name, files, path)

    def watched(self, places: Places) -> list[Watched]:
        found = [folder for files in self.below(places) for folder in files.folders()]
        return list(dict.fromkeys(found))

    def locate(self, places: Places, path: str) -> list[Origin]:
        found: dict[str, Origin] = {}
        for files in self.below(places):
            for origin in self.found_in(files, path):
                found.setdefault(origin.place, origin)
        return list(found.values())

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        if origin.form == "database":
            return self.read_database(origin, known)
        if origin.form == "lines":
            return with_project(origin, read_lines(origin, known))
        return with_project(origin, read_document(origin, known, cuts=self.cuts.get(origin.role)))

    def read_database(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        """For readers with a kind of that form."""
        raise NotImplementedError

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        module = import_module(self.meaning)
        readings: list[Reading] = module.interpret(self.name, conversation, strands)
        return readings

    def resume(self, conversation: Conversation) -> str | None:
        return None

    def revive(self, conversation: Conversation) -> str | None:
        return None


class _Walk:
    """Gathers the files below a folder; what cannot be listed becomes a trouble."""

    def __init__(self, source: str, files: FilesBelow, found: Discovery) -> None:
        self.source = source
        self.root = files.root
        self.found = found
        self._entered: set[tuple[int, int]] = set()

    def enter(self, folder: str, left: _Left) -> None:
        names = {parts[0] for _, parts in left}
        if any("*" in name for name in names):
            entries = listing(folder, self.found.troubles, self._entered)
            paths = [(entry.name, entry.path) for entry in entries]
        else:
            paths = [(name, os.path.join(folder, name)) for name in sorted(names)]
        for name, path in paths:
            if rest := _advance(left, name):
                self.take(path, rest)

    def take(self, path: str, left: _Left) -> None:
        """A file of one of these kinds, or a folder on the way to some."""
        ends = [kind for kind, parts in left if parts in ([], [ANYTHING])]
        deeper = [(kind, parts) for kind, parts in left if parts]
        origin = (
            origin_at(self.source, path, self.root, ends[0], self.found.troubles) if ends else None
        )
        if origin is not None:
            self.found.origins.append(origin)
        elif deeper and os.path.isdir(path):
            self.enter(path, deeper)


def _at(source: str, files: FilesBelow, path: str) -> list[Origin]:
    root, left = str(files.root), _all(files)
    if _is_below(root, path):
        path = root
    elif not _is_below(path, root):
        return []
    walk = _Walk(source, files, Discovery())
    parts = path[len(root) :].strip(os.sep).split(os.sep) if path != root else []
    for number, part in enumerate(parts, 1):
        last = number == len(parts)
        # A database is heard of by its journal as well.
        bare = re.sub(r"-(?:wal|journal)$", "", part) if last else part
        rest = _advance(left, part)
        if not rest and bare != part:
            path = path[: len(path) - len(part)] + bare
            rest = [one for one in _advance(left, bare) if one[0].form == "database"]
        left = rest
    if parts and left:
        walk.take(path, left)
    elif left:
        walk.enter(path, left)
    return walk.found.origins


def _all(files: FilesBelow) -> _Left:
    return [(kind, kind.pattern.split("/")) for kind in files.kinds]


def _advance(left: _Left, name: str) -> _Left:
    """What is left of the kinds one step further down."""
    found: _Left = []
    for kind, parts in left:
        if parts and parts[0] == ANYTHING:
            found += [(kind, parts), *_advance([(kind, parts[1:])], name)]
        elif parts and (parts[0] == name or _matches(parts[0], name)):
            found.append((kind, parts[1:]))
    return found


def _matches(part: str, name: str) -> bool:
    return "*" in part and _expression(part).fullmatch(name) is not None


@cache
def _expression(part: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, part.split("*"))), re.DOTALL)


def _counted(note: str, number: int) -> str:
    """ "{n} files" with its number: of one, "1 file"."""
    told = note.replace("{n}", str(number))
    return re.sub(r"^1 (\w+)s\b", r"1 \1", told)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def listing(
    folder: str, troubles: list[Trouble], entered: set[tuple[int, int]] | None = None
) -> list[os.DirEntry[str]]:
    """The entries of a folder in a stable order; none of one that was `entered` before, by another name."""
    try:
        if entered is not None:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in entered:
                return []
            entered.add((status.st_dev, status.st_ino))
        with os.scandir(folder) as entries:
            return sorted(entries, key=attrgetter("name"))
    except FileNotFoundError:
        return []
    except OSError as error:
        troubles.append(_unreadable(folder, error))
        return []


def origin_at(
    source: str, path: str, root: Path, kind: FileKind, troubles: list[Trouble] | None = None
) -> Origin | None:
    """A file as an origin; None when it is no plain file, or gone by now."""
    try:
        status = os.stat(path)
    except PermissionError as error:
        if troubles is not None:
            troubles.append(_unreadable(os.path.dirname(path), error))
        return None
    except (OSError, ValueError):
        return None
    if not is_regular(status):
        return None
    return Origin(
        source=source,
        place=path,
        root=str(root),
        form=kind.form,
        role=kind.role,
        conversation=kind.conversation(path),
        stamp=database_stamp(path) if kind.form == "database" else file_stamp(status),
        size=status.st_size,
    )


def belonging(origin: Origin, project: str | None) -> Origin:
    """The origin with the directory it was found to belong to: known later, it is read again."""
    if not project:
        return origin
    return msgspec.structs.replace(origin, project=project, stamp=f"{origin.stamp} {project}")


def with_project(origin: Origin, updates: Iterable[Update]) -> Iterator[Update]:
    """What was read, with the directory that the origin belongs to."""
    for update in updates:
        update.project = update.project or origin.project
        yield update


def database_names(place: str) -> tuple[str, ...]:
    """What may be heard of when a database changes: itself, and what SQLite writes beside it."""
    return place, f"{place}-wal", f"{place}-journal"


def _unreadable(folder: str, error: OSError) -> Trouble:
    return Trouble.of(folder, "folder-not-listed", why=error.strerror)
