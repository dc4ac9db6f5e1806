"""A conversation for the terminal: who said what, calls with their results, what became of it.

Obeys each message's author and display, which the readers decided; decides
nothing of the kind itself, and lets no control character of a transcript through.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias

from rireki.model.calls import Placed, results_by_call
from rireki.model.message import Message
from rireki.model.parts import Attachment, Notice, Part, Text, Thinking, ToolCall, ToolResult
from rireki.show import times
from rireki.show.catalogue import say, say_label, say_reading
from rireki.show.heading import heading
from rireki.show.parts import gist, line_of, part_text, pretty, preview, tell, untold
from rireki.show.safe import PLAIN, Style, one_line, safe
from rireki.show.transcript import NEVER_ANSWERED, Transcript, error_in, unanswered
from rireki.show.width import Mark, Marked, painted, truncate, width, wrap, wrapped
from rireki.show.words import AUTHORS, count

__all__ = ["TextBlock", "TextOptions", "render_transcript"]

Painter: TypeAlias = Callable[[str], str]

#: A line drawn across the screen is not longer than this.
_RULE = 100
#: How many lines of something folded are shown.
_SHORT = 4
#: Columns of a chip's words, also where lines have no end.
_CHIP = 2 * _RULE
#: Columns that words keep, whatever stands behind them.
_LEAST = 20
_GONE = "no longer in the source"
#: The indentation of a line, behind the colours it begins with.
_INDENT = re.compile(r"^((?:\x1b\[[\d;]*m)*)  ")
#: What opens words that a program wrapped for the model.
_TAG = re.compile(r"<([a-z][\w-]*)[^<>]*>\s*")


class TextOptions(NamedTuple):
    """How much to tell, and on what."""

    columns: int = 80
    style: Style = PLAIN
    #: Nothing is shortened.
    full: bool = False
    #: Sub-agents are told where they were started.
    nested: bool = False
    #: What it waits for just now, in words.
    waits: str = ""
    #: The message to open: nothing of it is shortened, and a bar stands before its lines.
    opened: str | None = None
    #: Where the words that led there stand in a line of it.
    find: Callable[[str], Sequence[Mark]] | None = None


class TextBlock(NamedTuple):
    """The lines of one message; the conversation's own lines have no message."""

    message: str | None
    lines: list[str]
    #: The first line of what was to be opened in it, and the first with words that led there.
    opened: int | None = None
    found: int | None = None


def render_transcript(story: Transcript, view: TextOptions) -> Iterator[TextBlock]:
    """The heading and every message of the story, in order."""
    about = heading(story.conversation, view.columns, view.style, view.full)
    waits = truncate(one_line(view.waits), view.columns)
    waiting = [view.style.bold(view.style.yellow(waits))] if waits else []
    yield TextBlock(None, [*about, *waiting])
    yield from _Teller(story, view).blocks()


