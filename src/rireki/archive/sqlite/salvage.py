"""All that can be read of an archive, written into a new one. The old file is only read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw

from rireki.archive.base import Archive
from rireki.archive.sqlite.complete import RecoveredFacts, complete
from rireki.archive.sqlite.pages import Unreadable
from rireki.archive.sqlite.recover import Recovered, RecoveredRow, recover
from rireki.archive.sqlite.rescued import insert, insert_facts
from rireki.archive.sqlite.rows import SqliteRows
from rireki.errors import RirekiError
from rireki.model.conversation import Trouble

__all__ = ["salvage"]

#: Chunks that are written at once: enough to be quick, few enough for any memory.
BATCH = 200


def salvage(old: Path, new: Path, clock: Callable[[], str]) -> tuple[Archive, list[Trouble]]:
    """The new archive, in which every conversation waits to be read, and what could not be saved."""
    if new.exists():
        raise RirekiError("file-exists", path=new)
    try:
        recovered = recover(old)
    except OSError as error:
        raise RirekiError("salvage-unreadable", path=old, why=error.strerror) from error
    try:
        facts = complete(recovered, opening=True)
        if not facts.strands:
            raise RirekiError("nothing-to-salvage", path=old)
        rows = SqliteRows(new, create=True)
        archive = Archive(rows, clock)
        with archive.writing():
            _write(rows.sql, recovered, facts)
        archive.mark_stale()
        return archive, facts.lost
    finally:
        recovered.close()


def _write(sql: apsw.Connection, recovered: Recovered, facts: RecoveredFacts) -> None:
    insert_facts(sql, facts)
    sql.execute("UPDATE meta SET value = ? WHERE key = 'number'", (facts.number + 1,))
    for start in range(0, len(facts.chunks), BATCH):
        some = facts.chunks[start : start + BATCH]
        insert(sql, "chunk", [row.values | {"data": _data(recovered, row)} for row in some])


def _data(recovered: Recovered, row: RecoveredRow) -> bytes:
    try:
        return recovered.data(row)
    except Unreadable as error:
        raise RirekiError("archive-changed", path=recovered.path) from error
