"""What every test may use: an archive of its own, a clock that stands still until told, a made-up source."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.intake.sweep import Report, import_history
from rireki.sources import registry
from rireki.sources.kit.places import Places
from tests import phases

if TYPE_CHECKING:
    from tests.support.postgres import PostgresServer


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--campaign", action="store_true", help="the long form of tests/stress")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A part that could not be tested here is said aloud, at the end, where it is read."""
    from tests.support import ccusage
    from tests.support.claude_adapter import adapter

    skipped = [report.longrepr[2] for report in terminalreporter.stats.get("skipped", ())]
    absent = [reason for reason in skipped if "pyright" in reason]
    absent += sorted({reason for reason in skipped if "PostgreSQL" in reason})
    if adapter().absent:
        absent.append(f"Claude Code through its real adapter: {adapter().absent}")
    if ccusage.absent():
        absent.append(f"the sums of ccusage: {ccusage.absent()}")
    if absent:
        terminalreporter.section("NOT TESTED", sep="!", yellow=True)
        for line in absent:
            terminalreporter.line(line)


def pytest_configure(config: pytest.Config) -> None:
    """A shell that starts us in the background has us ignore Ctrl-C or the end of its terminal
    (nohup), and whatever we start as well."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # Some agents write local times.
    os.environ["TZ"] = "UTC"
    if hasattr(time, "tzset"):
        time.tzset()
    # Before anything is collected, and for every process that a test starts: nobody's own data.
    data = os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="rireki-tests-")
    config.add_cleanup(lambda: shutil.rmtree(data, ignore_errors=True))
    # How long a machine takes beside other work says nothing about the property. Without a deadline
    # making the examples may take half a minute: slower than that is a mistake in a test.
    hypothesis.settings.register_profile("tests", deadline=None)
    hypothesis.settings.load_profile("tests")
    if "not waits" in config.option.markexpr:
        config.pluginmanager.register(phases.Guard())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for mark in phases.marks(item.nodeid):
            item.add_marker(mark)
    if config.option.markexpr == "waits":
        items.sort(key=lambda item: phases.turn(item.nodeid))


class Clock:
    """Moves a second at every look."""

    def __init__(self) -> None:
        self.seconds = 0

    def __call__(self) -> str:
        self.seconds += 1
        moment = datetime(2026, 1, 1) + timedelta(seconds=self.seconds)
        return f"{moment.isoformat()}.000Z"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def archive(tmp_path: Path, clock: Clock) -> Iterator[Archive]:
    opened = open_archive(tmp_path / "archive" / "archive.sqlite3", create=True, clock=clock)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server of PostgreSQL for all tests of this process; each makes databases of its own in it."""
    if os.name != "posix":
        pytest.skip("PostgreSQL is only tested where it has a Unix socket")
    from tests.support.postgres import absent, running

    if absent():
        pytest.skip(absent())
    with running() as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def plain_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """The made-up source of tests/support/plain.py in place of the real ones."""
    addresses = {"plain": "tests.support.plain:READER"}
    monkeypatch.setattr(registry, "_addresses", lambda: addresses)


@pytest.fixture
def take_in(archive: Archive, home: Path) -> Callable[[], Report]:
    """Import the whole home once more."""
    return lambda: import_history(archive, places=Places.at(home))


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local times are those of Tokyo, whatever the machine says."""
    if not hasattr(time, "tzset"):
        pytest.skip("on Windows a process cannot choose its time zone")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
