"""What can go wrong with an agent, a disk or a crash: told, and nothing that was acknowledged is lost."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rireki.drive.acp import driver as acp_module
from rireki.drive.values import AskAnswer, Prompt
from rireki.errors import RirekiError
from tests.drive.conftest import Desk, asked, reach, run, say, until


def test_a_crash_keeps_what_was_said_and_tells_what_was_printed(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "crash"), "web")
            await session.send(Prompt("p2", "echo next"), "web")
            await reach(session, "failed")
            status = session.status
            assert "exit code 3" in status.detail
            assert "Segmentation fault of the soul" in status.detail
            assert status.held and [queued.id for queued in status.queue] == ["p2"]
            await session.restart()
            await until(lambda: len(archive_reader.kinds("turn_end")) == 2)

    run(story())
    assert [entry["reason"] for entry in archive_reader.kinds("turn_end")] == ["failed", "end_turn"]
    assert archive_reader.said() == "I was about tonext"
    assert archive_reader.given_prompts() == ["crash", "echo next"]


def test_sending_again_after_a_crash_starts_the_agent_again(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "crash"), "web")
            await reach(session, "failed")
            assert not (await session.send(Prompt("p2", "echo here"), "web")).known
            await until(lambda: len(archive_reader.kinds("turn_end")) == 2)

    run(story())
    assert archive_reader.said().endswith("here")


def test_a_crash_ends_what_was_asked(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "permission"), "web")
            ask = await asked(session)
            os.kill(archive_reader.kinds("process")[0]["pid"], signal.SIGKILL)
            await reach(session, "failed")
            assert "signal 9" in session.status.detail and not session.status.asks
            with pytest.raises(RirekiError, match="settled already: expired"):
                await session.answer(ask.id, AskAnswer(option="allow"), "web")

    run(story())
    assert archive_reader.kinds("result")[0]["status"] == "cancelled"


@pytest.mark.parametrize(("code", "state"), [(0, "ended"), (5, "failed")])
def test_an_agent_that_leaves_while_idle_is_noticed(
    archive_reader: Desk, code: int, state: str
) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await say(session, f"exit {code}")
            await until(lambda: session.state == state)
            await say(session, "echo again")

    run(story())
    assert archive_reader.said() == "Goodbye.again"


def test_garbage_on_stdout_costs_nothing_but_itself(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await say(session, "garbage")
            await say(session, "echo fine")
            await reach(session, "idle")

    run(story())
    assert archive_reader.said() == "before after \ufffdfine"


def test_a_very_long_line_is_a_message_like_any_other(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await say(session, "flood 3000000")

    run(story())
    assert len(archive_reader.said()) == 3_000_000


def test_a_prompt_that_the_agent_refuses_ends_the_turn_and_holds_the_rest(
    archive_reader: Desk,
) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "error"), "web")
            await session.send(Prompt("p2", "echo next"), "web")
            await until(lambda: archive_reader.kinds("turn_end"))
            await reach(session, "idle")
            assert session.status.held and "overloaded" in session.status.detail

    run(story())
    assert archive_reader.kinds("turn_end")[0]["reason"] == "failed"
    assert "the model is overloaded" in archive_reader.kinds("note")[0]["text"]
    assert archive_reader.given_prompts() == ["error"]


def test_words_on_stderr_are_no_trouble(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await say(session, "stderr")
            await reach(session, "idle")

    run(story())
    assert archive_reader.said() == "Said elsewhere."


@pytest.mark.parametrize(
    ("start", "why"), [("crash", "cannot find my own feet"), ("auth", "Authentication required")]
)
def test_an_agent_that_does_not_begin_has_failed_and_the_prompt_waits(
    archive_reader: Desk, start: str, why: str
) -> None:
    async def story() -> None:
        async with archive_reader.session(SCRIPT_START=start) as session:
            await session.send(Prompt("p1", "echo hello"), "web")
            await reach(session, "failed")
            assert why in session.status.detail
            assert [queued.id for queued in session.status.queue] == ["p1"]
            assert session.status.held

    run(story())
    assert archive_reader.given_prompts() == []


def test_an_agent_that_stays_silent_is_given_up(
    archive_reader: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acp_module, "BEGIN", 0.3)

    async def story() -> None:
        async with archive_reader.session(SCRIPT_START="silent") as session:
            await reach(session, "failed")
            assert "did not begin within" in session.status.detail

    run(story())


def test_starting_can_be_stopped(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session(SCRIPT_START="silent") as session:
            await session.send(Prompt("p1", "echo hello"), "web")
            await until(lambda: archive_reader.kinds("process"))
            await session.stop("web")
            assert session.state == "ended" and session.status.held

    run(story())


def test_a_crash_before_anything_was_saved_begins_anew(archive_reader: Desk) -> None:
    """The agent's own id of the first try leads nowhere: it had saved nothing."""

    async def story() -> None:
        agent = archive_reader.agent()
        async with archive_reader.bridge(agent) as bridge:
            session = await archive_reader.start(bridge)
            await reach(session, "idle")
            os.kill(archive_reader.kinds("process")[0]["pid"], signal.SIGKILL)
            await reach(session, "failed")
            await say(session, "echo hello")

    run(story())
    assert archive_reader.said() == "hello"
    assert len({entry["id"] for entry in archive_reader.kinds("session")}) == 2


