"""Amazon Q driven from end to end: prompts in the journal, answers in its row, one story in the archive."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.open import open_archive
from rireki.drive.agents import AgentProgram
from rireki.drive.bridge import Bridge, Settings
from rireki.drive.session import Session
from rireki.drive.values import AskAnswer, Prompt, Status
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.message import Message
from rireki.model.parts import Text
from rireki.sources.kit.places import Places
from tests.support.q_rows import Client, said, talk

pytest.importorskip("pty")

SUPPORT = Path(__file__).parents[1] / "support"
WAIT = 60.0


class World:
    def __init__(self, folder: Path, home: Path) -> None:
        self.home = home
        self.project = folder / "project"
        self.project.mkdir()
        command = (sys.executable, str(SUPPORT / "q_program.py"), "chat")
        agent = AgentProgram(
            "amazon-q",
            "Amazon Q",
            command,
            "q",
            "amazon-q",
            environment={"HOME": str(home), "XDG_DATA_HOME": str(home / ".local" / "share")},
            found=True,
        )
        archive = folder / "kept" / "archive.sqlite3"
        self.settings = Settings(archive, Places.at(home).beside(archive), (folder,), (agent,))

    def live(self, story: Callable[[Bridge], Coroutine[Any, Any, None]]) -> None:
        async def run() -> None:
            bridge = Bridge(self.settings)
            await bridge.open()
            try:
                await story(bridge)
            finally:
                await bridge.close()

        asyncio.run(asyncio.wait_for(run(), 3 * WAIT))

    async def begin(self, bridge: Bridge, id: str = "d1", **more: Any) -> Session:
        return await bridge.start(id, str(self.project), "amazon-q", by="test", **more)

    def messages(self, conversation: str) -> list[Message]:
        with closing(open_archive(self.settings.archive, create=True)) as archive:
            import_history(archive, places=self.settings.places)
            found = archive.find(conversation)
            return list(read_conversation(archive, found).messages())

    def told(self, conversation: str, author: str) -> list[str]:
        found = [m for m in self.messages(conversation) if m.author == author]
        texts = ["".join(p.text for p in m.parts if isinstance(p, Text)) for m in found]
        return [text for text in texts if text]


@pytest.fixture
def world(tmp_path: Path, home: Path) -> World:
    return World(tmp_path, home)


async def until(session: Session, holds: Callable[[Status], bool]) -> Status:
    async with asyncio.timeout(WAIT):
        while not holds(session.status):
            await asyncio.sleep(0.02)
    return session.status


async def say(session: Session, id: str, text: str) -> None:
    given = await session.send(Prompt(id=id, text=text), "test")

    def ended(status: Status) -> bool:
        resting = status.state in ("idle", "failed") and status.number > given.number
        return resting and not status.queue and not status.prompt

    await until(session, lambda status: bool(status.asks) or ended(status))


def test_its_row_and_our_journal_are_one_conversation(world: World) -> None:
    conversations: list[str] = []

    async def story(bridge: Bridge) -> None:
        session = await world.begin(bridge)
        assert session.warnings == []
        await say(session, "p1", "echo 一つ\n二つ")
        assert world.told(session.status.conversation, "person") == ["echo 一つ\n二つ"]
        await say(session, "p2", "tool touch made.txt")
        (ask,) = session.status.asks
        assert ask.arguments == {"command": "touch made.txt"}
        await session.answer(ask.id, AskAnswer(option="y"), "test")
        await until(session, lambda s: s.state == "idle")
        await say(session, "p3", "!touch never.txt")
        conversations.append(session.status.conversation)

    world.live(story)
    (conversation,) = conversations
    assert conversation.startswith("amazon-q/")
    assert (world.project / "made.txt").exists() and not (world.project / "never.txt").exists()
    people = world.told(conversation, "person")
    # The journal has what was allowed, the row what was typed to its question.
    (allowed,) = [text for text in people if text.startswith("Using tool: execute_bash")]
    assert "touch made.txt" in allowed
    people.remove(allowed)
    assert people == ["echo 一つ\n二つ", "tool touch made.txt", "y", "!touch never.txt"]
    answers = world.told(conversation, "agent")
    assert answers == ["You said: echo 一つ\n二つ", "I will run a command.", "It ran."]
    ids = [message.id for message in world.messages(conversation)]
    assert len(ids) == len(set(ids))
    with closing(open_archive(world.settings.archive)) as archive:
        assert archive.count() == 1
        assert archive.find("bridge/d1").conversation.id == conversation


def test_what_it_said_before_it_died_stays_and_it_goes_on(world: World) -> None:
    async def story(bridge: Bridge) -> None:
        session = await world.begin(bridge)
        await say(session, "p1", "echo one")
        await say(session, "p2", "crash")
        assert session.status.state == "failed" and "panicked" in session.status.detail
        await say(session, "p3", "echo three")
        conversation = session.status.conversation
        assert world.told(conversation, "person") == ["echo one", "crash", "echo three"]
        answers = world.told(conversation, "agent")
        assert [answer.split("\n")[0] for answer in answers] == [
            "You said: echo one",
            "About to",
            "You said: echo three",
        ]

    world.live(story)


def test_a_new_chat_warns_and_the_old_one_stays_in_the_archive(world: World) -> None:
    old = "00000000-0000-4000-8000-000000000001"
    client = Client(world.home)
    client.save(talk(old, said("m1", "An old question", "An old answer")), str(world.project))

    async def story(bridge: Bridge) -> None:
        session = await world.begin(bridge)
        (warning,) = session.warnings
        assert f"amazon-q/{old}" in warning
        await say(session, "p1", "echo new")

    world.live(story)
    assert world.told(f"amazon-q/{old}", "person") == ["An old question"]
    assert world.told("bridge/d1", "person") == ["echo new"]


def test_an_archived_chat_goes_on_in_its_row(world: World) -> None:
    async def first(bridge: Bridge) -> None:
        await say(await world.begin(bridge), "p1", "echo one")

    async def second(bridge: Bridge) -> None:
        with closing(open_archive(world.settings.archive)) as archive:
            id = archive.find("bridge/d1").conversation.id
        session = await world.begin(bridge, "d2", continues=id)
        assert session.warnings == []
        await say(session, "p2", "echo two")
        assert session.status.conversation == id
        assert world.told(id, "person") == ["echo one", "echo two"]

    world.live(first)
    world.messages("bridge/d1")
    world.live(second)
