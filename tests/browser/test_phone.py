"""A phone of the local network: paired, reading, answering an agent, live, and locked out again."""

from __future__ import annotations

import base64
import hashlib
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.sync_api import Browser, Page, expect

from rireki.errors import RirekiError
from rireki.web.lan.address import lan_address
from tests.browser.access import failing
from tests.browser.conftest import Visiting
from tests.browser.driving import DriveSite, begin, settled
from tests.browser.test_access import SCHEMES
from tests.browser.test_looks import ACCESS, CONTRAST, PHONE
from tests.support.browser import Trap, Visit, launch_like


def address() -> str:
    """The one of this machine's network, where it is in one; else another one of its own."""
    try:
        return lan_address()
    except RirekiError:
        return "127.0.0.2"


class LanSite(DriveSite):
    """Drives the scripted agent, and is open to the local network."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.options = (*self.options, "--lan", address())

    @property
    def lan(self) -> str:
        return str(self.said["lan"]["url"]).rstrip("/")

    def key_digest(self) -> str:
        """What a browser is told to go on with, and nothing else: the digest of the server's key."""
        host, port = self.lan.removeprefix("https://").rsplit(":", 1)
        found = x509.load_pem_x509_certificate(
            ssl.get_server_certificate((host, int(port))).encode()
        )
        shown = hashlib.sha256(found.public_bytes(Encoding.DER)).hexdigest().upper()
        assert shown == self.said["lan"]["fingerprint"].replace(":", "")
        key = found.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return base64.b64encode(hashlib.sha256(key).digest()).decode()


@pytest.fixture(scope="module")
def open_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanSite]:
    site = LanSite(tmp_path_factory.mktemp("lan") / "site")
    site.start()
    yield site
    site.end()


@pytest.fixture(scope="module")
def pocket(open_site: LanSite, browser: Browser, trap: Trap) -> Iterator[Browser]:
    """The browser of a phone, in which somebody compared the fingerprint."""
    trusted = f"--ignore-certificate-errors-spki-list={open_site.key_digest()}"
    beside = f"--proxy-bypass-list={address()}"
    found = launch_like(browser, trap, trusted, beside)
    yield found
    found.close()


@pytest.fixture
def desk(visit: Visiting, open_site: LanSite) -> Page:
    page: Page = visit(open_site).open("/devices")
    return page


@pytest.fixture
def phone(pocket: Browser, open_site: LanSite) -> Iterator[Visit]:
    visit = Visit(pocket, open_site.lan, **PHONE)
    yield visit
    visit.context.close()
    # That it was not let in, or is not any more, is said in the console as well.
    assert [fault for fault in visit.faults if " 401 " not in fault] == []
    assert visit.strays == []


def a_code(desk: Page, **chosen: bool) -> str:
    desk.goto("/devices")
    if desk.get_by_role("button", name="Cancel").count():
        desk.get_by_role("button", name="Cancel").click()
    if not chosen.get("drives", True):
        desk.get_by_label("It may let agents work").uncheck()
    desk.get_by_role("button", name="Show a code").click()
    return desk.locator(".pairing-code").inner_text()


def pair(phone: Visit, code: str, name: str) -> Page:
    page = phone.open(f"/pair?code={code}")
    page.get_by_label("Name of this device").fill(name)
    page.get_by_role("button", name="Pair").click()
    page.wait_for_url(f"{phone.base}/")
    return page


