"""After set-up nothing of another machine is needed: no network, no compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rireki
from tests.support.homes import lay_out
from tests.web.conftest import until
from tests.web.test_serve import environment, serve

#: Whoever wants to leave the machine is noted and refused.
DENIED = """
import sys
LOCAL = ("127.", "::1", "localhost", "0.0.0.0")
def deny(event, arguments):
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host is not None and not str(host).startswith(LOCAL):
        with open({log!r}, "a") as file:
            file.write(f"{{event}} {{host}}\\n")
        raise OSError(101, "Network is unreachable")
sys.addaudithook(deny)
"""


@pytest.fixture
def offline(tmp_path: Path) -> Path:
    """A folder for PYTHONPATH that takes the network away; its log is empty until somebody asks."""
    folder = tmp_path / "offline"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(DENIED.format(log=str(folder / "log")))
    return folder


def test_the_network_is_really_away(offline: Path) -> None:
    asks = "import socket; socket.create_connection(('192.0.2.1', 80), 5)"
    command = [sys.executable, "-c", asks]
    done = subprocess.run(command, env=environment(PYTHONPATH=str(offline)), capture_output=True)
    assert done.returncode != 0 and b"Network is unreachable" in done.stderr
    assert "192.0.2.1" in (offline / "log").read_text()


def test_started_offline_it_comes_up_takes_in_and_answers(
    offline: Path, home: Path, tmp_path: Path
) -> None:
    lay_out("claude-code-2.1.197", home)
    with serve(tmp_path / "kept" / "archive.sqlite3", home, PYTHONPATH=str(offline)) as serving:
        until(lambda: serving.get("health")["conversations"] > 0)
        until(lambda: serving.get("health")["keeper"]["state"] == "keeping")
        page = serving.client.get("/")
        assert page.status_code == 200 and "https://" not in page.text
        assert serving.get("search?q=the")
    assert not (offline / "log").exists(), (offline / "log").read_text()


def test_without_a_compiler_everything_works(home: Path, tmp_path: Path) -> None:
    """As set-up leaves it where there is none: no library beside its source."""
    source = tmp_path / "src" / "rireki"
    left_out = shutil.ignore_patterns("libtokenizer*", "__pycache__")
    shutil.copytree(Path(rireki.__file__).parent, source, ignore=left_out)
    lay_out("claude-code-2.1.197", home)
    archive = tmp_path / "archive.sqlite3"
    path = os.pathsep.join([str(source.parent), str(Path(__file__).parents[2])])

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "rireki", *words, "--archive", str(archive)]
        said = subprocess.run(
            command, env=environment(PYTHONPATH=path), capture_output=True, text=True, check=True
        )
        return said.stdout

    where = [
        sys.executable,
        "-c",
        "import rireki.search.text.tokenizer as c; print(c.__file__, c.opened())",
    ]
    there = subprocess.run(where, env=environment(PYTHONPATH=path), capture_output=True, text=True)
    assert there.stdout.split() == [str(source / "search" / "text" / "tokenizer.py"), "None"], (
        there.stderr
    )
    assert "new conversations" in run("import", "--home", str(home))
    first = run("list").splitlines()[0].split()[0]
    assert run("show", first)
    assert run("search", "the")
