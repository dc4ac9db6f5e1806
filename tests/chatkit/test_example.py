"""The example runs, and what is said in it is a conversation of the archive."""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
from examples.chatkit_app import model
from examples.chatkit_app.app import make_app
from playwright.sync_api import expect, sync_playwright
from starlette.testclient import TestClient

from rireki.archive.open import open_archive
from tests.live.conftest import until
from tests.support.browser import Visit, launch, trapping
from tests.web.test_serve import run, serve

ROOT = Path(__file__).parents[2]


def _typed(text: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return {"content": content, "attachments": [], "inference_options": {}}


def _events(text: str) -> list[dict[str, Any]]:
    lines = [line for line in text.split("\n\n") if line]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def test_a_talk_is_streamed_kept_and_isolated(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXAMPLE_BASE_URL", raising=False)
    monkeypatch.setattr(model, "PACE", 0)
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


class Endpoint(ThreadingHTTPServer):
    """Speaks OpenAI's Chat Completions, from a script; keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Completions)
        self.asked: list[tuple[dict[str, Any], str]] = []
        self.address = f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Completions(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Endpoint)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((body, self.headers["authorization"]))
        if body["messages"][-1]["content"] == "fail":
            self.send_error(400)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for words in ("Der Mond ", "ist ", "aufgegangen"):
            choice = {"index": 0, "delta": {"content": words}, "finish_reason": None}
            self._send(json.dumps({"id": "c", "object": "chat.completion.chunk", "created": 1,
                                   "model": "m", "choices": [choice]}))  # fmt: skip
        # Some servers close with an account and no choice.
        self._send(json.dumps({"id": "c", "object": "chat.completion.chunk", "created": 1,
                               "model": "m", "choices": []}))  # fmt: skip
        self._send("[DONE]")

    def _send(self, data: str) -> None:
        self.wfile.write(f"data: {data}\n\n".encode())

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with Endpoint() as server:
        thread = Thread(target=server.serve_forever, args=[0.05])
        thread.start()
        monkeypatch.setenv("EXAMPLE_BASE_URL", server.address)
        monkeypatch.setenv("EXAMPLE_MODEL", "moon-1")
        monkeypatch.setenv("EXAMPLE_API_KEY", "not a secret")
        yield server
        server.shutdown()
        thread.join()


def test_any_endpoint_can_answer(place: Path, endpoint: Endpoint) -> None:
    with TestClient(make_app("http://testserver", str(place))) as browser:

        def ask(type: str, **params: Any) -> list[dict[str, Any]]:
            return _events(browser.post("/chatkit", json={"type": type, "params": params}).text)

        events = ask("threads.create", input=_typed("Sing"))
        thread = events[0]["thread"]["id"]
        done = [one["item"] for one in events if one["type"] == "thread.item.done"]
        assert done[-1]["content"][0]["text"] == "Der Mond ist aufgegangen"
        failed = ask("threads.add_user_message", thread_id=thread, input=_typed("fail"))
        assert failed[-1]["type"] == "error" and failed[-1]["allow_retry"]
        ask("threads.add_user_message", thread_id=thread, input=_typed("Go on"))
    (first, key), _, (last, _) = endpoint.asked
    assert key == "Bearer not a secret" and first["model"] == "moon-1"
    assert first["messages"] == [{"role": "user", "content": "Sing"}]
    assert [(one["role"], one["content"]) for one in last["messages"]] == [
        ("user", "Sing"),
        ("assistant", "Der Mond ist aufgegangen"),
        ("user", "fail"),
        ("user", "Go on"),
    ]
    with closing(open_archive(place)) as archive:
        (found,) = archive.conversations()
    assert found.turns == 3 and found.finished


@contextmanager
def running(place: Path) -> Iterator[str]:
    """The example as a process of its own; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-W", "ignore", "-m", "examples.chatkit_app", "--port", str(port)]
    app = subprocess.Popen(
        [*command, "--archive", str(place)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert app.stdout is not None

    def answers() -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/", timeout=5).status_code == 200
        except httpx.TransportError:
            assert app.poll() is None, "it ended by itself"
            return False

    try:
        assert f"The chat is at http://127.0.0.1:{port}" in app.stdout.readline()
        assert f"rireki serve --archive {place}" in app.stdout.readline()
        until(answers, "the app")
        yield f"http://127.0.0.1:{port}"
    finally:
        app.send_signal(signal.SIGINT)
        app.communicate(timeout=30)


def test_one_command_starts_it_and_what_is_said_is_seen_live(
    place: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a browser that reaches nobody but this machine, with `rireki serve` in the tab beside."""
    monkeypatch.setattr("tests.live.conftest.PATIENCE", 180.0)
    picture = tmp_path / "red.png"
    picture.write_bytes(PNG)
    with (
        running(place) as address,
        serve(place, home) as serving,
        trapping() as trap,
        sync_playwright() as play,
    ):
        browser = launch(play, trap)
        visit = Visit(browser, address)
        chat = visit.open()
        chat.fill("[name=text]", "Where was the <i>sunset</i>?")
        chat.set_input_files("[name=file]", picture)
        chat.click("text=Send")
        answer = chat.locator(".answer")
        expect(answer).to_contain_text("You said: Where was the <i>sunset</i>? [red.png]")
        assert chat.evaluate("document.querySelector('.typed img').naturalWidth") == 1
        beside = browser.new_context().new_page()
        beside.goto(serving.said["url"])
        beside.click("text=Where was the <i>sunset</i>?")
        expect(beside.locator("main")).to_contain_text("This is answer 1.")
        chat.reload()
        expect(chat.locator(".answer")).to_have_count(1)
        chat.fill("[name=text]", "A quixotic question")
        chat.keyboard.press("Enter")
        # Nobody touches that tab: it is told.
        expect(beside.locator("main")).to_contain_text("You said: A quixotic question")
        assert visit.faults == [] and trap.caught == []
        found = run(sys.executable, "-m", "rireki", "search", "quixotic", "--archive", str(place))
        assert found.returncode == 0 and "quixotic" in found.stdout, found.stderr
        chat.click("text=Use ChatKit's own web component")
        expect(chat.locator("#note")).to_contain_text("could not be loaded")
        browser.close()


#: A red point.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
)
