"""A home with an invented source in it, and `rireki` run on it as a person would."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from rireki.cli import main as face
from rireki.sources import registry

TALK = "aaaa1111-0000-4000-8000-000000000001"
OTHER = "bbbb2222-0000-4000-8000-000000000002"
CHILD = "cccc3333-0000-4000-8000-000000000003"


class Ran(NamedTuple):
    out: str
    err: str
    code: int

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def json(self) -> list[Any]:
        return [json.loads(line) for line in self.lines]


Rireki = Callable[..., Ran]


def said(id: str, author: str, text: str, minute: int, **facts: Any) -> dict[str, Any]:
    values = {
        "id": id,
        "author": author,
        "display": "bubble",
        "at": f"2026-11-15T18:{minute:02d}:00.000Z",
        "parts": [{"kind": "text", "text": text}],
        "entry": {"position": minute, "role": "user" if author != "agent" else "assistant"},
    }
    return values | facts


def write(home: Path, name: str, lines: list[dict[str, Any]]) -> Path:
    file = home / ".toy" / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two conversations in /w/api and a sub-agent that the first one started."""
    home = tmp_path / "home"
    call = {
        "kind": "tool_call",
        "call_id": "A",
        "name": "Task",
        "arguments": {"description": "look"},
    }
    result = {"kind": "tool_result", "call_id": "A", "status": "ok", "output": "one\ntwo"}
    about = {
        "project": "/w/api",
        "title": "設定ファイルを読む",
        "offers": ["call:x/A"],
        "answers": [["k1", "m-1", 5, False], ["k2", "m-1", 7, True]],
        "flags": {"isMeta": 2},
    }
    write(
        home,
        TALK,
        [
            {"about": about},
            said("m1", "person", "設定を読んで", 1, turn=1),
            said("m2", "agent", "", 2, parts=[call]),
            said("m3", "tool", "", 3, display="fold", parts=[result]),
            said("m4", "harness", "reminder", 4, display="hidden", label="system reminder"),
            said("m5", "agent", "読みました", 5),
        ],
    )
    write(
        home,
        OTHER,
        [
            {
                "about": {
                    "project": "/w/api",
                    "title": "Other talk",
                    "answers": [["k1", "m-1", 3, False]],
                }
            },
            said("n1", "person", "hello", 11, turn=1),
            {"bad": True},
        ],
    )
    child = {"project": "/w/api", "title": "look", "nature": "subagent", "wants": ["call:x/A"]}
    write(home, CHILD, [{"about": child}, said("c1", "agent", "looked", 3)])
    return home


@pytest.fixture
def rireki(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rireki]:
    """Run a command; errors end as they do for a person, in two lines and an exit code."""
    addresses = {"toy": "tests.cli.toy:READER"}
    monkeypatch.setattr(registry, "_addresses", lambda: addresses)
    registry._loaded.cache_clear()
    monkeypatch.setenv("RIREKI_ARCHIVE", str(tmp_path / "archive.sqlite3"))
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*arguments: str, typed: str | None = None) -> Ran:
        runner = CliRunner(catch_exceptions=False)
        with runner.isolation(input=typed) as (out, err, _):
            code = face.run(arguments)
            sys.stdout.flush()
            sys.stderr.flush()
            return Ran(out.getvalue().decode(), err.getvalue().decode(), code)

    yield run
    registry._loaded.cache_clear()


@pytest.fixture
def imported(rireki: Rireki, home: Path) -> Rireki:
    assert rireki("import", "--home", str(home)).code == 0
    return rireki
