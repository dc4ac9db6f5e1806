"""A bridge over scripted agents: real processes, real journals, a loop per test."""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rireki.drive.agents import AgentProgram
from rireki.drive.bridge import Bridge, Settings
from rireki.drive.session import Session
from rireki.drive.values import Ask, Prompt, State
from rireki.sources.kit.places import Places

PROGRAM = Path(__file__).parents[1] / "support" / "acp_agent.py"
#: Far more than anything takes, also on a machine with much else to do.
WAIT = 60.0


class Desk:
    """Where everything of one test lies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir(exist_ok=True)
        self.transcripts = folder / "claude"
        self.received = folder / "received.jsonl"
        self.archive = folder / "kept" / "archive.sqlite3"

    def agent(self, name: str = "scripted", **environment: str) -> AgentProgram:
        return AgentProgram(
            name,
            name.title(),
            (sys.executable, str(PROGRAM)),
            source="claude-code",
            environment={
                "SCRIPT_TRANSCRIPTS": str(self.transcripts),
                "SCRIPT_RECEIVED": str(self.received),
                **environment,
            },
            found=True,
        )

    def settings(self, *agents: AgentProgram, **more: Any) -> Settings:
        return Settings(
            archive=self.archive,
            places=Places.at(self.folder).beside(self.archive),
            roots=(self.folder,),
            agents=agents or (self.agent(),),
            **more,
        )

    @asynccontextmanager
    async def bridge(self, *agents: AgentProgram, **more: Any) -> AsyncIterator[Bridge]:
        bridge = Bridge(self.settings(*agents, **more))
        await bridge.open()
        try:
            yield bridge
        finally:
            await bridge.close()

    @asynccontextmanager
    async def session(self, **environment: str) -> AsyncIterator[Session]:
        """A conversation with the scripted agent."""
        async with self.bridge(self.agent(**environment)) as bridge:
            yield await self.start(bridge)

    async def start(self, bridge: Bridge, id: str = "one", **more: Any) -> Session:
        return await bridge.start(id, str(self.project), "scripted", by="test", **more)

    def journal(self, id: str = "one") -> list[dict[str, Any]]:
        text = (self.archive.parent / "bridge" / f"{id}.jsonl").read_bytes()
        return [json.loads(line) for line in text.splitlines()]

    def kinds(self, *kinds: str, id: str = "one") -> list[dict[str, Any]]:
        return [entry for entry in self.journal(id) if entry["kind"] in kinds]

    def said(self, id: str = "one") -> str:
        """All of the agent's text, in order."""
        return "".join(entry["text"] for entry in self.kinds("text", id=id))

    def given_prompts(self) -> list[str]:
        """What arrived at agents, in order."""
        if not self.received.exists():
            return []
        return [json.loads(line) for line in self.received.read_text().splitlines()]


@pytest.fixture
def archive_reader(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 3 * WAIT))


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(WAIT):
        while not condition():
            await asyncio.sleep(0.01)


async def reach(session: Session, *states: State) -> None:
    try:
        await until(lambda: session.state in states)
    except TimeoutError:
        raise AssertionError(
            f"{session.state}, never {states}: {msgspec.to_builtins(session.status)}"
        ) from None


async def say(session: Session, text: str, id: str = "", **more: Any) -> None:
    """Send a prompt, and wait for the end of its turn."""
    id = id or uuid.uuid4().hex
    await session.send(Prompt(id, text, **more), "test")
    await until(lambda: id not in session.book.log.waiting and session.book.log.turn != id)


async def asked(session: Session) -> Ask:
    await until(lambda: session.status.asks)
    return session.status.asks[0]
