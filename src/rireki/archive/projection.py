"""What the records mean: conversations, their answers, and the links between them.

All of it can be dropped and made again from the records.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import msgspec
from msgspec import UNSET

from rireki.archive.curation import curation_of, facts_of, subjects
from rireki.archive.rows import BadValue, Row, Rows, by_pages, decoded, pages, value_of
from rireki.archive.values import (
    Change,
    Filter,
    Found,
    Heading,
    PendingGroup,
    Sighting,
    StoredConversation,
    StoredReading,
)
from rireki.errors import Ambiguous, NotFound, Wording
from rireki.machine import known_machine
from rireki.model.conversation import (
    Answer,
    Conversation,
    Curation,
    Link,
    LinkToken,
    Reading,
    pattern_of,
)
from rireki.model.names import as_text, is_bytes

__all__ = ["Projection", "answers_in", "conversation_of", "short_ids"]

_CONVERSATION = msgspec.json.Decoder(Conversation)
_EARLIER = msgspec.json.Decoder(dict[str, Any])
#: Where a bad value was found.
_TABLE = "table conversation"
_ANSWERS = msgspec.json.Decoder(list[Answer])
#: What is told of a conversation a second time, in columns of its own.
_COPIES = ("id", "native_id", "source", "nature", "project", "started_at", "updated_at", "upstream")

#: The tables that can be made again, those that refer to others first.
_PROJECTION = ("curation", "link", "tie", "naming", "answers", "conversation", "dirty")
#: Enough examples to see what an ambiguous prefix might mean.
EXAMPLES = 5
#: Shorter beginnings of ids would soon stop being unambiguous.
SHORTEST = 8


class Projection:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    # ── what is to be interpreted again ──

    def mark_stale(self, family: str, conversation: str | None, number: int) -> None:
        if conversation is not None:
            self.rows.put("dirty", "family, conversation, number", (family, conversation, number))

    def mark_stale_all(self, number: int, drop: bool) -> None:
        for table in _PROJECTION if drop else ():
            self.rows.remove(table)
        self.rows.mark_all(number)

    def pending(self) -> Iterator[PendingGroup]:
        # "@" groups (files that many conversations share) come last: a transcript outranks them.
        for shared in (False, True):
            for row in by_pages(partial(self.rows.waiting, shared=shared), ("", "")):
                yield PendingGroup(*row)

    def waiting(self, family: str, conversation: str) -> int | None:
        """The number of the change that waits to be interpreted, if one does."""
        found = self.rows.get("dirty", "number", family=family, conversation=conversation)
        return found[0][0] if found else None

    def clean(self, pending: PendingGroup) -> None:
        """Take the mark away."""
        self.rows.remove("dirty", **pending._asdict())

    def changes(self, after: int, until: int) -> list[Change]:
        return msgspec.convert(self.rows.changes(after, until), list[Change])

    # ── storing readings ──

    def store(
        self, pending: PendingGroup, readings: Sequence[Reading], number: int
    ) -> dict[int, StoredReading]:
        """Replace what a group was read as; returns the conversations that were stored, by row."""
        stored: dict[int, StoredReading] = {}
        same: set[int] = set()
        family, grouping, _ = pending
        self.rows.remove("naming", family=family, grouping=grouping)
        for reading in readings:
            if reading.conversation.nature == "titles":
                self._keep_titles(pending, reading)
                continue
            if known := self._same(pending, reading.conversation):
                same.add(known)
                continue
            row, is_new = self._store_one(pending, reading, number)
            if row is not None:
                stored[row] = StoredReading(reading.conversation, is_new)
                self.log(number, reading.conversation.id, pending.number)
        # What this group was read as before, and is no longer.
        known_as = self.rows.get("conversation", "number, id", family=family, grouping=grouping)
        for row, id in known_as:
            if row not in stored and row not in same:
                self.rows.remove("conversation", number=row)
                self.log(number, id, 0)
        return stored

    def _keep_titles(self, pending: PendingGroup, reading: Reading) -> None:
        titles = [token for token in reading.link_tokens if token.kind == "title"]
        named = ((*pending[:2], token.token, token.detail) for token in titles)
        self.rows.put("naming", "family, grouping, token, title", *named)

    def _same(self, pending: PendingGroup, conversation: Conversation) -> int | None:
        """The row of surviving prompts that are what they were: one file holds those of hundreds of
        conversations, and a line that is added to it concerns one."""
        if conversation.nature != "prompts":
            return None
        found = self.rows.get(
            "conversation",
            "number",
            id=conversation.id,
            family=pending.family,
            grouping=pending.conversation,
            data=_encoded(conversation),
        )
        return found[0][0] if found else None

    def log(self, number: int, conversation: str, reached: int) -> None:
        """Note in the feed that a conversation was read anew, or with 0 that it is gone."""
        self.rows.put("change", "number, conversation, reached", (number, conversation, reached))

    def _store_one(
        self, pending: PendingGroup, reading: Reading, number: int
    ) -> tuple[int | None, bool]:
        """The row it is stored in, if it is, and whether the row is new."""
        conversation = reading.conversation
        known = self.rows.get("conversation", "number, family, grouping", id=conversation.id)
        if conversation.nature == "prompts" and known and known[0][1:] != pending[:2]:
            return None, False
        if self.is_forgotten(pending.family, conversation.native_id):
            return None, False
        row = self._put(known[0][0] if known else None, pending, conversation, number)
        packed = _packing().squeeze(msgspec.json.encode(reading.answers))
        self.rows.put("answers", "conversation, data", (row, packed))
        if known:
            self.rows.remove("tie", conversation=row)
        self.rows.put(
            "tie",
            "token, kind, role, family, conversation, detail",
            *(
                (t.token, t.kind, t.role, pending.family, row, t.detail)
                for t in reading.link_tokens
            ),
        )
        return row, not known

    def _put(
        self, row: int | None, pending: PendingGroup, conversation: Conversation, number: int
    ) -> int:
        values = {name: getattr(conversation, name) for name in _COPIES}
        values |= {"family": pending.family, "grouping": pending.conversation, "changed": number}
        values |= {"title": conversation.title, "data": _encoded(conversation)}
        if row is None:
            return self.rows.add("conversation", **values)
        self.rows.change("conversation", {"number": row}, **values)
        return row

    def is_forgotten(self, family: str, native_id: str) -> bool:
        found = self.rows.get("forgotten", "remembered", family=family, conversation=native_id)
        return found == [(0,)]

    def is_whole(self, found: Found) -> bool:
        """Whether all records of a group are this conversation's, under whatever name."""
        if found.grouping == found.conversation.native_id:
            return True
        ids = self.rows.get("conversation", "id", family=found.family, grouping=found.grouping)
        return {id for (id,) in ids} <= {found.conversation.id} and found.grouping[:1] != "@"

    # ── reading ──

    def conversations(self, wanted: Filter) -> Iterator[Conversation]:
        rows = self.rows.listed(wanted)
        # Of a page its own: an archive may have tens of thousands.
        every = wanted.limit is None and wanted.ids is None
        links = self._links(None if every else [row[0] for row in rows])
        only = None if every else [row[0] for row in rows]
        added, machines = self._curations(only), self._machines(only)
        return (conversation_of(row, links, added, machines) for row in rows)

    def pick(self, ids: Sequence[str]) -> dict[str, Conversation]:
        found = {c.id: c for c in self.conversations(Filter(ids=ids, subagents=True))}
        return {id: found[id] for id in ids if id in found}

    def find(self, name: str) -> Found:
        columns = "number, data, id, title, family, grouping, changed"
        # Of one moment: what is named and not there was not forgotten in between.
        with self.rows.reading():
            number = _find_number(self.rows, name)
            rows = self.rows.get("conversation", columns, number=number)
        if not rows:
            raise BadValue("table conversation", "a row that is named and not there")
        ((*told, family, grouping, changed),) = rows
        only = [number]
        added, machines = self._curations(only), self._machines(only)
        conversation = conversation_of(told, self._links(only), added, machines)
        return Found(conversation, family, grouping, changed)

    def kept_as(self, family: str, grouping: str) -> dict[str, StoredConversation]:
        columns = ", ".join(("number", "data", *_COPIES))
        rows = self.rows.get("conversation", columns, family=family, grouping=grouping)
        return {row[2]: self._kept(*row) for row in rows}

    def _kept(self, number: int, data: str, *copies: Any) -> StoredConversation:
        told = _opened(data)
        answers = self.rows.get("answers", "data", conversation=number)
        return StoredConversation(
            told,
            answers_in(answers[0][0]) if answers else [],
            [LinkToken(*tie) for tie in self.rows.ties(number)],
            copies == tuple(getattr(told, name) for name in _COPIES),
        )

    def _links(self, only: Sequence[int] | None = None) -> dict[int, list[Link]]:
        """The links of every conversation (or of some), from both of their ends."""
        links: dict[int, list[Link]] = {}
        for child, parent, kind, call_id, child_id, parent_id in self.rows.links(only):
            links.setdefault(child, []).append(Link(kind, parent_id, "parent", call_id))
            links.setdefault(parent, []).append(Link(kind, child_id, "child", call_id))
        return links

    def _curations(self, only: Sequence[int] | None = None) -> dict[int, Curation]:
        return {number: curation_of(row) for number, _, *row in self.rows.curations(only)}

    def machine_names(self) -> dict[int, str]:
        """What the machines of the streams are called; nothing where there is but this one."""
        found = self.rows.get("stream", "id, machine")
        here = known_machine() if found else None
        own = {0: here.name if here else ""}
        return own | dict(found) if found else {}

    def _machines(self, only: Sequence[int] | None) -> dict[int, list[str]]:
        return {number: names for number, (_, names) in self._by_machine(only).items()}

    def _by_machine(self, only: Sequence[int] | None) -> dict[int, tuple[str, list[str]]]:
        """The id of each conversation, and the machines that it was read on."""
        names = self.machine_names()
        read: dict[int, tuple[str, set[str]]] = {}
        for number, id, stream in self.rows.read_on(only) if names else ():
            read.setdefault(number, (id, set()))[1].add(names.get(stream, ""))
        return {number: (id, sorted(told - {""})) for number, (id, told) in read.items()}

    def curations_by_id(self, ids: Collection[str] | None) -> dict[str, Curation]:
        found = ((id, curation_of(row)) for _, id, *row in self.rows.curations(None))
        return {id: added for id, added in found if ids is None or id in ids}

    def headings(
        self,
        finished: bool,
        ids: Collection[str] | None,
        after: int,
        since: str | None,
        beginning: str,
    ) -> Iterator[Heading]:
        added = {id: (number, curation_of(row)) for number, id, *row in self.rows.curations(None)}
        machines = dict(self._by_machine(None).values())
        if ids is None and not after and since is None:
            page = partial(self.rows.headings, finished, beginning=beginning)
            for rows in pages(lambda last, n: page(n, behind=last), 0):
                yield from (self._added(heading, added, machines) for heading in _headings(rows))
            return
        found = _headings(self.rows.headings(finished, -1, ids=ids, after=after, since=since))
        known = {heading.id: self._added(heading, added, machines) for heading in found}
        yield from known.values() if ids is None else (known[id] for id in ids if id in known)

    def _added(
        self,
        heading: Heading,
        added: Mapping[str, tuple[int, Curation]],
        machines: Mapping[str, Sequence[str]],
    ) -> Heading:
        """With what people added: few conversations have any of it; and where it was read."""
        if heading.id in machines:
            heading = heading._replace(machines=tuple(machines[heading.id]))
        if heading.id not in added:
            return heading
        number, curation = added[heading.id]
        notes = self._notes(number) if curation.notes else ()
        return heading._replace(added=curation, notes=notes)

    def _notes(self, number: int) -> tuple[tuple[str, str, str], ...]:
        facts = [
            fact
            for family, native_id in self.rows.get(
                "conversation", "family, native_id", number=number
            )
            for fact in facts_of(self.rows, family, subjects(self.rows, number, family, native_id))
        ]
        return tuple((f.message, f.value or "", f.at) for f in facts if f.kind == "note")

    def sightings(self, directory: str, below: bool) -> list[Sighting]:
        rows = self.rows.sightings(directory, below)
        links, added, machines = self._links(), self._curations(), self._machines(None)
        resumable: set[tuple[str, str]] = set()
        found = []
        for *told, held_for, first_seen, last_seen, holders in rows:
            # Each agent goes on with one conversation of a directory, whoever wrote it first.
            names = value_of(str, holders or "", _TABLE).split(",")
            slots = {(holder, held_for) for holder in names if holder}
            current = bool(slots - resumable)
            resumable |= slots
            found.append(
                Sighting(
                    conversation=conversation_of(told, links, added, machines),
                    directory=value_of(str, held_for, _TABLE),
                    first_seen=value_of(str, first_seen, "table strand"),
                    last_seen=value_of(str, last_seen, "table strand"),
                    current=current,
                )
            )
        return found

    def answers(self, source: str | None, since: str | None) -> Iterator[tuple[str, list[Answer]]]:
        for id, data in by_pages(partial(self.rows.answers, source=source, since=since), ""):
            yield id, answers_in(data)

    def answers_of(self, ids: Sequence[str]) -> dict[str, list[Answer]]:
        found = {}
        for id in ids:
            numbers = self.rows.get("conversation", "number", id=id)
            packed = self.rows.get("answers", "data", conversation=numbers[0][0]) if numbers else []
            if packed:
                found[id] = answers_in(packed[0][0])
        return found


