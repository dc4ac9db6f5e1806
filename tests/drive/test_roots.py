"""Roots are asked at every start of an agent's process, not only when its conversation began."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from rireki.drive.bridge import Bridge
from rireki.drive.session import Session
from rireki.drive.values import Prompt
from tests.drive.conftest import Desk, reach, run, say


async def refused(session: Session) -> str:
    """It is stored, nothing is started, and the reason is told."""
    await session.send(Prompt("later", "echo later"), "web")
    await reach(session, "failed")
    assert [queued.id for queued in session.status.queue] == ["later"]
    return session.status.detail


async def begun(desk: Desk) -> None:
    async with desk.session() as session:
        await say(session, "echo hello")


def narrower(desk: Desk) -> Bridge:
    inside = desk.folder / "inside"
    inside.mkdir()
    return Bridge(msgspec.structs.replace(desk.settings(), roots=(inside,)))


def test_a_restart_with_narrower_roots_starts_nothing_outside_of_them(desk: Desk) -> None:
    async def story() -> None:
        await begun(desk)
        bridge = narrower(desk)
        await bridge.open()
        assert "lies outside of the directories" in await refused(bridge.session("one"))
        await bridge.close()

    run(story())
    assert desk.given_prompts() == ["echo hello"]


def test_nor_does_starting_the_agent_again(desk: Desk) -> None:
    async def story() -> None:
        await begun(desk)
        bridge = narrower(desk)
        await bridge.open()
        session = bridge.session("one")
        await session.restart("web")
        await reach(session, "failed")
        assert "lies outside" in session.status.detail
        await bridge.close()

    run(story())
    assert len(desk.kinds("process")) == 1


@pytest.mark.parametrize("where", ["outside", "inside"])
def test_a_directory_that_was_replaced_by_a_link_is_refused(
    desk: Desk, tmp_path_factory: pytest.TempPathFactory, where: str
) -> None:
    """Also by one that leads to another place below the roots: nobody chose that one."""
    other = tmp_path_factory.mktemp("other") if where == "outside" else desk.folder / "other"
    other.mkdir(exist_ok=True)

    async def story() -> None:
        async with desk.session() as session:
            await say(session, "echo hello")
            await session.kill()
            shutil.rmtree(desk.project)
            desk.project.symlink_to(other)
            detail = await refused(session)
            assert ("lies outside" if where == "outside" else str(other)) in detail
            desk.project.unlink()
            desk.project.mkdir()
            await session.proceed("web")
            await reach(session, "idle")

    run(story())
    assert desk.given_prompts() == ["echo hello", "echo later"]


def test_a_directory_that_is_gone_is_told(desk: Desk) -> None:
    async def story() -> None:
        async with desk.session() as session:
            await say(session, "echo hello")
            await session.kill()
            Path(desk.project).rmdir()
            assert "no directory" in await refused(session)

    run(story())
