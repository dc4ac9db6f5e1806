"""A small agent loop over `MessageHistory`: tools, questions to a person, and clients of models.

    loop.py      think, act, observe         tools.py    functions as tools      mcp.py   tools of servers
    asking.py    questions to the person     events.py   what happens meanwhile
    clients/     the providers' packages     scripted.py a model for tests

No provider's package is imported before a client of it asks something.
"""

from __future__ import annotations

from rireki.agent.asking import CANCELLED, Later, in_terminal, later
from rireki.agent.clients import connect
from rireki.agent.events import (
    Answered,
    Called,
    Done,
    Event,
    Failed,
    Question,
    Returned,
    TextDelta,
    ThinkingDelta,
)
from rireki.agent.loop import LLM, Agent
from rireki.agent.scripted import Scripted
from rireki.agent.tools import Output, Tool, ToolError, tool

__all__ = [
    "CANCELLED",
    "LLM",
    "Agent",
    "Answered",
    "Called",
    "Done",
    "Event",
    "Failed",
    "Later",
    "Output",
    "Question",
    "Returned",
    "Scripted",
    "TextDelta",
    "ThinkingDelta",
    "Tool",
    "ToolError",
    "connect",
    "in_terminal",
    "later",
    "tool",
]
