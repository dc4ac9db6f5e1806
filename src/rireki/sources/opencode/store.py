"""The records of one session by their ids, from whichever store has them: one newest version each.

A session may lie in JSON files, in the database, or in both with the same ids; then the database
counts. Its log of changes has earlier versions, and messages that are gone from everywhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rireki.model.conversation import Trouble
from rireki.model.strand import Ref, Strand
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pieces import WHOLE
from rireki.sources.kit.records import DecodedLine, records_of
from rireki.sources.kit.rows import ROWS
from rireki.sources.opencode.newer import as_message

__all__ = ["KeptVersion", "GatheredSession", "gather"]

Value: TypeAlias = "dict[str, Any]"
#: Which store counts where several have a version: the log has but what was.
_LOG, _FILE, _NEWER, _ROW = range(4)


@dataclass(slots=True)
class KeptVersion:
    """A session, a message or a part: its newest version, and those that said something else."""

    value: Value
    line: DecodedLine
    #: What is there counts more than what is gone, and the database more than a file.
    rank: tuple[bool, int]
    earlier: list[Value] = field(default_factory=list)

    @property
    def is_logged_only(self) -> bool:
        return self.rank[1] == _LOG

    @property
    def is_row(self) -> bool:
        return self.rank == (True, _ROW)


@dataclass(slots=True)
class GatheredSession:
    """All that was ever seen of one session."""

    info: dict[str, KeptVersion] = field(default_factory=dict)
    messages: dict[str, KeptVersion] = field(default_factory=dict)
    #: By message, then by their own ids.
    parts: dict[str, dict[str, KeptVersion]] = field(default_factory=dict)
    #: What is neither.
    others: list[tuple[str, DecodedLine]] = field(default_factory=list)
    queued: list[DecodedLine] = field(default_factory=list)

    @property
    def about(self) -> Value:
        """What is said of the session itself."""
        best = max(self.info.values(), key=lambda kept: kept.rank, default=None)
        return best.value if best is not None else {}

    def left(self) -> set[str]:
        """Messages the client has taken away: gone, or not taken over into the database with others."""
        rows = [id for id, kept in self.messages.items() if kept.is_row]
        newest = max(rows, default="")
        return {
            id
            for id, kept in self.messages.items()
            if kept.is_logged_only or (rows and not kept.is_row and id < newest)
        }


def gather(strands: Sequence[Strand], troubles: list[Trouble]) -> GatheredSession:
    session = GatheredSession()
    for strand in strands:
        if strand.role == ROWS:
            _take_rows(session, strand, troubles)
        elif strand.role in ("session", "message", "part"):
            for line in _versions(strand, troubles):
                _take(session, strand.role, line.value, line, _FILE)
    return session


def _versions(strand: Strand, troubles: list[Trouble]) -> Iterator[DecodedLine]:
    """The versions of a file. One that was read while it was written counts only if it is the last."""
    newest = [n for numbers in strand.states[-1].ordinals(WHOLE) for n in numbers]
    for one in strand.occurrences(WHOLE):
        held = one.ordinal in newest
        try:
            value = load(one.data)
        except NotReadable as error:
            if held:
                hint = "It is kept as it was found."
                troubles.append(Trouble(strand.place, str(error), hint))
            continue
        refs = [Ref(strand.id, WHOLE, one.ordinal)]
        yield DecodedLine(value, 1, held, one.present, refs)


def _take_rows(session: GatheredSession, strand: Strand, troubles: list[Trouble]) -> None:
    for table in ("session", "message", "part"):
        for line in records_of(strand, troubles, table):
            _take(session, table, _row(line.value, table), line, _ROW)
    for line in records_of(strand, troubles, "session_message"):
        _take(session, "message", as_message(line.value), line, _NEWER)
    for line in records_of(strand, troubles, "event"):
        _take_event(session, line)
    session.queued += [
        line
        for line in records_of(strand, troubles, "session_input")
        if line.present and get(line.value, "promoted_seq") is None
    ]


def _row(row: Any, table: str) -> Any:
    """A row in the form that files have: there, ids and times stand inside the value."""
    if not isinstance(row, dict):
        return row
    if table == "session":
        time = {"created": row.get("time_created"), "updated": row.get("time_updated")}
        return {**row, "parentID": row.get("parent_id"), "time": time}
    data = row.get("data")
    ids = {"id": row.get("id"), "sessionID": row.get("session_id")}
    if table == "part":
        ids["messageID"] = row.get("message_id")
    return {**(data if isinstance(data, dict) else {"data": row}), **ids}


def _take_event(session: GatheredSession, line: DecodedLine) -> None:
    kind, data = line.text("type"), get(line.value, "data")
    if kind.startswith("message.part.updated"):
        _take(session, "part", get(data, "part"), line, _LOG)
    elif kind.startswith("message.updated"):
        _take(session, "message", get(data, "info"), line, _LOG)
    elif kind.startswith(("session.created", "session.updated")):
        _take(session, "session", get(data, "info"), line, _LOG)
    elif not kind.startswith(("session.", "message.removed", "message.part.removed")):
        session.others.append((kind or "event", line))


def _take(session: GatheredSession, what: str, value: Any, line: DecodedLine, store: int) -> None:
    if not isinstance(value, dict) or not string(value, "id"):
        session.others.append((what, line))
        return
    if what == "session":
        kept = session.info
    elif what == "message":
        kept = session.messages
        # The newer engine, and the oldest files, keep the parts of a message inside it.
        for number, part in enumerate(items(value, "parts")):
            inside = part if isinstance(part, dict) else {"type": words(part)}
            owner = {"id": f"{value['id']}.{number:04d}", "messageID": value["id"]}
            _take(session, "part", {**inside, **owner}, line, store)
    else:
        kept = session.parts.setdefault(string(value, "messageID"), {})
    newer = KeptVersion(value, line, (line.held and line.present and store != _LOG, store))
    known = kept.get(value["id"])
    if known is None or newer.rank >= known.rank:
        if known is not None:
            newer.earlier = [*known.earlier, known.value]
        kept[value["id"]] = newer
    else:
        known.earlier.append(value)
