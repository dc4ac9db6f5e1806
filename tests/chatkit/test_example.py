"""The example runs, and what is said in it is a conversation of the archive."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from examples.chatkit_app.app import make_app
from starlette.testclient import TestClient

from rireki.archive.open import open_archive
from tests.live.conftest import until

ROOT = Path(__file__).parents[2]


def _typed(text: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return {"content": content, "attachments": [], "inference_options": {}}


def _events(text: str) -> list[dict[str, Any]]:
    lines = [line for line in text.split("\n\n") if line]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def test_a_talk_is_streamed_kept_and_isolated(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXAMPLE_BASE_URL", raising=False)
    with TestClient(make_app("http://testserver", str(place))) as browser:
        assert "ChatKit with rireki" in browser.get("/").text

        def ask(type: str, **params: Any) -> Any:
            return browser.post("/chatkit", json={"type": type, "params": params})

        events = _events(ask("threads.create", input=_typed("Good morning")).text)
        thread = events[0]["thread"]["id"]
        deltas = [one["update"]["delta"] for one in events if one["type"] == "thread.item.updated"]
        assert "".join(deltas).strip() == "This is answer 1. You said: Good morning"
        ask("threads.add_user_message", thread_id=thread, input=_typed("And again"))
        loaded = ask("threads.get_by_id", thread_id=thread).json()
        assert loaded["title"] == "Good morning" and len(loaded["items"]["data"]) == 4
        made = ask("attachments.create", name="../a", size=5, mime_type="text/plain")
        assert made.status_code == 400
        browser.cookies.clear()
        browser.cookies.set("example_user", "somebody-else")
        assert ask("threads.get_by_id", thread_id=thread).status_code == 404
    with closing(open_archive(place)) as archive:
        (found,) = archive.conversations()
    assert found.title == "Good morning" and found.turns == 2 and found.finished


def test_one_command_starts_it(place: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-W", "ignore", "-m", "examples.chatkit_app", "--port", str(port)]
    app = subprocess.Popen(
        [*command, "--archive", str(place)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def answers() -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/", timeout=5).status_code == 200
        except httpx.TransportError:
            assert app.poll() is None, "it ended by itself"
            return False

    try:
        until(answers, "the app")
    finally:
        app.send_signal(signal.SIGINT)
        app.wait(30)
