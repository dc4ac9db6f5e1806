"""The files of a group as readings: sessions of Gemini's kind, and sub-agents of theirs.

A group holds whatever has the first eight characters of a session's id in common: that is all that
names of files tell. Which session it is stands in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from rireki.model.conversation import LinkToken, Reading, Trouble
from rireki.model.parts import Text
from rireki.model.strand import Strand
from rireki.sources.gemini.beside import (
    COMMAND,
    put_between,
    saved_history,
    say_survivors,
    typed_lines,
)
from rireki.sources.gemini.chats import ChatSession, joined, lines_of
from rireki.sources.gemini.messages import ChatReader, task_token
from rireki.sources.gemini.qwen import read_qwen
from rireki.sources.gemini.texts import strings_in
from rireki.sources.kit.fields import items, string
from rireki.sources.kit.files import parent_of, stem_of
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.records import DecodedLine

__all__ = ["interpret"]

#: A path that may lead to the project, and how many are tried.
_PATH = re.compile(r"(?:/|[A-Za-z]:[\\/])[^\s\"'<>|*?`]+")
_MOST = 2000
#: Rules of what the client says by itself.
_UNSAID = {"session context", "notice"}


@dataclass(slots=True)
class _Session:
    chat: ChatSession = field(default_factory=ChatSession)
    files: list[Strand] = field(default_factory=list)
    lines: list[Sequence[DecodedLine]] = field(default_factory=list)
    typed: list[Strand] = field(default_factory=list)
    saved: list[Strand] = field(default_factory=list)

    @property
    def strands(self) -> list[Strand]:
        return [*self.files, *self.typed, *self.saved]


def interpret(source: str, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
    if conversation.startswith("@"):
        return []
    roles = {strand.role for strand in strands}
    if "agent" in roles:
        return _read_agent(source, conversation, strands)
    lines = {"session", "session-agent"}
    if not roles & lines:
        return _read_sessions(source, conversation, strands)
    own = {stem_of(one.place) for one in strands if one.role == "session"}
    rest = [s for s in strands if s.role not in lines | {"meta"} and s.key not in own]
    chats = _read_sessions(source, conversation, rest)
    return [*read_qwen(conversation, strands), *chats]


def _read_sessions(source: str, group: str, strands: Sequence[Strand]) -> list[Reading]:
    troubles: list[Trouble] = []
    sessions: dict[str, _Session] = {}
    agents: dict[str, list[Strand]] = {}
    chats = [strand for strand in strands if strand.role == "chat"]
    for strand in sorted(chats, key=lambda one: (stem_of(one.place), one.place)):
        found_in: list[Trouble] = []
        head, lines = lines_of(strand, found_in)
        if string(head, "kind") == "subagent":
            agents.setdefault(stem_of(strand.place), []).append(strand)
            continue
        troubles += found_in
        session = sessions.setdefault(string(head, "sessionId") or group, _Session())
        session.files.append(strand)
        session.chat.note(head)
        session.lines.append(lines)
    for session in sessions.values():
        for lines in joined(session.lines):
            session.chat.take(lines)
    for strand in strands:
        if strand.role == "typed":
            sessions.setdefault(strand.key, _Session()).typed.append(strand)
    for strand in strands:
        if strand.role == "saved":
            first = next(iter(sessions), group)
            sessions.setdefault(first, _Session()).saved.append(strand)
    found = [_read(source, id, session, troubles) for id, session in sessions.items()]
    readings = [reading for reading in found if reading is not None]
    for reading in readings:
        # By this a journal of whoever drove the agent finds the session.
        reading.link_tokens.append(LinkToken("alias", "offer", group))
    beside = [_read_agent(source, name, files) for name, files in agents.items()]
    return [*readings, *(reading for found in beside for reading in found)]


def _read(source: str, id: str, session: _Session, troubles: list[Trouble]) -> Reading | None:
    builder = ConversationBuilder(source, id, session.strands)
    builder.troubles, troubles[:] = list(troubles), []
    typed = typed_lines(session.typed, builder.troubles)
    chat = session.chat
    if not chat.flow and session.saved:
        chat.take(saved_history(session.saved))
        # A file of /chat save has no session in it: then it is called as it was saved.
        builder.title = id.rpartition("/")[2] if "/" in id else None
    if not chat.flow and typed:
        say_survivors(builder, typed)
        _note_places(builder, chat, session.strands)
        return builder.reading()
    if not chat.flow and not builder.troubles:
        return None
    reader = _tell(builder, chat, session.strands)
    put_between(builder, typed)
    said = {one.message.entry.rule for one in builder.flow if one.message.entry} - _UNSAID
    if not builder.troubles and not said:
        # The client opens a file whenever it starts, whether or not anybody says something.
        return None
    if said == {COMMAND}:
        builder.nature = "prompts"
    builder.link_tokens = [
        *(
            LinkToken("subagent", "offer", f"agent:{agent}", call)
            for agent, call in reader.children.items()
        ),
        *(
            LinkToken("subagent", "offer", task_token(id, task), call)
            for task, call in reader.tasks.items()
        ),
        LinkToken("subagent", "offer", f"session:{id}"),
    ]
    return builder.reading(_shown(chat))


def _shown(chat: ChatSession) -> Any:
    return None if chat.view is None else lambda: chat.shown() or []


def _tell(builder: ConversationBuilder, chat: ChatSession, strands: Sequence[Strand]) -> ChatReader:
    reader = ChatReader(chat, builder)
    reader.read()
    builder.entries = len(chat.flow)
    builder.title = string(chat.facts, "summary") or builder.title
    for moment in chat.times:
        builder.note_time(moment)
    _note_places(builder, chat, strands)
    return reader


def _note_places(
    builder: ConversationBuilder, chat: ChatSession, strands: Sequence[Strand]
) -> None:
    named = [strand.project for strand in strands if strand.project]
    for directory in [*named[:1], *items(chat.facts, "directories")]:
        builder.note_directory(directory if isinstance(directory, str) else None)
    if not builder.directories:
        builder.note_directory(_hashed(chat))


def _hashed(chat: ChatSession) -> str | None:
    """The directory whose digest the chat notes, if the chat itself mentions a path in it."""
    wanted = string(chat.facts, "projectHash")
    tried: set[str] = set()
    for path in _paths(chat) if wanted else ():
        while path and path not in tried and len(tried) < _MOST:
            tried.add(path)
            if sha256(path.encode("utf-8", "replace")).hexdigest() == wanted:
                return path
            path = path[: max(path.rfind("/"), path.rfind("\\"), 0)]
    return None


def _paths(chat: ChatSession) -> Iterator[str]:
    for said in chat.flow:
        for text in strings_in(said.value):
            for found in _PATH.finditer(text[:20_000]):
                yield found[0].rstrip("/\\.,:;)")


# ── sub-agents ──


def _read_agent(source: str, group: str, strands: Sequence[Strand]) -> list[Reading]:
    """A sub-agent's chat lies in a folder that is called after the session it worked for; or among
    the others, with that session's id in it."""
    builder = ConversationBuilder(source, group.rpartition("/")[2], strands, nature="subagent")
    builder.name = group
    chat = ChatSession()
    found = [lines_of(strand, builder.troubles) for strand in strands]
    for head, _ in found:
        chat.note(head)
    for lines in joined(lines for _, lines in found):
        chat.take(lines)
    if not chat.flow and not builder.troubles:
        return []
    builder.native_id = string(chat.facts, "sessionId") or builder.native_id
    reader = _tell(builder, chat, strands)
    folder = parent_of(strands[0].place.replace("\\", "/"))
    parent = builder.native_id if strands[0].role == "chat" else folder
    tasks = [
        part.text
        for one in builder.flow
        if one.typed
        for part in one.message.parts
        if isinstance(part, Text)
    ]
    wanted = [f"agent:{builder.native_id}", *(task_token(parent, one) for one in tasks[:1])]
    builder.link_tokens = [
        *(LinkToken("subagent", "want", token) for token in [*wanted, f"session:{parent}"]),
        *(
            LinkToken("subagent", "offer", f"agent:{agent}", call)
            for agent, call in reader.children.items()
        ),
    ]
    return [builder.reading(_shown(chat))]
