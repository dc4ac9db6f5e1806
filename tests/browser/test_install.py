"""The pages as an app: offered where the browser believes who we are, and no way in for others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visiting
from tests.browser.serving import Session, Site
from tests.web.conftest import until


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path / "site")
    Session(site.home, "mine").turn("of my own")
    yield site.start()
    site.end()


def install(page: Page) -> None:
    page.goto("/devices")
    page.get_by_role("button", name="Make it ready to install").click()
    expect(page.locator("#install [role=status]")).to_have_text("Ready")


def test_while_the_server_is_away_there_is_a_page_and_nothing_of_a_conversation(
    site: Site, visit: Visiting
) -> None:
    there = visit(site)
    page = there.open()
    manifest = page.locator('link[rel="manifest"]').get_attribute("href")
    said = there.context.request.get(manifest or "").json()
    assert said["display"] == "standalone" and said["start_url"] == "/"
    for icon in said["icons"]:
        assert there.context.request.get(icon["src"]).headers["content-type"] == "image/png"
    install(page)
    page.goto("/")
    expect(page.locator("#list .row")).to_have_count(1)
    kept = """async () => {
        const names = [];
        for (const name of await caches.keys()) {
            for (const request of await (await caches.open(name)).keys()) {
                names.push(new URL(request.url).pathname);
            }
        }
        return names;
    }"""
    assert sorted(page.evaluate(kept)) == [
        "/offline",
        "/static/frame.css",
        "/static/pages.css",
        "/talk.css",
    ]
    site.end()
    page.goto("/")
    expect(page.get_by_role("heading", name="rireki cannot be reached")).to_be_visible()
    site.start()
    page.get_by_role("link", name="Try again").click()
    expect(page.locator("#list .row")).to_have_count(1)
    # What could not be reached meanwhile is said in the console.
    there.context.close()
    there.faults.clear()


def test_a_page_of_another_site_gets_nothing_through_the_worker(
    site: Site, visit: Visiting
) -> None:
    there = visit(site)
    install(there.open())
    page = there.context.new_page()
    page.goto("data:text/html,<h1>elsewhere</h1>")
    page.set_content(
        f'<form method="post" action="{site.base}/searches"><input name="q" value="planted">'
        "<button>Go</button></form>"
    )
    with page.expect_response(f"{site.base}/searches") as answered:
        page.get_by_role("button").click()
    assert answered.value.status == 403
    page.goto(f"{site.base}/search")
    expect(page.get_by_text("planted")).to_have_count(0)
    there.context.close()
    there.faults.clear()


#: Notes what the worker would show and open, in a browser without a desktop.
NOTING = """() => {
    self.told = [];
    self.registration.showNotification = async (title, { data }) => self.told.push([title, data.url]);
    self.clients.openWindow = async (url) => self.told.push(["opened", url]);
}"""
CLICK = """(url) => {
    const click = Object.assign(new Event("notificationclick"), {
        notification: { close() {}, data: { url } }, waitUntil() {},
    });
    self.dispatchEvent(click);
}"""


def test_what_a_push_service_delivers_is_shown_and_leads_to_our_pages_only(
    site: Site, visit: Visiting
) -> None:
    there = visit(site)
    page = there.open()
    browser = there.context.new_cdp_session(page)
    found: list[str] = []

    def note(event: dict[str, Any]) -> None:
        found.extend(each["registrationId"] for each in event["registrations"])

    browser.on("ServiceWorker.workerRegistrationUpdated", note)
    browser.send("ServiceWorker.enable")
    install(page)
    # Asking the page lets what the browser tells come in.
    until(lambda: page.evaluate("true") and found)
    worker = there.context.service_workers[0]
    worker.evaluate(NOTING)
    said = {"title": "Agent: waits for your permission", "body": "", "url": "/c/bridge/x"}
    given = {"origin": site.base, "registrationId": found[0], "data": json.dumps(said)}
    browser.send("ServiceWorker.deliverPushMessage", given)
    until(lambda: worker.evaluate("self.told.length") == 1)
    for url in ("/c/bridge/x", "https://evil.example/", "//evil.example/x", "javascript:alert(1)"):
        worker.evaluate(CLICK, url)
    assert worker.evaluate("self.told") == [
        ["Agent: waits for your permission", "/c/bridge/x"],
        ["opened", f"{site.base}/c/bridge/x"],
        *[["opened", site.base]] * 3,
    ]
