"""An archive that somebody else made brings neither a token nor an address along: both come from the
data directory of the user who serves it."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path

import msgspec
import pytest

from rireki.archive.open import open_archive
from rireki.home import Home, archive_path, data_directory
from rireki.journals.lock import KeeperLock
from rireki.web.running import Address, Served
from rireki.web.token import ensure_token, new_token
from tests.support.shut import rireki, shut
from tests.web.conftest import client_at
from tests.web.test_serve import command, run, serve

PLANTED = "planted-by-somebody-else-0123456789"
TOKEN = (sys.executable, "-m", "rireki", "token")


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """The archive in a folder that somebody handed over, with a token that they know."""
    archive = tmp_path / "folder" / "archive.sqlite3"
    open_archive(archive, create=True).close()
    planted = archive.with_suffix(".token")
    planted.write_text(PLANTED + "\n")
    planted.chmod(0o600)
    (tmp_path / "home").mkdir()
    return archive


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data directory of the user who runs the command."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("RIREKI_ARCHIVE", raising=False)
    return tmp_path / "data" / "rireki"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_token_that_lies_in_a_foreign_folder_does_not_open_the_server(
    foreign: Path, tmp_path: Path
) -> None:
    with serve(foreign, tmp_path / "home", "--port", "0", "--no-keep") as serving:
        assert PLANTED not in serving.said["url"]
        with client_at(serving.port) as stranger:
            bearer = {"Authorization": f"Bearer {PLANTED}"}
            assert stranger.get("/api/v1/health", headers=bearer).status_code == 401
            assert stranger.get(f"/?token={PLANTED}").status_code == 401
        assert serving.get("health")
    assert foreign.with_suffix(".token").read_text() == PLANTED + "\n"


def test_every_command_means_the_same_token(foreign: Path, tmp_path: Path) -> None:
    with serve(foreign, tmp_path / "home") as serving:
        assert serving.said["url"].endswith(run(*TOKEN, "--archive", str(foreign)).stdout.strip())
        new = run(*TOKEN, "--new", "--archive", str(foreign.parent)).stdout.strip()
        assert serving.client.get("/api/v1/health").status_code == 401
        told = run(*[w for w in command(foreign, tmp_path / "home", "--url") if w != "--json"])
        assert told.stdout.strip() == f"http://127.0.0.1:{serving.port}/?token={new}"
    assert foreign.with_suffix(".token").read_text() == PLANTED + "\n"


def test_the_users_own_archive_keeps_the_token_that_it_has(data: Path) -> None:
    data.mkdir(parents=True)
    (data / "archive.token").write_text("made-by-an-earlier-version-012345\n")
    (data / "archive.token").chmod(0o600)
    assert Home(archive_path()).token == data / "archive.token"
    assert ensure_token(archive_path()) == "made-by-an-earlier-version-012345"
    # However it is named.
    assert Home(archive_path(str(data))).token == data / "archive.token"
    (linked := data.parent / "linked").symlink_to(data)
    assert Home(archive_path(str(linked))).token == data / "archive.token"


def test_a_folder_below_the_data_directory_is_not_the_users_word(data: Path) -> None:
    assert Home(data / "from-bob" / "archive.sqlite3").token.parent == data / "private"


def test_each_archive_has_one_token_by_whatever_way_it_is_named(
    data: Path, foreign: Path, tmp_path: Path
) -> None:
    (tmp_path / "linked").symlink_to(foreign.parent)
    token = ensure_token(foreign)
    assert ensure_token(tmp_path / "linked" / foreign.name) == token
    assert ensure_token(foreign.with_name("other.sqlite3")) != token
    assert new_token(foreign) == ensure_token(foreign) != token


@pytest.mark.skipif(os.name != "posix", reason="modes as POSIX has them")
def test_it_is_for_its_owner_alone(data: Path, foreign: Path) -> None:
    before = os.umask(0o022)
    try:
        ensure_token(foreign)
    finally:
        os.umask(before)
    assert [mode(path) for path in (Home(foreign).token, data / "private", data)] == [
        0o600,
        0o700,
        0o700,
    ]


def test_a_data_directory_that_is_relative_is_not_the_users(
    foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").rename(tmp_path / "rireki")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", ".")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("RIREKI_ARCHIVE", raising=False)
    own = tmp_path / "home" / ".local" / "share" / "rireki"
    assert archive_path() == own / "archive.sqlite3"
    assert Home(tmp_path / "rireki" / "archive.sqlite3").token.is_relative_to(own)


def test_an_address_that_lies_in_a_foreign_folder_is_not_given_the_token(
    foreign: Path, tmp_path: Path
) -> None:
    """Whoever made the folder holds the lock in it, and says that they serve the archive."""
    theirs = KeeperLock(foreign)
    theirs.path = foreign.with_name(f"{foreign.name}.serve")
    assert theirs.take()
    note = msgspec.json.encode(Address("evil.example", 80, os.getpid()))
    foreign.with_name(f"{foreign.name}.served").write_bytes(note)
    assert Served(foreign).other() is None
    told = run(*command(foreign, tmp_path / "home", "--url"))
    theirs.release()
    assert told.returncode == 1 and "evil" not in told.stdout + told.stderr


def test_where_nothing_can_be_kept_that_is_said(data: Path, foreign: Path) -> None:
    data.mkdir(parents=True)
    with shut(data):
        told = run(*rireki(foreign, "token"))
    assert told.returncode == 1 and len(told.stderr.splitlines()) == 1
    assert str(data) in told.stderr
    assert not list(data.iterdir())


def test_no_test_uses_the_data_of_whoever_runs_it() -> None:
    assert data_directory().is_relative_to(tempfile.gettempdir())
