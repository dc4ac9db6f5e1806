"""Rollout files as lines: copies of one file joined, branches told apart, copied beginnings marked.

A thread is one rollout file, or several after a rewind (0.169): each later one says in its first line
on which file it is based, and up to where. What a line says to people is told by `messages.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from rireki.model.conversation import Trouble
from rireki.model.strand import Ref, Strand
from rireki.model.times import from_iso, to_datetime
from rireki.sources.codex.reader import UUID
from rireki.sources.codex.texts import INJECTED
from rireki.sources.kit.decode import NotReadable, load, text_of
from rireki.sources.kit.fields import get, items, string
from rireki.sources.kit.records import KEPT, DecodedLine, records_of
from rireki.sources.kit.rules import rule_of
from rireki.sources.kit.zstd import unpacked

__all__ = ["Line", "Rollout", "read_rollouts"]

#: Lines that a fork of the second generation copied were all written within this many seconds.
_COPYING = 0.25


def _rollout_id(name: str) -> str:
    """What other files call this one: the last id in its name."""
    found = UUID.findall(name)
    return found[-1] if found else name.partition(".jsonl")[0]


@dataclass(slots=True)
class Line:
    """One line, and whether it is still part of the thread."""

    record: DecodedLine
    #: From 1; in a thread of several files, that of its own file.
    number: int
    #: Left by a rewind.
    abandoned: bool = False
    #: A copy of a line of the thread this one was forked from.
    copied: bool = False

    @property
    def type(self) -> str:
        return self.record.text("type")

    @property
    def payload(self) -> Any:
        return get(self.record.value, "payload")

    @property
    def kind(self) -> str:
        return string(self.payload, "type")

    @property
    def at(self) -> str | None:
        return from_iso(get(self.record.value, "timestamp"))

    @property
    def is_prompt(self) -> bool:
        return self.kind == "user_message" or get(self.payload, "item", "type") == "UserMessage"


@dataclass(slots=True)
class Rollout:
    """One file of a thread."""

    id: str
    lines: list[Line]
    #: What the first line says: the thread's own facts.
    meta: dict[str, Any] = field(default_factory=dict)
    #: 1: bare items; 2: items and events; 3: items and completed items.
    generation: int = 2

    #: The thread that it was forked from.
    parent: str = ""

    def __post_init__(self) -> None:
        self.generation = _generation([line.record for line in self.lines])
        first = self.lines[0].record.value if self.lines else {}
        meta = first if self.generation == 1 else get(first, "payload")
        if self.generation == 1 or string(first, "type") == "session_meta":
            self.meta = meta if isinstance(meta, dict) else {}
        self.parent = string(self.meta, "forked_from_id")
        if self.generation == 2 and (self.parent or self._copied_meta()):
            self.parent = self.parent or self._copied_meta()
            for line in self.lines[1 : self._own()]:
                line.copied = True
        for line in self.lines:
            if line.kind == "thread_rolled_back":
                self._roll_back(line)

    @property
    def base(self) -> str:
        """The file, by its id, that this one goes on from."""
        base = self.meta.get("history_base")
        return string(base, "thread_id") or string(base, "rollout_id")

    def _copied_meta(self) -> str:
        """Up to 0.63 a fork does not say so; but it has the first line of the other thread as well."""
        metas = [line.payload for line in self.lines[1:] if line.type == "session_meta"]
        others = (string(meta, "id") for meta in metas)
        return next((id for id in others if id not in ("", self.meta.get("id"))), "")

    def _own(self) -> int:
        """How many lines were taken over from the parent: all before the first task that began here."""
        begun = to_datetime(string(self.meta, "timestamp"))
        if begun is None:
            return 1
        tasks = [line for line in self.lines if line.kind == "task_started"]
        for line in tasks:
            if _started_since(line.payload, begun.timestamp()):
                return line.number - 1
        written = to_datetime(self.lines[0].at or "") or begun
        for line in () if tasks else self.lines:
            at = to_datetime(line.at or "")
            if at is not None and (at - written).total_seconds() > _COPYING:
                return line.number - 1
        return len(self.lines)

    @property
    def prompts(self) -> Counter[str]:
        """What a person typed, whatever the generation calls it."""
        events = [line.payload for line in self.lines if line.is_prompt]
        contents = [items(get(event, "item"), "content") for event in events]
        said = [string(event, "message") for event in events] if self.generation == 2 else []
        if not events:
            told = [line.payload or line.record.value for line in self.lines]
            contents = [items(one, "content") for one in told if string(one, "role") == "user"]
        said += [string(one, "text") for content in contents for one in content]
        return Counter(text for text in said if text and rule_of(text, INJECTED) is None)

    def _roll_back(self, line: Line) -> None:
        """The last turns before it are left, as many as it says."""
        turns = get(line.payload, "num_turns")
        before = [one for one in self.lines[: line.number - 1] if not one.abandoned]
        prompts = [number for number, one in enumerate(before) if one.is_prompt]
        if isinstance(turns, int) and turns > 0 and prompts:
            for left in before[prompts[-min(turns, len(prompts))] :]:
                left.abandoned = True


def _generation(lines: Sequence[DecodedLine]) -> int:
    """Which format a file has, as its first line tells; a file that lost that, as its other lines do."""
    first = lines[0].value if lines else {}
    if string(first, "type") == "session_meta":
        return 3 if get(first, "payload", "history_mode") == "paginated" else 2
    if "payload" not in first:
        return 1
    return 3 if any(map(_has_ordinal, lines)) else 2


def _has_ordinal(line: DecodedLine) -> bool:
    """As every line of the third generation."""
    return get(line.value, "ordinal") is not None


def _started_since(task: Any, moment: float) -> bool:
    """Whether a task began then or later: its id knows the millisecond, what else it says the second."""
    turn = string(task, "turn_id")
    if UUID.fullmatch(turn) and turn[14] == "7":
        return int(turn[:8] + turn[9:13], 16) >= int(moment * 1000)
    started = get(task, "started_at")
    return isinstance(started, int | float) and started >= int(moment)


def read_rollouts(strands: Sequence[Strand], troubles: list[Trouble]) -> list[Rollout]:
    """The files of a thread from the eldest on; one that lies in two places, or also compressed, once."""
    copies: dict[str, list[list[DecodedLine]]] = {}
    for strand in sorted(strands, key=lambda one: (_name(one), one.place)):
        lines = [one for one in _lines(strand, troubles) if isinstance(one.value, dict)]
        copies.setdefault(_rollout_id(_name(strand)), []).append(lines)
    rollouts = [rollout for id, some in copies.items() for rollout in _versions(id, some)]
    _mark_branches(rollouts)
    return rollouts


def _versions(rollout: str, copies: list[list[DecodedLine]]) -> list[Rollout]:
    """A file; before it, what it was when it was written in another generation, if it then said more.

    `codex migrate-rollouts` writes old files anew.
    """
    found: dict[int, list[list[DecodedLine]]] = {}
    for lines in copies:
        is_third = _generation([line for line in lines if line.held] or lines) == 3
        left = [line for line in lines if not line.held and _has_ordinal(line) != is_third]
        ids = set(map(id, left))
        for version in (left, [line for line in lines if id(line) not in ids]):
            if version:
                found.setdefault(_generation(version), []).append(version)
    rollouts = [
        Rollout(rollout, [Line(one, number) for number, one in enumerate(_joined(found[kind]), 1)])
        for kind in sorted(found)
    ]
    newest = rollouts[-1:]
    for earlier in rollouts[:-1]:
        if not earlier.prompts <= newest[0].prompts:
            for line in earlier.lines:
                line.abandoned = True
            newest.insert(-1, earlier)
    return newest


def _name(strand: Strand) -> str:
    return strand.place.replace("\\", "/").rpartition("/")[2]


def _lines(strand: Strand, troubles: list[Trouble]) -> Iterator[DecodedLine]:
    if not strand.place.endswith(".zst"):
        yield from records_of(strand, troubles)
        return
    runs = strand.states[-1].runs
    refs = [Ref(strand.id, runs[0].lane, 0)] if runs else []
    for position, data in enumerate(
        BytesIO(unpacked(strand.document(), strand.place, troubles)), 1
    ):
        try:
            yield DecodedLine(load(data), position, True, strand.present, refs)
        except NotReadable as error:
            troubles.append(Trouble.of(f"{strand.place}: line {position}", error, KEPT))


def _joined(copies: list[list[DecodedLine]]) -> list[DecodedLine]:
    """One list of lines from what lay in several places."""
    if len(copies) == 1:
        return copies[0]
    found: dict[tuple[str, int], DecodedLine] = {}
    for lines in sorted(copies, key=len, reverse=True):
        # A line may stand in a file more than once: those of the first generation have no time.
        times: Counter[str] = Counter()
        for line in lines:
            text = text_of(line.value)
            times[text] += 1
            key = (text, times[text])
            known = found.setdefault(key, line)
            if line.present and not known.present:
                found[key] = known._replace(present=True)
    return list(found.values())


def _mark_branches(rollouts: Sequence[Rollout]) -> None:
    """Only the newest file, and what it is based on, is where the thread is now."""
    by_id = {rollout.id: rollout for rollout in rollouts}
    #: Up to which ordinal the lines of each file count.
    limits: dict[str, float] = {}
    current, end = rollouts[-1] if rollouts else None, float("inf")
    while current is not None and current.id not in limits:
        limits[current.id] = end
        stop = get(current.meta, "history_base", "end_ordinal_exclusive")
        current = by_id.get(current.base)
        end = stop if isinstance(stop, int) else float("inf")
    for rollout in rollouts:
        limit = limits.get(rollout.id, 0)
        for line in rollout.lines if limit != float("inf") else ():
            ordinal = get(line.record.value, "ordinal")
            line.abandoned |= not isinstance(ordinal, int) or ordinal >= limit
