"""What an agent is doing: as it says itself, or as its last words show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive
from rireki.intake.sweep import import_history
from rireki.live import activity as module
from rireki.live.activity import activities
from rireki.model.activity import Activity
from rireki.sources.kit.places import Places
from tests.live.conftest import SESSION, line

ONE, TWO = SESSION.format(1), SESSION.format(2)
AT = 1_767_225_600_000


def status(home: Path, pid: int, session: str, **more: Any) -> Path:
    file = home / ".claude" / "sessions" / f"{pid}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"pid": pid, "sessionId": session, "statusUpdatedAt": AT} | more))
    return file


@pytest.mark.parametrize(
    ("said", "state", "detail"),
    [
        ({"status": "busy"}, "working", ""),
        ({"status": "idle"}, "idle", ""),
        (
            {"status": "waiting", "waitingFor": "permission prompt"},
            "permission",
            "",
        ),
        ({"status": "waiting", "waitingFor": "dialog open"}, "answer", "dialog open"),
    ],
)
def test_a_running_client_tells_what_it_does(
    archive: Archive, home: Path, said: dict[str, str], state: Any, detail: str
) -> None:
    status(home, os.getpid(), ONE, **said)
    id = f"claude-code/{ONE}"
    assert activities(archive, Places.at(home)) == {
        id: Activity("claude-code", id, state, detail, "2026-01-01T00:00:00.000Z")
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"pid": "x"}',
        '{"pid": 1}',
        "[" * 5000,
        '{"pid": -1, "sessionId": "x", "status": "busy"}',
        '{"pid": 99999999999999999999, "sessionId": "x", "status": "busy"}',
    ],
)
def test_what_is_no_status_says_nothing(archive: Archive, home: Path, text: str) -> None:
    status(home, os.getpid(), ONE).write_text(text)
    assert activities(archive, Places.at(home)) == {}


def test_a_client_that_is_gone_or_does_not_say_is_left_out(archive: Archive, home: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    status(home, process.pid, ONE, status="busy")
    status(home, os.getpid(), TWO)
    os.mkfifo(home / ".claude" / "sessions" / "pipe.json")
    assert activities(archive, Places.at(home)) == {}


def call(at: str, name: str = "Bash") -> str:
    content = [{"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}]
    message = {"id": "msg_1", "role": "assistant", "model": "m", "content": content}
    return line(2, ONE, type="assistant", message=message, timestamp=at)


def result(at: str) -> str:
    content = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]
    return line(3, ONE, message={"role": "user", "content": content}, timestamp=at)


def taken(archive: Archive, home: Path, *lines: str) -> dict[str, Activity]:
    file = home / ".claude" / "projects" / "-p" / f"{ONE}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(lines))
    import_history(archive, places=Places.at(home))
    return activities(archive, Places.at(home))


def spell(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def test_an_open_call_of_late_means_work(archive: Archive, home: Path) -> None:
    now = datetime.now(timezone.utc)
    id = f"claude-code/{ONE}"
    typed = line(1, ONE, timestamp=spell(now))
    found = taken(archive, home, typed, call(spell(now)))
    assert found == {id: Activity("claude-code", id, "working", "Bash", spell(now))}
    assert taken(archive, home, typed, call(spell(now)), result(spell(now))) == {}
    long_ago = spell(now - timedelta(hours=1))
    assert taken(archive, home, line(1, ONE, timestamp=long_ago), call(long_ago)) == {}


def test_a_client_at_work_is_told_with_its_tool_and_a_waiting_one_as_it_says(
    archive: Archive, home: Path
) -> None:
    now = spell(datetime.now(timezone.utc))
    id = f"claude-code/{ONE}"
    status(home, os.getpid(), ONE, status="busy")
    assert taken(archive, home, line(1, ONE, timestamp=now), call(now))[id].detail == "Bash"
    status(home, os.getpid(), ONE, status="waiting", waitingFor="permission prompt")
    assert activities(archive, Places.at(home))[id].state == "permission"


def test_a_conversation_is_not_read_again_until_it_changes(
    archive: Archive, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = spell(datetime.now(timezone.utc))
    found = taken(archive, home, line(1, ONE, timestamp=now), call(now))
    monkeypatch.setattr(module, "_read_open_call", lambda *_: pytest.fail("read again"))
    assert activities(archive, Places.at(home)) == found
