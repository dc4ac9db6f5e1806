"""Prompts typed in the terminal, session by session: all that is left once a transcript is gone.

The archive shows these only for sessions it holds no transcript of.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import Any

from msgspec import Struct

from rireki.model.conversation import Conversation, ConversationUpstream, Reading, Trouble
from rireki.model.message import Entry, Message
from rireki.model.parts import Notice, Part, Text
from rireki.model.strand import Ref, Strand
from rireki.model.tally import Tally
from rireki.model.times import from_ms
from rireki.sources.claude_code.drafts import line_id
from rireki.sources.claude_code.lines import TranscriptLine, read_strand
from rireki.sources.claude_code.refs import record_of
from rireki.sources.claude_code.repair import loads
from rireki.sources.claude_code.tags import one_line
from rireki.sources.claude_code.walk import NAME

__all__ = ["read_history"]

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
    readings = [_reading(session, typed, strands) for session, typed in sessions.items()]
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


def _reading(session: str, typed: list[HistoryPrompt], strands: Sequence[Strand]) -> Reading:
    times = sorted(one.at for one in typed if one.at)
    projects = list(dict.fromkeys(one.project for one in typed if one.project))
    conversation = Conversation(
        id=f"{NAME}/{session}",
        source=NAME,
        native_id=session,
        project=projects[0] if projects else None,
        trail=projects[1:],
        title=_title(typed),
        started_at=times[0] if times else None,
        updated_at=times[-1] if times else None,
        upstream=_upstream(typed, strands),
        nature="prompts",
    )
    tally = Tally()
    tally.messages = len(typed) + 1
    tally.entries = len(typed)
    tally.turns = len(typed)
    # Whether they were answered, nobody knows.
    tally.finished = False
    tally.fill(conversation)
    return Reading(
        conversation=conversation,
        messages=partial(_messages, session, typed),
        records=partial(_records, typed),
    )


def _title(typed: list[HistoryPrompt]) -> str:
    """The first prompt; a command only when nothing else was typed."""
    prompts = [one for one in typed if not one.text.startswith("/")] or typed
    return one_line(prompts[0].text)


def _upstream(typed: list[HistoryPrompt], strands: Sequence[Strand]) -> ConversationUpstream:
    if not any(strand.present for strand in strands):
        return "gone"
    return "present" if all(one.line.present for one in typed) else "changed"


def _messages(session: str, typed: list[HistoryPrompt]) -> list[Message]:
    notice = Message(
        id=f"{session}#survivors",
        author="harness",
        display="chip",
        label="typed prompts only",
        at=typed[0].at if typed else None,
        parts=[Notice(SURVIVORS, "warning")],
    )
    return [notice, *(_message(number, one) for number, one in enumerate(typed, 1))]


def _records(typed: list[HistoryPrompt]) -> dict[str, list[Ref]]:
    return {line_id(one.line): record_of(one.line) for one in typed}


def _message(turn: int, typed: HistoryPrompt) -> Message:
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
