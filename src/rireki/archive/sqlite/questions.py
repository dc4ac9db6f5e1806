"""Questions about many rows, or rows of several tables, in the SQL of SQLite."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import apsw
import msgspec

from rireki.archive.rows import BadValue, Row, value_of
from rireki.archive.values import Filter

__all__ = ["Questions", "select"]

_KINDS = {"INTEGER": int, "TEXT": str, "BLOB": bytes}
#: Whether a column has to have a value: asked of SQLite once, for every archive has the same tables.
_required: dict[tuple[str, str], bool] = {}
_CHOSEN = "(SELECT value FROM json_each(?1))"
_CHOSEN_LINKS = f"WHERE child IN {_CHOSEN} OR parent IN {_CHOSEN}"
_CHOSEN_SUCCESSIONS = f"AND (c.number IN {_CHOSEN} OR p.number IN {_CHOSEN})"
_READ_ON = """number IN (SELECT c.number FROM origin o JOIN strand s ON s.origin = o.id
                           JOIN conversation c ON c.family = s.family AND c.grouping = s.conversation
                          WHERE o.stream IN (SELECT value FROM json_each(?)))"""
_TAGGED = """number IN (SELECT k.conversation FROM curation k, json_each(k.tags) t
                          WHERE t.value = ?)"""
#: Whose place was taken may have taken it back since, from whoever had it then.
_LASTING = """WHERE NOT EXISTS (SELECT 1 FROM succession back
                                 WHERE back.family = s.family AND back.child = s.parent
                                   AND back.at > s.at)"""
#: Whoever may have another parent now: what changed, its relatives, and its children so far.
_AFFECTED = """
    SELECT number FROM touched
     UNION
    SELECT other.conversation
      FROM touched CROSS JOIN tie mine ON mine.conversation = touched.number
     CROSS JOIN tie other ON other.token = mine.token AND other.family = mine.family
     UNION
    SELECT child FROM touched CROSS JOIN link ON link.parent = touched.number
"""
#: Of these, whoever has something in common with another, or had: most conversations have not.
_RELATED = f"""
      WITH touched (number) AS MATERIALIZED {_CHOSEN},
           affected (number) AS MATERIALIZED ({_AFFECTED})
    SELECT number FROM affected
     WHERE EXISTS (SELECT 1 FROM link WHERE child = number)
        OR EXISTS (SELECT 1 FROM tie mine CROSS JOIN tie other
                    WHERE mine.conversation = number
                      AND other.token = mine.token AND other.family = mine.family
                      AND other.conversation <> number)
        OR EXISTS (SELECT 1 FROM tie mine CROSS JOIN naming named
                    WHERE mine.conversation = number AND mine.kind = 'title'
                      AND named.token = mine.token AND named.family = mine.family)
     ORDER BY number
"""
_OFFERED = """
    SELECT mine.kind, other.conversation, coalesce(mine.detail, other.detail), mine.token
      FROM tie mine JOIN tie other
        ON other.token = mine.token AND other.family = mine.family AND other.role = 'offer'
       AND other.conversation <> mine.conversation
      JOIN conversation c ON c.number = other.conversation
     WHERE mine.conversation = ? AND mine.role = 'want' AND mine.kind <> 'title'
     ORDER BY coalesce(c.started_at, '') DESC, coalesce(c.updated_at, '') DESC, c.id DESC,
              mine.rowid, other.rowid
"""
_TITLE = """
    SELECT coalesce(other.detail, named.title)
      FROM tie mine
      LEFT JOIN tie other
        ON other.token = mine.token AND other.family = mine.family AND other.role = 'offer'
       AND other.conversation <> mine.conversation
      LEFT JOIN conversation c ON c.number = other.conversation
      LEFT JOIN naming named ON named.token = mine.token AND named.family = mine.family
     WHERE mine.conversation = ? AND mine.role = 'want' AND mine.kind = 'title'
       AND coalesce(other.detail, named.title) IS NOT NULL
     ORDER BY mine.rowid, c.started_at, c.id, named.grouping, other.rowid LIMIT 1
"""
_ELDER = """
    SELECT iif('continuation' IN (mine.kind, other.kind), 'continuation', 'fork'), c.number
      FROM tie mine JOIN conversation me ON me.number = mine.conversation
      JOIN tie other
        ON other.token = mine.token AND other.family = mine.family AND other.role = 'share'
      JOIN conversation c ON c.number = other.conversation
     WHERE mine.conversation = ? AND mine.role = 'share'
       AND (coalesce(c.started_at, ''), coalesce(c.updated_at, ''), c.id)
         < (coalesce(me.started_at, ''), coalesce(me.updated_at, ''), me.id)
     ORDER BY coalesce(c.started_at, '') DESC, coalesce(c.updated_at, '') DESC, c.id DESC,
              mine.rowid, other.rowid
     LIMIT 1
