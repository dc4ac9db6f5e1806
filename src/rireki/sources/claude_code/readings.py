"""Sessions, sub-agents and the terminal's list of prompts as readings: facts for the list, messages on demand.

Import looks at the facts alone; messages are made of the same lines when they are
asked for, so a count and a message can never disagree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from itertools import chain
from typing import Any, Literal

from msgspec import Struct, field

from rireki.model.conversation import (
    ConversationUpstream,
    LinkToken,
    Reading,
    Trouble,
    total_usage,
)
from rireki.model.parts import Notice, Text
from rireki.model.strand import Strand
from rireki.model.times import from_iso, from_ms
from rireki.sources.claude_code.files import HISTORY, NAME
from rireki.sources.claude_code.fold import Fold
from rireki.sources.claude_code.lines import TranscriptLine, gather, read_strand
from rireki.sources.claude_code.links import (
    agent_token,
    call_token,
    plan_token,
    prompt_token,
    session_token,
)
from rireki.sources.claude_code.messages import line_id, shown
from rireki.sources.claude_code.notes import notes_beside, read_notes
from rireki.sources.claude_code.render import (
    find_attachment,
    record_of,
    records_of,
    render,
    render_each,
)
from rireki.sources.claude_code.shapes import loads
from rireki.sources.claude_code.words import one_line
from rireki.sources.kit.document import LANE as WHOLE
from rireki.sources.kit.fields import get, string
from rireki.sources.kit.pending import (
    ConversationBuilder,
    PendingMessage,
    conversation_of,
    pending,
)
from rireki.sources.kit.records import DecodedLine

__all__ = ["interpret"]


_TRANSCRIPTS = ("main", "agent")


class SessionReading(Struct):
    """One conversation found in the files of a group."""

    native_id: str
    fold: Fold
    lines: list[TranscriptLine]
    agent: bool = False
    link_tokens: list[LinkToken] = field(default_factory=list)
    title: str = ""
    troubles: list[Trouble] = field(default_factory=list)


def interpret(source: str, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
    if conversation == HISTORY:
        return _read_history(strands)
    if conversation.startswith(("plan/", "memory/")):
        return read_notes(conversation, strands)
    return _read_session(conversation, strands)


def _read_session(conversation: str, strands: Sequence[Strand]) -> list[Reading]:
    notes = notes_beside(conversation, strands)
    found = _tell(conversation, strands)
    readings = [_reading(told, strands) for told in found]
    if notes and found and _nature(found[0]) == "conversation":
        _append(readings[0], notes)
    elif notes:
        # The client deletes transcripts and keeps its lists.
        readings += read_notes(f"{conversation}/notes", strands)
    return readings


def _append(reading: Reading, notes: list[PendingMessage]) -> None:
    """Put the session's lists and tasks behind what was said. A model is not given them."""
    messages, stream, records = reading.messages, reading.stream, reading.records
    more = [note.message for note in notes]
    reading.conversation.messages += sum(message.replaced_by is None for message in more)
    reading.messages = lambda: [*messages(), *more]
    if stream is not None:
        reading.stream = lambda: chain(stream(), more)
    reading.records = lambda: {**records(), **{note.message.id: note.refs for note in notes}}


def _tell(conversation: str, strands: Sequence[Strand]) -> list[SessionReading]:
    files = [strand for strand in strands if strand.role in _TRANSCRIPTS]
    troubles: list[Trouble] = []
    agent = any(strand.role == "agent" for strand in files)
    gathered = gather([read_strand(strand, troubles) for strand in files], split=not agent)
    fold = Fold(gathered.main, agent=agent)
    told = SessionReading(conversation, fold, gathered.main, agent, troubles=troubles)
    if agent:
        _tie_agent(told, strands)
    else:
        told.link_tokens = fold.link_tokens.parent(conversation, fold.drafts, fold.facts.sessions)
        told.link_tokens += fold.titles.link_tokens(fold.tree.parents)
        told.link_tokens += [LinkToken("plan", "offer", plan_token(s)) for s in fold.facts.slugs]
    found = [told] if fold.drafts or troubles or _names_others(told) else []
    calls = {call: token for call, token in fold.link_tokens.calls.items() if token}
    for root, lines in gathered.sidechains.items():
        found.append(_sidechain(conversation, root, lines, calls))
    return _distinct(found)


def _names_others(told: SessionReading) -> bool:
    return any((tie.kind, tie.role) == ("title", "offer") for tie in told.link_tokens)


def _distinct(found: list[SessionReading]) -> list[SessionReading]:
    """No two of the same name, although a sub-agent's is only the beginning of a uuid."""
    taken: dict[str, int] = {}
    for told in found:
        number = taken[told.native_id] = taken.get(told.native_id, 0) + 1
        if number > 1:
            told.native_id = f"{told.native_id}-{number}"
    return found


def _tie_agent(told: SessionReading, strands: Sequence[Strand]) -> None:
    """A sub-agent looks for the call that started it; without a note of it, for its own name.

    Some were started by no call at all (to suggest a prompt, say): those belong to the session.
    """
    fold = told.fold
    meta = _meta(strands)
    call, description = meta.get("toolUseId"), meta.get("description")
    session = next(iter(fold.facts.sessions), "")
    if isinstance(call, str) and call:
        wants = [call_token(session, call)]
    else:
        wants = [
            agent_token(session, told.native_id.removeprefix("agent-")),
            f"{session}/{prompt_token(fold.first_prompt)}",
        ]
        if not fold.warmup:
            wants.append(session_token(session))
    told.link_tokens = [LinkToken("subagent", "want", token) for token in wants]
    told.link_tokens += fold.link_tokens.children(session)
    told.title = one_line(description if isinstance(description, str) else "")


