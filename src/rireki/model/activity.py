"""What an agent is doing in a conversation at this moment, as far as it can be told from outside."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

__all__ = ["WAITING", "WORDS", "Activity", "ActivityState", "AskState", "state_of_ask"]

#: At work; waiting for the person's permission, or for an answer; open, with nothing to do.
ActivityState: TypeAlias = Literal["working", "permission", "answer", "idle"]

#: Those of a conversation with an open ask.
AskState: TypeAlias = Literal["permission", "answer"]

#: How each is called for people, in the terminal and on every page.
WORDS: dict[ActivityState, str] = {
    "working": "working",
    "permission": "waits for your permission",
    "answer": "waits for your answer",
    "idle": "idle",
}
#: Those in which nothing goes on before the person does something.
WAITING: tuple[ActivityState, ...] = ("permission", "answer")


def state_of_ask(what: str) -> AskState:
    """The state of a conversation that waits for an ask of this kind (`Ask.what`)."""
    return "answer" if what == "question" else "permission"


class Activity(msgspec.Struct, frozen=True):
    source: str
    #: The conversation's id in rireki: `claude-code/5471a680…`.
    conversation: str
    state: ActivityState
    #: What it works on or waits for: a tool's name, a command; empty when unknown.
    detail: str = ""
    #: Since when, in our spelling of times.
    at: str | None = None

    @property
    def words(self) -> str:
        return WORDS[self.state]

    @property
    def waits(self) -> bool:
        return self.state in WAITING
