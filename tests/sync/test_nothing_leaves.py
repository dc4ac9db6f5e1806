"""What was not allowed to leave does not leave: a server that records what it is sent gets nothing, and
one that lies about whose it is gets nothing either."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.open import open_archive
from rireki.sync.receiver import Receiver
from tests.support.machines import Laptop
from tests.support.syncing import served
from tests.support.two_people import IDS, write_session

TOKEN = "secret-device"


class Recorder:
    """Takes whatever it is sent, and answers nothing."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.said: list[bytes] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                with connection:
                    self.said.append(connection.recv(1 << 16))

    def close(self) -> None:
        # Who waits in `accept` does not hear that it is closed.
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self._thread.join()


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    made = Recorder()
    yield made
    made.close()


@pytest.fixture
def laptop(tmp_path: Path) -> Laptop:
    made = Laptop(tmp_path, "laptop")
    write_session(made.home, IDS["ann"], "/home/ann/shop", "quokkaflux")
    made.take_in()
    return made


_heard: list[Callable[[str, Any], None]] = []
_hooked = False


@contextmanager
def connections() -> Iterator[list[Any]]:
    """Where anything of this process connects to, or asks for by name, meanwhile."""
    global _hooked
    found: list[Any] = []

    def note(event: str, arguments: Any) -> None:
        names = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")
        if event in names:
            found.append((event, *arguments[1:]))

    def hook(event: str, arguments: Any) -> None:
        for heard in _heard:
            heard(event, arguments)

    if not _hooked:
        # There is no way to take it away again.
        sys.addaudithook(hook)
        _hooked = True
    _heard.append(note)
    try:
        yield found
    finally:
        _heard.remove(note)


def test_without_a_remote_nothing_is_connected_to(
    laptop: Laptop, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, recorder.url)
        monkeypatch.setenv(name.upper(), recorder.url)
    with connections() as found:
        laptop.take_in()
        for words in (
            ("list",),
            ("search", "quokkaflux"),
            ("show", IDS["ann"], "--no-pager"),
            ("stats",),
            ("usage",),
            ("sources",),
            ("verify",),
            ("remote", "list"),
            ("share", "--list"),
        ):
            laptop.rireki(*words)
        for words in (("push",), ("pull",), ("sync",)):
            assert "no remote" in laptop.rireki(*words, code=1)
    assert found == [] and recorder.said == []
    # The hook hears what is said aloud.
    with connections() as found, socket.create_connection(recorder.socket.getsockname()):
        pass
    assert found


def test_a_teams_server_hears_nothing_before_something_is_shared(
    laptop: Laptop, recorder: Recorder, tmp_path: Path
) -> None:
    other = tmp_path / "other.sqlite3"
    open_archive(other, create=True).close()
    with served(other, kind="team") as url:
        laptop.rireki("remote", "add", "acme", url, "--token", TOKEN)
    # From now on it is somebody who records.
    settings = next((laptop.data / "rireki").rglob("*remotes*"))
    settings.write_text(settings.read_text().replace(url, recorder.url))
    assert "nothing is shared" in laptop.rireki("push", "acme", code=1)
    laptop.rireki("push")
    laptop.rireki("sync")
    laptop.rireki("remote", "remove", "acme")
    assert "no remote" in laptop.rireki("push", code=1)
    assert recorder.said == []


# ── servers that lie about whose they are ──


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The batches that any server got."""
    bodies: list[bytes] = []
    take = Receiver.take

    def noted(self: Receiver, stream: str, body: bytes) -> Any:
        bodies.append(body)
        return take(self, stream, body)

    monkeypatch.setattr(Receiver, "take", noted)
    return bodies


def test_a_teams_server_that_says_it_is_ones_own_is_in_doubt_a_teams(
    laptop: Laptop, tmp_path: Path, taken: list[bytes]
) -> None:
    other = tmp_path / "other.sqlite3"
    open_archive(other, create=True).close()
    with served(other, kind="own") as url:
        said = laptop.rireki("remote", "add", "acme", url, "--token", TOKEN)
        assert "a team's server" in said
        (remote,) = laptop.json("remote", "list")
        assert remote["kind"] == "team"
        assert "nothing is shared" in laptop.rireki("push", "acme", code=1)
        assert "is a team's server" in laptop.rireki("pull", "acme", code=1)
    assert taken == []


@pytest.mark.parametrize(("was", "says"), [("own", "team"), ("own", "whatever"), ("team", "own")])
def test_a_server_that_later_says_another_kind_gets_nothing(
    was: Any, says: Any, laptop: Laptop, tmp_path: Path, taken: list[bytes]
) -> None:
    other = tmp_path / "other.sqlite3"
    open_archive(other, create=True).close()
    with served(other, kind=was) as url:
        own = ["--own"] if was == "own" else []
        laptop.rireki("remote", "add", "acme", url, "--token", TOKEN, *own)
    port = int(url.rpartition(":")[2])
    with served(other, kind=says, port=port):
        if was == "own":
            for words in (("push", "acme"), ("sync",), ("pull", "acme")):
                assert "nothing was sent" in laptop.rireki(*words, code=1)
        else:
            laptop.rireki("push", "acme", code=1)
    assert taken == []


def test_own_is_not_believed_of_a_server_that_says_it_is_a_teams(
    laptop: Laptop, tmp_path: Path
) -> None:
    other = tmp_path / "other.sqlite3"
    open_archive(other, create=True).close()
    with served(other, kind="team") as url:
        laptop.rireki("remote", "add", "acme", url, "--token", TOKEN, "--own", code=1)
        assert laptop.json("remote", "list") == []