def _headings(rows: Sequence[Row]) -> list[Heading]:
    return msgspec.convert([(*row[1:10], bool(row[10])) for row in rows], list[Heading])


def answers_in(data: bytes) -> list[Answer]:
    packing = _packing()
    try:
        return _ANSWERS.decode(packing.unsqueeze(data))
    except (packing.ZstdError, msgspec.MsgspecError) as error:
        raise BadValue("table answers", error) from error


def _packing() -> ModuleType:
    # Imported late: who only lists conversations packs and unpacks nothing.
    from rireki.archive import pack

    return pack


def _encoded(conversation: Conversation) -> str:
    return msgspec.json.encode(conversation).decode()


def conversation_of(
    row: Sequence[Any],
    links: dict[int, list[Link]],
    added: dict[int, Curation],
    machines: dict[int, list[str]],
) -> Conversation:
    """A conversation as it was read, with what others have to say of it: its title and links, what
    people added, and where it was read."""
    number, data, id, title = row
    conversation = _opened(data)
    # The same, unless the row is damaged: whoever looks it up goes by the column.
    conversation.id = id
    conversation.title = title
    conversation.links = links.get(number, [])
    conversation.curation = added.get(number, UNSET)
    conversation.machines = machines.get(number, UNSET)
    return conversation


