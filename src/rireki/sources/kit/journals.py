"""Folders of journals that rireki's own parts write: a file of lines per conversation.

Finds the files and takes them as origins. What stands in one, its reader knows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from rireki.model.conversation import Trouble
from rireki.sources.kit.stamps import file_stamp, is_regular
from rireki.sources.reader import Discovery, Origin, Scanned

__all__ = ["ENDING", "ROLE", "discover", "locate", "origins", "recognise"]

ENDING = ".jsonl"
ROLE = "journal"
#: How much of a file that was named by hand is looked at, and how many lines of that.
PEEK, PEEK_LINES = 64 << 10, 20


def discover(source: str, folders: Sequence[Path]) -> Discovery:
    found = Discovery()
    for folder in folders:
        _look(found, source, folder)
    return found


def recognise(
    source: str, path: Path, folders: Sequence[Path], is_entry: Callable[[bytes], bool]
) -> list[Origin]:
    """A file that was named by hand, or those in a folder that was, or in `folders`."""
    if not path.is_dir():
        return origins(source, [path] if _is_journal(path, is_entry) else [], path.parent)
    there = [file for folder in dict.fromkeys([path, *folders]) for file in _files(folder)]
    return origins(source, [file for file in there if _is_journal(file, is_entry)], path)


def _is_journal(path: Path, is_entry: Callable[[bytes], bool]) -> bool:
    """Whether one of the first lines is an entry."""
    try:
        if not is_regular(path.stat()):
            return False
        with path.open("rb") as file:
            head = file.read(PEEK)
    except OSError:
        return False
    return any(map(is_entry, head.split(b"\n")[:PEEK_LINES]))


def _look(found: Discovery, source: str, folder: Path) -> None:
    """Add what lies in a folder to what was found."""
    try:
        there = _files(folder)
    except OSError as error:
        reason = f"cannot be looked into ({error.strerror})"
        hint = "Check that you may read the folder."
        found.troubles.append(Trouble(str(folder), reason, hint))
        there = []
    journals = origins(source, there, folder)
    found.origins += journals
    note = "" if journals else "nothing there"
    found.looked.append(Scanned(source, str(folder), bool(journals), note))


def _files(folder: Path) -> list[Path]:
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [folder / name for name in sorted(names) if name.endswith(ENDING)]


def locate(source: str, folders: Sequence[Path], path: str) -> list[Origin]:
    """The journals that a change at a path concerns."""
    for folder in folders:
        if path == str(folder):
            return origins(source, _files(folder), folder)
        if path.endswith(ENDING) and os.path.dirname(path) == str(folder):  # noqa: PTH120
            return origins(source, [Path(path)], folder)
    return []


def origins(source: str, found: Sequence[Path], root: Path) -> list[Origin]:
    """Those of the files that are there, and plain."""
    journals: list[Origin] = []
    for file in found:
        try:
            status = file.stat()
        except OSError:
            # Gone in this very moment, or a link to nothing.
            continue
        if file.suffix != ENDING or not is_regular(status):
            continue
        journals.append(
            Origin(
                source=source,
                place=str(file),
                root=str(root),
                form="lines",
                role=ROLE,
                conversation=file.stem,
                stamp=file_stamp(status),
                size=status.st_size,
            )
        )
    return journals
