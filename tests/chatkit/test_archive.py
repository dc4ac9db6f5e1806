"""A store's threads are conversations of the archive: when it closes, as it is written, until erased."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.open import open_archive
from rireki.chatkit import RirekiStore
from rireki.chatkit.conformance.samples import attachment, reply, thread, typed
from rireki.chatkit.importing import take_in_store
from rireki.intake.forget import forget
from rireki.intake.interpret import read_conversation
from rireki.intake.pending import interpret_pending
from rireki.intake.progress import Silent
from rireki.intake.take import take_origin
from rireki.live import keeper_work
from rireki.model.conversation import Conversation
from rireki.sources.chatkit import READER
from rireki.sources.kit.places import Places
from rireki.sources.kit.sqlite import Database
from rireki.sources.reader import Known, Origin, Roll, Update
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


@pytest.mark.parametrize("known", [True, False])
def test_a_keeper_that_has_just_read_does_not_bring_back_what_was_erased(
    place: Path, known: bool
) -> None:
    """It read the rows before they were erased, and keeps them after: whether it knew of them or not."""

    class Late:
        """The reader, and a thread that is erased while its rows are on their way."""

        family = READER.family

        def __init__(self, erase: Callable[[], Any]) -> None:
            self.erase = erase

        def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
            updates = list(READER.read(origin, known))
            self.erase()
            yield from updates

    store = _store(place, erase=True)

    async def talk() -> None:
        await _talk(store)
        if known:
            await asyncio.to_thread(take_in_store, place, store.path)
            await store.add_thread_item(THREAD, reply(3), ALICE)
        else:
            open_archive(place, create=True).close()

    async def erase() -> None:
        await store.delete_thread(THREAD, ALICE)

    asyncio.run(talk())
    assert (_found(place) is not None) == known
    late: Any = Late(lambda: asyncio.run(erase()))
    with closing(open_archive(place)) as archive:
        (origin,) = READER.recognise(store.path)
        assert take_origin(archive, late, origin).trouble is None
        assert list(interpret_pending(archive, Silent(), None)) == []
        assert list(archive.groups()) == [], "its records are there"
    asyncio.run(store.close())
    assert _found(place) is None


def test_what_was_deleted_and_then_forgotten_goes_from_the_store_as_well(place: Path) -> None:
    secret = "a phrase that nobody else says"
    said = [{"type": "output_text", "text": secret}]

    async def delete() -> None:
        async with _store(place) as store:
            await _talk(store)
            await store.add_thread_item(THREAD, reply(3, content=said), ALICE)
            await store.save_thread(thread("thr_0000000b"), ALICE)
            await store.add_thread_item("thr_0000000b", reply(4), ALICE)
            await store.delete_thread(THREAD, ALICE)
            await store.delete_thread_item("thr_0000000b", reply(4).id, ALICE)

    async def look() -> None:
        async with _store(place) as store:
            assert len((await store.load_threads(9, None, "asc", ALICE)).data) == 1

    def held(words: str) -> bool:
        return any(words.encode() in file.read_bytes() for file in place.parent.glob("chatkit/*"))

    asyncio.run(delete())
    assert held(secret), "the archive may want it still"
    with closing(open_archive(place)) as archive:
        forget(archive, archive.find(f"chatkit/{THREAD}"))
    asyncio.run(look())
    assert not held(secret)
    assert held("answer 4"), "nobody said to forget that"


def test_what_is_said_is_found_while_the_store_is_open(kept: Kept, place: Path) -> None:
    kept.start(index=True)

    async def talk() -> None:
        async with _store(place) as store:
            await _talk(store)
            said = [{"type": "output_text", "text": "今日は夕焼けがきれい"}]
            await store.add_thread_item(THREAD, reply(3, content=said), ALICE)
            await asyncio.to_thread(until, lambda: _search("夕焼け"), "what was said")

    def _search(words: str) -> bool:
        command = [sys.executable, "-m", "rireki", "search", words, "--archive", str(place)]
        found = subprocess.run(command, capture_output=True, text=True)
        assert found.returncode in (0, 1), found.stderr
        return "Where we met" in found.stdout

    asyncio.run(talk())


def test_only_threads_that_changed_are_looked_at(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many others there are."""
    others = [f"thr_1000000{number}" for number in range(9)]
    fetched: list[tuple[str, int]] = []

    def counted(self: Database, statement: str, values: Any = ()) -> Any:
        found = rows_of(self, statement, values)
        fetched.append((statement, len(found)))
        return found

    rows_of = Database.rows

    async def talk() -> int:
        async with _store(place) as store:
            await _talk(store)
            for id in others:
                await store.save_thread(thread(id), ALICE)
                items = [reply(n, thread_id=id) for n in range(20)]
                await store.add_thread_items(id, items, ALICE)
            await asyncio.to_thread(take_in_store, place, store.path)
            await store.add_thread_item(THREAD, reply(3), ALICE)
            monkeypatch.setattr(Database, "rows", counted)
            await asyncio.to_thread(take_in_store, place, store.path)
            monkeypatch.undo()
            return sum(count for statement, count in fetched if 'FROM "items"' in statement)

    # Listed, then fetched.
    assert asyncio.run(talk()) == 2 * 3
    with closing(open_archive(place)) as archive:
        counts = {one.native_id: one.entries for one in archive.conversations()}
    assert counts == {THREAD: 3, **dict.fromkeys(others, 20)}


def test_a_file_that_is_renamed_later_is_told_anew(place: Path) -> None:
    """A change of its row alone is a change of the thread that it was sent in."""

    async def talk() -> None:
        async with _store(place) as store:
            await store.save_thread(thread(), ALICE)
            await store.save_attachment(attachment(), ALICE)
            await store.add_thread_item(THREAD, typed(1, (attachment(),)), ALICE)
        async with _store(place) as store:
            await store.save_attachment(attachment(name="renamed.txt"), ALICE)

    asyncio.run(talk())
    with closing(open_archive(place)) as archive:
        (strand,) = archive.strands("chatkit", THREAD)
        assert len(strand.states) == 2
        told = b"".join(record.data for record in strand.story("attachments"))
        assert b"notes.txt" in told and b"renamed.txt" in told


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
    monkeypatch.setattr(keeper_work, "CALM", 3600.0)
    monkeypatch.setattr(keeper_work, "EAGER", 3600.0)
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