def _opened(data: str) -> Conversation:
    """What is stored of a conversation. "unfinished" was a pattern once: it is read as it is now."""
    if '"pattern":"unfinished"' in data:
        value = decoded(_EARLIER, data, _TABLE)
        if value.get("pattern") == "unfinished":
            value["pattern"] = pattern_of(value.get("tool_calls", 0))
        return msgspec.convert(value, Conversation)
    return decoded(_CONVERSATION, data, _TABLE)


# ── which conversation a name means, and how little of an id has to be typed ──


def _find_number(rows: Rows, name: str) -> int:
    """The row of the conversation of this id or unambiguous prefix. Raises NotFound or Ambiguous."""
    # As it stands in a list, or as the system spells what somebody typed.
    name = name if is_bytes(name) else as_text(name)
    found = _named(rows, name)
    if not found:
        lacking = rows.lacking()
        hint = Wording("waits-to-be-read", n=lacking) if lacking else None
        raise NotFound("no-conversation", id=name, hint=hint)
    if len(found) > 1:
        examples = ", ".join(id for _, id in found[:EXAMPLES])
        examples += " …" if len(found) > EXAMPLES else ""
        raise Ambiguous("ambiguous-id", id=name, n=len(found), examples=examples)
    number: int = found[0][0]
    return number


