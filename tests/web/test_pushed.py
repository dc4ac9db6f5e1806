"""`serve --accept-push`: other machines are let in by tokens of their own, and to nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rireki.archive.base import Archive, Filter
from rireki.archive.open import open_archive
from rireki.errors import RirekiError
from rireki.home import Home
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from rireki.sync.devices import Devices
from rireki.sync.http import HttpRemote
from rireki.sync.outbox import Outbox
from rireki.sync.receiver import Receiver
from rireki.sync.sender import Puller, Sender
from rireki.web.serve import Server
from tests.support.homes import lay_out
from tests.support.syncing import LAPTOP, SMALL
from tests.web.conftest import BEARER, TOKEN, client_at, serving, until

PUSH = "/api/push/v1"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "desktop" / "archive.sqlite3"
    path.parent.mkdir()
    open_archive(path, create=True).close()
    return path


@pytest.fixture
def taking(target: Path, tmp_path: Path) -> Iterator[Server]:
    with serving(target, tmp_path, accept_push=True) as server:
        yield server


@pytest.fixture
def full(archive: Archive, tmp_path: Path) -> Archive:
    home = lay_out("claude-code-2.0.76", tmp_path / "home")
    import_history(archive, places=Places.at(home))
    return archive


def ids(archive: Archive) -> set[str]:
    return {each.id for each in archive.conversations(Filter(subagents=True))}


def test_what_is_pushed_is_soon_to_be_read_there(
    taking: Server, target: Path, full: Archive
) -> None:
    token = Devices(Home(target)).new("laptop", "2026-11-19T00:00:00.000Z")
    with closing(HttpRemote(f"http://127.0.0.1:{taking.port}", token)) as remote:
        assert remote.greet().kind == "own"
        assert Sender(Outbox(full, LAPTOP), remote, "desktop", limit=SMALL).push().batches > 1
        with closing(open_archive(target)) as there:
            until(lambda: ids(there) == ids(full))
        assert Puller(remote, Receiver(full), "desktop").pull().batches == 0
        with client_at(taking.port, **BEARER) as web:
            assert len(web.get("/api/v1/conversations").json()["conversations"]) > 0
        # From this moment on it opens nothing.
        Devices(Home(target)).revoke("laptop")
        with pytest.raises(RirekiError, match="does not know the token"):
            remote.greet()


def test_each_token_opens_its_own_door_and_no_other(taking: Server, target: Path) -> None:
    device = Devices(Home(target)).new("laptop", "2026-11-19T00:00:00.000Z")
    with client_at(taking.port) as web:
        for token in (TOKEN, device + "x", "x", "Ä".encode()):
            header = token if isinstance(token, bytes) else token.encode()
            given = {b"Authorization": b"Bearer " + header}
            assert web.get(PUSH, headers=given).status_code == 401
        known = {"Authorization": f"Bearer {device}"}
        assert web.get(PUSH, headers=known).status_code == 200
        for path in ("/", "/api/v1/conversations", f"{PUSH}x", "/mcp"):
            assert web.get(path, headers=known).status_code in (401, 405)
        assert web.get(f"{PUSH}?token={device}").status_code == 401
        # A page elsewhere, another name, another method.
        assert web.get(PUSH, headers=known | {"Origin": "http://evil"}).status_code == 403
        own = {"Origin": f"http://127.0.0.1:{taking.port}"}
        assert web.get(PUSH, headers=known | own).status_code == 403
        assert web.get(PUSH, headers=known | {"Host": "evil"}).status_code == 403
        assert web.delete(PUSH, headers=known).status_code == 405


def test_without_being_asked_to_nothing_is_taken(target: Path, tmp_path: Path) -> None:
    device = Devices(Home(target)).new("laptop", "2026-11-19T00:00:00.000Z")
    with serving(target, tmp_path) as server, client_at(server.port) as web:
        for token in (TOKEN, device):
            given = {"Authorization": f"Bearer {token}"}
            assert web.get(PUSH, headers=given).status_code == 404
            assert web.post(f"{PUSH}/streams", headers=given, content=b"?").status_code == 404
        remote = HttpRemote(f"http://127.0.0.1:{server.port}", device)
        with closing(remote), pytest.raises(RirekiError, match="takes no pushes"):
            remote.greet()


def test_a_body_without_a_token_is_not_waited_for(taking: Server) -> None:
    with client_at(taking.port) as web:
        answer = web.post(f"{PUSH}/streams/1/records", content=b"?" * 200_000)
        assert answer.status_code == 401


def test_a_damaged_list_of_devices_lets_nobody_in(taking: Server, target: Path) -> None:
    devices = Home(target).sync / "devices.json"
    devices.parent.mkdir(parents=True, exist_ok=True)
    devices.write_text("{")
    with client_at(taking.port, Authorization="Bearer x") as web:
        assert web.get(PUSH).status_code >= 400
