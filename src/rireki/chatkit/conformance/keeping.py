"""Properties 13 to 20: whose things are, what becomes of them, and that they stay."""

from __future__ import annotations

import asyncio
import pickle
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from rireki.chatkit.conformance.case import (
    ConformanceCase,
    FactoryNotImportable,
    Property,
    collect,
    expect,
    missing,
    refused,
)
from rireki.chatkit.conformance.child import NOT_IMPORTED, READY
from rireki.chatkit.conformance.samples import (
    FutureItem,
    attachment,
    moment,
    reply,
    thread,
    typed,
)
from rireki.python_path import child_environment, python_command, safe_path

__all__ = ["PROPERTIES"]

PROPERTIES: list[Property] = []
THREAD = "thr_0000000a"
#: Items that are acknowledged before the process that adds them is killed.
ACKNOWLEDGED = 15
PATIENCE = 60.0


@collect(PROPERTIES, "13")
async def isolated(case: ConformanceCase) -> None:
    """Every method works on the things of its user alone, also when ids are the same"""
    store, bob = case.store, case.bob
    await store.save_thread(thread(title="Alice's"), case.alice)
    await case.add(reply(1))
    await store.save_attachment(attachment(name="alice.txt"), case.alice)
    await missing(store.load_thread(THREAD, bob), "another user's thread")
    await missing(store.load_item(THREAD, reply(1).id, bob), "another user's item")
    await missing(store.load_attachment(attachment().id, bob), "another user's attachment")
    page = await store.load_thread_items(THREAD, None, 9, "asc", bob)
    expect(not page.data, "another user's items are listed")
    expect(not (await store.load_threads(9, None, "asc", bob)).data, "another's thread is listed")
    await _whatever(store.delete_thread(THREAD, bob))
    await _whatever(store.delete_thread_item(THREAD, reply(1).id, bob))
    await _whatever(store.delete_attachment(attachment().id, bob))
    await store.save_attachment(attachment(name="bob.txt"), bob)
    await store.save_thread(thread(title="Bob's"), bob)
    await store.add_thread_item(THREAD, reply(1, moment(9)), bob)
    for user, title, name in ((case.alice, "Alice's", "alice.txt"), (bob, "Bob's", "bob.txt")):
        loaded = await store.load_thread(THREAD, user)
        expect(loaded.title == title, f"{title} thread is now {loaded.title}")
        file = await store.load_attachment(attachment().id, user)
        expect(file.name == name, f"{name} is now {file.name}")
    await store.delete_thread(THREAD, bob)
    expect(await case.ids() == [reply(1).id], "another user's delete removed an item")


async def _whatever(asked: Awaitable[Any]) -> None:
    """Whether this is silent or an error is left to the store; it must have no effect."""
    try:
        await asked
    except Exception:  # noqa: BLE001 - either is right
        return


@collect(PROPERTIES, "14")
async def deleted(case: ConformanceCase) -> None:
    """Deleting a thread deletes its items and attachments; doing so again is silent"""
    store = case.store
    await store.save_thread(thread(), case.alice)
    file, other = attachment(), attachment("atc_0000000b")
    if "thread_id" in type(file).model_fields:
        # As ChatKit's server does before it adds the message.
        file = file.model_copy(update={"thread_id": THREAD})
    await store.save_attachment(file, case.alice)
    await store.save_attachment(other, case.alice)
    await case.add(typed(1, (file,)), reply(2))
    for _ in range(2):
        await store.delete_thread(THREAD, case.alice)
        await store.delete_thread_item(THREAD, reply(2).id, case.alice)
        await store.delete_attachment("atc_never", case.alice)
    await missing(store.load_thread(THREAD, case.alice), "a deleted thread")
    await missing(store.load_item(THREAD, reply(2).id, case.alice), "an item of a deleted thread")
    expect(not await case.walk(), "a deleted thread still has items")
    await missing(store.load_attachment(file.id, case.alice), "a file of a deleted thread")
    await store.load_attachment(other.id, case.alice)


@collect(PROPERTIES, "15")
async def absent(case: ConformanceCase) -> None:
    """What is not there is NotFoundError, no items are an empty page, and no thread takes no item"""
    store = case.store
    await missing(store.load_thread("thr_never", case.alice), "a thread that is not there")
    await missing(store.load_attachment("atc_never", case.alice), "a file that is not there")
    page = await store.load_thread_items("thr_never", None, 5, "asc", case.alice)
    expect(not page.data and not page.has_more, "a thread that is not there has items")
    await store.save_thread(thread(), case.alice)
    await missing(store.load_item(THREAD, "msg_never", case.alice), "an item that is not there")
    await refused(
        store.add_thread_item("thr_never", reply(1), case.alice),
        "an item for a thread that is not there",
    )