class _Teller:
    """Walks through the messages and remembers what the reader of the screen already knows."""

    def __init__(self, story: Transcript, view: TextOptions) -> None:
        self.story = story
        self.view = view
        self.style = view.style
        self.results = results_by_call(story.messages)
        self.unanswered = unanswered(story)
        self.children = _children_by_call(story)
        self.speaker: Sequence[object] = ()
        self.model: str | None = None
        self.turn: int | None = None
        self.day = ""
        #: Whether what is told just now belongs to the message to open, and whether it was found in.
        self.opened = False
        self.found = False

    def blocks(self) -> Iterator[TextBlock]:
        for message in self.story.messages:
            with self._telling(message):
                yield self._block(message)
        orphans = [child for children in self.children.values() for child in children]
        if orphans:
            lines = [line for child in orphans for line in self._child(child, "  ")]
            yield TextBlock(
                None, ["", self.style.dim(say("  Started by no call told here:")), *lines]
            )

    def _block(self, message: Message) -> TextBlock:
        lines: list[str] = []
        opened: int | None = None
        found: int | None = None
        for line in self._message(message):
            if self.opened:
                opened = len(lines) if opened is None else opened
                line = self._barred(line)
            if self.found:
                found = len(lines) if found is None else found
                self.found = False
            lines.append(line)
        return TextBlock(message.id, lines, opened, found)

    @contextmanager
    def _telling(self, message: Message) -> Iterator[None]:
        """A result stands among the lines of another message: each is opened by itself."""
        before, self.opened = self.opened, message.id == self.view.opened
        try:
            yield
        finally:
            self.opened = before

    @property
    def full(self) -> bool:
        return self.view.full or self.opened

    def _message(self, message: Message) -> Iterator[str]:
        if message.display == "bubble":
            return self._bubble(message)
        if error := error_in(message):
            return self._error(message, error)
        if message.display == "chip":
            return self._chip(message)
        if message.display == "divider":
            return self._divider(message)
        return self._fold(message)

    # How each kind of message looks

    def _bubble(self, message: Message) -> Iterator[str]:
        # Line by line: which message a line belongs to is known while it is told.
        body = (line for part in message.parts for line in self._part(part, message))
        first = next(body, None)
        if first is None and message.author == "person" and not _only_results(message):
            first = self.style.dim(f"  {say('(empty)')}")
        if first is not None:
            yield from self._header(message)
            yield first
            yield from body

    def _header(self, message: Message) -> Iterator[str]:
        # Not every message of one answer names its model.
        model = message.model or self.model
        speaker = (message.author, message.label, model, *self._marks(message))
        if message.author == "person":
            yield ""
            yield self._turn(message, message.label)
        elif speaker != self.speaker:
            label = _in_words(message.label)
            words = [say(AUTHORS[message.author]), self._time(message), message.model, label]
            yield ""
            yield self._joined([*words, *self._marks(message)], self.style.cyan)
        self.speaker, self.model = speaker, model

    def _turn(self, message: Message, label: str | None) -> str:
        """What a person did stands on a rule across the screen, so that the eye finds it."""
        number = str(message.turn) if message.turn and message.turn != self.turn else None
        self.turn = message.turn or self.turn
        author = say(AUTHORS[message.author])
        words = [number, author, self._time(message), _in_words(label)]
        text = self._marked("── " + _dotted(words), message)
        rest = min(self.view.columns, _RULE) - width(text) - 1
        return self.style.person(f"{text} {'─' * rest}".rstrip())

    def _chip(self, message: Message) -> Iterator[str]:
        self.speaker = ()
        # In full, the words follow.
        said = line_of(message) if self.full else _with_words(message)
        if message.author == "person":
            yield ""
            yield self._turn(message, said)
        else:
            said = f"  · {_in_words(said) or say(AUTHORS[message.author])}"
            yield self.style.dim(self._marked(said, message))
        yield from self._body_of_short(message)

    def _error(self, message: Message, error: str) -> Iterator[str]:
        """Never in one grey line: why nothing came of a prompt is the first thing to be seen."""
        self.speaker = ()
        named = message.label and message.label != "error"
        label = f"{_in_words(message.label)}: " if named else ""
        marks = "".join(f" · {mark}" for mark in self._marks(message))
        first, *rest = error.split("\n")
        yield ""
        words = "\n".join([f"! {label}{first}{marks}", *rest])
        yield from self._shortened(words, "  ", self.style.alarm)
        for part in message.parts:
            if not isinstance(part, Notice):
                yield from self._part(part, message)

    def _divider(self, message: Message) -> Iterator[str]:
        self.speaker = ()
        label = _dotted([_in_words(message.label) or gist(message), *self._marks(message)])
        yield ""
        yield self.style.yellow(_ruled(label, min(self.view.columns, _RULE)))
        for part in message.parts:
            if isinstance(part, ToolCall):
                yield from self._call(part, message)
            elif not isinstance(part, ToolResult) and part_text(part).strip() != message.label:
                yield from self._shortened(_beside_words(part), "  ", self.style.dim)

    def _fold(self, message: Message) -> Iterator[str]:
        told = [part for part in message.parts if not self._stands_elsewhere(part, message)]
        if message.parts and not told:
            return
        # A picture that came with a result needs no line to announce it.
        if message.label or not all(isinstance(part, Attachment) for part in told):
            self.speaker = ()
            hidden = say("hidden") if message.display == "hidden" else None
            label = _in_words(message.label) or say(AUTHORS[message.author])
            words = [f"  + {one_line(label)}", hidden, *self._marks(message)]
            yield self._joined(words, self.style.dim)
        for part in told:
            if isinstance(part, ToolCall):
                yield from self._call(part, message)
            else:
                yield from self._shortened(_beside_words(part), "    ", self.style.dim)

    def _body_of_short(self, message: Message) -> Iterator[str]:
        """Behind a chip's one line: its calls always, for their results hang on them."""
        for part in message.parts:
            if self.full or isinstance(part, ToolCall):
                yield from self._part(part, message)

    # Parts

    def _part(self, part: Part, message: Message) -> Iterator[str]:
        if isinstance(part, Text):
            lines = safe(part.text).strip("\n").split("\n") if part.text.strip() else []
            yield from self._wrapped(lines, "  ")
        elif isinstance(part, Thinking):
            text = f"{say_reading('(thinking)')} {part.text.strip()}" if part.text.strip() else ""
            yield from self._shortened(text, "  ", self.style.dim)
        elif isinstance(part, ToolCall):
            yield from self._call(part, message)
        elif isinstance(part, ToolResult):
            if not self._stands_elsewhere(part, message):
                yield self.style.dim(f"  + {say('result without a call')}")
                yield from self._result(Placed(part, message), message)
        elif isinstance(part, Notice):
            paint = self.style.red if part.level == "error" else self.style.yellow
            yield from self._wrapped([f"! {_notice(part)}"], "  ", paint)
        else:
            yield from self._shortened(_beside_words(part), "  ", self.style.dim)

    def _call(self, call: ToolCall, message: Message) -> Iterator[str]:
        yield self._found_in(
            truncate(f"  ▸ {tell(call, say_reading)}", self.view.columns), self.style.bold
        )
        if self.full and call.arguments:
            yield from self._wrapped(_arguments(call), "    ", self.style.dim)
        placed = self.results.under.get((message.id, call.call_id), [])
        if not placed:
            yield self.style.dim(f"    {say('(no result)')}")
        for result in placed:
            yield from self._result(result, message)
        for child in self.children.pop(call.call_id, []):
            yield from self._child(child, "    ")

    def _result(self, placed: Placed, asked_in: Message) -> Iterator[str]:
        with self._telling(placed.message):
            yield from self._result_lines(placed, asked_in)

    def _result_lines(self, placed: Placed, asked_in: Message) -> Iterator[str]:
        result, message = placed
        paint = self.style.dim if result.status == "ok" else self.style.red
        words: list[str] = [] if result.status == "ok" else [say(result.status)]
        # Where the call is marked already, its result need not be.
        words += [mark for mark in self._marks(message) if mark not in self._marks(asked_in)]
        if words:
            yield "    " + paint(_dotted(words))
        if result.output.strip():
            yield from self._shortened(result.output, "    ", paint)
        elif not words:
            yield paint(f"    {say('(no output)')}")

    def _child(self, child: Transcript, indent: str) -> Iterator[str]:
        about = child.conversation
        facts = [count(about.messages, "message"), count(about.tool_calls, "tool call")]
        said = _dotted([f"↳ {say('sub-agent')} {about.id}", *map(say, facts), about.title])
        yield indent + self.style.cyan(truncate(said, self.view.columns - len(indent)))
        if self.view.nested:
            inner = self.view._replace(columns=max(self.view.columns - len(indent) - 2, 20))
            for block in _Teller(child, inner).blocks():
                for line in block.lines:
                    yield f"{indent}{self.style.dim('┊')} {line}".rstrip()

    # Small things

    def _marks(self, message: Message) -> list[str]:
        marks = []
        # Said once at the top, it need not be said again at every message.
        if message.upstream == "gone" and self.story.conversation.upstream != "gone":
            marks.append(say(_GONE))
        if message.replaced_by is not None:
            marks.append(say("earlier version"))
        if message.abandoned:
            marks.append(say("on a branch you left"))
        if message.id in self.unanswered:
            marks.append(say(NEVER_ANSWERED))
        return marks

    def _marked(self, said: str, message: Message) -> str:
        """Where there is no room for all, the words are cut rather than the marks behind them."""
        marks = "".join(f" · {mark}" for mark in self._marks(message))
        room = max(self.view.columns - width(marks), _LEAST)
        return truncate(truncate(said, room) + marks, self.view.columns)

    def _stands_elsewhere(self, part: Part, message: Message) -> bool:
        """A result is told under its call, not where it came in."""
        if not isinstance(part, ToolResult):
            return False
        return (message.id, part.call_id) not in self.results.alone

    def _time(self, message: Message) -> str:
        """The minute; with the date whenever it is another day than before."""
        day = times.day(message.at)
        if not day or day == self.day:
            return times.clock(message.at)
        self.day = day
        return times.moment(message.at)

    def _joined(self, words: Iterable[str | None], paint: Painter) -> str:
        return paint(truncate(_dotted(words), self.view.columns))

    def _shortened(self, text: str, indent: str, paint: Painter) -> Iterator[str]:
        shown = preview(text, None if self.full else _SHORT)
        lines = shown.lines
        if not self.full:
            # A single enormous line is as much of a flood as many short ones.
            lines = [truncate(line, _SHORT * min(self.view.columns, _RULE)) for line in lines]
        yield from self._wrapped(lines, indent, paint)
        if shown.more:
            yield indent + self.style.dim(say(f"… {count(shown.more, 'more line')}"))

    def _wrapped(self, lines: Iterable[str], indent: str, paint: Painter = str) -> Iterator[str]:
        columns = self.view.columns - len(indent)
        for each in lines:
            line = each.expandtabs(4)
            if marks := self._marks_in(line):
                for piece in wrapped(Marked(line, marks), columns):
                    yield indent + self._painted(piece, paint)
            else:
                for text in wrap(line, columns):
                    yield indent + paint(text) if text else ""

    # What was searched for

    def _marks_in(self, line: str) -> Sequence[Mark]:
        return self.view.find(line) if self.opened and self.view.find else ()

    def _found_in(self, line: str, paint: Painter) -> str:
        return self._painted(Marked(line, self._marks_in(line)), paint)

    def _painted(self, line: Marked, paint: Painter) -> str:
        self.found = self.found or bool(line.marks)
        return painted(line, lambda text: self.style.bold(self.style.yellow(text)), paint)

    def _barred(self, line: str) -> str:
        """With a bar where the indentation was; the rule over a prompt needs none."""
        return _INDENT.sub(lambda found: f"{self.style.yellow('▌')} {found[1]}", line, count=1)


