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


def test_directories_that_agents_may_not_work_in_are_refused(desk: Desk) -> None:
    inside = desk.folder / "inside"
    inside.mkdir()
    file = inside / "file"
    file.write_text("")
    (inside / "out").symlink_to("/")
    (inside / "round").symlink_to(desk.project)

    async def story() -> None:
        settings = msgspec.structs.replace(desk.settings(), roots=(inside,))
        bridge = Bridge(settings)
        await bridge.open()
        assert "not an absolute path" in await refused(bridge, "inside")
        assert "not an absolute path" in await refused(bridge, "--help")
        assert "no directory" in await refused(bridge, inside / "missing")
        assert "not a directory" in await refused(bridge, file)
        assert "outside" in await refused(bridge, desk.project)
        assert "outside" in await refused(bridge, inside / "out")
        assert "outside" in await refused(bridge, inside / ".." / "project")
        assert "outside" in await refused(bridge, inside / "round")
        assert "outside" in await refused(bridge, f"{inside}-not")
        assert bridge.sessions() == []
        await bridge.close()

    (desk.folder / "inside-not").mkdir()
    run(story())
    assert not list((desk.archive.parent / "bridge").glob("*.jsonl"))


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may read everything")
def test_a_directory_that_may_not_be_read_is_refused(desk: Desk) -> None:
    closed = desk.folder / "closed"
    closed.mkdir(0o000)

    async def story() -> None:
        async with desk.bridge() as bridge:
            assert "may not be read" in await refused(bridge, closed)

    run(story())


def test_agents_that_are_not_there_are_refused_with_the_reason(desk: Desk) -> None:
    missing = msgspec.structs.replace(
        desk.agent("missing"), found=False, reason="missing is not on PATH: install it"
    )

    async def story() -> None:
        async with desk.bridge(desk.agent(), missing) as bridge:
            assert "no agent 'nobody'" in await refused(bridge, desk.project, "nobody")
            assert "cannot be started" in await refused(bridge, desk.project, "missing")

    run(story())


def test_nothing_that_looks_like_an_option_is_passed_on(desk: Desk) -> None:
    async def story() -> None:
        async with desk.bridge() as bridge:
            assert "model" in await refused(bridge, desk.project, model="--dangerously")
            assert "conversation" in await refused(
                bridge, desk.project, continues="claude-code/--resume"
            )
            for id in ("-x", "../x", "a/b", "", "x" * 65):
                with pytest.raises(RirekiError, match="cannot be the id"):
                    await desk.start(bridge, id)

    run(story())


def test_the_same_id_gives_the_same_session(desk: Desk) -> None:
    async def story() -> None:
        async with desk.bridge() as bridge:
            first = await desk.start(bridge)
            assert await desk.start(bridge) is first
            other = desk.folder / "other"
            other.mkdir()
            with pytest.raises(RirekiError, match="there is a conversation one already"):
                await bridge.start("one", str(other), "scripted", by="test")
        async with desk.bridge() as bridge:
            await desk.start(bridge)

    run(story())
    assert len(desk.kinds("start")) == 1


def test_an_archived_conversation_is_continued(desk: Desk) -> None:
    async def story() -> None:
        async with desk.session() as session:
            await say(session, "echo first")
            conversation = session.conversation
        async with desk.bridge() as bridge:
            session = await desk.start(bridge, "two", continues=conversation)
            assert session.conversation == conversation
            await say(session, "echo second")
            assert "driven already" in await refused(bridge, desk.project, continues=conversation)

    run(story())
    (transcript,) = desk.transcripts.rglob("*.jsonl")
    assert "first" in transcript.read_text() and "second" in transcript.read_text()
    assert desk.kinds("start", id="two")[0]["continues"] == transcript.stem
    assert desk.said("two") == "second"


def test_a_conversation_that_cannot_be_continued_is_refused_with_a_way_out(desk: Desk) -> None:
    async def story() -> None:
        async with desk.bridge() as bridge:
            assert "cannot go on" in await refused(bridge, desk.project, continues="kiro/x")
            assert "driven from here" in await refused(bridge, desk.project, continues="bridge/x")
            lost = await desk.start(bridge, "lost", continues="claude-code/nowhere")
            await reach(lost, "failed")
            assert "Resource not found" in lost.status.detail
        async with desk.bridge(desk.agent(SCRIPT_CANNOT="load resume")) as bridge:
            session = await desk.start(bridge, "unable", continues="claude-code/x")
            await reach(session, "failed")
            assert "cannot go on with a conversation" in session.status.detail

    run(story())


def test_what_nobody_drives_is_not_found(desk: Desk) -> None:
    async def story() -> None:
        async with desk.bridge() as bridge:
            for id in ("nobody", "bridge/nobody", "claude-code/nobody"):
                with pytest.raises(NotFound):
                    bridge.session(id)

    run(story())


def test_a_session_whose_agent_was_removed_from_the_settings_says_so(desk: Desk) -> None:
    async def story() -> None:
        async with desk.session() as session:
            await say(session, "echo hello")
        async with desk.bridge(desk.agent("another")) as bridge:
            session = bridge.session("one")
            await session.restart()
            await reach(session, "failed")
            assert "no agent 'scripted' in the settings" in session.status.detail

    run(story())
