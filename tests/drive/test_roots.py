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


async def begun(archive_reader: Desk) -> None:
    async with archive_reader.session() as session:
        await say(session, "echo hello")


def narrower(archive_reader: Desk) -> Bridge:
    inside = archive_reader.folder / "inside"
    inside.mkdir()
    return Bridge(msgspec.structs.replace(archive_reader.settings(), roots=(inside,)))


def test_a_restart_with_narrower_roots_starts_nothing_outside_of_them(archive_reader: Desk) -> None:
    async def story() -> None:
        await begun(archive_reader)
        bridge = narrower(archive_reader)
        await bridge.open()
        assert "lies outside of the directories" in await refused(bridge.session("one"))
        await bridge.close()

    run(story())
    assert archive_reader.given_prompts() == ["echo hello"]


def test_nor_does_starting_the_agent_again(archive_reader: Desk) -> None:
    async def story() -> None:
        await begun(archive_reader)
        bridge = narrower(archive_reader)
        await bridge.open()
        session = bridge.session("one")
        await session.restart("web")
        await reach(session, "failed")
        assert "lies outside" in session.status.detail
        await bridge.close()

    run(story())
    assert len(archive_reader.kinds("process")) == 1


@pytest.mark.parametrize("where", ["outside", "inside"])
def test_a_directory_that_was_replaced_by_a_link_is_refused(
    archive_reader: Desk, tmp_path_factory: pytest.TempPathFactory, where: str
) -> None:
    """Also by one that leads to another place below the roots: nobody chose that one."""
    other = (
        tmp_path_factory.mktemp("other") if where == "outside" else archive_reader.folder / "other"
    )
    other.mkdir(exist_ok=True)

    async def story() -> None:
        async with archive_reader.session() as session:
            await say(session, "echo hello")
            await session.kill()
            shutil.rmtree(archive_reader.project)
            archive_reader.project.symlink_to(other)
            detail = await refused(session)
            assert ("lies outside" if where == "outside" else str(other)) in detail
            archive_reader.project.unlink()
            archive_reader.project.mkdir()
            await session.proceed("web")
            await reach(session, "idle")

    run(story())
    assert archive_reader.given_prompts() == ["echo hello", "echo later"]


def test_a_directory_that_is_gone_is_told(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await say(session, "echo hello")
            await session.kill()
            Path(archive_reader.project).rmdir()
            assert "no directory" in await refused(session)

    run(story())