def _in_words(label: str | None) -> str | None:
    """A reader's word for a message; "refused: git push" is one of ours about words of theirs."""
    if not label or (told := say_label(label)) != label:
        return label and told
    head, colon, rest = label.partition(": ")
    return say_label(head) + colon + rest


def _notice(part: Notice) -> str:
    return say_reading(one_line(part.text))


def _beside_words(part: Part) -> str:
    """What stands for a part that is not words, or the words themselves."""
    words = part_text(part)
    return say_reading(words) if isinstance(part, Attachment | Notice) else words


def _dotted(words: Iterable[str | None]) -> str:
    """Facts in a row; the indentation of the first stays."""
    return " · ".join(safe(word).replace("\n", " ") for word in words if word)


def _with_words(message: Message) -> str:
    """A chip's line with the beginning of its words, as far as it does not have them itself."""
    line = line_of(message)
    parts = untold(message, line)
    words = " · ".join(filter(None, (_for_people(part, line) for part in parts)))
    # The name of a skill says more than how its text begins.
    if not message.label or not words or line.startswith("skill: ") or _begins(line, words):
        return line
    if words.startswith(line):
        return truncate(words, _CHIP)
    # What is ours in them is told in the reader's language only after the comparison.
    said = (_for_people(part, line, in_words=True) for part in parts)
    return truncate(f"{line}: {' · '.join(filter(None, said))}", _CHIP)


