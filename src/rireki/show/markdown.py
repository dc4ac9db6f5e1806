"""A conversation as Markdown: for a note, an issue, another agent's context.

Code fences are longer than any fence inside them, so that a transcript cannot
break out of its block. Control characters are left out as on the terminal.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rireki.model.calls import PairedResults, results_by_call
from rireki.model.message import Message
from rireki.model.parts import Attachment, Notice, Part, Text, Thinking, ToolCall, ToolResult
from rireki.show import times
from rireki.show.heading import facts, fate, relations
from rireki.show.parts import (
    attachment_words,
    line_of,
    part_text,
    pretty,
    preview,
    tool_name,
    untold,
)
from rireki.show.safe import one_line, safe
from rireki.show.transcript import NEVER_ANSWERED, Transcript, unanswered
from rireki.show.words import NAMES

if TYPE_CHECKING:
    from rireki.show.formats import FormatOptions

__all__ = ["markdown", "message_lines", "write"]

_SHORT = 20


def write(transcript: Transcript, options: FormatOptions) -> Iterator[str]:
    return (f"{line}\n" for line in markdown(transcript, options.full))


def markdown(story: Transcript, full: bool = False) -> Iterator[str]:
    """The lines of the document."""
    about = story.conversation
    yield f"# {one_line(about.title) or about.id}"
    yield ""
    for fact in (f"`{about.id}`", about.project, " · ".join(facts(about)), *relations(about)):
        if fact:
            yield f"- {one_line(fact)}"
    for said in fate(about):
        yield f"- **{said}**"
    results = results_by_call(story.messages)
    limit = None if full else _SHORT
    heading = ""
    silence = unanswered(story)
    for message in story.messages:
        lines = list(message_lines(message, results, limit))
        if message.id in silence and lines[1:2]:
            lines[1] += f" *({NEVER_ANSWERED})*"
        # An agent that goes on is named once; what a person typed always begins anew.
        if message.author != "person" and lines[1:2] == [heading]:
            lines = lines[2:]
        elif lines:
            heading = lines[1] if lines[1].startswith("## ") else ""
        yield from lines
    if story.children:
        yield from ["", "## Sub-agents", ""]
    for child in story.children:
        yield f"- `{child.conversation.id}`: {one_line(child.conversation.title)}"


def message_lines(
    message: Message, results: PairedResults, limit: int | None = _SHORT
) -> Iterator[str]:
    """What stands in the document of one message, with the results of its calls."""
    if message.display == "bubble":
        yield from _bubble(message, results, limit)
    elif message.display in ("chip", "divider"):
        line = line_of(message)
        yield from ["", _title(message, line)]
        if message.display == "divider":
            yield from _folded("summary", "\n".join(map(part_text, untold(message, line))), limit)
        else:
            yield from _behind(message, line, results, limit)
    else:
        yield from _fold(message, results, limit)


def _bubble(message: Message, results: PairedResults, limit: int | None) -> Iterator[str]:
    body = [line for part in message.parts for line in _part(part, message, results, limit)]
    if body:
        stamp = f" {times.moment(message.at)}" if message.author == "person" and message.at else ""
        label = f" *({_plain(one_line(message.label))})*" if message.label else ""
        yield from ["", f"## {NAMES[message.author]}{stamp}{label}{_notes(message)}"]
    yield from body


def _fold(message: Message, results: PairedResults, limit: int | None) -> Iterator[str]:
    """Under a name of its own, or it would be taken for the words of who spoke before."""
    line = one_line(message.label or "")
    body = list(_behind(message, line, results, limit))
    # What came back from a call stands there, and needs no line to announce it.
    came = all(isinstance(part, ToolResult | Attachment) for part in message.parts)
    if (line and (body or not message.parts)) or not came:
        yield from ["", _title(message, line)]
    yield from body


def _title(message: Message, line: str) -> str:
    """The one line of what is no bubble."""
    name = NAMES[message.author]
    return f"*{name}: {_plain(line)}*{_notes(message)}" if line else f"*{name}*{_notes(message)}"


def _notes(message: Message) -> str:
    notes = {
        "hidden": message.display == "hidden",
        "no longer in the source": message.upstream == "gone",
        "on a branch that was left": message.abandoned,
    }
    return "".join(f" *({note})*" for note, stands in notes.items() if stands)


def _plain(words: str) -> str:
    """Words that are no Markdown, on a line that is: `<details>` in them would fold what follows."""
    return re.sub(r"[\\`*\[<]", r"\\\g<0>", words)


def _behind(
    message: Message, line: str, results: PairedResults, limit: int | None
) -> Iterator[str]:
    """What a message says beyond its one line."""
    # Whatever a person typed is theirs to the last line.
    limit = None if message.author == "person" else limit
    for part in untold(message, line):
        if not isinstance(part, Text | Notice):
            yield from _part(part, message, results, limit)
        elif "\n" in safe(part.text).strip():
            yield from _folded("words", part.text, limit)
        else:
            yield from ["", *_block(part.text.strip(), limit)]


def _part(part: Part, message: Message, results: PairedResults, limit: int | None) -> Iterator[str]:
    if isinstance(part, Text):
        yield ""
        yield from safe(part.text).strip("\n").split("\n")
    elif isinstance(part, ToolCall):
        name = _plain(one_line(tool_name(part.name)))
        yield from _fenced(f"**{name}**", pretty(part.arguments), limit)
        for placed in results.under.get((message.id, part.call_id), []):
            yield from _fenced(_verdict(placed.result), placed.result.output, limit)
    elif isinstance(part, ToolResult):
        if (message.id, part.call_id) in results.alone:
            yield from _fenced(_verdict(part), part.output, limit)
    elif isinstance(part, Attachment | Notice):
        words = attachment_words(part) if isinstance(part, Attachment) else part.text
        yield from ["", f"> {one_line(words)}"]
    elif part_text(part).strip():
        name = "thinking" if isinstance(part, Thinking) else one_line(part.what)
        yield from _folded(name, part_text(part), limit)


def _verdict(result: ToolResult) -> str:
    return "result" if result.status == "ok" else f"result: {result.status}"


def _fenced(title: str, text: str, limit: int | None) -> Iterator[str]:
    yield from ["", title, "", *_block(text, limit)]


def _folded(summary: str, text: str, limit: int | None) -> Iterator[str]:
    if text.strip():
        yield from ["", f"<details><summary>{html.escape(summary)}</summary>"]
        yield from ["", *_block(text, limit)]
        yield from ["", "</details>"]


def _block(text: str, limit: int | None) -> Iterator[str]:
    shown = preview(text, limit)
    lines = [*shown.lines, f"… {shown.more:,} more lines"] if shown.more else shown.lines
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from [fence, *lines, fence]
