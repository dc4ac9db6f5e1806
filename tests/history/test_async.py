"""The same methods for an event loop, which never waits for them; in order."""

from __future__ import annotations

import asyncio
import inspect
import threading
from pathlib import Path
from typing import Any

import pytest

from rireki import AsyncMessageHistory, MessageHistory
from rireki.errors import RirekiError
from tests.history.conftest import calls

PLAIN = {name for name, _ in inspect.getmembers(MessageHistory, inspect.isfunction)}


def public(names: set[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def test_every_method_is_there_with_the_same_arguments() -> None:
    # A transaction is for one thread alone: it goes through `run`.
    for name in public(PLAIN) - {"transaction"}:
        twin = getattr(AsyncMessageHistory, name)
        assert inspect.iscoroutinefunction(twin), name
        ours = inspect.signature(getattr(MessageHistory, name)).parameters
        assert [*inspect.signature(twin).parameters.values()] == [*ours.values()], name
    opened = inspect.signature(AsyncMessageHistory.open).parameters
    assert [*opened.values()] == [*inspect.signature(MessageHistory.open).parameters.values()]
    for name, value in vars(MessageHistory).items() | {("id", MessageHistory.id)}:
        if isinstance(value, property):
            assert isinstance(getattr(AsyncMessageHistory, name), property), name


def test_calls_that_were_made_together_keep_their_order(place: Path) -> None:
    async def main() -> list[Any]:
        async with await AsyncMessageHistory.open("x", archive=place) as history:
            await asyncio.gather(*(history.add_user_message(str(n)) for n in range(100)))
            await history.add_raw_message(calls("a"))
            assert [call.id for call in await history.pending_calls()] == ["a"]
            assert len(await history.repair()) == 1
            copy = await history.fork("y")
            assert len(copy.messages) == 102
            await copy.close()
            other = await AsyncMessageHistory.open("x", archive=place)
            assert len(other.messages) == 102, "handles of one process share a history"
            await other.close()
            await history.set_title("T")
            assert history.title == "T" and history.id == "x" and history.troubles == []
            return await history.get_messages()

    said = [message["content"] for message in asyncio.run(main())]
    assert said[:100] == [str(number) for number in range(100)]
    with MessageHistory.open("x", archive=place, read_only=True) as again:
        assert [m["content"] for m in again.messages] == said


def test_the_loop_goes_on_while_the_disk_is_slow(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    write, gate = os.write, threading.Event()

    def slow(file: int, data: bytes) -> int:
        if b'"seq"' in data:
            assert gate.wait(30)
        return write(file, data)

    async def main() -> None:
        history = await AsyncMessageHistory.open("x", archive=place)
        monkeypatch.setattr(os, "write", slow)
        adding = asyncio.create_task(history.add_user_message("slow"))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not adding.done()
        gate.set()
        await adding
        await history.close()

    asyncio.run(main())


def test_a_closed_history_says_so_and_may_be_closed_again(place: Path) -> None:
    async def main() -> None:
        async with await AsyncMessageHistory.open("x", archive=place) as history:
            await history.add_user_message("said")
            await history.close()
        with pytest.raises(RirekiError, match="the history x is closed"):
            await history.add_user_message("too late")
        assert len(await history.get_messages()) == 1

    asyncio.run(main())


def test_what_was_called_before_is_in_what_is_read(place: Path) -> None:
    """Reading takes no detour when nothing is under way, and waits when something is."""

    async def main() -> None:
        async with await AsyncMessageHistory.open("x", archive=place) as history:
            adding = [asyncio.create_task(history.add_user_message(str(n))) for n in range(20)]
            await asyncio.sleep(0)
            assert len(await history.get_messages()) == 20
            await asyncio.gather(*adding)
            assert len(await history.get_messages()) == 20

    asyncio.run(main())


def test_a_cancelled_caller_leaves_the_entry(place: Path) -> None:
    async def main() -> None:
        history = await AsyncMessageHistory.open("x", archive=place)
        adding = asyncio.create_task(history.add_user_message("said"))
        await asyncio.sleep(0)
        adding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await adding
        await history.add_user_message("next")
        await history.close()
        assert [m["content"] for m in history.messages][-1] == "next"

    asyncio.run(main())


def test_in_memory_it_needs_no_opening() -> None:
    async def main() -> int:
        history = AsyncMessageHistory()
        await history.add_user_message("a")
        await history.trim(turns=1)
        request = await history.render("openai")
        found, notes = await history.render("openai", report=True)
        assert request == found and notes == []
        await history.close()
        return len(history.messages)

    assert asyncio.run(main()) == 1
