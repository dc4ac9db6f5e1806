"""The same pages each time: the invented history, an agent that waits for the person, a clock that stands."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone, tzinfo
from pathlib import Path

from playwright.sync_api import Browser, Page

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.drive.agents import AgentProgram
from rireki.drive.bridge import Settings
from rireki.intake.curate import set_note, set_starred, set_tags
from rireki.intake.demo import change_demo_home, make_demo_home
from rireki.search.index.importing import take_in
from rireki.sources.kit.places import Places
from rireki.web.serve import Server, bind, url_of
from tests.browser.test_looks import PAGES as READ
from tests.browser.test_reading import UPGRADE
from tests.conftest import Clock
from tests.web.conftest import TOKEN, until

__all__ = ["PAGES", "looking", "stand_still"]

#: The day after the last one of the invented history.
NOW = datetime(2026, 11, 16, 9, 30, tzinfo=timezone.utc)
AGENT = Path(__file__).parents[1] / "support" / "acp_agent.py"
#: What the browser tests look at, and what is there where agents may work.
PAGES = READ | {
    "new": "/new",
    "inbox": "/inbox",
    "missing": "/c/nobody/knows",
}


class StandingDatetime(datetime):
    """The time of day, at which nothing moves on."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> StandingDatetime:
        moment = NOW.astimezone(tz)
        return cls.fromtimestamp(moment.timestamp(), tz)


def stand_still() -> None:
    """Every module of ours takes its time from here on; those that come later are not yet here."""
    for name, module in list(sys.modules.items()):
        if name.startswith("rireki.") and vars(module).get("datetime") is datetime:
            vars(module)["datetime"] = StandingDatetime


@contextmanager
def looking(browser: Browser) -> Iterator[str]:
    """The address by which whoever opens it is let in."""
    # Always under the same name, which the pages tell.
    place = Path(tempfile.gettempdir()) / "rireki-looks"
    shutil.rmtree(place, ignore_errors=True)
    projects = place / "projects"
    (projects / "garden").mkdir(parents=True)
    os.environ["TZ"] = "UTC"
    time.tzset()
    home, kept = place / "home", place / "archive.sqlite3"
    _fill(home, kept)
    places = Places.at(home).beside(kept)
    # One agent, whatever this machine has.
    agents = (
        AgentProgram("scripted", "The scripted agent", (sys.executable, str(AGENT)), found=True),
    )
    settings = Settings(kept, places, (projects,), agents)
    stand_still()
    try:
        with _serving(kept, places, settings) as server:
            entrance = url_of("127.0.0.1", server.port, token=TOKEN)
            _ask(browser, entrance, projects / "garden")
            yield entrance
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def _serving(kept: Path, places: Places, drive: Settings) -> Iterator[Server]:
    """A server in a thread, which also keeps: what the agent is asked comes into the archive."""
    server = Server(bind("127.0.0.1", 0), kept, places, TOKEN, drive=drive)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.listening)
        yield server
    finally:
        server.stop()
        thread.join()


def _fill(home: Path, kept: Path) -> None:
    make_demo_home(home)
    archive = open_archive(kept, create=True, clock=LateClock())
    take_in(archive, Places.at(home))
    change_demo_home(home)
    take_in(archive, Places.at(home))
    _curate(archive)
    archive.close()


class LateClock(Clock):
    """What a source held is seen in the last hour before now."""

    def __call__(self) -> str:
        self.seconds += 1
        moment = NOW - timedelta(hours=1) + timedelta(seconds=self.seconds)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.000Z"


def _curate(archive: Archive) -> None:
    found = archive.find(UPGRADE)
    set_starred(archive, found, True)
    set_tags(archive, found, ["upgrade", "移行"], [])
    set_note(archive, found, "Look at the pool size before the release. リリース前に確認。")


def _ask(browser: Browser, entrance: str, directory: Path) -> None:
    """Let an agent work that asks for a permission."""
    with browser.new_context(base_url=entrance) as context:
        page: Page = context.new_page()
        page.goto(entrance)
        page.goto("/new")
        page.locator("#project").fill(str(directory))
        page.locator("#prompt").fill("permission make test")
        page.locator("#prompt").press("Enter")
        page.wait_for_url("**/c/bridge/*")
        page.locator(".ask[data-ask]").wait_for()
        # What was asked stands above, from the archive.
        page.locator("#stream .message.person").wait_for()
