"""Which rule decided, in words, for both clients."""

from __future__ import annotations

__all__ = ["REASONS"]

REASONS = {
    "answer": "answer of the model",
    "call of the client": "call that the program made by itself",
    "denial": "what the person said when they denied a call",
    "error": "error that the program met",
    "file edit": "change of a file that belongs to an answer",
    "interrupted": "the turn was interrupted",
    "not typed": "in the user's name, but not typed",
    "note": "note of the program",
    "notification": "notification of the program",
    "plan": "plan of the agent",
    "reply": "what the person answered when the agent asked",
    "shell command": "command the person ran with !",
    "skill": "instructions of a skill",
    "task of a sub-agent": "what another agent asked for",
    "tool results": "result of a tool",
    "typed prompt": "typed by the person",
}
