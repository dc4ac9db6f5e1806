"""As it happens: what agents write stands on open pages by itself, and disturbs nobody."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import Visiting
from tests.browser.serving import Session, Site, save_row
from tests.support.browser import PATIENCE, Visit
from tests.support.q_rows import said, talk

#: How the browser begins to tell of a server that was killed, at whatever moment of a request.
CUT_OFF = "Failed to load resource: net::ERR_"
#: What a page asks for when messages were announced.
ASKED = re.compile(r"/fragments/.*[?&]messages=&messages=")


def opened(site: Site, session: Session, visit: Visiting, query: str = "") -> Page:
    """The page of a session, once the keeper has it."""
    visitor: Visit = visit(site)
    return opened_by(visitor, session, query)


def opened_by(visitor: Visit, session: Session, query: str = "") -> Page:
    page = visitor.context.new_page()
    address = f"/c/{session.id}{query}"
    home = visitor.open()
    expect(home.locator(f'.row[data-conversation="{session.id}"]')).to_be_visible()
    home.close()
    page.goto(address)
    expect(page.locator("#stream .unit").first).to_be_visible()
    return page


def telling(page: Page, text: str) -> None:
    """It stands on the page, once."""
    expect(page.locator("#stream").get_by_text(text, exact=True)).to_have_count(1)


def scroll(page: Page) -> float:
    top: float = page.evaluate("scrollY")
    return top


def top(place: Locator) -> float:
    """Where on the screen it begins."""
    box = place.bounding_box()
    assert box is not None
    return box["y"]


def total(page: Page, session: Session) -> int:
    """How many units the server has of it by now."""
    answer = page.request.get(f"/fragments/{session.id}?end=1")
    number: int = answer.json()["total"]
    return number


def burst(page: Page, session: Session) -> None:
    """The page asks for one message; before it is answered, there are 140 more."""
    before = total(page, session)

    def hold(route: Route) -> None:
        with session.at_once():
            for number in range(70):
                session.turn(f"of the burst {number}")
        end = time.monotonic() + PATIENCE / 1000
        while total(page, session) < before + 141:
            assert time.monotonic() < end, "the burst was never taken in"
        route.continue_()

    page.route(ASKED, hold, times=1)
    session.prompt("prompt before the burst")


# ── One conversation ──


def test_a_line_that_an_agent_appends_appears_at_the_end(live: Site, visit: Visiting) -> None:
    session = Session(live.home, "appended")
    session.turn("one")
    page = opened(live, session, visit)
    page.evaluate("window.stayed = true")
    session.prompt("prompt two")
    telling(page, "prompt two")
    session.call("c1", "Let me look at two.")
    telling(page, "Let me look at two.")
    outcome = page.locator("details.call .outcome")
    expect(outcome).to_have_text("no result yet")
    session.result("c1", "it is fine")
    expect(outcome).to_have_text("ok")
    expect(page.locator("#prompts li")).to_have_count(2)
    expect(page.locator("#facts")).to_contain_text("2 turns")
    order = page.locator("#stream .unit").evaluate_all("all => all.map(u => +u.dataset.index)")
    assert order == sorted(set(order))
    assert page.evaluate("window.stayed"), "the page was loaded again"


def test_a_prompt_that_is_answered_after_all_loses_its_mark(live: Site, visit: Visiting) -> None:
    # Nothing happened for so long that no answer is to be expected.
    quiet = Session(live.home, "unanswered", datetime(2026, 2, 2, tzinfo=timezone.utc))
    quiet.prompt("prompt nobody answered")
    page = opened(live, quiet, visit)
    page.evaluate("window.stayed = true")
    mark = page.locator(".message.unanswered .mark")
    expect(mark).to_have_text("never answered")
    quiet.at = None
    quiet.answer("an answer after all")
    telling(page, "an answer after all")
    expect(mark).to_have_count(0)
    # An error instead of an answer: the mark comes, and goes with the next attempt.
    quiet.prompt("prompt in a storm")
    telling(page, "prompt in a storm")
    expect(mark).to_have_count(0)
    quiet.answer("API Error: 529 overloaded", isApiErrorMessage=True, model="<synthetic>")
    expect(mark).to_have_text("never answered")
    quiet.answer("the storm is over")
    telling(page, "the storm is over")
    expect(mark).to_have_count(0)
    assert page.evaluate("window.stayed"), "the page was loaded again"


def test_a_row_that_another_process_saves_appears(live: Site, visit: Visiting) -> None:
    first = said("m1", "prompt of the row", "answer of the row")
    save_row(live.home, "/home/u/rows", talk("row-1", first))
    visitor: Visit = visit(live)
    page = visitor.open()
    page.locator('.row[data-conversation="amazon-q/row-1"] .row-link').click()
    telling(page, "prompt of the row")
    second = said("m2", "second prompt of the row", "second answer of the row")
    save_row(live.home, "/home/u/rows", talk("row-1", first, second))
    telling(page, "second answer of the row")
    telling(page, "answer of the row")
    # The agent throws the beginning away: it stays, and is marked.
    third = said("m3", "third prompt of the row", "third answer of the row")
    save_row(live.home, "/home/u/rows", talk("row-1", second, third))
    telling(page, "third answer of the row")
    gone = page.locator(".message.gone").get_by_text("answer of the row", exact=True)
    expect(gone).to_be_visible()


def test_the_page_of_an_overwritten_chat_does_not_offer_the_one_in_its_place(
    live: Site, visit: Visiting
) -> None:
    """`q chat --resume` would go on with the other chat: the open page must not say so any more."""
    save_row(live.home, "/home/u/over", talk("over-1", said("o1", "first chat", "its answer")))
    visitor: Visit = visit(live)
    page = visitor.open()
    page.locator('.row[data-conversation="amazon-q/over-1"] .row-link').click()
    telling(page, "first chat")
    page.evaluate("window.stayed = true")
    command = page.locator("#resume-command")
    expect(command).to_have_text("cd /home/u/over && q chat --resume")
    save_row(live.home, "/home/u/over", talk("over-2", said("o2", "second chat", "another")))
    expect(page.locator(".fate.gone")).to_contain_text("no longer has this conversation")
    expect(command).to_have_text("rireki restore amazon-q/over-1 --to DIR")
    expect(page.locator("main")).not_to_contain_text("--resume")
    tie = page.locator("#ties li")
    expect(tie).to_have_text("its place was taken by second chat")
    # What it is tied to changes as well, and is told.
    third = said("o3", "third chat", "one more")
    save_row(live.home, "/home/u/over", talk("over-3", third))
    page.wait_for_timeout(100)
    expect(tie).to_have_count(1)
    assert page.evaluate("window.stayed"), "the page was loaded again"


def test_a_fork_stands_on_the_open_page_of_what_it_left(live: Site, visit: Visiting) -> None:
    session, fork = Session(live.home, "forked"), Session(live.home, "fork-of-it")
    session.turn("what a fork left")
    page = opened(live, session, visit)
    expect(page.locator("#ties li")).to_have_count(0)
    # The same lines under another session's name.
    copied = session.file.read_text(encoding="utf-8").replace(session.native, fork.native)
    fork.add(copied)
    fork.count, fork.last = session.count, session.last
    fork.turn("two of the fork")
    expect(page.locator("#ties li")).to_have_text("forked into prompt what a fork left")


def test_a_reader_at_the_end_follows(live: Site, visit: Visiting) -> None:
    session = Session(live.home, "followed")
    with session.at_once():
        for number in range(30):
            session.turn(f"number {number}")
    page = opened(live, session, visit)
    last = page.get_by_text("answer number 29", exact=True)
    expect(last).to_be_in_viewport()
    session.turn("number 30")
    expect(page.get_by_text("answer number 30", exact=True)).to_be_in_viewport()
    expect(page.locator("#fresh")).to_be_hidden()


def test_a_reader_at_the_end_follows_what_comes_faster_than_the_page_can_ask(
    live: Site, visit: Visiting
) -> None:
    session = Session(live.home, "rushed")
    with session.at_once():
        for number in range(30):
            session.turn(f"number {number}")
    page = opened(live, session, visit)
    expect(page.get_by_text("answer number 29", exact=True)).to_be_in_viewport()
    burst(page, session)
    expect(page.get_by_text("answer of the burst 69", exact=True)).to_be_in_viewport()
    expect(page.locator("#fresh")).to_be_hidden()
    session.turn("after the burst")
    expect(page.get_by_text("answer after the burst", exact=True)).to_be_in_viewport()


def test_a_reader_further_up_is_told_of_all_that_comes_at_once(live: Site, visit: Visiting) -> None:
    session = Session(live.home, "rushed-past")
    with session.at_once():
        for number in range(30):
            session.turn(f"number {number}")
    page = opened(live, session, visit)
    page.locator("#stream").get_by_text(
        "prompt number 12", exact=True
    ).first.scroll_into_view_if_needed()
    page.wait_for_function("innerHeight + scrollY < document.documentElement.scrollHeight - 200")
    read = page.locator("#stream").get_by_text("prompt number 12", exact=True).first
    before = top(read)
    burst(page, session)
    expect(page.locator("#fresh")).to_have_text("141 new ↓")
    # The head may grow by a line meanwhile: what is read stays where it is on the screen.
    assert top(read) == pytest.approx(before, abs=2)
    # More than is sent one by one.
    with session.at_once():
        for number in range(101):
            session.turn(f"of the flood {number}")
    expect(page.locator("#fresh")).to_have_text("343 new ↓")
    expect(
        page.locator("#stream").get_by_text("prompt number 12", exact=True).first
    ).to_be_in_viewport()


def test_a_reader_further_up_is_told_and_not_moved(live: Site, visit: Visiting) -> None:
    session = Session(live.home, "told")
    with session.at_once():
        for number in range(30):
            session.turn(f"remark {number}")
    page = opened(live, session, visit)
    page.locator("#stream").get_by_text(
        "prompt remark 12", exact=True
    ).first.scroll_into_view_if_needed()
    start = scroll(page)
    page.mouse.wheel(0, -40)
    page.wait_for_function("top => scrollY !== top", arg=start)
    page.wait_for_function("document.querySelector('#later').hidden")
    before = scroll(page)
    session.turn("remark 30")
    pill = page.locator("#fresh")
    expect(pill).to_have_text("2 new ↓")
    assert scroll(page) == before
    session.turn("remark 31")
    expect(pill).to_have_text("4 new ↓")
    assert scroll(page) == before
    pill.click()
    expect(page.get_by_text("answer remark 31", exact=True)).to_be_in_viewport()
    expect(pill).to_be_hidden()


def test_what_a_reader_opened_stays_open(live: Site, visit: Visiting) -> None:
    session = Session(live.home, "folds")
    session.prompt("look twice")
    session.call("c1", "First.", command="ls")
    page = opened(live, session, visit)
    fold = page.locator("details.call")
    fold.locator("summary").click()
    expect(fold).to_have_attribute("open", "")
    expect(fold.locator("summary")).to_be_focused()
    # The very unit that holds the fold is made anew when the result comes.
    session.result("c1", "a file and another")
    expect(fold).to_contain_text("a file and another")
    expect(fold.locator("pre.terminal, pre.output")).to_be_visible()
    expect(fold.locator("summary")).to_be_focused()


def test_half_a_line_is_not_told_and_a_broken_one_costs_nothing(
    live: Site, visit: Visiting
) -> None:
    session = Session(live.home, "broken")
    session.turn("one")
    page = opened(live, session, visit)
    session.add('{"type": "user", "broken')
    session.add("…\n")
    session.turn("two")
    telling(page, "answer two")


def test_all_tabs_get_what_is_new(live: Site, visit: Visiting) -> None:
    session, other = Session(live.home, "tabs"), Session(live.home, "tabs-too")
    session.turn("one")
    other.turn("one")
    visitor: Visit = visit(live)
    first, second = opened_by(visitor, session), opened_by(visitor, session)
    third, home = opened_by(visitor, other), visitor.open()
    session.turn("two")
    other.turn("three")
    telling(first, "answer two")
    telling(second, "answer two")
    telling(third, "answer three")
    expect(home.locator(f'.row[data-conversation="{other.id}"]')).to_contain_text("2 turns")
    # The one that came first leaves: those that stay hear on.
    first.close()
    session.turn("four")
    telling(second, "answer four")
    telling(third, "answer three")


# ── Home ──


def test_a_touched_conversation_comes_to_the_top_of_the_list(live: Site, visit: Visiting) -> None:
    elder, younger = Session(live.home, "elder"), Session(live.home, "younger")
    elder.turn("one")
    younger.turn("one")
    page = visit(live).open()
    top = page.locator("#list .row").first
    expect(page.locator(f'.row[data-conversation="{elder.id}"]')).to_be_visible()
    expect(page.locator(f'.row[data-conversation="{younger.id}"]')).to_be_visible()
    elder.turn("two")
    expect(top).to_have_attribute("data-conversation", elder.id)
    expect(top).to_contain_text("2 turns")
    expect(page.locator(f'.row[data-conversation="{elder.id}"]')).to_have_count(1)
    younger.turn("two")
    expect(top).to_have_attribute("data-conversation", younger.id)
    fresh = Session(live.home, "unheard-of")
    fresh.turn("one")
    expect(top).to_have_attribute("data-conversation", fresh.id)


def test_an_old_conversation_that_turns_up_is_listed_where_it_belongs(
    live: Site, visit: Visiting
) -> None:
    page = visit(live).open()
    rows = page.locator("#list .row")
    expect(rows.first).to_be_visible()
    old = Session(live.home, "turned-up", datetime(2026, 2, 1, tzinfo=timezone.utc))
    old.turn("of older days")
    expect(page.locator(f'.row[data-conversation="{old.id}"]')).to_be_visible()
    stamps = rows.locator(".row-when time").evaluate_all("all => all.map(t => t.dateTime)")
    assert stamps == sorted(stamps, reverse=True)


def test_home_and_the_conversation_say_what_its_agent_does(live: Site, visit: Visiting) -> None:
    session = Session(live.home, "busy")
    session.turn("one")
    visitor: Visit = visit(live)
    page, home = opened_by(visitor, session), visitor.open()
    row = home.locator(f'.row[data-conversation="{session.id}"]')
    status = live.home / ".claude" / "sessions" / f"{os.getpid()}.json"
    status.parent.mkdir(exist_ok=True)

    def says(state: str, **more: str) -> None:
        told = {"pid": os.getpid(), "sessionId": session.native, "status": state}
        status.write_text(json.dumps(told | more), encoding="utf-8")

    says("busy")
    expect(row.locator('[data-doing="working"]')).to_be_visible()
    expect(page.locator('#state [data-doing="working"]')).to_be_visible()
    says("waiting", waitingFor="permission to use Bash")
    expect(row.locator('[data-doing="permission"]')).to_contain_text("permission to use Bash")
    expect(row).to_contain_text("waits for your permission")
    expect(page.locator("#state")).to_contain_text("waits for your permission")
    expect(page).to_have_title(re.compile("^waits for your permission · "))
    status.unlink()
    expect(page).not_to_have_title(re.compile("waits"))
    expect(row.locator("[data-doing]")).to_have_count(0)
    expect(page.locator("#state [data-doing]")).to_have_count(0)


# ── A server that goes away ──


@pytest.fixture
def fragile(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path / "site")
    yield site
    site.end()


def test_open_pages_go_on_after_the_server_was_killed(fragile: Site, visit: Visiting) -> None:
    session = Session(fragile.home, "killed")
    session.turn("one")
    fragile.start()
    visitor: Visit = visit(fragile)
    page, home = opened_by(visitor, session), visitor.open()
    row = home.locator(f'.row[data-conversation="{session.id}"]')
    page.evaluate("window.stayed = true")
    session.turn("two")
    telling(page, "answer two")
    fragile.end(signal.SIGKILL)
    lost = page.get_by_text("Reconnecting")
    expect(lost).to_be_visible()
    session.turn("three")
    session.turn("four")
    fragile.start()
    for number in ("one", "two", "three", "four"):
        telling(page, f"answer {number}")
    expect(lost).to_be_hidden()
    expect(row).to_contain_text("4 turns")
    session.turn("five")
    telling(page, "answer five")
    expect(row).to_contain_text("5 turns")
    assert page.evaluate("window.stayed"), "the page was loaded again"
    # While nobody answered, the browser said so, and nothing else was wrong.
    assert all(CUT_OFF in fault for fault in visitor.faults), visitor.faults
    visitor.faults.clear()
