"""Properties 1 to 12: what is put in comes out, once, and in order."""

from __future__ import annotations

from datetime import timedelta, timezone

from chatkit.types import Page, Thread, ThreadItem, ThreadMetadata

from rireki.chatkit.conformance.case import (
    ConformanceCase,
    Property,
    collect,
    expect,
    missing,
    refused,
)
from rireki.chatkit.conformance.samples import every_item, moment, reply, thread, typed

__all__ = ["PROPERTIES"]

PROPERTIES: list[Property] = []
TIES = 7


@collect(PROPERTIES, "1")
async def identity(case: ConformanceCase) -> None:
    """Every type of item comes back as it was saved"""
    for number, items in enumerate(every_item()):
        # Times with an offset and such without in threads of their own: their order is no matter here.
        id = f"thr_0000000{number}"
        await case.store.save_thread(thread(id), case.alice)
        items = [item.model_copy(update={"thread_id": id}) for item in items]
        await case.add(*items, thread=id)
        for item in items:
            _same(await case.store.load_item(id, item.id, case.alice), item)
        walked = sorted(await case.walk(limit=50, thread=id), key=lambda one: one.id)
        for loaded, item in zip(walked, items, strict=True):
            _same(loaded, item)


def _same(loaded: ThreadItem, item: ThreadItem) -> None:
    expect(loaded == item, f"{item.type} came back as {loaded!r}, not as {item!r}")
    naive = (loaded.created_at.tzinfo is None, item.created_at.tzinfo is None)
    expect(naive[0] == naive[1], f"{item.type}: the time gained or lost its offset")


@collect(PROPERTIES, "2")
async def threads(case: ConformanceCase) -> None:
    """A thread can be saved again and again, and keeps its items apart"""
    await case.store.save_thread(thread(title="before", metadata={"k": [1, None]}), case.alice)
    await case.add(reply(1))
    whole = Thread(**thread(title="after").model_dump(), items=Page(data=[reply(9)]))
    await case.store.save_thread(whole, case.alice)
    await case.store.save_thread(whole, case.alice)
    loaded = await case.store.load_thread("thr_0000000a", case.alice)
    expect(loaded.title == "after", "the second save had no effect")
    expect(not getattr(loaded, "items", None), "a thread's items were kept with its metadata")
    expect(await case.ids() == [reply(1).id], "saving a thread changed its items")
    page = await case.store.load_threads(10, None, "desc", case.alice)
    expect(len(page.data) == 1, f"{len(page.data)} threads after one was saved three times")


@collect(PROPERTIES, "3")
async def once(case: ConformanceCase) -> None:
    """Walking the pages yields each item exactly once, whatever the limit"""
    await _ties(case)
    for limit in (1, 2, 3, TIES, TIES + 5):
        for order in ("asc", "desc"):
            ids = await case.ids(order, limit)
            expect(
                sorted(ids) == [reply(n).id for n in range(TIES)],
                f"{order} by {limit}: {len(ids)} of {TIES} items, {len(set(ids))} different ones",
            )


@collect(PROPERTIES, "4")
async def reverse(case: ConformanceCase) -> None:
    """desc is the reverse of asc, also for items of the same moment"""
    await _ties(case)
    asc, desc = await case.ids("asc", 50), await case.ids("desc", 50)
    expect(desc == asc[::-1], f"asc is {asc}, desc is {desc}")


async def _ties(case: ConformanceCase) -> None:
    await case.store.save_thread(thread(), case.alice)
    await case.add(*(reply(n, moment(0)) for n in range(TIES)))


@collect(PROPERTIES, "5")
async def after(case: ConformanceCase) -> None:
    """`after` is the last id while there is more, and nothing on the last page"""
    await case.store.save_thread(thread(), case.alice)
    await case.add(*(reply(n) for n in range(4)))
    for limit, more in ((2, True), (4, False), (9, False)):
        page = await case.store.load_thread_items("thr_0000000a", None, limit, "asc", case.alice)
        expect(page.has_more is more, f"has_more is {page.has_more} for {limit} of 4")
        wanted = page.data[-1].id if more else None
        expect((page.after or None) == wanted, f"after is {page.after!r}, not {wanted!r}")
    for number in range(3):
        await case.store.save_thread(thread(f"thr_0000001{number}"), case.alice)
    listed = await case.store.load_threads(9, None, "asc", case.alice)
    expect(not listed.has_more and not listed.after, "the last page of threads says there is more")


