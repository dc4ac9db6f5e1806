"""After a restart queued prompts wait for one yes per conversation: none is given by itself, none lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rireki.drive.bridge import Bridge
from rireki.drive.journal import ended
from rireki.drive.session import Session
from rireki.drive.values import Ask, AskAnswer, Prompt
from rireki.errors import NotFound, RirekiError
from tests.drive.conftest import Desk, reach, run, until
from tests.support.driven import Journal


async def leave_queue(archive_reader: Desk, *texts: str) -> None:
    """A conversation whose bridge ends while prompts wait, after p1, which is being answered."""
    async with archive_reader.session() as session:
        await session.send(Prompt("p1", "forever"), "web")
        for number, text in enumerate(texts, 2):
            await session.send(Prompt(f"p{number}", text), "web")
        await until(lambda: session.status.blocks)


@asynccontextmanager
async def restarted(archive_reader: Desk) -> AsyncIterator[Session]:
    async with archive_reader.bridge() as bridge:
        (session,) = bridge.sessions()
        yield session


def yes_of(session: Session) -> Ask:
    (ask,) = [ask for ask in session.status.asks if ask.what == "prompts"]
    return ask


async def nothing_starts(session: Session) -> None:
    for _ in range(20):
        await asyncio.sleep(0.02)
        assert not session.runs


def foreign(archive_reader: Desk, id: str = "foreign") -> Journal:
    """A journal that somebody else wrote, into the folder that is opened."""
    journal = Journal(archive_reader.folder, id)
    journal.file = archive_reader.archive.parent / "bridge" / f"{id}.jsonl"
    journal.file.parent.mkdir(parents=True, exist_ok=True)
    journal.write(
        "start", agent="scripted", source="claude-code", project=str(archive_reader.project)
    )
    return journal


def test_after_a_restart_queued_prompts_wait_and_are_shown(archive_reader: Desk) -> None:
    async def story() -> None:
        await leave_queue(archive_reader, "echo two", "echo three")
        async with restarted(archive_reader) as session:
            status = session.status
            assert (status.state, status.held) == ("permission", True)
            assert [queued.text for queued in status.queue] == ["echo two", "echo three"]
            assert status.recovered == ["p2", "p3"]
            ask = yes_of(session)
            assert "2 prompts" in ask.title and ask.detail == "echo two\n\necho three"
            assert [option.name for option in ask.options] == [
                "Give them to the agent",
                "Take them back",
            ]
            await nothing_starts(session)

    run(story())
    assert archive_reader.given_prompts() == ["forever"]


def test_one_yes_gives_all_of_them_in_order(archive_reader: Desk) -> None:
    async def story() -> None:
        await leave_queue(archive_reader, "echo two", "echo three")
        async with restarted(archive_reader) as session:
            await session.send(Prompt("p4", "echo four"), "web")
            await nothing_starts(session)
            assert session.status.recovered == ["p2", "p3"], "what was just sent needs no yes"
            await session.answer(yes_of(session).id, AskAnswer(option="give"), "web")
            await until(lambda: not session.log.waiting and session.log.turn is None)
            assert session.status.recovered == [] and session.status.asks == []

    run(story())
    assert archive_reader.given_prompts() == ["forever", "echo two", "echo three", "echo four"]
    assert archive_reader.kinds("proceed")[0]["by"] == "web"


def test_the_yes_of_one_conversation_is_not_that_of_another(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.bridge() as bridge:
            for id in ("one", "two"):
                session = await archive_reader.start(bridge, id)
                await session.send(Prompt(f"{id}-1", "forever"), "web")
                await session.send(Prompt(f"{id}-2", f"echo {id}"), "web")
            await until(lambda: all(session.status.blocks for session in bridge.sessions()))
        async with archive_reader.bridge() as bridge:
            assert {session.state for session in bridge.sessions()} == {"permission"}
            one, two = bridge.session("one"), bridge.session("two")
            await one.proceed("web")
            await until(lambda: not one.log.waiting)
            assert two.status.recovered == ["two-2"] and not two.runs

    run(story())
    assert (
        "echo one" in archive_reader.given_prompts()
        and "echo two" not in archive_reader.given_prompts()
    )


def test_they_can_be_edited_and_taken_back_before_the_yes(archive_reader: Desk) -> None:
    async def story() -> None:
        await leave_queue(archive_reader, "echo two", "echo three", "echo four")
        async with restarted(archive_reader) as session:
            before = yes_of(session).id
            await session.edit("p2", "echo second", "web")
            await session.withdraw("p3", "web")
            with pytest.raises(RirekiError, match="changed meanwhile"):
                await session.answer(before, AskAnswer(option="give"), "web")
            assert not session.runs
            assert yes_of(session).detail == "echo second\n\necho four"
            await session.answer(yes_of(session).id, AskAnswer(option="give"), "web")
            await until(lambda: not session.log.waiting and session.log.turn is None)

    run(story())
    assert archive_reader.given_prompts() == ["forever", "echo second", "echo four"]


def test_they_can_all_be_taken_back_and_stay_in_the_journal(archive_reader: Desk) -> None:
    async def story() -> None:
        await leave_queue(archive_reader, "echo two", "echo three")
        async with restarted(archive_reader) as session:
            ask = yes_of(session).id
            with pytest.raises(RirekiError, match="not among the options"):
                await session.answer(ask, AskAnswer(), "web")
            await session.answer(ask, AskAnswer(option="take_back"), "web")
            assert session.state == "ended" and session.status.queue == []
            with pytest.raises(NotFound):
                await session.answer(ask, AskAnswer(option="give"), "web")
            await session.send(Prompt("p9", "echo fresh"), "web")
            await until(lambda: not session.log.waiting and session.log.turn is None)

    run(story())
    assert archive_reader.given_prompts() == ["forever", "echo fresh"]
    assert [entry["id"] for entry in archive_reader.kinds("withdraw")] == ["p2", "p3"]
    assert {entry["text"] for entry in archive_reader.kinds("prompt")} >= {"echo two", "echo three"}


@pytest.mark.parametrize("way", ["send", "restart", "again"])
def test_nothing_but_the_yes_gives_them(archive_reader: Desk, way: str) -> None:
    async def story() -> None:
        await leave_queue(archive_reader, "echo two")
        async with restarted(archive_reader) as session:
            if way == "send":
                await session.send(Prompt("p3", "echo three"), "web")
            elif way == "again":
                # As a page does that never heard of the acknowledgement.
                assert (await session.send(Prompt("p2", "echo two"), "web")).known
            else:
                await session.restart("web")
                await until(lambda: session.runs)
                await reach(session, "permission")
            await asyncio.sleep(0.3)
            assert "p2" in session.status.recovered and session.state == "permission"

    run(story())
    assert archive_reader.given_prompts() == ["forever"]


def test_they_are_still_there_after_many_restarts(archive_reader: Desk) -> None:
    async def story() -> None:
        await leave_queue(archive_reader, "echo two")
        for _ in range(3):
            async with restarted(archive_reader) as session:
                assert session.status.recovered == ["p2"]
        async with restarted(archive_reader) as session:
            await session.proceed("web")
            await until(lambda: not session.log.waiting and session.log.turn is None)

    run(story())
    assert archive_reader.given_prompts() == ["forever", "echo two"]


def test_prompts_held_by_a_kill_are_shown_after_a_restart_too(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "forever"), "web")
            await session.send(Prompt("p2", "echo two"), "web")
            await until(lambda: session.status.blocks)
            await session.kill("web")
        async with restarted(archive_reader) as session:
            assert session.status.recovered == ["p2"]

    run(story())


def test_they_are_not_forgotten_while_nobody_looks(archive_reader: Desk) -> None:
    async def story() -> None:
        await leave_queue(archive_reader, "echo two")
        async with archive_reader.bridge(idle_after=0.1) as bridge:
            await asyncio.sleep(0.5)
            assert [session.state for session in bridge.sessions()] == ["permission"]

    run(story())


@pytest.mark.parametrize(
    "last",
    [
        (),
        (("state", {"state": "ended"}),),
        (("state", {"state": "starting"}), ("proceed", {})),
        (("state", {"state": "failed"}),),
    ],
    ids=["open", "ended", "proceed", "failed"],
)
def test_nothing_that_a_foreign_journal_says_stands_for_a_yes(
    archive_reader: Desk, last: tuple[tuple[str, dict[str, Any]], ...]
) -> None:
    journal = foreign(archive_reader)
    journal.send("evil", "echo evil", given=False)
    for kind, more in last:
        journal.write(kind, **more)

    async def story() -> None:
        async with archive_reader.bridge() as bridge:
            session = bridge.session("foreign")
            await nothing_starts(session)
            await session.send(Prompt("mine", "echo mine"), "web")
            await nothing_starts(session)
            assert session.status.recovered == ["evil"]
            await session.withdraw("evil", "web")
            await session.proceed("web")
            await until(lambda: not session.log.waiting and session.log.turn is None)

    run(story())
    assert archive_reader.given_prompts() == ["echo mine"]


def test_a_journal_that_cannot_be_opened_keeps_no_bridge_from_starting(
    archive_reader: Desk,
) -> None:
    journal = foreign(archive_reader)
    journal.file.with_suffix(".jsonl.lock").mkdir()
    other = foreign(archive_reader, "other")
    other.send("p1", "echo one", given=False)

    async def story() -> None:
        async with archive_reader.bridge() as bridge:
            assert "other" in [session.id for session in bridge.sessions()]

    run(story())


def test_a_turn_that_nobody_ended_is_ended_before_the_next_begins(archive_reader: Desk) -> None:
    """As when a chat at a terminal was killed while a server ran."""

    async def story() -> None:
        async with archive_reader.bridge() as bridge:
            journal = foreign(archive_reader)
            journal.send("p1", "echo one")
            session = bridge.session("foreign")
            await session.send(Prompt("p2", "echo two"), "web")
            await until(lambda: not session.log.waiting and session.log.turn is None)

    run(story())
    reasons = [(e["prompt"], e["reason"]) for e in archive_reader.kinds("turn_end", id="foreign")]
    assert reasons == [("p1", "interrupted"), ("p2", "end_turn")]


def test_an_ended_journal_is_not_read_again(archive_reader: Desk, tmp_path: Path) -> None:
    """By its last line: a folder may hold thousands."""
    journal = foreign(archive_reader)
    journal.write("state", state="ended", detail="")
    assert ended(journal.file)
    journal.write("state", state="ended", detail="", waiting=1)
    assert not ended(journal.file)


def test_listeners_hear_of_the_yes(archive_reader: Desk) -> None:
    async def story() -> None:
        await leave_queue(archive_reader, "echo two")
        bridge = Bridge(archive_reader.settings())
        await bridge.open()
        (session,) = bridge.sessions()
        before = session.touched
        await session.proceed("web")
        assert session.touched > before
        await until(lambda: not session.log.waiting and session.log.turn is None)
        await bridge.close()

    run(story())