def test_a_conversation_that_cannot_be_loaded_any_more_is_not_begun_anew(
    archive_reader: Desk,
) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await say(session, "echo hello")
            for transcript in archive_reader.transcripts.rglob("*.jsonl"):
                transcript.unlink()
            await session.restart()
            await reach(session, "failed")
            assert "Resource not found" in session.status.detail

    run(story())


@contextmanager
def full_disk(journal: Path, room: int) -> Iterator[None]:
    """The kernel lets no file grow beyond the journal's size and a little more."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (journal.stat().st_size + room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_on_a_full_disk_nothing_is_acknowledged_or_given(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await say(session, "echo before")
            await reach(session, "idle")
            journal = archive_reader.archive.parent / "bridge" / "one.jsonl"
            before = journal.read_bytes()
            with full_disk(journal, 20):
                with pytest.raises(RirekiError, match="could not be written"):
                    await session.send(Prompt("p1", "echo lost"), "web")
                assert not session.status.queue
            assert journal.read_bytes() == before
            assert not (await session.send(Prompt("p1", "echo found"), "web")).known
            await until(lambda: len(archive_reader.kinds("turn_end")) == 2)

    run(story())
    assert archive_reader.given_prompts() == ["echo before", "echo found"]


def test_what_the_agent_says_while_the_disk_is_full_is_kept_when_there_is_room(
    archive_reader: Desk,
) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "permission"), "web")
            ask = await asked(session)
            journal = archive_reader.archive.parent / "bridge" / "one.jsonl"
            with full_disk(journal, 200):
                # The answer still finds room, what follows does not.
                await session.answer(ask.id, AskAnswer(option="allow"), "web")
                await reach(session, "idle")
                assert "could not be written" in session.status.detail
                with pytest.raises(RirekiError, match="could not be written"):
                    await session.send(Prompt("p2", "echo no room"), "web")
            await say(session, "echo room again")
            assert not session.status.detail

    run(story())
    assert archive_reader.said() == "I was told: allow.room again"
    assert [entry["reason"] for entry in archive_reader.kinds("turn_end")] == [
        "end_turn",
        "end_turn",
    ]


def test_closing_the_bridge_interrupts_and_the_queue_goes_on_after_a_yes(
    archive_reader: Desk,
) -> None:
    async def first() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "forever"), "web")
            await session.send(Prompt("p2", "echo afterwards"), "web")
            await until(lambda: session.status.blocks)

    async def second() -> None:
        async with archive_reader.bridge() as bridge:
            (session,) = bridge.sessions()
            await session.proceed()
            await until(lambda: len(archive_reader.kinds("turn_end")) == 2)
            await reach(session, "idle")

    run(first())
    assert archive_reader.journal()[-1]["waiting"] == 1
    run(second())
    assert [entry["reason"] for entry in archive_reader.kinds("turn_end")] == [
        "interrupted",
        "end_turn",
    ]
    assert archive_reader.given_prompts() == ["forever", "echo afterwards"]


def test_what_has_ended_is_not_taken_up_again(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await say(session, "echo hello")

    run(story())
    before = archive_reader.journal()

    async def later() -> None:
        async with archive_reader.bridge() as bridge:
            assert bridge.sessions() == []
            assert bridge.session("one").state == "ended"
            assert bridge.session("bridge/one").id == "one"
            native = bridge.session("one").conversation
        async with archive_reader.bridge() as bridge:
            assert bridge.session(native).id == "one"

    run(later())
    assert archive_reader.journal() == before


def test_a_conversation_driven_by_another_process_is_left_alone(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.bridge() as first:
            session = await archive_reader.start(first)
            await session.send(Prompt("p1", "slow 1"), "web")
            await reach(session, "working")
            async with archive_reader.bridge() as second:
                assert second.sessions() == []
                seen = second.session("one")
                assert seen.status.prompt == "p1"
                with pytest.raises(RirekiError, match="is being driven by process"):
                    await seen.send(Prompt("p2", "echo me too"), "web")
            await until(lambda: archive_reader.kinds("turn_end"))

    run(story())
    assert archive_reader.said() == "Half of it, and the rest."


def test_many_sessions_at_once_keep_to_themselves(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.bridge() as bridge:
            sessions = [await archive_reader.start(bridge, f"s{i}") for i in range(6)]
            await asyncio.gather(*(say(s, "stream 200") for s in sessions))

    run(story())
    whole = "".join(f"piece {i} " for i in range(200))
    for i in range(6):
        assert archive_reader.said(f"s{i}") == whole


def test_the_bridge_can_be_closed_at_any_moment(archive_reader: Desk) -> None:
    """Right after a failure, right after a prompt: no process stays, no prompt is lost."""

    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "crash"), "web")
            await reach(session, "failed")
        async with archive_reader.bridge() as bridge:
            session = bridge.session("one")
            await session.send(Prompt("p2", "forever"), "web")
        async with archive_reader.bridge() as bridge:
            session = bridge.session("one")
            await session.proceed()
            await until(lambda: session.status.prompt == "p2" and session.status.blocks)
            await session.stop()
            await reach(session, "idle")

    run(story())
    assert archive_reader.given_prompts() == ["crash", "forever"]
    for entry in archive_reader.kinds("process"):
        with pytest.raises(ProcessLookupError):
            os.kill(entry["pid"], 0)
