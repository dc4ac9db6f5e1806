"""The clients of other makers themselves, driven over the protocol, against a scripted model on loopback.

They are looked for where `RIREKI_CLIENTS` says; the reason of a skip tells how to get one.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rireki.archive.base import Filter
from rireki.archive.open import open_archive
from rireki.drive.bridge import Bridge, Settings
from rireki.drive.session import Session
from rireki.drive.values import Ask, AskAnswer, Prompt, PromptImage, Status
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.journals.session_entry import BridgeEntry, parse
from rireki.model.message import Message
from rireki.model.parts import Attachment, Text
from rireki.sources.kit.places import Places
from tests.support.model_endpoint import ModelEndpoint, model_endpoint
from tests.support.real_clients import CLIENTS, Client, end_daemons, script_of

WAIT = 90.0


class World(NamedTuple):
    client: Client
    settings: Settings
    project: Path
    model: ModelEndpoint

    def journal(self, session: Session) -> list[BridgeEntry]:
        path = self.settings.archive.parent / "bridge" / f"{session.id}.jsonl"
        return [entry for line in path.read_bytes().splitlines() if (entry := parse(line))]

    def messages(self, conversation: str) -> list[Message]:
        """What the archive shows, after an import."""
        with closing(open_archive(self.settings.archive, create=True)) as archive:
            import_history(archive, places=self.settings.places)
            found = archive.find(conversation)
            return list(read_conversation(archive, found).messages())

    def listed(self) -> list[str]:
        with closing(open_archive(self.settings.archive, create=True)) as archive:
            import_history(archive, places=self.settings.places)
            found = archive.conversations(Filter(subagents=True))
            return [each.id for each in found if each.nature == "conversation"]


@pytest.fixture(params=CLIENTS, ids=lambda client: client.name)
def world(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    client: Client = request.param
    if client.absent:
        pytest.skip(client.absent)
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    archive = home / ".local" / "share" / "rireki" / "archive.sqlite3"
    with model_endpoint(script_of(client)) as model:
        agent = client.program(home, model)
        places = Places.at(home).beside(archive)
        yield World(client, Settings(archive, places, (tmp_path,), (agent,)), project, model)
        end_daemons(home)


Story = Callable[[Bridge], Coroutine[Any, Any, None]]


def live(world: World, story: Story) -> None:
    async def run() -> None:
        bridge = Bridge(world.settings)
        await bridge.open()
        try:
            await story(bridge)
        finally:
            await bridge.close()

    asyncio.run(asyncio.wait_for(run(), 4 * WAIT))


async def until(session: Session, holds: Callable[[Status], bool]) -> Status:
    """Wait for a status; an agent that failed is not waited for."""
    async with asyncio.timeout(WAIT):
        while not holds(session.status):
            assert session.status.state != "failed", session.status.detail
            await asyncio.sleep(0.02)
    return session.status


async def begin(bridge: Bridge, world: World, id: str = "drive-1", **more: Any) -> Session:
    return await bridge.start(id, str(world.project), world.client.name, by="test", **more)


async def say(session: Session, text: str) -> str:
    id = f"p-{len(session.book.log.prompts) + 1}"
    given = await session.send(Prompt(id=id, text=text), "test")
    assert not given.known
    return id


def state(session: Session) -> str:
    return session.status.state


async def done(session: Session) -> Status:
    return await until(session, lambda s: s.state == "idle" and not s.queue and s.prompt is None)


async def asked(session: Session) -> Ask:
    return (await until(session, lambda s: bool(s.asks))).asks[0]


async def choose(session: Session, ask: Ask, kind: str) -> None:
    (option,) = [option for option in ask.options if option.kind == kind][:1]
    await session.answer(ask.id, AskAnswer(option=option.id), "test")


def ended(world: World, session: Session) -> list[tuple[str, str]]:
    """(prompt, how its turn ended), in order."""
    entries = world.journal(session)
    return [(e.text("prompt"), e.text("reason")) for e in entries if e.kind == "turn_end"]


def typed(messages: list[Message]) -> list[str]:
    said = [m for m in messages if m.author == "person" and m.display == "bubble"]
    return [text_of(m) for m in said if m.label not in ("answered", "refused")]


def said(messages: list[Message]) -> str:
    return "\n".join(text_of(m) for m in messages if m.author == "agent")


def text_of(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def test_a_whole_conversation_is_in_the_archive_once(world: World) -> None:
    sessions: list[Session] = []
    stretches: set[str] = set()

    async def story(bridge: Bridge) -> None:
        session = await begin(bridge, world)
        sessions.append(session)
        await say(session, "greet-me 日本語")
        await until(session, lambda s: bool(s.blocks) or s.state == "idle")
        while session.status.blocks:
            stretches.update(block.text for block in session.status.blocks)
            await asyncio.sleep(0.01)
        await done(session)

        await say(session, "touch-it please")
        ask = await asked(session)
        assert ask.what == "permission" and "touch made.txt" in (ask.detail + ask.title)
        assert not (world.project / "made.txt").exists(), "not before it was allowed"
        await choose(session, ask, "allow_once")
        await done(session)
        assert (world.project / "made.txt").exists()

        await say(session, "refuse-it please")
        await choose(session, await asked(session), "reject_once")
        await done(session)
        assert not (world.project / "never.txt").exists()

    live(world, story)
    (session,) = sessions
    assert len(stretches) > 2, "it streams"
    assert [prompt for prompt, _ in ended(world, session)] == ["p-1", "p-2", "p-3"]
    conversation = session.status.conversation
    assert world.listed() == [conversation]
    messages = world.messages(conversation)
    assert typed(messages) == ["greet-me 日本語", "touch-it please", "refuse-it please"]
    for words in ("Good morning to you, whoever you are.", "I make it.", "It is made."):
        assert said(messages).count(words) == 1, words
    ids = [message.id for message in messages]
    assert len(ids) == len(set(ids))
    asks = [entry.text("id") for entry in world.journal(session) if entry.kind == "ask"]
    assert len(asks) == 2 and set(asks) <= set(ids), "what was allowed stays to be read"
    with closing(open_archive(world.settings.archive)) as archive:
        assert archive.find(f"bridge/{session.id}").conversation.id == conversation


def test_an_archived_conversation_is_gone_on_with(world: World) -> None:
    conversations: list[str] = []

    async def first(bridge: Bridge) -> None:
        session = await begin(bridge, world)
        await say(session, "greet-me first")
        await done(session)
        conversations.append(session.status.conversation)

    async def second(bridge: Bridge) -> None:
        session = await begin(bridge, world, "drive-2", continues=conversations[0])
        await say(session, "greet-me second")
        await done(session)
        assert "greet-me first" in str(world.model.requests[-1])
        assert session.status.conversation == conversations[0]

    live(world, first)
    assert typed(world.messages(conversations[0])) == ["greet-me first"]
    live(world, second)
    assert world.listed() == conversations
    messages = world.messages(conversations[0])
    assert typed(messages) == ["greet-me first", "greet-me second"]
    assert said(messages).count("Good morning") == 2


def test_stopping_ends_the_turn_and_the_conversation_goes_on(world: World) -> None:
    async def story(bridge: Bridge) -> None:
        session = await begin(bridge, world)
        first = await say(session, "slowly-now please")
        await until(session, lambda s: any("word3" in block.text for block in s.blocks))
        await session.stop()
        await until(session, lambda s: s.state == "idle")
        assert ended(world, session) == [(first, "cancelled")]
        await say(session, "greet-me again")
        await done(session)
        messages = world.messages(session.status.conversation)
        assert typed(messages) == ["slowly-now please", "greet-me again"]
        assert said(messages).count("word3 ") == 1, "what came before the stop"

    live(world, story)


def test_a_client_that_is_killed_in_a_turn_loses_no_prompt(world: World) -> None:
    async def story(bridge: Bridge) -> None:
        session = await begin(bridge, world)
        await say(session, "greet-me first")
        await done(session)
        await say(session, "slowly-now please")
        await until(session, lambda s: any("word3" in block.text for block in s.blocks))
        process = next(e for e in reversed(world.journal(session)) if e.kind == "process")
        os.killpg(process.more["pid"], signal.SIGKILL)
        async with asyncio.timeout(WAIT):
            while state(session) != "failed":
                await asyncio.sleep(0.02)
        assert ended(world, session)[-1][1] == "failed"
        # What is sent now starts it again, with all it knew.
        await say(session, "greet-me after")
        async with asyncio.timeout(WAIT):
            while state(session) != "idle":
                await asyncio.sleep(0.02)
        assert "greet-me first" in str(world.model.requests[-1])
        assert world.listed() == [session.status.conversation]
        messages = world.messages(session.status.conversation)
        assert typed(messages) == ["greet-me first", "slowly-now please", "greet-me after"]
        assert said(messages).count("Good morning") == 2
        assert said(messages).count("word3 ") == 1, "the part that had come"

    live(world, story)


def test_stopping_while_it_asks_runs_nothing(world: World) -> None:
    async def story(bridge: Bridge) -> None:
        session = await begin(bridge, world)
        first = await say(session, "touch-it please")
        await asked(session)
        await session.stop()
        await until(session, lambda s: s.state == "idle")
        assert ended(world, session) == [(first, "cancelled")]
        assert not (world.project / "made.txt").exists()
        await say(session, "greet-me again")
        await done(session)
        messages = world.messages(session.status.conversation)
        assert typed(messages) == ["touch-it please", "greet-me again"]
        assert world.listed() == [session.status.conversation]

    live(world, story)


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


def test_a_picture_and_a_file_are_one_prompt(world: World) -> None:
    (world.project / "notes.txt").write_text("inside")

    async def story(bridge: Bridge) -> None:
        session = await begin(bridge, world)
        prompt = Prompt(
            id="p-1",
            text="greet-me with @notes.txt",
            images=[PromptImage("image/png", PIXEL, "pixel.png")],
            mentions=["notes.txt"],
        )
        await session.send(prompt, "test")
        await done(session)
        assert "notes.txt" in str(world.model.requests[0])
        messages = world.messages(session.status.conversation)
        # Agents add to it what it mentions.
        (prompted,) = (m for m in messages if m.author == "person" and m.display == "bubble")
        assert text_of(prompted).startswith("greet-me with @notes.txt")
        assert any(isinstance(part, Attachment) and part.digest for part in prompted.parts)
        assert world.listed() == [session.status.conversation]

    live(world, story)


def test_what_is_imported_during_a_turn_is_there_once_after_it(world: World) -> None:
    async def story(bridge: Bridge) -> None:
        session = await begin(bridge, world)
        await say(session, "greet-me first")
        await done(session)
        await say(session, "touch-it please")
        ask = await asked(session)
        during = await asyncio.to_thread(world.messages, session.status.conversation)
        assert typed(during) == ["greet-me first", "touch-it please"]
        await choose(session, ask, "allow_once")
        await done(session)
        messages = world.messages(session.status.conversation)
        assert typed(messages) == ["greet-me first", "touch-it please"]
        assert said(messages).count("I make it.") == 1
        assert world.listed() == [session.status.conversation]

    live(world, story)