@collect(PROPERTIES, "6")
async def arrival(case: ConformanceCase) -> None:
    """Items stand in the order of their arrival, whatever clocks say and saves do"""
    east, west = timezone(timedelta(hours=9)), timezone(timedelta(hours=-8))
    autumn = [moment(0), moment(3600), moment(60)]  # clocks go back an hour
    travel = [moment(n).replace(tzinfo=zone) for n, zone in enumerate((west, timezone.utc, east))]
    for number, times in enumerate((autumn, travel, [*autumn, *travel])):
        id, first = f"thr_0000000{number}", 10 * number
        await case.store.save_thread(thread(id), case.alice)
        items = [reply(first + n, at, thread_id=id) for n, at in enumerate(times)]
        await case.add(*items, thread=id)
        wanted = [item.id for item in items]
        ids = [item.id for item in await case.walk(thread=id)]
        expect(ids == wanted, f"{ids} in place of {wanted}")
        await case.store.save_item(id, reply(first + 1, moment(99_999), thread_id=id), case.alice)
        ids = [item.id for item in await case.walk(thread=id)]
        expect(ids == wanted, "an item moved when it was saved")


@collect(PROPERTIES, "7")
async def again(case: ConformanceCase) -> None:
    """Adding an item that is there updates it in its place"""
    await case.store.save_thread(thread(), case.alice)
    await case.add(*(reply(n) for n in range(3)))
    await case.add(reply(1, moment(50), content=[{"type": "output_text", "text": "new"}]))
    found = await case.walk()
    expect([item.id for item in found] == [reply(n).id for n in range(3)], "it moved, or is double")
    text = getattr(found[1], "content")[0].text  # noqa: B009 - of a union
    expect(text == "new", f"it still says {text!r}")


@collect(PROPERTIES, "8")
async def upsert(case: ConformanceCase) -> None:
    """Saving an item that is not there adds it"""
    await case.store.save_thread(thread(), case.alice)
    await case.add(reply(1))
    await case.store.save_item("thr_0000000a", reply(2), case.alice)
    expect(await case.ids() == [reply(1).id, reply(2).id], "the item that was saved is not there")


@collect(PROPERTIES, "9")
async def growing(case: ConformanceCase) -> None:
    """Items that come during a walk neither repeat nor hide older ones"""
    await case.store.save_thread(thread(), case.alice)
    await case.add(*(reply(n) for n in range(6)))
    for order in ("asc", "desc"):
        before = await case.ids(order, 50)
        seen: list[str] = []
        cursor: str | None = None
        for number in range(3):
            page = await case.store.load_thread_items("thr_0000000a", cursor, 2, order, case.alice)
            seen += [item.id for item in page.data]
            cursor = page.after
            new = len(before) + number
            await case.add(reply(new))
        expect(seen == before[:6], f"{order}: {seen} in place of {before[:6]}")


@collect(PROPERTIES, "10")
async def lost(case: ConformanceCase) -> None:
    """A cursor whose item was deleted is answered with NotFoundError, never with the first page"""
    await case.store.save_thread(thread(), case.alice)
    await case.add(*(reply(n) for n in range(5)))
    await case.store.delete_thread_item("thr_0000000a", reply(1).id, case.alice)
    for cursor in (reply(1).id, "msg_never"):
        await missing(
            case.store.load_thread_items("thr_0000000a", cursor, 2, "asc", case.alice),
            f"a page after {cursor}, which is not there,",
        )


@collect(PROPERTIES, "11")
async def foreign(case: ConformanceCase) -> None:
    """A cursor of another thread or user is refused"""
    other: ThreadMetadata = thread("thr_0000000b")
    await case.store.save_thread(thread(), case.alice)
    await case.store.save_thread(other, case.alice)
    await case.add(*(reply(n) for n in range(3)))
    await case.add(*(reply(n, thread_id=other.id) for n in range(10, 13)), thread=other.id)
    await case.store.save_thread(thread("thr_0000000c"), case.bob)
    await case.store.add_thread_item("thr_0000000c", typed(20), case.bob)
    for cursor in (reply(10).id, typed(20).id):
        await refused(
            case.store.load_thread_items("thr_0000000a", cursor, 2, "asc", case.alice),
            f"the cursor {cursor}, which is of another thread,",
        )
    await refused(
        case.store.load_threads(2, "thr_0000000c", "asc", case.alice),
        "the cursor thr_0000000c, which is another user's thread,",
    )


@collect(PROPERTIES, "12")
async def orders(case: ConformanceCase) -> None:
    """An order that is neither asc nor desc is refused"""
    await case.store.save_thread(thread(), case.alice)
    await case.add(reply(1))
    for order in ("sideways", "", "desc, id", "asc --"):
        await refused(
            case.store.load_thread_items("thr_0000000a", None, 2, order, case.alice),
            f"the order {order!r} of items",
        )
        await refused(
            case.store.load_threads(2, None, order, case.alice), f"the order {order!r} of threads"
        )
