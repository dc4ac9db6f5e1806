"""Scripts switched off: every page can be read, and every form does what it says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from rireki.intake.demo import make_demo_home
from tests.browser.conftest import Visiting
from tests.browser.serving import Site
from tests.browser.test_looks import PAGES, PHONE
from tests.browser.test_reading import UPGRADE
from tests.support.browser import Visit

TITLE = "Upgrade to SQLAlchemy 2.0"
#: Buttons and fields that can be seen and that no form sends: without scripts they do nothing.
DEAD = """() => [...document.querySelectorAll("button, input, select, textarea")]
  .filter(e => e.checkVisibility() && !e.closest("dialog"))
  // The name of a branch, which is open.
  .filter(e => !e.matches(".branch-switch"))
  .filter(e => !e.form || e.form.method === "dialog" || e.type === "button")
  .map(e => e.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The invented history, to which tests add something."""
    site = Site(tmp_path_factory.mktemp("own") / "site")
    site.home.rmdir()
    make_demo_home(site.home)
    site.take_in()
    yield site.start()
    site.end()


@pytest.fixture
def visitor(own: Site, visit: Visiting) -> Visit:
    there: Visit = visit(own, java_script_enabled=False)
    return there


@pytest.mark.parametrize("size", [{}, PHONE], ids=["desktop", "phone"])
def test_nothing_on_any_page_does_nothing(
    shown: Site, visit: Visiting, size: dict[str, object]
) -> None:
    page = visit(shown, java_script_enabled=False, **size).open()
    dead = {}
    for name, path in PAGES.items():
        page.goto(path)
        expect(page.locator("main h1, main h2").first).to_be_visible()
        dead[name] = page.evaluate(DEAD)
    assert {name: found for name, found in dead.items() if found} == {}


def test_on_a_phone_what_a_drawer_has_stands_below_the_page(shown: Site, visit: Visiting) -> None:
    page = visit(shown, java_script_enabled=False, **PHONE).open()
    page.locator("#side").get_by_role("link", name="kiro 4").click()
    expect(page.locator("#list .row")).to_have_count(4)
    page.goto(f"/c/{UPGRADE}")
    page.locator("#outline").get_by_role("link", name="Good. Go.").click()
    expect(page.locator("#stream .message", has_text="Good. Go.").first).to_be_in_viewport()


def test_what_people_add_is_saved(visitor: Visit) -> None:
    page = visitor.open(f"/c/{UPGRADE}")
    page.get_by_role("button", name="Star").click()
    expect(page.get_by_role("button", name="Star")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("link", name="Tag, note").click()
    page.get_by_label("Title").fill("Mine")
    page.get_by_label("Tags").fill("work, 移行")
    page.get_by_label("Note").fill("Look again")
    page.get_by_label("Leave it out").check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Mine")
    expect(page.locator("#added")).to_contain_text("#移行")
    expect(page.get_by_role("note", name="Your note")).to_have_text("Look again")
    page.goto("/?tag=work")
    expect(page.locator("#list .row")).to_have_count(0)
    page.goto(f"/curate/{UPGRADE}")
    page.get_by_label("Leave it out").uncheck()
    page.get_by_label("Title").fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text(TITLE)
    page.goto("/?tag=work")
    expect(page.locator("#list .row")).to_have_count(1)


def test_a_search_is_saved_and_taken_away(visitor: Visit) -> None:
    page = visitor.open()
    page.get_by_role("searchbox").fill("kettle")
    page.get_by_role("searchbox").press("Enter")
    page.get_by_text("Save this search").click()
    page.get_by_label("Name").fill("Tea")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("link", name="Tea", exact=True)).to_be_visible()
    page.get_by_role("button", name="Remove the saved search Tea").click()
    expect(page.get_by_role("link", name="Tea", exact=True)).to_have_count(0)


def test_what_is_forgotten_can_be_taken_back(visitor: Visit) -> None:
    page = visitor.open("/?project=/home/aiko/dev/tea-timer")
    before = page.locator("#list .row").count()
    page.get_by_role("link", name="Split timer.ts with two helpers").click()
    page.get_by_label("What can be done with it").click()
    page.get_by_role("link", name="Forget").first.click()
    page.locator("main").get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Undo").click()
    page.goto("/?project=/home/aiko/dev/tea-timer")
    expect(page.locator("#list .row")).to_have_count(before)


def test_a_project_is_shown_as_it_was(shown: Site, visit: Visiting) -> None:
    page: Page = visit(shown, java_script_enabled=False).open(
        "/project?path=/home/aiko/infra/night-train"
    )
    moments = page.get_by_role("combobox", name="Moment")
    moments.select_option(index=0)
    page.get_by_role("button", name="Show").click()
    assert "as_of=2026" in page.url
    assert page.locator(".held .row.elsewhen").count() > 0


def test_two_moments_are_compared_and_turns_are_shared(shown: Site, visit: Visiting) -> None:
    page = visit(shown, java_script_enabled=False).open(PAGES["versions"])
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".step").first).to_be_visible()
    page.goto(PAGES["share"])
    page.get_by_label("Turns").fill("2")
    page.get_by_role("button", name="Show").click()
    assert "turns=2" in page.url
