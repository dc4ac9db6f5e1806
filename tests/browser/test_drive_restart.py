"""Prompts that a restart of the server left: shown everywhere, given after one yes, none lost."""

from __future__ import annotations

import json
import signal

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driving import DriveSite, begin, sent, settled, write
from tests.browser.test_drive_reload import forgive, given
from tests.support.browser import Visit


def leave_two(driven: DriveSite, page: Page, word: str, how: signal.Signals) -> str:
    """The address of a conversation in which two prompts wait; its server was restarted."""
    begin(page, driven, f"slow 5 {word}")
    expect(page.locator(".growing")).to_be_visible()
    for name in ("first", "second"):
        write(page, f"echo {name} {word}")
        expect(page.locator("#drive .queue")).to_contain_text(f"echo {name} {word}")
    address = page.url
    page.goto("about:blank")
    driven.end(how)
    driven.start()
    return address


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["ended", "killed"])
def test_they_wait_in_the_list_in_the_inbox_and_in_the_conversation(
    driven: DriveSite, page: Page, visitor: Visit, how: signal.Signals
) -> None:
    word = f"everywhere {how.name}"
    address = leave_two(driven, page, word, how)
    page.goto("/")
    row = page.locator(f'.row[data-conversation="{address.partition("/c/")[2]}"]')
    expect(row.locator('[data-doing="permission"]')).to_have_text("waits for your permission")
    expect(page.locator("#waiting")).to_have_text("1")
    page.goto("/inbox")
    card = page.locator(".ask.prompts[data-ask]")
    expect(card).to_have_count(1)
    expect(card).to_contain_text("Prompts from before rireki was restarted: 2")
    expect(card).to_contain_text(f"echo first {word}")
    expect(card).to_contain_text(f"echo second {word}")
    assert given(driven, f"first {word}") == given(driven, f"second {word}") == 0
    # By its digit, like every card.
    page.keyboard.press("1")
    expect(page.locator("#nothing-waits")).to_be_visible()
    page.goto(address)
    settled(page)
    sent(page, f"slow 5 {word}", f"echo first {word}", f"echo second {word}")
    assert given(driven, f"first {word}") == given(driven, f"second {word}") == 1
    expect(page.locator("#waiting")).to_be_hidden()
    forgive(visitor)


def test_each_can_be_changed_or_taken_back_before_the_yes(
    driven: DriveSite, page: Page, visitor: Visit
) -> None:
    page.goto(leave_two(driven, page, "changed", signal.SIGKILL))
    card = page.locator("#drive .ask.prompts[data-ask]")
    expect(card).to_contain_text("echo first changed")
    lines = page.locator("#drive .queue li")
    expect(lines).to_have_count(2)
    expect(page.locator("#drive .stop")).to_be_hidden()
    expect(page.locator("#drive .proceed")).to_be_hidden()
    lines.first.get_by_role("button", name="Change").first.click()
    lines.first.locator("textarea").fill("echo other words")
    lines.first.locator("form button").first.click()
    expect(card).to_contain_text("echo other words")
    lines.last.get_by_role("button", name="Take back").click()
    expect(card).not_to_contain_text("echo second changed")
    expect(card).to_contain_text("restarted: 1")
    expect(page.locator("#drive .ask-over")).to_have_count(0)
    card.get_by_role("button", name="Give them to the agent").click()
    settled(page)
    assert given(driven, "echo other words") == 1
    assert given(driven, "echo first changed") == given(driven, "echo second changed") == 0
    forgive(visitor)


def test_all_can_be_taken_back_and_what_is_sent_then_goes_at_once(
    driven: DriveSite, page: Page, visitor: Visit
) -> None:
    page.goto(leave_two(driven, page, "back", signal.SIGTERM))
    page.locator("#drive .ask.prompts").get_by_role("button", name="Take them back").click()
    expect(page.locator("#drive .queue li")).to_have_count(0)
    write(page, "echo instead")
    expect(page.locator("#stream").get_by_text("instead", exact=True)).to_have_count(1)
    assert given(driven, "first back") == 0
    forgive(visitor)


def test_the_card_is_told_in_japanese(driven: DriveSite, page: Page, visitor: Visit) -> None:
    page.goto(leave_two(driven, page, "日本語", signal.SIGTERM) + "?lang=ja")
    card = page.locator("#drive .ask.prompts[data-ask]")
    expect(card).to_contain_text("rireki の再起動前に送られた依頼：2 件")
    card.get_by_role("button", name="エージェントに渡す").click()
    settled(page)
    assert given(driven, json.dumps("first 日本語")[1:-1]) == 1
    page.goto("/?lang=en")
    forgive(visitor)


def test_what_was_on_the_screen_when_the_server_was_killed_is_there_afterwards(
    driven: DriveSite, page: Page, visitor: Visit
) -> None:
    begin(page, driven, "stream 100 0.05")
    expect(page.locator(".growing")).to_contain_text("piece 20")
    seen = page.locator(".growing .words").inner_text().strip()
    page.wait_for_timeout(600)
    driven.end(signal.SIGKILL)
    driven.start()
    page.reload()
    settled(page, "ended")
    expect(page.locator("#stream").get_by_text(seen)).to_have_count(1)
    sent(page, "stream 100 0.05")
    forgive(visitor)
