"""Taking over the database of another ChatKit store: its threads, items, attachments and files.

The old file is only read. Each thread is one transaction, and what is there already is left as it
is: an adoption that was killed is finished by repeating it. At the end every row of the old
database is looked up in the store and compared.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from rireki.chatkit.files import Blobs, Incoming
from rireki.chatkit.kinds import plain_name
from rireki.chatkit.rows import moment_now
from rireki.chatkit.sql import StoreSql
from rireki.chatkit.values import moment_of
from rireki.errors import RirekiError
from rireki.sources.chatkit.names import ATTACHMENTS, ITEMS, THREADS
from rireki.sources.chatkit.records import Dated, in_order, opened_data
from rireki.sources.chatkit.rows import INNER, chatkit_tables
from rireki.sources.kit.sqlite import Database, open_database
from rireki.sources.kit.tables import Table, TableRow, fetch, list_rows

__all__ = ["Adopted", "Adoption"]

#: One transaction of the new store.
Step = Callable[[StoreSql], None]
_PIECE = 1 << 20


@dataclass(slots=True)
class Adopted:
    """How many rows the old database has, and how many of them are new in the store."""

    threads: int = 0
    items: int = 0
    attachments: int = 0
    new: int = 0
    #: Attachments whose bytes are in the store, and those whose bytes were not found.
    files: int = 0
    without_bytes: list[str] = field(default_factory=list)
    #: Rows that hold no JSON object: they stay in the old database alone.
    unreadable: list[str] = field(default_factory=list)


class _Value(NamedTuple):
    """A row of the old database as the store keeps it."""

    table: str
    id: str
    user: str
    thread: str | None
    data: str
    created: datetime | None
    placeholder: str | None = None

    @property
    def name(self) -> tuple[str, str, str, str | None]:
        return self.table, self.user, self.id, self.thread if self.table == ITEMS else None


class Adoption:
    """One run. `files` is the folder in which the old app kept the bytes, named by attachment."""

    def __init__(
        self,
        old: Path,
        blobs: Blobs,
        placeholders: Sequence[str],
        files: Path | None = None,
        users: Callable[[str], str] | None = None,
    ) -> None:
        self.old = old
        self.found = Adopted()
        self._blobs = blobs
        self._placeholders = placeholders
        self._files = files
        self._user = users or _same
        #: The thread in which each attachment was sent, by id and user.
        self._sent: dict[tuple[str, str], str] = {}
        #: What this run brought: it must say the same. What was there before, the app may have changed.
        self._brought: set[tuple[str, str, str, str | None]] = set()

    def steps(self) -> Iterator[Step]:
        """What is to be done to the store, in transactions of one thread each."""
        with open_database(str(self.old)) as database:
            for values in self._threads(database):
                yield lambda sql, values=values: self._put(sql, values)  # type: ignore[misc]
            for value in self._attachments(database):
                yield self._with_bytes(value)

    def verify(self, sql: StoreSql) -> Adopted:
        """Every row of the old database is in the store and says the same; else an error."""
        missing: list[str] = []
        with open_database(str(self.old)) as database:
            for values in self._threads(database, count=False):
                missing += [_named(value) for value in values if not self._has(sql, value)]
            attached = self._attachments(database, count=False)
            missing += [_named(value) for value in attached if not self._has(sql, value)]
        if missing:
            shown = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" * (len(missing) > 3))
            raise RirekiError("adopted-in-part", path=self.old, what=shown)
        return self.found

    # ── the old database ──

    def _threads(self, database: Database, count: bool = True) -> Iterator[list[_Value]]:
        """The rows of each thread: its own, and its items in order."""
        tables = chatkit_tables(database)
        if not {THREADS, ITEMS} <= tables.keys():
            raise RirekiError("no-chatkit-store", path=self.old)
        places: dict[tuple[str, str], dict[str, list[int]]] = {}
        for table in (THREADS, ITEMS):
            column = "id" if table == THREADS else "thread_id"
            for row in list_rows(database, tables[table], (column, "user_id")):
                name, user = row.names
                rows = places.setdefault((name, user), {THREADS: [], ITEMS: []})
                rows[table].append(row.rowid)
        for rowids in places.values():
            yield [
                value
                for table, some in rowids.items()
                for value in self._values(database, tables[table], some, count)
            ]

    def _attachments(self, database: Database, count: bool = True) -> Iterator[_Value]:
        table = chatkit_tables(database).get(ATTACHMENTS)
        if table is not None:
            rowids = [row.rowid for row in list_rows(database, table, ())]
            yield from self._values(database, table, rowids, count)

    def _values(
        self, database: Database, table: Table, rowids: Sequence[int], count: bool
    ) -> Iterator[_Value]:
        rows = list(fetch(database, table, rowids))
        for dated in in_order(rows, [row.values.get("created_at") for row in rows]):
            value = self._value(table.name, dated)
            if not count:
                if value is not None:
                    yield value
            elif value is None:
                self.found.unreadable.append(f"{table.name} {dated.row.name('id')}")
            else:
                setattr(self.found, table.name, getattr(self.found, table.name) + 1)
                yield value

    def _value(self, table: str, dated: Dated) -> _Value | None:
        """A row as the store keeps it; None when it is no JSON object."""
        row = dated.row
        opened = _object(row, INNER[table])
        if opened is None:
            return None
        raw, data = opened
        user, id = self._user(row.name("user_id")), row.name("id")
        thread: str | None = row.name("thread_id")
        placeholder = None
        if table == ITEMS:
            for file in raw.get("attachments") or ():
                if isinstance(file, dict) and thread:
                    self._sent[str(file.get("id")), user] = thread
            if id in self._placeholders:
                # The same name each time, so that it is known again when this is repeated.
                placeholder = id
                id = f"msg_{sha256(f'{user}/{thread}/{data}'.encode()).hexdigest()[:32]}"
                data = json.dumps({**raw, "id": id}, ensure_ascii=False)
        elif table == ATTACHMENTS:
            thread = self._sent.get((id, user)) or raw.get("thread_id") or None
        return _Value(table, id, user, thread, data, dated.moment, placeholder)

    # ── the store ──

    def _put(self, sql: StoreSql, values: Sequence[_Value]) -> None:
        for value in values:
            if not _known(sql, value):
                _insert(sql, value)
                self._brought.add(value.name)
                self.found.new += 1

    def _has(self, sql: StoreSql, value: _Value) -> bool:
        rows = _known(sql, value)
        if value.name not in self._brought:
            return bool(rows)
        return any(json.loads(data) == json.loads(value.data) for data in rows)

    def _with_bytes(self, value: _Value) -> Step:
        """An attachment and, where they are found, its bytes."""
        incoming = self._bytes_of(value)
        if incoming is None:
            self.found.without_bytes.append(value.id)

        def put(sql: StoreSql) -> None:
            self._put(sql, [value])
            if incoming is None:
                return
            digest = incoming.seal()
            ((number,),) = sql.execute(
                "SELECT max(ordinal) FROM attachments WHERE user_id = ? AND id = ?",
                (value.user, value.id),
            ).fetchall()
            incoming.place()
            sql.execute(
                """INSERT INTO uploads (attachment, size, key, digest) VALUES (?, ?, ?, ?)
                   ON CONFLICT (attachment) DO UPDATE
                          SET digest = excluded.digest, size = excluded.size WHERE uploads.digest IS NULL""",
                (number, incoming.size, secrets.token_urlsafe(24), digest),
            )
            self.found.files += 1

        return put

    def _bytes_of(self, value: _Value) -> Incoming | None:
        if self._files is None or not plain_name(value.id):
            return None
        # As samples name them: the attachment's id, with or without an ending.
        named = [self._files / value.id, *sorted(self._files.glob(f"{_literal(value.id)}.*"))]
        file = next((one for one in named if one.is_file() and not one.is_symlink()), None)
        if file is None:
            return None
        incoming = self._blobs.receive()
        with file.open("rb") as source:
            while piece := source.read(_PIECE):
                incoming.write(piece)
        return incoming


def _same(user: str) -> str:
    return user


def _literal(name: str) -> str:
    """A name in which nothing means something to a pattern."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)


