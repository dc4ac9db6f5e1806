"""A session or a sub-agent as readings: its files folded together, facts written out.

Import looks at the facts alone; messages are made of the same lines when they are
asked for, so a count and a message can never disagree.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from msgspec import Struct, field

from rireki.model.conversation import Conversation, ConversationUpstream, Reading, Tie, Trouble
from rireki.model.strand import Strand
from rireki.model.times import from_iso
from rireki.sources.claude_code.fold import Fold
from rireki.sources.claude_code.gather import gather
from rireki.sources.claude_code.lines import TranscriptLine, read_strand
from rireki.sources.claude_code.links import agent_token, call_token, prompt_token, session_token
from rireki.sources.claude_code.refs import records_of
from rireki.sources.claude_code.render import find_attachment, render, render_each
from rireki.sources.claude_code.repair import loads
from rireki.sources.claude_code.shown import shown
from rireki.sources.claude_code.tags import one_line
from rireki.sources.claude_code.usage import total
from rireki.sources.claude_code.walk import NAME
from rireki.sources.kit.document import LANE as WHOLE

__all__ = ["read_session"]

_TRANSCRIPTS = ("main", "agent")


class SessionReading(Struct):
    """One conversation found in the files of a group."""

    native_id: str
    fold: Fold
    lines: list[TranscriptLine]
    agent: bool = False
    ties: list[Tie] = field(default_factory=list)
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
        told.ties = fold.ties.parent(conversation, fold.drafts, fold.facts.sessions)
        told.ties += fold.titles.ties(fold.tree.parents)
    found = [told] if fold.drafts or troubles or _names_others(told) else []
    calls = {call: token for call, token in fold.ties.calls.items() if token}
    for root, lines in gathered.sidechains.items():
        found.append(_sidechain(conversation, root, lines, calls))
    return _distinct(found)


def _names_others(told: SessionReading) -> bool:
    return any((tie.kind, tie.role) == ("title", "offer") for tie in told.ties)


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
    told.ties = [Tie("subagent", "want", token) for token in wants]
    told.ties += fold.ties.children(session)
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
    ties = [Tie("subagent", "want", want), *fold.ties.children(session)]
    return SessionReading(f"{session}/sidechain-{root[:8]}", fold, lines, True, ties)


def _reading(told: SessionReading, strands: Sequence[Strand]) -> Reading:
    fold, facts = told.fold, told.fold.facts
    directories = list(facts.directories)
    answers = fold.meter.answers()
    upstream = _upstream(told, strands)
    conversation = Conversation(
        id=f"{NAME}/{told.native_id}",
        source=NAME,
        native_id=told.native_id,
        project=directories[0] if directories else None,
        trail=directories[1:],
        title=told.title or _title(fold),
        started_at=from_iso(facts.started),
        updated_at=from_iso(facts.updated),
        upstream=upstream,
        held_by=[NAME] if upstream != "gone" else [],
        troubles=told.troubles,
        usage=total(answers),
        models=fold.meter.models(),
        flags=dict(sorted(facts.flags.items())),
        nature=_nature(told),
    )
    fold.tally.fill(conversation)
    return Reading(
        conversation=conversation,
        messages=partial(render, fold, strands),
        stream=partial(render_each, fold, strands),
        answers=answers,
        ties=told.ties,
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
