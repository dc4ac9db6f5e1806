"""`rireki serve` as a person starts it: its address, its port, its end, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rireki.errors import RirekiError
from rireki.home import Home
from rireki.web.running import Address, Served
from rireki.web.serve import bind, is_loopback, url_of
from rireki.web.token import checked, ensure_token
from tests.support.homes import lay_out
from tests.web.conftest import PATIENCE, Ear, client_at, until


class Serving:
    """A process of `rireki serve`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self.said: dict[str, Any] = json.loads(process.stdout.readline())
        self.port: int = self.said["port"]
        self.client = client_at(self.port)
        self.client.get(self.said["url"])

    def get(self, address: str) -> Any:
        answer = self.client.get(f"/api/v1/{address}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def end(self, how: int) -> tuple[int, float]:
        """The exit code, and how long it took."""
        started = time.monotonic()
        self.process.send_signal(how)
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, time.monotonic() - started


def command(archive: Path, home: Path, *options: str) -> list[str]:
    return [
        *(sys.executable, "-m", "rireki", "serve", "--archive", str(archive)),
        *("--home", str(home), "--no-open", "--json", *options),
    ]


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RIREKI")}
    return {**kept, **more}


@contextmanager
def serve(archive: Path, home: Path, *options: str, **more: str) -> Iterator[Serving]:
    process = subprocess.Popen(
        command(archive, home, *(options or ("--port", "0"))),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**more),
    )
    serving = None
    try:
        serving = Serving(process)
        yield serving
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
        if serving is not None:
            serving.client.close()


def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments,
        capture_output=True,
        text=True,
        env=environment(**more),
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "archive.sqlite3"


@pytest.fixture
def claude(home: Path) -> Path:
    return lay_out("claude-code-1.0.51", home)


def test_it_takes_in_what_is_there_and_then_what_comes(kept: Path, claude: Path) -> None:
    with serve(kept, claude) as serving:
        until(lambda: serving.get("health")["conversations"] > 0)
        until(lambda: serving.get("health")["keeper"]["state"] == "keeping")
        file = next(path for path in claude.rglob("*.jsonl") if len(path.stem) == 36)
        line = json.loads(file.read_text().splitlines()[-1])
        line |= {"uuid": "99999999-0000-4000-8000-000000000000", "type": "user"}
        line["message"] = {"role": "user", "content": "one thing more"}
        token = Home(kept).token.read_text().strip()
        with Ear(serving.port, token=token) as ear:
            with file.open("a") as opened:
                opened.write(json.dumps(line) + "\n")
            until(lambda: ear.messages())
            assert ear.messages() == [
                (f"claude-code/{file.stem}", "99999999-0000-4000-8000-000000000000")
            ]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_at_once_although_somebody_listens(kept: Path, claude: Path, how: int) -> None:
    with serve(kept, claude) as serving:
        until(lambda: serving.get("health")["keeper"]["state"] == "keeping")
        with serving.client.stream("GET", "/api/v1/events") as answer:
            lines = answer.iter_lines()
            next(lines)
            code, seconds = serving.end(how)
        assert code == 0
        # It takes a tenth of that; the machine may be busy.
        assert seconds < 5


def test_the_token_is_kept_so_that_pages_find_their_server_again(kept: Path, claude: Path) -> None:
    with serve(kept, claude) as serving:
        first = serving.said["url"]
        cookies = dict(serving.client.cookies)
        port = serving.port
    with serve(kept, claude, "--port", str(port)) as serving:
        assert serving.said["url"] == first
        with client_at(port) as page:
            page.cookies.update(cookies)
            assert page.get("/api/v1/health").status_code == 200
    assert stat.S_IMODE(Home(kept).token.stat().st_mode) == 0o600


def test_a_second_one_says_where_the_first_is(kept: Path, claude: Path) -> None:
    with serve(kept, claude) as serving:
        second = run(*command(kept, claude))
        told = json.loads(second.stdout)
        assert (told["url"], told["pid"]) == (serving.said["url"], serving.process.pid)
        assert told["running"] is True
        plain = [word for word in command(kept, claude, "--url") if word != "--json"]
        third = run(*plain)
        assert third.stdout.strip() == serving.said["url"]
        assert str(kept) in third.stderr
        # On a port of its own it may run beside the first, and follows its keeper.
        with serve(kept, claude, "--port", "0") as other:
            until(lambda: other.get("health")["keeper"]["state"] == "following")
            assert other.get("health")["keeper"]["holder"] == serving.process.pid
    nobody = run(*command(kept, claude, "--url"))
    assert nobody.returncode == 1
    assert str(kept) in nobody.stderr


