"""What is collected while the lines of a session are read: dates, tokens, titles, queued prompts."""

from __future__ import annotations

import re
from itertools import islice

from msgspec import Raw, Struct

from rireki.model.conversation import Answer, LinkToken
from rireki.model.message import Usage
from rireki.model.times import from_iso
from rireki.sources.claude_code.lines import TranscriptLine
from rireki.sources.claude_code.shapes import LineHead, Spoken, Tokens, flags_of
from rireki.sources.claude_code.words import SYNTHETIC, one_line

__all__ = ["Meter", "Queue", "SessionFacts", "Titles"]


class SessionFacts:
    def __init__(self) -> None:
        #: Earliest and latest time; these start values lose against any.
        self.started = "~"
        self.updated = ""
        #: Working directories in the order they were entered.
        self.directories: dict[str, None] = {}
        #: Sessions named on the lines: this one, and those it was forked off or resumes.
        self.sessions: dict[str, None] = {}
        #: The names of its plan: a session without one has a name for it, too.
        self.slugs: dict[str, None] = {}
        #: How often each flag stood on a user entry.
        self.flags: dict[str, int] = {}
        self._directory: str | None = None
        self._session: str | None = None

    def note(self, look: LineHead) -> None:
        time = look.timestamp
        if time is not None and time.startswith("2"):
            if time > self.updated:
                self.updated = time
            if time < self.started:
                self.started = time
        if look.cwd != self._directory and look.cwd:
            self._directory = look.cwd
            self.directories.setdefault(look.cwd)
        if look.slug:
            self.slugs.setdefault(look.slug)
        if look.forkedFrom is not None or look.sessionId != self._session:
            self._session = look.sessionId
            forked = look.forkedFrom.sessionId if look.forkedFrom is not None else None
            if session := forked or look.sessionId:
                self.sessions.setdefault(session)

    def count_flags(self, look: LineHead) -> None:
        if look.userType:
            flag = f"userType:{look.userType}"
            self.flags[flag] = self.flags.get(flag, 0) + 1
        for flag in flags_of(look):
            self.flags[flag] = self.flags.get(flag, 0) + 1


#: Terms that have a price of their own.
TERMS = ("fast", "us")
#: No tokenizer packs more bytes of an answer into a token: beyond it, the count is a start value.
BYTES_PER_TOKEN = 20


class _Reading(Struct, gc=False):
    model: str
    at: str | None
    tokens: Tokens
    output: int
    stopped: bool = False
    aborted: bool = False
    size: int = 0
    #: What it comes to, once it was asked for.
    usage: Usage | None = None


class Meter:
    def __init__(self) -> None:
        self._readings: dict[str, _Reading] = {}

    def note(self, line: TranscriptLine, spoken: Spoken) -> None:
        key, tokens = spoken.id, spoken.usage
        if key is None or tokens is None or spoken.model == SYNTHETIC:
            return
        look = line.look
        output = _count(tokens.output_tokens)
        reading = self._readings.get(key)
        if reading is None:
            at = look.timestamp if look is not None else None
            reading = _Reading(spoken.model or "unknown", at, tokens, output)
            self._readings[key] = reading
        elif output > reading.output:
            reading.tokens, reading.output = tokens, output
        if spoken.stop_reason is not None:
            reading.stopped = True
        elif len(line.data) > BYTES_PER_TOKEN * output:
            reading.size += _size(spoken)
        if look is not None and look.isAbortedMidStream:
            reading.aborted = True

    def interrupted(self, key: str | None) -> None:
        """A person stopped the answer of this id; the last one, where the source names none."""
        reading = self._readings.get(key or next(reversed(self._readings), ""))
        if reading is not None and not reading.stopped:
            reading.aborted = True

    def usage(self, key: str | None) -> Usage | None:
        reading = self._readings.get(key or "")
        return _usage(reading) if reading else None

    def answers(self) -> list[Answer]:
        return [
            Answer(
                key,
                reading.model,
                _usage(reading),
                from_iso(reading.at),
                _for_an_hour(reading.tokens),
                _terms(reading.tokens),
            )
            for key, reading in self._readings.items()
        ]

    def models(self) -> list[str]:
        return list(dict.fromkeys(reading.model for reading in self._readings.values()))


