"""The figures of driving agents: `python -m bench.bridge` prints them as JSON.

How long after an agent sent a piece of text it can be read in a real browser, how soon a prompt is
stored and acknowledged, and what twenty busy agents cost the server.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from bench.measure import at_most, percentile, resident
from bench.server import Server, serving
from playwright.sync_api import sync_playwright
from tests.support.browser import launch

AGENT = Path(__file__).with_name("bridge_agent.py")
#: Updates that are looked for in the browser, and how far apart they are, in seconds.
UPDATES, APART = 200, 0.1
PROMPTS = 300
SESSIONS = 20
#: How long they work, and how many updates each sends in a second.
BUSY_SECONDS, RATE = 20.0, 50.0
#: Notes when each stamp could first be read on the page, whatever element it is in.
NOTE_STAMPS = """
() => {
  window.stamps = {};
  const look = () => {
    const text = document.querySelector('#drive')?.textContent + document.querySelector('main').textContent;
    const found = [...text.matchAll(/t(\\d+):([\\d.]+);/g)];
    requestAnimationFrame(() => setTimeout(() => {
      for (const [, number, sent] of found) window.stamps[number] ??= [Number(sent), Date.now()];
    }));
  };
  new MutationObserver(look).observe(document.body, {childList: true, subtree: true, characterData: true});
}
"""


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="rireki-bench-") as name:
        folder = Path(name)
        with driving(folder) as server:
            figures = {
                "prompt_to_acknowledged_ms": acknowledgements(server, folder),
                "agent_update_to_browser_ms": updates(server, folder),
                f"{arguments.sessions}_busy_sessions": busy(server, folder, arguments),
            }
    print(json.dumps(figures, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--seconds", type=float, default=BUSY_SECONDS)
    parser.add_argument("--rate", type=float, default=RATE)
    return parser.parse_args()


@contextmanager
def driving(folder: Path) -> Iterator[Server]:
    """A server that may drive our agent, in a home of its own."""
    (folder / "home").mkdir()
    (folder / "project").mkdir()
    (folder / "kept").mkdir()
    command = json.dumps([sys.executable, str(AGENT)])
    config = f'[[agents]]\nname = "bench"\ncommand = {command}\n'
    settings = folder / "home" / ".local" / "share" / "rireki" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(config, encoding="utf-8")
    # The data directory of who runs the server: settings count nowhere else.
    os.environ["XDG_DATA_HOME"] = str(folder / "home" / ".local" / "share")
    archive = folder / "kept" / "archive.sqlite3"
    with serving(folder / "home", archive, "--drive", "--root", str(folder)) as server:
        server.client.headers["Origin"] = server.base
        server.wait_until_keeping()
        yield server


def post(server: Server, path: str, **body: Any) -> Any:
    answer = server.client.post(f"/api/v1/drive{path}", json=body)
    if answer.is_error:
        raise SystemExit(f"POST {path}: {answer.status_code} {answer.text}")
    return answer.json()


def begin(server: Server, folder: Path) -> str:
    id = str(uuid4())
    post(server, "", id=id, project=str(folder / "project"), agent="bench")
    return id


def calm(server: Server, *sessions: str) -> None:
    """Until they have nothing more to do."""
    for id in sessions:
        while True:
            status = server.get(f"/api/v1/drive/{id}")
            if status["state"] == "failed":
                raise SystemExit(f"the agent failed: {status['detail']}")
            if status["state"] == "idle" and not status["queue"] and not status["prompt"]:
                break
            time.sleep(0.1)


# ── from the prompt to its acknowledgement ──


def acknowledgements(server: Server, folder: Path) -> dict[str, Any]:
    """From sending it to being told that it is stored, one after the other."""
    id = begin(server, folder)
    calm(server, id)
    took = []
    for number in range(PROMPTS):
        prompt = {"id": str(uuid4()), "text": f"Prompt {number}: what is in this directory?"}
        started = time.perf_counter()
        given = post(server, f"/{id}/prompts", **prompt)
        took.append((time.perf_counter() - started) * 1000)
        assert given["number"] and not given["known"]
        time.sleep(0.02)
    calm(server, id)
    return {
        "prompts": PROMPTS,
        "p50": round(statistics.median(took), 1),
        "p95": at_most(round(percentile(took, 0.95), 1), 20),
        "max": round(max(took), 1),
    }


# ── from the agent to the browser ──


def updates(server: Server, folder: Path) -> dict[str, Any]:
    """From the agent's write to the frame in which the text can be read."""
    id = begin(server, folder)
    calm(server, id)
    with sync_playwright() as play:
        browser = launch(play)
        page = browser.new_context().new_page()
        page.goto(server.url)
        page.goto(f"{server.base}/c/bridge/{id}")
        page.wait_for_selector("#drive")
        page.evaluate(NOTE_STAMPS)
        post(server, f"/{id}/prompts", id=str(uuid4()), text=f"tick {UPDATES} {APART}")
        end = time.monotonic() + UPDATES * APART + 60
        while len(stamps := page.evaluate("window.stamps")) < UPDATES and time.monotonic() < end:
            page.wait_for_timeout(500)
        browser.close()
    took = [seen - sent for sent, seen in stamps.values()]
    return {
        "updates": UPDATES,
        "never_seen": UPDATES - len(took),
        "p50": round(statistics.median(took), 1),
        "p95": at_most(round(percentile(took, 0.95), 1), 150),
        "max": round(max(took), 1),
    }


# ── many at once ──


def busy(server: Server, folder: Path, wanted: argparse.Namespace) -> dict[str, Any]:
    """What the server's process takes while all of them stream and one page listens."""
    ids = [begin(server, folder) for _ in range(wanted.sessions)]
    calm(server, *ids)
    listener = threading.Thread(target=_listen, args=(server,), daemon=True)
    listener.start()
    peak = resident(server.pid)
    used, begun = _processor_seconds(server.pid), time.monotonic()
    for id in ids:
        text = f"busy {wanted.seconds} {wanted.rate}"
        post(server, f"/{id}/prompts", id=str(uuid4()), text=text)
    while time.monotonic() < begun + wanted.seconds:
        peak = max(peak, resident(server.pid))
        time.sleep(0.1)
    cores = (_processor_seconds(server.pid) - used) / (time.monotonic() - begun)
    calm(server, *ids)
    return {
        "updates_per_second": {
            "wanted": wanted.sessions * wanted.rate,
            "arrived": round(_arrived(folder, ids) / wanted.seconds),
        },
        "cores": at_most(round(cores, 2), 1.0),
        "peak_mb": at_most(round(max(peak, resident(server.pid)) / 1e6), 300),
    }


def _arrived(folder: Path, ids: list[str]) -> int:
    """The pieces of text that the journals hold in the end: a loaded machine sends fewer."""
    files = [folder / "kept" / "bridge" / f"{id}.jsonl" for id in ids]
    return sum(file.read_bytes().count(b"and then word ") for file in files)


def _listen(server: Server) -> None:
    headers = {"Accept": "text/event-stream"}
    with server.client.stream("GET", "/api/v1/drive/events", headers=headers, timeout=None) as said:
        for _ in said.iter_lines():
            pass


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
