"""Questions about many rows, or rows of several tables, in the SQL of PostgreSQL.

Every table is asked for the rows of one owner, by name: so a cluster finds all of them on one node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import msgspec

from rireki.archive.rows import Row
from rireki.archive.values import Filter

__all__ = ["PostgresQuestions", "stored", "told"]

#: Behind everything that begins with a text.
_LAST = chr(0x10FFFF)
#: PostgreSQL keeps no U+0000: this stands for it, with a 0 behind it, and with a 1 for itself.
_ZERO = chr(0xFFFFE)

ORIGINS = """
    SELECT o.id, o.source, o.place, o.root, o.form, o.role, o.stamp, o.first_seen, o.vanished_at
      FROM origin o
     WHERE o.owner = %(owner)s AND o.stream = 0 AND o.id > %(after)s
     ORDER BY o.id LIMIT %(limit)s
"""
NAMED_ORIGINS = """
    SELECT o.id, o.source, o.place, o.root, o.form, o.role, o.stamp, o.first_seen, o.vanished_at,
           s.conversation
      FROM origin o
      LEFT JOIN strand s ON s.owner = %(owner)s AND s.origin = o.id AND s.key = ''
     WHERE o.owner = %(owner)s AND o.stream = 0 AND o.id > %(after)s
     ORDER BY o.id LIMIT %(limit)s
"""
REOPEN_ORIGINS = """
    UPDATE origin o SET stamp = ''
     WHERE o.owner = %(owner)s AND o.stream = 0 AND (o.form = 'database' OR NOT EXISTS (
           SELECT 1 FROM strand s WHERE s.owner = %(owner)s AND s.origin = o.id))
"""
TROUBLES = """
    SELECT o.source, o.place, t.place, t.message, t.hint
      FROM trouble t JOIN origin o ON o.owner = %(owner)s AND o.id = t.origin
     WHERE t.owner = %(owner)s AND (%(source)s::text IS NULL OR o.source = %(source)s)
     ORDER BY t.place, t.origin, t.key
"""
#: The strands first, whatever the planner makes of an archive that it has no statistics of yet: it
#: would look at all origins of the owner for each conversation.
STRANDS = """
      WITH s AS MATERIALIZED (
           SELECT id, key, conversation, role, project, first_seen, last_seen, vanished_at, cursor,
                  origin, remote
             FROM strand
            WHERE owner = %(owner)s AND family = %(family)s AND conversation = %(conversation)s)
    SELECT s.id, s.key, s.conversation, s.role, s.project, s.first_seen, s.last_seen,
           s.vanished_at, s.cursor, o.source, o.place, o.root, o.stream
      FROM s JOIN origin o ON o.owner = %(owner)s AND o.id = s.origin
     ORDER BY o.stream, s.remote, s.id
"""
HOLDERS = """
    SELECT DISTINCT o.stream
      FROM strand s JOIN origin o ON o.owner = %(owner)s AND o.id = s.origin
     WHERE s.owner = %(owner)s AND s.family = %(family)s AND s.conversation = %(conversation)s
       AND s.vanished_at IS NULL
"""
SHARED_STRANDS = """
    SELECT id FROM strand
     WHERE owner = %(owner)s AND family = %(family)s AND conversation >= '@' AND conversation < 'A'
"""
CHUNKS = """
    SELECT {columns} FROM chunk
     WHERE owner = %(owner)s AND strand = %(strand)s AND lane = %(lane)s AND first <= %(high)s
       AND first >= coalesce((SELECT max(first) FROM chunk
                               WHERE owner = %(owner)s AND strand = %(strand)s
                                 AND lane = %(lane)s AND first <= %(low)s), 0)
     ORDER BY first LIMIT %(limit)s
"""
WEIGHT = """
    SELECT coalesce(sum(c.size), 0)::bigint
      FROM strand s JOIN chunk c ON c.owner = %(owner)s AND c.strand = s.id
     WHERE s.owner = %(owner)s AND s.family = %(family)s AND s.conversation = %(conversation)s
