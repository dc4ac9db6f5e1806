"""A store's threads are conversations of the archive: when it closes, as it is written, until erased."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.open import open_archive
from rireki.chatkit import RirekiStore
from rireki.faces.chatkit.conformance.samples import reply, thread, typed
from rireki.intake.understand import read_conversation
from rireki.live import keeping
from rireki.model.conversation import Conversation
from rireki.sources.kit.places import Places
from tests.chatkit.stores import Context, user_of
from tests.live.conftest import Kept, until

ALICE = {"user_id": "alice"}
THREAD = "thr_0000000a"


def _store(place: Path, **more: Any) -> RirekiStore[Context]:
    return RirekiStore(user_key=user_of, archive=place, sync="os", **more)


async def _talk(store: RirekiStore[Context]) -> None:
    await store.save_thread(thread(title="Where we met"), ALICE)
    await store.add_thread_item(THREAD, typed(1), ALICE)
    await store.add_thread_item(THREAD, reply(2), ALICE)


def _found(place: Path) -> Conversation | None:
    with closing(open_archive(place)) as archive:
        return next((one for one in archive.conversations() if one.native_id == THREAD), None)


def test_a_store_that_closes_is_in_the_archive(place: Path) -> None:
    async def talk() -> None:
        async with _store(place) as store:
            await _talk(store)

    asyncio.run(talk())
    found = _found(place)
    assert found and found.title == "Where we met" and found.turns == 1 and found.finished


def test_items_stand_in_the_archive_as_they_do_in_the_store(place: Path) -> None:
    """Although their clocks go back."""

    async def talk() -> None:
        async with _store(place) as store:
            await store.save_thread(thread(), ALICE)
            await store.add_thread_item(THREAD, typed(50), ALICE)
            await store.add_thread_item(THREAD, reply(3), ALICE)

    asyncio.run(talk())
    found = _found(place)
    assert found and found.finished, "the answer is the last word, whatever its clock says"


def test_an_erased_thread_is_forgotten_at_once(place: Path) -> None:
    async def talk() -> None:
        async with _store(place) as store:
            await _talk(store)
        assert _found(place)
        async with _store(place, erase=True) as store:
            await store.delete_thread(THREAD, ALICE)
            assert _found(place) is None

    asyncio.run(talk())
    assert _found(place) is None


def test_a_deleted_thread_stays_in_the_archive(place: Path) -> None:
    async def talk() -> None:
        async with _store(place) as store:
            await _talk(store)
            await store.delete_thread(THREAD, ALICE)

    asyncio.run(talk())
    found = _found(place)
    assert found and found.turns == 1, "also when it was gone before anybody looked"
    assert found.upstream == "gone"


def test_a_deleted_item_is_told_once_and_as_gone(place: Path) -> None:
    async def talk() -> None:
        async with _store(place) as store:
            await _talk(store)
        async with _store(place) as store:
            await store.delete_thread_item(THREAD, reply(2).id, ALICE)
            await store.add_thread_item(THREAD, reply(3), ALICE)

    asyncio.run(talk())
    with closing(open_archive(place)) as archive:
        reading = read_conversation(archive, archive.find(f"chatkit/{THREAD}"))
        told = reading.messages()
    said = [(one.id, one.upstream) for one in told if one.author != "harness"]
    assert said == [
        (typed(1).id, "present"),
        (reply(2).id, "gone"),
        (reply(3).id, "present"),
    ]


@pytest.fixture
def kept(place: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    # Only hints bring anything, from the end of the first import on.
    monkeypatch.setattr(keeping, "CALM", 3600.0)
    monkeypatch.setattr(keeping, "EAGER", 3600.0)
    kept = Kept(place, home)
    kept.places = Places.at(home).beside(place)
    yield kept
    for keeper in kept.keepers:
        keeper.stop()


def test_a_keeper_sees_a_thread_as_it_is_written(kept: Kept, place: Path) -> None:
    keeper = kept.start()

    async def talk() -> None:
        async with _store(place) as store:
            await _talk(store)
            await asyncio.to_thread(until, lambda: kept.turns(THREAD) == 1, "the first turn")
            await store.add_thread_item(THREAD, typed(3), ALICE)
            await store.add_thread_item(THREAD, reply(4), ALICE)
            await asyncio.to_thread(until, lambda: kept.turns(THREAD) == 2, "the second turn")

    asyncio.run(talk())
    assert not keeper.status.troubles
