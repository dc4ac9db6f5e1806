"""Stores to be checked: ours, and two made after the designs of well-known samples.

Those have their designs' faults on purpose: they show that the kit finds each of them.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from chatkit.store import NotFoundError, Store
from chatkit.types import Attachment, Page, ThreadItem, ThreadMetadata
from pydantic import TypeAdapter

from rireki.chatkit import RirekiStore

Context = dict[str, str]
T = TypeVar("T")
ITEMS: TypeAdapter[ThreadItem] = TypeAdapter(ThreadItem)
ATTACHMENTS: TypeAdapter[Attachment] = TypeAdapter(Attachment)


def user_of(context: Context) -> str:
    return context["user_id"]


def ours(folder: Path) -> RirekiStore[Context]:
    return RirekiStore(user_key=user_of, archive=folder / "archive.sqlite3", sync="os")


def in_postgres(folder: Path) -> RirekiStore[Context]:
    """In the database that `RIREKI_TEST_STORE` names, under a name of the folder's own."""
    return RirekiStore(
        user_key=user_of,
        archive=folder / "archive.sqlite3",
        name=sha256(str(folder).encode()).hexdigest()[:16],
        dsn=os.environ["RIREKI_TEST_STORE"],
    )


def sample(folder: Path) -> SampleStore:
    return SampleStore(folder / "sample.db")


def in_memory(folder: Path) -> MemoryStore:
    return MemoryStore()


class SampleStore(Store[Context]):
    """Sorted by the clock, without indexes, a connection per call, on the loop's own thread."""

    #: Not the design's, but ours: what is checked does not depend on how fast the disk is.
    fast = True

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self._run(
            "CREATE TABLE IF NOT EXISTS threads (id TEXT PRIMARY KEY, user_id TEXT, created_at TEXT,"
            " data TEXT)"
        )
        self._run(
            "CREATE TABLE IF NOT EXISTS items (id TEXT PRIMARY KEY, thread_id TEXT, user_id TEXT,"
            " created_at TEXT, data TEXT)"
        )
        self._run(
            "CREATE TABLE IF NOT EXISTS attachments (id TEXT PRIMARY KEY, user_id TEXT, data TEXT)"
        )

    def _run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        database = sqlite3.connect(self.path)
        try:
            if self.fast:
                database.execute("PRAGMA synchronous = OFF")
            with database:
                return database.execute(statement, values).fetchall()
        finally:
            # The design leaves this to the garbage collector; tests may not.
            database.close()

    def _one(self, statement: str, *values: Any) -> Any:
        rows = self._run(statement, *values)
        if not rows:
            raise NotFoundError(str(values))
        return json.loads(rows[0][0])

    async def load_thread(self, thread_id: str, context: Context) -> ThreadMetadata:
        query = "SELECT data FROM threads WHERE id = ? AND user_id = ?"
        found = self._one(query, thread_id, user_of(context))
        return ThreadMetadata.model_validate(found["thread"])

    async def save_thread(self, thread: ThreadMetadata, context: Context) -> None:
        user, at = user_of(context), thread.created_at.isoformat()
        data = json.dumps({"thread": thread.model_dump(mode="json", exclude={"items"})})
        known = self._run("SELECT 1 FROM threads WHERE id = ? AND user_id = ?", thread.id, user)
        if known:
            self._run(
                "UPDATE threads SET data = ? WHERE id = ? AND user_id = ?", data, thread.id, user
            )
        else:
            self._run("INSERT INTO threads VALUES (?, ?, ?, ?)", thread.id, user, at, data)

    async def load_threads(
        self, limit: int, after: str | None, order: str, context: Context
    ) -> Page[ThreadMetadata]:
        rows, more = self._page("threads", "user_id = ?", [user_of(context)], after, limit, order)
        data = [ThreadMetadata.model_validate(row["thread"]) for row in rows]
        return Page(data=data, has_more=more, after=data[-1].id if data else None)

    async def load_thread_items(
        self, thread_id: str, after: str | None, limit: int, order: str, context: Context
    ) -> Page[ThreadItem]:
        whose = [user_of(context), thread_id]
        which = "user_id = ? AND thread_id = ?"
        rows, more = self._page("items", which, whose, after, limit, order)
        data = [_item(row["item"]) for row in rows]
        return Page(data=data, has_more=more, after=data[-1].id if data else None)

    def _page(
        self, table: str, which: str, whose: list[str], after: str | None, limit: int, order: str
    ) -> tuple[list[Any], bool]:
        values: list[Any] = list(whose)
        if after:
            query = f"SELECT created_at FROM {table} WHERE id = ? AND user_id = ?"
            cursor = self._run(query, after, whose[0])
            if not cursor:
                raise NotFoundError(after)
            which += f" AND created_at {'<' if order == 'desc' else '>'} ?"
            values.append(cursor[0][0])
        query = f"SELECT data FROM {table} WHERE {which} ORDER BY created_at {order} LIMIT ?"
        rows = self._run(query, *values, limit + 1)
        return [json.loads(row[0]) for row in rows[:limit]], len(rows) > limit

    async def add_thread_item(self, thread_id: str, item: ThreadItem, context: Context) -> None:
        at, data = item.created_at.isoformat(), json.dumps({"item": item.model_dump(mode="json")})
        statement = "INSERT INTO items VALUES (?, ?, ?, ?, ?)"
        self._run(statement, item.id, thread_id, user_of(context), at, data)

    async def save_item(self, thread_id: str, item: ThreadItem, context: Context) -> None:
        data = json.dumps({"item": item.model_dump(mode="json")})
        statement = "UPDATE items SET data = ? WHERE id = ? AND thread_id = ? AND user_id = ?"
        self._run(statement, data, item.id, thread_id, user_of(context))

    async def load_item(self, thread_id: str, item_id: str, context: Context) -> ThreadItem:
        query = "SELECT data FROM items WHERE id = ? AND thread_id = ? AND user_id = ?"
        return _item(self._one(query, item_id, thread_id, user_of(context))["item"])

    async def delete_thread(self, thread_id: str, context: Context) -> None:
        user = user_of(context)
        self._run("DELETE FROM items WHERE thread_id = ? AND user_id = ?", thread_id, user)
        self._run("DELETE FROM threads WHERE id = ? AND user_id = ?", thread_id, user)

    async def delete_thread_item(self, thread_id: str, item_id: str, context: Context) -> None:
        statement = "DELETE FROM items WHERE id = ? AND thread_id = ? AND user_id = ?"
        self._run(statement, item_id, thread_id, user_of(context))

    async def save_attachment(self, attachment: Attachment, context: Context) -> None:
        data = json.dumps({"attachment": attachment.model_dump(mode="json")})
        statement = "INSERT OR REPLACE INTO attachments VALUES (?, ?, ?)"
        self._run(statement, attachment.id, user_of(context), data)

    async def load_attachment(self, attachment_id: str, context: Context) -> Attachment:
        query = "SELECT data FROM attachments WHERE id = ? AND user_id = ?"
        found = self._one(query, attachment_id, user_of(context))["attachment"]
        return ATTACHMENTS.validate_python(found)

    async def delete_attachment(self, attachment_id: str, context: Context) -> None:
        statement = "DELETE FROM attachments WHERE id = ? AND user_id = ?"
        self._run(statement, attachment_id, user_of(context))


