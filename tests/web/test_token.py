"""The token stays out of sight, tickets open the page once, and a new token locks everybody out."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from rireki.home import Home
from rireki.sources.kit.places import Places
from rireki.web.api import events
from rireki.web.serve import Server, bind
from rireki.web.token import Access, cookie_value, ensure_token, new_token
from tests.web.conftest import PATIENCE, Ear, client_at, until
from tests.web.test_serve import command, environment, run, serve

pty = pytest.importorskip("pty")

#: Notes what it was given to open, and what lies there; then opens it, as far as it is told to.
BROWSER = """
import os, re, sys, urllib.request
note, visits, target = sys.argv[1:]
said = [f"argument {target}"]
if target.startswith("file://"):
    path = target.removeprefix("file://")
    said.append(f"mode {os.stat(path).st_mode & 0o777:o}")
    target = re.search("url=([^\\"]+)", open(path).read())[1].replace("&amp;", "&")
said.append(f"leads {target}")
if visits == "comes":
    remembers = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    said.append(f"status {remembers.open(target).status}")
open(note + ".new", "w").write("\\n".join(said))
os.rename(note + ".new", note)
"""


class AtDesktop:
    """`rireki serve` on a terminal, with a browser that takes notes."""

    def __init__(self, folder: Path, visits: str, *options: str) -> None:
        self.folder = folder
        self.note = folder / "note"
        program = folder / "browser.py"
        program.write_text(BROWSER)
        archive = folder / "kept" / "archive.sqlite3"
        (folder / "home").mkdir()
        words = [w for w in command(archive, folder / "home", *options) if w not in HEADLESS]
        self._ours, theirs = pty.openpty()
        browser = f"{sys.executable} {program} {self.note} {visits} %s"
        more = {"DISPLAY": ":9", "BROWSER": browser, "TMPDIR": str(folder), "TERM": "dumb"}
        more |= {"NO_PROXY": "*", "no_proxy": "*"}
        self.process = subprocess.Popen(
            words, stdin=theirs, stdout=theirs, stderr=theirs, env=self._environment(more)
        )
        os.close(theirs)
        self.shown = ""
        self._reading = threading.Thread(target=self._read)
        self._reading.start()
        until(lambda: "Stop with" in self.shown)
        self.token = ensure_token(archive)

    def _environment(self, more: dict[str, str]) -> dict[str, str]:
        return {k: v for k, v in environment(**more).items() if k != "SSH_CONNECTION"}

    def _read(self) -> None:
        while True:
            try:
                piece = os.read(self._ours, 65536)
            except OSError:
                return
            if not piece:
                return
            self.shown += piece.decode(errors="replace")

    def noted(self) -> dict[str, str]:
        until(self.note.exists)
        words = (line.partition(" ") for line in self.note.read_text().splitlines())
        return {name: value for name, _, value in words}

    def files(self) -> list[Path]:
        return list(self.folder.glob("rireki-*.html"))

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        self._reading.join(PATIENCE)
        os.close(self._ours)


HEADLESS = ("--no-open", "--json")


@contextmanager
def at_desktop(folder: Path, visits: str, *options: str) -> Iterator[AtDesktop]:
    desktop = AtDesktop(folder, visits, "--port", "0", "--no-keep", *options)
    try:
        yield desktop
    finally:
        desktop.end()


def arguments_of_all_processes() -> str:
    told = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=False)
    return told.stdout


def test_the_browser_is_opened_without_the_token_in_anybody_s_sight(tmp_path: Path) -> None:
    with at_desktop(tmp_path, "comes") as desktop:
        noted = desktop.noted()
        assert noted["argument"].startswith("file://") and noted["mode"] == "600"
        assert "ticket=" in noted["leads"] and desktop.token not in noted["leads"]
        assert noted["status"] == "200"
        until(lambda: not desktop.files())
        assert desktop.token not in arguments_of_all_processes()
        assert desktop.token not in desktop.shown
        # What somebody finds in the browser's history opens nothing.
        assert httpx.get(noted["leads"]).status_code == 401


def test_a_browser_that_does_not_come_is_told_of_soon(tmp_path: Path) -> None:
    """Sandboxed ones cannot read the file."""
    with at_desktop(tmp_path, "stays-away") as desktop:
        desktop.noted()
        assert desktop.token not in desktop.shown
        assert len(desktop.files()) == 1
        started = time.monotonic()
        until(lambda: f"?token={desktop.token}" in desktop.shown)
        assert time.monotonic() - started < 15
    assert desktop.files() == []


def test_without_the_file_the_ticket_itself_is_opened(tmp_path: Path) -> None:
    with at_desktop(tmp_path, "comes", "--no-redirect-file") as desktop:
        noted = desktop.noted()
        assert noted["argument"].startswith("http://127.0.0.1:") and noted["status"] == "200"
        assert desktop.token not in noted["argument"]
        assert desktop.files() == []


# ── tickets ──


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "archive.sqlite3"


@pytest.fixture
def served(kept: Path, tmp_path: Path) -> Iterator[Server]:
    """A server whose token can be changed."""
    access = Access(ensure_token(kept), Home(kept).token)
    server = Server(bind("127.0.0.1", 0), kept, Places.at(tmp_path), access, keep=False)
    from rireki.archive.open import open_archive

    open_archive(kept, create=True).close()
    thread = threading.Thread(target=server.run)
    thread.start()
    until(lambda: server.listening)
    yield server
    server.stop()
    thread.join(PATIENCE)


def test_a_ticket_opens_once(served: Server) -> None:
    ticket = served.access.issue()
    with client_at(served.port) as stranger:
        assert stranger.head(f"/?ticket={ticket.value}").status_code == 401
        assert not ticket.used.is_set()
        answer = stranger.get(f"/search?q=x&ticket={ticket.value}")
        assert (answer.status_code, answer.headers["location"]) == (303, "/search?q=x")
        assert ticket.used.is_set()
        assert stranger.get("/api/v1/health").status_code == 200
    with client_at(served.port) as another:
        for address in (f"/?ticket={ticket.value}", "/?ticket=", "/?ticket=x&ticket=y"):
            assert another.get(address).status_code == 401
        assert another.get("/").status_code == 401


def test_a_ticket_is_no_token_and_a_wrong_token_spoils_it(served: Server) -> None:
    value = served.access.issue().value
    with client_at(served.port) as stranger:
        bearer = {"Authorization": f"Bearer {value}"}
        assert stranger.get("/api/v1/health", headers=bearer).status_code == 401
        assert stranger.get(f"/?token=wrong&ticket={value}").status_code == 401
        assert stranger.post(f"/api/v1/drive/new?ticket={value}").status_code == 401


def test_a_ticket_is_void_after_a_minute() -> None:
    clock = [100.0]
    access = Access("a-token-of-some-length", clock=lambda: clock[0])
    early, late = access.issue(), access.issue()
    clock[0] += 59
    assert access.redeem(early.value)
    clock[0] += 1
    assert not access.redeem(late.value)


def test_whoever_comes_from_another_site_is_led_on_by_a_page_of_ours(served: Server) -> None:
    """A browser keeps the cookie back on a redirect that began elsewhere, also in a file."""
    headers = {
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "document",
    }
    with client_at(served.port, **headers) as browser:
        answer = browser.get(f"/c/%22%3E?q=%22%3Ex&ticket={served.access.issue().value}")
        assert answer.status_code == 200
        assert 'url=/c/%22%3E?q=%22%3Ex">' in answer.text
        assert "set-cookie" in answer.headers


# ── another token ──


def test_a_new_token_locks_everybody_out_of_a_running_server(kept: Path, served: Server) -> None:
    old = served.access.token
    ticket = served.access.issue()
    cookie = {"Cookie": f"rireki_{served.port}={cookie_value(old)}"}
    bearer = {"Authorization": f"Bearer {old}"}
    with client_at(served.port) as client:
        assert client.get("/", headers=cookie).status_code == 200
        told = run(sys.executable, "-m", "rireki", "token", "--new", "--archive", str(kept))
        new = told.stdout.strip()
        assert new != old and len(new) >= 32 and "old token" in told.stderr
        for headers in (cookie, bearer):
            assert client.get("/api/v1/health", headers=headers).status_code == 401
        for address in (f"/?token={old}", f"/?ticket={ticket.value}"):
            assert client.get(address).status_code == 401
        fresh = {"Authorization": f"Bearer {new}"}
        assert client.get("/api/v1/health", headers=fresh).status_code == 200
        assert served.url.endswith(new)
    assert stat.S_IMODE(Home(kept).token.stat().st_mode) == 0o600
    assert [p.name for p in Home(kept).token.parent.glob("*.token*")].count(
        Home(kept).token.name
    ) == 1
    assert not list(kept.parent.glob("*.token*"))


def test_a_stream_ends_with_the_token_that_opened_it(
    kept: Path, served: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "KEEP_ALIVE", 0.3)
    with Ear(served.port, token=served.access.token) as ear:
        connections = ear.connections
        new_token(kept)
        until(lambda: ear.connections > connections or not ear.open)


@pytest.mark.parametrize("spoil", ["removed", "readable", "emptied"])
def test_without_a_token_in_the_file_nobody_is_let_in(kept: Path, spoil: str) -> None:
    access = Access(ensure_token(kept), Home(kept).token)
    before = access.token
    file = Home(kept).token
    {"removed": file.unlink, "readable": lambda: file.chmod(0o644)}.get(
        spoil, lambda: file.write_text("")
    )()
    assert access.token != before
    # As soon as there is one again, it counts.
    assert ensure_token(kept) == access.token


def test_a_chosen_token_can_be_changed_while_the_server_runs(kept: Path, tmp_path: Path) -> None:
    chosen = tmp_path / "chosen"
    chosen.write_text("the-first-one-0123456789\n")
    (tmp_path / "home").mkdir()
    options = ("--port", "0", "--no-keep", "--token-file", str(chosen))
    with serve(kept, tmp_path / "home", *options) as serving:
        assert serving.client.get("/api/v1/health").status_code == 200
        chosen.write_text("the-second-one-0123456789\n")
        assert serving.client.get("/api/v1/health").status_code == 401
        bearer = {"Authorization": "Bearer the-second-one-0123456789"}
        assert serving.client.get("/api/v1/health", headers=bearer).status_code == 200


def test_the_command_prints_the_token_and_where_it_lies(kept: Path) -> None:
    word = (sys.executable, "-m", "rireki", "token", "--archive", str(kept))
    token = run(*word).stdout.strip()
    assert token == ensure_token(kept)
    assert str(Home(kept).token) in run(*word, "--json").stdout


def test_a_link_that_lies_where_the_token_goes_leads_nowhere(kept: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    file = Home(kept).token
    file.parent.mkdir(parents=True, exist_ok=True)
    file.symlink_to(precious)
    file.with_name(f"{file.name}.{os.getpid()}").symlink_to(precious)
    ensure_token(kept)
    assert precious.read_text() == "mine" and not Home(kept).token.is_symlink()


def test_at_a_terminal_the_way_for_a_phone_is_drawn(tmp_path: Path) -> None:
    with at_desktop(tmp_path, "stays", "--no-open", "--lan", "127.0.0.2") as desktop:
        shown = desktop.shown
        assert "https://127.0.0.2:" in shown and "Fingerprint" in shown and "▀" in shown
        assert re.search(r"Code to pair a device: [2-9A-Z]{4}-[2-9A-Z]{4}\.", shown)
        assert desktop.token not in shown.partition("Fingerprint")[2]
