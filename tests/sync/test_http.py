"""The same over HTTP: with a token, to this machine or encrypted."""

from __future__ import annotations

import http.client
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from rireki.archive.base import Archive
from rireki.errors import ArchiveTrouble, RirekiError
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from rireki.sync.http import HttpRemote, checked_url
from rireki.sync.outbox import Outbox
from rireki.sync.receiver import Receiver
from rireki.sync.routes import push_routes
from rireki.sync.sender import Puller, Sender
from rireki.sync.wire import PATH, PushAnswer, Unkept, decode
from tests.support.homes import lay_out
from tests.support.pushing import told, understand
from tests.support.syncing import LAPTOP, SMALL, served

TOKEN = "secret-device"


def test_it_is_pushed_and_pulled_over_http(
    archive: Archive, other: Archive, home: Path, tmp_path: Path
) -> None:
    lay_out("claude-code-2.0.76", home)
    import_history(archive, places=Places.at(home))
    with served(Path(other.address), TOKEN) as url:
        remote = HttpRemote(url, TOKEN)
        assert remote.greet().kind == "own"
        done = Sender(Outbox(archive, LAPTOP), remote, "desktop", limit=SMALL).push()
        assert done.batches > 3
        understand(other)
        assert told(other, tmp_path / "there") == told(archive, tmp_path / "here")
        # And back: what the other machine read itself.
        home_there = tmp_path / "home there"
        home_there.mkdir()
        lay_out("amazon-q-1.12", home_there)
        import_history(other, places=Places.at(home_there))
        assert Puller(remote, Receiver(archive), "desktop", limit=SMALL).pull().batches > 1
        understand(archive)
        assert told(other, tmp_path / "there2") == told(archive, tmp_path / "here2")
        assert Puller(remote, Receiver(archive), "desktop").pull().batches == 0
        remote.close()
        with pytest.raises(RirekiError, match="this very archive"):
            name = remote.outgoing().archive
            Puller(remote, Receiver(archive), "desktop", own=name).pull()
        remote.close()


@pytest.mark.parametrize("token", ["wrong", ""])
def test_without_the_token_nothing_is_answered(token: str, other: Archive) -> None:
    with served(Path(other.address), TOKEN) as url:
        remote = HttpRemote(url, token)
        for ask in (remote.greet, remote.outgoing, lambda: remote.held("1", [1])):
            with pytest.raises(RirekiError, match="does not know the token"):
                ask()
        with pytest.raises(RirekiError, match="does not know the token"):
            remote.take("1", b"?" * 100_000)
        remote.close()


def test_questions_that_are_none_are_refused(other: Archive) -> None:
    with served(Path(other.address), TOKEN) as url:
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
        for path, body in [
            ("/streams", b"?"),
            ("/streams/1/have", b"\xc1"),
            ("/streams/1/records", b"?"),
            ("/outgoing/next", b"\x93" * 10),
            ("/streams/1/have", b"\x91" * 100_000),
        ]:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            connection.request("POST", "/api/push/v1" + path, body, headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 400
        connection.close()


def test_while_the_database_is_away_it_is_to_be_sent_again() -> None:
    def away(token: str) -> None:
        raise ArchiveTrouble("database-gone", database="postgresql://db", why="not yet")

    with TestClient(Starlette(routes=push_routes(away))) as client:
        for path in ("/streams", "/streams/1/have", "/streams/1/records", "/outgoing/next"):
            answer = client.post(PATH + path, headers={"Authorization": "Bearer t"})
            said = decode(answer.content, PushAnswer)
            assert answer.status_code == 503 and isinstance(said, Unkept) and "not yet" in said.why


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://example.org", "remote-not-encrypted"),
        ("http://127.0.0.1.example.org", "remote-not-encrypted"),
        ("http://[::2]:80", "remote-not-encrypted"),
        ("https://", "remote-bad-url"),
        ("https://me:secret@example.org", "remote-bad-url"),
        ("gopher://example.org", "remote-bad-url"),
        ("https://example.org:99999", "remote-bad-url"),
        ("https://example.org/?a=b", "remote-bad-url"),
    ],
)
def test_addresses_that_are_not_spoken_to(url: str, code: str) -> None:
    with pytest.raises(RirekiError) as raised:
        checked_url(url)
    assert raised.value.code == code and "secret" not in str(raised.value)


def test_nobody_there_is_said_in_words() -> None:
    with pytest.raises(RirekiError, match="nothing answers at"):
        HttpRemote("http://127.0.0.1:9", TOKEN, patience=2).greet()
