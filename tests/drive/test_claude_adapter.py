"""Claude Code itself, through its real adapter, against a scripted model on loopback.

`make test` installs the adapter when npm is there; where it is not, the summary says so.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rireki.archive.base import Filter
from rireki.archive.open import open_archive
from rireki.drive.agents import AgentProgram
from rireki.drive.bridge import Bridge, Settings
from rireki.drive.session import Session
from rireki.drive.values import Ask, AskAnswer, Prompt, PromptImage, Status
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.journals.session_entry import BridgeEntry, parse
from rireki.model.message import Message
from rireki.model.parts import Attachment, Text
from rireki.sources.kit.places import Places
from tests.support.anthropic_endpoint import Endpoint, Move, Script, endpoint
from tests.support.claude_adapter import adapter

ADAPTER = adapter()
pytestmark = pytest.mark.skipif(bool(ADAPTER.absent), reason=ADAPTER.absent or "-")

WAIT = 60.0
LONG = " ".join(f"word{n}" for n in range(400))
COLOURS = {
    "question": "Which colour?",
    "header": "Colour",
    "multiSelect": False,
    "options": [
        {"label": "Red", "description": "warm"},
        {"label": "Blue", "description": "cold"},
    ],
}


def write_plan(body: dict[str, Any]) -> Move:
    """Claude Code tells the model in which file it wants the plan."""
    (place,) = set(re.findall(r"plan at (\S+\.md)", str(body["messages"])))
    return Move(calls=(("Write", {"file_path": place, "content": "1. Make it.\n2. Check it."}),))


SCRIPT: Script = {
    "think": [Move("The answer is ready.", thinking="Let me think about it.")],
    "run": [
        Move("I run it.", calls=(("Bash", {"command": "touch made.txt", "description": "Make"}),)),
        Move("It ran."),
    ],
    "never": [
        Move("I try.", calls=(("Bash", {"command": "touch never.txt", "description": "Never"}),)),
        Move("Then not."),
    ],
    "ask": [Move(calls=(("AskUserQuestion", {"questions": [COLOURS]}),)), Move("Noted.")],
    "plan": [
        Move(calls=(("EnterPlanMode", {}),)),
        write_plan,
        Move(calls=(("ExitPlanMode", {}),)),
        Move("Planned."),
    ],
    "slowly": [Move(LONG, pause=0.05)],
}


class World(NamedTuple):
    settings: Settings
    project: Path
    model: Endpoint

    def journal(self, session: Session) -> list[BridgeEntry]:
        path = self.settings.archive.parent / "bridge" / f"{session.id}.jsonl"
        return [entry for line in path.read_bytes().splitlines() if (entry := parse(line))]

    def messages(self, conversation: str) -> list[Message]:
        """What the archive shows, after an import."""
        with closing(open_archive(self.settings.archive, create=True)) as archive:
            import_history(archive, places=self.settings.places)
            found = archive.find(conversation)
            return list(read_conversation(archive, found).messages())


@pytest.fixture
def world(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    # What the tests' own surroundings say to Claude Code is not for this one.
    for name in list(os.environ):
        if name.startswith(("CLAUDE", "ANTHROPIC")) or name == "IS_SANDBOX":
            monkeypatch.delenv(name)
    project = tmp_path / "project"
    project.mkdir()
    archive = tmp_path / "kept" / "archive.sqlite3"
    with endpoint(SCRIPT) as model:
        environment = {
            **model.environment(),
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "CLAUDE_CODE_EXECUTABLE": ADAPTER.executable,
        }
        agent = AgentProgram(
            "claude-code",
            "Claude Code",
            (ADAPTER.command,),
            source="claude-code",
            environment=environment,
            found=True,
        )
        places = Places.at(home).beside(archive)
        yield World(Settings(archive, places, (tmp_path,), (agent,)), project, model)


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


async def begin(bridge: Bridge, world: World, id: str = "drive-1") -> Session:
    return await bridge.start(id, str(world.project), "claude-code", by="test")


async def say(session: Session, text: str, **more: Any) -> str:
    """Send a prompt; its id."""
    id = f"p-{len(session.book.log.prompts) + 1}"
    given = await session.send(Prompt(id=id, text=text, **more), "test")
    assert not given.known
    return id


def state(session: Session) -> str:
    return session.status.state


async def done(session: Session) -> Status:
    return await until(session, lambda s: s.state == "idle" and not s.queue and s.prompt is None)


async def asked(session: Session) -> Ask:
    return (await until(session, lambda s: bool(s.asks))).asks[0]


async def allow(session: Session, ask: Ask) -> None:
    once = next(option for option in ask.options if option.kind == "allow_once")
    await session.answer(ask.id, AskAnswer(option=once.id), "test")


def ended(world: World, session: Session) -> list[tuple[str, str]]:
    """(prompt, how its turn ended), in order."""
    entries = world.journal(session)
    return [(e.text("prompt"), e.text("reason")) for e in entries if e.kind == "turn_end"]


def typed(messages: list[Message]) -> list[str]:
    """What was typed, in order; what was chosen and refused stands in the outcomes of tools."""
    said = [m for m in messages if m.author == "person" and m.display == "bubble"]
    return [text_of(m) for m in said if m.label not in ("answered", "refused", "plan approved")]


def said(messages: list[Message]) -> list[str]:
    return [text_of(m) for m in messages if m.author == "agent" and text_of(m)]


def text_of(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def test_a_whole_conversation_and_what_the_archive_makes_of_it(world: World) -> None:
    sessions: list[Session] = []

    async def story(bridge: Bridge) -> None:
        session = await begin(bridge, world)
        sessions.append(session)
        await say(session, "think 日本語")
        await done(session)

        await say(session, "run it")
        ask = await asked(session)
        assert (ask.what, state(session)) == ("permission", "permission")
        assert ask.arguments["command"] == "touch made.txt"
        assert not (world.project / "made.txt").exists(), "not before it was allowed"
        await allow(session, ask)
        await done(session)
        assert (world.project / "made.txt").exists()

        await say(session, "never do it")
        ask = await asked(session)
        await session.answer(ask.id, AskAnswer(reason="Use make instead."), "test")
        await done(session)
        assert not (world.project / "never.txt").exists()
        assert any("Use make instead." in typed for typed in world.model.typed())

        await say(session, "ask me")
        ask = await asked(session)
        assert (ask.what, state(session)) == ("question", "answer")
        (question,) = ask.questions
        assert [option.label for option in question.options] == ["Red", "Blue"]
        await session.answer(ask.id, AskAnswer(values={question.id: ["Blue"]}), "test")
        await done(session)
        assert '"Which colour?"="Blue"' in str(world.model.requests[-1]["messages"])

        await say(session, "plan it")
        ask = await asked(session)
        assert ask.what == "plan"
        assert "2. Check it." in ask.detail
        await allow(session, ask)
        await done(session)

    live(world, story)
    (session,) = sessions
    assert {reason for _, reason in ended(world, session)} == {"end_turn"}
    conversation = session.status.conversation
    assert conversation.startswith("claude-code/")
    messages = world.messages(conversation)
    assert typed(messages) == [
        "think 日本語",
        "run it",
        "never do it",
        "Use make instead.",
        "ask me",
        "plan it",
    ]
    assert not any("User refused" in text_of(m) for m in messages if m.author == "person")
    answers = said(messages)
    for words in ("The answer is ready.", "It ran.", "Noted.", "Planned."):
        assert answers.count(words) == 1, words
    ids = [message.id for message in messages]
    assert len(ids) == len(set(ids))
    asks = [entry.text("id") for entry in world.journal(session) if entry.kind == "ask"]
    assert len(asks) == 4 and set(asks) <= set(ids), "what was allowed stays to be read"
    with closing(open_archive(world.settings.archive)) as archive:
        assert archive.find(f"bridge/{session.id}").conversation.id == conversation
        # The plan is notes of its own.
        listed = archive.conversations(Filter(subagents=True))
        assert sorted(each.nature for each in listed) == ["conversation", "notes"]


def test_stopping_ends_the_turn_and_the_conversation_goes_on(world: World) -> None:
    async def story(bridge: Bridge) -> None:
        session = await begin(bridge, world)
        first = await say(session, "slowly")
        await until(session, lambda s: any("word3" in block.text for block in s.blocks))
        await session.stop()
        await until(session, lambda s: s.state == "idle")
        assert ended(world, session) == [(first, "cancelled")]
        await say(session, "think again")
        await done(session)
        messages = world.messages(session.status.conversation)
        assert typed(messages) == ["slowly", "think again"]
        assert any("word3" in text for text in said(messages)), "what came before the stop"

    live(world, story)


def test_an_agent_that_is_killed_loses_nothing_and_goes_on_where_it_was(world: World) -> None:
    async def story(bridge: Bridge) -> None:
        session = await begin(bridge, world)
        await say(session, "think first")
        await done(session)
        await say(session, "slowly")
        await until(session, lambda s: any("word3" in block.text for block in s.blocks))
        process = next(e for e in reversed(world.journal(session)) if e.kind == "process")
        os.killpg(process.more["pid"], signal.SIGKILL)
        async with asyncio.timeout(WAIT):
            while state(session) != "failed":
                await asyncio.sleep(0.02)
        assert ended(world, session)[-1][1] == "failed"
        # What is sent now starts it again, with all it knew.
        await say(session, "think after")
        async with asyncio.timeout(WAIT):
            while state(session) != "idle":
                await asyncio.sleep(0.02)
        assert "think first" in str(world.model.requests[-1]["messages"])
        messages = world.messages(session.status.conversation)
        assert typed(messages) == ["think first", "slowly", "think after"]
        assert sum("word3" in text for text in said(messages)) == 1, "the part that had come"

    live(world, story)


def test_an_archived_conversation_is_gone_on_with(world: World) -> None:
    conversations: list[str] = []

    async def first(bridge: Bridge) -> None:
        session = await begin(bridge, world)
        await say(session, "think first")
        await done(session)
        conversations.append(session.status.conversation)

    async def second(bridge: Bridge) -> None:
        session = await bridge.start(
            "drive-2", str(world.project), "claude-code", continues=conversations[0], by="test"
        )
        await say(session, "think second")
        await done(session)
        assert "think first" in str(world.model.requests[-1]["messages"])
        assert session.status.conversation == conversations[0]

    live(world, first)
    assert typed(world.messages(conversations[0])) == ["think first"]
    live(world, second)
    assert typed(world.messages(conversations[0])) == ["think first", "think second"]


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


def test_a_picture_and_a_file_reach_the_model(world: World) -> None:
    (world.project / "a file.txt").write_text("inside")

    async def story(bridge: Bridge) -> None:
        session = await begin(bridge, world)
        image = PromptImage("image/png", PIXEL, "pixel.png")
        await say(session, "think of this", images=[image], mentions=["a file.txt"])
        await done(session)
        body = str(world.model.requests[0]["messages"])
        assert PIXEL in body and "file.txt" in body
        messages = world.messages(session.status.conversation)
        prompts = [m for m in messages if m.author == "person" and m.display == "bubble"]
        assert len(prompts) == 1
        assert any(isinstance(part, Attachment) for part in prompts[0].parts)

    live(world, story)
