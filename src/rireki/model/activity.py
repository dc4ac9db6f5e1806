"""What an agent is doing in a conversation at this moment, as far as it can be told from outside."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

__all__ = ["Activity", "ActivityState"]

#: At work; waiting for the person; open, with nothing to do.
ActivityState: TypeAlias = Literal["working", "waiting", "idle"]


class Activity(msgspec.Struct, frozen=True):
    source: str
    #: The conversation's id in rireki: `claude-code/5471a680…`.
    conversation: str
    state: ActivityState
    #: What it works on or waits for: a tool's name, "permission prompt"; empty when unknown.
    detail: str = ""
    #: Since when, in our spelling of times.
    at: str | None = None