"""
GROUPS = """
    SELECT DISTINCT family, conversation FROM strand
     WHERE owner = %(owner)s AND conversation IS NOT NULL
       AND (family, conversation) > (%(family)s, %(conversation)s)
     ORDER BY family, conversation LIMIT %(limit)s
"""

# ── between archives ──

CHANGED = """
    SELECT number, id FROM strand
     WHERE owner = %(owner)s AND remote = 0 AND (number, id) > (%(number)s, %(id)s)
     ORDER BY number, id LIMIT %(limit)s
"""
BETWEEN = """
    SELECT {columns} FROM {table}
     WHERE owner = %(owner)s AND number > %(after)s AND number <= %(until)s
     ORDER BY number, {columns}
"""
TAKEN_STRANDS = """
    SELECT {columns}
      FROM strand JOIN origin ON origin.owner = %(owner)s AND origin.id = strand.origin
     WHERE strand.owner = %(owner)s AND strand.remote = ANY(%(chosen)s::bigint[])
       AND strand.remote <> 0 AND origin.stream = %(stream)s
"""
TAKEN_ORIGINS = """
    SELECT {columns} FROM origin
     WHERE origin.owner = %(owner)s AND origin.stream = %(stream)s
       AND origin.remote = ANY(%(chosen)s::bigint[]) AND origin.remote <> 0
"""
LANES = """
    SELECT c.strand, c.lane, c.first + c.count
      FROM (SELECT strand, lane, max(first) AS first FROM chunk
             WHERE owner = %(owner)s AND strand = ANY(%(chosen)s::bigint[])
             GROUP BY strand, lane) l
      JOIN chunk c
        ON c.owner = %(owner)s AND c.strand = l.strand AND c.lane = l.lane AND c.first = l.first
     ORDER BY 1, 2
"""

# ── what waits, and what changed ──

WAITING = """
    SELECT family, conversation, number FROM dirty
     WHERE owner = %(owner)s AND (family, conversation) > (%(family)s, %(conversation)s)
       AND (left(conversation, 1) = '@') = %(shared)s
     ORDER BY family, conversation LIMIT %(limit)s
"""
LACKING = """
    SELECT count(*) FROM dirty d
     WHERE d.owner = %(owner)s AND left(d.conversation, 1) <> '@' AND NOT EXISTS (
           SELECT 1 FROM conversation c
            WHERE c.owner = %(owner)s AND c.family = d.family AND c.grouping = d.conversation)
"""
MARK_ALL = """
    INSERT INTO dirty (owner, family, conversation, number)
    SELECT DISTINCT s.owner, s.family, s.conversation, %(number)s::bigint FROM strand s
     WHERE s.owner = %(owner)s AND s.conversation IS NOT NULL
    ON CONFLICT (owner, family, conversation) DO UPDATE SET number = EXCLUDED.number
"""
REACHED = """
    SELECT reached FROM change
     WHERE owner = %(owner)s AND conversation = %(conversation)s AND number <= %(until)s
     ORDER BY number DESC LIMIT 1
"""
CHANGES = """
    SELECT l.number, l.conversation,
           coalesce((SELECT b.reached FROM change b
                      WHERE b.owner = %(owner)s AND b.conversation = l.conversation
                        AND b.number <= %(after)s
                      ORDER BY b.number DESC LIMIT 1), 0),
           l.reached
      FROM (SELECT DISTINCT ON (c.conversation) c.number, c.conversation, c.reached FROM change c
             WHERE c.owner = %(owner)s AND c.number > %(after)s AND c.number <= %(until)s
             ORDER BY c.conversation, c.number DESC) l
     ORDER BY 1, 2
"""

# ── conversations ──

COUNT = "SELECT count(*) FROM conversation WHERE owner = %(owner)s"
LISTED = """
    SELECT number, data, id, title FROM conversation
     WHERE owner = %(owner)s {conditions}
     ORDER BY updated_at DESC NULLS LAST, id {limit}
