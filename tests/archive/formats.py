"""Archives as earlier versions of rireki made them, out of one of today."""

from __future__ import annotations

from pathlib import Path

import apsw

from rireki.archive.sqlite import sums
from rireki.archive.sqlite.connect import APPLICATION_ID, steps


def bring_down(path: Path, version: int) -> None:
    """Write an archive's file anew, in an earlier format, without what that cannot say."""
    made = path.with_name("earlier.sqlite3")
    sql = apsw.Connection(str(made))
    for step in steps()[:version]:
        sql.execute(step)
    sql.pragma("user_version", version)
    sql.pragma("application_id", APPLICATION_ID)
    sql.execute("ATTACH ? AS today", (str(path),))
    tables = "SELECT name FROM main.sqlite_schema WHERE type = 'table'"
    for (table,) in sql.execute(tables).fetchall():
        columns = ", ".join(row[1] for row in sql.execute(f"PRAGMA main.table_info({table})"))
        sql.execute(
            f"INSERT OR REPLACE INTO main.{table} ({columns}) SELECT {columns} FROM today.{table}"
        )
    if version >= sums.FIRST:
        sql.execute("DELETE FROM chunk_sum")
        sums.fill(sql)
    if version >= sums.WIDER:
        sums.renew(sql)
    sql.close()
    path.unlink()
    made.rename(path)
