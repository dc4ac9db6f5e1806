"""What the records mean, in SQLite: conversations, their answers, and the links between them.

All of it can be dropped and made again from the records.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import apsw
import msgspec

from rireki.archive.base import (
    Change,
    Filter,
    Found,
    Heading,
    Neighbours,
    PendingGroup,
    Sighting,
    StoredConversation,
    StoredReading,
)
from rireki.archive.sqlite.values import (
    AT_ONCE,
    BadValue,
    by_pages,
    decoded,
    first,
    select,
    value_of,
)
from rireki.errors import Ambiguous, NotFound, Wording
from rireki.model.conversation import Answer, Conversation, Link, LinkToken, Reading, pattern_of
from rireki.model.names import as_text, is_bytes

__all__ = ["Projection"]

_CONVERSATION = msgspec.json.Decoder(Conversation)
_EARLIER = msgspec.json.Decoder(dict[str, Any])
#: Where a bad value was found.
_TABLE = "table conversation"
_ANSWERS = msgspec.json.Decoder(list[Answer])
#: A name it was known by before; the newest, should two conversations claim it.
_ALIAS = """number = (SELECT max(conversation) FROM tie
                       WHERE token = ? AND kind = 'alias' AND role = 'offer')"""
_ALIASES = """number IN (SELECT conversation FROM tie
                         WHERE token GLOB ? AND kind = 'alias' AND role = 'offer')"""
_CHOSEN = "(SELECT value FROM json_each(?1))"
_CHOSEN_LINKS = f"WHERE child IN {_CHOSEN} OR parent IN {_CHOSEN}"
_CHOSEN_SUCCESSIONS = f"AND (c.number IN {_CHOSEN} OR p.number IN {_CHOSEN})"
#: Whose place was taken may have taken it back since, from whoever had it then.
_LASTING = """WHERE NOT EXISTS (SELECT 1 FROM succession back
                                 WHERE back.family = s.family AND back.child = s.parent
                                   AND back.at > s.at)"""
#: Enough examples to see what an ambiguous prefix might mean.
EXAMPLES = 5


class Projection:
    def __init__(self, connection: apsw.Connection) -> None:
        self.sql = connection

    # ── what is to be interpreted again ──

    def mark_stale(self, family: str, conversation: str, number: int) -> None:
        self.sql.execute(
            "INSERT OR REPLACE INTO dirty (family, conversation, number) VALUES (?, ?, ?)",
            (family, conversation, number),
        )

    def mark_stale_all(self, number: int, drop: bool) -> None:
        for table in ("link", "tie", "naming", "answers", "conversation", "dirty") if drop else ():
            self.sql.execute(f"DELETE FROM {table}")
        self.sql.execute(
            """INSERT OR REPLACE INTO dirty (family, conversation, number)
               SELECT DISTINCT family, conversation, ? FROM strand WHERE conversation IS NOT NULL""",
            (number,),
        )

    def pending(self) -> Iterator[PendingGroup]:
        # "@" groups (files that many conversations share) come last: a transcript outranks them.
        for condition in ("NOT LIKE", "LIKE"):
            last = ("", "")
            while True:
                rows = select(
                    self.sql,
                    f"""SELECT family, conversation, number FROM dirty
                         WHERE (family, conversation) > (?, ?) AND conversation {condition} '@%'
                         ORDER BY family, conversation LIMIT {AT_ONCE}""",
                    last,
                )
                yield from (PendingGroup(*row) for row in rows)
                if len(rows) < AT_ONCE:
                    break
                last = rows[-1][:2]

    def lacking(self) -> int:
        number: int = self.sql.execute(
            """SELECT count(*) FROM dirty WHERE conversation NOT LIKE '@%' AND NOT EXISTS (
                   SELECT 1 FROM conversation AS known
                    WHERE known.family = dirty.family AND known.grouping = dirty.conversation)"""
        ).get
        return number

    def waiting(self, family: str, conversation: str) -> int | None:
        """The number of the change that waits to be interpreted, if one does."""
        row = first(
            self.sql,
            "SELECT number FROM dirty WHERE family = ? AND conversation = ?",
            (family, conversation),
        )
        return row[0] if row else None

    def clean(self, pending: PendingGroup) -> bool:
        """Take the mark away; False when the records changed since, and the reading is stale."""
        self.sql.execute(
            "DELETE FROM dirty WHERE family = ? AND conversation = ? AND number = ?", pending
        )
        return self.sql.changes() > 0

    def hand_over(self, left: tuple[Any, ...], group: tuple[Any, ...]) -> None:
        """What one group was read as is another one's, until that one is read anew."""
        self.sql.execute(
            "UPDATE conversation SET family = ?, grouping = ? WHERE family = ? AND grouping = ?",
            (*group, *left),
        )

    # ── storing readings ──

    def store(
        self, pending: PendingGroup, readings: Sequence[Reading], number: int
    ) -> dict[int, StoredReading]:
        """Replace what a group was read as; returns the conversations that were stored, by row."""
        stored: dict[int, StoredReading] = {}
        same: set[int] = set()
        self.sql.execute("DELETE FROM naming WHERE family = ? AND grouping = ?", pending[:2])
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
        self._drop_others(pending, stored.keys() | same, number)
        return stored

    def _keep_titles(self, pending: PendingGroup, reading: Reading) -> None:
        self.sql.executemany(
            "INSERT OR REPLACE INTO naming (family, grouping, token, title) VALUES (?, ?, ?, ?)",
            [(*pending[:2], t.token, t.detail) for t in reading.link_tokens if t.kind == "title"],
        )

    def named_by(self, family: str, grouping: str) -> list[int]:
        """The conversations that a group has titles for, although it is none."""
        rows = select(
            self.sql,
            """SELECT DISTINCT t.conversation
                 FROM naming n JOIN tie t ON t.token = n.token AND t.family = n.family
                WHERE n.family = ? AND n.grouping = ? AND t.role = 'want'""",
            (family, grouping),
        )
        return [number for (number,) in rows]

    def _same(self, pending: PendingGroup, conversation: Conversation) -> int | None:
        """The row of surviving prompts that are what they were: one file holds those of hundreds of
        conversations, and a line that is added to it concerns one."""
        if conversation.nature != "prompts":
            return None
        row = first(
            self.sql,
            """SELECT number FROM conversation
                WHERE id = ? AND family = ? AND grouping = ? AND data = ?""",
            (conversation.id, *pending[:2], msgspec.json.encode(conversation).decode()),
        )
        return row[0] if row else None

    def log(self, number: int, conversation: str, reached: int) -> None:
        """Note in the feed that a conversation was read anew, or with 0 that it is gone."""
        self.sql.execute(
            "INSERT OR REPLACE INTO change (number, conversation, reached) VALUES (?, ?, ?)",
            (number, conversation, reached),
        )

    def reached(self, conversation: str, number: int | None = None) -> int:
        row = first(
            self.sql,
            """SELECT reached FROM change WHERE conversation = ?1 AND (?2 IS NULL OR number <= ?2)
                ORDER BY number DESC LIMIT 1""",
            (conversation, number),
        )
        return row[0] if row else 0

    def changes(self, after: int, until: int) -> list[Change]:
        rows = select(
            self.sql,
            """SELECT max(c.number), c.conversation,
                      coalesce((SELECT reached FROM change b
                                 WHERE b.conversation = c.conversation AND b.number <= ?1
                                 ORDER BY b.number DESC LIMIT 1), 0),
                      c.reached
                 FROM change c WHERE c.number > ?1 AND c.number <= ?2
                GROUP BY c.conversation ORDER BY 1, 2""",
            (after, until),
        )
        return msgspec.convert(rows, list[Change])

    def _store_one(
        self, pending: PendingGroup, reading: Reading, number: int
    ) -> tuple[int | None, bool]:
        """The row it is stored in, if it is, and whether the row is new."""
        # Imported late: who only reads compresses nothing.
        from rireki.archive.pack import squeeze

        conversation = reading.conversation
        known = first(
            self.sql,
            "SELECT number, family, grouping, nature FROM conversation WHERE id = ?",
            (conversation.id,),
        )
        if conversation.nature == "prompts" and known and known[1:3] != pending[:2]:
            return None, False
        if self.is_forgotten(pending.family, conversation.native_id):
            return None, False
        row = self._upsert(pending, conversation, number)
        self.sql.execute(
            "INSERT OR REPLACE INTO answers (conversation, data) VALUES (?, ?)",
            (row, squeeze(msgspec.json.encode(reading.answers))),
        )
        self.sql.execute("DELETE FROM tie WHERE conversation = ?", (row,))
        self.sql.executemany(
            """INSERT INTO tie (token, kind, role, family, conversation, detail)
               VALUES (?, ?, ?, ?, ?, ?)""",
            [(t.token, t.kind, t.role, pending.family, row, t.detail) for t in reading.link_tokens],
        )
        return row, known is None

    def _upsert(self, pending: PendingGroup, conversation: Conversation, number: int) -> int:
        row: int = self.sql.execute(
            """INSERT INTO conversation (id, native_id, family, grouping, source, nature, project,
                   title, started_at, updated_at, upstream, changed, data)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT (id) DO UPDATE SET
                   family = excluded.family, grouping = excluded.grouping, source = excluded.source,
                   nature = excluded.nature, project = excluded.project, title = excluded.title,
                   started_at = excluded.started_at, updated_at = excluded.updated_at,
                   upstream = excluded.upstream, changed = excluded.changed, data = excluded.data
               RETURNING number""",
            (
                conversation.id,
                conversation.native_id,
                pending.family,
                pending.conversation,
                conversation.source,
                conversation.nature,
                conversation.project,
                conversation.title,
                conversation.started_at,
                conversation.updated_at,
                conversation.upstream,
                number,
                msgspec.json.encode(conversation).decode(),
            ),
        ).get
        return row

    def _drop_others(self, pending: PendingGroup, rows: set[int], number: int) -> None:
        """Conversations this group was read as before, and is no longer."""
        known = select(
            self.sql,
            "SELECT number, id FROM conversation WHERE family = ? AND grouping = ?",
            pending[:2],
        )
        for row, conversation in known:
            if row not in rows:
                self.sql.execute("DELETE FROM conversation WHERE number = ?", (row,))
                self.log(number, conversation, 0)

    def is_forgotten(self, family: str, native_id: str) -> bool:
        found: bool = self.sql.execute(
            "SELECT EXISTS (SELECT 1 FROM forgotten WHERE family = ? AND conversation = ?)",
            (family, native_id),
        ).get
        return bool(found)

    def is_whole(self, found: Found) -> bool:
        """Whether all records of a group are this conversation's, under whatever name."""
        if found.grouping == found.conversation.native_id:
            return True
        others: int = self.sql.execute(
            "SELECT count(*) FROM conversation WHERE family = ? AND grouping = ? AND id <> ?",
            (found.family, found.grouping, found.conversation.id),
        ).get
        return not others and not found.grouping.startswith("@")

    # ── reading ──

    def conversations(self, wanted: Filter) -> Iterator[Conversation]:
        where, values = _conditions(wanted)
        rows = select(
            self.sql,
            f"""SELECT number, data, id, title FROM conversation {where}
                 ORDER BY updated_at DESC, id LIMIT ?""",
            (*values, -1 if wanted.limit is None else wanted.limit),
        )
        # Of a page its own: an archive may have tens of thousands.
        links = self._links(None if wanted.limit is None else [row[0] for row in rows])
        for number, data, id, title in rows:
            yield _told(data, id, title, links.get(number, []))

    def kept_as(self, family: str, grouping: str) -> dict[str, StoredConversation]:
        rows = select(
            self.sql,
            """SELECT number, data, id, native_id, source, nature, project, started_at, updated_at,
                      upstream
                 FROM conversation WHERE family = ? AND grouping = ?""",
            (family, grouping),
        )
        return {row[2]: self._kept(row) for row in rows}

    def _kept(self, row: tuple[Any, ...]) -> StoredConversation:
        number, data, *copies = row
        told = _opened(data)
        link_tokens = select(
            self.sql,
            "SELECT kind, role, token, detail FROM tie WHERE conversation = ? ORDER BY rowid",
            (number,),
        )
        answers = first(self.sql, "SELECT data FROM answers WHERE conversation = ?", (number,))
        said = [
            *(told.id, told.native_id, told.source, told.nature, told.project),
            *(told.started_at, told.updated_at, told.upstream),
        ]
        kept = _answers(answers[0]) if answers else []
        return StoredConversation(
            told, kept, [LinkToken(*tie) for tie in link_tokens], said == copies
        )

    def _links(self, only: Sequence[int] | None = None) -> dict[int, list[Link]]:
        """The links of every conversation (or of some), from both of their ends."""
        every = only is None
        # CROSS JOIN: few links, many conversations; SQLite must not begin with the latter.
        rows = select(
            self.sql,
            f"""SELECT l.child, l.parent, l.kind, l.call_id, c.id, p.id FROM
                  (SELECT child, parent, kind, call_id FROM link {"" if every else _CHOSEN_LINKS}
                    UNION ALL
                   SELECT c.number, p.number, 'supersedes', NULL FROM succession s
                     CROSS JOIN conversation c ON c.family = s.family AND c.native_id = s.child
                     CROSS JOIN conversation p ON p.family = s.family AND p.native_id = s.parent
                     {_LASTING} {"" if every else _CHOSEN_SUCCESSIONS}) l
                  CROSS JOIN conversation c ON c.number = l.child
                  CROSS JOIN conversation p ON p.number = l.parent
                  ORDER BY l.kind, c.id, p.id""",
            () if only is None else (_list(only),),
        )
        links: dict[int, list[Link]] = {}
        for child, parent, kind, call_id, child_id, parent_id in rows:
            links.setdefault(child, []).append(Link(kind, parent_id, "parent", call_id))
            links.setdefault(parent, []).append(Link(kind, child_id, "child", call_id))
        return links

    def headings(
        self, finished: bool, ids: Sequence[str] | None, after: int, since: str | None
    ) -> Iterator[Heading]:
        told = "nature = 'prompts' OR data ->> '$.finished'" if finished else "1"
        columns = f"""SELECT number, id, family, grouping, source, nature, project, title,
                             updated_at, changed, {told} FROM conversation"""
        if ids is not None:
            found = [
                row for id in ids for row in select(self.sql, f"{columns} WHERE id = ?", (id,))
            ]
            yield from _headings(found)
        elif after:
            # The feed knows them, and is much smaller than all that is told of conversations.
            news = f"{columns} WHERE id IN (SELECT conversation FROM change WHERE number > ?)"
            yield from _headings(select(self.sql, news, (after,)))
        elif since is not None:
            recent = f"{columns} WHERE updated_at >= ? ORDER BY updated_at DESC, id"
            yield from _headings(select(self.sql, recent, (since,)))
        else:
            yield from self._every_heading(columns)

    def _every_heading(self, columns: str) -> Iterator[Heading]:
        last: Any = 0
        while True:
            # Not looked at twice: there are many, and `convert` looks at each value.
            rows = self.sql.execute(
                f"{columns} WHERE number > ? ORDER BY number LIMIT {AT_ONCE}", (last,)
            ).fetchall()
            yield from _headings(rows)
            if len(rows) < AT_ONCE:
                return
            last = rows[-1][0]

    def ids(self, beginning: str) -> Iterator[str]:
        fits = "AND (id GLOB ?3 OR native_id GLOB ?3)" if beginning else ""
        query = f"SELECT id FROM conversation WHERE id > ?1 {fits} ORDER BY id LIMIT ?2"
        values = (_glob(beginning),) if beginning else ()
        return (id for (id,) in by_pages(self.sql, query, "", values))

    def missing(self, ids: Collection[str]) -> set[str]:
        rows = select(
            self.sql,
            """SELECT w.value FROM json_each(?) w
                WHERE NOT EXISTS (SELECT 1 FROM conversation WHERE id = w.value)""",
            (_list(list(ids)),),
        )
        return {id for (id,) in rows}

    def neighbours(self, native_ids: Collection[str]) -> dict[str, Neighbours]:
        rows = select(
            self.sql,
            """SELECT w.value,
                      (SELECT max(native_id) FROM conversation WHERE native_id < w.value),
                      (SELECT min(native_id) FROM conversation
                        WHERE native_id > w.value || char(1114111)),
                      (SELECT count(*) FROM conversation WHERE native_id = w.value)
                 FROM json_each(?) w""",
            (_list(list(native_ids)),),
        )
        return {id: Neighbours(*beside) for id, *beside in rows}

    def projects(self) -> Iterator[str]:
        rows = select(
            self.sql,
            """SELECT project FROM conversation WHERE project IS NOT NULL
                GROUP BY project ORDER BY max(updated_at) DESC NULLS LAST, project""",
        )
        return (project for (project,) in rows)

    def forgotten(self, names: Collection[str] | None) -> Iterator[tuple[str, str]]:
        wanted = "" if names is None else f"WHERE conversation IN {_CHOSEN}"
        rows = select(
            self.sql,
            f"SELECT family, conversation FROM forgotten {wanted}",
            () if names is None else (_list(list(names)),),
        )
        return ((family, conversation) for family, conversation in rows)

    def groups(self) -> Iterator[PendingGroup]:
        last = ("", "")
        while True:
            rows = select(
                self.sql,
                f"""SELECT DISTINCT family, conversation FROM strand
                     WHERE conversation IS NOT NULL AND (family, conversation) > (?, ?)
                     ORDER BY family, conversation LIMIT {AT_ONCE}""",
                last,
            )
            yield from (PendingGroup(family, name, 0) for family, name in rows)
            if len(rows) < AT_ONCE:
                return
            last = rows[-1]

    def pick(self, ids: Sequence[str]) -> dict[str, Conversation]:
        rows = select(
            self.sql,
            f"SELECT id, number, data, title FROM conversation WHERE id IN {_CHOSEN}",
            (_list(ids),),
        )
        links = self._links([row[1] for row in rows])
        found = {id: _told(data, id, title, links.get(n, [])) for id, n, data, title in rows}
        return {id: found[id] for id in ids if id in found}

    def find(self, name: str) -> Found:
        # As it stands in a list, or as the system spells what somebody typed.
        name = name if is_bytes(name) else as_text(name)
        rows = self._named(name)
        if not rows:
            raise NotFound("no-conversation", id=name, hint=self._why_not())
        if len(rows) > 1:
            examples = ", ".join(row[4] for row in rows[:EXAMPLES])
            examples += " …" if len(rows) > EXAMPLES else ""
            raise Ambiguous("ambiguous-id", id=name, n=len(rows), examples=examples)
        number, data, family, grouping, id, title, changed = rows[0]
        links = self._links([number]).get(number, [])
        return Found(_told(data, id, title, links), family, grouping, changed)

    def _why_not(self) -> Wording | None:
        """What to do when a conversation is not found."""
        lacking = self.lacking()
        if lacking:
            return Wording("waits-to-be-read", n=lacking)
        return None

    def _named(self, name: str) -> list[tuple[Any, ...]]:
        columns = "SELECT number, data, family, grouping, id, title, changed FROM conversation"
        for condition, values in (
            ("id = ?", (name,)),
            (_ALIAS, (name,)),
            ("native_id = ?", (name.partition("/")[2] or name,)),
            ("native_id = ?", (name,)),
            ("id GLOB ?1 OR native_id GLOB ?1", (_glob(name),)),
            (_ALIASES, (_glob(name),)),
        ):
            rows = select(self.sql, f"{columns} WHERE {condition} ORDER BY id", values)
            if rows:
                # An id that is the beginning of all others means itself, not its sub-agents.
                whole = [row for row in rows if all(r[4].startswith(row[4]) for r in rows)]
                return whole or rows
        return []

    def sightings(self, directory: str, below: bool) -> list[Sighting]:
        condition = "{0} = ?1"
        if below:
            condition += " OR {0} GLOB ?2 OR {0} GLOB ?3"
        values = (
            directory,
            _glob(directory.rstrip("/") + "/"),
            _glob(directory.rstrip("\\") + "\\"),
        )
        rows = select(
            self.sql,
            f"""SELECT c.number, c.data, c.id, c.title, coalesce(s.project, c.project), min(s.first_seen),
                       max(coalesce(s.vanished_at, s.last_seen)),
                       iif(s.project IS NULL, iif(c.upstream = 'gone', NULL, c.source),
                           group_concat(DISTINCT iif(s.vanished_at IS NULL AND s.project IS NOT NULL,
                                                     o.source, NULL)))
                  FROM conversation c
                  JOIN strand s ON s.family = c.family AND s.conversation = c.grouping
                  JOIN origin o ON o.id = s.origin
                 WHERE (s.project IS NOT NULL AND ({condition.format("s.project")}))
                    OR (s.project IS NULL AND ({condition.format("c.project")})
                        AND c.nature <> 'subagent')
                 GROUP BY c.number, 5
                 ORDER BY c.updated_at DESC NULLS LAST, 7 DESC, c.number DESC""",
            values if below else values[:1],
        )
        links = self._links()
        resumable: set[tuple[str, str]] = set()
        found = []
        for number, data, id, title, held_for, first_seen, last_seen, holders in rows:
            conversation = _told(data, id, title, links.get(number, []))
            # Each agent goes on with one conversation of a directory, whoever wrote it first.
            names = value_of(str, holders or "", _TABLE).split(",")
            slots = {(holder, held_for) for holder in names if holder}
            current = bool(slots - resumable)
            resumable |= slots
            found.append(
                Sighting(
                    conversation=conversation,
                    directory=value_of(str, held_for, _TABLE),
                    first_seen=value_of(str, first_seen, "table strand"),
                    last_seen=value_of(str, last_seen, "table strand"),
                    current=current,
                )
            )
        return found

    def answers(self, source: str | None) -> Iterator[tuple[str, list[Answer]]]:
        rows = by_pages(
            self.sql,
            """SELECT c.id, a.data FROM conversation c JOIN answers a ON a.conversation = c.number
                WHERE c.id > ?1 AND (?3 IS NULL OR c.source = ?3) ORDER BY c.id LIMIT ?2""",
            "",
            (source,),
        )
        for conversation, data in rows:
            yield conversation, _answers(data)


