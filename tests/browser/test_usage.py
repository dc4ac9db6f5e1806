"""The page of usage as people see it: without scripts, on a phone, in the dark."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visiting
from tests.browser.serving import Site
from tests.browser.test_looks import PHONE

ALL = "/usage?period=all"
#: What is seen of the columns of the first chart.
COLUMNS = """() => {
  const chart = document.querySelector("svg.chart");
  const bounds = chart.getBoundingClientRect();
  return [...chart.querySelectorAll("rect")].map(rect => {
    const { left, right, top, bottom, width, height } = rect.getBoundingClientRect();
    const inside = left >= bounds.left - 1 && right <= bounds.right + 1 && top >= bounds.top - 1
      && bottom <= bounds.bottom + 1;
    return { inside, width, height, fill: getComputedStyle(rect).fill };
  });
}"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def columns(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(COLUMNS)
    assert found and all(each["inside"] and each["width"] > 0 for each in found)
    return found


def test_all_of_it_works_without_scripts(shown: Site, visit: Visiting) -> None:
    page = visit(shown, java_script_enabled=False).open(ALL)
    page.get_by_role("group", name="Split").get_by_role("link", name="Project").click()
    page.get_by_role("group", name="By").get_by_role("link", name="Week").click()
    page.get_by_role("group", name="Of").get_by_role("link", name="Cost").click()
    for name in ("Project", "Week", "Cost"):
        chosen = page.locator(".choices a[aria-current]", has_text=name)
        expect(chosen).to_have_count(1)
    assert {"period=all", "split=project", "by=week", "of=cost"} <= {
        *page.url.partition("?")[2].split("&")
    }
    page.get_by_text("As a table").first.click()
    expect(page.get_by_role("columnheader", name="Total")).to_be_visible()
    expect(page.get_by_role("img", name="Cost over time, by Project")).to_be_visible()


@pytest.mark.parametrize("step", ["day", "week", "month"])
@pytest.mark.parametrize("locale", ["en-US", "ja-JP"])
def test_it_fits_a_phone(shown: Site, visit: Visiting, locale: str, step: str) -> None:
    page = visit(shown, locale=locale, **PHONE).open(f"{ALL}&by={step}")
    assert page.evaluate(OVERFLOW) == 0
    columns(page)
    names = page.locator("svg.chart").first.locator("text.under")
    boxes = [box for each in names.all() if (box := each.bounding_box())]
    for left, right in pairwise(boxes):
        assert left["x"] + left["width"] < right["x"]


def test_colours_are_others_in_the_dark_and_differ_from_each_other(
    shown: Site, visit: Visiting
) -> None:
    page = visit(shown, color_scheme="light").open(f"{ALL}&split=project")
    light = {each["fill"] for each in columns(page)}
    page.emulate_media(color_scheme="dark")
    dark = {each["fill"] for each in columns(page)}
    assert len(light) == len(dark) >= 3
    assert not light & dark


def test_a_conversation_leads_to_its_context(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(ALL)
    page.get_by_role("link", name="context").last.click()
    expect(page.get_by_role("img", name="Context over the conversation")).to_be_in_viewport()
    assert page.locator("polyline").count() == 1
