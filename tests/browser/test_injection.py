"""Transcripts are hostile: on no page does anything in them run, load or send something."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Visiting
from tests.browser.hostile import WORD, fill, say
from tests.browser.serving import Session, Site
from tests.support.browser import Trap, Visit
from tests.support.payloads import MARKER, PAYLOADS

#: Before anything on a page: notes whatever should never happen.
WATCH = """
window.noted = [];
for (const name of ["alert", "confirm", "prompt", "open"]) {
  window[name] = () => window.noted.push(name);
}
document.addEventListener("securitypolicyviolation", (event) => {
  window.noted.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`);
});
"""
#: What stands on the page that only a transcript can have brought there.
LOOK = """(marker) => {
  const found = [...window.noted];
  if (marker in window) found.push("it ran");
  const never = "iframe,object,embed,base,marquee,audio,video,math,template,textarea,xmp,plaintext,"
    + "noscript,animate,foreignObject,style,body link,"
    + "link:not([rel=icon],[rel=stylesheet],[rel=manifest],[rel=apple-touch-icon])";
  const isExport = location.protocol === "file:";
  const names = isExport ? never.replace(",style", "") : never;
  for (const each of document.querySelectorAll(names)) found.push(each.outerHTML.slice(0, 120));
  for (const each of document.querySelectorAll("script")) {
    if (isExport || !(each.src || "").startsWith(`${location.origin}/static/`)) found.push(each.outerHTML);
  }
  const links = /^(https?:[/][/][^/]|mailto:.|#|[/](?![/\\\\])|$)/;
  const pictures = /^(data:image[/](png|jpeg|gif|webp);base64,|[/](?![/\\\\]))/;
  for (const each of document.querySelectorAll("*")) {
    for (const { name, value } of each.attributes) {
      const leads = /^(xlink:href|href|action|formaction)$/.test(name);
      const fits = name === "src" ? pictures : leads ? links : null;
      const isBad = /^on/i.test(name) || name === "style" || name === "srcdoc"
        || (fits && !fits.test(value) && each.localName !== "script");
      if (isBad) found.push(`<${each.localName} ${name}=${value.slice(0, 80)}>`);
    }
  }
  return found;
}"""
OPEN = """() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const branch of document.querySelectorAll(".branch-switch[aria-expanded=false]")) branch.click();
}"""


#: What markup looks like that was not escaped.
THROUGH = [
    "<img src=x onerror=rirekiOwned=1>",
    "<a href=javascript:rirekiOwned=1>x</a>",
    "<a href=//evil.example>x</a>",
    "<p style=position:fixed>x</p>",
    "<p onmouseover=rirekiOwned=1>x</p>",
    "<svg><script>rirekiOwned=1</script></svg>",
    "<iframe></iframe>",
    "<form action=https:evil.example></form>",
]
GONE_OUT = "GET http://evil.example/x HTTP/1.1"


class Hostile:
    def __init__(self, site: Site, ids: list[str]) -> None:
        self.site = site
        self.ids = ids


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    site = Site(tmp_path_factory.mktemp("hostile") / "site")
    ids = fill(site.home)
    site.take_in()
    yield Hostile(site.start(), ids)
    site.end()


@pytest.fixture
def visitor(hostile: Hostile, visit: Visiting) -> Visit:
    visitor: Visit = visit(hostile.site)
    visitor.context.add_init_script(WATCH)
    return visitor


def harmless(page: Page) -> None:
    """Nothing ran; and nothing is there that would have, were it not for the policy."""
    page.evaluate(OPEN)
    assert page.evaluate(LOOK, MARKER) == [], page.url


def address(page: str, id: str, **query: str) -> str:
    asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
    return f"/{page}/{quote(id)}?{asked}"


def test_there_are_enough_payloads() -> None:
    assert len(set(PAYLOADS)) >= 40


def test_what_got_through_would_be_seen(visitor: Visit, trap: Trap) -> None:
    page = visitor.open("/help")
    harmless(page)
    for bad in THROUGH:
        page.evaluate(
            "bad => document.querySelector('main').insertAdjacentHTML('beforeend', bad)", bad
        )
        assert page.evaluate(LOOK, MARKER) != [], bad
        page.evaluate("document.querySelector('main').lastChild.remove(); window.noted = []")
    harmless(page)
    page.goto("about:blank")
    page.set_content("<img src=http://evil.example/x>")
    assert [visitor.strays, trap.caught] == [["http://evil.example/x"], [GONE_OUT]]
    for seen in (visitor.faults, visitor.strays, trap.caught):
        seen.clear()


def test_lists_show_titles_and_projects_as_text(hostile: Hostile, visitor: Visit) -> None:
    page = visitor.open()
    more = page.locator("#more")
    while more.is_visible():
        rows = page.locator("#list .row").count()
        more.click()
        expect(page.locator("#list .row")).not_to_have_count(rows)
    assert page.locator("#list .row").count() > len(PAYLOADS)
    harmless(page)
    page.locator("#side a:has(.number)").last.click()
    harmless(page)
    page.locator(".row-project").first.click()
    harmless(page)


@pytest.mark.parametrize("part", range(5))
def test_conversations_and_their_pages_are_text(
    hostile: Hostile, visitor: Visit, part: int
) -> None:
    ids = hostile.ids[part::5]
    assert ids
    for id in ids:
        page = visitor.open(address("c", id, all="1"))
        expect(page.locator("#stream .unit").first).to_be_attached()
        harmless(page)
        page.get_by_role("link", name="To the end").click()
        expect(page.locator("#later")).to_be_hidden()
        harmless(page)
        raw = page.locator("#stream .unit a.raw").nth(3).get_attribute("href")
        for other in (raw, *(address(each, id) for each in ("versions", "explain", "files"))):
            assert other
            page.goto(other)
            harmless(page)
        page.close()


def test_search_shows_what_it_found_as_text(hostile: Hostile, visitor: Visit) -> None:
    page = visitor.open()
    page.locator("#query").fill(WORD)
    expect(page.locator("#quick .hit").first).to_be_visible()
    harmless(page)
    page.goto(f"/search?q={WORD}")
    seen = 0
    while True:
        harmless(page)
        seen += page.locator(".hit").count()
        following = page.get_by_role("link", name="More results")
        if not following.count():
            break
        following.click()
        page.wait_for_load_state()
    assert seen > len(PAYLOADS)


def test_a_query_is_text_as_well(hostile: Hostile, visitor: Visit) -> None:
    page = visitor.open("/search")
    for bad in PAYLOADS[::11]:
        with page.expect_response(lambda answer: "fragment=1" in answer.url):
            page.locator("#query").fill(bad)
        harmless(page)
    for bad in PAYLOADS[3::26]:
        page.goto(f"/search?q={quote(bad, safe='', errors='replace')}")
        harmless(page)


def test_the_other_pages_are_text(hostile: Hostile, visitor: Visit) -> None:
    page = visitor.open("/stats")
    harmless(page)
    page.goto("/sources")
    harmless(page)
    # Its folder has such a name, and that is where the trouble is.
    page.goto(f"/c/{Session(hostile.site.home, 'folder-1').id}")
    expect(page.locator("details.troubles")).to_contain_text("1 trouble")
    harmless(page)
    bad = quote(PAYLOADS[11], safe="")
    # The browser notes that there is no such page, which is what is wanted.
    for place in (f"/c/{bad}", f"/project?path={bad}", f"/explain/{bad}", f"/raw/x?message={bad}"):
        page.goto(place)
        expect(page.locator("h1")).to_have_text("Not found")
        harmless(page)
    assert all("404" in fault for fault in visitor.faults)
    visitor.faults.clear()


def test_what_comes_while_a_page_is_open_is_text(hostile: Hostile, visitor: Visit) -> None:
    session = Session(hostile.site.home, "coming")
    session.turn("of peace")
    home = visitor.open()
    expect(home.locator(f'.row[data-conversation="{session.id}"]')).to_be_visible()
    page = visitor.open(f"/c/{session.id}")
    telling = page.locator("#stream .unit")
    expect(telling).to_have_count(2)
    with session.at_once():
        for number, bad in enumerate(PAYLOADS[:40]):
            say(session, number, bad)
    session.meta("custom-title", customTitle=PAYLOADS[11])
    session.turn("at last")
    expect(page.get_by_text("answer at last", exact=True)).to_have_count(1)
    harmless(page)
    row = home.locator(f'.row[data-conversation="{session.id}"]')
    expect(row).to_contain_text(PAYLOADS[11])
    harmless(home)


def test_exports_are_text_wherever_they_are_opened(
    hostile: Hostile, visitor: Visit, browser: Browser, trap: Trap, tmp_path: Path
) -> None:
    alone = Visit(browser, "file://")
    alone.context.add_init_script(WATCH)
    for number, id in enumerate(hostile.ids):
        answer = visitor.context.request.get(address("export", id, format="html", all="1"))
        assert answer.ok
        file = tmp_path / f"{number}.html"
        file.write_bytes(answer.body())
        page = alone.open(file.as_uri())
        expect(page.locator(".message").first).to_be_attached()
        harmless(page)
        page.close()
    alone.context.close()
    told: list[Any] = [alone.faults, alone.strays, trap.caught]
    assert told == [[], [], []]
