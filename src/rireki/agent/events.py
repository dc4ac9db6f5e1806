"""What happens while an agent runs, as small values that also make good JSON (`kind` says which)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec

__all__ = [
    "Answered",
    "Called",
    "Done",
    "Event",
    "Failed",
    "Question",
    "Reason",
    "Returned",
    "Tell",
    "TextDelta",
    "ThinkingDelta",
]

#: Why a run ended: the model answered, a person is asked and has not answered yet, `stop()` was
#: called, or `max_steps` were made.
Reason: TypeAlias = Literal["answer", "waiting", "stopped", "limit"]


class ThinkingDelta(msgspec.Struct, frozen=True, tag_field="kind", tag="thinking"):
    """A piece of what the model thinks."""

    text: str


class TextDelta(msgspec.Struct, frozen=True, tag_field="kind", tag="text"):
    """A piece of what the model says."""

    text: str


class Called(msgspec.Struct, frozen=True, tag_field="kind", tag="call"):
    """A tool is about to run. Models without call ids leave the `id` empty."""

    id: str
    name: str
    arguments: Any


class Returned(msgspec.Struct, frozen=True, tag_field="kind", tag="result"):
    """What the tool returned, or why it could not."""

    id: str
    name: str
    text: str
    is_error: bool = False


class Question(msgspec.Struct, frozen=True, tag_field="kind", tag="question"):
    """The model asks the person something; the `id` is that of its call."""

    id: str
    question: str
    options: list[str] = []


class Answered(msgspec.Struct, frozen=True, tag_field="kind", tag="answer"):
    """What the person answered."""

    id: str
    text: str


class Failed(msgspec.Struct, frozen=True, tag_field="kind", tag="error"):
    """The run cannot go on; the error itself is raised right after."""

    message: str


class Done(msgspec.Struct, frozen=True, tag_field="kind", tag="done"):
    """The run has ended; `text` is what the model said last."""

    text: str
    reason: Reason
    steps: int


Event: TypeAlias = (
    ThinkingDelta | TextDelta | Called | Returned | Question | Answered | Failed | Done
)
Tell: TypeAlias = Callable[[Event], None]