@collect(PROPERTIES, "16")
async def newer(case: ConformanceCase) -> None:
    """An item of a type that this ChatKit does not know breaks no page and stays"""
    await case.store.save_thread(thread(), case.alice)
    future: Any = FutureItem(
        id="hol_0000000a", thread_id=THREAD, created_at=moment(1), beam={"deep": [1]}
    )
    await case.add(reply(0), future, reply(2))
    for order in ("asc", "desc"):
        for limit in (1, 2, 9):
            ids = [id for id in await case.ids(order, limit) if id != future.id]
            wanted = [reply(0).id, reply(2).id]
            expect(sorted(ids) == wanted, f"{order} by {limit}: {ids} in place of {wanted}")
    await case.store.save_item(THREAD, reply(2, moment(5)), case.alice)
    expect(reply(2).id in await case.ids(limit=9), "its neighbour was lost")


@collect(PROPERTIES, "17")
async def copies(case: ConformanceCase) -> None:
    """What the app does to its objects does not change what is stored"""
    head, item = thread(title="kept"), reply(1)
    await case.store.save_thread(head, case.alice)
    await case.add(item)
    head.title = "changed"
    item.content[0].text = "changed"
    loaded: Any = await case.store.load_item(THREAD, item.id, case.alice)
    expect(loaded.content[0].text == "answer 1", "the stored item is the app's own object")
    loaded.content[0].text = "changed"
    again: Any = await case.store.load_item(THREAD, item.id, case.alice)
    expect(again.content[0].text == "answer 1", "what was loaded is what is stored")
    found = await case.store.load_thread(THREAD, case.alice)
    expect(found.title == "kept", "the stored thread is the app's own object")


@collect(PROPERTIES, "18")
async def concurrent(case: ConformanceCase) -> None:
    """Items that are added at the same time are all there, in one order"""
    await case.store.save_thread(thread(), case.alice)

    async def some(first: int) -> None:
        for number in range(first, first + 5):
            await case.store.add_thread_item(THREAD, reply(number), case.alice)

    await asyncio.gather(*(some(first) for first in range(0, 40, 5)))
    ids = await case.ids(limit=7)
    expect(sorted(ids) == [reply(n).id for n in range(40)], f"{len(set(ids))} of 40 are there")
    expect((await case.ids("desc", 7))[::-1] == ids, "there are two orders")


@collect(PROPERTIES, "19")
async def whole(case: ConformanceCase) -> None:
    """Items that are added together are seen together (for stores with `add_thread_items`)"""
    add = getattr(case.store, "add_thread_items", None)
    if add is None:
        return
    await case.store.save_thread(thread(), case.alice)
    done = asyncio.Event()
    counts: set[int] = set()

    async def look() -> None:
        while not done.is_set():
            page = await case.store.load_thread_items(THREAD, None, 500, "asc", case.alice)
            counts.add(len(page.data) % 5)

    watching = asyncio.create_task(look())
    for first in range(0, 50, 5):
        await add(THREAD, [reply(n) for n in range(first, first + 5)], case.alice)
    done.set()
    await watching
    expect(counts <= {0}, "a part of what was added together was seen")


def _factory(case: ConformanceCase) -> bytes:
    """The functions as another process finds them: by the names of their modules and their own."""
    try:
        return pickle.dumps((case.make_store, case.make_context, case.folder))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise FactoryNotImportable(str(error)) from error


@collect(PROPERTIES, "20")
async def killed(case: ConformanceCase) -> None:
    """What was acknowledged is there after the process was killed"""
    await case.store.save_thread(thread(), case.alice)
    await case.close()
    told = pickle.dumps(_folders(case.make_store, case.make_context)) + _factory(case)
    child = await asyncio.create_subprocess_exec(
        *python_command("from rireki.chatkit.conformance.child import main; main()"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=child_environment(),
    )
    assert child.stdin and child.stdout
    child.stdin.write(told)
    child.stdin.close()
    acknowledged = []
    try:
        first = await asyncio.wait_for(child.stdout.readline(), PATIENCE)
        if first != READY:
            said = first.decode(errors="replace").strip()
            raise FactoryNotImportable(said.removeprefix(NOT_IMPORTED) or "the process ended")
        for _ in range(ACKNOWLEDGED):
            line = await asyncio.wait_for(child.stdout.readline(), PATIENCE)
            expect(bool(line), "the process that adds items ended by itself (see its error above)")
            acknowledged.append(line.decode().strip())
    finally:
        if child.returncode is None:
            child.kill()
        rest = await child.stdout.read()
        await child.wait()
    # A last line may be cut off: it was not acknowledged then.
    acknowledged += [line.decode() for line in rest.split(b"\n")[:-1]]
    case.store = case.open()
    ids = await case.ids(limit=50)
    lost = [id for id in acknowledged if id not in ids]
    expect(not lost, f"{len(lost)} of {len(acknowledged)} acknowledged items are lost")


def _folders(*factories: Callable[..., Any]) -> list[str]:
    """Where the factories themselves lie, if that is the current directory, which is not on the
    path of a process that we start. They come last: nothing there stands in for anything else."""
    modules = [sys.modules.get(each.__module__) for each in factories]
    files = [Path(file).resolve() for each in modules if (file := getattr(each, "__file__", None))]
    left = {Path(folder or ".").resolve() for folder in sys.path if folder not in safe_path()}
    return [str(folder) for folder in left if any(file.is_relative_to(folder) for file in files)]
