"""The words in which the demo's stories are told, before an agent's format is put on them.

A story is a list of steps. It knows neither files nor ids: the writers beside
this module make those up, the same ones each time.
"""

from __future__ import annotations

import base64
import hashlib
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, TypeAlias

__all__ = [
    "DemoAnswer",
    "DemoCall",
    "Clear",
    "Clock",
    "Command",
    "Compact",
    "Ids",
    "Interrupted",
    "Json",
    "Rewind",
    "Shell",
    "Skill",
    "Step",
    "DemoConversation",
    "SubAgent",
    "DemoPrompt",
    "day",
]

Json: TypeAlias = dict[str, Any]

_SPACE = uuid.uuid5(uuid.NAMESPACE_URL, "rireki:demo")
JAPAN = timezone(timedelta(hours=9))


def day(number: int, hour: int, minute: int = 0, month: int = 11) -> datetime:
    """A moment of autumn 2026, told by a clock in Japan."""
    return datetime(2026, month, number, hour, minute, tzinfo=JAPAN)


@dataclass(frozen=True)
class SubAgent:
    """A helper that an agent starts: what it was told, did and reported."""

    kind: str
    description: str
    prompt: str
    steps: tuple[DemoAnswer, ...]


@dataclass(frozen=True)
class DemoCall:
    """A tool call and what came of it."""

    tool: str
    input: Json
    #: What the model gets back: text, or an object where the agent keeps one.
    output: str | Json = ""
    #: What Claude Code keeps beside the text, for its own display.
    rich: Json | str | None = None
    error: bool = False
    agent: SubAgent | None = None
    #: What the person typed while it ran.
    meanwhile: str = ""


@dataclass(frozen=True)
class DemoPrompt:
    """The person types a prompt. After calls that did not run, it is the reason to deny them."""

    text: str
    #: Seconds the person took.
    after: int = 45


@dataclass(frozen=True)
class DemoAnswer:
    """One answer of the model: thinking, text and calls, each of which may be missing."""

    text: str = ""
    calls: tuple[DemoCall, ...] = ()
    thinking: str = ""


@dataclass(frozen=True)
class Interrupted:
    """An answer that the person stopped with Esc."""

    text: str


@dataclass(frozen=True)
class Shell:
    """A `!` command of the person, and its output."""

    command: str
    output: str


@dataclass(frozen=True)
class Command:
    """A slash command that the program answers itself."""

    name: str
    arguments: str
    output: str


@dataclass(frozen=True)
class Skill:
    """A slash command that is a prompt of its own."""

    name: str
    arguments: str
    body: str


@dataclass(frozen=True)
class Rewind:
    """Back to before the last so many prompts."""

    prompts: int = 1


@dataclass(frozen=True)
class Compact:
    """The agent replaces what was said by a summary."""

    summary: str


@dataclass(frozen=True)
class Clear:
    """The person starts afresh in the same session."""


Step: TypeAlias = (
    DemoPrompt | DemoAnswer | Interrupted | Shell | Command | Skill | Rewind | Compact | Clear
)


@dataclass(frozen=True)
class DemoConversation:
    name: str
    project: str
    start: datetime
    steps: tuple[Step, ...]
    title: str = ""
    branch: str = "main"
    model: str = ""


class Ids:
    """Ids that look random and are the same each time."""

    def __init__(self, story: str) -> None:
        self.story = story
        self.count = 0

    @property
    def session(self) -> str:
        return str(uuid.uuid5(_SPACE, self.story))

    def uuid(self) -> str:
        self.count += 1
        return str(uuid.uuid5(_SPACE, f"{self.story}/{self.count}"))

    def token(self, prefix: str) -> str:
        """An id as services make them: a prefix and 22 letters and digits."""
        digest = hashlib.sha256(self.uuid().encode()).digest()
        letters = base64.b64encode(digest).decode().translate(str.maketrans("", "", "+/="))
        return prefix + letters[:22]

    def hexadecimal(self, length: int) -> str:
        return hashlib.sha256(self.uuid().encode()).hexdigest()[:length]


class Clock:
    """The time in a story: it passes as people type and models think."""

    def __init__(self, start: datetime) -> None:
        self.now = start

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def iso(self) -> str:
        """As Claude Code and Kiro write it."""
        moment = self.now.astimezone(timezone.utc)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"

    def local(self) -> str:
        """As Amazon Q writes it, with the offset of the place."""
        return self.now.isoformat(timespec="microseconds")

    def milliseconds(self) -> int:
        return round(self.now.timestamp() * 1000)