def test_a_phone_is_paired_answers_an_agent_and_is_locked_out(
    open_site: LanSite, desk: Page, phone: Visit
) -> None:
    code = a_code(desk)
    expect(desk.get_by_role("img", name="QR code")).to_be_visible()
    expect(desk.locator(".fingerprint")).to_have_text(open_site.said["lan"]["fingerprint"])
    page = pair(phone, code, "My <b>phone")
    # The page of the computer sees it without being loaded again.
    expect(desk.locator(".device-rows strong")).to_have_text("My <b>phone")
    # Something waits: seen on the phone as it happens, and decided there.
    begin(desk, open_site, "permission")
    expect(page.locator("#waiting")).to_have_text("1")
    with page.expect_navigation():
        page.locator(".drive-ways a[href='/inbox']").click()
    expect(page.locator(".ask")).to_contain_text("rm -rf build")
    page.get_by_role("button", name="Allow once").click()
    settled(desk)
    expect(desk.locator("#stream")).to_contain_text("I was told: allow")
    page.goto(f"/c/{desk.url.rpartition('/c/')[2]}")
    expect(page.locator("#stream")).to_contain_text("I was told: allow")
    # Live on the phone as well, and sent from there.
    page.locator("#prompt").fill("hello from the phone")
    page.locator("#prompt").press("Enter")
    expect(desk.locator("#stream")).to_contain_text("hello from the phone")
    settled(desk)
    # Locked out: the open page goes by itself.
    there = page.locator("#stream")
    expect(there).to_be_visible()
    other = desk.context.new_page()
    other.goto("/devices")
    other.get_by_role("button", name="Lock My <b>phone out").click()
    expect(other.locator("#devices")).to_contain_text("None yet.")
    expect(page.get_by_text("This device is not paired.")).to_be_visible()
    expect(there).to_have_count(0)
    assert page.goto("/") is not None
    expect(page.get_by_role("link", name="pair this device")).to_be_visible()


def test_a_phone_that_only_reads_sees_what_waits_and_decides_nothing(
    open_site: LanSite, desk: Page, phone: Visit
) -> None:
    page = pair(phone, a_code(desk, drives=False), "Reader")
    begin(desk, open_site, "permission")
    conversation = f"/c/{desk.url.rpartition('/c/')[2]}"
    page.goto("/")
    expect(page.locator("#waiting")).to_have_count(0)
    assert page.goto("/inbox").status == 404  # type: ignore[union-attr]
    sent = page.evaluate(
        """async (path) => (await fetch(path, {method: "POST", body: "{}",
            headers: {"Content-Type": "application/json"}})).status""",
        "/api/v1/drive/x/kill",
    )
    assert sent == 403
    phone.faults.clear()
    desk.get_by_role("button", name="Allow once").click()
    settled(desk)
    page.goto("/")
    expect(page.locator("#list .row").first).to_be_visible()
    page.goto(conversation)
    expect(page.locator("#stream")).to_contain_text("I was told: allow")
    expect(page.locator("#prompt")).to_have_count(0)
    page.goto("/devices")
    expect(page.locator("#devices")).to_contain_text("may only read")
    page.get_by_role("button", name="Lock this device out").click()
    expect(page.get_by_text("This device is not paired.")).to_be_visible()


def test_pairing_works_without_scripts(open_site: LanSite, desk: Page, pocket: Browser) -> None:
    plain = Visit(pocket, open_site.lan, java_script_enabled=False, **PHONE)
    page = pair(plain, a_code(desk), "Plain")
    expect(page.locator("h1").first).to_be_visible()
    page.goto("/devices")
    page.get_by_role("button", name="Lock this device out").click()
    expect(page.get_by_text("This device is not paired.")).to_be_visible()
    plain.context.close()


def test_without_its_fingerprint_a_browser_goes_no_further(
    open_site: LanSite, browser: Browser, trap: Trap
) -> None:
    strict = launch_like(browser, trap, f"--proxy-bypass-list={address()}")
    with pytest.raises(Exception, match="ERR_CERT_AUTHORITY_INVALID"):
        strict.new_page().goto(open_site.lan)
    strict.close()


@pytest.mark.parametrize("size", [{}, PHONE], ids=["desktop", "phone"])
def test_the_pages_of_pairing_are_for_everybody(
    open_site: LanSite, desk: Page, pocket: Browser, visit: Visiting, size: dict[str, Any]
) -> None:
    def check(page: Page) -> None:
        assert failing(page, colours=not size) == []
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(CONTRAST) == []
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(wide) == 0

    page = visit(open_site, **size).open("/devices")
    check(page)
    a_code(page)
    check(page)
    assert page.evaluate(ACCESS) == []
    stranger = Visit(pocket, open_site.lan, **size)
    at_pair = stranger.open("/pair?code=WRONG")
    check(at_pair)
    at_pair.get_by_role("button", name="Pair").click()
    expect(at_pair.get_by_role("alert")).to_be_visible()
    check(at_pair)
    stranger.context.close()
