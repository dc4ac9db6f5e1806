"""Sessions, sub-agents and the terminal's list of prompts as readings: facts for the list, messages on demand.

Import looks at the facts alone; messages are made of the same lines when they are
asked for, so a count and a message can never disagree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Literal

from msgspec import Struct, field

from rireki.model.conversation import (
    ConversationUpstream,
    LinkToken,
    Reading,
    Tally,
    Trouble,
    total_usage,
)
from rireki.model.message import Entry, Message
from rireki.model.parts import Notice, Part, Text
from rireki.model.strand import Ref, Strand
from rireki.model.times import from_iso, from_ms
from rireki.sources.claude_code.files import NAME
from rireki.sources.claude_code.fold import Fold
from rireki.sources.claude_code.lines import TranscriptLine, gather, read_strand
from rireki.sources.claude_code.links import agent_token, call_token, prompt_token, session_token
from rireki.sources.claude_code.messages import line_id, shown
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
from rireki.sources.kit.pending import conversation_of

__all__ = ["read_history", "read_session"]


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


def read_session(conversation: str, strands: Sequence[Strand]) -> list[Reading]:
    return [_reading(told, strands) for told in _tell(conversation, strands)]


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


class HistoryPrompt(Struct):
    """One line of the history."""

    line: TranscriptLine
    text: str
    pasted: list[str]
    at: str | None
    project: str | None


def read_history(strands: Sequence[Strand]) -> list[Reading]:
    troubles: list[Trouble] = []
    sessions = _sessions(strands, troubles)
    readings = [_prompts_reading(session, typed, strands) for session, typed in sessions.items()]
    if readings:
        readings[0].conversation.troubles = troubles
    return readings


def _sessions(strands: Sequence[Strand], troubles: list[Trouble]) -> dict[str, list[HistoryPrompt]]:
    """What was typed, by session; by project where older versions named no session."""
    sessions: dict[str, list[HistoryPrompt]] = {}
    seen: dict[bytes, TranscriptLine] = {}
    for strand in strands:
        for line in read_strand(strand, troubles):
            first = seen.setdefault(line.data.strip(), line)
            first.present = first.present or line.present
            value = loads(line.data) if first is line else None
            if isinstance(value, dict) and isinstance(value.get("display"), str):
                sessions.setdefault(_session(value), []).append(_typed(line, value))
    return sessions


def _session(value: dict[str, Any]) -> str:
    session = value.get("sessionId")
    if isinstance(session, str) and session:
        return session
    project = value.get("project")
    return f"history-{sha256(str(project).encode('utf-8', 'replace')).hexdigest()[:8]}"


def _typed(line: TranscriptLine, value: dict[str, Any]) -> HistoryPrompt:
    time, project, pasted = (value.get(name) for name in ("timestamp", "project", "pastedContents"))
    contents = pasted.values() if isinstance(pasted, dict) else ()
    return HistoryPrompt(
        line=line,
        text=value["display"],
        pasted=[
            item["content"]
            for item in contents
            if isinstance(item, dict) and isinstance(item.get("content"), str)
        ],
        at=from_ms(time) if isinstance(time, int | float) else None,
        project=project if isinstance(project, str) else None,
    )


def _prompts_reading(
    session: str, typed: list[HistoryPrompt], strands: Sequence[Strand]
) -> Reading:
    tally = Tally()
    tally.messages = len(typed) + 1
    tally.entries = tally.turns = len(typed)
    # Whether they were answered, nobody knows.
    tally.finished = False
    projects = list(dict.fromkeys(one.project for one in typed if one.project))
    conversation = conversation_of(
        NAME,
        session,
        tally,
        [one.at for one in typed],
        project=projects[0] if projects else None,
        trail=projects[1:],
        title=_prompts_title(typed),
        upstream=_prompts_upstream(typed, strands),
        nature="prompts",
    )
    return Reading(
        conversation=conversation,
        messages=partial(_prompt_messages, session, typed),
        records=partial(_prompt_records, typed),
    )


def _prompts_title(typed: list[HistoryPrompt]) -> str:
    """The first prompt; a command only when nothing else was typed."""
    prompts = [one for one in typed if not one.text.startswith("/")] or typed
    return one_line(prompts[0].text)


def _prompts_upstream(
    typed: list[HistoryPrompt], strands: Sequence[Strand]
) -> ConversationUpstream:
    if not any(strand.present for strand in strands):
        return "gone"
    return "present" if all(one.line.present for one in typed) else "changed"


def _prompt_messages(session: str, typed: list[HistoryPrompt]) -> list[Message]:
    notice = Message(
        id=f"{session}#survivors",
        author="harness",
        display="chip",
        label="typed prompts only",
        at=typed[0].at if typed else None,
        parts=[Notice(SURVIVORS, "warning")],
    )
    return [notice, *(_prompt_message(number, one) for number, one in enumerate(typed, 1))]


def _prompt_records(typed: list[HistoryPrompt]) -> dict[str, list[Ref]]:
    return {line_id(one.line): record_of(one.line) for one in typed}


def _prompt_message(turn: int, typed: HistoryPrompt) -> Message:
    parts: list[Part] = [Text(typed.text), *(Text(pasted) for pasted in typed.pasted)]
    command = typed.text.startswith("/")
    return Message(
        id=line_id(typed.line),
        author="person",
        display="chip" if command else "bubble",
        label=one_line(typed.text) if command else None,
        at=typed.at,
        turn=turn,
        upstream="present" if typed.line.present else "gone",
        parts=parts,
        entry=Entry(position=typed.line.number, role="prompt", rule="typed"),
    )