def _headings(rows: Sequence[tuple[Any, ...]]) -> list[Heading]:
    return msgspec.convert([(*row[1:10], bool(row[10])) for row in rows], list[Heading])


def _answers(data: bytes) -> list[Answer]:
    # Imported late: who only lists conversations unpacks nothing.
    from rireki.archive.pack import ZstdError, unsqueeze

    try:
        return _ANSWERS.decode(unsqueeze(data))
    except (ZstdError, msgspec.MsgspecError) as error:
        raise BadValue("table answers", error) from error


def _list(values: Sequence[int] | Sequence[str]) -> str:
    """Many values for one parameter."""
    return msgspec.json.encode(values).decode()


def _told(data: str, id: str, title: str, links: list[Link]) -> Conversation:
    """A conversation as it was read, with what others have to say of it: its title and links."""
    conversation = _opened(data)
    # The same, unless the row is damaged: whoever looks it up goes by the column.
    conversation.id = id
    conversation.title = title
    conversation.links = links
    return conversation


def _opened(data: str) -> Conversation:
    """What is stored of a conversation. "unfinished" was a pattern once: it is read as it is now."""
    if '"pattern":"unfinished"' in data:
        value = decoded(_EARLIER, data, _TABLE)
        if value.get("pattern") == "unfinished":
            value["pattern"] = pattern_of(value.get("tool_calls", 0))
        return msgspec.convert(value, Conversation)
    return decoded(_CONVERSATION, data, _TABLE)


