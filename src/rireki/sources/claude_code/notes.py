"""What Claude Code keeps beside its transcripts: to-do lists, tasks, plans, the memory of a project.

Each is a small file that is written anew whenever it changes: one message, with the versions before it.
Lists and tasks name their session and stand at its end; plans and memories are entries of their own.
"""

# Strings instead of pathlib, as in `files.py`.
# ruff: noqa: PTH119

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

from rireki.model.conversation import LinkToken, Reading
from rireki.model.parts import Part, Text, Unknown
from rireki.model.strand import Ref, Strand
from rireki.sources.claude_code.files import NAME
from rireki.sources.claude_code.links import plan_token
from rireki.sources.claude_code.shapes import loads
from rireki.sources.claude_code.words import one_line
from rireki.sources.kit.document import LANE
from rireki.sources.kit.fields import get
from rireki.sources.kit.pending import ConversationBuilder, PendingMessage
from rireki.sources.kit.records import DecodedLine

__all__ = ["LABELS", "notes_beside", "read_notes"]

#: What the files of a role are called; the role also names the rule.
LABELS = {"todo": "to-do list", "task": "task", "plan": "plan", "memory": "memory"}


def notes_beside(session: str, strands: Sequence[Strand]) -> list[PendingMessage]:
    """The messages at the end of a session: its lists and tasks."""
    builder = ConversationBuilder(NAME, session, strands)
    _tell(builder)
    return builder.flow


def read_notes(name: str, strands: Sequence[Strand]) -> list[Reading]:
    """Notes as an entry of their own; none where nothing stands in them."""
    builder = ConversationBuilder(NAME, name, strands, nature="notes", times_from="rireki")
    _tell(builder)
    if not builder.flow:
        return []
    states = [state for strand in strands for state in strand.states]
    builder.times = [state.at for state in states]
    for strand in strands:
        builder.note_directory(strand.project)
    if name.startswith("plan/"):
        slug = name.removeprefix("plan/")
        # A sub-agent's plan is named after the session's.
        slugs = dict.fromkeys((slug, slug.partition("-agent-")[0]))
        builder.link_tokens = [LinkToken("plan", "want", plan_token(each)) for each in slugs]
    builder.title = _title(builder.flow)
    reading = builder.reading()
    reading.conversation.held_by = []
    return [reading]


def _tell(builder: ConversationBuilder) -> None:
    """Every file as a message. What was in it before steps aside for what is in it now."""
    versions: dict[str, dict[bytes, DecodedLine]] = {}
    roles: dict[str, str] = {}
    # A file may have moved: the same name, gone there and present here.
    for strand in sorted(builder.strands, key=attrgetter("present")):
        if strand.role in LABELS:
            name = f"{strand.role}/{_below(strand)}"
            roles[name] = strand.role
            for data, line in _versions_of(strand):
                known = versions.setdefault(name, {})
                known.pop(data, None)
                known[data] = line
    for name in sorted(versions):
        current = 0
        for data, line in versions[name].items():
            if parts := _parts(roles[name], data):
                current += line.present
                # Two files of one name, both there: neither is a version of the other.
                own = name if current < 2 else f"{name}.{current}"
                _say(builder, line, own, roles[name], parts)


def _say(
    builder: ConversationBuilder, line: DecodedLine, name: str, role: str, parts: list[Part]
) -> None:
    label = LABELS[role]
    if role == "memory":
        label = f"memory ({name.removeprefix('memory/')})"
    builder.say(line, name, "harness", "fold", parts, role, label=label, role=role)


def _below(strand: Strand) -> str:
    """The file's name; of a memory, its path in the folder."""
    path = strand.place.replace("\\", "/")
    return path.rpartition("/memory/")[2] if strand.role == "memory" else os.path.basename(path)


def _versions_of(strand: Strand) -> Iterator[tuple[bytes, DecodedLine]]:
    """What the file held, the present version last."""
    for record in sorted(strand.story(LANE), key=attrgetter("present")):
        refs = [Ref(strand.id, LANE, record.ordinal)]
        yield record.data, DecodedLine(None, 1, record.present, record.present, refs)


def _parts(role: str, data: bytes) -> list[Part]:
    """What a file says; nothing where it is empty, as lists mostly are."""
    text = data.decode("utf-8", "replace").strip()
    if role in ("plan", "memory") or not text:
        return [Text(text)] if text else []
    value = loads(data)
    items = value if isinstance(value, list) else [value]
    lines = [_item(item) for item in items]
    if None in lines:
        return [Unknown(LABELS[role], value if value is not None else text)]
    return [Text("\n".join(filter(None, lines)))] if lines else []


def _item(item: Any) -> str | None:
    """A line of a list as Markdown has it; None for what has no words where we know of them."""
    words = get(item, "content") or get(item, "subject")
    if not isinstance(words, str):
        return None
    status, more = get(item, "status"), get(item, "description")
    mark = "x" if status == "completed" else " "
    state = f" ({status})" if isinstance(status, str) and status == "in_progress" else ""
    detail = f"\n  {more}" if isinstance(more, str) and more and more != words else ""
    return f"- [{mark}] {words}{state}{detail}"


def _title(flow: Sequence[PendingMessage]) -> str:
    """The first line of what stands there now."""
    current = [one.message for one in flow if one.message.replaced_by is None]
    texts = [part.text for message in current for part in message.parts if isinstance(part, Text)]
    first = texts[0].partition("\n")[0] if texts else ""
    return one_line(first.lstrip("#- []x"))