def _named(rows: Rows, name: str) -> list[Row]:
    columns = "number, id"
    # A name it was known by before means the newest, should two conversations claim it.
    found = (
        rows.get("conversation", columns, id=name)
        or rows.aliased(name, beginning=False)[-1:]
        or rows.get("conversation", columns, order="id", native_id=name.partition("/")[2] or name)
        or rows.get("conversation", columns, order="id", native_id=name)
        or rows.beginning(name)
        or rows.aliased(name, beginning=True)
    )
    # An id that is the beginning of all others means itself, not its sub-agents.
    whole = [row for row in found if all(id.startswith(row[1]) for _, id in found)]
    return whole or found


def short_ids(rows: Rows, ids: Sequence[str]) -> dict[str, str]:
    """For each of these ids what to type for it. The beginning of an id means it, not what it started."""
    natives = {id: id.partition("/")[2] for id in ids}
    beside = {native: rest for native, *rest in rows.neighbours(set(natives.values()))}
    return {id: _short(id, native, beside.get(native)) for id, native in natives.items()}


def _short(id: str, native: str, beside: Sequence[object] | None) -> str:
    *rivals, same = beside or (None, 0)
    if same != 1:
        # Two sources have the same; in a damaged archive there may be one that its index does not know.
        return id
    shared = max((_shared(native, str(rival)) for rival in rivals if rival is not None), default=0)
    return native[: max(shared + 1, SHORTEST)]


def _shared(left: str, right: str) -> int:
    """How many letters two ids begin with in common; nearly always fewer than matter."""
    if left[:SHORTEST] != right[:SHORTEST]:
        return 0
    pairs = zip(left, right, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), len(right))