def _begins(line: str, words: str) -> bool:
    """Whether a line has the words, or as many as it was cut to: `/x a b…`, `remember: a b…`."""
    begun, cut, _ = line.partition("…")
    said = (begun, begun.partition(": ")[2])
    return any(words == one or (cut and one and words.startswith(one)) for one in said)


def _for_people(part: Part, line: str, in_words: bool = False) -> str:
    """What is said in a part, without the tag around it; tags within tags are for the model."""
    if isinstance(part, Notice):
        return _notice(part) if in_words else one_line(part.text)
    text = part.text.strip() if isinstance(part, Text) else ""
    # "[Request interrupted by user]" is no more than "interrupted".
    if text.startswith("[") and text.endswith("]") and line in text:
        return ""
    if tag := _TAG.match(text):
        text = text[tag.end() :].partition(f"</{tag[1]}>")[0]
    return "" if _TAG.match(text) else one_line(text)


def _arguments(call: ToolCall) -> list[str]:
    """Every argument by its name, texts as they are, for JSON would run their lines together."""
    if not isinstance(call.arguments, dict):
        return safe(pretty(call.arguments)).split("\n")
    lines: list[str] = []
    for name, value in call.arguments.items():
        lines += safe(f"{name}: {pretty(value)}").split("\n")
    return lines


def _only_results(message: Message) -> bool:
    return bool(message.parts) and all(isinstance(part, ToolResult) for part in message.parts)


def _ruled(label: str, columns: int) -> str:
    label = truncate(f" {label} ", columns - 4)
    left = (columns - width(label)) // 2
    return "┄" * left + label + "┄" * (columns - left - width(label))


def _children_by_call(story: Transcript) -> dict[str | None, list[Transcript]]:
    """Sub-agents by the call that started them, None where it is not known."""
    calls = {
        link.id: link.call_id
        for link in story.conversation.links
        if link.kind == "subagent" and link.side == "child"
    }
    children: dict[str | None, list[Transcript]] = {}
    for child in story.children:
        children.setdefault(calls.get(child.conversation.id), []).append(child)
    return children
