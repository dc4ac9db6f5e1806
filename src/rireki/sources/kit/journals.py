"""Folders of journals that rireki's own parts write: a file of lines per conversation.

Finds the files and takes them as origins. Nothing here looks inside one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rireki.model.conversation import Trouble
from rireki.sources.kit.stamps import file_stamp, is_regular
from rireki.sources.reader import Discovery, Looked, Origin

__all__ = ["ENDING", "ROLE", "files", "locate", "look", "origins"]

ENDING = ".jsonl"
ROLE = "journal"


def look(found: Discovery, source: str, folder: Path) -> None:
    """Add what lies in a folder to what was found."""
    try:
        there = files(folder)
    except OSError as error:
        reason = f"cannot be looked into ({error.strerror})"
        hint = "Check that you may read the folder."
        found.troubles.append(Trouble(str(folder), reason, hint))
        there = []
    journals = origins(source, there, folder)
    found.origins += journals
    note = "" if journals else "nothing there"
    found.looked.append(Looked(source, str(folder), bool(journals), note))


def files(folder: Path) -> list[Path]:
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [folder / name for name in sorted(names) if name.endswith(ENDING)]


def locate(source: str, folders: Sequence[Path], path: str) -> list[Origin]:
    """The journals that a change at a path concerns."""
    for folder in folders:
        if path == str(folder):
            return origins(source, files(folder), folder)
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
