"""The rows behind an archive, for tests that look at or change what no verb shows."""

from __future__ import annotations

import apsw

from rireki.archive.base import Archive
from rireki.archive.sqlite.rows import SqliteRows

__all__ = ["ENGINE", "sql_of"]

#: The class of the rows of the archives that tests open.
ENGINE = SqliteRows


def sql_of(archive: Archive) -> apsw.Connection:
    assert isinstance(archive.rows, ENGINE), "the rows of another engine are asked otherwise"
    return archive.rows.sql
