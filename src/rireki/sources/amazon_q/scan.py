"""Where the stores lie: origins from places, for the readers of both products.

Only names and sizes are looked at here, except for files a person named by hand:
those are recognised by content.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from rireki.errors import SourceTrouble
from rireki.model.conversation import Trouble
from rireki.sources.amazon_q.files import ZIP, Saved, recognise_saved
from rireki.sources.amazon_q.rows import has_new_table, is_ours
from rireki.sources.kit.sqlite import open_database
from rireki.sources.kit.stamps import database_stamp, file_stamp, is_regular
from rireki.sources.reader import Discovery, Form, Looked, Origin

__all__ = [
    "DATABASE",
    "QUIET",
    "belongs_to_kiro",
    "databases_below",
    "file_origin",
    "listing",
    "locate_database",
    "look_for_database",
    "saved_in",
]

DATABASE = "database"
DATABASE_NAME = "data.sqlite3"
QUIET = "nothing there"
#: How deep below a folder that was named by hand databases are looked for.
_BELOW = (DATABASE_NAME, f"*/{DATABASE_NAME}", f"*/*/{DATABASE_NAME}")


def look_for_database(found: Discovery, source: str, folder: Path) -> None:
    """Note the database of a data directory, or that there is none."""
    path = folder / DATABASE_NAME
    listing(folder, found)
    origin = database_origin(source, path)
    if origin is not None:
        found.origins.append(origin)
    found.looked.append(Looked(source, str(path), origin is not None, "" if origin else QUIET))


def database_origin(source: str, path: Path, root: Path | None = None) -> Origin | None:
    status = _status(path)
    if status is None:
        return None
    return Origin(
        source=source,
        place=str(path),
        root=str(root or path.parent.parent),
        form="database",
        role=DATABASE,
        stamp=database_stamp(path),
        size=status.st_size,
    )


def locate_database(source: str, folders: Sequence[Path], path: str) -> list[Origin]:
    """The database that a change at `path` concerns: itself, its log or journal, or its folder."""
    for folder in folders:
        database = folder / DATABASE_NAME
        name = str(database)
        if path in (name, f"{name}-wal", f"{name}-journal", str(folder)):
            return list(filter(None, [database_origin(source, database)]))
    return []


def file_origin(
    source: str, path: Path, root: Path, form: Form, role: str, conversation: str | None
) -> Origin | None:
    """None when it is not a plain file, or gone by now."""
    status = _status(path)
    if status is None:
        return None
    return Origin(
        source=source,
        place=str(path),
        root=str(root),
        form=form,
        role=role,
        conversation=conversation,
        stamp=file_stamp(status),
        size=status.st_size,
    )


def listing(folder: Path, found: Discovery) -> list[os.DirEntry[str]]:
    """The entries of a folder in a stable order; a folder we may not read is a trouble."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        hint = "Check that you may read the folder."
        found.troubles.append(Trouble(str(folder), f"cannot be listed ({error.strerror})", hint))
        return []


def databases_below(path: Path) -> list[Path]:
    """The databases in a folder, or the file itself, whose tables are ours."""
    if path.is_file():
        return [path] if _tables_of(path) else []
    found = {one for pattern in _BELOW for one in path.glob(pattern)}
    return [one for one in sorted(found) if one.is_file() and _tables_of(one)]


def belongs_to_kiro(path: Path) -> bool:
    """By the name of its folder, else by the newer table."""
    names = [name.lower() for name in path.absolute().parts[-4:-1]]
    if names and names[-1] == "amazon-q":
        return False
    return any("kiro" in name for name in names) or _tables_of(path) == "new"


def saved_in(path: Path) -> Iterator[tuple[Path, Saved]]:
    """The saved conversations in a file, or right in a folder."""
    names = [path] if path.is_file() else sorted(p for p in path.glob("*") if p.is_file())
    for name in names:
        if name == path or name.suffix in ("", ".json", ".zip"):
            saved = _saved(name)
            if saved is not None:
                # As a row is named by the directory it belongs to, a file is by where it lies.
                yield name, saved._replace(conversation=saved.conversation or str(name.absolute()))


def _saved(path: Path) -> Saved | None:
    try:
        with path.open("rb") as file:
            start = file.read(64)
            if not start.startswith(ZIP) and start.lstrip()[:1] != b"{":
                return None
            return recognise_saved(start + file.read())
    except OSError:
        return None


def _tables_of(path: Path) -> str | None:
    try:
        with open_database(str(path)) as database:
            if has_new_table(database):
                return "new"
            return "old" if is_ours(database) else None
    except SourceTrouble:
        return None


def _status(path: Path) -> os.stat_result | None:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status if is_regular(status) else None
