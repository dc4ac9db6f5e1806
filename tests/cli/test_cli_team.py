"""`share --team`, `unshare` and `team`, as they are typed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import httpx
import pytest

from rireki.archive.open import open_archive
from rireki.cli.main import run
from rireki.errors import RirekiError
from rireki.home import Home
from rireki.intake.sweep import import_history
from rireki.shares.link import shared_with, take_back
from rireki.shares.rules import write_rules
from rireki.sources.kit.places import Places
from rireki.sync.link import RemoteLink
from rireki.sync.remotes import Remote, Remotes
from rireki.sync.sender import Sender, Transferred
from rireki.team.serve import TeamServer
from rireki.team.store import Team
from rireki.web.serve import bind
from tests.support.postgres import PostgresServer
from tests.support.two_people import IDS, write_session
from tests.web.conftest import PATIENCE, until

Typed = Callable[..., str]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("rireki.shares.rules.data_directory", lambda: tmp_path / "data")
    write_session(tmp_path / "home", IDS["ann"], "/home/ann/work/shop", "quokkaflux")
    write_session(tmp_path / "home", IDS["bob"], "/home/ann/diary", "privatissimum")
    path = tmp_path / "archive.sqlite3"
    with closing(open_archive(path, create=True)) as made:
        import_history(made, places=Places.at(tmp_path / "home"))
    return path


@pytest.fixture
def typed(archive: Path, capsys: pytest.CaptureFixture[str]) -> Typed:
    def typed(*words: str, code: int = 0) -> str:
        capsys.readouterr()
        more = [] if words[0] == "team" else ["--archive", str(archive)]
        assert run([words[0], *more, *words[1:]]) == code
        said = capsys.readouterr()
        return said.out + said.err

    return typed


@pytest.fixture
def acme(archive: Path) -> None:
    remote = Remote(name="acme", url="http://127.0.0.1:9", kind="team", token="t")
    Remotes(Home(archive)).add(remote)


def test_a_rule_is_shown_before_it_is_kept(typed: Typed, acme: None) -> None:
    said = typed("share", "/home/ann/work", "--team", "acme", "--dry-run")
    assert "1 conversation: without secrets, for acme on acme" in said and "quokkaflux" in said
    assert typed("share", "--list").strip() == "Nothing is shared with a team."
    typed("share", "/home/ann/work", "--team", "acme", "--level", "full")
    assert "1 conversation: in full" in typed("share", "--list")
    (told,) = [json.loads(line) for line in typed("share", "--list", "--json").splitlines()]
    assert (told["what"], told["level"], told["conversations"]) == ("/home/ann/work", "full", 1)


def test_a_directory_is_taken_back_and_one_conversation_out_of_it(typed: Typed, acme: None) -> None:
    typed("share", "/", "--team", "acme")
    said = typed("unshare", IDS["bob"])
    assert "is no longer shared with acme" in said
    shared = [json.loads(line) for line in typed("share", "--list", "--json").splitlines()]
    everything = next(each for each in shared if each["what"] == "/")
    assert everything["ids"] == [f"claude-code/{IDS['ann']}"]
    typed("unshare", "/")
    kept = [json.loads(line) for line in typed("share", "--list", "--json").splitlines()]
    assert [each["level"] for each in kept] == ["none"]
    assert "is not shared" in typed("unshare", "/home/ann/work", code=1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("share", "/", "--team", "x", "--to", "a.html"), "writes no file"),
        (("share", "/", "--level", "full"), "goes with --team"),
        (("share",), "what is to be shared"),
        (("share", "/", "--list"), "goes by itself"),
        (("share", "/", "--team", "x"), "no server of a team"),
        (("team", "status"), "which database"),
        (("team", "add"), "needs a name"),
        (("team", "serve", "bob"), "does not go with"),
        (("team", "serve", "--role", "owner"), "does not go with"),
    ],
)
def test_what_does_not_go_together_is_said(
    words: tuple[str, ...], said: str, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RIREKI_TEAM_DATABASE", raising=False)
    assert said in typed(*words, code=1)


def test_ones_own_remote_is_no_teams(typed: Typed, archive: Path) -> None:
    Remotes(Home(archive)).add(Remote(name="own", url="http://127.0.0.1:9", kind="own", token="t"))
    assert "no server of a team" in typed("share", "/", "--team", "x", code=1)
    assert "your own" in typed("share", "/", "--team", "x", "--remote", "own", code=1)


def test_forgetting_goes_on_though_the_server_is_away(
    typed: Typed, acme: None, archive: Path
) -> None:
    with closing(open_archive(archive, write=True)) as opened:
        told = '{"told":[{"family":"claude-code","grouping":"x","level":"full","teams":["acme"]}]}'
        opened.set_note("shared acme", told)
    said = typed("forget", IDS["bob"], "--yes")
    assert "Forgot" in said and "acme could not be told" in said


@pytest.fixture
def served(
    postgres: PostgresServer, tmp_path: Path, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, str]]:
    """A server's address, and the token of its owner."""
    address = postgres.database()
    monkeypatch.setenv("RIREKI_TEAM_DATABASE", address)
    monkeypatch.setattr("rireki.cli.commands.team.data_directory", lambda: tmp_path / "server")
    token = json.loads(typed("team", "init", "ann", "--team", "acme", "--json"))["token"]
    server = TeamServer(bind("127.0.0.1", 0), Team(address, tmp_path / "server" / "team"))
    thread = threading.Thread(target=server.run)
    thread.start()
    until(lambda: server.listening)
    yield server.url, token
    server.stop()
    thread.join(PATIENCE)


