"""A server that drives the scripted agent, and what a person does on its pages."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.serving import Site

__all__ = ["DriveSite", "begin", "bubbles", "messages", "sent", "settled", "write"]

AGENT = Path(__file__).parents[1] / "support" / "acp_agent.py"


class DriveSite(Site):
    """Two agents: `scripted` leaves nothing of its own, `twin` leaves transcripts like Claude Code."""

    def __init__(self, folder: Path) -> None:
        self.projects = folder / "projects"
        # Another name, for pages that come over a line that can be cut.
        cable = ("--allow-host", "127.0.0.1")
        super().__init__(folder, "--drive", "--root", str(self.projects), *cable)
        self.project = self.projects / "garden"
        self.project.mkdir(parents=True)
        (self.project / "notes.txt").write_text("nothing to see here\n")
        (self.project / "src").mkdir()
        (self.project / "src" / "northern lights.py").write_text("pass\n")
        (self.project / "src" / "notebook.py").write_text("pass\n")
        self.received = folder / "received.jsonl"
        settings = self.home / ".local" / "share" / "rireki" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(self._settings(), encoding="utf-8")

    def _settings(self) -> str:
        received = {"SCRIPT_RECEIVED": str(self.received)}
        # Both can go on after a restart; only what the twin keeps is read by rireki.
        own = {"SCRIPT_TRANSCRIPTS": str(self.projects.parent / "elsewhere"), **received}
        twin = {"SCRIPT_TRANSCRIPTS": str(self.home / ".claude"), **received}
        return _entry("scripted", own) + _entry("twin", twin, source="claude-code")


def _entry(name: str, environment: dict[str, str], **more: str) -> str:
    told = {"name": name, "title": f"The {name} agent", **more}
    lines = [f"{key} = {json.dumps(value)}" for key, value in told.items()]
    pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in environment.items())
    command = json.dumps([sys.executable, str(AGENT)])
    return "\n".join(
        ["[[agents]]", *lines, f"command = {command}", f"environment = {{ {pairs} }}", ""]
    )


def begin(page: Page, site: DriveSite, text: str, agent: str = "scripted", base: str = "") -> None:
    """From the form to the conversation's own page."""
    page.goto(f"{base}/new")
    page.locator("#project").fill(str(site.project))
    page.locator(f'input[name="agent"][value="{agent}"]').check()
    write(page, text)
    page.wait_for_url("**/c/bridge/*")
    # Nobody can type before what is typed is kept.
    expect(page.locator("#prompt")).to_be_enabled()


def write(page: Page, text: str) -> None:
    page.locator("#prompt").fill(text)
    page.locator("#prompt").press("Enter")


def bubbles(page: Page) -> Locator:
    """What the person said, wherever on the page it stands just now, and can be seen."""
    return page.locator(
        "#stream .unit:not(.overtaken) > .message.person.bubble .body,"
        " #drive .post:not([hidden]) .words, #drive .queue .words:visible"
    )


def sent(page: Page, *texts: str) -> None:
    """Exactly these prompts stand there, each once, in this order."""
    expect(bubbles(page)).to_have_text(list(texts))


def settled(page: Page, state: str = "idle") -> None:
    """The agent is done, and nothing is on its way any more."""
    expect(page.locator("#drive .drive-state")).to_have_attribute("data-state", state)
    expect(page.locator("#drive .growing")).to_have_count(0)
    expect(page.locator("#drive .post")).to_have_count(0)


def messages(page: Page) -> list[tuple[str, str]]:
    """Everything of the conversation: who, and what."""
    return [
        (each["who"], each["text"])
        for each in page.locator("#stream .unit:not(.overtaken)").evaluate_all(
            """units => units.map(u => ({
                who: u.querySelector(".message").className.replace(/ ?again/, ""),
                text: (u.querySelector(".body") ?? u.querySelector(".message")).innerText.trim(),
            }))"""
        )
    ]
