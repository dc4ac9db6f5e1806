"""Strands: the ordered records of one file or database row, through all its versions.

A strand is what a source grows or rewrites as one: a JSONL file, a document, a
row. Its records are numbered per lane (`lines`, or `history`, `transcript` …)
and never change. A `State` says which records the source held, in which order,
at one moment; the log of states is how an earlier version comes back and how
we know what is gone. Nothing here knows about files or databases.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

__all__ = [
    "PIECES",
    "Occurrence",
    "Ref",
    "Run",
    "State",
    "Strand",
    "StrandBytes",
    "expand",
    "extended",
    "places_of",
    "shorten",
    "weave",
]

#: The lane of what is too large to be one record: stretches of bytes that nobody interprets.
PIECES = "pieces"


#: Records that are fetched together.
AT_ONCE = 8192
#: More records than any strand has: a larger number is damage, and would fill the memory.
MOST = 1 << 28


class Run(msgspec.Struct, frozen=True, array_like=True):
    """Records of one lane that follow each other, with the bytes that stand between them."""

    lane: str
    records: str
    separator: str = ""


class State(msgspec.Struct, frozen=True):
    """What the source held at one moment: the document is the concatenation of its runs."""

    number: int
    at: str
    runs: tuple[Run, ...]
    #: Bytes after the last complete record: an unfinished line.
    tail: bytes = b""

    @property
    def in_pieces(self) -> bool:
        """Whether something in it is too large to be one record."""
        return any(run.lane == PIECES and run.records for run in self.runs)

    def ordinals(self, lane: str) -> list[list[int]]:
        """The record lists of a lane, one per run, in document order."""
        return [expand(run.records) for run in self.runs if run.lane == lane]


class Occurrence(NamedTuple):
    """One record at one place of the story."""

    ordinal: int
    data: bytes
    present: bool
    #: Index of the first state that held it here.
    state: int


class Ref(NamedTuple):
    """Names one record among those of a conversation. A record never changes, so this holds for good."""

    strand: int
    lane: str
    #: Its number in the lane, as `Strand.fetch` takes it.
    record: int


def expand(records: str) -> list[int]:
    """`"0-3,7"` → `[0, 1, 2, 3, 7]`."""
    numbers: list[int] = []
    for span in records.split(","):
        if span:
            first, _, last = span.partition("-")
            end = int(last or first) + 1
            if end > MOST:
                raise ValueError(f"no strand has {end} records")
            numbers.extend(range(int(first), end))
    return numbers


def places_of(runs: Sequence[Run]) -> int:
    """How many records these runs name, without counting them one by one."""
    places = 0
    for run in runs:
        for span in run.records.split(",") if run.records else ():
            first, _, last = span.partition("-")
            places += max(int(last or first) - int(first) + 1, 0)
    return places


def shorten(numbers: Sequence[int]) -> str:
    """`[0, 1, 2, 3, 7]` → `"0-3,7"`."""
    spans: list[str] = []
    start = previous = None
    for number in numbers:
        if previous is not None and number == previous + 1:
            previous = number
            continue
        if start is not None:
            spans.append(f"{start}-{previous}" if previous != start else f"{start}")
        start = previous = number
    if start is not None:
        spans.append(f"{start}-{previous}" if previous != start else f"{start}")
    return ",".join(spans)


def extended(runs: Sequence[Run], lane: str, ordinals: Sequence[int]) -> tuple[Run, ...]:
    """The runs of a state that goes on with these records."""
    if runs and runs[-1].lane == lane:
        records = _continued(runs[-1].records, shorten(ordinals))
        return (*runs[:-1], Run(lane, records, runs[-1].separator))
    if runs and not ordinals:
        return tuple(runs)
    # An empty file is one empty run: whatever comes first takes its place.
    return (*(run for run in runs if run.records), Run(lane, shorten(ordinals)))


def _continued(records: str, more: str) -> str:
    """`"0-3"` and `"4-7,9"` → `"0-7,9"`, whatever was before: a long file grows by many small steps."""
    if not records or not more:
        return records or more
    before, comma, last = records.rpartition(",")
    first, _, rest = more.partition(",")
    begin, _, end = last.partition("-")
    following, _, until = first.partition("-")
    if int(following) != int(end or begin) + 1:
        return f"{records},{more}"
    return f"{before}{comma}{begin}-{until or following}{',' if rest else ''}{rest}"


class StrandBytes(Protocol):
    """The bytes of one state of a strand, brought from the archive a little at a time."""

    #: Bytes after the last record.
    tail: bytes

    def blocks(self, start: int = 0) -> Iterator[tuple[int, list[bytes]]]:
        """Where each stretch of records begins, and the records, from the one that holds `start` on."""
        ...

    def sample(self, limit: int) -> tuple[int, bytes] | None:
        """A stretch chosen at random, none longer than the limit, and where it begins."""
        ...

    def stream(self) -> Iterator[bytes]:
        """Everything, in order."""
        ...


class _Place:
    """A place in the story that is being woven."""

    __slots__ = ("ordinal", "present", "state")

    def __init__(self, ordinal: int, state: int) -> None:
        self.ordinal = ordinal
        self.state = state
        self.present = True


def weave(
    states: Sequence[Sequence[Sequence[int]]], grown: Sequence[int] = ()
) -> list[tuple[int, bool, int]]:
    """Merge successive versions of a list into one story: (ordinal, present, first state) per place.

    Each state is the record lists held at that moment. What a version no longer
    holds stays where it stood; what it adds comes where it stands. Present is
    what the last state holds in any of its lists. `grown` stands for earlier
    states that held the records from 0 on, each as many as it says.
    """
    count = grown[-1] if grown else 0
    if not states:
        return [(n, True, bisect_right(grown, n)) for n in range(count)]
    story = [_Place(n, bisect_right(grown, n)) for n in range(count)]
    for number, lists in enumerate(states, len(grown)):
        last = number == len(grown) + len(states) - 1
        if last:
            for place in story:
                place.present = False
        for records in lists:
            story = _merge(story, records, number, last)
    return [(place.ordinal, place.present, place.state) for place in story]


def _merge(story: list[_Place], records: Sequence[int], state: int, last: bool) -> list[_Place]:
    known = [place.ordinal for place in story]
    common = _common_prefix(known, records)
    merged = story[:common]
    for place in merged:
        place.present = place.present or last
    if common == len(known):
        return merged + [_Place(ordinal, state) for ordinal in records[common:]]
    for kind, a1, a2, b1, b2 in _edits(known[common:], list(records[common:])):
        kept = story[common + a1 : common + a2]
        if kind == "equal" and last:
            for place in kept:
                place.present = True
        merged.extend(kept)
        if kind in ("insert", "replace"):
            merged.extend(_Place(ordinal, state) for ordinal in records[common + b1 : common + b2])
    return merged


def _edits(known: list[int], records: list[int]) -> Sequence[tuple[str, int, int, int, int]]:
    """How one list becomes the other, in the words of difflib."""
    if records and records[0] in known:
        # The head was cut off and the end grew: by far the most frequent rewrite.
        cut = known.index(records[0])
        kept = len(known) - cut
        if known[cut:] == records[:kept]:
            end = len(known)
            return [
                ("delete", 0, cut, 0, 0),
                ("equal", cut, end, 0, kept),
                ("insert", end, end, kept, len(records)),
            ]
    # Imported late: most strands only ever grow, and a short command must stay short.
    from difflib import SequenceMatcher

    return SequenceMatcher(None, known, records, autojunk=False).get_opcodes()


def _common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    limit = min(len(left), len(right))
    if left[:limit] == right[:limit]:
        return limit
    low = 0
    while left[low] == right[low]:
        low += 1
    return low


def _growth(states: Sequence[State], lane: str) -> list[int]:
    """How many records each of the first states held, as long as the strand only grew."""
    counts: list[int] = []
    for state in states:
        runs = [run.records for run in state.runs if run.lane == lane]
        count = _dense(runs)
        if count is None or (counts and count < counts[-1]):
            break
        counts.append(count)
    return counts


def _dense(runs: Sequence[str]) -> int | None:
    """How many records "0-30", "31-41" mean; None when they are not all from the first on."""
    count = 0
    for records in runs:
        if not records:
            continue
        first, _, last = records.partition("-")
        if first != str(count) or (last and not last.isdecimal()):
            return None
        count = int(last or first) + 1
    return count if runs else None


class Strand(msgspec.Struct, kw_only=True):
    """One strand as interpreters see it. `fetch(lane, ordinals)` brings the bytes."""

    id: int
    source: str
    role: str
    #: Path of the file or database.
    place: str
    #: The folder its reader started from.
    root: str = ""
    #: Which machine it was read on; 0: this one.
    stream: int = 0
    #: Names the row inside a database; empty for a file.
    key: str = ""
    conversation: str | None = None
    #: The directory the source filed it under, where it says so outside the content.
    project: str | None = None
    first_seen: str = ""
    last_seen: str = ""
    #: When the source was first found without it; None while it is there.
    vanished_at: str | None = None
    states: list[State]
    #: What the reader noted when it last read the strand; None for an earlier time.
    cursor: Any = None
    fetch: Callable[[str, Sequence[int]], list[bytes]]
    #: How many bytes all its records have together; 0 where nobody needs to know.
    weight: Callable[[], int] = lambda: 0
    #: The same for a damaged archive, without what cannot be read; None where nothing can be damaged.
    fetch_readable: Callable[[str, Sequence[int]], dict[int, bytes]] | None = None

    @property
    def present(self) -> bool:
        return self.vanished_at is None

    def story(self, lane: str) -> list[Occurrence]:
        """Every record the source ever held in this lane, in order; gone ones where they stood."""
        return list(self.occurrences(lane))

    def occurrences(self, lane: str) -> Iterator[Occurrence]:
        """The story, brought some records at a time: for who does not keep them all."""
        places = self.places(lane)
        here = self.present
        for start in range(0, len(places), AT_ONCE):
            some = places[start : start + AT_ONCE]
            data = self.fetch(lane, [ordinal for ordinal, _, _ in some])
            for (ordinal, present, state), raw in zip(some, data, strict=True):
                yield Occurrence(ordinal, raw, present and here, state)

    def places(self, lane: str) -> list[tuple[int, bool, int]]:
        """The story without its bytes: (ordinal, held by the last state, first state) per place."""
        grown = _growth(self.states, lane)
        rest = self.states[len(grown) :]
        return weave([state.ordinals(lane) for state in rest], grown)

    def document(self, state: State | None = None) -> bytes:
        """The bytes of one version, the newest unless said otherwise."""
        state = state or self.states[-1]
        pieces = [
            run.separator.encode().join(self.fetch(run.lane, expand(run.records)))
            for run in state.runs
        ]
        return b"".join(pieces) + state.tail

    def readable(self) -> tuple[Strand, int]:
        """The strand without the records that cannot be read, and how many these are."""
        if self.fetch_readable is None:
            return self, 0
        lanes = {run.lane for state in self.states for run in state.runs}
        wanted = {
            lane: {n for s in self.states for numbers in s.ordinals(lane) for n in numbers}
            for lane in lanes
        }
        there = {lane: self.fetch_readable(lane, sorted(wanted[lane])) for lane in lanes}
        states = [
            msgspec.structs.replace(
                state, runs=tuple(_without(run, there[run.lane]) for run in state.runs)
            )
            for state in self.states
        ]
        left = msgspec.structs.replace(
            self,
            states=states,
            fetch=lambda lane, ordinals: [there[lane][ordinal] for ordinal in ordinals],
            fetch_readable=None,
        )
        return left, sum(len(wanted[lane]) - len(there[lane]) for lane in lanes)


def _without(run: Run, there: dict[int, bytes]) -> Run:
    kept = [ordinal for ordinal in expand(run.records) if ordinal in there]
    return Run(run.lane, shorten(kept), run.separator)
