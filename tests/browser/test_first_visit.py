"""The first visit: what was found on this machine, and an invented history where there is nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visiting
from tests.browser.serving import Session, Site


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path / "site")
    yield site
    site.end()


def test_a_machine_without_history_shows_an_invented_one_until_there_is_some(
    fresh: Site, visit: Visiting
) -> None:
    page = visit(fresh.start()).open()
    expect(page.get_by_role("note")).to_contain_text("Invented history")
    expect(page.locator("#list .row")).to_have_count(36)
    page.get_by_role("link", name="Upgrade to SQLAlchemy 2.0").click()
    expect(page.get_by_role("note")).to_contain_text("Invented history")
    page.go_back()
    session = Session(fresh.home, "mine")
    session.turn("of my own")
    expect(page.locator("#list .row")).to_have_count(1)
    expect(page.locator("#list .row")).to_have_attribute("data-conversation", session.id)
    expect(page.locator("#demo")).to_have_count(0)


def test_what_is_found_is_taken_in_while_one_watches(fresh: Site, visit: Visiting) -> None:
    for number in range(150):
        session = Session(fresh.home, f"found-{number}", datetime(2026, 9, 1, tzinfo=timezone.utc))
        with session.at_once():
            for turn in range(20):
                session.turn(f"{number} {turn}")
    page = visit(fresh.start()).open()
    # However far it is: at first what is found, in the end what was taken in.
    expect(page.locator("#list .row, #first .looked").first).to_be_visible()
    expect(page.locator("#first")).to_have_count(0)
    expect(page.locator("#list .row")).to_have_count(60)
    expect(page.locator("#filters .number, #side .number").first).to_have_text("150")