"""
#: Whose place was taken may have taken it back since, from whoever had it then.
LINKS = """
    SELECT l.child, l.parent, l.kind, l.call_id, c.id, p.id
      FROM (SELECT k.child, k.parent, k.kind, k.call_id FROM link k
             WHERE k.owner = %(owner)s {chosen_links}
             UNION ALL
            SELECT a.number, b.number, 'supersedes', NULL FROM succession s
              JOIN conversation a
                ON a.owner = %(owner)s AND a.family = s.family AND a.native_id = s.child
              JOIN conversation b
                ON b.owner = %(owner)s AND b.family = s.family AND b.native_id = s.parent
             WHERE s.owner = %(owner)s AND NOT EXISTS (
                   SELECT 1 FROM succession back
                    WHERE back.owner = %(owner)s AND back.family = s.family
                      AND back.child = s.parent AND back.at > s.at) {chosen_successions}) l
      JOIN conversation c ON c.owner = %(owner)s AND c.number = l.child
      JOIN conversation p ON p.owner = %(owner)s AND p.number = l.parent
     ORDER BY l.kind, c.id, p.id
"""
_CHOSEN = "ANY(%(chosen)s::bigint[])"
CHOSEN_LINKS = {
    "chosen_links": f"AND (k.child = {_CHOSEN} OR k.parent = {_CHOSEN})",
    "chosen_successions": f"AND (a.number = {_CHOSEN} OR b.number = {_CHOSEN})",
}
HEADINGS = """
    SELECT number, id, family, grouping, source, nature, project, title, updated_at, changed,
           {finished} FROM conversation
     WHERE owner = %(owner)s AND {condition} {limit}
"""
FINISHED = "nature = 'prompts' OR coalesce(data::json ->> 'finished' = 'true', false)"
CHOSEN_HEADINGS = "id = ANY(%(chosen)s::text[])"
HEADINGS_AFTER = """id IN (SELECT c.conversation FROM change c
                            WHERE c.owner = %(owner)s AND c.number > %(after)s)"""
HEADINGS_SINCE = "updated_at >= %(since)s ORDER BY updated_at DESC, id"
HEADINGS_BEHIND = "number > %(behind)s {fits} ORDER BY number"
_BEGINS = """(id >= %(prefix)s AND id < %(beyond)s
              OR native_id >= %(prefix)s AND native_id < %(beyond)s)"""
PRESENT = "SELECT id FROM conversation WHERE owner = %(owner)s AND id = ANY(%(chosen)s::text[])"
BEGINNING = f"""
    SELECT number, id FROM conversation WHERE owner = %(owner)s AND {_BEGINS} ORDER BY id
"""
ALIASED = """
    SELECT c.number, c.id FROM conversation c
     WHERE c.owner = %(owner)s AND c.number IN (
           SELECT t.conversation FROM tie t
            WHERE t.owner = %(owner)s AND t.token >= %(prefix)s AND t.token <= %(beyond)s
              AND t.kind = 'alias' AND t.role = 'offer')
     ORDER BY c.number
"""
NEIGHBOURS = f"""
    SELECT w.value,
           (SELECT max(native_id) FROM conversation
             WHERE owner = %(owner)s AND native_id < w.value),
           (SELECT min(native_id) FROM conversation
             WHERE owner = %(owner)s AND native_id > w.value || '{_LAST}'),
           (SELECT count(*) FROM conversation
             WHERE owner = %(owner)s AND native_id = w.value)
      FROM unnest(%(chosen)s::text[]) AS w (value)
"""
PROJECTS = """
    SELECT project FROM conversation WHERE owner = %(owner)s AND project IS NOT NULL
     GROUP BY project ORDER BY max(updated_at) DESC NULLS LAST, project
"""
FORGOTTEN = """
    SELECT family, conversation FROM forgotten
     WHERE owner = %(owner)s AND remembered = 0 {conditions}
