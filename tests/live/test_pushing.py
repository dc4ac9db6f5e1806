"""What the keeper takes in is pushed moments later, and nothing where nobody asked for that."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from rireki.archive.forgetting import forget
from rireki.archive.open import open_archive
from rireki.errors import RirekiError
from rireki.home import Home
from rireki.live import pushing
from rireki.sync.http import HttpRemote
from rireki.sync.remotes import Remote, Remotes, RemoteStatus
from tests.live.conftest import SESSION, Kept, append, until
from tests.support.pushing import understand
from tests.support.syncing import served

ONE = SESSION.format(1)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / "desktop" / "archive.sqlite3"
    path.parent.mkdir()
    open_archive(path, create=True).close()
    return path


def turns(path: Path) -> int:
    with closing(open_archive(path)) as archive:
        understand(archive)
        return sum(each.turns for each in archive.conversations())


def test_a_new_turn_is_there_within_moments(
    kept: Kept, project: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []
    take = HttpRemote.take

    def counted(self: HttpRemote, stream: str, body: bytes) -> object:
        asked.append(time.monotonic())
        return take(self, stream, body)

    monkeypatch.setattr(HttpRemote, "take", counted)
    file = project / f"{ONE}.jsonl"
    append(file, 1)
    with served(other) as url:
        remotes = Remotes(Home(kept.path))
        remotes.add(Remote(name="desktop", url=url, kind="own", token="secret-device"))
        remotes.add(Remote(name="acme", url=url, kind="team", token="wrong"))
        kept.start()
        until(lambda: turns(other) == 1)
        begun = time.monotonic()
        for number in range(2, 8):
            append(file, number)
            time.sleep(0.05)
        until(lambda: turns(other) == 7)
        # Not one for each line.
        assert len(asked) <= 2 + (time.monotonic() - begun) / pushing.SERVER
    # To a team nothing goes by itself, and it is not even asked.
    assert remotes.status().keys() == {"desktop"}
    assert remotes.status()["desktop"].trouble == ""


def test_a_remote_that_is_away_is_pushed_to_when_it_is_back(
    kept: Kept, project: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pushing, "pause", lambda failures: 0.05)
    with closing(socket.create_server(("127.0.0.1", 0))) as away:
        port = away.getsockname()[1]
    remotes = Remotes(Home(kept.path))
    url = f"http://127.0.0.1:{port}"
    remotes.add(Remote(name="desktop", url=url, kind="own", token="secret-device"))
    append(project / f"{ONE}.jsonl", 1)
    kept.start()
    until(lambda: "nothing answers" in remotes.status().get("desktop", RemoteStatus()).trouble)
    assert kept.turns(ONE) == 1
    with served(other, port=port):
        until(lambda: turns(other) == 1)
        until(lambda: remotes.status()["desktop"].trouble == "")


def test_what_another_process_changed_is_pushed_too(
    kept: Kept, project: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody tells the keeper of what was forgotten on a page, or of a new remote."""
    monkeypatch.setattr(pushing, "LOOK", 0.1)
    append(project / f"{ONE}.jsonl", 1)
    kept.start()
    until(lambda: kept.turns(ONE) == 1)
    remotes = Remotes(Home(kept.path))
    with served(other) as url:
        remotes.add(Remote(name="desktop", url=url, kind="own", token="secret-device"))
        until(lambda: turns(other) == 1)
        with closing(open_archive(kept.path, write=True)) as archive:
            forget(archive, [archive.find(ONE)])
        until(lambda: turns(other) == 0)


def test_without_a_remote_nothing_leaves(
    kept: Kept, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> None:
        raise AssertionError(f"somebody connects: {given}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(pushing, "link", None)
    append(project / f"{ONE}.jsonl", 1)
    keeper = kept.start()
    append(project / f"{ONE}.jsonl", 2)
    until(lambda: kept.turns(ONE) == 2)
    assert keeper.status.troubles == [] and not Home(kept.path).sync.exists()
    assert [t.name for t in threading.enumerate()].count("rireki-push") == 1


def test_a_list_of_remotes_that_is_damaged_keeps_nothing_from_its_work(
    kept: Kept, project: Path
) -> None:
    remotes = Remotes(Home(kept.path))
    remotes.folder.mkdir(parents=True)
    (remotes.folder / "remotes.json").write_text("{")
    append(project / f"{ONE}.jsonl", 1)
    kept.start()
    append(project / f"{ONE}.jsonl", 2)
    until(lambda: kept.turns(ONE) == 2)
    with pytest.raises(RirekiError, match="cannot be understood"):
        remotes.all()
