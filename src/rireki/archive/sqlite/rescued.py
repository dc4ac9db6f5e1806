"""What can be read of a damaged archive, as a database in memory that is queried like any archive.

The damaged file is only read, page by page; SQLite never opens it. Packed records stay there and
are fetched when they are asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import apsw
import msgspec
from zstandard import ZstdError

from rireki.archive.database import stamps_of
from rireki.archive.pack import unsqueeze
from rireki.archive.sqlite.complete import RecoveredFacts, complete
from rireki.archive.sqlite.connect import steps
from rireki.archive.sqlite.pages import Unreadable
from rireki.archive.sqlite.recover import Recovered, RecoveredRow, Values, recover
from rireki.model.conversation import Answer, Conversation, Trouble

__all__ = ["Rescued", "insert", "insert_facts", "open_rescued"]

AGAIN = "Nothing is lost: 'rireki rebuild' makes it again from the records."
_ANSWERS = msgspec.json.Decoder(list[Answer])
_CONVERSATION = msgspec.json.Decoder(Conversation)
#: `chunk` without its data, and a view that adds it.
_CHUNKS = """
    DROP TABLE chunk_sum;
    DROP TABLE chunk;
    CREATE TABLE chunk_place (
        id INTEGER PRIMARY KEY, strand INTEGER, lane TEXT, first INTEGER, count INTEGER,
        size INTEGER, lengths TEXT, digests BLOB, UNIQUE (strand, lane, first)
    );
    CREATE VIEW chunk AS SELECT *, chunk_data(id) AS data FROM chunk_place
"""


class Rescued(apsw.Connection):
    """Reads only. What was lost is told in `lost`."""

    def __init__(self, path: Path) -> None:
        super().__init__(":memory:")
        self.path = path
        self.seen = stamps_of(path)
        self.lost: list[Trouble] = []

    def is_outdated(self) -> bool:
        return stamps_of(self.path) != self.seen


_kept: dict[Path, tuple[object, bytes, list[Trouble], Recovered]] = {}
_one_at_a_time = threading.Lock()


def open_rescued(path: Path) -> Rescued:
    """Read the whole file once for all threads, as long as nobody writes it."""
    connection = Rescued(path.resolve())
    with _one_at_a_time:
        kept = _kept.get(connection.path)
        if kept is None or kept[0] != connection.seen:
            kept = _kept[connection.path] = (connection.seen, *_read(connection.path))
    _, content, connection.lost, recovered = kept
    connection.deserialize("main", content)
    data = partial(_data, recovered, {row.values["id"]: row for row in recovered.rows["chunk"]})
    connection.create_scalar_function("chunk_data", data, 1)
    connection.execute("PRAGMA query_only = ON")
    return connection


def _data(recovered: Recovered, rows: dict[int, RecoveredRow], number: int) -> bytes:
    try:
        return recovered.data(rows[number])
    except (Unreadable, KeyError):
        # Not a zstd frame: whoever unpacks it is told that this chunk is damaged.
        return b""


def _read(path: Path) -> tuple[bytes, list[Trouble], Recovered]:
    recovered = recover(path)
    facts = complete(recovered, opening=False)
    sql = apsw.Connection(":memory:")
    for step in steps():
        sql.execute(step)
    sql.execute(_CHUNKS)
    with sql:
        insert_facts(sql, facts)
        insert(sql, "chunk_place", [row.values for row in facts.chunks])
        _insert_projection(sql, recovered, facts)
    sql.pragma("user_version", len(steps()))
    content = sql.serialize("main")
    sql.close()
    return content, facts.lost, recovered


def insert_facts(sql: apsw.Connection, facts: RecoveredFacts) -> None:
    """Everything but the chunks."""
    insert(sql, "meta", [{"key": "number", "value": facts.number}])
    insert(sql, "origin", list(facts.origins.values()))
    insert(sql, "strand", list(facts.strands.values()))
    insert(sql, "state", facts.states)
    insert(sql, "succession", facts.successions)
    insert(sql, "forgotten", facts.forgotten)
    insert(sql, "trouble", facts.troubles)
    insert(sql, "stream", facts.streams)
    insert(sql, "removed", facts.removed)
    insert(sql, "fact", facts.added)


def _insert_projection(sql: apsw.Connection, recovered: Recovered, facts: RecoveredFacts) -> None:
    told: list[Values] = []
    for row in recovered.rows["conversation"]:
        readable = _is_told(row.values)
        told += [row.values] if readable else []
        if not readable or not row.trust:
            id = str(row.values["id"])
            facts.lost.append(Trouble(id, "what was made of its records is damaged", AGAIN))
    insert(sql, "conversation", told)
    numbers = {values["number"] for values in told}
    for table, columns in (
        ("answers", ("conversation",)),
        ("tie", ("conversation",)),
        ("link", ("child", "parent")),
        ("curation", ("conversation",)),
        ("change", ()),
        ("naming", ()),
        ("dirty", ()),
    ):
        rows = [row.values for row in recovered.rows[table] if row.trust]
        whole = [row for row in rows if all(row[column] in numbers for column in columns)]
        if table == "answers":
            whole = [row for row in whole if _is_answers(row)]
        insert(sql, table, whole)
        if lost := len(recovered.rows[table]) - len(whole):
            facts.lost.append(Trouble(f"table {table}", f"{lost} rows are damaged", AGAIN))
    notes = [row.values for row in recovered.rows["meta"] if row.trust]
    insert(sql, "meta", [note for note in notes if note["key"] != "number"])
    # What no conversation is left of waits to be read again.
    sql.execute(
        """INSERT OR IGNORE INTO dirty (family, conversation, number)
           SELECT family, conversation, ? FROM strand
            WHERE conversation IS NOT NULL AND (family, conversation) NOT IN
                  (SELECT family, grouping FROM conversation)""",
        (facts.number,),
    )


def _is_told(values: Values) -> bool:
    try:
        conversation = _CONVERSATION.decode(values["data"])
    except msgspec.DecodeError:
        return False
    return bool(conversation.id == values["id"])


def _is_answers(values: Values) -> bool:
    try:
        _ANSWERS.decode(unsqueeze(values["data"]))
    except (ZstdError, msgspec.DecodeError):
        return False
    return True


def insert(sql: apsw.Connection, table: str, rows: Sequence[Values]) -> None:
    """Rows as they are, without their checksums; one that is there already counts."""
    if not rows:
        return
    known = [row[1] for row in sql.execute(f"PRAGMA table_info({table})") if row[1] != "sum"]
    columns = [column for column in known if column in rows[0]]
    marks = ", ".join("?" * len(columns))
    sql.executemany(
        f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})",
        [[row[column] for column in columns] for row in rows],
    )