def _meta(strands: Sequence[Strand]) -> dict[str, Any]:
    for strand in strands:
        if strand.role == "agent-meta" and (records := strand.story(WHOLE)):
            value = loads(records[-1].data)
            return value if isinstance(value, dict) else {}
    return {}


def _sidechain(
    session: str, root: str, lines: list[TranscriptLine], calls: dict[str, str]
) -> SessionReading:
    """A sub-agent inside the session's own file; its prompt tells which call started it."""
    fold = Fold(lines, agent=True)
    token = prompt_token(fold.first_prompt)
    call = next((call for call, prompt in calls.items() if prompt == token), None)
    if call is not None:
        del calls[call]
    want = call_token(session, call) if call else f"{session}/{token}"
    link_tokens = [LinkToken("subagent", "want", want), *fold.link_tokens.children(session)]
    return SessionReading(f"{session}/sidechain-{root[:8]}", fold, lines, True, link_tokens)


def _reading(told: SessionReading, strands: Sequence[Strand]) -> Reading:
    fold, facts = told.fold, told.fold.facts
    directories = list(facts.directories)
    answers = fold.meter.answers()
    upstream = _upstream(told, strands)
    conversation = conversation_of(
        NAME,
        told.native_id,
        fold.tally,
        [from_iso(facts.started), from_iso(facts.updated)],
        project=directories[0] if directories else None,
        trail=directories[1:],
        title=told.title or _title(fold),
        upstream=upstream,
        held_by=[NAME] if upstream != "gone" else [],
        troubles=told.troubles,
        usage=total_usage(answers),
        models=fold.meter.models(),
        flags=dict(sorted(facts.flags.items())),
        nature=_nature(told),
    )
    return Reading(
        conversation=conversation,
        messages=partial(render, fold, strands),
        stream=partial(render_each, fold, strands),
        answers=answers,
        link_tokens=told.link_tokens,
        attachment=partial(find_attachment, told.lines),
        records=partial(records_of, fold, strands),
        shown=partial(shown, fold.drafts),
    )


def _nature(told: SessionReading) -> Literal["conversation", "subagent", "titles"]:
    if told.agent:
        return "subagent"
    return "conversation" if told.fold.drafts or told.troubles else "titles"


def _title(fold: Fold) -> str:
    if fold.agent:
        return one_line(fold.first_prompt)
    return fold.titles.title(fold.tree.parents, fold.left)


def _upstream(told: SessionReading, strands: Sequence[Strand]) -> ConversationUpstream:
    if all(line.present for line in told.lines):
        return "present"
    if not any(strand.present for strand in strands if strand.role in _TRANSCRIPTS):
        return "gone"
    return "present" if all(draft.present for draft in told.fold.drafts) else "changed"


SURVIVORS = "Only what was typed survives of this session; its transcript was never seen."


def _read_history(strands: Sequence[Strand]) -> list[Reading]:
    """What was typed, by session; by project where older versions named no session."""
    troubles: list[Trouble] = []
    lines: dict[bytes, TranscriptLine] = {}
    for strand in strands:
        for line in read_strand(strand, troubles):
            first = lines.setdefault(line.data.strip(), line)
            first.present = first.present or line.present
    sessions: dict[str, ConversationBuilder] = {}
    for line in lines.values():
        value = loads(line.data)
        if isinstance(get(value, "display"), str):
            session = string(value, "sessionId") or _unnamed(get(value, "project"))
            builder = ConversationBuilder(NAME, session, strands, nature="prompts")
            _add_prompt(sessions.setdefault(session, builder), line, value)
    for builder in sessions.values():
        builder.troubles, troubles = troubles, []
    return [_prompts_reading(builder) for builder in sessions.values()]


def _unnamed(project: Any) -> str:
    return f"history-{sha256(str(project).encode('utf-8', 'replace')).hexdigest()[:8]}"


def _add_prompt(builder: ConversationBuilder, line: TranscriptLine, value: dict[str, Any]) -> None:
    time, text, pasted = get(value, "timestamp"), value["display"], get(value, "pastedContents")
    contents = pasted.values() if isinstance(pasted, dict) else ()
    texts = [text, *(one["content"] for one in contents if isinstance(get(one, "content"), str))]
    command = text.startswith("/")
    builder.note_directory(string(value, "project"))
    typed = builder.say(
        DecodedLine(value, line.number, True, line.present, record_of(line)),
        line_id(line),
        "person",
        "chip" if command else "bubble",
        [Text(one) for one in texts],
        "typed",
        at=from_ms(time) if isinstance(time, int | float) else None,
        label=one_line(text) if command else None,
        role="prompt",
        # Whether they were answered, nobody knows.
        ends=False,
    )
    typed.typed = True


def _prompts_reading(builder: ConversationBuilder) -> Reading:
    prompts = [one.message for one in builder.flow]
    # A command names a conversation only when nothing else was typed.
    spoken = [one for one in prompts if one.display == "bubble"] or prompts
    builder.title = one_line(next(p.text for p in spoken[0].parts if isinstance(p, Text)))
    builder.entries = len(prompts)
    label = "typed prompts only"
    parts = [Notice(SURVIVORS, "warning")]
    notice = pending(f"{builder.native_id}#survivors", "harness", "chip", parts, "", label=label)
    notice.message.at, notice.message.entry = prompts[0].at, None
    builder.flow.insert(0, notice)
    reading = builder.reading()
    reading.conversation.held_by = []
    return reading