def _conditions(wanted: Filter) -> tuple[str, list[Any]]:
    conditions: list[str] = []
    values: list[Any] = []
    for column, value in (("source", wanted.source), ("upstream", wanted.upstream)):
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(value)
    if wanted.project is not None and not wanted.below:
        conditions.append("project = ?")
        values.append(wanted.project)
    elif wanted.project is not None:
        conditions.append("(project = ? OR project GLOB ? OR project GLOB ?)")
        values += [wanted.project, _glob(f"{wanted.project}/"), _glob(f"{wanted.project}\\")]
    if wanted.since is not None:
        conditions.append("updated_at >= ?")
        values.append(wanted.since)
    if wanted.before is not None:
        conditions.append("updated_at < ?")
        values.append(wanted.before)
    for word in (wanted.title or "").split():
        conditions.append("instr(lower(title), lower(?)) > 0")
        values.append(word)
    if not wanted.subagents:
        conditions.append("nature <> 'subagent'")
    if wanted.after is not None:
        # In the list's own order: newest first, those without a time last, equals by their id.
        conditions.append("(ifnull(updated_at, '') < ? OR (ifnull(updated_at, '') = ? AND id > ?))")
        time, id = wanted.after
        values += [time or "", time or "", id]
    return ("WHERE " + " AND ".join(conditions) if conditions else ""), values


def _glob(prefix: str) -> str:
    """A pattern for everything that begins with `prefix`, whose own letters mean only themselves."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in prefix) + "*"
