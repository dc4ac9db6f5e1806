"""Nothing a person typed vanishes or comes twice: reloads, breaks, second tabs, restarts, crashes.

After each of them the page has exactly the same messages, each prompt once, in order.
"""

from __future__ import annotations

import json
import signal

import pytest
from playwright.sync_api import Page, expect

from tests.browser.cable import Cable
from tests.browser.conftest import Visiting
from tests.browser.driving import DriveSite, begin, messages, sent, settled, write
from tests.support.browser import PATIENCE, Visit

#: One that leaves nothing of its own, and one whose transcript takes the place of what streamed.
AGENTS = ["scripted", "twin"]


def forgive(visitor: Visit, base: str = "") -> None:
    """A browser complains about a server that is away; that it was is what these tests are about."""
    visitor.faults = [fault for fault in visitor.faults if "Failed to load resource" not in fault]
    visitor.strays = [stray for stray in visitor.strays if not base or not stray.startswith(base)]


def the_same_everywhere(page: Page, *prompts: str) -> None:
    """Loading the page again, and looking from another tab, changes nothing."""
    settled(page)
    sent(page, *prompts)
    before = messages(page)
    other = page.context.new_page()
    other.goto(page.url)
    page.reload()
    for looked_at in (page, other):
        settled(looked_at)
        sent(looked_at, *prompts)
    alike(page, other)
    # An answer's last words may come behind the news that the agent is done.
    assert [each for each in before if each not in messages(page)] == []
    other.close()


def alike(page: Page, other: Page) -> None:
    """Both come to show the same messages."""
    for _ in range(int(PATIENCE / 100)):
        if messages(page) == messages(other):
            return
        page.wait_for_timeout(100)
    assert messages(page) == messages(other)


def given(site: DriveSite, words: str) -> int:
    """How often the agent got a prompt with these words."""
    lines = site.received.read_text(encoding="utf-8").splitlines()
    return sum(words in json.dumps(json.loads(line)) for line in lines)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_page_loaded_again_at_once_has_the_prompt(
    driven: DriveSite, page: Page, agent: str
) -> None:
    begin(page, driven, "echo one", agent)
    write(page, f"echo two {agent}")
    page.reload()
    sent(page, "echo one", f"echo two {agent}")
    expect(page.locator("#stream").get_by_text(f"two {agent}", exact=True)).to_have_count(1)
    the_same_everywhere(page, "echo one", f"echo two {agent}")
    assert given(driven, f"echo two {agent}") == 1


def test_a_page_loaded_again_during_a_tool_call_goes_on_with_it(
    driven: DriveSite, page: Page
) -> None:
    begin(page, driven, "permission", "twin")
    expect(page.locator(".ask[data-ask]")).to_have_count(1)
    page.reload()
    sent(page, "permission")
    expect(page.locator("#stream details.call .outcome")).to_have_text("no result yet")
    page.locator(".ask[data-ask]").get_by_role("button", name="Allow once").click()
    expect(page.locator("#stream details.call .outcome")).to_have_text("ok")
    the_same_everywhere(page, "permission")


@pytest.mark.parametrize("agent", AGENTS)
def test_a_page_loaded_again_during_an_answer_has_all_of_it_in_the_end(
    driven: DriveSite, page: Page, agent: str
) -> None:
    begin(page, driven, "stream 12 0.2", agent)
    expect(page.locator(".growing")).to_contain_text("piece 2")
    page.reload()
    sent(page, "stream 12 0.2")
    expect(page.locator(".growing")).to_contain_text("piece 0 piece 1 piece 2")
    settled(page)
    whole = " ".join(f"piece {number}" for number in range(12))
    expect(page.locator("#stream").get_by_text(whole)).to_have_count(1)
    the_same_everywhere(page, "stream 12 0.2")


