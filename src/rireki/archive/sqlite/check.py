"""Checking an archive's file: what SQLite finds wrong with it, and rows that are not what was written."""

from __future__ import annotations

import re
from collections.abc import Iterator

import apsw

from rireki.archive.sqlite.sums import SUMMED, WrongRow, wrong_rows
from rireki.model.conversation import Trouble

__all__ = ["check"]

HINT = (
    "'rireki verify --salvage NEW' saves all that can be read into a new archive; or put a backup in"
    " its place."
)
_TREE = re.compile(r"[Tt]ree (\d+)(?: page (\d+))?.*?: (.*)", re.DOTALL)
_INDEX = re.compile(r"(?:from|in) index (\w+)")
_COLUMN = re.compile(r"value in (\w+)\.\w+")


def check(sql: apsw.Connection) -> list[Trouble]:
    """One line for each damage, with the table or the conversation it concerns."""
    troubles = list(_structure(sql))
    for table in SUMMED:
        for row in wrong_rows(sql, table):
            place = _place(sql, row)
            troubles.append(Trouble(place, f"a row of {table} is not what was written", HINT))
    return list(dict.fromkeys(troubles))


def _structure(sql: apsw.Connection) -> Iterator[Trouble]:
    """What SQLite says; once for each page."""
    roots = {
        str(root): name for name, root in sql.execute("SELECT name, rootpage FROM sqlite_schema")
    }
    seen: set[str] = set()
    for (said,) in sql.execute("PRAGMA integrity_check").fetchall():
        for line in str(said).splitlines():
            if line == "ok" or line.startswith("***"):
                continue
            place, message = _told(line, roots)
            if place + message.partition(":")[0] not in seen:
                seen.add(place + message.partition(":")[0])
                yield Trouble(place, message, HINT)


def _told(line: str, roots: dict[str, object]) -> tuple[str, str]:
    if found := _TREE.search(line):
        root, page, why = found.groups()
        return f"table {roots.get(root, root)}", f"page {page or root}: {why}"
    if found := _INDEX.search(line):
        return f"index {found[1]}", re.sub(r"^row \d+ ", "rows ", line)
    if found := _COLUMN.search(line):
        return f"table {found[1]}", line
    return "the archive file", line


def _place(sql: apsw.Connection, row: WrongRow) -> str:
    """The conversation that a row belongs to, else its table."""
    values = row.values
    if row.table == "strand":
        return f"{values['family']}/{values['conversation']}"
    if row.table in ("chunk", "state"):
        known = sql.execute(
            """SELECT CAST(family AS BLOB), CAST(conversation AS BLOB) FROM strand
                WHERE id = CAST(? AS INTEGER)""",
            (values["strand"],),
        ).fetchone()
        if known and None not in known:
            return "/".join(bytes(part).decode(errors="replace") for part in known)
    if row.table == "origin":
        return str(values["place"])
    if row.table == "change":
        return str(values["conversation"])
    if row.table in ("succession", "forgotten", "fact"):
        return f"{values['family']}/{values.get('child') or values.get('conversation')}"
    return f"table {row.table}"
