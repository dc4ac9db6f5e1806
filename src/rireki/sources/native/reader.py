"""Where the journals of `MessageHistory` lie: a file per conversation, beside the archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rireki.model.conversation import Conversation, Reading
from rireki.model.strand import Strand
from rireki.sources.kit import journals
from rireki.sources.kit.journals import ENDING
from rireki.sources.kit.jsonl import read_lines
from rireki.sources.kit.places import Places
from rireki.sources.kit.stamps import is_regular
from rireki.sources.native.entry import parse
from rireki.sources.reader import Discovery, Known, Origin, Roll, Update, Watched

__all__ = ["ENDING", "NAME", "READER", "origin_of"]

NAME = "rireki"
#: How much of a file that was named by hand is looked at.
PEEK = 64 << 10


class Native:
    name = NAME
    family = NAME

    def discover(self, places: Places) -> Discovery:
        found = Discovery()
        for folder in places.history_folders():
            journals.look(found, NAME, folder)
        return found

    def recognise(self, path: Path) -> list[Origin]:
        if not path.is_dir():
            return journals.origins(NAME, [path] if _is_journal(path) else [], path.parent)
        folders = [path, path / "histories", *Places.at(path).history_folders()]
        files = [file for folder in dict.fromkeys(folders) for file in journals.files(folder)]
        return journals.origins(NAME, [file for file in files if _is_journal(file)], path)

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        yield from read_lines(origin, known)

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        # Imported late: most runs find journals that did not change.
        from rireki.sources.native.story import read_journals

        return read_journals(conversation, strands)

    def watched(self, places: Places) -> list[Watched]:
        return [Watched(str(folder)) for folder in places.history_folders()]

    def locate(self, places: Places, path: str) -> list[Origin]:
        return journals.locate(NAME, places.history_folders(), path)

    def resume(self, conversation: Conversation) -> str | None:
        """The program that writes it goes on with it; which one that is, is not known."""
        return None

    def revive(self, conversation: Conversation) -> str | None:
        file = f"{conversation.native_id}{ENDING}"
        return (
            f"(put DIR/{file} into the folder 'histories' beside the archive; "
            f"MessageHistory.open('{conversation.native_id}') goes on with it)"
        )


def origin_of(file: Path) -> Origin | None:
    """A journal as `discover` finds it; None when it is not there, or no plain file."""
    return next(iter(journals.origins(NAME, [file], file.parent)), None)


def _is_journal(path: Path) -> bool:
    """Whether one of the first lines is an entry of ours."""
    try:
        if not is_regular(path.stat()):
            return False
        with path.open("rb") as file:
            head = file.read(PEEK)
    except OSError:
        return False
    return any(map(_is_entry, head.split(b"\n")[:20]))


def _is_entry(line: bytes) -> bool:
    entry = parse(line)
    # The journals of driven agents look much the same, but for the number each entry has there.
    return entry is not None and "n" not in entry.more


READER = Native()
