"""What ties a conversation to others: shared answers, forks, sub-agents, continuations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

import msgspec
from msgspec import Raw, Struct

from rireki.model.conversation import Tie
from rireki.sources.claude_code.repair import loads
from rireki.sources.claude_code.shapes import Block

__all__ = ["SPAWNERS", "Ties", "agent_token", "call_token", "prompt_token"]

#: Tools that start a sub-agent.
SPAWNERS = frozenset(("Task", "Agent"))
_AGENT_ID = re.compile(rb"agentId: ([0-9A-Za-z_-]+)")


class _Started(Struct):
    agentId: str | None = None


_started = msgspec.json.Decoder(_Started).decode


def prompt_token(prompt: str) -> str:
    return f"prompt:{sha256(prompt.strip().encode('utf-8', 'replace')).hexdigest()[:32]}"


def call_token(session: str, call: str) -> str:
    """A fork holds the same calls as its original: the session tells whose sub-agent it was."""
    return f"call:{session}/{call}"


def agent_token(session: str, agent: str) -> str:
    return f"agent:{session}/{agent}"


class Ties:
    def __init__(self) -> None:
        self.first_users: list[str] = []
        self.successors: dict[str, None] = {}
        self.calls: dict[str, str | None] = {}
        self.agents: dict[str, None] = {}

    def called(self, block: Block) -> None:
        """The agent started a sub-agent; its prompt is the last resort to find it by."""
        value = loads(bytes(block.input))
        prompt = value.get("prompt") if isinstance(value, dict) else None
        self.calls[block.id or ""] = prompt_token(prompt) if isinstance(prompt, str) else None

    def returned(self, block: Block, outcome: Raw) -> None:
        """A sub-agent's result names it, in the rich outcome or at least in the text."""
        try:
            agent = _started(outcome).agentId
        except (ValueError, RecursionError):
            agent = None
        if agent is None and (found := _AGENT_ID.search(bytes(block.content))):
            agent = found.group(1).decode()
        if agent:
            self.agents.setdefault(agent)

    def parent(self, native_id: str, answers: Iterable[str], sessions: Iterable[str]) -> list[Tie]:
        """Ties of a conversation that may have forks, sub-agents and successors."""
        ties = [Tie("fork", "share", f"answer:{key}") for key in list(answers)[:3]]
        ties += [Tie("fork", "share", f"uuid:{uuid}") for uuid in self.first_users[:2]]
        ties.append(Tie("fork", "offer", f"session:{native_id}"))
        ties += [
            Tie("fork", "want", f"session:{session}")
            for session in sessions
            if session != native_id
        ]
        ties.append(Tie("continuation", "want", f"session:{native_id}"))
        ties += [Tie("continuation", "offer", f"session:{child}") for child in self.successors]
        return ties + self.children(native_id)

    def children(self, session: str) -> list[Tie]:
        """What sub-agents look for in the conversation that started them."""
        tokens = [call_token(session, call) for call in self.calls if call]
        tokens += [f"{session}/{token}" for token in self.calls.values() if token]
        tokens += [agent_token(session, agent) for agent in self.agents]
        return [Tie("subagent", "offer", token) for token in dict.fromkeys(tokens)]
