"""Following a hit: what was found is unfolded, marked and in view, with scripts and without."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visiting
from tests.browser.serving import Session, Site

FILLER = "\n\n".join(f"Paragraph {number} says nothing of interest." for number in range(120))


@pytest.fixture(scope="module")
def talk(live: Site) -> Session:
    """A conversation that says a word in every place where it is hard to see."""
    talk = Session(live.home, "hidden-words", datetime(2026, 4, 1, tzinfo=timezone.utc))
    with talk.at_once():
        for turn in range(40):
            talk.turn(f"number {turn}")
        talk.prompt(f"{FILLER}\n\nThe <b>quagga</b> stands down here.\n\n{FILLER}")
        talk.answer({"type": "thinking", "thinking": "I remember the okapi.", "signature": ""})
        talk.answer("No antiokapis, concatenated.")
        lines = [f"line {number} of the output" for number in range(400)]
        lines[150] += " has a numbat"
        lines[350] += " has a bilby"
        talk.call("call_1", command=f"printf '{'x' * 300}\n' > pangolin")
        talk.result("call_1", "\n".join(lines))
        talk.answer("Read **PEP 484** - *Type hints* about `wombats` first.")
        talk.call("call_2")
        talk.result("call_2", "fetching the tapir 10%\rfetched all of them\n")
        talk.call("call_3")
        talk.result("call_3", "much of it\n" * 120_000 + "at last a dugong\n")
        for turn in range(40):
            talk.turn(f"later {turn}")
    return talk


def _follow(page: Page, query: str) -> None:
    """From the page of results to the first hit."""
    page.goto(f"/search?q={query}")
    # Until the keeper has taken it in.
    expect(page.locator("#query")).to_have_value(query)
    for _ in range(100):
        if page.locator(".hit a").count():
            break
        page.wait_for_timeout(200)
        page.reload()
    page.locator(".hit a").first.click()
    expect(page.locator("#stream")).to_be_visible()


def _marked(page: Page) -> list[dict[str, object]]:
    """What is marked, and whether it can be seen."""
    found: list[dict[str, object]] = page.evaluate(
        """() => [...(CSS.highlights.get("found") ?? [])].map(range => {
          const { top, bottom, height } = range.getBoundingClientRect();
          return { text: range.toString(), seen: height > 0 && top > 56 && bottom < innerHeight };
        })"""
    )
    return found


@pytest.mark.parametrize("word", ["quagga", "okapi", "numbat", "bilby", "pangolin"])
@pytest.mark.parametrize("width", [1280, 360])
def test_what_was_found_is_marked_and_in_view(
    live: Site, talk: Session, visit: Visiting, word: str, width: int
) -> None:
    page = visit(live, viewport={"width": width, "height": 700}).open()
    _follow(page, word)
    expect(page.locator("#stream .opened")).to_contain_text(word)
    page.wait_for_load_state("load")
    page.wait_for_timeout(300)
    found = _marked(page)
    assert {each["text"] for each in found} == {word}
    assert any(each["seen"] for each in found)


@pytest.mark.parametrize("word", ["numbat", "pangolin"])
def test_enter_and_the_title_lead_to_the_hit_itself(
    live: Site, talk: Session, visit: Visiting, word: str
) -> None:
    page = visit(live).open()
    _follow(page, word)
    for by_key in (True, False):
        page.goto("/")
        page.locator("#query").fill(word)
        if by_key:
            # Before the answer is there: it waits for it.
            page.keyboard.press("Enter")
        else:
            page.locator("#quick h2 a").first.click()
        expect(page.locator("#stream .opened")).to_contain_text(word)
        page.wait_for_load_state("load")
        page.wait_for_timeout(300)
        found = _marked(page)
        assert {each["text"] for each in found} == {word}
        assert any(each["seen"] for each in found)


def test_enter_for_what_is_nowhere_leads_to_the_page_that_says_so(
    live: Site, talk: Session, visit: Visiting
) -> None:
    page = visit(live).open()
    page.locator("#query").fill("zyzzyva")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{live.base}/search?q=zyzzyva")
    expect(page.locator("#results .nothing")).to_contain_text("zyzzyva")


def test_what_is_left_out_is_said_beside_the_way_to_it(
    live: Site, talk: Session, visit: Visiting
) -> None:
    page = visit(live).open()
    _follow(page, "dugong")
    note = page.locator("#stream .opened .beyond")
    expect(note).to_be_in_viewport()
    expect(note).to_contain_text("left out")
    page.locator("#stream .opened p.more a.raw").click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download").last.click()
    assert b"a dugong" in saved.value.path().read_bytes()


def test_signs_that_became_looks_keep_nothing_from_being_marked(
    live: Site, talk: Session, visit: Visiting
) -> None:
    page = visit(live).open()
    _follow(page, '"**PEP 484** - *Type hints* about `wombats`"')
    page.wait_for_timeout(300)
    assert [each["text"] for each in _marked(page)] == ["PEP 484 - Type hints about wombats"]


def test_what_a_program_wrote_over_is_said_to_be_left_out(
    live: Site, talk: Session, visit: Visiting
) -> None:
    page = visit(live).open()
    _follow(page, "tapir")
    expect(page.locator("#stream .opened .beyond")).to_be_in_viewport()
    expect(page.locator("#stream .opened")).to_contain_text("fetched all of them")


def test_without_scripts_a_hit_opens_at_its_message(
    live: Site, talk: Session, visit: Visiting
) -> None:
    page = visit(live, java_script_enabled=False).open()
    expect(page.locator("#theme-switch")).to_be_hidden()
    expect(page.locator("#query-help-switch")).to_be_hidden()
    _follow(page, "numbat")
    opened = page.locator("#opened.unit.opened")
    expect(opened).to_be_in_viewport()
    page.get_by_role("link", name="Later messages").click()
    expect(page.locator("#opened")).to_be_in_viewport()


def test_back_leads_to_what_was_found(live: Site, talk: Session, visit: Visiting) -> None:
    page = visit(live).open()
    _follow(page, "quagga")
    page.wait_for_timeout(300)
    page.locator("#prompts a").first.click()
    expect(page.locator('#stream .unit[data-index="0"].opened')).to_be_visible()
    page.go_back()
    expect(page.locator("#stream .opened")).to_contain_text("quagga")
    assert any(each["seen"] for each in _marked(page))
