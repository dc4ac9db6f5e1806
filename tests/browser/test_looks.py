"""How it looks and for whom: dark, on a phone, in Japanese, by keyboard, to a screen reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import LONG_TURNS, Visiting
from tests.browser.serving import Site
from tests.browser.test_long import address
from tests.browser.test_reading import BRANCHED, COMPACTED, PARENT, UPGRADE
from tests.sources.transcripts import SESSION, Transcript, lay
from tests.support.browser import Visit

PAGES = {
    "home": "/",
    "conversation": f"/c/{UPGRADE}?all=1",
    "sub-agents": f"/c/{PARENT}",
    "branches": f"/c/{BRANCHED}",
    "search": "/search?q=test",
    "fault": "/search?q=(test",
    "versions": f"/versions/{COMPACTED}",
    "compared": f"/versions/{COMPACTED}?from=2026-01-01&as_of=2100-01-01",
    "explain": f"/explain/{UPGRADE}",
    "share": f"/share/{UPGRADE}",
    "files": f"/files/{UPGRADE}",
    "sources": "/sources",
    "digest": "/digest?day=2026-11-12",
    "curate": f"/curate/{UPGRADE}",
    "forget": f"/forget/{UPGRADE}",
    "stats": "/stats",
    "usage": "/usage?period=all",
    "project": "/project?path=/home/aiko/dev/kissaten-api",
    "devices": "/devices",
    "help": "/help",
}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
#: What is folded, but no menu: that lies over the page.
OPEN = "for (const fold of document.querySelectorAll('details:not(.menu)')) fold.open = true"

#: What of a page somebody who cannot see it would stumble over.
ACCESS = """() => {
  const found = [];
  const name = (e) => (e.getAttribute("aria-label") || e.textContent || e.title || "").trim()
    || [...(e.labels ?? [])].map(l => l.textContent).join(" ").trim()
    || (document.getElementById(e.getAttribute("aria-labelledby"))?.textContent ?? "");
  const isThere = (e) => e.checkVisibility();
  for (const [what, count] of [["main", 1], ["header.top", 1], ["h1", 1], ["[role=search]", 1]]) {
    if (document.querySelectorAll(what).length !== count) found.push(`not one ${what}`);
  }
  const named = "button, a[href], input:not([type=hidden]), summary, nav, aside, dialog,"
    + "[role=region], [role=group]";
  for (const e of document.querySelectorAll(named)) {
    if (!name(e) && !e.hidden) found.push(`no name: ${e.outerHTML.slice(0, 100)}`);
  }
  for (const e of document.querySelectorAll("img")) if (!e.alt) found.push(`no alt: ${e.src}`);
  let level = 0;
  for (const e of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (!isThere(e) || e.closest("aside, .panel, dialog")) continue;
    const here = Number(e.localName[1]);
    if (here > level + 1) found.push(`h${level} is followed by h${here}: ${e.textContent}`);
    level = here;
  }
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push(`twice: #${id}`);
  for (const e of document.querySelectorAll("[aria-controls], [aria-labelledby]")) {
    for (const to of ["aria-controls", "aria-labelledby"]) {
      const id = e.getAttribute(to);
      if (id && !document.getElementById(id)) found.push(`${to}=${id} leads nowhere`);
    }
  }
  if (!document.documentElement.lang || !document.title) found.push("no language or no title");
  return found;
}"""
#: Words whose colour is too near to that of what lies behind them.
CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3]));
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
    const v = c[i] / 255;
    return sum + weight * (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  }, 0);
  const behind = (e) => {
    const layers = [];
    for (let at = e; at; at = at.parentElement) layers.push(read(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255]);
  };
  const opacity = (e) => {
    let all = 1;
    for (let at = e; at; at = at.parentElement) all *= Number(getComputedStyle(at).opacity);
    return all;
  };
  const found = new Map();
  for (const e of document.querySelectorAll("body *")) {
    const says = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    const faint = opacity(e);
    if (!says || faint === 0 || !e.checkVisibility() || e.closest("svg, .unseen, .skip")) continue;
    const style = getComputedStyle(e);
    const paper = behind(e);
    const colour = read(style.color);
    const ink = over([...colour.slice(0, 3), colour[3] * faint], paper);
    const [a, b] = [light(ink), light(paper)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (isLarge ? 3 : 4.5)) {
      const path = `${e.parentElement.className} > ${e.localName}.${e.className}`;
      found.set(path, `${path} ${ratio.toFixed(2)}: ${e.textContent.trim().slice(0, 30)}`);
    }
  }
  return [...found.values()];
}"""


