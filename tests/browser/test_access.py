"""Every page for everybody: what axe measures at A and AA, in both themes, wide and narrow."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from tests.browser.access import failing
from tests.browser.conftest import Visiting
from tests.browser.driving import DriveSite, begin
from tests.browser.serving import Site
from tests.browser.test_looks import CONTRAST, PAGES, PHONE, shown_with
from tests.browser.test_reading import UPGRADE

SCHEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")


@pytest.mark.parametrize("size", [{}, PHONE], ids=["desktop", "phone"])
def test_every_page_passes_all_rules_in_both_themes(
    shown: Site, visit: Visiting, size: dict[str, Any]
) -> None:
    page = visit(shown, **size).open()
    found = {}
    for name, path in (PAGES | {"raw": raw_of(page)}).items():
        shown_with(page, path)
        found[name] = failing(page, colours=not size)
        # As strict, and a tenth of the work: words over a gradient are judged as well.
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            found[name] += page.evaluate(CONTRAST)
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize("size", [{}, PHONE], ids=["desktop", "phone"])
def test_what_an_agent_waits_for_passes_as_well(
    driven: DriveSite, visit: Visiting, size: dict[str, Any]
) -> None:
    page = visit(driven, **size).open()
    begin(page, driven, "permission")
    expect(page.locator(".ask[data-ask]")).to_be_visible()
    assert failing(page) == []
    for path in ("/inbox", "/new"):
        page.goto(path)
        assert failing(page) == []


def test_what_opens_over_a_page_passes_as_well(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open()
    page.locator("#query-help-switch").click()
    assert failing(page) == []
    page.goto(f"/c/{UPGRADE}")
    page.locator("details.menu summary").click()
    assert failing(page) == []
    page.keyboard.press("Escape")
    page.locator("#main").focus()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    assert failing(page) == []


def test_faults_are_really_found(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open("/help")
    page.evaluate("document.querySelector('.brand').removeAttribute('aria-label')")
    page.evaluate("document.querySelector('.brand').replaceChildren()")
    page.evaluate("document.querySelector('h1').style.color = '#999'")
    assert [line.partition(":")[0] for line in failing(page)] == ["color-contrast", "link-name"]


def raw_of(page: Page) -> str:
    page.goto(f"/c/{UPGRADE}")
    link = page.locator("#stream .raw").first.get_attribute("href")
    assert link
    return link
