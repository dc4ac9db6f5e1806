"""Whatever stands in an archive, no command lets it steer the terminal."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rireki.cli.main import SECTIONS
from rireki.show.safe import CODES, Style, escaped
from tests.cli.conftest import TALK, Rireki, said, write
from tests.cli.test_cli_terminal import START

pty = pytest.importorskip("pty")

#: The clipboard set, the screen wiped, letters hidden, a C1 sequence, directions turned around, marks
#: that nobody sees, a sentence in tags, and the cursor sent back.
EVIL = (
    "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[8mhid\x9b31m\x9d0;t\x9c\u202eliv\u2066e\u2069\u200e\u200f\u061c"
    "\u180e\ufff9\ufffa\ufffb\U000e0072\U000e006d\U000e007f\rback\x08\x7f\x00\u2028end\x1b"
)
#: What no transcript may bring to a terminal; our own colours, and the line ends it makes itself, aside.
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
#: The finder's screen, and the bar of long work.
MOVES = re.compile(r"\x1b\[(?:\?(?:1049|7|2004|25)[hl]|\d*;?\d*H|2?[JK])|\r(?=\x1b\[K|[\w ]+ [━─])")
PATIENCE = 60.0


def at_terminal(
    *arguments: str, seconds: float = PATIENCE, until: str = "\0", **environment: str
) -> str:
    """Everything a terminal gets until the command ends; interrupted when it shows what was waited for."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", START, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "40", **environment},
    )
    os.close(theirs)
    shown, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if not select.select([ours], [], [], 0.2)[0]:
            continue
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says so when the other end is closed.
            break
        shown += piece
        if until in shown.decode(errors="replace"):
            process.send_signal(signal.SIGINT)
    process.kill()
    process.wait()
    os.close(ours)
    return shown.decode()


def steering(shown: str) -> list[str]:
    """What is left of it that steers."""
    text = MOVES.sub("", re.sub(CODES, "", shown.replace("\r\n", "\n")))
    return FORBIDDEN.findall(text)


