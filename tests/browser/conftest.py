"""A browser and a server for each worker; a test gets tabs, and answers for all they did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from rireki.intake.demo import change_demo_home, make_demo_home
from tests.browser.driving import DriveSite
from tests.browser.serving import Session, Site
from tests.support.browser import PATIENCE, Trap, Visit, launch, trapping

expect.set_options(timeout=PATIENCE)

Visiting = Callable[..., Visit]

#: Two messages a turn: as many as the issue names.
LONG_TURNS = 2500


@pytest.fixture(scope="session")
def trap() -> Iterator[Trap]:
    with trapping() as trap:
        yield trap


# Not for the session: while Playwright runs, no other test could have an event loop.
@pytest.fixture(scope="package")
def browser(trap: Trap) -> Iterator[Browser]:
    with sync_playwright() as play:
        browser = launch(play, trap)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The invented history, which lost some, some small talk and a long one. Tests only read it."""
    site = Site(tmp_path_factory.mktemp("shown") / "site")
    site.home.rmdir()
    make_demo_home(site.home)
    for number in range(5):
        small = Session(site.home, f"small-{number}", datetime(2026, 7, 1 + number))
        # Each in a directory inside the one before.
        small.cwd = f"/home/u{'/deep' * number}"
        small.turn("small")
    long = Session(site.home, "long", datetime(2026, 8, 1, tzinfo=timezone.utc))
    with long.at_once():
        for turn in range(LONG_TURNS):
            long.turn(f"number {turn}")
    site.take_in()
    change_demo_home(site.home)
    site.take_in()
    yield site.start()
    site.end()


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server over a home that tests write to, each in conversations of its own."""
    site = Site(tmp_path_factory.mktemp("live") / "site")
    Session(site.home, "quiet", datetime(2026, 3, 1, tzinfo=timezone.utc)).turn("of long ago")
    yield site.start()
    site.end()


@pytest.fixture
def visit(browser: Browser, trap: Trap) -> Iterator[Visiting]:
    """Opens a browser of one's own on a site. Afterwards nothing may have gone wrong in it."""
    visits: list[Visit] = []
    trap.caught.clear()

    def come(site: Site, **options: Any) -> Visit:
        visits.append(Visit(browser, site.base, **options))
        # Whoever has the address has the cookie from then on.
        assert visits[-1].context.request.get(site.url).ok
        return visits[-1]

    yield come
    for each in visits:
        each.context.close()
    assert [fault for each in visits for fault in each.faults] == []
    assert [stray for each in visits for stray in each.strays] == []
    assert trap.caught == []


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DriveSite]:
    """A server that drives agents."""
    site = DriveSite(tmp_path_factory.mktemp("driven") / "site")
    site.start()
    yield site
    site.end()


@pytest.fixture
def visitor(driven: DriveSite, visit: Visiting) -> Visit:
    there: Visit = visit(driven)
    return there


@pytest.fixture
def page(visitor: Visit) -> Page:
    return visitor.context.new_page()