"""


def select(sql: apsw.Connection, query: str, values: Sequence[Any] = ()) -> list[Row]:
    """All rows at once: no cursor stays open while they are worked on.

    Raises BadValue for a value that its column cannot hold. SQLite does not look: where a page is
    damaged or lies in another one's place, it gives whatever stands there.
    """
    try:
        cursor = sql.execute(query, values)
        columns = cursor.description_full
        rows = cursor.fetchall()
    except apsw.ExecutionCompleteError:
        # No rows.
        return []
    except UnicodeDecodeError as error:
        raise BadValue("the archive", error) from error
    for (_, declared, database, table, column), found in zip(
        columns, zip(*rows, strict=True), strict=True
    ):
        if declared in _KINDS and table is not None:
            required = _required.get((table, column))
            if required is None:
                required = any(sql.column_metadata(database, table, column)[2:4])
                _required[table, column] = required
            _check(found, _KINDS[declared], required, f"table {table}")
    return rows


def _check(found: Sequence[Any], kind: type, required: bool, place: str) -> None:
    """Whether all values of a column are of its kind. There are no numbers below zero."""
    kinds = set(map(type, found))
    if not kinds <= {kind, kind if required else type(None)}:
        for value in found:
            if value is not None or required:
                value_of(kind, value, place)
    if kinds == {int} and min(found) < 0:
        raise BadValue(place, "a number below zero")


class Questions:
    sql: apsw.Connection

    def _ask(self, query: str, *values: Any) -> list[Row]:
        return select(self.sql, query, values)

    # ── records ──

    def origins(self, after: int, limit: int, named: bool) -> list[Row]:
        conversation, strand = (
            (", s.conversation", "LEFT JOIN strand s ON s.origin = o.id AND s.key = ''")
            if named
            else ("", "")
        )
        # +: the index of places would have to be sorted by id.
        return self._ask(
            f"""SELECT o.id, o.source, o.place, o.root, o.form, o.role, o.stamp, o.first_seen,
                       o.vanished_at {conversation}
                  FROM origin o {strand} WHERE +o.stream = 0 AND o.id > ? ORDER BY o.id LIMIT ?""",
            *(after, limit),
        )

    def reopen_origins(self) -> None:
        self.sql.execute(
            """UPDATE origin SET stamp = ''
                WHERE stream = 0 AND (form = 'database' OR id NOT IN (SELECT origin FROM strand))"""
        )

    def troubles(self, source: str | None) -> list[Row]:
        return self._ask(
            """SELECT o.source, o.place, t.place, t.message, t.hint FROM trouble t
                 JOIN origin o ON o.id = t.origin
                WHERE ?1 IS NULL OR o.source = ?1 ORDER BY t.place, t.origin, t.key""",
            source,
        )

    def strands(self, family: str, conversation: str) -> list[Row]:
        return self._ask(
            """SELECT s.id, s.key, s.conversation, s.role, s.project, s.first_seen, s.last_seen,
                      s.vanished_at, s.cursor, o.source, o.place, o.root, o.stream
                 FROM strand s JOIN origin o ON o.id = s.origin
                WHERE s.family = ? AND s.conversation = ? ORDER BY o.stream, s.remote, s.id""",
            *(family, conversation),
        )

    def holders(self, family: str, conversation: str) -> list[int]:
        found = self._ask(
            """SELECT DISTINCT o.stream FROM strand s JOIN origin o ON o.id = s.origin
                WHERE s.family = ? AND s.conversation = ? AND s.vanished_at IS NULL""",
            *(family, conversation),
        )
        return [stream for (stream,) in found]

    def shared_strands(self, family: str) -> list[int]:
        query = "SELECT id FROM strand WHERE family = ? AND conversation GLOB '@*'"
        return [id for (id,) in self._ask(query, family)]

    def chunks(
        self, strand: int, lane: str, low: int, high: int, columns: str, limit: int
    ) -> list[Row]:
        return self._ask(
            f"""SELECT {columns} FROM chunk
                WHERE strand = ?1 AND lane = ?2 AND first <= ?3 AND first >= coalesce(
                      (SELECT max(first) FROM chunk WHERE strand = ?1 AND lane = ?2 AND first <= ?4),
                      0)
                ORDER BY first LIMIT ?5""",
            *(strand, lane, high, low, limit),
        )

    def weight(self, family: str, grouping: str) -> int:
        size: int = self.sql.execute(
            """SELECT coalesce(sum(c.size), 0) FROM strand s JOIN chunk c ON c.strand = s.id
                WHERE s.family = ? AND s.conversation = ?""",
            (family, grouping),
        ).get
        return size

    def groups(self, after: tuple[str, str], limit: int) -> list[Row]:
        return self._ask(
            """SELECT DISTINCT family, conversation FROM strand
                WHERE conversation IS NOT NULL AND (family, conversation) > (?, ?)
                ORDER BY family, conversation LIMIT ?""",
            *(*after, limit),
        )

    # ── between archives ──

    def changed(self, after: tuple[int, int], limit: int) -> list[Row]:
        return self._ask(
            """SELECT number, id FROM strand WHERE remote = 0 AND (number, id) > (?, ?)
                ORDER BY number, id LIMIT ?""",
            *(*after, limit),
        )

    def between(self, table: str, columns: str, after: int, until: int) -> list[Row]:
        return self._ask(
            f"""SELECT {columns} FROM {table} WHERE number > ? AND number <= ?
                 ORDER BY number, {columns}""",
            *(after, until),
        )

    def taken(self, table: str, stream: int, remote: Collection[int], columns: str) -> list[Row]:
        origin = (
            "origin" if table == "origin" else "strand JOIN origin ON origin.id = strand.origin"
        )
        return self._ask(
            f"""SELECT {columns} FROM {origin}
                 WHERE {table}.remote <> 0 AND {table}.remote IN {_CHOSEN} AND origin.stream = ?2""",
            *(_list(remote), stream),
        )

    def lanes(self, strands: Collection[int]) -> list[Row]:
        return self._ask(
            f"""SELECT c.strand, c.lane, c.first + c.count
                  FROM (SELECT strand, lane, max(first) AS first FROM chunk
                         WHERE strand IN {_CHOSEN} GROUP BY strand, lane) l
                 CROSS JOIN chunk c
                    ON c.strand = l.strand AND c.lane = l.lane AND c.first = l.first
                 ORDER BY 1, 2""",
            _list(strands),
        )

    def read_on(self, only: Collection[int] | None) -> list[Row]:
        chosen = "" if only is None else f"WHERE c.number IN {_CHOSEN}"
        return self._ask(
            f"""SELECT DISTINCT c.number, c.id, o.stream FROM conversation c
                  JOIN strand s ON s.family = c.family AND s.conversation = c.grouping
                  JOIN origin o ON o.id = s.origin {chosen}""",
            *(() if only is None else (_list(only),)),
        )

    # ── what people add ──

    def curations(self, only: Collection[int] | None) -> list[Row]:
        chosen = "" if only is None else f"WHERE k.conversation IN {_CHOSEN}"
        return self._ask(
            f"""SELECT k.conversation, c.id, k.title, k.tags, k.starred, k.hidden, k.notes
                  FROM curation k CROSS JOIN conversation c ON c.number = k.conversation {chosen}""",
            *(() if only is None else (_list(only),)),
        )

    # ── what waits, and what changed ──

    def waiting(self, after: tuple[str, str], limit: int, shared: bool) -> list[Row]:
        return self._ask(
            f"""SELECT family, conversation, number FROM dirty
                 WHERE (family, conversation) > (?, ?)
                   AND conversation {"" if shared else "NOT"} LIKE '@%'
                 ORDER BY family, conversation LIMIT ?""",
            *(*after, limit),
        )

    def lacking(self) -> int:
        number: int = self.sql.execute(
            """SELECT count(*) FROM dirty WHERE conversation NOT LIKE '@%' AND NOT EXISTS (
                   SELECT 1 FROM conversation AS known
                    WHERE known.family = dirty.family AND known.grouping = dirty.conversation)"""
        ).get
        return number

    def mark_all(self, number: int) -> None:
        self.sql.execute(
            """INSERT OR REPLACE INTO dirty (family, conversation, number)
               SELECT DISTINCT family, conversation, ? FROM strand WHERE conversation IS NOT NULL""",
            (number,),
        )

    def reached(self, conversation: str, until: int | None) -> int:
        found = self._ask(
            """SELECT reached FROM change WHERE conversation = ?1 AND (?2 IS NULL OR number <= ?2)
                ORDER BY number DESC LIMIT 1""",
            *(conversation, until),
        )
        return found[0][0] if found else 0

    def changes(self, after: int, until: int) -> list[Row]:
        return self._ask(
            """SELECT max(c.number), c.conversation,
                      coalesce((SELECT reached FROM change b
                                 WHERE b.conversation = c.conversation AND b.number <= ?1
                                 ORDER BY b.number DESC LIMIT 1), 0),
                      c.reached
                 FROM change c WHERE c.number > ?1 AND c.number <= ?2
                GROUP BY c.conversation ORDER BY 1, 2""",
            *(after, until),
        )

    # ── conversations ──

    def count(self) -> int:
        number: int = self.sql.execute("SELECT count(*) FROM conversation").get
        return number

    def listed(self, wanted: Filter) -> list[Row]:
        where, values = _conditions(wanted)
        return self._ask(
            f"""SELECT number, data, id, title FROM conversation {where}
                 ORDER BY updated_at DESC, id LIMIT ?""",
            *(*values, -1 if wanted.limit is None else wanted.limit),
        )

    def links(self, only: Sequence[int] | None) -> list[Row]:
        every = only is None
        # CROSS JOIN: few links, many conversations; SQLite must not begin with the latter.
        return self._ask(
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
            *(() if only is None else (_list(only),)),
        )

    def headings(
        self,
        finished: bool,
        limit: int,
        *,
        behind: int = 0,
        ids: Collection[str] | None = None,
        after: int = 0,
        since: str | None = None,
        beginning: str = "",
    ) -> list[Row]:
        told = "nature = 'prompts' OR data ->> '$.finished'" if finished else "1"
        fits = "AND (id GLOB ?3 OR native_id GLOB ?3)" if beginning else ""
        value: Any
        if ids is not None:
            where, value = f"id IN {_CHOSEN}", _list(ids)
        elif after:
            # The feed knows them, and is much smaller than all that is told of conversations.
            where, value = "id IN (SELECT conversation FROM change WHERE number > ?1)", after
        elif since is not None:
            where, value = "updated_at >= ?1 ORDER BY updated_at DESC, id", since
        else:
            where, value = f"number > ?1 {fits} ORDER BY number", behind
        # Not looked at twice: there are many, and whoever takes them looks at each value.
        return self.sql.execute(
            f"""SELECT number, id, family, grouping, source, nature, project, title, updated_at,
                       changed, {told} FROM conversation WHERE {where} LIMIT ?2""",
            (value, limit, *([_glob(beginning)] if fits else [])),
        ).fetchall()

    def missing(self, ids: Collection[str]) -> set[str]:
        found = self._ask(
            """SELECT w.value FROM json_each(?) w
                WHERE NOT EXISTS (SELECT 1 FROM conversation WHERE id = w.value)""",
            _list(ids),
        )
        return {id for (id,) in found}

    def beginning(self, prefix: str) -> list[Row]:
        return self._ask(
            """SELECT number, id FROM conversation WHERE id GLOB ?1 OR native_id GLOB ?1
                ORDER BY id""",
            _glob(prefix),
        )

    def aliased(self, name: str, beginning: bool) -> list[Row]:
        return self._ask(
            f"""SELECT number, id FROM conversation WHERE number IN
                   (SELECT conversation FROM tie WHERE token {"GLOB" if beginning else "="} ?
                       AND kind = 'alias' AND role = 'offer') ORDER BY number""",
            _glob(name) if beginning else name,
        )

    def neighbours(self, native_ids: Collection[str]) -> list[Row]:
        return self._ask(
            """SELECT w.value,
                      (SELECT max(native_id) FROM conversation WHERE native_id < w.value),
                      (SELECT min(native_id) FROM conversation
                        WHERE native_id > w.value || char(1114111)),
                      (SELECT count(*) FROM conversation WHERE native_id = w.value)
                 FROM json_each(?) w""",
            _list(native_ids),
        )

    def projects(self) -> list[str]:
        found = self._ask(
            """SELECT project FROM conversation WHERE project IS NOT NULL
                GROUP BY project ORDER BY max(updated_at) DESC NULLS LAST, project"""
        )
        return [project for (project,) in found]

    def forgotten(self, names: Collection[str] | None) -> list[Row]:
        if names is None:
            return self._ask("SELECT family, conversation FROM forgotten WHERE remembered = 0")
        return self._ask(
            f"""SELECT family, conversation FROM forgotten
                 WHERE remembered = 0 AND conversation IN {_CHOSEN}""",
            _list(names),
        )

    def sightings(self, directory: str, below: bool) -> list[Row]:
        condition = "{0} = ?1"
        if below:
            condition += " OR {0} GLOB ?2 OR {0} GLOB ?3"
        values = (
            directory,
            _glob(directory.rstrip("/") + "/"),
            _glob(directory.rstrip("\\") + "\\"),
        )
        return self._ask(
            f"""SELECT c.number, c.data, c.id, c.title, coalesce(s.project, c.project),
                       min(s.first_seen), max(coalesce(s.vanished_at, s.last_seen)),
                       iif(s.project IS NULL, iif(c.upstream = 'gone', NULL, c.source),
                           group_concat(DISTINCT iif(s.vanished_at IS NULL AND s.project IS NOT NULL
                                                     AND o.stream = 0, o.source, NULL)))
                  FROM conversation c
                  JOIN strand s ON s.family = c.family AND s.conversation = c.grouping
                  JOIN origin o ON o.id = s.origin
                 WHERE (s.project IS NOT NULL AND ({condition.format("s.project")})
                        AND c.nature <> 'notes')
                    OR (s.project IS NULL AND ({condition.format("c.project")})
                        AND c.nature <> 'subagent')
                 GROUP BY c.number, 5
                 ORDER BY c.updated_at DESC NULLS LAST, 7 DESC, c.number DESC, 5""",
            *(values if below else values[:1]),
        )

    def answers(self, after: str, limit: int, source: str | None, since: str | None) -> list[Row]:
        return self._ask(
            """SELECT c.id, a.data FROM conversation c JOIN answers a ON a.conversation = c.number
                WHERE c.id > ?1 AND (?3 IS NULL OR c.source = ?3)
                  AND (?4 IS NULL OR c.updated_at >= ?4) ORDER BY c.id LIMIT ?2""",
            *(after, limit, source, since),
        )

    # ── links ──

    def ties(self, conversation: int) -> list[Row]:
        return self._ask(
            "SELECT kind, role, token, detail FROM tie WHERE conversation = ? ORDER BY rowid",
            conversation,
        )

    def named_by(self, family: str, grouping: str) -> list[int]:
        found = self._ask(
            """SELECT DISTINCT t.conversation
                 FROM naming n JOIN tie t ON t.token = n.token AND t.family = n.family
                WHERE n.family = ? AND n.grouping = ? AND t.role = 'want'""",
            *(family, grouping),
        )
        return [number for (number,) in found]

    def related(self, conversations: Collection[int]) -> list[int]:
        return [number for (number,) in self._ask(_RELATED, _list(conversations))]

    def offered(self, conversation: int) -> list[Row]:
        return self._ask(_OFFERED, conversation)

    def title_elsewhere(self, conversation: int) -> str | None:
        found = self._ask(_TITLE, conversation)
        return found[0][0] if found else None

    def elder(self, conversation: int) -> Row | None:
        return next(iter(self._ask(_ELDER, conversation)), None)


def _conditions(wanted: Filter) -> tuple[str, list[Any]]:
    conditions: list[str] = []
    values: list[Any] = []
    for column, value in (("source", wanted.source), ("upstream", wanted.upstream)):
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(value)
    if wanted.ids is not None:
        conditions.append("id IN (SELECT value FROM json_each(?))")
        values.append(_list(wanted.ids))
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
    if wanted.begun is not None:
        conditions.append("coalesce(started_at, updated_at) <= ?")
        values.append(wanted.begun)
    for word in (wanted.title or "").split():
        conditions.append("instr(lower(title), lower(?)) > 0")
        values.append(word)
    for tag in wanted.tags:
        conditions.append(_TAGGED)
        values.append(tag)
    if wanted.streams is not None:
        conditions.append(_READ_ON)
        values.append(_list(wanted.streams))
    if wanted.starred:
        conditions.append("number IN (SELECT conversation FROM curation WHERE starred)")
    if wanted.hidden is not None:
        within, fits = ("IN", "hidden = 1") if wanted.hidden else ("NOT IN", "hidden > 0")
        conditions.append(f"number {within} (SELECT conversation FROM curation WHERE {fits})")
    if not wanted.subagents:
        conditions.append("nature NOT IN ('subagent', 'notes')")
    if wanted.after is not None:
        # In the list's own order: newest first, those without a time last, equals by their id.
        conditions.append("(ifnull(updated_at, '') < ? OR (ifnull(updated_at, '') = ? AND id > ?))")
        time, id = wanted.after
        values += [time or "", time or "", id]
    return ("WHERE " + " AND ".join(conditions) if conditions else ""), values


def _list(values: Collection[int] | Collection[str]) -> str:
    """Many values for one parameter."""
    return msgspec.json.encode(list(values)).decode()


def _glob(prefix: str) -> str:
    """A pattern for everything that begins with `prefix`, whose own letters mean only themselves."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in prefix) + "*"
