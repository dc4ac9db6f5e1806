"""Typing to an agent: Enter, input methods, drafts, pictures, files; where it begins, how it looks."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.conftest import Visiting
from tests.browser.driving import DriveSite, begin, bubbles, sent, settled, write
from tests.browser.serving import Session
from tests.browser.test_looks import ACCESS, CONTRAST, PHONE
from tests.support.browser import Visit

#: One point of red.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


# ── The box ──


def test_enter_sends_and_shift_enter_makes_a_new_line(driven: DriveSite, page: Page) -> None:
    begin(page, driven, "echo begun")
    box = page.locator("#prompt")
    box.focus()
    page.keyboard.type("echo above")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("below")
    expect(box).to_have_value("echo above\nbelow")
    page.keyboard.press("Control+Enter")
    expect(box).to_have_value("")
    settled(page)
    sent(page, "echo begun", "echo above\nbelow")


def test_enter_that_belongs_to_an_input_method_sends_nothing(driven: DriveSite, page: Page) -> None:
    begin(page, driven, "echo begun")
    settled(page)
    box = page.locator("#prompt")
    box.focus()
    # As Chromium composes: marked text, Enter inside of it, and the text that comes of it.
    typing = page.context.new_cdp_session(page)
    typing.send(
        "Input.imeSetComposition", {"text": "にほん", "selectionStart": 3, "selectionEnd": 3}
    )
    enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229, "type": "rawKeyDown"}
    typing.send("Input.dispatchKeyEvent", enter)
    typing.send("Input.insertText", {"text": "日本"})
    expect(box).to_have_value("日本")
    sent(page, "echo begun")
    # Safari says so with the code alone, after the composition has ended.
    box.dispatch_event("keydown", {"key": "Enter", "keyCode": 229})
    expect(box).to_have_value("日本")
    page.keyboard.press("Enter")
    expect(box).to_have_value("")
    sent(page, "echo begun", "日本")


def test_a_draft_survives_a_reload_and_belongs_to_its_conversation(
    driven: DriveSite, page: Page
) -> None:
    begin(page, driven, "echo one", "twin")
    settled(page)
    first = page.url
    page.locator("#prompt").fill("half a thought")
    page.reload()
    expect(page.locator("#prompt")).to_have_value("half a thought")
    begin(page, driven, "echo two")
    expect(page.locator("#prompt")).to_be_enabled()
    expect(page.locator("#prompt")).to_have_value("")
    page.goto(first)
    expect(page.locator("#prompt")).to_have_value("half a thought")


def test_pictures_are_pasted_kept_and_sent(driven: DriveSite, page: Page) -> None:
    begin(page, driven, "echo one")
    settled(page)
    paste(page, PNG, "image/png", "point.png")
    expect(page.locator(".pictures img")).to_have_count(1)
    page.reload()
    expect(page.locator(".pictures img")).to_have_count(1)
    chooser = page.locator(".composer input[type=file]")
    chooser.set_input_files(FilePayload(name="second.png", mimeType="image/png", buffer=PNG))
    expect(page.locator(".pictures img")).to_have_count(2)
    page.get_by_role("button", name="Remove second.png").click()
    write(page, "image")
    expect(page.locator(".pictures img")).to_have_count(0)
    expect(page.locator("#stream .message.agent").last).to_contain_text("image/png")
    expect(page.locator("#stream .message.person img")).to_have_count(1)
    settled(page)


def test_what_is_no_picture_or_too_large_is_told(driven: DriveSite, page: Page) -> None:
    begin(page, driven, "echo one")
    paste(page, b"%PDF", "application/pdf", "paper.pdf")
    expect(page.locator(".composer-trouble").first).to_contain_text("paper.pdf is no picture")
    page.locator(".composer input[type=file]").evaluate("""input => {
        const chosen = new DataTransfer();
        chosen.items.add(new File([new Uint8Array(6 << 20)], "huge.png", { type: "image/png" }));
        input.files = chosen.files;
        input.dispatchEvent(new Event("change", { bubbles: true }));
    }""")
    expect(page.locator(".composer-trouble").first).to_contain_text("huge.png is larger than 5 MB")
    expect(page.locator(".pictures img")).to_have_count(0)


def test_files_of_the_project_are_completed_and_mentioned(driven: DriveSite, page: Page) -> None:
    begin(page, driven, "echo one")
    settled(page)
    page.locator("#prompt").focus()
    page.keyboard.type("image @not")
    offered = page.locator(".files [role=option]")
    expect(offered).to_have_text(["notes.txt", "src/notebook.py"])
    page.keyboard.press("ArrowDown")
    expect(offered.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.locator("#prompt")).to_have_value("image @src/notebook.py ")
    page.keyboard.press("Enter")
    expect(page.locator("#stream .message.agent").last).to_contain_text("notebook.py")
    settled(page)


def paste(page: Page, data: bytes, kind: str, name: str) -> None:
    expect(page.locator("#prompt")).to_be_enabled()
    page.locator("#prompt").evaluate(
        """(box, [data, type, name]) => {
            const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
            const clipboardData = new DataTransfer();
            clipboardData.items.add(new File([bytes], name, { type }));
            box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
        }""",
        [base64.b64encode(data).decode(), kind, name],
    )


# ── Where it begins ──


def test_a_directory_is_judged_while_it_is_typed(
    driven: DriveSite, page: Page, visitor: Visit
) -> None:
    page.goto("/new")
    said = page.locator("#project-said")
    for typed, answer in {
        "garden": "not an absolute path",
        f"{driven.projects}/nowhere": "there is no directory",
        f"{driven.project}/notes.txt": "not a directory",
        "/": "outside of the directories",
        f"{driven.project}": "An agent may work here.",
    }.items():
        page.locator("#project").fill(typed)
        expect(said).to_contain_text(answer)
    page.locator("#project").fill(f"{driven.projects}/gar")
    expect(page.locator("#near option")).to_have_attribute("value", str(driven.project))
    page.locator("#project").fill("--help")
    write(page, "echo typed in vain")
    expect(page.locator("#new-said")).to_contain_text("not an absolute path")
    expect(page.locator("#prompt")).to_have_value("echo typed in vain")
    visitor.faults = [fault for fault in visitor.faults if "400 (Bad Request)" not in fault]


def test_an_archived_conversation_is_continued_where_it_stands(
    driven: DriveSite, page: Page
) -> None:
    old = Session(driven.home, "old")
    old.cwd = str(driven.project)
    old.file = old.file.parents[1] / old.cwd.replace("/", "-").replace("_", "-") / old.file.name
    old.file.parent.mkdir(parents=True, exist_ok=True)
    old.turn("of long ago")
    page.goto("/")
    page.locator(f'.row[data-conversation="{old.id}"] .row-link').click()
    page.evaluate("window.stayed = true")
    page.get_by_role("button", name="Continue here").click()
    settled(page)
    expect(page.locator("#prompt")).to_be_focused()
    write(page, "echo and on it goes")
    expect(page.locator("#stream").get_by_text("and on it goes", exact=True)).to_have_count(1)
    settled(page)
    sent(page, "prompt of long ago", "echo and on it goes")
    assert page.evaluate("window.stayed"), "the page was loaded again"
    page.reload()
    settled(page)
    sent(page, "prompt of long ago", "echo and on it goes")
    assert page.url.endswith(f"/c/{old.id}")


def test_an_archived_conversation_goes_on_with_another_agent_when_its_person_says_so(
    driven: DriveSite, page: Page
) -> None:
    old = Session(driven.home, "handed over")
    old.cwd = str(driven.project)
    old.turn("of a far country")
    page.goto("/")
    page.locator(f'.row[data-conversation="{old.id}"] .row-link').click()
    page.locator("details.menu summary").click()
    page.get_by_role("link", name="Continue with another agent").first.click()
    box = page.locator("#prompt")
    expect(box).to_be_focused()
    expect(page.locator("#project")).to_have_value(str(driven.project))
    expect(page.locator('input[name="agent"]:checked')).to_have_value("scripted")
    told = box.input_value()
    assert "prompt of a far country" in told and "answer of a far country" in told
    # Writing on at its end; what was made of it is there after a reload, and not sent.
    page.keyboard.type(" Mind the gap.")
    page.reload()
    expect(box).to_have_value(f"{told} Mind the gap.")
    received = driven.received.read_text() if driven.received.exists() else ""
    assert "far country" not in received
    assert page.evaluate(ACCESS) == []
    page.locator(".composer button.primary").click()
    page.wait_for_url("**/c/bridge/*")
    settled(page)
    expect(bubbles(page)).to_have_count(1)
    expect(bubbles(page)).to_contain_text("Mind the gap.")
    assert driven.received.read_text().count("Mind the gap.") == 1
    page.goto(f"/new?from={old.id}")
    expect(box).to_have_value(told)


def test_the_first_page_of_all_leads_to_a_new_conversation(driven: DriveSite, page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name="New conversation").click()
    expect(page.locator("h1")).to_have_text("New conversation")
    expect(page.locator(".agents")).to_contain_text("The scripted agent")
    expect(page.locator(".page-head")).to_contain_text(str(driven.projects))
    assert page.evaluate(ACCESS) == []


# ── How it looks ──


@pytest.mark.parametrize("look", ["light", "dark", "phone", "japanese"])
def test_it_can_be_read_and_used_however_it_looks(
    driven: DriveSite, visit: Visiting, look: str
) -> None:
    options: dict[str, dict[str, Any]] = {
        "light": {},
        "dark": {"color_scheme": "dark"},
        "phone": PHONE,
        "japanese": {"locale": "ja-JP"},
    }
    page: Page = visit(driven, **options[look]).context.new_page()
    begin(page, driven, "permission")
    expect(page.locator(".ask[data-ask]")).to_be_visible()
    write(page, "echo later")
    expect(page.locator("#drive .queue li")).to_be_visible()
    for path in (page.url, "/inbox", "/new"):
        page.goto(path)
        expect(page.locator("#waiting")).to_be_visible()
        page.wait_for_load_state("load")
        assert page.evaluate(ACCESS) == [], path
        assert page.evaluate(CONTRAST) == [], path
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, path
    if look == "japanese":
        expect(page.locator("h1")).to_have_text("新しい会話")
    page.goto("/inbox")
    for card in page.locator(".ask[data-ask]").all():
        card.locator(".ask-options button").first.click()