def test_a_taken_port_is_passed_over_and_that_is_said(kept: Path, claude: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with serve(kept, claude, "--port", str(port), "--no-keep") as serving:
            assert port < serving.port < port + 50
            serving.process.send_signal(signal.SIGTERM)
            _, said = serving.process.communicate(timeout=PATIENCE)
            assert f"Port {port} is taken" in said


def test_without_history_there_is_an_invented_one_until_there_is_some(
    kept: Path, home: Path
) -> None:
    with serve(kept, home) as serving:
        assert serving.said["demo"] is True
        health = serving.get("health")
        assert health["demo"] is True
        assert health["conversations"] > 10
        token = Home(kept).token.read_text().strip()
        with Ear(serving.port, token=token) as ear:
            lay_out("claude-code-1.0.51", home)
            until(lambda: not serving.get("health")["demo"])
            until(lambda: ear.kinds("reset"))
        assert serving.get("health")["archive"] == str(kept)
        assert serving.get("conversations")["conversations"]


def test_the_demo_on_request(kept: Path, claude: Path) -> None:
    with serve(kept, claude, "--port", "0", "--demo", "--no-keep") as serving:
        assert serving.get("health")["demo"] is True
        assert serving.get("health")["conversations"] > 10
    assert not kept.exists()


def test_no_keep_takes_nothing_in(kept: Path, claude: Path) -> None:
    with serve(kept, claude, "--port", "0", "--no-keep") as serving:
        health = serving.get("health")
        assert (health["keeper"], health["conversations"], health["demo"]) == (None, 0, False)


# ── For other machines ──


def test_other_machines_are_not_let_in_without_a_token_of_ones_own(
    kept: Path, claude: Path, tmp_path: Path
) -> None:
    refused = run(*command(kept, claude, "--host", "0.0.0.0", "--port", "0"))
    assert refused.returncode == 1
    assert "--token-file" in refused.stderr
    assert "can read every conversation" in refused.stderr
    short = tmp_path / "short"
    short.write_text("too-short\n")
    again = run(
        *command(kept, claude, "--host", "0.0.0.0", "--port", "0", "--token-file", str(short))
    )
    assert again.returncode == 1
    assert str(short) in again.stderr


def test_other_machines_are_let_in_with_one(kept: Path, claude: Path) -> None:
    token = "chosen-by-hand-0123456789"
    options = ("--host", "0.0.0.0", "--port", "0", "--no-keep")
    with serve(kept, claude, *options, RIREKI_TOKEN=token) as serving:
        assert serving.said["url"] == f"http://127.0.0.1:{serving.port}/?token={token}"
        assert serving.get("health")
        serving.process.send_signal(signal.SIGTERM)
        _, said = serving.process.communicate(timeout=PATIENCE)
        assert "nothing is encrypted" in said
        assert token not in said
    assert not Home(kept).token.exists()


@pytest.mark.parametrize(
    ("host", "only_here"),
    [
        *((host, True) for host in ("127.0.0.1", "127.9.9.9", "localhost", "::1")),
        *((host, False) for host in ("0.0.0.0", "::", "192.168.1.5", "example.org")),
    ],
)
def test_what_only_this_machine_can_reach(host: str, only_here: bool) -> None:
    assert is_loopback(host) is only_here


def test_addresses_are_spelled_so_that_they_can_be_opened() -> None:
    assert url_of("127.0.0.1", 7475, "a b&c") == "http://127.0.0.1:7475/?token=a%20b%26c"
    assert url_of("::1", 80) == "http://[::1]:80/"
    assert url_of("0.0.0.0", 1) == "http://127.0.0.1:1/"


def test_an_address_that_is_not_of_this_machine_is_said_in_words() -> None:
    with pytest.raises(RirekiError, match=r"192\.0\.2\.1"):
        bind("192.0.2.1", 0)


# ── The token ──


def test_a_token_is_made_once(kept: Path) -> None:
    token = ensure_token(kept)
    assert len(token) >= 32
    assert ensure_token(kept) == token
    assert stat.S_IMODE(Home(kept).token.stat().st_mode) == 0o600
    assert not kept.parent.exists()


def test_a_token_that_others_could_read_is_made_anew(kept: Path) -> None:
    token = ensure_token(kept)
    Home(kept).token.chmod(0o644)
    assert ensure_token(kept) != token
    assert stat.S_IMODE(Home(kept).token.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"short\n", b"\xff" * 40, b"with a space in the middle"])
def test_a_token_that_cannot_be_one_is_made_anew(kept: Path, content: bytes) -> None:
    ensure_token(kept)
    Home(kept).token.write_bytes(content)
    assert len(ensure_token(kept)) >= 32


@pytest.mark.parametrize(
    "token", ["", "short", "x" * 15, "with spaces in the middle", "トークン" * 9]
)
def test_a_chosen_token_must_be_hard_to_guess(token: str) -> None:
    with pytest.raises(RirekiError, match="here"):
        checked(token, "here")
    assert checked(" 0123456789abcdef\n", "here") == "0123456789abcdef"


def test_who_serves_is_known_only_while_they_do(kept: Path) -> None:
    kept.parent.mkdir()
    first, second = Served(kept), Served(kept)
    assert second.other() is None
    assert first.take()
    assert second.other() is None
    first.tell(Address("127.0.0.1", 1, 2))
    assert second.other() == Address("127.0.0.1", 1, 2)
    first.release()
    assert second.other() is None
