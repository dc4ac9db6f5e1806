"""The reader of ChatKit databases: where they lie, how they are read, who interprets them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from rireki.errors import SourceTrouble
from rireki.model.conversation import Conversation, Reading
from rireki.model.strand import Strand
from rireki.sources.chatkit.configured import VARIABLE, configured
from rireki.sources.chatkit.names import DATABASE, NAME
from rireki.sources.kit.places import Places
from rireki.sources.kit.stamps import database_stamp, is_regular
from rireki.sources.reader import Discovery, Known, Origin, Roll, Scanned, Update, Watched

__all__ = ["READER", "ChatKit"]

#: What a database may be called, in a folder that was named by hand or in one right below it.
_ENDINGS = (".db", ".sqlite", ".sqlite3")
_BELOW = tuple(f"{folder}*{ending}" for folder in ("", "*/") for ending in _ENDINGS)


class ChatKit:
    name = NAME
    family = NAME
    #: An app keeps its database wherever it likes: one that was named once is looked at again.
    anywhere = True

    def discover(self, places: Places) -> Discovery:
        settings = configured(places)
        found = Discovery(troubles=settings.troubles)
        for path in settings.databases:
            origin = _origin(path)
            found.origins += filter(None, [origin])
            note = "" if origin else "configured, but not there"
            found.looked.append(Scanned(NAME, str(path), origin is not None, note))
        if not settings.databases:
            note = f"no databases are named there, nor in {VARIABLE}"
            files = settings.present or settings.files[:1]
            found.looked += [Scanned(NAME, str(file), False, note) for file in files]
        return found

    def recognise(self, path: Path) -> list[Origin]:
        if path.is_dir():
            candidates = sorted({file for pattern in _BELOW for file in path.glob(pattern)})
        else:
            candidates = [path]
        return [o for file in candidates if (o := _origin(file)) and _is_ours(file)]

    def watched(self, places: Places) -> list[Watched]:
        settings = configured(places)
        folders = [*settings.folders, *(path.parent for path in settings.databases)]
        return [Watched(str(folder)) for folder in dict.fromkeys(folders)]

    def locate(self, places: Places, path: str) -> list[Origin]:
        databases = configured(places).databases
        found = [one for one in databases if path in _hints(str(one), str(one.parent))]
        return [origin for one in found if (origin := _origin(one))]

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        # Imported late: hardly anyone has such a database, and every import would pay for it.
        from rireki.sources.chatkit.rows import read_database

        return read_database(origin, known)

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        from rireki.sources.chatkit.fold import interpret

        return interpret(conversation, strands)

    def resume(self, conversation: Conversation) -> str | None:
        """A thread goes on in its app, which we do not know."""
        return None

    def revive(self, conversation: Conversation) -> str | None:
        return None


def _hints(name: str, folder: str) -> tuple[str, ...]:
    """What may be heard of when a database changes."""
    return name, f"{name}-wal", f"{name}-journal", folder


def _origin(path: Path) -> Origin | None:
    """None when there is no plain file of that name."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    if not is_regular(status):
        return None
    return Origin(
        source=NAME,
        place=os.fspath(path),
        root=os.fspath(path.parent),
        form="database",
        role=DATABASE,
        stamp=database_stamp(path),
        size=status.st_size,
    )


def _is_ours(path: Path) -> bool:
    from rireki.sources.chatkit.rows import is_chatkit
    from rireki.sources.kit.sqlite import open_database

    try:
        with open_database(str(path)) as database:
            return is_chatkit(database)
    except SourceTrouble:
        return False


READER = ChatKit()
