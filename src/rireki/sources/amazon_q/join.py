"""One conversation from several stores: what a log, a transcript or typed lines add to it.

Copies of messages are known by the ids of their answers; an export gives new ids to what a person
said, and to answers that had none. What only the log has is put where it stood between the copies.
Lines that were shown or typed and that no message accounts for are all that is left of what was
said; also slash commands and answers to questions stand only there. Nothing here knows what a store
is."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rireki.model.message import Message
from rireki.model.parts import Notice, Part, Text
from rireki.model.strand import Ref
from rireki.sources.amazon_q.pending import SavedMessage, short_hash

__all__ = ["LABEL", "TYPED", "TranscriptNote", "add_typed", "add_witnessed", "join", "not_typed"]


def join(flow: list[SavedMessage], drafts: Sequence[SavedMessage]) -> list[SavedMessage]:
    """Put into the flow what the drafts have beyond it; returns what was put in."""
    seam = _Seam(flow)
    for draft in drafts:
        seam.take(draft)
    added = [draft for _, kept in seam.pieces for draft in kept]
    waiting = {draft.witness for draft in added if draft.witness}
    flow[:] = [draft for draft in flow if not (draft.last and draft.witness in waiting)]
    for twin, kept in reversed(seam.pieces):
        place = _end(flow) if twin is None else _start_of(flow, twin)
        flow[place:place] = kept
    return added


class _Seam:
    """Walks through a copy, and cuts it at every message that the flow has too."""

    def __init__(self, flow: Sequence[SavedMessage]) -> None:
        self._flow = flow
        self._known = {draft.message.id: draft for draft in flow}
        self._known |= {draft.answer: draft for draft in flow if draft.answer}
        self._unnamed = [one for one in flow if one.role == "assistant" and not one.answer]
        self._kept: list[SavedMessage] = []
        #: User sides whose answer is still to come, and what stands between them and it.
        self._asking: list[SavedMessage] = []
        #: What is new, each piece with the message before which it stands; the end is None.
        self._pieces: list[tuple[SavedMessage | None, list[SavedMessage]]] = []

    @property
    def pieces(self) -> list[tuple[SavedMessage | None, list[SavedMessage]]]:
        return [*self._pieces, (None, [*self._kept, *self._asking])]

    def take(self, draft: SavedMessage) -> None:
        twin = self._known.get(draft.message.id) or self._unnamed_twin(draft)
        if twin is not None:
            self._cut(twin, draft)
        elif draft.role == "assistant" or draft.message.display == "divider":
            # Behind a divider, nobody answers what was asked before it.
            self._kept += [*self._asking, draft]
            self._asking = []
        else:
            self._asking.append(draft)

    def _cut(self, twin: SavedMessage, copy: SavedMessage) -> None:
        asked = self._asking
        if copy.role == "assistant":
            # What asked for an answer that we have is a copy too, under another id.
            asked = [draft for draft in asked if draft.role not in ("user", "context")]
        if self._kept or asked:
            self._pieces.append((twin, [*self._kept, *asked]))
        self._kept, self._asking = [], []
        if copy.message.upstream == "present":
            self._revive(twin)

    def _unnamed_twin(self, draft: SavedMessage) -> SavedMessage | None:
        """The client's own texts have no id in a row, and a new one in its export."""
        if draft.role != "assistant" or draft.witness is None:
            return None
        for one in self._unnamed:
            if one.witness == draft.witness:
                self._unnamed.remove(one)
                return one
        return None

    def _revive(self, twin: SavedMessage) -> None:
        """What one store has lost and the other still holds is not gone: an answer, and what it answers."""
        for draft in self._flow:
            same = draft is twin or (draft.group == twin.group and twin.role == "assistant")
            if same and draft.message.replaced_by is None:
                draft.message.upstream = "present"


def _start_of(flow: Sequence[SavedMessage], twin: SavedMessage) -> int:
    """Where the entry of a message begins."""
    place = next((place for place, draft in enumerate(flow) if draft is twin), len(flow))
    while place and twin.group and flow[place - 1].group == twin.group:
        place -= 1
    return place


def _end(flow: Sequence[SavedMessage]) -> int:
    return next((place for place, draft in enumerate(flow) if draft.last), len(flow))


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


def add_witnessed(flow: list[SavedMessage], lines: Sequence[TranscriptNote]) -> None:
    """Put in what only the transcript holds, each line before what followed it."""
    _add(flow, [_parse(noted) for noted in lines], LABEL)


def add_typed(flow: list[SavedMessage], lines: Sequence[TranscriptNote]) -> None:
    """The same for a file of typed lines, as Kiro keeps one beside each session."""
    _add(flow, _typed(lines), TYPED)


def not_typed(flow: Sequence[SavedMessage], lines: Sequence[TranscriptNote]) -> list[SavedMessage]:
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


def _add(flow: list[SavedMessage], lines: list[_Line], label: str) -> None:
    matches = _match(lines, flow)
    additions: dict[int, list[SavedMessage]] = defaultdict(list)
    seen: dict[str, int] = defaultdict(int)
    anchor = _end_of_talk(flow)
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


def _match(lines: Sequence[_Line], flow: Sequence[SavedMessage]) -> list[int | None]:
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


def _before_group(flow: Sequence[SavedMessage], place: int) -> int:
    """Where the entry of a message begins, together with the divider above it."""
    group = flow[place].group
    while place and (
        flow[place - 1].group == group or flow[place - 1].message.display == "divider"
    ):
        place -= 1
    return place


def _end_of_talk(flow: Sequence[SavedMessage]) -> int:
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


def _draft(line: _Line, name: str, label: str) -> SavedMessage:
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
    return SavedMessage(message, witness=line.witness, refs=line.noted.refs)


def _gist(text: str) -> str:
    """What a chip says on its one line."""
    line = " ".join(text.split())
    return line if len(line) <= _CHIP else f"{line[: _CHIP - 1]}…"


def _said(line: _Line) -> list[Part]:
    parts: list[Part] = [Text(line.text)] if line.text.strip() else []
    if line.tools:
        parts.append(Notice(f"Tools used: {line.tools.replace(',', ', ')}"))
    return parts