@pytest.fixture
def evil(rireki: Rireki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rireki:
    """A home, and an archive of it, whose every word is hostile, also the names of files."""
    home = tmp_path / f"home {EVIL[:30].replace(chr(0), '')}"
    call = {"kind": "tool_call", "call_id": "A", "name": EVIL, "arguments": {EVIL: EVIL}}
    result = {"kind": "tool_result", "call_id": "A", "status": "error", "output": EVIL * 3}
    picture = {"kind": "attachment", "name": EVIL, "media_type": EVIL, "digest": EVIL}
    about = {
        "project": f"/w/{EVIL}",
        "title": f"{EVIL} words",
        "answers": [["k1", EVIL, 5, False]],
        "flags": {EVIL: 2},
    }
    entry = {"position": 1, "role": EVIL, "flags": [EVIL], "rule": EVIL}
    lines: list[dict[str, Any]] = [
        {"about": about},
        said("m1", "person", f"words {EVIL}", 1, turn=1, entry=entry),
        said("m2", "agent", "", 2, parts=[call, picture], model=EVIL),
        said("m3", "tool", "", 3, display="fold", parts=[result], label=EVIL),
        said("m4", "harness", EVIL, 4, display="hidden", label=EVIL, entry=entry),
        said("m5", "agent", "", 5, parts=[{"kind": "thinking", "text": EVIL}]),
        said("m6", "agent", "", 6, parts=[{"kind": "unknown", "what": EVIL, "data": {"x": EVIL}}]),
        said("m7", "harness", EVIL, 7, display="divider", label=EVIL),
        said("m8", "harness", EVIL, 8, display="chip", parts=[{"kind": "notice", "text": EVIL}]),
        {"bad": True},
    ]
    write(home, TALK, lines)
    write(home, f"bbbb\x1b[2J\x9b\u202e{'x' * 8}", lines)
    archive = tmp_path / "kept \x1b[2J\u202e\x9b" / "archive.sqlite3"
    monkeypatch.setenv("RIREKI_ARCHIVE", str(archive))
    monkeypatch.setenv("EVIL_HOME", str(home))
    assert rireki("import", "--home", str(home)).code == 0
    return rireki


#: For every command what it shows of the archive: errors too.
COMMANDS: dict[str, list[list[str]]] = {
    "import": [["import", "--home", "HOME"], ["import", "HOME/nowhere"]],
    "watch": [["watch", "--home", "HOME"]],
    "service": [["service", "status"]],
    "sources": [["sources", "--home", "HOME"], ["sources", "--home", "HOME", "--json"]],
    "demo": [["demo", "--dir", "HOME/.toy/\x1b[2J\x9b/\u202e"]],
    "serve": [["serve", "--url"]],
    "list": [["list"], ["list", "--json"], ["list", "--project", "/w/\x1b[2J\x9b"]],
    "search": [["search", "words"], ["search", "words", "--json"], ["search", "\x1b[2J\x9b("]],
    "show": [
        ["show", "aaaa"],
        ["show", "aaaa", "--all", "--full"],
        ["show", "bbbb"],
        ["show", "no such \x1b[2J\x9b\u202e"],
        ["show", "aaaa", "--json"],
        ["show", "aaaa", "--raw"],
        *(["show", "aaaa", "--all", "--format", f] for f in ("markdown", "html", "anthropic")),
    ],
    "path": [["path", "/w", "--below"], ["path", "/w", "--below", "--json"]],
    "latest": [["latest", "/w", "--below"], ["latest", "/w", "--below", "--json"]],
    "stats": [["stats"], ["stats", "--json"]],
    "usage": [["usage", "--by", "project"], ["usage", "--json"]],
    "prices": [["prices"]],
    "secrets": [["secrets"], ["secrets", "--json"]],
    "explain": [["explain", "aaaa"], ["explain", "aaaa", "--json"]],
    "chat": [["chat", "--continue", "\x1b[2J\x9b\u202e"]],
    "resume": [["resume", "aaaa"], ["resume", "bbbb"], ["resume", "aaaa", "--json"]],
    "restore": [["restore", "bbbb", "--to", "HOME/\x1b[2J\x9b"]],
    "export": [
        ["export", "aaaa", "--format", "markdown", "--to", "HOME/out \x1b[2J\x9b.md"],
        ["export", "--all", "--format", "atif", "--to", "HOME/all \x1b[2J\x9b", "--json"],
    ],
    "share": [["share", "aaaa", "--to", "HOME/\x1b[2J\x9b\u202e.html", "--yes"]],
    "mcp": [["mcp", "--\x1b[2J\x9b\u202e"]],
    "install": [["install", "claude", "--home", "HOME/\x1b[2J\x9b\u202e", "--yes"]],
    "chatkit": [["chatkit", "adopt", "HOME/\x1b[2J\x9b\u202e"]],
    "backup": [["backup", "HOME/copy \x1b[2J\x9b"], ["backup", "HOME/again", "--json"]],
    "verify": [["verify"], ["verify", "--salvage", "HOME/saved \x1b[2J\x9b"]],
    "rebuild": [["rebuild"]],
    "forget": [["forget", "bbbb", "--yes"], ["forget", "\x1b[2J\x9b\u202e"]],
    "token": [["token"], ["token", "--json"]],
    "completion": [["completion", "bash"]],
    "title": [["title", "aaaa", "words \x1b[2J\x9b\u202e"], ["list"]],
    "tag": [["tag", "aaaa", "\x1b[2J\x9b\u202e"], ["tag", "--list"], ["tag", "--list", "--json"]],
    "star": [["star", "aaaa"], ["star", "--list"], ["star", "\x1b[2J\x9b\u202e"]],
    "note": [["note", "aaaa", "words \x1b[2J\x9b\u202e"], ["note", "--list"]],
    "hide": [["hide", "aaaa"], ["hide", "--list"], ["hide", "aaaa", "--remove"]],
    "digest": [["digest", "2026-11-15"], ["digest", "--json"], ["digest", "\x1b[2J\x9b\u202e"]],
    "remote": [["remote", "add", "\x1b[2J\x9b", "HOME/\x1b[2J\x9b\u202e"], ["remote", "list"]],
    "push": [["push", "\x1b[2J\x9b\u202e"]],
    "pull": [["pull", "\x1b[2J\x9b\u202e"]],
    "sync": [["sync", "\x1b[2J\x9b\u202e"]],
    "unshare": [["unshare", "/w/\x1b[2J\x9b\u202e"]],
    "team": [
        ["team", "add", "\x1b[2J\x9b\u202e", "--database", "postgresql://\x1b[2J\x9b@127.0.0.1:1/"]
    ],
}


def test_every_command_is_tried() -> None:
    assert sorted(COMMANDS) == sorted(name for names in SECTIONS.values() for name in names)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_lets_a_transcript_steer_the_terminal(
    name: str, evil: Rireki, tmp_path: Path
) -> None:
    home = os.environ["EVIL_HOME"]
    for arguments in COMMANDS[name]:
        given = [word.replace("HOME", home) for word in arguments]
        shown = at_terminal(*given, PAGER="cat", until="Ctrl-C" if name == "watch" else "\0")
        assert shown.strip()
        assert not steering(shown), (given, shown)


def test_a_pager_gets_nothing_that_steers_either(evil: Rireki) -> None:
    shown = at_terminal("show", "aaaa", "--all", "--format", "markdown", PAGER="sed s/^/P:/")
    assert "P:" in shown and not steering(shown)


def test_the_finder_shows_what_would_steer_it(evil: Rireki) -> None:
    shown = at_terminal("search", until="‹U+202E›", seconds=20)
    assert "‹U+202E›" in shown and not steering(shown)


def test_json_on_a_terminal_has_the_same_value_and_in_a_pipe_the_same_bytes(evil: Rireki) -> None:
    piped = evil("show", "aaaa", "--json").out
    assert "\u202e" in piped and "\x9b" in piped and "\U000e0072" in piped
    shown = at_terminal("show", "aaaa", "--json")
    assert r"\u202e" in shown and r"\u009b" in shown and r"\udb40\udc72" in shown
    assert json.loads(shown) == json.loads(piped)
    assert escaped('"plain 日本語 👩‍💻"') == '"plain 日本語 👩‍💻"'


def test_a_provider_s_form_on_a_terminal_has_the_same_value(evil: Rireki) -> None:
    piped = evil("show", "aaaa", "--format", "anthropic").out
    shown = at_terminal("show", "aaaa", "--format", "anthropic", PAGER="cat")
    assert json.loads(shown[shown.index("{") :]) == json.loads(piped)


def test_a_piped_command_line_is_as_it_is(evil: Rireki, monkeypatch: pytest.MonkeyPatch) -> None:
    """`eval "$(rireki resume …)"` has to go to the very directory."""
    monkeypatch.setattr("rireki.cli.commands.resume.is_directory", lambda path: True)
    assert EVIL in evil("resume", "aaaa").out
    assert EVIL not in at_terminal("resume", "aaaa")


def test_markdown_in_a_file_has_no_control_characters_either(evil: Rireki) -> None:
    written = evil("show", "aaaa", "--all", "--full", "--format", "markdown").out
    assert "words" in written and not steering(written)


def test_a_shell_completes_no_name_that_would_steer_it(evil: Rireki) -> None:
    asked = {"_RIREKI_COMPLETE": "bash_complete", "COMP_WORDS": "rireki show ", "COMP_CWORD": "2"}
    told = subprocess.run(
        [sys.executable, "-m", "rireki"],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert TALK in told.stdout and not steering(told.stdout)


def test_our_own_colours_get_through(imported: Rireki) -> None:
    assert "\x1b[" in at_terminal("list", PAGER="cat")
    style = Style(True)
    painted = [paint("x") for paint in (style.bold, style.dim, style.red, style.green)]
    painted += [paint("x") for paint in (style.yellow, style.cyan, style.person)]
    assert all(re.sub(CODES, "", text) == "x" for text in painted)


BUG = (
    "import sys; from rireki.cli.terminal import guard_terminal; guard_terminal();"
    "raise ValueError('\\x1b]0;owned\\x07\\x9b')"
)


def test_a_traceback_steers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "START", BUG)
    shown = at_terminal()
    assert "ValueError" in shown and not steering(shown)


BYTES = (
    "from rireki.cli.terminal import guard_terminal; guard_terminal(); import click, sys;"
    "click.echo('\\x1b]0;owned\\x07'); sys.stdout.buffer.write(b'past it')"
)


def test_bytes_do_not_get_past_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "START", BYTES)
    for letters in ("utf-8", "ascii"):
        shown = at_terminal(PYTHONIOENCODING=letters)
        assert "AttributeError" in shown and not steering(shown)


def test_what_an_agent_says_in_a_chat_steers_nothing(tmp_path: Path) -> None:
    """Its words, the title of its permission, and its last words on standard error."""
    from tests.cli.test_chat import Place

    place = Place(tmp_path)
    evil = EVIL.replace("\r", "").replace("\0", "").replace("\u2028", "")
    prompts = f"echo {evil}\npermission {evil}\ncrash\n"
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        place.command("chat", "--agent", "scripted"),
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=theirs,
        env=place.environment,
        cwd=place.project,
    )
    os.close(theirs)
    assert process.stdin is not None
    process.stdin.write(prompts.encode())
    process.stdin.close()
    shown = b""
    while select.select([ours], [], [], PATIENCE)[0]:
        try:
            shown += os.read(ours, 65536)
        except OSError:
            break
    process.wait(PATIENCE)
    os.close(ours)
    text = shown.decode()
    assert "liv‹U+2066›" in text and "refused" in text
    assert not steering(text), text