def shown_with(page: Page, path: str) -> Page:
    page.goto(path)
    page.evaluate(OPEN)
    return page


@pytest.mark.parametrize("locale", ["en-US", "ja-JP"])
def test_pages_can_be_read_by_those_who_do_not_see_them(
    shown: Site, visit: Visiting, locale: str
) -> None:
    page = visit(shown, locale=locale).open()
    stumbled = {}
    for name, path in PAGES.items():
        stumbled[name] = shown_with(page, path).evaluate(ACCESS)
    assert {name: found for name, found in stumbled.items() if found} == {}


def test_the_contrast_is_really_measured(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open("/help")
    assert page.evaluate(CONTRAST) == []
    page.evaluate("document.querySelector('h1').style.color = '#aaa'")
    assert len(page.evaluate(CONTRAST)) == 1


def test_whoever_goes_by_tab_sees_where_they_are(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open()
    unseen = []
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    for _ in range(40):
        page.keyboard.press("Tab")
        place = page.evaluate(
            """() => {
                const e = document.activeElement;
                const rings = [e, e.closest(".find")].filter(Boolean).flatMap(each =>
                  [getComputedStyle(each), getComputedStyle(each, "::after")]);
                const isSeen = rings.some(style => (style.outlineStyle !== "none"
                  && parseFloat(style.outlineWidth) >= 2) || style.boxShadow !== "none");
                return [e.outerHTML.slice(0, 80), isSeen, e.checkVisibility()];
            }"""
        )
        if not (place[1] and place[2]):
            unseen.append(place)
    assert unseen == []


# ── Light and dark ──


def paper(page: Page) -> int:
    """How light the page is, from 0 to 255."""
    found: int = page.evaluate(
        """() => {
            const canvas = document.createElement("canvas").getContext("2d");
            canvas.fillStyle = getComputedStyle(document.documentElement).backgroundColor;
            canvas.fillRect(0, 0, 1, 1);
            return canvas.getImageData(0, 0, 1, 1).data[0];
        }"""
    )
    return found


def test_dark_follows_the_system(shown: Site, visit: Visiting) -> None:
    page = visit(shown, color_scheme="dark").open()
    assert paper(page) < 60
    page.emulate_media(color_scheme="light")
    assert paper(page) > 220


def test_a_chosen_theme_is_remembered(shown: Site, visit: Visiting) -> None:
    visitor: Visit = visit(shown, color_scheme="light")
    page = visitor.open()
    switch = page.locator("#theme-switch")
    expect(switch).to_have_attribute("aria-label", "Theme: as the system")
    switch.click()
    switch.click()
    expect(switch).to_have_attribute("aria-label", "Theme: dark")
    assert paper(page) < 60
    assert paper(visitor.open(f"/c/{UPGRADE}")) < 60
    switch.click()
    assert paper(page) > 220
    assert paper(visitor.open()) > 220


# ── On a phone ──


def test_nothing_is_wider_than_a_phone(shown: Site, visit: Visiting) -> None:
    page = visit(shown, **PHONE).open()
    wide = {}
    for name, path in PAGES.items():
        width = shown_with(page, path).evaluate("document.documentElement.scrollWidth")
        if width > 390:
            wide[name] = width
    assert wide == {}


def test_a_phone_has_the_side_in_a_drawer(shown: Site, visit: Visiting) -> None:
    page = visit(shown, **PHONE).open()
    side = page.locator("#side")
    expect(side).not_to_be_in_viewport()
    page.get_by_role("button", name="Menu").tap()
    expect(side).to_be_in_viewport()
    side.get_by_role("link", name="kiro 4").tap()
    expect(page).to_have_url(f"{shown.base}/?source=kiro")
    expect(page.locator("#list .row")).to_have_count(4)


@pytest.mark.parametrize("height", [400, 800])
def test_nothing_floats_over_the_outline(shown: Site, visit: Visiting, height: int) -> None:
    page = visit(shown, viewport={"width": 1280, "height": height}).open(address(shown, "?end=1"))
    expect(page.locator("#prompts li")).to_have_count(LONG_TURNS)
    last = page.locator("#prompts li").last
    expect(last).to_have_class("here")
    expect(last).to_be_in_viewport(ratio=1)
    line, floating = last.bounding_box(), page.locator(".float").bounding_box()
    assert line is not None and floating is not None
    assert line["y"] + line["height"] <= floating["y"]


def test_a_phone_has_the_outline_in_a_drawer(shown: Site, visit: Visiting) -> None:
    page = visit(shown, **PHONE).open(f"/c/{UPGRADE}")
    outline = page.locator("#outline")
    expect(outline).not_to_be_in_viewport()
    page.get_by_role("button", name="Outline").tap()
    expect(outline).to_be_in_viewport()
    outline.get_by_role("link", name="Carry on with menu.py").tap()
    expect(page.locator(".opened")).to_be_in_viewport()
    expect(outline).not_to_be_in_viewport()


def test_what_is_pressed_on_a_phone_is_large_enough(shown: Site, visit: Visiting) -> None:
    page = visit(shown, **PHONE).open(f"/c/{UPGRADE}")
    small = page.evaluate(
        """() => [...document.querySelectorAll("header.top button, .float a, .float button, a.button")]
          .filter(e => e.checkVisibility())
          .map(e => [e.getBoundingClientRect(), e.outerHTML.slice(0, 80)])
          .filter(([box]) => box.width < 24 || box.height < 24).map(([, html]) => html)"""
    )
    assert small == []


# ── Languages ──


def test_the_browser_decides_on_the_language_and_a_switch_overrides_it(
    shown: Site, visit: Visiting
) -> None:
    visitor: Visit = visit(shown, locale="ja-JP")
    page = visitor.open()
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    expect(page.locator("h1")).to_have_text("会話")
    page.locator(".ways").get_by_role("link", name="English").click()
    expect(page.locator("h1")).to_have_text("Conversations")
    page.goto(f"/c/{UPGRADE}")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.locator(".ways").get_by_role("link", name="日本語").click()
    expect(page.locator(".message.person .who").first).to_have_text("あなた")
    # What scripts say is in the same language.
    expect(page.locator("#position")).to_have_text("1 / 5 往復目")
    page = visitor.open("/help")
    expect(page.locator("h1")).to_have_text("ヘルプ")


def test_no_page_in_japanese_has_words_of_the_english_interface(
    shown: Site, visit: Visiting
) -> None:
    page = visit(shown, locale="ja-JP").open()
    english = {}
    # What people, agents and files are called stays as it is; so do queries and commands.
    theirs = "code, pre, kbd, .source, .prose, .row-link, .title, .subject, .tool, .words, h1, mark"
    theirs += ", .brand, .model, #side a, #prompts a, .crumb, .result, .exports, .tongue, .bars th"
    theirs += ", [lang], .figure, .table tbody, .row-project, .fact, .number, .orders, .ties"
    for name, path in PAGES.items():
        english[name] = shown_with(page, path).evaluate(
            """(theirs) => {
                const found = new Set();
                for (const e of document.querySelectorAll("body *")) {
                  if (e.closest(theirs) || !e.checkVisibility()) continue;
                  const said = [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data).join(" ");
                  const isWords = /[a-z]{3,} [a-z]{2,}/i.test(said);
                  if (isWords && !/[ぁ-んァ-ヶ一-龠]/.test(said)) found.add(said.trim());
                }
                return [...found];
            }""",
            theirs,
        )
    assert {name: found for name, found in english.items() if found} == {}


def test_what_lists_of_conversations_look_like_is_not_what_messages_do(
    shown: Site, visit: Visiting
) -> None:
    page = visit(shown).open(f"/c/{UPGRADE}?all=1")
    page.evaluate(OPEN)
    lines = page.locator(".message .diff .row")
    heights = lines.evaluate_all("rows => rows.map(row => row.getBoundingClientRect().height)")
    assert heights and min(heights) < 30
    between = page.locator(".message .command + .result").first
    assert between.evaluate("e => getComputedStyle(e).paddingTop") == "0px"


def test_long_names_make_no_page_wider_than_a_phone(tmp_path: Path, visit: Visiting) -> None:
    word = "unbrokenname" * 20
    transcript = Transcript()
    transcript.user(word, cwd=f"/home/dev/{word}")
    transcript.call("c1", f"mcp__{word}__{word}", input={"path": word})
    transcript.result("c1", word)
    site = Site(tmp_path)
    lay(site.home, transcript.bytes())
    site.take_in()
    site.start()
    try:
        visitor = visit(site, **PHONE)
        id = f"claude-code/{SESSION}"
        for path in ("/", f"/c/{id}", f"/versions/{id}", f"/search?q={word}x", f"/search?q={word}"):
            page = visitor.open(path)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 390, (path, wide)
    finally:
        site.end()