"""
CHOSEN_FORGOTTEN = "AND conversation = ANY(%(chosen)s::text[])"
SIGHTINGS = """
    SELECT c.number, c.data, c.id, c.title, coalesce(s.project, c.project), min(s.first_seen),
           max(coalesce(s.vanished_at, s.last_seen)),
           CASE WHEN s.project IS NULL
                THEN CASE WHEN c.upstream = 'gone' THEN NULL ELSE c.source END
                ELSE string_agg(DISTINCT CASE WHEN s.vanished_at IS NULL AND o.stream = 0
                                              THEN o.source END, ',') END
      FROM conversation c
      JOIN strand s
        ON s.owner = %(owner)s AND s.family = c.family AND s.conversation = c.grouping
      JOIN origin o ON o.owner = %(owner)s AND o.id = s.origin
     WHERE c.owner = %(owner)s
       AND (s.project IS NOT NULL AND ({of_strand}) AND c.nature <> 'notes'
            OR s.project IS NULL AND ({of_conversation}) AND c.nature <> 'subagent')
     GROUP BY c.owner, c.number, s.project
     ORDER BY c.updated_at DESC NULLS LAST, 7 DESC, c.number DESC, 5
"""
ANSWERS = """
    SELECT c.id, a.data
      FROM conversation c JOIN answers a ON a.owner = %(owner)s AND a.conversation = c.number
     WHERE c.owner = %(owner)s AND c.id > %(after)s
       AND (%(source)s::text IS NULL OR c.source = %(source)s)
       AND (%(since)s::text IS NULL OR c.updated_at >= %(since)s)
     ORDER BY c.id LIMIT %(limit)s
"""

CURATIONS = """
    SELECT k.conversation, c.id, k.title, k.tags, k.starred, k.hidden, k.notes
      FROM curation k JOIN conversation c ON c.owner = %(owner)s AND c.number = k.conversation
     WHERE k.owner = %(owner)s {chosen}
"""
READ_ON = """
    SELECT DISTINCT c.number, c.id, o.stream FROM conversation c
      JOIN strand s
        ON s.owner = %(owner)s AND s.family = c.family AND s.conversation = c.grouping
      JOIN origin o ON o.owner = %(owner)s AND o.id = s.origin
     WHERE c.owner = %(owner)s {chosen}
"""
_OF_STREAMS = """AND number IN (
    SELECT c.number FROM origin o
      JOIN strand s ON s.owner = %(owner)s AND s.origin = o.id
      JOIN conversation c
        ON c.owner = %(owner)s AND c.family = s.family AND c.grouping = s.conversation
     WHERE o.owner = %(owner)s AND o.stream = ANY(%(streams)s::bigint[]))"""
_CURATED = """AND number {within} (SELECT k.conversation FROM curation k
                                   WHERE k.owner = %(owner)s AND {fits})"""
#: A JSON list without spaces.
_TAGGED = "strpos(',' || substr(k.tags, 2, length(k.tags) - 2) || ',', %(tag{place})s) > 0"

# ── links ──

TIES = """
    SELECT kind, role, token, detail FROM tie
     WHERE owner = %(owner)s AND conversation = %(conversation)s ORDER BY place
"""
NAMED_BY = """
    SELECT DISTINCT t.conversation
      FROM naming n
      JOIN tie t ON t.owner = %(owner)s AND t.token = n.token AND t.family = n.family
     WHERE n.owner = %(owner)s AND n.family = %(family)s AND n.grouping = %(grouping)s
       AND t.role = 'want'
