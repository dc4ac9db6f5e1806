"""The way in: from the file that `rireki serve` opens, in a real browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from rireki.cli.browser import Opening
from rireki.sources.kit.places import Places
from rireki.web.serve import Server, bind
from tests.browser.serving import Session, Site
from tests.support.browser import PATIENCE


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    site = Site(tmp_path / "site")
    Session(site.home, "mine").turn("of my own")
    site.take_in()
    token = "the-token-of-the-tests-0123456789"
    server = Server(bind("127.0.0.1", 0), site.archive, Places.at(site.home), token, keep=False)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield server
    server.stop()
    thread.join(PATIENCE)


def test_the_file_leads_a_browser_to_the_page_and_it_stays_let_in(
    browser: Browser, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("rireki.cli.browser._open", opened.append)
    ticket = server.access.issue()
    opening = Opening(ticket, server.ticket_url(ticket.value), lambda: None)
    opening.start()
    context = browser.new_context()
    page = context.new_page()
    page.goto(opened[0] if opened else opening._file.as_uri())  # type: ignore[union-attr]
    expect(page.locator("#list .row")).to_have_count(1)
    assert page.url == server.plain_url
    # A new tab is let in by the cookie; the ticket in the history opens nothing.
    assert context.new_page().goto(server.plain_url).status == 200  # type: ignore[union-attr]
    stranger = browser.new_context().new_page()
    assert stranger.goto(server.ticket_url(ticket.value)).status == 401  # type: ignore[union-attr]
    context.close()
    stranger.context.close()