def test_a_connection_lost_during_the_answer_costs_nothing(
    driven: DriveSite, page: Page, visitor: Visit
) -> None:
    cable = Cable(driven.port)
    base = f"http://127.0.0.1:{cable.port}"
    page.goto(f"{base}/new")
    begin(page, driven, "stream 15 0.2", "twin", base)
    expect(page.locator(".growing")).to_contain_text("piece 2")
    cable.cut()
    # Sent into the void: it waits in the browser.
    write(page, "echo after the break")
    # The one before may not be acknowledged yet either.
    expect(page.locator(".sending .label").last).to_have_text("sending …")
    cable.mend()
    whole = " ".join(f"piece {number}" for number in range(15))
    expect(page.locator("#stream").get_by_text(whole)).to_have_count(1)
    the_same_everywhere(page, "stream 15 0.2", "echo after the break")
    assert given(driven, "echo after the break") == 1
    page.close()
    cable.close()
    forgive(visitor, base)


def test_a_second_tab_and_another_device_see_the_same(
    driven: DriveSite, page: Page, visit: Visiting
) -> None:
    begin(page, driven, "echo from the first", "twin")
    tab = page.context.new_page()
    tab.goto(page.url)
    phone: Page = visit(driven).context.new_page()
    phone.goto(page.url)
    settled(page)
    write(tab, "slow 1")
    write(phone, "echo from the phone")
    texts = ["echo from the first", "slow 1", "echo from the phone"]
    for each in (page, tab, phone):
        sent(each, *texts)
        settled(each)
        sent(each, *texts)
    assert messages(page) == messages(tab) == messages(phone)
    the_same_everywhere(page, *texts)


# How a server ends and how an agent keeps its own have nothing to do with each other.
@pytest.mark.parametrize(
    ("agent", "how"),
    [("scripted", signal.SIGTERM), ("twin", signal.SIGKILL)],
    ids=["scripted-ended", "twin-killed"],
)
def test_a_server_that_is_restarted_has_lost_nothing(
    driven: DriveSite, page: Page, visitor: Visit, agent: str, how: signal.Signals
) -> None:
    begin(page, driven, "echo before", agent)
    settled(page)
    word = f"{agent} {how.name}"
    write(page, f"slow 5 {word}")
    expect(page.locator(".growing")).to_be_visible()
    write(page, f"echo queued {word}")
    expect(page.locator("#drive .queue")).to_contain_text(f"echo queued {word}")
    page.evaluate("window.stayed = true")
    driven.end(how)
    write(page, f"echo while away {word}")
    # The one before may not be acknowledged yet either.
    expect(page.locator(".sending .label").last).to_have_text("sending …")
    driven.start()
    texts = [
        "echo before",
        *(f"{what} {word}" for what in ("slow 5", "echo queued", "echo while away")),
    ]
    card = page.locator("#drive .ask.prompts[data-ask]")
    expect(card).to_contain_text(f"echo queued {word}")
    assert given(driven, f"echo queued {word}") == 0, "it waits for a yes"
    card.get_by_role("button", name="Give them to the agent").click()
    expect(page.locator("#stream").get_by_text(f"while away {word}", exact=True)).to_have_count(1)
    assert page.evaluate("window.stayed"), "the page was loaded again"
    the_same_everywhere(page, *texts)
    for text in texts[1:]:
        assert given(driven, text) == 1
    forgive(visitor)


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_that_crashes_leaves_its_half_answer_and_goes_on(
    driven: DriveSite, page: Page, agent: str
) -> None:
    begin(page, driven, "crash", agent)
    settled(page, "failed")
    sent(page, "crash")
    expect(page.locator("#drive .detail")).to_be_visible()
    # The state comes before what the agent wrote: that was taken in a moment later.
    expect(page.locator("#stream .unit:not(.overtaken)")).to_have_count(3)
    before = messages(page)
    page.reload()
    settled(page, "failed")
    assert messages(page) == before
    write(page, f"echo alive again {agent}")
    expect(page.locator("#stream").get_by_text(f"alive again {agent}", exact=True)).to_have_count(1)
    the_same_everywhere(page, "crash", f"echo alive again {agent}")
