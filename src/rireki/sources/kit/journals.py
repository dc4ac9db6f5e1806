"""Journals that rireki's own parts write: a file per conversation, an entry per line.

Where they lie, and their lines as entries. What an entry means, its reader knows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from rireki.model.conversation import Trouble
from rireki.model.strand import Ref, Strand
from rireki.sources.kit.files import FileKind, FileReader, FilesBelow
from rireki.sources.kit.jsonl import LANE
from rireki.sources.kit.places import Places
from rireki.sources.reader import Origin

__all__ = ["ENDING", "JOURNAL", "ROLE", "JournalLine", "JournalReader", "read_journal"]

ENDING = ".jsonl"
ROLE = "journal"
JOURNAL = FileKind(f"*{ENDING}", "lines", ROLE)
#: How much of a file that was named by hand is looked at, and how many lines of that.
PEEK, PEEK_LINES = 64 << 10, 20
E = TypeVar("E")


class JournalReader(FileReader):
    """A reader of journals. A subclass says `name`, `family` and `folder` besides what it understands."""

    #: What the folder beside an archive is called.
    folder: str

    def folders(self, places: Places) -> list[Path]:
        """Where such folders may lie."""
        return [beside.with_name(self.folder) for beside in places.history_folders()]

    def is_entry(self, line: bytes) -> bool:
        raise NotImplementedError

    def below(self, places: Places) -> list[FilesBelow]:
        return [FilesBelow(folder, [JOURNAL]) for folder in self.folders(places)]

    def recognise(self, path: Path) -> list[Origin]:
        """A file that was named by hand, or those in a folder that was, or where they would lie in it."""
        if not path.is_dir():
            return super().recognise(path)
        folders = [path, path / self.folder, *self.folders(Places.at(path))]
        found = [
            msgspec.structs.replace(origin, root=str(path))
            for folder in dict.fromkeys(folders)
            for origin in self.found_in(FilesBelow(folder, [JOURNAL]), str(folder))
        ]
        return [origin for origin in found if self.owns(origin)]

    def owns(self, origin: Origin) -> bool:
        """Whether one of the first lines is an entry."""
        try:
            with Path(origin.place).open("rb") as file:
                head = file.read(PEEK)
        except OSError:
            return False
        return any(map(self.is_entry, head.split(b"\n")[:PEEK_LINES]))


class JournalLine(msgspec.Struct, Generic[E], gc=False):
    """An entry, where it stands, and whether the file still has it."""

    entry: E
    ref: Ref
    present: bool


def read_journal(
    strand: Strand,
    parse: Callable[[bytes], E | None],
    code: str,
    troubles: list[Trouble],
    lines: dict[bytes, JournalLine[E]],
) -> None:
    """Add the lines of a journal. A copy of it may lie in two places: each line is told once."""
    for number, record in enumerate(strand.story(LANE), 1):
        entry = parse(record.data)
        if entry is None:
            troubles.append(Trouble.of(f"{strand.place}: line {number}", code))
            continue
        new = JournalLine(entry, Ref(strand.id, LANE, record.ordinal), False)
        line = lines.setdefault(record.data, new)
        line.present = line.present or record.present
