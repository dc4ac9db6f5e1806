"""The real clients as they were recorded: what went over their pipes, and the homes they left."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.homes import FIXTURES, copy

__all__ = ["RECORDED", "lay_out_recorded"]

#: A folder per client and version.
RECORDED = {path.name: path for path in sorted((FIXTURES / "driven").iterdir())}


def lay_out_recorded(name: str, home: Path) -> None:
    """The client's own transcript and our journals, where both lie."""
    copy(RECORDED[name] / "home", home)
    for dump in home.rglob("*.sql"):
        with closing(sqlite3.connect(dump.with_suffix(""))) as sql:
            sql.executescript(dump.read_text("utf-8"))
        dump.unlink()
