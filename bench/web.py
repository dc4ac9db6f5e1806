"""The figures of the web app, in a real browser: `python -m bench.web` prints them as JSON.

How long after a line was appended it is visible, and how soon a conversation of 5,000
messages is painted, at its beginning and at its end.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from bench.live import prompt
from bench.measure import at_most, copy_corpus, percentile
from bench.server import Server, serving
from playwright.sync_api import Browser, Page, sync_playwright
from tests.support.browser import launch

MESSAGES = 5000
APPENDS = 60
BIG = "11111111-2222-4333-8444-555555555555"
#: Notes the moment each message came onto the page.
NOTE_ARRIVALS = """
() => {
  window.arrivals = {};
  new MutationObserver((changes) => {
    for (const change of changes) for (const node of change.addedNodes) {
      if (node.nodeType !== 1) continue;
      const found = node.matches('[data-message]') ? [node] : node.querySelectorAll('[data-message]');
      requestAnimationFrame(() => setTimeout(() => {
        for (const each of found) window.arrivals[each.dataset.message] ??= Date.now();
      }));
    }
  }).observe(document.body, {childList: true, subtree: true});
}
"""
#: Milliseconds from the request for the page until something of the conversation was painted.
PAINTED = """
() => {
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  return paint ? paint.startTime : null;
}
"""


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="rireki-bench-") as folder:
        home = Path(folder) / "home"
        copy_corpus(home, arguments.sessions, arguments.corpus)
        write_big(home)
        with serving(home, Path(folder) / "archive.sqlite3") as server, sync_playwright() as play:
            server.wait_until_keeping()
            browser = launch(play)
            figures = {
                "append_to_visible_ms": visible_delays(server, browser, ordinary(home), APPENDS),
                f"conversation_of_{MESSAGES}_messages": big_page(server, browser)
                | {"append_to_visible_ms": visible_delays(server, browser, big(home), 20)},
            }
            browser.close()
    print(json.dumps(figures, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a corpus made before (it is copied)")
    parser.add_argument("--sessions", type=int, default=1000)
    return parser.parse_args()


def open_page(server: Server, browser: Browser, path: str) -> Page:
    page = browser.new_page()
    page.goto(server.url)
    page.goto(f"{server.base}{path}")
    return page


def ordinary(home: Path) -> Path:
    """A session of about 200 KB."""
    sessions = sorted((home / ".claude" / "projects").glob("*/*.jsonl"))
    return min(sessions, key=lambda session: abs(session.stat().st_size - 200_000))


def visible_delays(server: Server, browser: Browser, session: Path, appends: int) -> dict[str, Any]:
    page = open_page(server, browser, f"/c/claude-code/{session.stem}")
    page.wait_for_selector("[data-message]")
    page.keyboard.press("Shift+G")
    page.evaluate(NOTE_ARRIVALS)
    delays = []
    for _ in range(appends):
        id, (file, line) = prompt(session)
        written = time.time() * 1000
        with file.open("ab") as open_file:
            open_file.write(line)
        page.wait_for_function("id => window.arrivals[id]", arg=id)
        delays.append(page.evaluate("id => window.arrivals[id]", id) - written)
    page.close()
    return {
        "appends": appends,
        "p50": round(statistics.median(delays), 1),
        "p95": at_most(round(percentile(delays, 0.95), 1), 150),
    }


def big_page(server: Server, browser: Browser) -> dict[str, Any]:
    """Each time in a page that knows nothing yet; the best of three, as a reader has it twice."""
    first: list[float] = []
    end: list[float] = []
    last = _id(MESSAGES - 1)
    for _ in range(3):
        page = open_page(server, browser, f"/c/claude-code/{BIG}?at={_id(0)}")
        page.wait_for_selector(f'[data-message="{_id(0)}"]')
        first.append(page.evaluate(PAINTED))
        started = time.perf_counter()
        page.keyboard.press("Shift+G")
        page.wait_for_selector(f'[data-message="{last}"]')
        page.locator(f'[data-message="{last}"]').scroll_into_view_if_needed()
        end.append((time.perf_counter() - started) * 1000)
        page.close()
    return {
        "first_paint_ms": at_most(round(statistics.median(first), 1), 1000),
        "scrolled_to_its_end_ms": at_most(round(statistics.median(end), 1), 1500),
        "first_visit_ms": round(first[0], 1),
    }


def _id(number: int) -> str:
    return str(uuid5(NAMESPACE_URL, str(number)))


def big(home: Path) -> Path:
    return home / ".claude" / "projects" / "-home-user-big" / f"{BIG}.jsonl"


def write_big(home: Path) -> None:
    """A Claude Code session of so many messages, prompts and answers in turn."""
    big(home).parent.mkdir(parents=True)
    with big(home).open("w", encoding="utf-8") as file:
        for number in range(MESSAGES):
            file.write(json.dumps(_line(number), ensure_ascii=False) + "\n")


def _line(number: int) -> dict[str, Any]:
    seconds = number * 20
    common = {
        "parentUuid": _id(number - 1) if number else None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/user/big",
        "sessionId": BIG,
        "version": "2.1.0",
        "gitBranch": "main",
        "uuid": _id(number),
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1_760_000_000 + seconds)),
    }
    if number % 2 == 0:
        said = f"Question {number}: what does **part {number}** do? 履歴を見せてください。"
        return common | {"type": "user", "message": {"role": "user", "content": said}}
    answer = f"It does this:\n\n```python\ndef part_{number}(x):\n    return x + {number}\n```\n\n- one\n- two"
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-5",
        "content": [{"type": "text", "text": answer}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 20},
    }
    return common | {"type": "assistant", "requestId": f"req_{number}", "message": message}


if __name__ == "__main__":
    main()