def _usage(reading: _Reading) -> Usage:
    """Asked for when every line was noted: by the summary, and again by each message."""
    if reading.usage is None:
        reading.usage = _sum_up(reading)
    return reading.usage


def _sum_up(reading: _Reading) -> Usage:
    tokens, output = reading.tokens, reading.output
    started = output <= 1 or reading.size > BYTES_PER_TOKEN * output
    return Usage(
        _count(tokens.input_tokens),
        output,
        _count(tokens.cache_read_input_tokens),
        _count(tokens.cache_creation_input_tokens),
        reading.aborted or (not reading.stopped and started),
    )


def _for_an_hour(tokens: Tokens) -> int:
    stored = tokens.cache_creation
    if stored is None or not stored.ephemeral_1h_input_tokens:
        return 0
    return min(_count(stored.ephemeral_1h_input_tokens), _count(tokens.cache_creation_input_tokens))


def _terms(tokens: Tokens) -> tuple[str, ...]:
    """What makes the price another one: "standard" and "not_available" do not."""
    said = (tokens.speed, tokens.inference_geo)
    return tuple(word for word in said if word in TERMS) if any(said) else ()


def _count(number: int | None) -> int:
    """A count that a count can be; anything else is damage."""
    return number if number is not None and 0 <= number < 1 << 53 else 0


def _size(spoken: Spoken) -> int:
    if not isinstance(spoken.content, list):
        return len(spoken.content or "")
    return sum(
        _length(block.text) + _length(block.thinking) + _length(block.input)
        for block in spoken.content
    )


def _length(raw: Raw) -> int:
    return memoryview(raw).nbytes


#: How much of a prompt is kept to make a title of.
TITLE_LENGTH = 1000
#: A title is filed under one of a session's last lines; a command and what it printed may follow.
LAST_LINES = 10
#: What the client writes in place of a title when the model that should make one did not answer.
_FAILED = re.compile(
    r"""API\ Error(:\ *(\d{3}\b|\{|Connection|Request|Cannot|Unable)|\ \(|:?$)
      | .{0,80}\ ·\ (Please\ run\ /|Fix\ external)
      | (Invalid|Missing)\ API\ key\b
      | (Claude\ AI|Claude)\ usage\ limit\ reached
      | \d+-hour\ limit\ reached
      | (Credit\ balance\ is\ too\ low|Prompt\ is\ too\ long|Execution\ error
        |Request\ timed\ out|Connection\ error|Not\ logged\ in|Login\ expired)[.!]?$
      | OAuth\ (token|authentication)\b.*(revoked|expired|not\ )
      | \[Request\ interrupted\ by\ user
    """,
    re.VERBOSE,
)


