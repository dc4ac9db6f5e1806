"""The rows of a damaged archive: all that can be read of its file, each with how far to trust it.

A row is found by way of its table's tree. Where an inner page of the tree is lost, the pages below
it are found by going through the whole file, and their rows told by their shape and checksum.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import apsw

from rireki.archive.sqlite.connect import steps
from rireki.archive.sqlite.pages import (
    INNER_TABLE,
    LEAF_TABLE,
    Cell,
    Pages,
    TextBytes,
    Unreadable,
    decode_record,
)
from rireki.archive.sqlite.sums import ADDED, SUMMED, prepare, sum_of

__all__ = ["Loss", "Recovered", "RecoveredRow", "recover"]

Values: TypeAlias = dict[str, Any]
#: The columns that tell rows of a table apart.
KEYS: dict[str, tuple[str, ...]] = {
    "meta": ("key",),
    "origin": ("id",),
    "strand": ("id",),
    "chunk": ("id",),
    "chunk_sum": ("chunk",),
    "state": ("strand", "number"),
    "succession": ("family", "child", "parent"),
    "forgotten": ("family", "conversation"),
    "trouble": ("origin", "key", "place"),
    "change": ("number", "conversation"),
    "link": ("child", "parent", "kind"),
    "stream": ("id",),
    "removed": ("stream", "strand"),
    "fact": ("family", "conversation", "message", "kind", "name"),
    "curation": ("conversation",),
    "dirty": ("family", "conversation"),
    "naming": ("family", "grouping", "token"),
    "conversation": ("number",),
    "answers": ("conversation",),
    "tie": ("rowid",),
}
#: Besides its key, what no two rows have in common.
UNIQUE = {
    "origin": ("stream", "source", "place", "remote"),
    "strand": ("origin", "key"),
    "chunk": ("strand", "lane", "first"),
    "conversation": ("id",),
    "stream": ("archive", "epoch"),
}
#: Indexes that repeat what rows of a table say, and what: the last is the number of the row.
ECHOES: dict[str, tuple[str, tuple[str, ...]]] = {
    # Before format 5.
    "sqlite_autoindex_origin_1": ("origin", ("source", "place")),
    "origin_of_place": ("origin", ("stream", "source", "place", "remote")),
    "sqlite_autoindex_strand_1": ("strand", ("origin", "key")),
    "strand_of_conversation": ("strand", ("family", "conversation")),
    "strand_of_project": ("strand", ("project",)),
    "strand_of_remote": ("strand", ("remote",)),
}
_NUMBERS = ("origin", "stream", "remote")
#: Tables whose rows stray pages may hold; others are made again from these.
STRAY = (
    *("origin", "strand", "chunk", "chunk_sum", "state", "succession", "forgotten", "trouble"),
    *("meta", "conversation", "change", "link", "stream", "removed", "fact", "curation"),
)
#: Tables of later formats, and what tells that a file has them: any of these.
LATER: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("stream", "removed"), ("stream", "origin_of_place")),
    **dict.fromkeys(("fact", "curation"), ("fact", "curation", "fact_by_number")),
}
#: Columns that earlier formats had.
OLD = {"checksum"}
#: What a source or a family is called, and how the path of a file begins.
_SOURCE = re.compile(rb"[a-z][a-z0-9-]*")
_ABSOLUTE = re.compile(rb"[/\\]|[A-Za-z]:[/\\]")
_TYPES = {"INTEGER": int, "TEXT": str, "BLOB": bytes, "ANY": object}


class RecoveredRow(NamedTuple):
    values: Values
    #: 2: its checksum fits, 1: it has none, 0: it is not what was written.
    trust: int
    #: Whether it was found by way of its table.
    reached: bool
    page: int


class Loss(NamedTuple):
    """Something of a table that cannot be read."""

    table: str
    page: int
    why: str


class _Layout(NamedTuple):
    """What a row of a table looks like in the file."""

    columns: tuple[tuple[str, str, bool], ...]
    #: The column that is the number of the row itself, if one is.
    alias: str | None
    without_rowid: bool

    @property
    def names(self) -> set[str]:
        return {name for name, *_ in self.columns}


class Recovered:
    """What a file holds; `close` it after use."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.pages = Pages(path)
        self.rows: dict[str, list[RecoveredRow]] = {table: [] for table in KEYS}
        #: What indexes say of rows, by table and number of the row.
        self.echoes: dict[str, dict[int, Values]] = {"origin": {}, "strand": {}}
        self.losses: list[Loss] = []
        self._scratch = apsw.Connection(":memory:")
        prepare(self._scratch)
        self._layouts = dict(_layouts("".join(steps())))
        self._seen: set[int] = set()

    def close(self) -> None:
        self.pages.close()
        self._scratch.close()

    def data(self, row: RecoveredRow) -> bytes:
        """The packed records of a chunk. Raises Unreadable."""
        for cell in self.pages.cells(row.page):
            if cell.rowid == row.values["id"]:
                values = decode_record(cell.payload)
                place = [name for name, *_ in self._layouts["chunk"].columns].index("data")
                data = values[place] if place < len(values) else None
                if isinstance(data, bytes) and not isinstance(data, TextBytes):
                    return data
        raise Unreadable("it is not there any more")

    # ── reading ──

    def read(self) -> None:
        roots = self._roots()
        for name, root in roots.items():
            self._read_tree(name, root)
        self._noting("free pages", lambda: self._seen.update(self.pages.free()))
        lost = [t for t in KEYS if t not in roots and roots.keys() & LATER.get(t, roots.keys())]
        self.losses += [Loss(table, 1, "its beginning is lost") for table in lost if roots]
        if not roots:
            self.losses.append(Loss("sqlite_schema", 1, "the list of tables is lost"))
        self._read_strays()
        self._check_sums()
        for table, columns in ADDED.items():
            for row in self.rows[table]:
                row.values.update(columns | row.values)
        for table, rows in self.rows.items():
            self.rows[table] = _best(table, rows)

    def _roots(self) -> dict[str, int]:
        """Where each table and index begins, as the file says."""
        found: dict[str, int] = {}
        for values in self._noting("sqlite_schema", lambda: self._decoded(1)):
            kind, name, _, root, sql = [*values, None, None, None, None, None][:5]
            if not isinstance(name, TextBytes) or not isinstance(root, int) or root < 2:
                continue
            known = name.decode(errors="replace")
            found[known] = root
            if kind == b"table" and known in KEYS and isinstance(sql, TextBytes):
                told = dict(_layouts(sql.decode(errors="replace"), known))
                # A statement may be damaged and still be one: then it names what we never did.
                if told and not told[known].names - self._layouts[known].names - OLD:
                    self._layouts.update(told)
        return found

    def _decoded(self, root: int) -> list[list[Any]]:
        return [values for _, values in self._records(self.pages.tree(root, self._seen, True))]

    def _records(self, cells: Iterable[Cell]) -> Iterator[tuple[Cell, list[Any]]]:
        for cell in cells:
            try:
                yield cell, decode_record(cell.payload)
            except Unreadable as error:
                self.losses.append(Loss("", cell.page, f"a row cannot be read: {error}"))

    def _noting(self, table: str, work: Any) -> Any:
        """Do something, and note what was lost on the way as this table's loss."""
        before, bad = len(self.losses), len(self.pages.bad)
        done = work()
        self.losses[before:] = [loss._replace(table=table) for loss in self.losses[before:]]
        self.losses += [Loss(table, page.number, page.why) for page in self.pages.bad[bad:]]
        return done

    def _read_tree(self, name: str, root: int) -> None:
        layout = self._layouts.get(name)
        table = layout is not None and not layout.without_rowid

        def work() -> None:
            for cell, values in self._records(self.pages.tree(root, self._seen, table)):
                if name in ECHOES and self._hear(name, values):
                    continue
                row = self._row(name, cell, values, reached=True) if layout else None
                if row is not None:
                    self.rows[name].append(row)
                elif layout is not None or name in ECHOES:
                    self.losses.append(Loss(name, cell.page, "a row is not what it should be"))
                if row is None:
                    # Pages may have changed their places.
                    self._read_stray(cell, values, table, sure=True)

        self._noting(name, work)

    def _hear(self, index: str, values: Sequence[Any]) -> bool:
        """Note what an index says; False where these are not its values."""
        table, columns = ECHOES[index]
        kinds = [int if column in _NUMBERS else TextBytes for column in columns]
        if [type(value) for value in values] != [*kinds, int]:
            return None in values and len(values) == len(columns) + 1
        *said, number = values
        plain = {column: _plain(value) for column, value in zip(columns, said, strict=True)}
        self.echoes[table].setdefault(number, {}).update(plain)
        return True

    def _row(self, table: str, cell: Cell, values: list[Any], reached: bool) -> RecoveredRow | None:
        layout = self._layouts[table]
        if len(values) > len(layout.columns) or (cell.rowid is None) != layout.without_rowid:
            return None
        # Of an earlier format: what was added since is in none of its rows.
        short = {name for name, *_ in layout.columns[len(values) :]} & ADDED.get(table, {}).keys()
        values = values + [None] * (len(layout.columns) - len(values))
        found: Values = {}
        intact = True
        for (name, kind, required), value in zip(layout.columns, values, strict=True):
            if name in short:
                continue
            if name == layout.alias:
                value = cell.rowid
            text = _plain(value)
            intact = intact and not (isinstance(value, TextBytes) and text.encode() != value)
            if text is None and required:
                return None
            if text is not None and not isinstance(text, _TYPES[kind]):
                return None
            found[name] = text
        if table == "tie":
            found["rowid"] = cell.rowid
        if table == "chunk":
            found.pop("data")
        return RecoveredRow(found, 1 if intact else 0, reached, cell.page)

    # ── rows that no table leads to ──

    def _read_strays(self) -> None:
        """Pages that nothing leads to: below a page that is lost, or all, if the first one is."""
        for number in range(2, self.pages.count + 1):
            kind = self.pages.kind(number) if number not in self._seen else 0
            if kind in (0, INNER_TABLE):
                continue
            for cell, values in self._records(self.pages.cells(number)):
                self._read_stray(cell, values, kind == LEAF_TABLE)

    def _read_stray(
        self, cell: Cell, values: list[Any], has_rowid: bool, sure: bool = False
    ) -> None:
        fitting = []
        for table in STRAY:
            if self._layouts[table].without_rowid == has_rowid or not self._is_long(table, values):
                continue
            row = self._row(table, cell, list(values), reached=False)
            if row is not None:
                fitting.append((table, self._judged(table, row)))
        # Several tables have rows of one shape: the checksum names the table, too.
        fitting.sort(key=lambda each: -each[1].trust)
        if fitting and (fitting[0][1].trust == 2 or not sure):
            table, row = fitting[0]
            self.rows[table].append(row)
        if not has_rowid and not sure:
            self._hear_stray(values)

    def _is_long(self, table: str, values: list[Any]) -> bool:
        """Whether these are as many values as rows of this table have; or as they had before they
        got more columns, or a checksum."""
        columns = self._layouts[table].names
        added = len(ADDED.get(table, {}).keys() & columns)
        had_sum = (added, added + 1) if table in SUMMED and table != "chunk" else ()
        return len(columns) - len(values) in (0, *had_sum)

    def _hear_stray(self, values: list[Any]) -> None:
        kinds = [type(value) for value in values]
        if kinds == [int, TextBytes, int]:
            self._hear("sqlite_autoindex_strand_1", values)
        elif kinds == [int, TextBytes, TextBytes, int, int]:
            self._hear("origin_of_place", values)
        elif kinds == [TextBytes, TextBytes, int] and _SOURCE.fullmatch(values[0]):
            # Other indexes begin with a time, or with what several conversations have in common.
            if _ABSOLUTE.match(values[1]):
                self._hear("sqlite_autoindex_origin_1", values)
            elif b"/" not in values[1]:
                self._hear("strand_of_conversation", values)

    # ── trust ──

    def _check_sums(self) -> None:
        sums = {row.values["chunk"]: row.values["sum"] for row in self.rows["chunk_sum"]}
        for row in self.rows["chunk"]:
            row.values["sum"] = sums.get(row.values["id"])
        for table in SUMMED:
            self.rows[table] = [self._judged(table, row) for row in self.rows[table]]

    def _judged(self, table: str, row: RecoveredRow) -> RecoveredRow:
        noted = row.values.get("sum")
        if table not in SUMMED or noted is None or not row.trust:
            return row
        return row._replace(trust=2 if noted == sum_of(table, row.values, self._scratch) else 0)


