"""`RirekiStore`: threads, items and attachments of a ChatKit app, kept in one SQLite file or in PostgreSQL.

Every method belongs to the user that its context stands for. The work is done in threads; what
a method has acknowledged is on disk. What is deleted is gone for the app at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar
from uuid import uuid4

from chatkit.store import Store, StoreItemType
from chatkit.types import Attachment, Page, ThreadItem, ThreadMetadata

from rireki.chatkit import files, rows
from rireki.chatkit.adopt import Adopted, Adoption
from rireki.chatkit.database import Sync
from rireki.chatkit.importing import forget_thread, forgotten_threads, take_in_store
from rireki.chatkit.sql import StoreWork
from rireki.chatkit.values import (
    Unknown,
    attachment_of,
    given,
    item_of,
    moment_of,
    stand_in,
    thread_data,
    thread_of,
)
from rireki.chatkit.work import StoreConnections
from rireki.errors import RirekiError
from rireki.home import Home, archive_path
from rireki.late import LateModule
from rireki.sources.chatkit.names import conversation_of

__all__ = ["PLACEHOLDERS", "RirekiStore"]

TContext = TypeVar("TContext")

if TYPE_CHECKING:
    from rireki.chatkit.postgres import work as postgres
else:
    # An extra of its own: psycopg.
    postgres = LateModule("rireki.chatkit.postgres.work")

#: What agents that know no ids call every reply of theirs.
PLACEHOLDERS = ("__fake_id__",)
#: How long what was deleted can still be taken into the archive.
KEEP_DELETED = timedelta(days=30)
_PREFIXES: dict[StoreItemType, str] = {
    "thread": "thr",
    "message": "msg",
    "tool_call": "tc",
    "workflow": "wf",
    "task": "tsk",
    "attachment": "atc",
    "sdk_hidden_context": "shcx",
}


class RirekiStore(Store[TContext], Generic[TContext]):
    """See docs/chatkit.md. `user_key` names the user that a context stands for.

    `dsn` is the address of a PostgreSQL database to keep it in, where several processes may work on
    it; the uploaded bytes lie where they would without: in a folder that all of them see.
    """

    def __init__(
        self,
        *,
        user_key: Callable[[TContext], str],
        name: str = "chatkit",
        archive: str | Path | None = None,
        path: str | Path | None = None,
        dsn: str | None = None,
        sync: Sync = "full",
        erase: bool = False,
        keep_deleted: timedelta = KEEP_DELETED,
        unknown: Unknown = "skip",
        placeholders: Sequence[str] = PLACEHOLDERS,
    ) -> None:
        if not callable(user_key):
            raise TypeError("user_key must be a function that names the user of a context")
        self._user_key = user_key
        self.archive = archive_path(archive)
        self.path = Path(path).absolute() if path is not None else Home(self.archive).store(name)
        self.erase = erase
        self.unknown = unknown
        self.placeholders = tuple(placeholders)
        self.blobs = files.Blobs(self.path)
        #: What it is called in messages.
        self.place: object = self.path
        self._is_file = dsn is None
        self.work: StoreWork
        if dsn is None:
            self.work = StoreConnections(self.path, sync)
        else:
            pool = postgres.store_in(dsn, name)
            self.work, self.place = postgres.PostgresWork(pool), pool.name
        self._keep_deleted = timedelta(0) if erase else keep_deleted

    def user(self, context: TContext) -> str:
        """The user that a context stands for; one that stands for nobody is refused."""
        user = self._user_key(context)
        if not isinstance(user, str) or not user:
            raise RirekiError("bad-user", path=self.place, user=user)
        return user

    # ── ids ──

    def generate_thread_id(self, context: TContext) -> str:
        return _new_id("thread")

    def generate_item_id(
        self, item_type: StoreItemType, thread: ThreadMetadata, context: TContext
    ) -> str:
        return _new_id(item_type)

    # ── threads ──

    async def load_thread(self, thread_id: str, context: TContext) -> ThreadMetadata:
        user = self.user(context)
        return await self.work.read(lambda sql: thread_of(rows.find_thread(sql, user, thread_id)))

    async def save_thread(self, thread: ThreadMetadata, context: TContext) -> None:
        user, id, data, created = (
            self.user(context),
            thread.id,
            thread_data(thread),
            thread.created_at,
        )
        await self.work.change(lambda sql: rows.put_thread(sql, user, id, data, created), user)

    async def load_threads(
        self, limit: int, after: str | None, order: str, context: TContext
    ) -> Page[ThreadMetadata]:
        user = self.user(context)
        _check_page(limit, order)

        def load(sql: Any) -> Page[ThreadMetadata]:
            found = rows.list_threads(sql, user, after, limit, order)
            data = [thread_of(text) for text in found.data]
            return Page(data=data, has_more=found.has_more, after=_cursor(found))

        return await self.work.read(load)

    async def delete_thread(self, thread_id: str, context: TContext) -> None:
        """With its items and attachments."""
        user, erase = self.user(context), self.erase
        before = self._kept_since(self._keep_deleted)

        def delete(sql: Any) -> list[str]:
            # Apps that never close get rid of what is too old here.
            return rows.delete_thread(sql, user, thread_id, erase) + rows.purge(sql, before)

        await self._clean(await self.work.change(delete, user))
        if erase:
            await self.work.aside(lambda: forget_thread(self.archive, thread_id, user))

    # ── items ──

    async def load_thread_items(
        self, thread_id: str, after: str | None, limit: int, order: str, context: TContext
    ) -> Page[ThreadItem]:
        user = self.user(context)
        _check_page(limit, order)

        def load(sql: Any) -> Page[ThreadItem]:
            found = rows.list_items(sql, user, thread_id, after, limit, order)
            data = [item for text in found.data if (item := self._read(text)) is not None]
            return Page(data=data, has_more=found.has_more, after=_cursor(found))

        return await self.work.read(load)

    async def add_thread_item(self, thread_id: str, item: ThreadItem, context: TContext) -> None:
        """At the end; an item that is there already is updated where it stands."""
        await self._put(thread_id, [item], context, is_new=True)

    async def add_thread_items(
        self, thread_id: str, items: Sequence[ThreadItem], context: TContext
    ) -> None:
        """Several at once: others see all of them, or none."""
        await self._put(thread_id, items, context, is_new=True)

    async def save_item(self, thread_id: str, item: ThreadItem, context: TContext) -> None:
        """Where it stands; one that is new comes at the end."""
        await self._put(thread_id, [item], context, is_new=False)

    async def load_item(self, thread_id: str, item_id: str, context: TContext) -> ThreadItem:
        user = self.user(context)

        def load(sql: Any) -> ThreadItem:
            text = rows.find_item(sql, user, thread_id, item_id)
            item = item_of(text)
            # Who asks for this very item gets an answer, also where pages pass over it.
            return stand_in(text) if item is None else item

        return await self.work.read(load)

    async def delete_thread_item(self, thread_id: str, item_id: str, context: TContext) -> None:
        user, erase = self.user(context), self.erase
        await self.work.change(
            lambda sql: rows.delete_item(sql, user, thread_id, item_id, erase), user
        )
        await self._clean([])

    # ── attachments ──

    async def save_attachment(self, attachment: Attachment, context: TContext) -> None:
        user, id, data = self.user(context), attachment.id, attachment.model_dump_json()
        thread: str | None = getattr(attachment, "thread_id", None)
        await self.work.change(lambda sql: files.put_attachment(sql, user, id, data, thread), user)

    async def load_attachment(self, attachment_id: str, context: TContext) -> Attachment:
        user = self.user(context)
        return await self.work.read(
            lambda sql: attachment_of(files.find_attachment(sql, user, attachment_id))
        )

    async def delete_attachment(self, attachment_id: str, context: TContext) -> None:
        """Its bytes go with it."""
        user, erase = self.user(context), self.erase
        gone = await self.work.change(
            lambda sql: files.delete_attachment(sql, user, attachment_id, erase), user
        )
        await self._clean(gone)

    # ── the store itself ──

    async def purge(self, older_than: timedelta | None = None) -> None:
        """Erase what was deleted so long ago, and what was deleted here and forgotten in the archive.

        The archive keeps what it has taken in.
        """
        age = self._keep_deleted if older_than is None else older_than
        before = self._kept_since(age)
        forgotten = await self.work.aside(lambda: forgotten_threads(self.archive))

        def purge(sql: Any) -> list[str]:
            gone = rows.purge(sql, before)
            for user, id in rows.list_deleted(sql) if forgotten else ():
                if conversation_of(id, user) in forgotten:
                    gone += rows.purge_thread(sql, user, id)
            return gone

        gone = await self.work.change(purge)
        gone += await self.work.aside(self.blobs.abandoned)
        await self._clean(gone, scrub=True)

    async def adopt(
        self,
        old: str | Path,
        *,
        files: str | Path | None = None,
        users: Callable[[str], str] | None = None,
    ) -> Adopted:
        """Take over the database of another store: threads, items and attachments, checked at the end.

        `files` is the folder where the old app kept uploaded bytes under the ids of their
        attachments; `users` says what `user_key` calls a user of the old store. The old database
        is only read. What is there already stays: repeat it if it was cut short.
        """
        folder = Path(files) if files is not None else None
        adoption = Adoption(Path(old).absolute(), self.blobs, self.placeholders, folder, users)
        steps = adoption.steps()
        while (step := await self.work.aside(lambda: next(steps, None))) is not None:
            await self.work.change(step)
        return await self.work.read(adoption.verify)

    async def close(self) -> None:
        """Let go of the file. Where no keeper runs, the archive is brought up to date."""
        if self.work.is_closed:
            return
        # What is to be erased must not be taken in; what is to be kept must be, before it goes here.
        if self.erase:
            await self.purge()
        if self._is_file:
            await self.work.aside(lambda: take_in_store(self.archive, self.path))
        if not self.erase:
            await self.purge()
        await asyncio.to_thread(self.work.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def _put(
        self, thread: str, items: Sequence[ThreadItem], context: TContext, is_new: bool
    ) -> None:
        user, new = self.user(context), [given(item) for item in items]

        def put(sql: Any) -> None:
            for item in new:
                rows.put_item(sql, user, thread, item, self.placeholders, is_new)

        await self.work.change(put, user)

    def _kept_since(self, age: timedelta) -> str:
        return moment_of(datetime.now(timezone.utc) - age)

    def _read(self, text: str) -> ThreadItem | None:
        item = item_of(text)
        return stand_in(text) if item is None and self.unknown == "hidden" else item

    async def _clean(self, digests: Sequence[str], scrub: bool = False) -> None:
        """What was erased goes from the log as well, and bytes that nothing refers to.

        Looked at once more, because the same bytes may have come again meanwhile.
        """

        def clean(sql: Any) -> None:
            self.blobs.erase(rows.unused(sql, digests))
            self.work.scrub = scrub or self.erase

        if digests or scrub or self.erase:
            await self.work.change(clean)


def _new_id(kind: StoreItemType) -> str:
    """With 122 random bits; ChatKit's own have 32, of which two soon are the same."""
    return f"{_PREFIXES.get(kind, 'msg')}_{uuid4().hex}"


def _check_page(limit: int, order: str) -> None:
    rows.check_order(order)
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit!r}")


def _cursor(found: rows.Slice) -> str | None:
    return found.last if found.has_more else None