class Titles:
    def __init__(self) -> None:
        self._custom = ""
        self._ai = ""
        self._last_prompt = ""
        self._summaries: dict[str, str] = {}
        #: (uuid, beginning) of everything a person typed, in order.
        self._typed: list[tuple[str, str]] = []
        self._command = ""

    def note(self, look: LineHead) -> None:
        """A metadata line; the last of each kind counts."""
        if look.customTitle is not None:
            self._custom = look.customTitle
        elif look.aiTitle is not None:
            self._ai = "" if is_failure(look.aiTitle) else look.aiTitle
        elif look.lastPrompt:
            self._last_prompt = look.lastPrompt
        elif look.summary and look.leafUuid and not is_failure(look.summary):
            self._summaries.pop(look.leafUuid, None)
            self._summaries[look.leafUuid] = look.summary

    def prompt(self, uuid: str, text: str) -> None:
        self._typed.append((uuid, text[:TITLE_LENGTH]))

    def command(self, text: str) -> None:
        """A command names a conversation only when nothing else was typed."""
        self._command = self._command or one_line(text)

    def link_tokens(self, own: dict[str, str | None]) -> list[LinkToken]:
        """Versions before 2 wrote the title of one file into another, under the uuid of its last line.

        Of those wanted, the first that is offered counts: the newest.
        """
        foreign = {leaf: text for leaf, text in self._summaries.items() if leaf not in own}
        link_tokens = [
            LinkToken("title", "offer", f"leaf:{leaf}", one_line(t)) for leaf, t in foreign.items()
        ]
        if not (self._custom or self._ai or self._last_prompt):
            last = islice(reversed(own), LAST_LINES)
            link_tokens += [LinkToken("title", "want", f"leaf:{uuid}") for uuid in last]
        return link_tokens

    def title(self, own: dict[str, str | None], abandoned: set[str]) -> str:
        """`own` holds the uuids of this conversation, `abandoned` those of branches left behind."""
        live = [text for uuid, text in self._typed if uuid not in abandoned]
        last = one_line(self._last_prompt) if not (self._custom or self._ai) else ""
        summaries = [text for leaf, text in self._summaries.items() if leaf in own]
        first = live or [text for _, text in self._typed]
        named = bool(last) and any(_same(last, one_line(text)) for text in live)
        candidates = (
            one_line(self._custom),
            one_line(self._ai),
            last if named else "",
            one_line(summaries[-1]) if summaries else "",
            one_line(first[0]) if first else "",
            self._command,
        )
        return next((title for title in candidates if title), "")


def is_failure(title: str) -> bool:
    """Whether it is the client's own words for that no title could be made: the prompt says more."""
    return _FAILED.match(title.strip()) is not None


def _same(last: str, typed: str) -> bool:
    """The source cuts a long prompt; what is left of it must be how the typed one begins."""
    return typed.startswith(last.removesuffix("…"))


#: How much of a prompt is compared.
COMPARED = 200
#: Prompts sent together may be long; more of them is not looked at.
TOGETHER = 20_000
#: What programs queue: nobody typed it.
_INJECTED = ("<task-notification>", "<teammate-message", "<agent-message", "<tick>", "<goal>")


class _Waiting(Struct, gc=False):
    line: TranscriptLine
    text: str
    taken: bool = False


class Queue:
    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []

    def enqueue(self, line: TranscriptLine, text: str) -> None:
        self._waiting.append(_Waiting(line, _beginning(text)))

    def dequeue(self) -> None:
        """The program took the oldest prompt that still waited."""
        for waiting in self._waiting:
            if not waiting.taken:
                waiting.taken = True
                return

    def delivered(self, text: str) -> None:
        """A prompt came out: the queued one of the same text, else all those it is made of.

        Texts may differ: a paste is written out, a command is spelled in tags. Then it was
        the oldest one taken.
        """
        if not self._waiting:
            return
        beginning, whole = _beginning(text), one_line(text, TOGETHER)
        same = [waiting for waiting in self._waiting if waiting.text == beginning][:1]
        inside = [w for w in self._waiting if w.taken and w.text and w.text in whole]
        oldest = [waiting for waiting in self._waiting if waiting.taken][:1]
        for waiting in same or inside or oldest:
            self._waiting.remove(waiting)

    def appeared(self, text: str) -> None:
        """The same text stands in the transcript, though nobody typed it: a program had queued it."""
        beginning = _beginning(text) if self._waiting else ""
        for waiting in self._waiting:
            if waiting.text == beginning:
                self._waiting.remove(waiting)
                return

    def never_sent(self) -> list[TranscriptLine]:
        return [
            waiting.line
            for waiting in self._waiting
            if waiting.text and not waiting.text.startswith(_INJECTED)
        ]


def _beginning(text: str) -> str:
    return one_line(text, COMPARED).removesuffix("…").rstrip()
