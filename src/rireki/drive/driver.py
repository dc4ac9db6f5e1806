"""The contract between a session and whatever runs its agent.

A driver starts one agent for one session and reports through a `Sink`. It knows no journal,
no queue and no page; it gives one prompt at a time, and is thrown away with its process.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import msgspec

from rireki.drive.agents import AgentProgram
from rireki.drive.values import Ask, AskAnswer, Mode, Prompt
from rireki.errors import RirekiError
from rireki.late import LateModule
from rireki.sources.kit.places import Places

# Drivers themselves, which know this module.
if TYPE_CHECKING:
    from rireki.drive.acp import driver as acp
    from rireki.drive.q import driver as q
    from rireki.drive.q import store as q_store
else:
    acp = LateModule("rireki.drive.acp.driver")
    q = LateModule("rireki.drive.q.driver")
    q_store = LateModule("rireki.drive.q.store")

__all__ = [
    "AgentError",
    "AgentGone",
    "Driver",
    "Level",
    "Maker",
    "Reason",
    "Reply",
    "Sink",
    "TurnEnd",
    "AgentTask",
    "driver_of",
    "gone_by_itself",
    "warm_up",
    "warnings_of",
]

Reason: TypeAlias = Literal[
    "end_turn", "cancelled", "max_tokens", "refusal", "max_turn_requests", "interrupted", "failed"
]
Level: TypeAlias = Literal["info", "warning", "error"]


class AgentGone(RirekiError):
    """The agent's process is not there any more, or could not be started."""


class AgentError(RirekiError):
    """The agent refused something, and goes on."""


class AgentTask(msgspec.Struct, frozen=True):
    """What an agent is started for."""

    #: The drive id.
    id: str
    agent: AgentProgram
    project: Path
    model: str | None
    archive: Path
    places: Places
    #: The environment of the agent's process, complete.
    environment: dict[str, str]
    #: The project has to lie below one of these, at every start.
    roots: tuple[Path, ...]


class TurnEnd(msgspec.Struct, frozen=True):
    reason: Reason
    usage: dict[str, Any] | None = None


class Reply(msgspec.Struct, frozen=True):
    """How an ask ended, for the driver: `answer` has what the person chose."""

    outcome: Literal["selected", "refused", "answered", "expired", "cancelled"]
    answer: AskAnswer


class Sink(Protocol):
    """Where a driver reports. All but `ask` return at once; call them in the session's loop."""

    def text(self, text: str, *, message: str | None = None, provisional: bool = False) -> None:
        """A further stretch of the agent's answer; `message` is the agent's id of it, if any."""

    def thought(self, text: str, *, message: str | None = None) -> None: ...

    def replaced(self) -> None:
        """The agent saved its answer: what was provisional of it is complete."""

    def call(
        self,
        id: str,
        *,
        name: str | None = None,
        title: str | None = None,
        tool: str | None = None,
        arguments: Any = None,
        diffs: list[dict[str, Any]] | None = None,
    ) -> None:
        """A tool call, for the first time or with more known of it; None leaves what was known."""

    def result(self, id: str, status: Literal["ok", "error", "cancelled"], output: str) -> None: ...

    def plan(self, entries: list[dict[str, Any]]) -> None: ...

    async def ask(self, ask: Ask) -> Reply:
        """Wait for the person; the ask's `id`, `at` and `number` are made by the session."""

    def session(self, id: str, *, resumable: bool = False, images: bool | None = None) -> None:
        """The agent's own id of the conversation, whenever it becomes known."""

    def usage(self, usage: dict[str, Any]) -> None: ...

    def models(self, models: list[Mode], current: str | None) -> None: ...

    def modes(self, modes: list[Mode], current: str | None) -> None: ...

    def note(self, text: str, level: Level = "info") -> None: ...

    def process(self, pid: int) -> None:
        """The process (and group) that runs: ended after a crash of ours, if it is still there."""

    def gone(self, code: int | None, printed: str) -> None:
        """The process ended by itself; `printed` is the last of what it said on stderr."""


class Driver(Protocol):
    #: Whether reasons of refusals reach the agent through `ask`'s reply; else they are its next prompt.
    takes_reasons: bool

    async def start(self, continues: str | None) -> str | None:
        """Start the process and the conversation; its id, if known yet.

        `continues` is the agent's own id of a conversation to go on with. Raises AgentGone when
        there is no agent after it, AgentError when it runs but cannot go on with that conversation.
        """

    async def prompt(self, prompt: Prompt) -> TurnEnd:
        """Give a prompt and wait for the end of the turn. Raises AgentGone, AgentError."""

    async def cancel(self) -> None:
        """Ask the agent to end its turn; `prompt` returns when it has."""

    async def close(self) -> None:
        """End the process, politely at first."""

    def kill(self) -> None:
        """End the process and all it started, at once."""


Maker: TypeAlias = Callable[[AgentTask, Sink], Driver]


def driver_of(work: AgentTask, sink: Sink) -> Driver:
    """The driver for an agent's protocol; its libraries are imported only now."""
    if work.agent.protocol == "q":
        return q.QDriver(work, sink)
    return acp.AcpDriver(work, sink)


def warm_up() -> None:
    """Import what the first agent of the protocol would have to wait for, if it is installed."""
    with suppress(ImportError):
        import_module("acp")


def gone_by_itself(code: int | None, printed: str) -> AgentGone:
    """What a process that ended unasked comes to."""
    if code is not None and code < 0:
        return AgentGone("agent-killed", hint=printed.strip(), signal=-code)
    return AgentGone("agent-ended", hint=printed.strip(), status=code)


def warnings_of(work: AgentTask) -> list[str]:
    """What a new conversation will do that the person may not expect."""
    if work.agent.protocol != "q":
        return []
    warning = q_store.QStore(work).warning()
    return [warning] if warning else []