"""
#: Whoever may have another parent now: what changed, its relatives, and its children so far. Of
#: these, whoever has something in common with another, or had: most conversations have not.
RELATED = f"""
    WITH affected AS MATERIALIZED (
         SELECT number FROM conversation WHERE owner = %(owner)s AND number = {_CHOSEN}
          UNION
         SELECT other.conversation FROM tie mine
           JOIN tie other
             ON other.owner = %(owner)s AND other.token = mine.token AND other.family = mine.family
          WHERE mine.owner = %(owner)s AND mine.conversation = {_CHOSEN}
          UNION
         SELECT child FROM link WHERE owner = %(owner)s AND parent = {_CHOSEN})
    SELECT a.number FROM affected a
     WHERE EXISTS (SELECT 1 FROM link k WHERE k.owner = %(owner)s AND k.child = a.number)
        OR EXISTS (SELECT 1 FROM tie mine
                     JOIN tie other
                       ON other.owner = %(owner)s AND other.token = mine.token
                      AND other.family = mine.family AND other.conversation <> a.number
                    WHERE mine.owner = %(owner)s AND mine.conversation = a.number)
        OR EXISTS (SELECT 1 FROM tie mine
                     JOIN naming named
                       ON named.owner = %(owner)s AND named.token = mine.token
                      AND named.family = mine.family
                    WHERE mine.owner = %(owner)s AND mine.conversation = a.number
                      AND mine.kind = 'title')
     ORDER BY a.number
"""
OFFERED = """
    SELECT mine.kind, other.conversation, coalesce(mine.detail, other.detail), mine.token
      FROM tie mine
      JOIN tie other
        ON other.owner = %(owner)s AND other.token = mine.token AND other.family = mine.family
       AND other.role = 'offer' AND other.conversation <> mine.conversation
      JOIN conversation c ON c.owner = %(owner)s AND c.number = other.conversation
     WHERE mine.owner = %(owner)s AND mine.conversation = %(conversation)s
       AND mine.role = 'want' AND mine.kind <> 'title'
     ORDER BY coalesce(c.started_at, '') DESC, coalesce(c.updated_at, '') DESC, c.id DESC,
              mine.place, other.place
"""
TITLE_ELSEWHERE = """
    SELECT coalesce(other.detail, named.title)
      FROM tie mine
      LEFT JOIN tie other
        ON other.owner = %(owner)s AND other.token = mine.token AND other.family = mine.family
       AND other.role = 'offer' AND other.conversation <> mine.conversation
      LEFT JOIN conversation c ON c.owner = %(owner)s AND c.number = other.conversation
      LEFT JOIN naming named
        ON named.owner = %(owner)s AND named.token = mine.token AND named.family = mine.family
     WHERE mine.owner = %(owner)s AND mine.conversation = %(conversation)s
       AND mine.role = 'want' AND mine.kind = 'title'
       AND coalesce(other.detail, named.title) IS NOT NULL
     ORDER BY mine.place, c.started_at NULLS FIRST, c.id NULLS FIRST, named.grouping NULLS FIRST,
              other.place NULLS FIRST
     LIMIT 1
"""
ELDER = """
    SELECT CASE WHEN 'continuation' IN (mine.kind, other.kind)
                THEN 'continuation' ELSE 'fork' END, c.number
      FROM tie mine
      JOIN conversation me ON me.owner = %(owner)s AND me.number = mine.conversation
      JOIN tie other
        ON other.owner = %(owner)s AND other.token = mine.token AND other.family = mine.family
       AND other.role = 'share'
      JOIN conversation c ON c.owner = %(owner)s AND c.number = other.conversation
     WHERE mine.owner = %(owner)s AND mine.conversation = %(conversation)s AND mine.role = 'share'
       AND (coalesce(c.started_at, ''), coalesce(c.updated_at, ''), c.id)
         < (coalesce(me.started_at, ''), coalesce(me.updated_at, ''), me.id)
     ORDER BY coalesce(c.started_at, '') DESC, coalesce(c.updated_at, '') DESC, c.id DESC,
              mine.place, other.place
     LIMIT 1
