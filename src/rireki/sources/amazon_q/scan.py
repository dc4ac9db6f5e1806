"""What the readers of Amazon Q and Kiro share: where their stores lie, how they are read and resumed.

Only names and sizes are looked at here, except for files a person named by hand:
those are recognised by content."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

from rireki.errors import SourceTrouble
from rireki.model.conversation import Conversation, Reading, Trouble
from rireki.model.strand import Strand
from rireki.sources.amazon_q.files import V3_PREFIX, ZIP, Saved, recognise_saved
from rireki.sources.amazon_q.rows import has_new_table, is_ours, read_database
from rireki.sources.kit.document import read_document
from rireki.sources.kit.jsonl import read_lines
from rireki.sources.kit.sqlite import open_database
from rireki.sources.kit.stamps import database_stamp, file_stamp, is_regular
from rireki.sources.reader import Discovery, Form, Known, Origin, Roll, Scanned, Update

__all__ = [
    "DATABASE",
    "QUIET",
    "Family",
    "belongs_to_kiro",
    "databases_below",
    "file_origin",
    "listing",
    "locate_database",
    "look_for_database",
    "resume_command",
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
    found.looked.append(Scanned(source, str(path), origin is not None, "" if origin else QUIET))


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


def resume_command(conversation: Conversation) -> str | None:
    """None where no agent has it: it was overwritten, or known from a saved file only."""
    if conversation.nature != "conversation":
        return None
    place = f"cd {quote(conversation.project)} && " if conversation.project else ""
    if "amazon-q" in conversation.held_by:
        # The client takes no id: it goes on with whatever its directory holds.
        return f"{place}q chat --resume" if place else None
    if "kiro" in conversation.held_by:
        # By id, in its directory, because Kiro lists sessions per directory.
        engine = "--v3" if conversation.native_id.startswith(V3_PREFIX) else "chat"
        return f"{place}kiro-cli {engine} --resume-id {quote(conversation.native_id)}"
    return None


class Family:
    family = "amazon-q"

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        if origin.form == "database":
            return read_database(origin, known)
        return read_lines(origin, known) if origin.form == "lines" else read_document(origin, known)

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        # Imported late: discovering and reading need none of it.
        from rireki.sources.amazon_q import fold

        return fold.interpret(conversation, strands)

    def grouping(self, native_id: str) -> str:
        """What the records of a conversation are filed under, given the agent's name for it."""
        return native_id.removeprefix(V3_PREFIX)

    def resume(self, conversation: Conversation) -> str | None:
        return resume_command(conversation)
