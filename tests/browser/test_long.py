"""A conversation of 5,000 messages: the page stays small, and goes anywhere in it."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import LONG_TURNS, Visiting
from tests.browser.serving import Session, Site

UNITS = "document.querySelectorAll('#stream .unit')"
#: Units that stand on the page at once, however long the conversation is.
MOST = 400


def address(site: Site, query: str = "") -> str:
    return f"/c/{Session(site.home, 'long').id}{query}"


def indexes(page: Page) -> list[int]:
    found: list[int] = page.evaluate(f"[...{UNITS}].map(unit => Number(unit.dataset.index))")
    return found


def top_of(page: Page, index: int) -> float:
    top: float = page.evaluate(
        "index => document.querySelector(`[data-index='${index}']`).getBoundingClientRect().top",
        index,
    )
    return top


def test_it_opens_at_its_beginning_with_a_window_of_it(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(address(shown))
    expect(page.locator("#stream")).to_contain_text("prompt number 0")
    assert page.locator("#stream").get_attribute("data-total") == str(2 * LONG_TURNS)
    assert indexes(page)[0] == 0 and len(indexes(page)) <= MOST
    # The outline comes after the page: all prompts, not only those of the window.
    expect(page.locator("#prompts li")).to_have_count(LONG_TURNS)
    expect(page.locator("#position")).to_have_text(f"turn 1 of {LONG_TURNS}")


def test_jumping_to_the_end_and_to_the_beginning(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(address(shown))
    expect(page.locator("#prompts li")).to_have_count(LONG_TURNS)
    page.get_by_role("link", name="To the end").click()
    last = page.get_by_text(f"answer number {LONG_TURNS - 1}", exact=True)
    expect(last).to_be_in_viewport()
    expect(page.locator("#position")).to_have_text(f"turn {LONG_TURNS} of {LONG_TURNS}")
    assert len(indexes(page)) <= MOST
    page.keyboard.press("g")
    expect(
        page.locator("#stream").get_by_text("prompt number 0", exact=True).first
    ).to_be_in_viewport()
    page.keyboard.press("G")
    expect(last).to_be_in_viewport()


def test_scrolling_up_brings_earlier_messages_and_moves_nothing(
    shown: Site, visit: Visiting
) -> None:
    page = visit(shown).open(address(shown, "?end=1"))
    expect(page.get_by_text(f"answer number {LONG_TURNS - 1}", exact=True)).to_be_in_viewport()
    # Held still by us: what the browser itself would do about it is not what is tested.
    moves = page.evaluate(
        """async () => {
            const frame = () => new Promise(requestAnimationFrame);
            const moves = [];
            for (let step = 0; step < 30; step++) {
              const first = document.querySelector("#stream .unit").dataset.index;
              scrollBy({ top: -900, behavior: "instant" });
              await frame();
              const seen = [...document.querySelectorAll("#stream .unit")]
                .find(unit => unit.getBoundingClientRect().top > 100);
              const top = seen.getBoundingClientRect().top;
              for (let wait = 0; wait < 6; wait++) await frame();
              const fresh = document.querySelector("#stream .unit").dataset.index !== first;
              if (seen.isConnected) moves.push([fresh, seen.getBoundingClientRect().top - top]);
            }
            return moves;
        }"""
    )
    assert sum(fresh for fresh, _ in moves) >= 3, "nothing earlier was brought"
    assert [by for _, by in moves if abs(by) > 2] == []
    shown_now = indexes(page)
    assert shown_now == list(range(shown_now[0], shown_now[-1] + 1)), "a unit is missing or twice"
    assert shown_now[0] < 2 * LONG_TURNS - 200 and len(shown_now) <= MOST


def test_a_message_in_the_middle_is_opened_in_the_middle(shown: Site, visit: Visiting) -> None:
    session = Session(shown.home, "long")
    message = f"{2 * 1234:08x}-0000-4000-8000-{session.native[-12:]}"
    page = visit(shown).open(address(shown, f"?at={message}"))
    expect(page.locator(".opened")).to_contain_text("prompt number 1234")
    expect(page.locator(".opened")).to_be_in_viewport()
    expect(page.locator("#position")).to_have_text(f"turn 1235 of {LONG_TURNS}")
    assert 0 < top_of(page, 2 * 1234) < 200
    assert len(indexes(page)) <= MOST


def test_the_outline_jumps_without_loading_the_page_again(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(address(shown))
    expect(page.locator("#prompts li")).to_have_count(LONG_TURNS)
    page.evaluate("window.stayed = true")
    page.locator("#prompts a").nth(2000).click()
    expect(page.locator(".opened")).to_contain_text("prompt number 2000")
    expect(page.locator(".opened")).to_be_in_viewport()
    expect(page.locator("#prompts li.here")).to_contain_text("prompt number 2000")
    page.go_back()
    expect(
        page.locator("#stream").get_by_text("prompt number 0", exact=True).first
    ).to_be_in_viewport()


def test_keys_walk_on_beyond_the_window(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(address(shown))
    expect(page.locator("#prompts li")).to_have_count(LONG_TURNS)
    for step in range(75):
        page.keyboard.press("j")
        expect(page.locator(".unit.current")).to_have_attribute("data-index", str(step))
