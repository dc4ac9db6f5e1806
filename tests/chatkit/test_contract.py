"""What ChatKit's authors ask of a store in their own tests, asked of ours in our words."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from chatkit.store import NotFoundError, StoreItemType
from chatkit.types import Attachment, ThreadItem, ThreadMetadata
from pydantic import TypeAdapter

from rireki.chatkit import RirekiStore
from rireki.chatkit.conformance.samples import attachment, moment, reply, thread, typed
from tests.chatkit.stores import Context, ours, user_of

# ChatKit deprecates its widgets; a store has to keep them all the same.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ALICE, BOB = {"user_id": "alice"}, {"user_id": "bob"}
HEAD = thread("a thread of theirs", title="A talk", metadata={"from": "here"})
CARD = {"type": "Card", "children": [{"type": "Col", "children": [{"type": "Text", "value": "x"}]}]}

Ask = Callable[[RirekiStore[Context]], Awaitable[None]]


@pytest.fixture
def asked(tmp_path: Path) -> Callable[[Ask], None]:
    """Asks a store that is new."""

    def ask(question: Ask) -> None:
        async def run() -> None:
            async with ours(tmp_path) as store:
                await question(store)

        asyncio.run(run())

    return ask


def _items() -> list[ThreadItem]:
    value = {"id": "widget_1", "type": "widget", "thread_id": HEAD.id, "created_at": moment(3)}
    widget: ThreadItem = TypeAdapter(ThreadItem).validate_python(value | {"widget": CARD})
    return [typed(1, (attachment(),), thread_id=HEAD.id), reply(2, thread_id=HEAD.id), widget]


async def _filled(store: RirekiStore[Context], items: list[ThreadItem]) -> None:
    await store.save_thread(HEAD, ALICE)
    for item in items:
        await store.add_thread_item(HEAD.id, item, ALICE)


def test_a_thread_is_loaded_as_it_was_saved(asked: Callable[[Ask], None]) -> None:
    async def question(store: RirekiStore[Context]) -> None:
        await store.save_thread(HEAD, ALICE)
        assert await store.load_thread(HEAD.id, ALICE) == HEAD

    asked(question)


def test_a_thread_may_have_no_title(asked: Callable[[Ask], None]) -> None:
    async def question(store: RirekiStore[Context]) -> None:
        untitled = thread("untitled", metadata={"from": "here"})
        await store.save_thread(untitled, ALICE)
        loaded = await store.load_thread("untitled", ALICE)
        assert loaded.title is None and loaded.metadata == {"from": "here"}

    asked(question)


@pytest.mark.parametrize("times", [1, 2])
def test_the_last_title_counts(asked: Callable[[Ask], None], times: int) -> None:
    async def question(store: RirekiStore[Context]) -> None:
        head = HEAD.model_copy()
        await store.save_thread(head, ALICE)
        for number in range(times):
            head.title = f"Another title {number}"
            await store.save_thread(head, ALICE)
        assert (await store.load_thread(head.id, ALICE)).title == f"Another title {times - 1}"

    asked(question)


def test_items_are_loaded_as_they_were_added(asked: Callable[[Ask], None]) -> None:
    async def question(store: RirekiStore[Context]) -> None:
        await _filled(store, _items())
        page = await store.load_thread_items(HEAD.id, None, 10, "asc", ALICE)
        assert page.data == _items()

    asked(question)


@pytest.mark.parametrize(
    "value",
    [
        {"type": "file", "id": "file_1", "name": "test.txt", "mime_type": "text/plain"},
        {
            "type": "image",
            "id": "image_1",
            "name": "test.png",
            "mime_type": "image/png",
            "preview_url": "https://example.com/test.png",
        },
    ],
)
def test_an_attachment_is_loaded_as_it_was_saved(
    asked: Callable[[Ask], None], value: dict[str, Any]
) -> None:
    async def question(store: RirekiStore[Context]) -> None:
        file: Attachment = TypeAdapter(Attachment).validate_python(value)
        await store.save_attachment(file, ALICE)
        assert await store.load_attachment(file.id, ALICE) == file

    asked(question)


def test_threads_come_in_pages(asked: Callable[[Ask], None]) -> None:
    async def question(store: RirekiStore[Context]) -> None:
        for number in range(3):
            await store.save_thread(thread(f"thread{number}", created_at=moment(number)), ALICE)
        first = await store.load_threads(limit=2, after=None, order="asc", context=ALICE)
        assert [one.id for one in first.data] == ["thread0", "thread1"]
        assert first.has_more and first.after == "thread1"
        second = await store.load_threads(limit=2, after="thread1", order="asc", context=ALICE)
        assert [one.id for one in second.data] == ["thread2"]
        assert not second.has_more and not second.after

    asked(question)


def test_items_come_forwards_and_backwards(asked: Callable[[Ask], None]) -> None:
    async def question(store: RirekiStore[Context]) -> None:
        await _filled(store, _items())
        wanted = [item.id for item in _items()]
        for order, ids in (("asc", wanted), ("desc", wanted[::-1])):
            page = await store.load_thread_items(
                HEAD.id, after=None, limit=3, order=order, context=ALICE
            )
            assert [item.id for item in page.data] == ids

    asked(question)


def test_items_come_in_pages(asked: Callable[[Ask], None]) -> None:
    async def question(store: RirekiStore[Context]) -> None:
        await _filled(store, [reply(number, id=f"msg{number}") for number in range(5)])
        rest = await store.load_thread_items(HEAD.id, "msg1", 3, "asc", ALICE)
        assert [item.id for item in rest.data] == ["msg2", "msg3", "msg4"]
        assert not rest.has_more and not rest.after
        first = await store.load_thread_items(HEAD.id, None, 2, "asc", ALICE)
        assert [item.id for item in first.data] == ["msg0", "msg1"]
        assert first.has_more and first.after == "msg1"

    asked(question)


def test_an_item_that_is_saved_again_says_what_is_new(asked: Callable[[Ask], None]) -> None:
    async def question(store: RirekiStore[Context]) -> None:
        await _filled(store, [reply(2, content=[]), _items()[2]])
        await store.save_item(HEAD.id, reply(2), ALICE)
        await store.save_item(HEAD.id, _items()[2], ALICE)
        assert await store.load_item(HEAD.id, reply(2).id, ALICE) == reply(2)
        assert (await store.load_item(HEAD.id, "widget_1", ALICE)).type == "widget"

    asked(question)


def test_an_item_that_is_not_there_is_not_found(asked: Callable[[Ask], None]) -> None:
    async def question(store: RirekiStore[Context]) -> None:
        await store.save_thread(HEAD, ALICE)
        with pytest.raises(NotFoundError):
            await store.load_item(HEAD.id, "does_not_exist", ALICE)

    asked(question)


def test_a_thread_is_its_users_alone(asked: Callable[[Ask], None]) -> None:
    async def question(store: RirekiStore[Context]) -> None:
        await store.save_thread(HEAD, ALICE)
        assert (await store.load_thread(HEAD.id, ALICE)).title == HEAD.title
        with pytest.raises(NotFoundError):
            await store.load_thread(HEAD.id, BOB)

    asked(question)


def test_items_are_their_users_alone(asked: Callable[[Ask], None]) -> None:
    async def question(store: RirekiStore[Context]) -> None:
        await _filled(store, _items())
        assert (await store.load_thread_items(HEAD.id, None, 10, "asc", BOB)).data == []
        with pytest.raises(NotFoundError):
            await store.load_item(HEAD.id, _items()[0].id, BOB)

    asked(question)


@pytest.mark.parametrize(
    ("kind", "prefix"),
    [
        ("message", "msg_"),
        ("tool_call", "tc_"),
        ("task", "tsk_"),
        ("workflow", "wf_"),
        ("attachment", "atc_"),
        ("sdk_hidden_context", "shcx_"),
    ],
)
def test_ids_begin_as_chatkits_do(
    asked: Callable[[Ask], None], kind: StoreItemType, prefix: str
) -> None:
    async def question(store: RirekiStore[Context]) -> None:
        assert store.generate_thread_id(ALICE).startswith("thr_")
        assert store.generate_item_id(kind, HEAD, ALICE).startswith(prefix)

    asked(question)


def test_an_app_may_make_its_own_ids(tmp_path: Path) -> None:
    class Numbered(RirekiStore[Context]):
        def generate_thread_id(self, context: Context) -> str:
            return "thr_custom"

        def generate_item_id(
            self, item_type: StoreItemType, thread: ThreadMetadata, context: Context
        ) -> str:
            return f"{item_type}_custom_{thread.id}"

    async def question() -> None:
        async with Numbered(user_key=user_of, archive=tmp_path / "archive.sqlite3") as store:
            head = thread(store.generate_thread_id(ALICE))
            await store.save_thread(head, ALICE)
            id = store.generate_item_id("message", head, ALICE)
            await store.add_thread_item(head.id, reply(1, id=id, thread_id=head.id), ALICE)
            assert (
                await store.load_item("thr_custom", "message_custom_thr_custom", ALICE)
            ).id == id

    asyncio.run(question())