"""

# ── whether all fits together ──

ORPHANS = {
    "strand": """
        SELECT 1 FROM strand s WHERE s.owner = %(owner)s AND NOT EXISTS (
               SELECT 1 FROM origin o WHERE o.owner = %(owner)s AND o.id = s.origin) LIMIT 1
    """,
    "chunk": """
        SELECT 1 FROM chunk c WHERE c.owner = %(owner)s AND NOT EXISTS (
               SELECT 1 FROM strand s WHERE s.owner = %(owner)s AND s.id = c.strand) LIMIT 1
    """,
    "state": """
        SELECT 1 FROM state t WHERE t.owner = %(owner)s AND NOT EXISTS (
               SELECT 1 FROM strand s WHERE s.owner = %(owner)s AND s.id = t.strand) LIMIT 1
    """,
    "answers": """
        SELECT 1 FROM answers a WHERE a.owner = %(owner)s AND NOT EXISTS (
               SELECT 1 FROM conversation c
                WHERE c.owner = %(owner)s AND c.number = a.conversation) LIMIT 1
    """,
}


class PostgresQuestions:
    owner: int

    def _run(self, question: str, values: Sequence[Any] | dict[str, Any]) -> list[Row]:
        raise NotImplementedError

    def _ask(self, question: str, **values: Any) -> list[Row]:
        values = dict(zip(values, stored(values.values()), strict=True))
        return told(self._run(question, {"owner": self.owner, **values}))

    def orphans(self) -> list[str]:
        return [table for table, question in ORPHANS.items() if self._ask(question)]

    # ── records ──

    def origins(self, after: int, limit: int, named: bool) -> list[Row]:
        return self._ask(NAMED_ORIGINS if named else ORIGINS, after=after, limit=limit)

    def reopen_origins(self) -> None:
        self._ask(REOPEN_ORIGINS)

    def troubles(self, source: str | None) -> list[Row]:
        return self._ask(TROUBLES, source=source)

    def strands(self, family: str, conversation: str) -> list[Row]:
        return self._ask(STRANDS, family=family, conversation=conversation)

    def holders(self, family: str, conversation: str) -> list[int]:
        return [id for (id,) in self._ask(HOLDERS, family=family, conversation=conversation)]

    def shared_strands(self, family: str) -> list[int]:
        return [id for (id,) in self._ask(SHARED_STRANDS, family=family)]

    def chunks(
        self, strand: int, lane: str, low: int, high: int, columns: str, limit: int
    ) -> list[Row]:
        question = CHUNKS.format(columns=columns)
        return self._ask(question, strand=strand, lane=lane, low=low, high=high, limit=limit)

    def weight(self, family: str, grouping: str) -> int:
        ((size,),) = self._ask(WEIGHT, family=family, conversation=grouping)
        return int(size)

    def groups(self, after: tuple[str, str], limit: int) -> list[Row]:
        return self._ask(GROUPS, family=after[0], conversation=after[1], limit=limit)

    # ── between archives ──

    def changed(self, after: tuple[int, int], limit: int) -> list[Row]:
        return self._ask(CHANGED, number=after[0], id=after[1], limit=limit)

    def between(self, table: str, columns: str, after: int, until: int) -> list[Row]:
        return self._ask(BETWEEN.format(table=table, columns=columns), after=after, until=until)

    def taken(self, table: str, stream: int, remote: Collection[int], columns: str) -> list[Row]:
        question = TAKEN_ORIGINS if table == "origin" else TAKEN_STRANDS
        return self._ask(question.format(columns=columns), stream=stream, chosen=list(remote))

    def lanes(self, strands: Collection[int]) -> list[Row]:
        return self._ask(LANES, chosen=list(strands))

    # ── what waits, and what changed ──

    def waiting(self, after: tuple[str, str], limit: int, shared: bool) -> list[Row]:
        family, conversation = after
        return self._ask(
            WAITING, family=family, conversation=conversation, limit=limit, shared=shared
        )

    def lacking(self) -> int:
        return int(self._ask(LACKING)[0][0])

    def mark_all(self, number: int) -> None:
        self._ask(MARK_ALL, number=number)

    def reached(self, conversation: str, until: int | None) -> int:
        until = (1 << 62) if until is None else until
        found = self._ask(REACHED, conversation=conversation, until=until)
        return int(found[0][0]) if found else 0

    def changes(self, after: int, until: int) -> list[Row]:
        return self._ask(CHANGES, after=after, until=until)

    # ── conversations ──

    def count(self) -> int:
        return int(self._ask(COUNT)[0][0])

    def listed(self, wanted: Filter) -> list[Row]:
        conditions, values = _conditions(wanted)
        limit = "" if wanted.limit is None else "LIMIT %(limit)s"
        question = LISTED.format(conditions=" ".join(conditions), limit=limit)
        return self._ask(question, **values, limit=wanted.limit)

    def links(self, only: Sequence[int] | None) -> list[Row]:
        if only is None:
            return self._ask(LINKS.format(chosen_links="", chosen_successions=""))
        return self._ask(LINKS.format(**CHOSEN_LINKS), chosen=list(only))

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
        values: dict[str, Any]
        if ids is not None:
            condition, values = CHOSEN_HEADINGS, {"chosen": list(ids)}
        elif after:
            condition, values = HEADINGS_AFTER, {"after": after}
        elif since is not None:
            condition, values = HEADINGS_SINCE, {"since": since}
        else:
            fits = f"AND {_BEGINS}" if beginning else ""
            condition = HEADINGS_BEHIND.format(fits=fits)
            values = {"behind": behind, **_beginning(beginning)}
        question = HEADINGS.format(
            finished=FINISHED if finished else "true",
            condition=condition,
            limit="LIMIT %(limit)s" if limit >= 0 else "",
        )
        return self._ask(question, **values, limit=limit)

    def missing(self, ids: Collection[str]) -> set[str]:
        return set(ids) - {id for (id,) in self._ask(PRESENT, chosen=list(ids))}

    def beginning(self, prefix: str) -> list[Row]:
        return self._ask(BEGINNING, **_beginning(prefix))

    def aliased(self, name: str, beginning: bool) -> list[Row]:
        return self._ask(ALIASED, prefix=name, beyond=name + _LAST if beginning else name)

    def neighbours(self, native_ids: Collection[str]) -> list[Row]:
        return self._ask(NEIGHBOURS, chosen=list(native_ids))

    def projects(self) -> list[str]:
        return [project for (project,) in self._ask(PROJECTS)]

    def forgotten(self, names: Collection[str] | None) -> list[Row]:
        if names is None:
            return self._ask(FORGOTTEN.format(conditions=""))
        return self._ask(FORGOTTEN.format(conditions=CHOSEN_FORGOTTEN), chosen=list(names))

    def sightings(self, directory: str, below: bool) -> list[Row]:
        of = _below if below else _equal
        question = SIGHTINGS.format(of_strand=of("s.project"), of_conversation=of("c.project"))
        return self._ask(question, **_folders(directory))

    def answers(self, after: str, limit: int, source: str | None, since: str | None) -> list[Row]:
        return self._ask(ANSWERS, after=after, limit=limit, source=source, since=since)

    def read_on(self, only: Collection[int] | None) -> list[Row]:
        if only is None:
            return self._ask(READ_ON.format(chosen=""))
        chosen = f"AND c.number = {_CHOSEN}"
        return self._ask(READ_ON.format(chosen=chosen), chosen=list(only))

    def curations(self, only: Collection[int] | None) -> list[Row]:
        if only is None:
            return self._ask(CURATIONS.format(chosen=""))
        chosen = f"AND k.conversation = {_CHOSEN}"
        return self._ask(CURATIONS.format(chosen=chosen), chosen=list(only))

    # ── links ──

    def ties(self, conversation: int) -> list[Row]:
        return self._ask(TIES, conversation=conversation)

    def named_by(self, family: str, grouping: str) -> list[int]:
        return [number for (number,) in self._ask(NAMED_BY, family=family, grouping=grouping)]

    def related(self, conversations: Collection[int]) -> list[int]:
        return [number for (number,) in self._ask(RELATED, chosen=list(conversations))]

    def offered(self, conversation: int) -> list[Row]:
        return self._ask(OFFERED, conversation=conversation)

    def title_elsewhere(self, conversation: int) -> str | None:
        found = self._ask(TITLE_ELSEWHERE, conversation=conversation)
        return found[0][0] if found else None

    def elder(self, conversation: int) -> Row | None:
        return next(iter(self._ask(ELDER, conversation=conversation)), None)


# ── conditions ──


def _conditions(wanted: Filter) -> tuple[list[str], dict[str, Any]]:
    plain = {
        "source": ("AND source = %(source)s", wanted.source),
        "upstream": ("AND upstream = %(upstream)s", wanted.upstream),
        "since": ("AND updated_at >= %(since)s", wanted.since),
        "before": ("AND updated_at < %(before)s", wanted.before),
        "begun": ("AND coalesce(started_at, updated_at) <= %(begun)s", wanted.begun),
        "chosen": (f"AND {CHOSEN_HEADINGS}", None if wanted.ids is None else list(wanted.ids)),
    }
    conditions = [condition for condition, value in plain.values() if value is not None]
    values: dict[str, Any] = {name: value for name, (_, value) in plain.items()}
    if wanted.project is not None:
        of = _below if wanted.below else _equal
        conditions.append(f"AND ({of('project')})")
        values |= _folders(wanted.project)
    for place, word in enumerate((wanted.title or "").split()):
        conditions.append(f'AND strpos(lower(title), lower(%(word{place})s::text COLLATE "C")) > 0')
        values[f"word{place}"] = word
    for place, tag in enumerate(wanted.tags):
        tagged = _TAGGED.format(place=place)
        conditions.append(_CURATED.format(within="IN", fits=tagged))
        values[f"tag{place}"] = f",{msgspec.json.encode(tag).decode()},"
    if wanted.streams is not None:
        conditions.append(_OF_STREAMS)
        values["streams"] = list(wanted.streams)
    if wanted.starred:
        conditions.append(_CURATED.format(within="IN", fits="k.starred = 1"))
    if wanted.hidden is not None:
        within = "IN" if wanted.hidden else "NOT IN"
        fits = "k.hidden = 1" if wanted.hidden else "k.hidden > 0"
        conditions.append(_CURATED.format(within=within, fits=fits))
    if not wanted.subagents:
        conditions.append("AND nature NOT IN ('subagent', 'notes')")
    if wanted.after is not None:
        # In the list's own order: newest first, those without a time last, equals by their id.
        conditions.append(
            """AND (coalesce(updated_at, '') < %(time)s
                    OR coalesce(updated_at, '') = %(time)s AND id > %(id)s)"""
        )
        values["time"], values["id"] = wanted.after[0] or "", wanted.after[1]
    return conditions, values


def _equal(column: str) -> str:
    return f"{column} = %(folder)s"


def _below(column: str) -> str:
    return f"""{column} = %(folder)s
               OR {column} >= %(within)s AND {column} < %(without)s
               OR {column} >= %(within_windows)s AND {column} < %(without_windows)s"""


def _folders(directory: str) -> dict[str, str]:
    plain, windows = directory.rstrip("/") + "/", directory.rstrip("\\") + "\\"
    return {
        "folder": directory,
        "within": plain,
        "without": plain + _LAST,
        "within_windows": windows,
        "without_windows": windows + _LAST,
    }


def _beginning(prefix: str) -> dict[str, str]:
    return {"prefix": prefix, "beyond": prefix + _LAST}


# ── values ──


def stored(values: Iterable[Any]) -> list[Any]:
    return [
        _without_zero(value)
        if type(value) is str
        else [_without_zero(each) if type(each) is str else each for each in value]
        if type(value) is list
        else value
        for value in values
    ]


def _without_zero(text: str) -> str:
    if "\0" in text or _ZERO in text:
        return text.replace(_ZERO, f"{_ZERO}1").replace("\0", f"{_ZERO}0")
    return text


def told(rows: list[Row]) -> list[Row]:
    """The rows as they were stored; hardly any has such a text."""
    if any(type(value) is str and _ZERO in value for row in rows for value in row):
        return [tuple(map(_with_zero, row)) for row in rows]
    return rows


def _with_zero(value: Any) -> Any:
    if type(value) is str and _ZERO in value:
        return value.replace(f"{_ZERO}0", "\0").replace(f"{_ZERO}1", _ZERO)
    return value
