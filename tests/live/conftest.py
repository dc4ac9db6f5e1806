"""A home that agents write to, and keepers that end with their test."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.open import open_archive
from rireki.live import keeper_work
from rireki.live.keeper import Keeper
from rireki.model.conversation import Conversation
from rireki.sources.kit.places import Places

SESSION = "00000000-0000-4000-8000-{:012d}"
#: A loaded machine may take its time; nothing here takes that long on an idle one.
PATIENCE = 30.0


def line(number: int, session: str, text: str | None = None, **more: Any) -> str:
    """A line of a transcript: something typed."""
    value = {
        "type": "user",
        "uuid": f"{number:08d}-0000-4000-8000-{session[-12:]}",
        "parentUuid": None,
        "sessionId": session,
        "cwd": "/home/u/x",
        "timestamp": f"2026-01-01T00:00:{number % 60:02d}.000Z",
        "message": {"role": "user", "content": text or f"prompt {number}"},
    }
    return json.dumps(value | more) + "\n"


def append(file: Path, *numbers: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as more:
        more.write("".join(line(number, file.stem) for number in numbers))


def until(condition: Callable[[], Any], what: str = "it") -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(0.01)


class Kept:
    """An archive and whoever keeps it."""

    def __init__(self, archive: Path, home: Path) -> None:
        self.path = archive
        self.places = Places.at(home)
        self.numbers: list[int] = []
        self.keepers: list[Keeper] = []

    def start(self, wait: bool = True, **options: Any) -> Keeper:
        keeper = Keeper(
            self.path, self.places, on_change=self.numbers.append, **{"index": False, **options}
        )
        self.keepers.append(keeper)
        keeper.start()
        if wait:
            assert keeper.wait(PATIENCE)
        return keeper

    def find(self, name: str) -> Conversation | None:
        """The conversation of this native id, as the archive has it now."""
        with closing(open_archive(self.path)) as archive:
            ids = [
                id
                for id in {each.id for each in archive.headings()}
                if id.partition("/")[2] == name
            ]
            return archive.pick(ids)[ids[0]] if ids else None

    def turns(self, name: str) -> int:
        found = self.find(name)
        return found.turns if found else 0

    def places_of(self, name: str) -> list[str]:
        """Where the files of a Claude Code session lie or lay."""
        with closing(open_archive(self.path)) as archive:
            return [strand.place for strand in archive.strands("claude-code", name)]


@pytest.fixture
def kept(tmp_path: Path, home: Path) -> Iterator[Kept]:
    kept = Kept(tmp_path / "archive" / "archive.sqlite3", home)
    yield kept
    for keeper in kept.keepers:
        keeper.stop()


@pytest.fixture
def project(home: Path) -> Path:
    folder = home / ".claude" / "projects" / "-home-u-x"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def without_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only hints bring anything, from the end of the first import on."""
    monkeypatch.setattr(keeper_work, "CALM", 3600.0)
    monkeypatch.setattr(keeper_work, "EAGER", 3600.0)