def recover(path: Path) -> Recovered:
    recovered = Recovered(path)
    recovered.read()
    return recovered


def _layouts(schema: str, only: str = "") -> Iterator[tuple[str, _Layout]]:
    """What rows look like in tables that were made by these statements."""
    scratch = apsw.Connection(":memory:")
    prepare(scratch)
    try:
        scratch.execute(schema)
        names = [only] if only else KEYS
        for name in names:
            columns = tuple(
                (column, kind, bool(required or key))
                for _, column, kind, required, _, key in scratch.execute(
                    f"PRAGMA table_info({name})"
                )
            )
            listed = scratch.execute(
                "SELECT wr FROM pragma_table_list WHERE name = ? AND schema = 'main'", (name,)
            ).get
            alias = None if listed else _alias(scratch, name)
            if all(kind in _TYPES for _, kind, _ in columns):
                yield name, _Layout(columns, alias, bool(listed))
    except apsw.Error:
        # The statement is damaged: rows are taken for what today's tables have.
        return
    finally:
        scratch.close()


def _alias(sql: apsw.Connection, table: str) -> str | None:
    rows: list[Any] = sql.execute(f"PRAGMA table_info({table})").fetchall()
    keys = [row for row in rows if row[5]]
    return keys[0][1] if len(keys) == 1 and keys[0][2] == "INTEGER" else None


def _plain(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, TextBytes) else value


def _best(table: str, rows: list[RecoveredRow]) -> list[RecoveredRow]:
    """Each row once: the one that its table leads to, that its checksum fits, that is newest."""
    rows = _first_of_each(rows, KEYS[table])
    if table in UNIQUE:
        rows = _first_of_each(rows, UNIQUE[table])
    return sorted(rows, key=lambda row: str(row.values[KEYS[table][0]]).zfill(20))


def _first_of_each(rows: list[RecoveredRow], columns: tuple[str, ...]) -> list[RecoveredRow]:
    found: dict[tuple[Any, ...], RecoveredRow] = {}
    for row in sorted(rows, key=_rank, reverse=True):
        found.setdefault(tuple(row.values[column] for column in columns), row)
    return list(found.values())


def _rank(row: RecoveredRow) -> tuple[bool, int, int, str]:
    values = row.values
    return row.trust > 0, row.reached, int(values.get("count") or 0), values.get("last_seen") or ""