def _item(value: Any) -> ThreadItem:
    return ITEMS.validate_python(value)


class MemoryStore(Store[Context]):
    """Lists in memory, sorted by the clock whenever a page is asked for; whoever asks gets it."""

    def __init__(self) -> None:
        self.threads: dict[str, ThreadMetadata] = {}
        self.items: dict[str, list[ThreadItem]] = {}
        self.attachments: dict[str, Attachment] = {}

    async def load_thread(self, thread_id: str, context: Context) -> ThreadMetadata:
        return _found(self.threads, thread_id)

    async def save_thread(self, thread: ThreadMetadata, context: Context) -> None:
        value = thread.model_dump(exclude={"items"})
        self.threads[thread.id] = ThreadMetadata.model_validate(value)

    async def load_threads(
        self, limit: int, after: str | None, order: str, context: Context
    ) -> Page[ThreadMetadata]:
        return _sorted(self.threads.values(), limit, after, order)

    async def load_thread_items(
        self, thread_id: str, after: str | None, limit: int, order: str, context: Context
    ) -> Page[ThreadItem]:
        return _sorted(self.items.get(thread_id, []), limit, after, order)

    async def add_thread_item(self, thread_id: str, item: ThreadItem, context: Context) -> None:
        self.items.setdefault(thread_id, []).append(item)

    async def save_item(self, thread_id: str, item: ThreadItem, context: Context) -> None:
        items = self.items.setdefault(thread_id, [])
        for place, known in enumerate(items):
            if known.id == item.id:
                items[place] = item
                return
        items.append(item)

    async def load_item(self, thread_id: str, item_id: str, context: Context) -> ThreadItem:
        return _found({item.id: item for item in self.items.get(thread_id, [])}, item_id)

    async def delete_thread(self, thread_id: str, context: Context) -> None:
        self.threads.pop(thread_id, None)
        self.items.pop(thread_id, None)

    async def delete_thread_item(self, thread_id: str, item_id: str, context: Context) -> None:
        left = [item for item in self.items.get(thread_id, []) if item.id != item_id]
        self.items[thread_id] = left

    async def save_attachment(self, attachment: Attachment, context: Context) -> None:
        self.attachments[attachment.id] = attachment

    async def load_attachment(self, attachment_id: str, context: Context) -> Attachment:
        return _found(self.attachments, attachment_id)

    async def delete_attachment(self, attachment_id: str, context: Context) -> None:
        self.attachments.pop(attachment_id, None)


def _found(things: dict[str, T], id: str) -> T:
    if id not in things:
        raise NotFoundError(id)
    return things[id]


def _sorted(things: Iterable[Any], limit: int, after: str | None, order: str) -> Page[Any]:
    """Python's sort leaves things of the same moment as they are, either way round."""
    found = sorted(things, key=lambda thing: thing.created_at, reverse=order == "desc")
    ids = [thing.id for thing in found]
    start = ids.index(after) + 1 if after in ids else 0
    shown = found[start : start + limit]
    more = start + limit < len(found)
    return Page(data=shown, has_more=more, after=shown[-1].id if more else None)
