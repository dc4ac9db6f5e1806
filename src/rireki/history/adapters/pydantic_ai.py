"""Histories as a store of pydantic-ai's conversations (`ConversationStore`), kept for good.

    store = HistoryConversationStore()
    conversation = await store.load("support-42") or Conversation(conversation_id="support-42")
    await store.save(await agent.run(prompt, conversation=conversation))

Each conversation is a history on disk: its messages are told as everybody's are, and pydantic-ai's
own form of them is kept beside. A deleted conversation no longer loads, and stays in the archive.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import TypeAdapter
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
)
from pydantic_ai.messages import ModelMessagesTypeAdapter

from rireki.errors import NotFound, RirekiError
from rireki.history.adapters.pydantic_json import told
from rireki.history.history import HistoryNote, MessageHistory
from rireki.history.journal import HistoryConflict
from rireki.home import Home, archive_path

__all__ = ["HistoryConversationStore"]

#: What is noted in a history for pydantic-ai: an entry of theirs, behind what it says; a record.
_ENTRY, _RECORD = "pydantic-ai entry", "pydantic-ai record"
_RECORDS: TypeAdapter[ConversationRecord] = TypeAdapter(ConversationRecord)


class HistoryConversationStore(ConversationStore):
    def __init__(self, archive: str | Path | None = None) -> None:
        self._journals = _Journals(archive_path(archive))

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        return await asyncio.to_thread(self._journals.record, _name(conversation_id))

    async def read_records(
        self, *, scope: str | None = None, limit: int | None = None
    ) -> Sequence[ConversationRecord]:
        def found() -> list[ConversationRecord]:
            named = self._journals.names(_RECORD)
            records = [r for name in named if (r := self._journals.record(name))]
            kept = [record for record in records if scope is None or record.scope == scope]
            return sorted(kept, key=lambda record: record.updated_at, reverse=True)[:limit]

        return await asyncio.to_thread(found)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        return (await self.read_history(entry_id, limit=1))[0]

    async def read_history(
        self, head_id: str | None, *, limit: int | None = None
    ) -> list[ConversationEntry]:
        return await asyncio.to_thread(self._journals.history, head_id, limit)

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        write = self._journals.write
        await asyncio.to_thread(write, record, list(new_entries), expected_revision)

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """The conversation no longer loads or lists. Its entries stay: forks may need them."""
        await asyncio.to_thread(self._journals.delete, conversation_id, expected_revision)


class _Journals:
    """The journals that conversations lie in. Blocks: to be used in a thread."""

    def __init__(self, archive: Path) -> None:
        self._archive = archive
        self._lock = Lock()
        #: In which journal an entry was found.
        self._known: dict[str, str] = {}

    def notes(self, name: str, of: str) -> list[HistoryNote]:
        """What a journal has noted; nothing if there is no such journal."""
        try:
            history = MessageHistory.open(name, archive=self._archive, read_only=True)
        except NotFound:
            return []
        with history:
            return history.notes(of, ever=True)

    def record(self, name: str) -> ConversationRecord | None:
        return _latest(self.notes(name, _RECORD))

    def names(self, wanted: str) -> Iterator[str]:
        """The journals in which a word occurs."""
        folder = Home(self._archive).histories
        for path in sorted(folder.glob("*.jsonl")):
            if wanted.encode() in path.read_bytes():
                yield path.stem

    def history(self, head_id: str | None, limit: int | None) -> list[ConversationEntry]:
        found: list[ConversationEntry] = []
        held: dict[str, Any] = {}
        wanted = head_id
        while wanted is not None and (limit is None or len(found) < limit):
            held = held if wanted in held else self._holding(wanted)
            kept = held[wanted]
            (message,) = ModelMessagesTypeAdapter.validate_python([kept["message"]])
            found.append(ConversationEntry(id=wanted, parent_id=kept["parent_id"], message=message))
            wanted = kept["parent_id"]
        return found[::-1]

    def _holding(self, entry_id: str) -> dict[str, Any]:
        """The messages of the journal that holds this one, by id."""
        known = self._known.get(entry_id)
        for name in [known] if known else self.names(entry_id):
            held = {noted.value["id"]: noted.value for noted in self.notes(name, _ENTRY)}
            if entry_id in held:
                self._known |= dict.fromkeys(held, name)
                return held
        raise LookupError(f"no entry {entry_id!r} is in {self._archive.parent}")

    def write(
        self, record: ConversationRecord, new: list[ConversationEntry], expected: str | None
    ) -> None:
        before = new[0].parent_id if new else record.head_id
        with self._writing(record.conversation_id, expected) as history:
            places = {noted.value["id"]: noted.at for noted in history.notes(_ENTRY, ever=True)}
            if before is not None and before not in places:
                # A fork: its history begins with entries of another conversation.
                try:
                    new = [*self.history(before, None), *new]
                except LookupError as error:
                    raise ConversationConflict(record.conversation_id) from error
                before = None
            at = places[before] if before is not None else ""
            with history.transaction():
                if at != _end(history):
                    history.branch(at)
                for entry in new:
                    _add(history, entry)
                history.add_note(_RECORD, _RECORDS.dump_python(record, mode="json"))

    def delete(self, conversation_id: str, expected: str) -> None:
        with self._writing(conversation_id, expected) as history:
            history.add_note(_RECORD, None)

    @contextmanager
    def _writing(self, conversation_id: str, expected: str | None) -> Iterator[MessageHistory]:
        """A history that is this store's alone, and still as it was when it was read."""
        with self._lock:
            try:
                history = MessageHistory.open(_name(conversation_id), archive=self._archive)
            except HistoryConflict as error:
                raise ConversationConflict(conversation_id) from error
            # Other handles of this process wait for the end of the transaction.
            with history, history.transaction():
                record = _latest(history.notes(_RECORD, ever=True))
                if (record.revision if record else None) != expected:
                    raise ConversationConflict(conversation_id)
                yield history


def _name(conversation_id: str) -> str:
    """The journal's name: the conversation's own, if a file can be called so."""
    try:
        name = Home(Path("x")).history(conversation_id).stem
    except RirekiError:
        name = ""
    if name == conversation_id:
        return name
    # Also of "rireki/x", which is another way to say "x" elsewhere, and another conversation here.
    return f"pydantic-ai-{sha256(conversation_id.encode()).hexdigest()[:32]}"


def _latest(records: list[HistoryNote]) -> ConversationRecord | None:
    """The latest record; None if there is none, or it was deleted."""
    kept = records[-1].value if records else None
    return None if kept is None else _RECORDS.validate_python(kept)


def _end(history: MessageHistory) -> str:
    """Behind the last entry of theirs that the history shows; its beginning if there is none."""
    shown = history.notes(_ENTRY)
    return shown[-1].at if shown else ""


def _add(history: MessageHistory, entry: ConversationEntry) -> None:
    """A message of theirs as everybody's are told, and behind it as it was."""
    (message,) = ModelMessagesTypeAdapter.dump_python([entry.message], mode="json")
    history.add_raw_message(told(message), provider="anthropic")
    history.add_note(_ENTRY, {"id": entry.id, "parent_id": entry.parent_id, "message": message})
