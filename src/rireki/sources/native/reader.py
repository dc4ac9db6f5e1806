"""Where the journals of `MessageHistory` lie: a file per conversation, beside the archive."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from rireki.model.conversation import Conversation, Reading, Trouble
from rireki.model.strand import Strand
from rireki.sources.kit.jsonl import read_lines
from rireki.sources.kit.places import Places
from rireki.sources.kit.stamps import file_stamp, is_regular
from rireki.sources.native.entry import parse
from rireki.sources.reader import Discovery, Known, Looked, Origin, Roll, Update, Watched

__all__ = ["ENDING", "NAME", "READER", "origin_of"]

NAME = "rireki"
ENDING = ".jsonl"
#: How much of a file that was named by hand is looked at.
PEEK = 64 << 10


class Native:
    name = NAME
    family = NAME

    def discover(self, places: Places) -> Discovery:
        found = Discovery()
        for folder in places.history_folders():
            _look(found, folder)
        return found

    def recognise(self, path: Path) -> list[Origin]:
        if not path.is_dir():
            return [origin for origin in _origins([path], path.parent) if _is_journal(path)]
        folders = [path, path / "histories", *Places.at(path).history_folders()]
        files = [file for folder in dict.fromkeys(folders) for file in _files(folder)]
        return _origins([file for file in files if _is_journal(file)], path)

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        yield from read_lines(origin, known)

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        # Imported late: most runs find journals that did not change.
        from rireki.sources.native.story import read_journals

        return read_journals(conversation, strands)

    def watched(self, places: Places) -> list[Watched]:
        return [Watched(str(folder)) for folder in places.history_folders()]

    def locate(self, places: Places, path: str) -> list[Origin]:
        for folder in places.history_folders():
            if path == str(folder):
                return _origins(_files(folder), folder)
            if path.endswith(ENDING) and os.path.dirname(path) == str(folder):  # noqa: PTH120
                return _origins([Path(path)], folder)
        return []

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
    return next(iter(_origins([file], file.parent)), None)


def _look(found: Discovery, folder: Path) -> None:
    try:
        files = _files(folder)
    except OSError as error:
        reason = f"cannot be looked into ({error.strerror})"
        hint = "Check that you may read the folder."
        found.troubles.append(Trouble(str(folder), reason, hint))
        files = []
    origins = _origins(files, folder)
    found.origins += origins
    note = "" if origins else "nothing there"
    found.looked.append(Looked(NAME, str(folder), bool(origins), note))


def _files(folder: Path) -> list[Path]:
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [folder / name for name in sorted(names) if name.endswith(ENDING)]


def _origins(files: Sequence[Path], root: Path) -> list[Origin]:
    found: list[Origin] = []
    for file in files:
        try:
            status = file.stat()
        except OSError:
            # Gone in this very moment, or a link to nothing.
            continue
        if file.suffix != ENDING or not is_regular(status):
            continue
        found.append(
            Origin(
                source=NAME,
                place=str(file),
                root=str(root),
                form="lines",
                role="journal",
                conversation=file.stem,
                stamp=file_stamp(status),
                size=status.st_size,
            )
        )
    return found


def _is_journal(path: Path) -> bool:
    """Whether one of the first lines is an entry of ours."""
    try:
        if not is_regular(path.stat()):
            return False
        with path.open("rb") as file:
            head = file.read(PEEK)
    except OSError:
        return False
    return any(parse(line) is not None for line in head.split(b"\n")[:20])


READER = Native()