def test_from_the_first_token_to_the_last(served: tuple[str, str], typed: Typed) -> None:
    url, token = served
    bob = json.loads(typed("team", "add", "bob", "--json"))["token"]
    assert "team's server" in typed("remote", "add", "acme", url, "--token", token)

    def seen(path: str = "api/v1/conversations") -> httpx.Response:
        return httpx.get(url + path, headers={"Authorization": f"Bearer {bob}"}, timeout=PATIENCE)

    def ids() -> list[str]:
        return [each["native_id"] for each in seen().json()["conversations"]]

    assert "nothing is shared" in typed("push", "acme", code=1)
    typed("share", "/home/ann/work", "--team", "acme", "--level", "full", "--yes")
    assert "pushed 1 change" in typed("push", "acme")
    until(lambda: ids() == [IDS["ann"]])
    assert "nothing new" in typed("push", "acme")
    typed("unshare", "/home/ann/work")
    assert ids() == []
    typed("share", "/", "--team", "acme", "--level", "counts")
    typed("push", "acme")
    (figures,) = seen("api/team/v1/figures").json()["teams"]
    assert figures["conversations"] == 2 and ids() == []
    status = json.loads(typed("team", "status", "--json"))
    assert [each["name"] for each in status["people"]] == ["ann", "bob"]
    assert "ann  acme (owner)" in typed("team", "status")
    assert "nobody called" in typed("team", "revoke", "eve", code=1)
    typed("team", "revoke", "bob")
    assert seen().status_code == 401
    assert "there is a team" in typed("team", "init", code=1)


def test_what_is_taken_back_during_a_push_is_not_sent_behind(
    served: tuple[str, str], typed: Typed, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first push may take minutes; whoever sees meanwhile that it is too much takes it back."""
    url, token = served
    typed("remote", "add", "acme", url, "--token", token)
    typed("share", "/", "--team", "acme", "--level", "full")
    monkeypatch.setattr("rireki.sync.link.Sender", partial(Sender, limit=1))

    def take_back_all() -> None:
        write_rules([])
        with closing(open_archive(archive)) as mine:
            troubles.extend(error for _, error in take_back(mine))

    troubles: list[RirekiError | None] = []
    other = threading.Thread(target=take_back_all)

    def told(done: Transferred) -> None:
        if not other.ident:
            other.start()
            other.join(0.5)

    with closing(open_archive(archive, write=True)) as opened:
        remote = Remotes(Home(archive)).get("acme")
        # There was something to tell, and now there is nothing more: no push is needed.
        with suppress(RirekiError):
            RemoteLink(opened, remote, shared_with, told).push()
    other.join(PATIENCE)
    assert troubles in ([], [None])
    database = os.environ["RIREKI_TEAM_DATABASE"]
    with closing(Team(database, archive.parent / "look")) as team, team.archive(1) as there:
        assert there.rows.get("strand", "key") == []


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal there")
def test_a_demonstration_ends_however_soon_it_is_asked_to(tmp_path: Path) -> None:
    environment = os.environ | {"XDG_DATA_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-m", "rireki", "team", "demo", "--json"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as demo:
        assert demo.stdout is not None
        told = json.loads(demo.stdout.readline())
        assert [each["name"] for each in told["people"]] == ["ann", "ben"]
        demo.send_signal(signal.SIGINT)
        _, said = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 0 and "Traceback" not in said
    assert not list(tmp_path.glob("rireki-team-*"))
