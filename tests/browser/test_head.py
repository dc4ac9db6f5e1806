"""The head and the left column of a conversation: compact, in sight, of use without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visiting
from tests.browser.driving import DriveSite, begin
from tests.browser.serving import Site
from tests.browser.test_looks import PHONE
from tests.browser.test_reading import BRANCHED, COMPACTED, GONE, PARENT, UPGRADE

TABLET = {"viewport": {"width": 1024, "height": 768}}
NO_SCRIPTS = {"java_script_enabled": False}


def top_of_first_words(page: Page) -> float:
    box = page.locator("#stream .unit .message").first.bounding_box()
    assert box is not None
    return box["y"]


@pytest.mark.parametrize("locale", ["en-US", "ja-JP"])
def test_the_first_words_are_on_the_first_screen_of_a_phone(
    shown: Site, visit: Visiting, locale: str
) -> None:
    visitor = visit(shown, locale=locale, **PHONE)
    tops = {}
    for id in (UPGRADE, BRANCHED, PARENT, COMPACTED, GONE):
        tops[id] = top_of_first_words(visitor.open(f"/c/{id}?start=1"))
    assert max(tops.values()) < 844 / 2, tops


@pytest.mark.parametrize("size", [{}, TABLET, PHONE], ids=["desktop", "tablet", "phone"])
def test_title_and_actions_stay_in_sight(
    shown: Site, visit: Visiting, size: dict[str, Any]
) -> None:
    page = visit(shown, **size).open(f"/c/{UPGRADE}?start=1")
    page.keyboard.press("Shift+G")
    expect(page.locator("h1")).to_be_in_viewport(ratio=1)
    expect(page.locator(".actions summary")).to_be_in_viewport(ratio=1)
    # A message that is gone to stands below them.
    page.keyboard.press("g")
    page.keyboard.press("j")
    page.keyboard.press("j")
    head, unit = page.locator(".talk-top").bounding_box(), page.locator(".current").bounding_box()
    assert head is not None and unit is not None
    assert head["y"] + head["height"] <= unit["y"]


def test_a_state_stays_in_sight_too(driven: DriveSite, visit: Visiting) -> None:
    page = visit(driven, **PHONE).open()
    begin(page, driven, "permission")
    expect(page.locator("#state .doing")).to_have_text("waits for your permission · rm -rf build")
    page.locator(".ask").scroll_into_view_if_needed()
    expect(page.locator("#state .doing")).to_be_in_viewport(ratio=1)


def test_the_menu_works_by_touch_and_by_key(shown: Site, visit: Visiting) -> None:
    phone = visit(shown, **PHONE).open(f"/c/{UPGRADE}")
    menu = phone.locator("details.menu")
    menu.locator("summary").tap()
    expect(menu.get_by_role("link", name="Versions")).to_be_in_viewport(ratio=1)
    expect(menu.get_by_role("link", name="Original files")).to_be_in_viewport(ratio=1)
    phone.touchscreen.tap(30, 800)
    expect(menu.get_by_role("link", name="Versions")).to_be_hidden()
    page = visit(shown).open(f"/c/{UPGRADE}")
    page.locator("details.menu summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Share")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Share")).to_be_hidden()
    expect(page.locator("details.menu summary")).to_be_focused()


def test_without_scripts_the_menu_opens_and_leads_on(shown: Site, visit: Visiting) -> None:
    page = visit(shown, **PHONE, **NO_SCRIPTS).open(f"/c/{UPGRADE}")
    page.locator("details.menu summary").tap()
    page.locator("details.menu").get_by_role("link", name="Explain").tap()
    expect(page.locator("h1")).to_have_text("Explain")


def test_the_neighbours_of_its_project_stand_at_the_left(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(f"/c/{UPGRADE}")
    column = page.get_by_role("navigation", name="Conversations of this project")
    here = column.locator("[aria-current=page]")
    expect(here).to_contain_text("Upgrade to SQLAlchemy 2.0")
    title = here.locator("xpath=following-sibling::a[1]").locator("span").first.inner_text()
    here.locator("xpath=following-sibling::a[1]").click()
    expect(page.locator("h1")).to_have_text(title)
    expect(page.locator(".neighbours [aria-current=page]")).to_contain_text(title)


def test_a_tablet_has_neighbours_and_outline_at_the_left(shown: Site, visit: Visiting) -> None:
    page = visit(shown, **TABLET).open(f"/c/{UPGRADE}?start=1")
    expect(page.locator("#side [aria-current=page]")).to_be_in_viewport(ratio=1)
    asked = page.locator("#prompts").get_by_role("link", name="Carry on with menu.py")
    expect(asked).to_be_in_viewport(ratio=1)
    asked.click()
    expect(page.locator(".opened")).to_be_in_viewport()
    expect(asked).to_be_in_viewport(ratio=1)
    words = page.locator("main").bounding_box()
    line = asked.bounding_box()
    assert words is not None and line is not None and line["x"] + line["width"] <= words["x"]
