"""What an agent waits for is decided on any page, by key, click or touch, once for all of them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visiting
from tests.browser.driving import DriveSite, begin, sent, settled, write
from tests.browser.test_looks import ACCESS, PHONE
from tests.support.payloads import MARKER, PAYLOADS


def card(page: Page) -> Locator:
    return page.locator(".ask[data-ask]")


def told(page: Page, text: str) -> None:
    """The agent said so, once."""
    expect(page.locator("#stream").get_by_text(text, exact=True)).to_have_count(1)


# ── Permissions ──


def test_a_card_tells_exactly_what_would_be_done(driven: DriveSite, page: Page) -> None:
    begin(page, driven, "permission")
    expect(card(page).get_by_role("heading")).to_have_text("rm -rf build")
    expect(card(page).locator(".command")).to_contain_text("rm -rf build")
    card(page).locator("summary", has_text="Every argument").click()
    expect(card(page).locator(".inside")).to_contain_text('"description": "Remove the build"')
    expect(page.locator("#waiting")).to_have_text("1")
    expect(page.locator("#drive .what")).to_have_text("waits for your permission")
    assert page.evaluate(ACCESS) == []
    # One word for one state: in and below the conversation, on its card, in its header, tab, the list.
    word = "waits for your permission"
    expect(page.locator("#stream .chip .label", has_text="rm -rf")).to_have_text(
        f"{word}: rm -rf build"
    )
    expect(card(page).locator(".ask-what")).to_have_text(word)
    expect(page.locator("#state .doing")).to_have_text(f"{word} · rm -rf build")
    expect(page).to_have_title(re.compile(rf"^\(1\) {word} · "))
    other = page.context.new_page()
    other.goto("/inbox")
    expect(other.locator(".ask-what")).to_have_text(word)
    other.goto("/")
    expect(other.locator(".row").first).to_contain_text(word)
    other.goto(page.url)
    expect(other).to_have_title(re.compile(word))
    other.goto("/?lang=ja")
    expect(other.locator(".row").first).to_contain_text("許可待ち")
    other.close()
    card(page).get_by_role("button", name="Allow once").click()
    expect(page.locator("#waiting")).to_be_hidden()
    expect(page).not_to_have_title(re.compile("waits"))
    expect(page.locator("#state .doing")).not_to_contain_text("waits")


@pytest.mark.parametrize(
    ("key", "outcome"), [("1", "allow"), ("2", "always"), ("3", "reject")], ids=str
)
def test_a_digit_decides_with_what_is_allowed_once_first(
    driven: DriveSite, page: Page, key: str, outcome: str
) -> None:
    begin(page, driven, "permission")
    expect(card(page)).to_be_visible()
    page.locator("#main").focus()
    page.keyboard.press(key)
    expect(card(page)).to_have_count(0)
    expect(page.locator("#stream")).to_contain_text(f"I was told: {outcome}")
    settled(page)


def test_digits_typed_into_the_box_decide_nothing(driven: DriveSite, page: Page) -> None:
    begin(page, driven, "permission")
    expect(card(page)).to_be_visible()
    page.locator("#prompt").focus()
    page.keyboard.type("123")
    expect(page.locator("#prompt")).to_have_value("123")
    expect(card(page)).to_be_visible()
    card(page).get_by_role("button", name="Allow once").click()
    told(page, "I was told: allow.")


def test_a_refusal_reaches_the_agent_with_its_reason(driven: DriveSite, page: Page) -> None:
    begin(page, driven, "permission")
    card(page).get_by_role("button", name="Refuse with a reason").focus()
    page.keyboard.press("Enter")
    page.keyboard.type("Only the cache, not the build.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(card(page)).to_have_count(0)
    expect(page.locator("#stream")).to_contain_text("Only the cache, not the build.")


def test_what_was_decided_elsewhere_ends_here_and_is_told(
    driven: DriveSite, page: Page, visit: Visiting
) -> None:
    begin(page, driven, "permission")
    other: Page = visit(driven).context.new_page()
    other.goto(page.url)
    expect(card(other)).to_be_visible()
    card(page).get_by_role("button", name="Always allow").click()
    expect(card(other)).to_have_count(0)
    expect(other.locator(".ask-over")).to_be_visible()
    expect(other.locator("#stream")).to_contain_text("I was told: always")


# ── Questions and plans ──


def test_questions_are_answered_by_keyboard(driven: DriveSite, page: Page) -> None:
    begin(page, driven, "question")
    expect(card(page).locator("fieldset")).to_have_count(2)
    assert page.evaluate(ACCESS) == []
    first, second = card(page).locator("fieldset").all()
    first.locator("input").first.focus()
    page.keyboard.press("2")
    chosen = [first.locator("input:checked").input_value()]
    second.locator("input").first.focus()
    page.keyboard.press("Space")
    chosen.append(second.locator("input:checked").first.input_value())
    card(page).get_by_role("button", name="Answer", exact=True).press("Enter")
    expect(card(page)).to_have_count(0)
    settled(page)
    for answer in chosen:
        expect(page.locator("#stream .message.agent").last).to_contain_text(answer)


def test_a_plan_is_approved_or_sent_back_with_what_to_change(driven: DriveSite, page: Page) -> None:
    begin(page, driven, "plan")
    expect(card(page).locator(".ask-what")).to_have_text("Plan · waits for your permission")
    expect(card(page).locator(".plan, .ask-detail")).not_to_have_count(0)
    page.locator("#main").focus()
    page.keyboard.press("1")
    expect(card(page)).to_have_count(0)
    settled(page)
    write(page, "plan")
    card(page).get_by_role("button", name="Refuse, and say what to change").click()
    page.keyboard.type("Measure first.")
    card(page).locator(".ask-reason button").click()
    expect(card(page)).to_have_count(0)
    expect(page.locator("#stream")).to_contain_text("Measure first.")


# ── All that waits ──


def test_the_inbox_is_worked_off_one_after_the_other(driven: DriveSite, page: Page) -> None:
    for _ in range(2):
        begin(page, driven, "permission")
        expect(card(page)).to_be_visible()
    talk = page.url
    inbox = page.context.new_page()
    inbox.goto("/inbox")
    waiting = card(inbox).count()
    assert waiting >= 2
    expect(inbox.locator("#waiting")).to_have_text(str(waiting))
    assert inbox.title().startswith(f"({waiting}) ")
    assert inbox.evaluate(ACCESS) == []
    expect(card(inbox).first).to_be_focused()
    for left in range(waiting - 1, -1, -1):
        first = card(inbox).first
        expect(first).to_be_focused()
        id = first.get_attribute("data-ask")
        inbox.keyboard.press("1")
        expect(inbox.locator(f'.ask[data-ask="{id}"]')).to_have_count(0)
        expect(card(inbox)).to_have_count(left)
    expect(inbox.locator("#nothing-waits")).to_be_visible()
    expect(inbox.locator("#waiting")).to_be_hidden()
    expect(card(page)).to_have_count(0)
    assert page.url == talk
    settled(page)


def test_what_comes_up_later_appears_in_the_open_inbox(
    driven: DriveSite, page: Page, visit: Visiting
) -> None:
    inbox: Page = visit(driven, **PHONE).context.new_page()
    inbox.goto("/inbox")
    expect(inbox.locator("#nothing-waits")).to_be_visible()
    begin(page, driven, "permission")
    expect(card(inbox)).to_be_visible()
    expect(card(inbox).locator(".ask-where")).to_contain_text("garden")
    card(inbox).get_by_role("button", name="Allow once").tap()
    expect(inbox.locator("#nothing-waits")).to_be_visible()
    told(page, "I was told: allow.")


# ── Stopping, ending, going on ──


def test_an_agent_that_works_is_stopped_and_the_queue_waits_for_a_word(
    driven: DriveSite, page: Page
) -> None:
    begin(page, driven, "forever")
    expect(page.locator("#drive .growing")).to_be_visible()
    write(page, "echo next in line")
    expect(page.locator("#drive .queue .words")).to_have_text("echo next in line")
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Go on with the queue").click()
    told(page, "next in line")
    settled(page)
    sent(page, "forever", "echo next in line")


def test_one_that_does_not_listen_is_ended_at_once_and_started_again(
    driven: DriveSite, page: Page
) -> None:
    begin(page, driven, "forever deaf")
    expect(page.locator("#drive .growing")).to_be_visible()
    page.get_by_role("button", name="End at once").click()
    expect(page.locator("#drive .drive-state")).to_have_attribute("data-state", "ended")
    page.get_by_role("button", name="Start again").click()
    settled(page)
    write(page, "echo here again")
    told(page, "here again")


def test_a_queued_prompt_can_be_changed_and_taken_back(driven: DriveSite, page: Page) -> None:
    begin(page, driven, "forever")
    expect(page.locator("#drive .growing")).to_be_visible()
    write(page, "echo first thought")
    write(page, "echo never said")
    lines = page.locator("#drive .queue li")
    expect(lines).to_have_count(2)
    lines.first.get_by_role("button", name="Change").click()
    lines.first.get_by_role("textbox").fill("echo second thought")
    lines.first.get_by_role("textbox").press("Tab")
    page.keyboard.press("Enter")
    expect(lines.first.locator(".words")).to_have_text("echo second thought")
    lines.last.get_by_role("button", name="Take back").click()
    expect(lines).to_have_count(1)
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Go on with the queue").click()
    told(page, "second thought")
    settled(page)
    sent(page, "forever", "echo second thought")


# ── Hostile agents ──


@pytest.mark.parametrize("part", range(4))
def test_nothing_that_an_agent_says_or_asks_is_live(
    driven: DriveSite, page: Page, part: int
) -> None:
    """A page that ran a script or asked another host fails by what its visit noted."""
    some = [text for text in PAYLOADS[part::4] if text.isprintable()]
    begin(page, driven, f"permission {' '.join(some)}")
    expect(card(page)).to_have_count(1)
    page.locator("#drive summary", has_text="Every argument").click()
    page.goto("/inbox")
    expect(card(page)).to_have_count(1)
    card(page).get_by_role("button", name="Refuse", exact=False).first.click()
    page.go_back()
    settled(page)
    write(page, f"echo {' '.join(some)}")
    settled(page)
    assert page.evaluate(f"window.{MARKER}") is None
