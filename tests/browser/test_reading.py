"""Reading in a browser: lists, conversations, folds, branches, keys, copies, exports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visiting
from tests.browser.serving import Session, Site
from tests.support.browser import Visit

BRANCHED = "claude-code/d91ab509-84e4-5b20-bfa0-06407b5fa7a5"
PARENT = "claude-code/f841ddf1-d22b-51ba-9e60-bf81220f3f78"
UPGRADE = "claude-code/21fac117-6aab-54d2-80ac-88161ad4984f"
COMPACTED = "amazon-q/1fb35252-9e7b-5873-8820-95af76830fb9"
GONE = "claude-code/f5e20f6a-53dd-52f9-90d5-548212613e70"
INTERRUPTED = "claude-code/5a7c7015-c0dd-5a5e-8867-3ca9d066e0a8"
#: What a list may have been narrowed down to already.
CHOICES = [
    "",
    "?source=claude-code",
    "?state=changed",
    "?state=unfinished",
    "?subagents=1",
    "?project=/home/u/deep",
    "?project=/home/aiko/dev/tea-timer&source=amazon-q",
]
CLIPBOARD = ["clipboard-read", "clipboard-write"]


def copied(page: Page) -> str:
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def is_in_view(page: Page, unit: str) -> bool:
    """Whether its beginning stands on the screen, below the header."""
    box = page.locator(f'[data-unit="{unit}"]').bounding_box()
    return box is not None and 0 <= box["y"] < 700


# ── Home ──


def test_home_lists_what_there_is_and_leads_to_it(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open()
    rows = page.locator("#list .row")
    stamps = rows.locator(".row-when time").evaluate_all("all => all.map(t => t.dateTime)")
    assert stamps == sorted(stamps, reverse=True) and len(stamps) == 42
    expect(page.locator(f'.row[data-conversation="{GONE}"] .mark.gone')).to_be_visible()
    page.get_by_role("link", name="Upgrade to SQLAlchemy 2.0").click()
    expect(page.locator("h1")).to_have_text("Upgrade to SQLAlchemy 2.0")
    assert page.url == f"{shown.base}/c/{UPGRADE}"


def test_the_numbers_at_the_side_are_those_of_the_lists_behind_them(
    shown: Site, visit: Visiting
) -> None:
    page = visit(shown).open("/help")
    for query in CHOICES:
        links, counted = page.evaluate(
            """async (query) => {
                const bring = async (href) =>
                  new DOMParser().parseFromString(await (await fetch(href)).text(), "text/html");
                const home = await bring(`/${query}`);
                const chosen = [...home.querySelectorAll("#side a:not([aria-current])")];
                const links = chosen.filter(a => a.querySelector(".number")).map(
                  a => [a.getAttribute("href"), Number(a.querySelector(".number").textContent)]);
                const pages = await Promise.all(links.map(([href]) => bring(href)));
                const rows = pages.map(page => page.querySelectorAll("#list .row").length);
                return [links, links.map(([href], place) => [href, rows[place]])];
            }""",
            query,
        )
        assert links and counted == links


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """More conversations than a list shows at once."""
    site = Site(tmp_path_factory.mktemp("crowded") / "site")
    for number in range(150):
        at = datetime(2026, 5, 1, tzinfo=timezone.utc) + timedelta(hours=number)
        Session(site.home, f"crowd-{number}", at).turn(f"of {number}")
    site.take_in()
    yield site.start()
    site.end()


def test_whoever_comes_back_to_a_long_list_is_where_they_were(
    crowded: Site, visit: Visiting
) -> None:
    page = visit(crowded).open()
    rows = page.locator("#list .row")
    more = page.get_by_role("link", name="Earlier conversations")
    for number in (120, 150):
        more.click()
        expect(rows).to_have_count(number)
    row = page.locator(".row-link", has_text="prompt of 20")
    row.scroll_into_view_if_needed()
    before = row.bounding_box()
    row.click()
    expect(page.locator("h1")).to_have_text("prompt of 20")
    page.go_back()
    expect(rows).to_have_count(150)
    expect(row).to_be_in_viewport()
    assert row.bounding_box() == before
    expect(more).to_be_hidden()
    # Whoever goes on to the list, and not back to it, begins at its beginning.
    page.goto("/help")
    page.get_by_role("link", name="rireki", exact=True).click()
    expect(rows).to_have_count(60)
    expect(rows.first).to_be_in_viewport()


# ── A conversation ──


def test_a_conversation_tells_who_spoke_and_what_was_called(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(f"/c/{UPGRADE}")
    stream = page.locator("#stream")
    expect(stream.locator(".message.person").first).to_contain_text("SQLAlchemy 1.4 to 2.0")
    expect(stream.locator(".message.agent").first).to_contain_text("Turning the deprecations")
    call = stream.locator("details.call").first
    expect(call.locator("summary")).to_contain_text("Bash")
    expect(call.locator("summary .outcome")).to_have_text("ok")
    expect(stream.locator(".message.divider").first).to_contain_text("compacted")


def test_what_no_model_wrote_names_none(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(f"/c/{INTERRUPTED}")
    expect(page.locator("#stream .model")).to_have_count(1)
    expect(page.locator("#stream .model")).to_have_text("claude-sonnet-5")


def test_a_fold_opens_and_closes(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(f"/c/{UPGRADE}")
    call = page.locator("#stream details.call").first
    inside = call.locator(".inside")
    expect(inside).to_be_hidden()
    call.locator("summary").click()
    expect(inside).to_be_visible()
    call.locator("summary").press("Enter")
    expect(inside).to_be_hidden()


def test_a_branch_opens_where_it_was_left(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(f"/c/{BRANCHED}")
    left = page.locator(".message.abandoned")
    switch = page.locator(".branch-switch")
    expect(left).to_have_count(2)
    expect(left.first).to_be_hidden()
    switch.click()
    expect(switch).to_have_attribute("aria-expanded", "true")
    expect(left.last).to_be_visible()
    switch.click()
    expect(left.last).to_be_hidden()


def test_a_link_to_a_message_opens_at_it(shown: Site, visit: Visiting) -> None:
    opened = visit(shown)
    there = opened.open(f"/c/{UPGRADE}?end=1")
    link = there.locator("#stream .unit").last.locator("a.at")
    address = link.get_attribute("href")
    unit = there.locator("#stream .unit").last.get_attribute("data-unit")
    assert address and unit
    page = opened.open(address)
    expect(page.locator(f'[data-unit="{unit}"].opened')).to_be_visible()
    assert is_in_view(page, unit)


def test_a_link_to_a_message_on_a_branch_opens_the_branch(shown: Site, visit: Visiting) -> None:
    opened = visit(shown)
    left = opened.open(f"/c/{BRANCHED}").locator(".message.abandoned").last
    message = left.get_attribute("data-message")
    page = opened.open(f"/c/{BRANCHED}?at={message}")
    expect(page.locator(f'.message[data-message="{message}"]')).to_be_visible()


def test_a_sub_agent_is_told_where_it_was_started(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(f"/c/{PARENT}")
    button = page.get_by_role("button", name="Show here").first
    button.click()
    nested = page.locator(".nested").first
    expect(nested.locator(".message")).not_to_have_count(0)
    page.get_by_role("button", name="Hide").first.click()
    expect(nested).to_be_hidden()
    page.get_by_role("link", name="Map the tests").first.click()
    expect(page.locator("h1")).to_have_text("Map the tests")


def test_the_outline_leads_to_a_prompt_and_back(shown: Site, visit: Visiting) -> None:
    page = visit(shown, viewport={"width": 1280, "height": 500}).open(f"/c/{UPGRADE}")
    prompts = page.locator("#prompts a")
    expect(prompts).to_have_count(5)
    # One that has enough below it to stand on top.
    prompt = prompts.filter(has_text="Good. Go.")
    message = prompt.get_attribute("data-message")
    assert message
    prompt.click()
    expect(page.locator(f'[data-unit="{message}"].opened')).to_be_visible()
    expect(prompt).to_have_attribute("aria-current", "true")
    assert f"at={message}" in page.url and is_in_view(page, message)
    expect(page.locator("#facts")).not_to_be_in_viewport()
    page.go_back()
    expect(page).to_have_url(f"{shown.base}/c/{UPGRADE}")
    expect(page.locator("#facts")).to_be_in_viewport()
    page.go_forward()
    expect(page.locator(f'[data-unit="{message}"].opened')).to_be_in_viewport()
    page.go_back()
    expect(page.locator("h1").first).to_be_in_viewport()


# ── Keys ──


def test_keys_go_from_message_to_message_and_open_folds(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(f"/c/{UPGRADE}")
    units = page.locator("#stream .unit")
    current = page.locator("#stream .unit.current")
    page.keyboard.press("j")
    expect(units.nth(0)).to_have_class("unit current")
    page.keyboard.press("j")
    expect(units.nth(1)).to_have_class("unit current")
    assert page.evaluate("document.activeElement.closest('.unit')?.dataset.index") == "1"
    page.keyboard.press("o")
    expect(current.locator("details").first).to_have_attribute("open", "")
    page.keyboard.press("o")
    expect(current.locator("details[open]")).to_have_count(0)
    page.keyboard.press("k")
    expect(units.nth(0)).to_have_class("unit current")


def test_keys_go_through_the_list_and_open_a_row(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open()
    for _ in range(3):
        page.keyboard.press("j")
    page.keyboard.press("k")
    second = page.locator("#list .row").nth(1)
    expect(second).to_have_class("row present here")
    id = second.get_attribute("data-conversation")
    page.keyboard.press("o")
    expect(page).to_have_url(f"{shown.base}/c/{id}")


def test_a_slash_goes_to_the_search_box_and_is_not_typed(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(f"/c/{UPGRADE}")
    page.keyboard.press("/")
    box = page.locator("#query")
    expect(box).to_be_focused()
    expect(box).to_have_value("")
    # In the box, keys are letters.
    page.keyboard.type("jo/?")
    expect(box).to_have_value("jo/?")
    expect(page.locator("#stream .unit.current")).to_have_count(0)
    expect(page.locator("#keys")).to_be_hidden()


def test_a_question_mark_shows_the_keys(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_be_visible()
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()


# ── Taking something along ──


def test_what_is_copied_is_what_was_said(shown: Site, visit: Visiting) -> None:
    visitor = visit(shown, permissions=CLIPBOARD)
    page = visitor.open(f"/c/{BRANCHED}")
    page.get_by_role("button", name="Copy the command").click()
    assert copied(page) == (
        "cd '/home/aiko/dev/喫茶店メニュー' && claude --resume " + BRANCHED.partition("/")[2]
    )
    unit = page.locator("#stream .unit").nth(6)
    unit.locator(".code button.copy").first.click()
    expect(unit.locator(".code button.copy").first).to_have_text("Copied")
    assert copied(page).startswith("CREATE TABLE menu (\n  name TEXT PRIMARY KEY,")
    unit.hover()
    unit.locator(".copy-text").click()
    assert copied(page).startswith("その方が長持ちします。\n\nCREATE TABLE menu (")
    first = page.locator("#stream .unit").first
    first.hover()
    first.get_by_role("button", name="Copy").click()
    assert copied(page) == "メニューを SQLite に移したいです。まず今の形を教えて。"
    first.get_by_role("button", name="Link").click()
    assert copied(page) == f"{shown.base}/c/{BRANCHED}?at={first.get_attribute('data-unit')}"


def test_the_raw_view_shows_the_very_record(shown: Site, visit: Visiting, tmp_path: Path) -> None:
    page = visit(shown).open(f"/c/{BRANCHED}")
    first = page.locator("#stream .unit").first
    uuid = first.get_attribute("data-unit")
    first.hover()
    first.get_by_role("link", name="Raw").click()
    record = json.loads(page.locator("#record-0").inner_text())
    assert record["uuid"] == uuid
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    download.value.save_as(tmp_path / "record")
    source = next(shown.home.rglob(f"{BRANCHED.partition('/')[2]}.jsonl"))
    assert (tmp_path / "record").read_bytes().strip() in source.read_bytes().splitlines()


def test_exports_are_files_with_the_conversation_in_them(
    shown: Site, visit: Visiting, tmp_path: Path
) -> None:
    page = visit(shown).open(f"/c/{UPGRADE}")
    for form, ending in [("Markdown", "md"), ("HTML", "html"), ("JSON", "json")]:
        page.locator("summary", has_text="More").click()
        with page.expect_download() as download:
            page.locator(".exports").get_by_role("link", name=form).click()
        assert download.value.suggested_filename == f"Upgrade to SQLAlchemy 2.0.{ending}"
        download.value.save_as(tmp_path / ending)
        assert "Turning the deprecations" in (tmp_path / ending).read_text(encoding="utf-8")
    assert json.loads((tmp_path / "json").read_text())["conversation"]["id"] == UPGRADE


# ── Versions ──


def test_the_slider_goes_back_to_what_was_lost(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(f"/versions/{COMPACTED}")
    slider, summary = page.locator("#moment"), page.locator("#summary")
    expect(page.locator("#stream .message.gone")).not_to_have_count(0)
    now = page.locator("#stream .unit").count()
    slider.focus()
    slider.press("Home")
    expect(summary).to_contain_text("lost later")
    expect(page.locator("#stream .unit.lost")).not_to_have_count(0)
    expect(page.locator("#stream .message.gone")).to_have_count(0)
    expect(page.locator("#stream")).not_to_contain_text("keep runners from dying")
    assert "as_of=" in page.url
    then = page.locator("#stream .unit").count()
    assert then < now
    page.reload()
    expect(page.locator("#stream .unit.lost")).not_to_have_count(0)
    expect(slider).to_have_value("0")
    slider.press("End")
    expect(page.locator("#stream")).to_contain_text("keep runners from dying")
    expect(page.locator("#stream .unit")).to_have_count(now)


def test_a_moment_can_be_read_as_a_whole(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(f"/versions/{COMPACTED}")
    page.get_by_text("All moments").click()
    page.locator(".moments a").first.click()
    expect(page.locator("#summary")).to_contain_text("lost later")
    page.locator("#whole").click()
    expect(page.locator(".fate")).to_contain_text("As the source held it on")
    expect(page.locator("#stream")).not_to_contain_text("keep runners from dying")
    page.get_by_role("link", name="As it is now").click()
    expect(page.locator("#stream")).to_contain_text("keep runners from dying")


def test_a_directory_shows_what_it_held_at_a_moment(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open("/project?path=/home/aiko/infra/night-train")
    elsewhen = page.locator(".held .row.elsewhen")
    expect(elsewhen).to_have_count(1)
    page.locator("#moment").press("Home")
    expect(elsewhen).to_have_count(3)
    page.reload()
    expect(elsewhen).to_have_count(3)


# ── The other pages ──


def test_explain_leads_to_the_message_it_explains(shown: Site, visit: Visiting) -> None:
    page = visit(shown).open(f"/explain/{UPGRADE}")
    row = page.locator("#decisions tbody tr").nth(2)
    message = row.get_attribute("data-message")
    row.locator(".words a").click()
    expect(page.locator("#stream .opened")).to_be_visible()
    assert f"at={message}" in page.url


def test_sources_and_statistics_speak_of_what_is_here(shown: Site, visit: Visiting) -> None:
    visitor: Visit = visit(shown)
    page = visitor.open("/sources")
    expect(page.locator(".health")).to_be_visible()
    card = page.locator('[data-source-card="claude-code"]')
    expect(card).to_contain_text(str(shown.home / ".claude"))
    expect(card).to_contain_text("1 gone there since")
    page = visitor.open("/stats")
    expect(page.locator(".calendar rect")).not_to_have_count(0)
    page.get_by_role("link", name="AskUserQuestion", exact=True).click()
    expect(page).to_have_url(f"{shown.base}/search?q=tool%3AAskUserQuestion")
    expect(page.locator(".result")).not_to_have_count(0)
