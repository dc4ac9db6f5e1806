"""What the strands of one thread mean: the interpreter of ChatKit databases.

Pure: no disk, no clock, and nothing here raises for what an app wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import msgspec

from rireki.errors import Wording
from rireki.model.clusters import beginning
from rireki.model.conversation import Reading, Trouble
from rireki.model.message import Entry
from rireki.model.parts import Notice, Part, Text, Unknown
from rireki.model.strand import Strand
from rireki.model.times import from_iso, from_ms
from rireki.sources.chatkit.history import ItemVersion, ranked, rows_of
from rireki.sources.chatkit.items import drafts_of
from rireki.sources.chatkit.names import (
    DATABASE,
    ITEMS,
    NAME,
    THREAD,
    THREADS,
    digest_of,
    user_of,
)
from rireki.sources.chatkit.records import DecodedRecord, open_record
from rireki.sources.chatkit.steps import doubled_workflows
from rireki.sources.chatkit.uploads import StoredFile, ThreadPictures, files_in
from rireki.sources.kit.fields import get, string, words
from rireki.sources.kit.pending import ConversationBuilder, PendingMessage, make_unique, pending

__all__ = ["interpret"]

_TITLE = 150
_HINT = Wording("kept-row")


def interpret(source: str, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
    """A reading per thread: those that only share an id, in two databases, stay apart."""
    threads = sorted((one for one in strands if one.states and _is_thread(one)), key=_id)
    return [
        _read(name, copies, files_in(strands, user_of(copies[0].key)))
        for name, copies in _apart(conversation, threads)
    ]


def _is_thread(strand: Strand) -> bool:
    """Where a damaged archive has lost what a strand was, it is called what its file is."""
    lost = strand.role == DATABASE and any(run.lane == THREADS for run in strand.states[-1].runs)
    return lost or strand.role == THREAD


def _id(strand: Strand) -> int:
    return strand.id


def _apart(conversation: str, strands: Sequence[Strand]) -> Iterator[tuple[str, list[Strand]]]:
    """Copies of one thread have its user and the time of its making; the first keeps the plain name."""
    groups: list[tuple[str, str | None, list[Strand]]] = []
    for strand in strands:
        user, made = user_of(strand.key), _made(strand)
        for other, moment, copies in groups:
            if user == other and (made == moment or made is None or moment is None):
                copies.append(strand)
                break
        else:
            groups.append((user, made, [strand]))
    for number, (user, made, copies) in enumerate(groups):
        yield (f"{conversation}@{digest_of([user, made])}" if number else conversation), copies


def _made(strand: Strand) -> str | None:
    """When a thread was made, as it was first seen; None when its row was never there."""
    if not any(
        run.lane == THREADS and run.records for state in strand.states for run in state.runs
    ):
        return None
    (first,) = strand.fetch(THREADS, [0])
    return _at(open_record(first, THREAD))


@dataclass(slots=True)
class _Thread(ConversationBuilder):
    """A thread on its way into a reading."""

    head: ItemVersion | None = None
    pictures: ThreadPictures = field(default_factory=ThreadPictures)

    @property
    def values(self) -> dict[str, Any]:
        return self.head.row.value if self.head else {}

    @property
    def present(self) -> bool:
        deleted = self.head is not None and self.head.row.columns.get("deleted_at") is not None
        return not deleted and any(copy.present for copy in self.strands)


def _read(name: str, strands: Sequence[Strand], files: dict[str, StoredFile]) -> Reading:
    copies = ranked(strands)
    heads = rows_of(copies, THREADS)
    current = [head for head in heads if head.replaced_by is None and not head.row.wrong]
    told = _Thread(NAME, name, copies, head=next(reversed(current or heads), None))
    told.pictures.files = files
    for head in heads:
        if head.row.wrong and head.present:
            told.troubles.append(_trouble(told, THREADS, head))
    told.flow += _opening(told)
    rows = rows_of(copies, ITEMS)
    doubled = doubled_workflows([kept.row.value for kept in rows])
    for position, kept in enumerate(rows):
        told.flow += _drafts(told, kept, position + 1, position in doubled)
        told.entries += kept.replaced_by is None
    told.flow += _status(told)
    _settle(told.flow)
    told.note_time(_at(told.head.row) if told.head else None)
    told.note_directory(copies[0].project or str(PurePath(copies[0].place).parent))
    title = " ".join(string(told.values, "title").split())
    told.title = beginning(title, _TITLE) or _first_words(told.flow)
    return told.reading()


def _trouble(told: _Thread, table: str, kept: ItemVersion) -> Trouble:
    place = f"{told.strands[0].place}: {table} row {(kept.row.text('id') or kept.name)[:100]}"
    assert kept.row.wrong is not None
    return Trouble.of(place, kept.row.wrong, _HINT)


# ── messages ──


def _drafts(told: _Thread, kept: ItemVersion, position: int, doubled: bool) -> list[PendingMessage]:
    """The messages of one row."""
    if kept.row.wrong:
        if kept.present:
            told.troubles.append(_trouble(told, ITEMS, kept))
        label, raw = "row that cannot be read", kept.row.raw
        drafts = [pending(kept.name, "harness", "fold", [Unknown(label, raw)], label, label=label)]
    else:
        drafts = drafts_of(kept.name, kept.row.value, told.pictures, doubled)
    at = _at(kept.row)
    for draft in drafts:
        message = draft.message
        message.at = at
        message.upstream = "present" if kept.present else "gone"
        if kept.replaced_by is not None:
            draft.typed, draft.ends = False, None
            message.replaced_by = message.id.replace(kept.name, kept.replaced_by, 1)
        draft.refs = kept.refs
        if message.entry:
            role = string(kept.row.value, "type")
            message.entry = msgspec.structs.replace(message.entry, position=position, role=role)
    return drafts


def _settle(flow: Sequence[PendingMessage]) -> None:
    """Every message has a name of its own, and a successor that is there."""
    seen = make_unique(flow)
    for message in (draft.message for draft in flow):
        if message.replaced_by is not None and message.replaced_by not in seen:
            # A result or a choice that the newer version does not have any more.
            message.replaced_by = message.replaced_by[:-2]


def _opening(told: _Thread) -> list[PendingMessage]:
    """What is known of the thread as a whole, for whoever looks for it."""
    facts = {
        "user": user_of(told.strands[0].key),
        "metadata": get(told.values, "metadata") or None,
        "allowed_image_domains": get(told.values, "allowed_image_domains") or None,
    }
    text = "\n".join(f"{name}: {words(value)}" for name, value in facts.items() if value)
    if not text:
        return []
    draft = pending(
        f"{told.native_id}-thread", "harness", "hidden", [Text(text)], "thread", label="thread"
    )
    draft.message.at = _at(told.head.row) if told.head else None
    return [_of_thread(draft, told)]


def _status(told: _Thread) -> list[PendingMessage]:
    """That the thread takes no more messages, and why."""
    status = get(told.values, "status")
    kind = string(status, "type")
    if kind in ("", "active"):
        return []
    reason = string(status, "reason")
    parts: list[Part] = [Notice(f"The app {kind} this thread{f': {reason}' if reason else '.'}")]
    draft = pending(
        f"{told.native_id}-status", "harness", "divider", parts, "thread status", label=kind
    )
    return [_of_thread(draft, told)]


def _of_thread(draft: PendingMessage, told: _Thread) -> PendingMessage:
    present = told.head.present if told.head else told.present
    draft.message.upstream = "present" if present else "gone"
    draft.message.entry = Entry(0, THREAD, (), draft.message.label or "")
    draft.refs = told.head.refs if told.head else []
    return draft


def _at(row: DecodedRecord) -> str | None:
    """When a row was made: as it was read first, where it does not say so exactly."""
    for time in (row.columns.get("read_as"), row.columns.get("created_at")):
        if moment := from_iso(time) or _of_number(time):
            return moment
    return from_iso(row.value.get("created_at")) or _of_number(row.value.get("created_at"))


def _of_number(time: Any) -> str | None:
    if not isinstance(time, int | float) or isinstance(time, bool):
        return None
    return from_ms(time if abs(time) >= 100_000_000_000 else time * 1000)


def _first_words(flow: Sequence[PendingMessage]) -> str:
    """The first line that a person typed; a quotation is not theirs."""
    for message in (draft.message for draft in flow if draft.typed):
        for part in message.parts:
            text = part.text if isinstance(part, Text) and not part.text.startswith("> ") else ""
            line = next((line.strip() for line in text.split("\n") if line.strip()), "")
            if line:
                return beginning(line, _TITLE)
    return ""
