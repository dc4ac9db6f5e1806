"""Searching in a browser: as one types, on its own page, and what cannot be searched for."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Visiting
from tests.browser.serving import Site

#: Where nothing is that a click would open.
ASIDE = (2, 790)


def test_results_come_as_one_types_and_lead_to_the_message(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open()
    page.keyboard.press("/")
    page.keyboard.type("deprecat", delay=20)
    quick = page.locator("#quick")
    expect(quick).to_be_visible()
    # Half a word finds what begins like it, and says so.
    expect(quick).to_contain_text("one that begins like the last")
    expect(quick.locator("mark").first).to_have_text("deprecat")
    page.keyboard.type("ions", delay=20)
    expect(quick).not_to_contain_text("one that begins like the last")
    hit = quick.locator(".hit").filter(has_text="Turning the deprecations into errors")
    expect(hit.locator("mark").first).to_have_text("deprecations")
    page.keyboard.press("ArrowDown")
    expect(quick.locator("a").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#query")).to_be_focused()
    hit.first.locator("a").click()
    expect(page.locator("#stream .opened")).to_contain_text("Turning the deprecations")


def test_escape_and_a_click_elsewhere_close_the_results(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open()
    quick = page.locator("#quick")
    page.locator("#query").fill("deprecations")
    expect(quick.locator(".result").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(quick).to_be_hidden()
    expect(page.locator("#query")).to_be_focused()
    page.locator("#query").fill("deprecation*")
    expect(quick.locator(".result").first).to_be_visible()
    page.mouse.click(*ASIDE)
    expect(quick).to_be_hidden()


def test_japanese_is_found_by_any_piece_of_it(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open("/search")
    page.locator("#query").fill("玉露")
    expect(page.locator(".hit mark").first).to_have_text("玉露")
    expect(page).to_have_url(f"{shown.base}/search?q=%E7%8E%89%E9%9C%B2")
    page.reload()
    expect(page.locator("#query")).to_have_value("玉露")
    expect(page.locator(".hit mark").first).to_have_text("玉露")


def test_a_query_that_cannot_be_read_says_where_and_what_to_do(
    shown: Site, visit: Visiting
) -> None:
    page = visit(shown).open("/search")
    page.locator("#query").fill("cache) redis")
    fault = page.get_by_role("alert")
    expect(fault).to_contain_text("This query cannot be read")
    expect(fault.locator("mark")).to_have_text(")")
    page.locator("#query").fill("cache")
    expect(fault).to_have_count(0)


def test_what_is_nowhere_is_said_to_be_nowhere(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open("/search?q=source:claude-code+deprecatoins+-redis")
    expect(page.locator(".nothing")).to_contain_text("deprecatoins")
    page.get_by_role("link", name="deprecations").click()
    # The rest of the query is as it was.
    expect(page.locator("#query")).to_have_value("source:claude-code deprecations -redis")
    expect(page.locator(".hit").first).to_be_visible()


def test_the_order_stays_while_one_types_on(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open("/search?q=test")
    page.get_by_role("link", name="Newest first").click()
    expect(page).to_have_url(f"{shown.base}/search?q=test&newest=1")
    stamps = page.locator(".result").evaluate_all(
        "all => all.map(each => each.querySelector('.hit time').dateTime)"
    )
    assert stamps == sorted(stamps, reverse=True) and len(stamps) > 4
    page.locator("#query").fill("tests")
    expect(page).to_have_url(f"{shown.base}/search?q=tests&newest=1")
    expect(page.locator(".hit mark").first).to_be_visible()


def test_a_long_list_of_results_goes_on(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open("/search?q=source:claude-code+OR+source:kiro+OR+source:amazon-q")
    first = page.locator(".result").evaluate_all("all => all.map(r => r.dataset.conversation)")
    assert len(first) == 20
    page.get_by_role("link", name="More results").click()
    expect(page.locator(".result").first).not_to_have_attribute("data-conversation", first[0])
    second = page.locator(".result").evaluate_all("all => all.map(r => r.dataset.conversation)")
    assert second and not set(first) & set(second)


def test_the_query_language_is_explained_at_the_box(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open()
    button = page.get_by_role("button", name="How to search")
    help = page.locator("#query-help")
    button.click()
    expect(help).to_be_visible()
    expect(button).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Escape")
    expect(help).to_be_hidden()


def test_what_stands_beside_the_results_follows_what_is_typed(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open("/search?q=test&offset=20")
    page.locator("#query").fill("玉露")
    expect(page.locator(".hit mark").first).to_have_text("玉露")
    expect(page).to_have_title("玉露 · rireki")
    page.get_by_role("link", name="Newest first").click()
    expect(page).to_have_url(f"{shown.base}/search?q=%E7%8E%89%E9%9C%B2&newest=1")
    page.locator("#query").fill("deprecations")
    page.locator(".ways a.tongue").click()
    expect(page.locator("#query")).to_have_value("deprecations")
    expect(page).to_have_title("deprecations · rireki")


def _press_while_composing(page: Page, key: str) -> bool:
    """A key as an input method sends it; whether a script took it."""
    taken: bool = page.evaluate(
        """key => !document.activeElement.dispatchEvent(new KeyboardEvent("keydown",
        { key, isComposing: true, bubbles: true, cancelable: true }))""",
        key,
    )
    return taken


def test_keys_of_the_input_method_stay_with_it(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open()
    page.locator("#query").fill("玉露")
    expect(page.locator("#quick .hit").first).to_be_visible()
    assert not _press_while_composing(page, "ArrowDown")
    expect(page.locator("#query")).to_be_focused()
    assert not _press_while_composing(page, "Escape")
    expect(page.locator("#quick")).to_be_visible()


def test_escape_closes_what_is_open_and_keeps_the_words(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open()
    page.locator("#query").fill("deprecations")
    expect(page.locator("#quick .hit").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#quick")).to_be_hidden()
    expect(page.locator("#query")).to_have_value("deprecations")
    page.goto("/search?q=deprecations")
    page.locator("#query").focus()
    page.get_by_role("button", name="How to search").click()
    page.locator("#query").focus()
    page.keyboard.press("Escape")
    expect(page.locator("#query-help")).to_be_hidden()
    page.wait_for_timeout(300)
    expect(page.locator("#query")).to_have_value("deprecations")
    expect(page.locator(".hit").first).to_be_visible()
    expect(page).to_have_url(f"{shown.base}/search?q=deprecations")


def test_results_that_were_closed_do_not_open_again(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open()
    asked: list[Route] = []
    page.route("**/search?**", lambda route: asked.append(route))
    with page.expect_request("**/search?**"):
        page.locator("#query").fill("deprecations")
    # Nobody waits for the answer any more.
    with page.expect_event("requestfailed"):
        page.mouse.click(*ASIDE)
    # Closed in the pause after the last key, in the same moment: it is not even asked for.
    page.evaluate("""() => {
        const query = document.querySelector("#query");
        query.value = "deprecation";
        query.dispatchEvent(new InputEvent("input", { bubbles: true }));
        document.body.click();
        return new Promise((over) => setTimeout(over, 400));
    }""")
    expect(page.locator("#quick")).to_be_hidden()
    assert len(asked) == 1


def test_results_close_the_help_and_its_button_says_so(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open()
    button = page.get_by_role("button", name="How to search")
    button.click()
    page.locator("#query").fill("deprecations")
    expect(page.locator("#quick .hit").first).to_be_visible()
    expect(page.locator("#query-help")).to_be_hidden()
    expect(button).to_have_attribute("aria-expanded", "false")


def test_who_comes_back_from_a_result_finds_the_words(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open()
    page.locator("#query").fill("deprecations")
    page.locator("#quick .hit a").first.click()
    expect(page.locator("#stream .opened")).to_be_visible()
    expect(page.locator("#query")).to_have_value("")
    page.go_back()
    expect(page.locator("#query")).to_have_value("deprecations")
    page.locator("#query").focus()
    expect(page.locator("#quick .hit").first).to_be_visible()


@pytest.mark.parametrize("status", [0, 503])
def test_a_search_that_nobody_answers_says_so_and_goes_on(
    shown: Site, visit: Visiting, status: int
) -> None:
    visitor = visit(shown)
    page = visitor.open("/search?q=deprecations")
    away = page.locator("#results .away")
    pattern = "**/search?**"
    page.route(pattern, lambda r: r.fulfill(status=status, json={}) if status else r.abort())
    page.locator("#query").fill("玉露")
    expect(away).to_contain_text("does not answer just now")
    expect(page.locator("#results > .results")).to_have_css("opacity", "0.4")
    page.unroute(pattern)
    expect(page.locator(".hit mark").first).to_have_text("玉露")
    expect(away).to_have_count(0)
    expect(page.locator("#results > .results")).to_have_css("opacity", "1")
    page.goto("/")
    page.route(pattern, lambda r: r.abort())
    page.locator("#query").fill("玉露")
    expect(page.locator("#quick .away")).to_be_visible()
    page.unroute(pattern)
    page.keyboard.press("Backspace")
    expect(page.locator("#quick .hit").first).to_be_visible()
    visitor.faults = [fault for fault in visitor.faults if "Failed to load resource" not in fault]


def test_a_query_that_is_not_finished_keeps_its_results(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open("/search")
    fault = page.locator(".fault")
    page.locator("#query").focus()
    for typed in (' since:"', "yester", 'day" author:'):
        page.locator("#query").fill("deprecations")
        page.keyboard.press("End")
        page.keyboard.type(typed, delay=10)
        expect(page.locator(".hit mark").first).to_have_text("deprecations")
        assert page.get_by_role("alert").count() == 0
    expect(page).to_have_url(re.compile("author"))
    expect(fault).to_be_hidden()
    expect(page.locator("#results [role=status] > .fault")).to_be_visible()
    expect(fault).to_contain_text("author: at character")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("author: at character")


def test_a_phrase_is_searched_before_it_is_closed(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open("/search")
    page.locator("#query").fill('"Turning the depre')
    expect(page.locator(".hit").first).to_contain_text("Turning the deprecations")
    assert page.get_by_role("alert").count() == 0


@pytest.mark.parametrize("query", [f"a) {'x' * 300}", f"author:{'x' * 300}"])
def test_a_wrong_query_with_a_long_word_stays_on_the_page(
    shown: Site, visit: Visiting, query: str
) -> None:
    page = visit(shown, viewport={"width": 360, "height": 700}).open(f"/search?q={query}")
    expect(page.get_by_role("alert")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_row_found_by_its_directory_says_so(shown: Site, visit: Visiting) -> None:
    # The directories are one inside the other, and nobody ever said their name.
    page = visit(shown).open("/search?q=deep")
    result = page.locator(".result").first
    expect(result.locator(".row-facts mark").first).to_have_text("deep")
    assert result.locator(".hit").count() == 0
