"""Starting and finding conversations: what is refused, and what the same id comes to."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from rireki.drive.bridge import Bridge
from rireki.errors import NotFound, RirekiError
from tests.drive.conftest import Desk, reach, run, say


async def refused(bridge: Bridge, project: Path | str, agent: str = "scripted", **more: str) -> str:
    with pytest.raises(RirekiError) as caught:
        await bridge.start("new", str(project), agent, by="test", **more)
    assert caught.value.hint, "a way out is told"
    return caught.value.message


def test_directories_that_agents_may_not_work_in_are_refused(archive_reader: Desk) -> None:
    inside = archive_reader.folder / "inside"
    inside.mkdir()
    file = inside / "file"
    file.write_text("")
    (inside / "out").symlink_to("/")
    (inside / "round").symlink_to(archive_reader.project)

    async def story() -> None:
        settings = msgspec.structs.replace(archive_reader.settings(), roots=(inside,))
        bridge = Bridge(settings)
        await bridge.open()
        assert "not an absolute path" in await refused(bridge, "inside")
        assert "not an absolute path" in await refused(bridge, "--help")
        assert "no directory" in await refused(bridge, inside / "missing")
        assert "not a directory" in await refused(bridge, file)
        assert "outside" in await refused(bridge, archive_reader.project)
        assert "outside" in await refused(bridge, inside / "out")
        assert "outside" in await refused(bridge, inside / ".." / "project")
        assert "outside" in await refused(bridge, inside / "round")
        assert "outside" in await refused(bridge, f"{inside}-not")
        assert bridge.sessions() == []
        await bridge.close()

    (archive_reader.folder / "inside-not").mkdir()
    run(story())
    assert not list((archive_reader.archive.parent / "bridge").glob("*.jsonl"))


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may read everything")
def test_a_directory_that_may_not_be_read_is_refused(archive_reader: Desk) -> None:
    closed = archive_reader.folder / "closed"
    closed.mkdir(0o000)

    async def story() -> None:
        async with archive_reader.bridge() as bridge:
            assert "may not be read" in await refused(bridge, closed)

    run(story())


def test_agents_that_are_not_there_are_refused_with_the_reason(archive_reader: Desk) -> None:
    missing = msgspec.structs.replace(
        archive_reader.agent("missing"), found=False, reason="missing is not on PATH: install it"
    )

    async def story() -> None:
        async with archive_reader.bridge(archive_reader.agent(), missing) as bridge:
            assert "no agent 'nobody'" in await refused(bridge, archive_reader.project, "nobody")
            assert "cannot be started" in await refused(bridge, archive_reader.project, "missing")

    run(story())


def test_nothing_that_looks_like_an_option_is_passed_on(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.bridge() as bridge:
            assert "model" in await refused(bridge, archive_reader.project, model="--dangerously")
            assert "conversation" in await refused(
                bridge, archive_reader.project, continues="claude-code/--resume"
            )
            for id in ("-x", "../x", "a/b", "", "x" * 65):
                with pytest.raises(RirekiError, match="cannot be the id"):
                    await archive_reader.start(bridge, id)

    run(story())


def test_the_same_id_gives_the_same_session(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.bridge() as bridge:
            first = await archive_reader.start(bridge)
            assert await archive_reader.start(bridge) is first
            other = archive_reader.folder / "other"
            other.mkdir()
            with pytest.raises(RirekiError, match="there is a conversation one already"):
                await bridge.start("one", str(other), "scripted", by="test")
        async with archive_reader.bridge() as bridge:
            await archive_reader.start(bridge)

    run(story())
    assert len(archive_reader.kinds("start")) == 1


def test_an_archived_conversation_is_continued(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await say(session, "echo first")
            conversation = session.conversation
        async with archive_reader.bridge() as bridge:
            session = await archive_reader.start(bridge, "two", continues=conversation)
            assert session.conversation == conversation
            await say(session, "echo second")
            assert "driven already" in await refused(
                bridge, archive_reader.project, continues=conversation
            )

    run(story())
    (transcript,) = archive_reader.transcripts.rglob("*.jsonl")
    assert "first" in transcript.read_text() and "second" in transcript.read_text()
    assert archive_reader.kinds("start", id="two")[0]["continues"] == transcript.stem
    assert archive_reader.said("two") == "second"


def test_a_conversation_that_cannot_be_continued_is_refused_with_a_way_out(
    archive_reader: Desk,
) -> None:
    async def story() -> None:
        async with archive_reader.bridge() as bridge:
            assert "cannot go on" in await refused(
                bridge, archive_reader.project, continues="kiro/x"
            )
            assert "driven from here" in await refused(
                bridge, archive_reader.project, continues="bridge/x"
            )
            lost = await archive_reader.start(bridge, "lost", continues="claude-code/nowhere")
            await reach(lost, "failed")
            assert "Resource not found" in lost.status.detail
        async with archive_reader.bridge(
            archive_reader.agent(SCRIPT_CANNOT="load resume")
        ) as bridge:
            session = await archive_reader.start(bridge, "unable", continues="claude-code/x")
            await reach(session, "failed")
            assert "cannot go on with a conversation" in session.status.detail

    run(story())


def test_what_nobody_drives_is_not_found(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.bridge() as bridge:
            for id in ("nobody", "bridge/nobody", "claude-code/nobody"):
                with pytest.raises(NotFound):
                    bridge.session(id)

    run(story())


def test_a_session_whose_agent_was_removed_from_the_settings_says_so(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await say(session, "echo hello")
        async with archive_reader.bridge(archive_reader.agent("another")) as bridge:
            session = bridge.session("one")
            await session.restart()
            await reach(session, "failed")
            assert "no agent 'scripted' in the settings" in session.status.detail

    run(story())
