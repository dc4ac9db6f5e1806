"""Listeners: told at once, told together when it is much, told all of it when they come back."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rireki.drive.blocks import Blocks, Growing, length
from rireki.drive.events import Event, EventListener, Fan
from rireki.drive.session import Session
from rireki.drive.values import AskAnswer, Prompt, RunningCall, Status
from tests.drive.conftest import Desk, asked, reach, run, until


class Page:
    """What a page makes of the events: everything merged by id."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.settled: set[str] = set()
        self.status: dict[str, dict[str, Any]] = {}
        self.calls: dict[str, dict[str, Any]] = {}
        self.last = 0
        self.count = 0

    def take(self, event: Event) -> None:
        assert event.n >= self.last, "numbers never fall"
        self.last, self.count = event.n, self.count + 1
        data = event.data()
        if event.kind == "delta":
            units = self.texts.get(data["block"], "").encode("utf-16-le")
            assert data["at"] * 2 <= len(units), "nothing is missing in between"
            self.texts[data["block"]] = units[: data["at"] * 2].decode("utf-16-le") + data["text"]
        elif event.kind == "settled":
            self.settled.add(data["block"])
        elif event.kind == "status":
            self.status[event.session] = data["status"]
        elif event.kind == "call":
            self.calls[data["call"]["id"]] = data["call"]


def test_a_page_sees_all_of_it_as_it_happens(archive_reader: Desk) -> None:
    page = Page()

    async def listen(session: Session, events: Any) -> None:
        async for event in events:
            page.take(event)

    async def story() -> None:
        async with archive_reader.bridge() as bridge:
            events = bridge.listen(None)
            session = await archive_reader.start(bridge)
            listening = asyncio.create_task(listen(session, events))
            await session.send(Prompt("p1", "permission"), "web")
            ask = await asked(session)
            await until(lambda: page.status.get("one", {}).get("state") == "permission")
            assert page.status["one"]["asks"][0]["id"] == ask.id
            assert "arguments" not in page.status["one"]["calls"][0]
            assert page.calls[ask.call or ""]["arguments"]["command"] == "rm -rf build"
            await session.answer(ask.id, AskAnswer(option="allow"), "web")
            await session.send(Prompt("p2", "stream 300"), "web")
            await until(lambda: len(archive_reader.kinds("turn_end")) == 2)
            await reach(session, "idle")
            await until(lambda: page.status["one"]["state"] == "idle")
            await until(lambda: len(page.settled) == 2)
        await listening

    run(story())
    whole = "".join(f"piece {i} " for i in range(300))
    assert sorted(page.texts.values()) == ["I was told: allow.", whole]
    assert page.settled == set(page.texts) == {e["block"] for e in archive_reader.kinds("text")}
    assert page.count < 100, "many small pieces come together"


def test_whoever_comes_back_gets_the_text_so_far_and_the_status(archive_reader: Desk) -> None:
    async def some(events: Any, page: Page, enough: Any) -> None:
        async for event in events:
            page.take(event)
            if enough():
                return

    async def story() -> None:
        async with archive_reader.bridge() as bridge:
            session = await archive_reader.start(bridge)
            quiet = await archive_reader.start(bridge, "quiet")
            await reach(quiet, "idle")
            page = Page()
            await session.send(Prompt("p1", "forever"), "web")
            await asyncio.wait_for(
                some(bridge.listen(0), page, lambda: "and" in "".join(page.texts.values())), 60
            )
            assert "quiet" in page.status
            seen = page.last
            await until(lambda: len(session.status.blocks[0].text) > 40)
            back = Page()
            await asyncio.wait_for(some(bridge.listen(seen), back, lambda: back.texts), 60)
            (block,) = session.status.blocks
            assert block.text.startswith(back.texts[block.id]) and len(back.texts[block.id]) > 40
            assert "quiet" not in back.status, "nothing happened there since"
            await session.stop()
            await reach(session, "idle")
            # It was settled while nobody looked.
            late = Page()
            await asyncio.wait_for(some(bridge.listen(seen), late, lambda: late.status), 60)
            assert late.settled == {block.id}

    run(story())


class Silent:
    """A session that only shows."""

    id = "s"

    def __init__(self, fan: Fan) -> None:
        self.blocks = Blocks("s", self)
        self.touched = 0
        self.calls: dict[str, RunningCall] = {}
        self.journal: dict[str, str] = {}
        self._fan = fan
        fan.sessions[self.id] = self

    @property
    def status(self) -> Status:
        return Status("s", "bridge/s", "a", "/p", "idle", "", self.touched)

    def number(self) -> int:
        self.touched += 1
        return self.touched

    def stretch(self, block: Growing, text: str) -> None:
        self.journal[block.id] = self.journal.get(block.id, "") + text

    def settled(self, block: Growing) -> None:
        self.number()
        self._fan.changed(self.id)

    def say(self, kind: Any, text: str) -> None:
        self.blocks.add(kind, text, None, False)
        self.number()
        self._fan.changed(self.id)


acts = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["text", "thought"]), st.text(min_size=1, max_size=8)),
        st.sampled_from([("settle", ""), ("flush", ""), ("look", ""), ("break", "")]),
    ),
    max_size=40,
)


@settings(max_examples=200, deadline=None)
@given(acts)
def test_whenever_a_page_looks_or_loses_the_connection_it_ends_with_the_same_text(
    doing: list[tuple[str, str]],
) -> None:
    async def story() -> None:
        fan = Fan()
        session, page = Silent(fan), Page()
        listener: EventListener = fan.listen(None)
        for kind, text in [*doing, ("settle", ""), ("look", "")]:
            if kind == "settle":
                session.blocks.settle()
            elif kind == "flush":
                session.blocks.flush()
            elif kind == "look":
                for event in listener.collect():
                    page.take(event)
            elif kind == "break":
                # Half of what was on its way arrives.
                events = listener.collect()
                for event in events[: len(events) // 2]:
                    page.take(event)
                listener = fan.listen(page.last)
            else:
                session.say(kind, text)
        assert set(page.settled) == set(session.journal)
        # What the page has of a block is the beginning of it; the archive has the whole.
        for id, text in page.texts.items():
            assert session.journal[id].startswith(text)

    asyncio.run(story())


@given(st.text(st.characters(codec="utf-8")))
def test_lengths_are_those_of_a_browser(text: str) -> None:
    assert length(text) == len(text.encode("utf-16-le")) // 2
