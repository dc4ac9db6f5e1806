"""The transcript as a second witness: what was shown, kept where nothing else remembers it.

The client notes every line it shows and does not take lines out on `/clear` or
`/compact`. Lines that no message accounts for are all that is left of what was
said; also slash commands and answers to questions stand only here. This module
compares texts; it does not know where messages come from.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rireki.model.message import Message
from rireki.model.parts import Notice, Part, Text
from rireki.model.strand import Ref
from rireki.sources.amazon_q.draft import Draft, short_hash

__all__ = ["LABEL", "TYPED", "TranscriptNote", "add_typed", "add_witnessed", "not_typed"]

LABEL, TYPED = "only in the transcript", "only in the list of typed lines"
_TOOLS = re.compile(r"\n\[Tool uses: ([^\n]*)\]$")
#: A command to the client, or after `!` to the shell.
_COMMAND = re.compile(r"/[a-z][\w-]*(\s|$)|!\S")
#: How much of a text stands on a chip.
_CHIP = 60
#: Answers to "allow this action?": yes, no, trust.
_KEYS = ("y", "n", "t")


class TranscriptNote(NamedTuple):
    """A line as the client noted it, whether the source still has it, and the records that hold it."""

    text: str
    present: bool
    refs: list[Ref]


class _Line(NamedTuple):
    speaker: str
    text: str
    tools: str
    noted: TranscriptNote

    @property
    def witness(self) -> tuple[str, str]:
        return (self.speaker, _bare(self.text) or self.tools)


def add_witnessed(flow: list[Draft], lines: Sequence[TranscriptNote]) -> None:
    """Put in what only the transcript holds, each line before what followed it."""
    _add(flow, [_parse(noted) for noted in lines], LABEL)


def add_typed(flow: list[Draft], lines: Sequence[TranscriptNote]) -> None:
    """The same for a file of typed lines, as Kiro keeps one beside each session."""
    _add(flow, _typed(lines), TYPED)


def not_typed(flow: Sequence[Draft], lines: Sequence[TranscriptNote]) -> list[Draft]:
    """What stands in a person's place, but not in the file of typed lines."""
    typed = {line.witness for line in _typed(lines)}
    said = [(draft, draft.witness) for draft in flow if draft.witness]
    return [
        draft
        for draft, (speaker, text) in said
        if speaker == "user" and (speaker, _bare(text)) not in typed
    ]


def _typed(lines: Sequence[TranscriptNote]) -> list[_Line]:
    return [
        _Line("user", noted.text.replace("\\n", "\n"), "", noted) for noted in lines if noted.text
    ]


def _add(flow: list[Draft], lines: list[_Line], label: str) -> None:
    matches = _match(lines, flow)
    additions: dict[int, list[Draft]] = defaultdict(list)
    seen: dict[str, int] = defaultdict(int)
    anchor = _end(flow)
    found: list[tuple[int, _Line]] = []
    for line, match in zip(reversed(lines), reversed(matches), strict=True):
        if match is not None:
            anchor = min(anchor, _before_group(flow, match))
        elif line.witness[1]:
            found.append((anchor, line))
    for place, line in reversed(found):
        name = f"t{short_hash(line.speaker + line.text)}"
        seen[name] += 1
        name = name if seen[name] == 1 else f"{name}.{seen[name]}"
        additions[place].append(_draft(line, name, label))
    flow[:] = [
        draft
        for place in range(len(flow) + 1)
        for draft in (*additions[place], *flow[place : place + 1])
    ]


def _match(lines: Sequence[_Line], flow: Sequence[Draft]) -> list[int | None]:
    """For each line the message it shows. Where lines are more than messages, the oldest have none.

    Texts are counted rather than aligned, so that no text is shown twice because
    a short answer like "y" happened to match elsewhere.
    """
    waiting: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, draft in enumerate(flow):
        if draft.witness is not None:
            speaker, text = draft.witness
            waiting[speaker, _bare(text)].append(place)
    matches: list[int | None] = []
    for line in reversed(lines):
        places = next(filter(None, (waiting.get(one) for one in _witnesses(line))), None)
        matches.append(places.pop() if places else None)
    return matches[::-1]


def _witnesses(line: _Line) -> Iterator[tuple[str, str]]:
    """What a line may show: one without any mark of who spoke is an error, or the very words of a
    message, as clients write them that note no tools."""
    yield line.witness
    if line.speaker == "harness":
        yield from (("agent", line.witness[1]), ("user", line.witness[1]))


def _before_group(flow: Sequence[Draft], place: int) -> int:
    """Where the entry of a message begins, together with the divider above it."""
    group = flow[place].group
    while place and (
        flow[place - 1].group == group or flow[place - 1].message.display == "divider"
    ):
        place -= 1
    return place


def _end(flow: Sequence[Draft]) -> int:
    end = len(flow)
    while end and flow[end - 1].last:
        end -= 1
    return end


def _bare(text: str) -> str:
    # A newline inside a shown prompt has become "> \n".
    return text.replace("> \n", "\n").strip()


def _parse(noted: TranscriptNote) -> _Line:
    line = noted.text
    if line.startswith("> "):
        return _Line("user", line[2:].replace("> \n", "\n"), "", noted)
    tools = _TOOLS.search(line)
    if tools is not None:
        names = "" if tools[1] == "none" else tools[1]
        return _Line("agent", line[: tools.start()], names, noted)
    return _Line("harness", line, "", noted)


def _draft(line: _Line, name: str, label: str) -> Draft:
    message = Message(
        id=name,
        author="harness",
        display="chip",
        upstream="present" if line.noted.present else "gone",
    )
    if line.speaker == "user":
        message.author = "person"
        aside = _COMMAND.match(line.text) or line.text.strip().lower() in _KEYS
        message.display = "chip" if aside else "bubble"
        message.parts = [Text(line.text)]
    elif line.speaker == "agent":
        message.author = "agent"
        message.display = "bubble"
        message.parts = _said(line)
    else:
        message.parts = [Notice(line.text, "error")]
    message.label = label if message.display == "bubble" else f"{_gist(line.text)} ({label})"
    return Draft(message, witness=line.witness, refs=line.noted.refs)


def _gist(text: str) -> str:
    """What a chip says on its one line."""
    line = " ".join(text.split())
    return line if len(line) <= _CHIP else f"{line[: _CHIP - 1]}…"


def _said(line: _Line) -> list[Part]:
    parts: list[Part] = [Text(line.text)] if line.text.strip() else []
    if line.tools:
        parts.append(Notice(f"Tools used: {line.tools.replace(',', ', ')}"))
    return parts
