"""`rireki remote`, as it is typed: what cannot be used is said in two lines, and says no secret."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from rireki.archive.open import open_archive
from rireki.cli.main import run
from rireki.home import Home
from rireki.shares.link import is_shared
from rireki.sync.devices import Devices
from rireki.sync.remotes import Remote, Remotes
from tests.support.syncing import served

Typed = Callable[..., str]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = tmp_path / "archive.sqlite3"
    open_archive(path, create=True).close()
    return path


@pytest.fixture
def typed(archive: Path, capsys: pytest.CaptureFixture[str]) -> Typed:
    def typed(*words: str, code: int = 0) -> str:
        capsys.readouterr()
        assert run([words[0], "--archive", str(archive), *words[1:]]) == code
        said = capsys.readouterr()
        assert code == 0 or len(said.err.splitlines()) == 2, said.err
        return said.out + said.err

    return typed


@pytest.mark.parametrize("token", ["secret\nthing", "secret thing", "秘密secret", "secret\x1b[31m"])
def test_what_cannot_be_a_token_is_not_repeated(typed: Typed, token: str) -> None:
    said = typed("remote", "add", "x", "http://127.0.0.1:9", "--token", token, code=1)
    assert "is no token" in said and "secret" not in said


def test_a_token_can_be_kept_from_other_users_of_the_machine(
    typed: Typed, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "desktop.sqlite3"
    open_archive(other, create=True).close()
    monkeypatch.setattr("sys.stdin", io.StringIO("secret-device\n"))
    with served(other) as url:
        said = typed("remote", "add", "desktop", url, "--token", "-", "--own")
    assert "as your own" in said and "secret" not in said
    assert Remotes(Home(archive)).get("desktop").token == "secret-device"


def test_a_key_that_cannot_be_read_is_told_as_that_of_a_folder(typed: Typed) -> None:
    said = typed("remote", "add", "drive", "/tmp/x", "--key", "nonsense", code=1)
    assert "remote key NAME" in said


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x\x1b[31m", "x" * 61])
def test_devices_have_names_that_can_be_typed(typed: Typed, archive: Path, name: str) -> None:
    assert "name of a device" in typed("remote", "token", "--new", name, code=1)
    assert Devices(Home(archive)).all() == []


def test_what_was_shared_with_a_server_is_not_shared_with_the_next_one_of_its_name(
    typed: Typed, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rireki.shares.rules.data_directory", lambda: tmp_path / "data")
    Remotes(Home(archive)).add(Remote(name="acme", url="http://127.0.0.1:9", kind="team"))
    typed("share", "/", "--team", "acme")
    with closing(open_archive(archive, write=True)) as opened:
        told = '{"told":[{"family":"claude-code","grouping":"x","level":"full","teams":["acme"]}]}'
        opened.set_note("shared acme", told)
    assert "went, too: 1" in typed("remote", "remove", "acme")
    remote = Remote(name="acme", url="http://127.0.0.1:8", kind="team")
    Remotes(Home(archive)).add(remote)
    assert "Nothing is shared" in typed("share", "--list")
    with closing(open_archive(archive)) as opened:
        assert not is_shared(opened, remote)


def test_a_team_that_nothing_is_shared_with_is_no_error_unless_it_is_asked_about(
    typed: Typed, archive: Path
) -> None:
    Remotes(Home(archive)).add(Remote(name="acme", url="http://127.0.0.1:9", kind="team"))
    assert "error" not in typed("push")
    assert "nothing is shared" in typed("push", "acme", code=1)
    (told,) = [json.loads(line) for line in typed("remote", "list", "--json").splitlines()]
    assert told["name"] == "acme"
    with closing(open_archive(archive)) as opened:
        assert opened.count() == 0
