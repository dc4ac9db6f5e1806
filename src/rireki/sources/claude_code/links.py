"""What ties a conversation to others: forks, sub-agents, continuations.

A copy of a session mostly does not say what it is a copy of. What gives it away:
lines that name another session, a file begun after its first answer, or answers
as old as their questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Literal

from rireki.model.conversation import LinkToken
from rireki.sources.claude_code.messages import TranscriptMessage
from rireki.sources.claude_code.shapes import ContentItem, LineHead, Rich, loads, text_of

__all__ = [
    "SPAWNERS",
    "Ties",
    "agent_token",
    "call_token",
    "plan_token",
    "prompt_token",
    "session_token",
]

#: Tools that start a sub-agent.
SPAWNERS = frozenset(("Task", "Agent", "Skill", "SlashCommand", "Workflow"))
_ORIGINAL: tuple[Literal["offer", "share"], ...] = ("offer", "share")
_AGENT_ID = re.compile(rb"agentId: ([0-9A-Za-z_-]+)")


def prompt_token(prompt: str) -> str:
    return f"prompt:{sha256(prompt.strip().encode('utf-8', 'replace')).hexdigest()[:32]}"


def call_token(session: str, call: str) -> str:
    """A fork holds the same calls as its original: the session tells whose sub-agent it was."""
    return f"call:{session}/{call}"


def agent_token(session: str, agent: str) -> str:
    return f"agent:{session}/{agent}"


def session_token(session: str) -> str:
    return f"session:{session}"


def line_token(look: LineHead) -> str:
    """A line wherever it is copied to. Its uuid alone may have been chosen by a program, twice."""
    return f"line:{look.uuid}@{look.timestamp}"


def answer_token(draft: TranscriptMessage) -> str:
    """An answer whose lines got new uuids and times: the model's id for it, and its words."""
    spoken = [line.look.message for line in draft.lines if line.look and line.look.message]
    words = "\n".join(filter(None, (text_of(message.content) for message in spoken)))
    digest = sha256(words.encode("utf-8", "replace")).hexdigest()[:16]
    return f"answer:{spoken[0].id}@{digest}" if spoken else "answer:"


def plan_token(slug: str) -> str:
    return f"plan:{slug}"


class Ties:
    def __init__(self) -> None:
        #: Where copies of this conversation may begin: its first entries, and its compactions.
        self.beginnings: list[str] = []
        self.compactions: list[str] = []
        #: When the file was begun, where something else than a message stands first.
        self.begun: str | None = None
        #: The last answer taken over from an older session, as 1.0 did when it resumed one.
        self.taken_over: TranscriptMessage | None = None
        #: Sessions that metadata names: what this one was made from, and what goes on with it.
        self.origins: dict[str, None] = {}
        self.successors: dict[str, None] = {}
        self.calls: dict[str, str | None] = {}
        #: Agents that results name, and the calls those results answer.
        self.agents: dict[str, str | None] = {}

    def entered(self, look: LineHead) -> None:
        if len(self.beginnings) < 2 and look.uuid:
            self.beginnings.append(line_token(look))

    def compacted(self, look: LineHead) -> None:
        if look.uuid:
            self.compactions.append(line_token(look))

    def took_over(self, draft: TranscriptMessage) -> None:
        """An answer as old as its question."""
        if draft.rule.row == "answer":
            self.taken_over = draft

    def called(self, block: ContentItem) -> None:
        """The agent started a sub-agent; its prompt is the last resort to find it by."""
        value = loads(bytes(block.input))
        prompt = value.get("prompt") if isinstance(value, dict) else None
        self.calls[block.id or ""] = prompt_token(prompt) if isinstance(prompt, str) else None

    def returned(self, block: ContentItem, outcome: object) -> None:
        """A sub-agent's result names it, in the rich outcome or at least in the text."""
        agent = outcome.agentId if isinstance(outcome, Rich) else None
        if not isinstance(agent, str):
            found = _AGENT_ID.search(bytes(block.content))
            agent = found[1].decode() if found else ""
        if agent:
            self.agents.setdefault(agent, block.tool_use_id)

    def parent(
        self, native_id: str, drafts: Iterable[TranscriptMessage], sessions: Iterable[str]
    ) -> list[LinkToken]:
        """Ties of a conversation that may have forks, sub-agents and successors."""
        answers = [d for d in drafts if d.rule.row == "answer" and d.replaced_by is None]
        named = [session for session in (*sessions, *self.origins) if session != native_id]
        link_tokens = [LinkToken("fork", "offer", session_token(native_id))]
        link_tokens += [LinkToken("fork", "want", session_token(session)) for session in named]
        tokens = self.beginnings + self.compactions
        link_tokens += _copied(tokens) if named or self._is_copy(answers) else _original(tokens)
        if self.taken_over is not None:
            link_tokens += _copied([answer_token(self.taken_over)])
        if answers and answers[-1] is not self.taken_over:
            link_tokens.append(LinkToken("fork", "offer", answer_token(answers[-1])))
        link_tokens.append(LinkToken("continuation", "want", f"next:{native_id}"))
        link_tokens += [
            LinkToken("continuation", "offer", f"next:{child}") for child in self.successors
        ]
        return link_tokens + self.children(native_id)

    def _is_copy(self, answers: list[TranscriptMessage]) -> bool:
        """A file that was begun after its first answer was given holds a copy of it."""
        look = answers[0].line.look if answers else None
        given = look.timestamp if look is not None else None
        return self.begun is not None and given is not None and self.begun > given

    def children(self, session: str) -> list[LinkToken]:
        """What sub-agents look for in the conversation that started them."""
        tokens = {call_token(session, call): call for call in self.calls if call}
        tokens |= {f"{session}/{token}": call for call, token in self.calls.items() if token}
        tokens |= {agent_token(session, agent): call for agent, call in self.agents.items() if call}
        return [LinkToken("subagent", "offer", token, call) for token, call in tokens.items()]


def _original(tokens: list[str]) -> list[LinkToken]:
    """Offered to files that are known to be copies; others share them, and the elder came first."""
    return [LinkToken("fork", role, token) for token in tokens for role in _ORIGINAL]


def _copied(tokens: list[str]) -> list[LinkToken]:
    """A copy looks for its original; without it, it is still a relative of other copies."""
    wants = [LinkToken("fork", "want", token) for token in tokens]
    return wants + [LinkToken("fork", "share", f"copy:{token}") for token in tokens]
