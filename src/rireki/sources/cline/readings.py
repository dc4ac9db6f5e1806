"""Sessions of the terminal, and tasks of the extensions, as readings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rireki.model.conversation import LinkToken, Reading, Trouble
from rireki.model.parts import Text
from rireki.model.strand import Strand
from rireki.sources.cline.blocks import is_wrapped, note_usage, opened, read_message, sent_calls
from rireki.sources.cline.reader import MESSAGES
from rireki.sources.cline.shown import TaskReader
from rireki.sources.kit.fields import get, items, string
from rireki.sources.kit.files import parent_of
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.pieces import WHOLE
from rireki.sources.kit.records import DecodedLine, document_of, head_of, records_of
from rireki.sources.kit.rules import unwrapped

__all__ = ["interpret"]

#: Between a session and whoever it started: a sub-agent, one of a team.
_STARTED = "__"
_DIRECTORY = re.compile(
    r"# Current (?:Working|Workspace) Directory \((?:Primary: )?(.+?)\)(?: Files|$)", re.M
)


def interpret(source: str, id: str, strands: Sequence[Strand]) -> list[Reading]:
    if any(strand.role in ("session", "messages") for strand in strands):
        return _read_session(source, id, strands)
    return _read_task(source, id, strands)


def _read_session(source: str, id: str, strands: Sequence[Strand]) -> list[Reading]:
    """A session of the terminal, or a sub-agent of one."""
    builder = ConversationBuilder(source, id, strands)
    about = _about(strands, "session", builder.troubles)
    builder.note_directory(string(about, "cwd") or string(about, "workspace_root"))
    for moment in ("started_at", "ended_at"):
        builder.note_time(get(about, moment))
    builder.title = string(get(about, "metadata"), "title") or None
    parent = _starter(id, strands)
    if parent:
        builder.nature = "subagent"
    for strand in (strand for strand in strands if strand.role == "messages"):
        prompt = string(head_of(strand, builder.troubles), "system_prompt")
        for line in _entries(strand, builder.troubles):
            if prompt and not builder.flow:
                rule = "system prompt"
                told = [Text(prompt)]
                builder.say(line, rule, "harness", "hidden", told, rule, label=rule)
            builder.entries += 1
            read_message(builder, line, line.text("id") or f"message-{line.position}")
    if not builder.flow:
        builder.title = builder.title or unwrapped(string(about, "prompt"), "user_input") or None
    if not builder.answers:
        _note_total(builder, about)
    if not builder.models:
        builder.note_model(string(about, "model"))
    builder.link_tokens = [LinkToken("subagent", "offer", f"session:{id}")]
    if parent:
        builder.link_tokens.append(LinkToken("subagent", "want", f"session:{parent}"))
    builder.mark_left()
    return [builder.reading()] if builder.flow or builder.troubles or about else []


def _starter(id: str, strands: Sequence[Strand]) -> str:
    """The session that started this one, in whose folder it lies; none where it has its own.

    Sessions of the protocol have ids of any letters: what stands between two ids may be in one.
    """
    folders = {parent_of(one.place) for one in strands if one.role in ("session", "messages")}
    if id in folders:
        return ""
    return next((one for one in folders if id.startswith(one + _STARTED)), "")


def _note_total(builder: ConversationBuilder, about: Any) -> None:
    """Where no answer says what it took, the session does."""
    told = get(about, "usage") or get(about, "metadata", "usage")
    note_usage(builder, "total", string(about, "model"), told, None)


def _read_task(source: str, id: str, strands: Sequence[Strand]) -> list[Reading]:
    """A task of an extension: what the person saw; where that is not there, what the model was sent."""
    builder = ConversationBuilder(source, id, strands)
    item = _about(strands, "item", builder.troubles)
    shown = [line for one in _all(strands, "shown") for line in _entries(one, builder.troubles)]
    sent = [line for one in _all(strands, "sent") for line in _entries(one, builder.troubles)]
    if not (shown or sent or builder.troubles or item):
        return []
    for name in ("workspace", "cwdOnTaskInitialization", "shadowGitConfigWorkTree"):
        builder.note_directory(string(item, name))
    builder.note_directory(_directory_in([*sent[:4], *shown[:8]]))
    parent = string(item, "parentTaskId")
    if parent:
        builder.nature = "subagent"
        builder.link_tokens.append(LinkToken("subagent", "want", f"task:{parent}"))
    builder.link_tokens.append(LinkToken("subagent", "offer", f"task:{id}"))
    metadata = _about(strands, "metadata", builder.troubles)
    models = [string(one, "model_id") for one in items(metadata, "model_usage")]
    model = next(filter(None, [*reversed(models), string(item, "modelId")]), "")
    builder.entries = len(shown or sent)
    if shown:
        TaskReader(builder, sent_calls(sent), model).read(shown)
    else:
        wrapped = any(map(is_wrapped, sent))
        for line in sent:
            read_message(builder, line, f"message-{line.position}", wrapped=wrapped)
    if not builder.flow and (task := string(item, "task")):
        builder.title = task
    builder.mark_left()
    return [builder.reading()]


def _all(strands: Sequence[Strand], role: str) -> list[Strand]:
    return [strand for strand in strands if strand.role == role]


def _about(strands: Sequence[Strand], role: str, troubles: list[Trouble]) -> Any:
    """What a file says of the whole, as far as it can be read."""
    found = [document_of(strand, troubles) for strand in _all(strands, role)]
    return next((one for one in found if isinstance(one, dict)), {})


def _entries(strand: Strand, troubles: list[Trouble]) -> Iterator[DecodedLine]:
    """The messages of a file that is written whole: all it ever held, in order."""
    yield from records_of(strand, troubles, MESSAGES)
    if not any(run.lane == WHOLE and run.records for run in strand.states[-1].runs):
        return
    value = document_of(strand, troubles)
    found = value if isinstance(value, list) else items(value, MESSAGES)
    for position, one in enumerate(found, 1):
        yield DecodedLine(one, position, True, strand.present, [])


def _directory_in(lines: Iterable[DecodedLine]) -> str:
    """The directory that the first description of the machine names, in either copy of it."""
    for line in lines:
        request = string(opened(line.text("text")), "request")
        for text in [*(string(one, "text") for one in items(line.value, "content")), request]:
            if found := _DIRECTORY.search(text):
                return found[1]
    return ""