def _object(row: TableRow, inner: str) -> tuple[dict[str, Any], str] | None:
    """What a row says, as a value and as the text that is stored."""
    text = row.values["data"]
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    opened = opened_data(value, inner)
    if not isinstance(opened, dict):
        return None
    return opened, str(text) if opened is value else json.dumps(opened, ensure_ascii=False)


def _known(sql: StoreSql, value: _Value) -> list[str]:
    """What the store has under this name, deleted or not: what the app deleted does not come back."""
    thread = "AND thread_id = ?" if value.table == ITEMS else ""
    values = (value.user, value.id, *([value.thread] if thread else []))
    rows = sql.execute(
        f"SELECT data FROM {value.table} WHERE user_id = ? AND id = ? {thread}", values
    ).fetchall()
    return [str(data) for (data,) in rows]


def _insert(sql: StoreSql, value: _Value) -> None:
    created = moment_of(value.created) if value.created is not None else moment_now()
    fields: dict[str, Any] = {
        "id": value.id,
        "user_id": value.user,
        "created_at": min(created, moment_now()),
        "data": value.data,
    }
    if value.table != THREADS:
        fields["thread_id"] = value.thread
    if value.placeholder is not None:
        fields["given_id"] = value.placeholder
    marks = ", ".join("?" * len(fields))
    sql.execute(
        f"INSERT INTO {value.table} ({', '.join(fields)}) VALUES ({marks})", tuple(fields.values())
    )


def _named(value: _Value) -> str:
    return f"{value.table} {value.id}"
