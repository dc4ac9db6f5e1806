"""What a folder's histories say: a conversation per start of Aider, through all versions of the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from ntpath import basename, dirname
from typing import Literal, NamedTuple

from rireki.model.conversation import Reading
from rireki.model.message import Display, Usage
from rireki.model.parts import Text
from rireki.model.strand import Ref, Strand, weave
from rireki.sources.aider.blocks import Block, blocks_of, fence_after, prompt_line
from rireki.sources.aider.typed import Typed
from rireki.sources.aider.zones import as_utc
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.jsonl import LANE
from rireki.sources.kit.pending import ConversationBuilder, PendingMessage
from rireki.sources.kit.records import DecodedLine

__all__ = ["read_sessions"]

_HEAD = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
_MODEL = re.compile(r"> (?:Main model|Models?): (\S+) with ")
_COUNT = r"([\d.,]+[kM]?)"
_TOKENS = re.compile(
    rf"> Tokens: {_COUNT} sent(?:, {_COUNT} cache write)?(?:, {_COUNT} cache hit)?, {_COUNT} received\."
    r"(?: Cost: \$(?P<cost>\d[\d.]{0,15}) message)?"
)
#: Where a person said "all" before, Aider answers itself, and writes that as if it was typed.
_ANSWERED = re.compile(r".*\(Y\)es/\(N\)o.* \[(?:Yes|No)\]: (?:all|skip)\s*")
#: What stands for a line on which nothing was typed.
_BLANK = "<blank>"
_CLEARED = ("> All chat history cleared", "> All files dropped and chat history cleared")
_STOPPED = "> ^C"


class _Line(NamedTuple):
    text: str
    ordinal: int
    position: int
    held: bool
    #: Whether it is a record; an unfinished line is none yet.
    kept: bool = True


class _Session(NamedTuple):
    #: As Aider writes it, in local time; empty for what stands before the first one.
    start: str
    #: Of those that started in the same second.
    number: int
    lines: list[_Line]


def read_sessions(source: str, strands: Sequence[Strand]) -> list[Reading]:
    typed = Typed([strand for strand in strands if strand.role == "input"])
    found = []
    for strand in strands:
        if strand.role == "chat":
            sessions = _sessions(strand)
            ends = [*sorted({one.start for one in sessions if one.start}), "9999"]
            for session in sessions:
                until = next((one for one in ends if one > session.start), "9999")
                builder = _builder(source, strand, session)
                _Told(builder, strand, session, typed.between(session.start, until)).read()
                found.append(builder.reading())
    return found


def _builder(source: str, strand: Strand, session: _Session) -> ConversationBuilder:
    """Aider has no ids: the project and the time of the start are one."""
    is_usual = basename(strand.place).startswith(".aider.")
    project = strand.project or (dirname(strand.place) if is_usual else None)
    id = f"{project or strand.place}@{session.start or 'unknown'}"
    id = id if session.number == 1 else f"{id}#{session.number}"
    builder = ConversationBuilder(source, id, [strand])
    # A path is no name to type: the time, and what tells folders apart.
    digest = digest_of_bytes(id.encode("utf-8", "replace")).hex()
    builder.name = f"{re.sub('[^0-9]', '', session.start)}-{digest[:6]}"
    builder.note_directory(project)
    builder.note_time(as_utc(session.start, strand.cursor))
    if not session.start:
        builder.times_from = "rireki"
        builder.times += [time for time in (strand.first_seen, strand.last_seen) if time]
    return builder


# ── one file, many sessions ──


def _sessions(strand: Strand) -> list[_Session]:
    """Every session that any version of the file had; lines it lost stay where they stood."""
    versions: dict[tuple[str, int], list[list[int]]] = {}
    texts: dict[int, str] = {}
    places: dict[int, int] = {}
    unfinished: set[int] = set()
    newest: set[tuple[str, int]] = set()
    for ordinals, tail in _versions(strand):
        texts |= zip(ordinals, map(_text, strand.fetch(LANE, ordinals)), strict=True)
        if tail:
            # The number it will have when its line is complete.
            following = max(texts, default=-1) + 1
            texts[following] = _text(tail)
            unfinished.add(following)
            ordinals = [*ordinals, following]
        places |= {ordinal: place for place, ordinal in enumerate(ordinals, 1)}
        newest = set()
        for start, number, mine in _split(ordinals, texts):
            versions.setdefault((start, number), []).append(mine)
            newest.add((start, number))
    return [
        _Session(
            *key,
            [
                _Line(texts[n], n, places[n], held and key in newest, n not in unfinished)
                for n, held, _ in weave([[mine] for mine in versions[key]])
            ],
        )
        for key in versions
    ]


def _versions(strand: Strand) -> Iterator[tuple[list[int], bytes]]:
    """The versions of the file that say more than that it grew."""
    before: list[int] | None = None
    tail = b""
    for state in strand.states:
        ordinals = [n for numbers in state.ordinals(LANE) for n in numbers]
        if before is not None and ordinals[: len(before)] != before:
            yield before, b""
        before, tail = ordinals, state.tail
    if before is not None:
        yield before, tail


def _split(ordinals: Sequence[int], texts: dict[int, str]) -> Iterator[tuple[str, int, list[int]]]:
    """The sessions of one version. In a code block, only what is later than the session can be a start."""
    start, counts, fence, blank = "", {"": 1}, "", True
    mine: list[int] = []
    for ordinal in ordinals:
        text = texts[ordinal]
        found = _HEAD.match(text) if blank else None
        if found and (not fence or found[1] > start):
            if start or any(texts[n].strip() for n in mine):
                yield start, counts[start], mine
            start, fence, mine = found[1], "", []
            counts[start] = counts.get(start, 0) + 1
        else:
            mine.append(ordinal)
            fence = fence_after(text, fence)
        blank = not text.strip()
    if start or any(texts[n].strip() for n in mine):
        yield start, counts[start], mine


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")


# ── what a session says ──


class _Told:
    def __init__(
        self, builder: ConversationBuilder, strand: Strand, session: _Session, typed: Typed
    ) -> None:
        self.builder = builder
        self.strand = strand
        self.lines = session.lines
        self.typed = typed
        self.model: str | None = None
        #: The prompt that a command repeats, and when the command was typed.
        self.repeated: tuple[str, str | None] = ("", None)

    def read(self) -> None:
        for block in blocks_of([line.text for line in self.lines], self.typed.beginnings()):
            self.builder.entries += 1
            lines = [line.text for line in self.lines[block.start : block.end]]
            text = "\n".join(lines).strip("\n")
            if block.kind == "prompt":
                self._prompt(block, "\n".join(map(prompt_line, lines)))
            elif block.kind == "answer":
                line = self._line(block)
                parts = [Text(text.strip())]
                self.builder.answer(line, self._name(block), parts, model=self.model)
            elif text.strip():
                self._status(block, lines)

    def _prompt(self, block: Block, text: str) -> None:
        line, name = self._line(block), self._name(block)
        if text == _BLANK or _ANSWERED.fullmatch(text):
            self._say(block, "harness", "fold", text, "status", "Aider")
            return
        if text[:1] in ("/", "!"):
            at = self.typed.time_of(text)
            # Aider answers a command itself; where a model is to answer, the prompt is written again.
            self._say(block, "person", "chip", text, "command", "command", at)
            self.repeated = (text.partition(" ")[2].strip(), at)
            return
        before, at = self.repeated
        if not before or before != text.strip():
            at = self.typed.time_of(text)
        self.repeated = ("", None)
        self.builder.ask(line, name, [Text(text)], at=at)

    def _status(self, block: Block, lines: Sequence[str]) -> None:
        for line in lines:
            if found := _MODEL.match(line):
                self.model = found[1]
                self.builder.note_model(self.model)
            if found := _TOKENS.match(line):
                self._use(block, found)
        bare = "\n".join(line.removeprefix("> ").rstrip() for line in lines).strip()
        if block.kind == "start":
            self._say(block, "harness", "fold", bare, "start of a session", "session start")
        elif lines[0].startswith(_CLEARED):
            self._say(block, "harness", "divider", bare, "history cleared", "history cleared")
        elif all(_TOKENS.match(line) for line in lines):
            self._say(block, "harness", "hidden", bare, "token count", "")
        else:
            said = self._say(block, "harness", "fold", bare, "status", "Aider")
            if any(line.startswith(_STOPPED) for line in lines):
                said.ends = False

    def _use(self, block: Block, found: re.Match[str]) -> None:
        sent, written, read, received = map(_count, found.groups()[:4])
        usage = Usage(max(0, sent - written - read), received, read, written)
        key = f"{self.builder.native_id} {self._name(block)} {found.start()} {len(self.builder.answers)}"
        noted = _dollars(found["cost"])
        self.builder.note_usage(key, self.model or "unknown", usage, cost=noted)

    def _say(
        self,
        block: Block,
        author: Literal["person", "harness"],
        display: Display,
        text: str,
        rule: str,
        label: str,
        at: str | None = None,
    ) -> PendingMessage:
        return self.builder.say(
            self._line(block),
            self._name(block),
            author,
            display,
            [Text(text)],
            rule,
            label=label or None,
            at=at,
        )

    def _name(self, block: Block) -> str:
        return f"line-{self.lines[block.start].ordinal + 1}"

    def _line(self, block: Block) -> DecodedLine:
        lines = self.lines[block.start : block.end]
        held = any(line.held for line in lines)
        refs = [Ref(self.strand.id, LANE, line.ordinal) for line in lines if line.kept]
        return DecodedLine(None, lines[0].position, held, held and self.strand.present, refs)


def _dollars(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


def _count(text: str | None) -> int:
    """`2.3k` → 2300: Aider rounds."""
    digits = (text or "0").rstrip("kM").replace(",", "")
    scale = {"k": 1000, "M": 1_000_000}.get((text or "0")[-1:], 1)
    try:
        return min(round(float(digits) * scale), 1 << 50)
    except (ValueError, OverflowError):
        return 0
