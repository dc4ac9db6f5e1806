"""One case: a real conversation damaged, then interpreted and, now and then, shown in every way."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any, NamedTuple

import msgspec

from rireki.model.conversation import Reading
from rireki.model.message import Message
from rireki.model.strand import Run, State, Strand, expand, shorten
from rireki.show.html.export import export_html
from rireki.show.html.page import RenderOptions
from rireki.show.json import line
from rireki.show.markdown import markdown
from rireki.show.text import TextOptions, render_transcript
from rireki.show.transcript import Transcript, choose
from rireki.sources import registry
from rireki.sources.amazon_q.rows import HEAD, split
from tests.stress.fuzz.corpus import Corpus, Group, Kept, corpus
from tests.stress.fuzz.damage import damage_bytes, damage_record

__all__ = ["LIMIT", "SHOWN", "Hang", "fails", "run_case"]

#: Seconds of work, not of the clock, that a case may take.
LIMIT = 10.0
#: One case in so many is shown as well.
SHOWN = 10
#: Records of a lane that a case is made of, at most: many small cases find more than few large ones.
RECORDS = 14


class Hang(BaseException):
    """No Exception: nothing may catch it and go on."""


class Case(NamedTuple):
    conversation: str
    strands: list[Strand]
    own: list[Strand]


def fails(source: str, seed: int, number: int) -> str | None:
    """What went wrong with a case, if anything did."""
    try:
        with _limited():
            run_case(source, seed, number)
    except Hang:
        return f"hang: more than {LIMIT:.0f} s"
    except Exception as error:  # noqa: BLE001 - any is what is looked for
        return f"{type(error).__name__}: {str(error)[:120]!r} at {_place(error)}"
    return None


def run_case(source: str, seed: int, number: int) -> None:
    chance = Random(f"{seed}:{source}:{number}")
    case = make_case(chance, corpus(source))
    for reading in _interpret(source, case):
        messages = reading.messages()
        reading.records()
        if reading.shown is not None:
            reading.shown()
        if number % SHOWN == 0:
            show(reading, messages)


def make_case(chance: Random, found: Corpus) -> Case:
    group: Group = chance.choice(found.groups)
    others = chance.sample(found.values, min(6, len(found.values)))
    strands = [
        _damaged(chance, kept, others)
        for kept in chance.sample(group.kept, min(4, len(group.kept)))
    ]
    own = [_damaged(chance, kept, others) for kept in group.own[:2]]
    return Case(group.conversation, strands, own)


def _interpret(source: str, case: Case) -> list[Reading]:
    """As intake does, but for its net: what a reader raises is to be seen."""
    reader: Any = registry.reader(source)
    if not case.own:
        return list(reader.interpret(case.conversation, case.strands))
    own = registry.reader(case.own[0].source).interpret(case.conversation, case.own)
    return list(reader.join(case.conversation, case.strands, own))


def _damaged(chance: Random, kept: Kept, others: list[Any]) -> Strand:
    """The strand with a stretch of its records, some of them damaged, in some order."""
    lanes: dict[str, list[bytes]] = {}
    for lane, records in kept.lanes.items():
        # The beginning often says what the rest is.
        start = 0 if chance.random() < 0.6 else chance.randint(0, max(0, len(records) - RECORDS))
        lanes[lane] = list(records[start : start + RECORDS])
    last = kept.strand.states[-1]
    if HEAD in lanes and chance.random() < 0.7:
        last, lanes = _saved_again(chance, last, kept.lanes, others)
    else:
        _damage_records(chance, lanes, others)
    lost = chance.random() < 0.1
    return msgspec.structs.replace(
        kept.strand,
        states=_states(chance, last, lanes),
        fetch=lambda lane, ordinals: [lanes[lane][n] for n in ordinals],
        vanished_at="2026-01-02T00:00:00.000Z" if lost else None,
        project=chance.choice((kept.strand.project, kept.strand.project, None, "", "/\ud800")),
    )


def _damage_records(chance: Random, lanes: dict[str, list[bytes]], others: list[Any]) -> None:
    filled = [records for records in lanes.values() if records]
    for _ in range(chance.choice((1, 1, 2, 3, 8)) if filled else 0):
        records = chance.choice(filled)
        at = chance.randrange(len(records))
        records[at] = damage_record(chance, records[at], others)


def _saved_again(
    chance: Random, state: State, lanes: dict[str, list[bytes]], others: list[Any]
) -> tuple[State, dict[str, list[bytes]]]:
    """A row that is written whole, damaged as a whole and cut again, as when it is read."""
    pieces = []
    for run in state.runs:
        held = expand(run.records)
        held = held if run.lane == HEAD else held[:RECORDS]
        pieces.append(run.separator.encode().join(lanes[run.lane][n] for n in held))
    document = b"".join(pieces)
    for _ in range(chance.choice((1, 2, 3))):
        document = damage_record(chance, document, others)
    fresh: dict[str, list[bytes]] = {}
    runs = []
    for content in split(document):
        lane = fresh.setdefault(content.lane, [])
        numbers = range(len(lane), len(lane) + len(content.pieces))
        lane += [piece.data for piece in content.pieces]
        runs.append(Run(content.lane, shorten(numbers), content.separator))
    return msgspec.structs.replace(state, runs=tuple(runs)), fresh


def _states(chance: Random, last: State, lanes: dict[str, list[bytes]]) -> list[State]:
    """One to three versions; a later one may have lost, doubled or exchanged records."""
    states = []
    for number in range(1, chance.choice((1, 1, 1, 2, 3)) + 1):
        runs = []
        for run in last.runs:
            held = [n for n in expand(run.records) if n < len(lanes.get(run.lane, ()))]
            runs.append(Run(run.lane, shorten(_rearranged(chance, held)), run.separator))
        tail = damage_bytes(chance, b'{"type":"user","message":{') if chance.random() < 0.1 else b""
        states.append(State(number, f"2026-01-01T00:00:0{number}.000Z", tuple(runs), tail))
    return states


def _rearranged(chance: Random, held: list[int]) -> list[int]:
    way = chance.randrange(12)
    if way == 0:
        return held[chance.randint(0, len(held)) :]
    if way == 1:
        return [n for n in held if chance.random() < 0.7]
    if way == 2:
        return held + held[:3]
    if way == 3:
        chance.shuffle(held)
    return held


def show(reading: Reading, messages: Sequence[Message]) -> None:
    """In every way there is; what comes out can be written to a file or a screen."""
    for everything in (False, True):
        story = Transcript(reading.conversation, choose(messages, everything))
        for block in render_transcript(story, TextOptions(columns=80, full=everything)):
            _writable(block.lines)
        _writable(markdown(story, everything))
        look = RenderOptions(
            attachment_bytes=lambda attachment: reading.attachment(attachment.digest)
        )
        _writable(export_html(story, look, everything))
    value = {"conversation": reading.conversation, "messages": messages}
    line(value).encode()


def _writable(lines: Any) -> None:
    for text in lines:
        # A screen shows a sign in place of half a pair; nothing else may be left.
        text.encode("utf-8", "surrogatepass")


@contextmanager
def _limited() -> Iterator[None]:
    def ring(number: int, frame: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _place(error: BaseException) -> str:
    """The innermost place of ours."""
    found, trace = "?", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if "/rireki/" in file:
            found = f"{file.rsplit('/rireki/', 1)[1]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found
