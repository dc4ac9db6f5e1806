"""An agent that says again what a real one said: `replayed_agent.py WIRE`, a file of `wire_tap.py`.

It waits for what it was sent when that was recorded, by kind, and answers under the ids it is given
now. Of the runs in the file it takes the one that begins as this one does.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Run = list[tuple[str, Any]]


def main() -> None:
    runs = list(_runs(Path(sys.argv[1])))
    first = _next()
    begins = _after_hello(runs[0])
    _answer(first, begins)
    second = _next()
    run = next(run for run in runs if _kind(_sent(run)[1]) == _kind(second))
    _replay(run, {0: first, 1: second})
    # Until nobody wants anything more of it.
    while True:
        _next()


def _runs(file: Path) -> Iterator[Run]:
    run: Run = []
    for line in file.read_text("utf-8").splitlines():
        entry = json.loads(line)
        to, message = entry["to"], entry["message"]
        if to == "agent" and message.get("method") == "initialize" and run:
            yield run
            run = []
        run.append((to, message))
    yield run


def _sent(run: Run) -> list[Json]:
    return [message for to, message in run if to == "agent"]


def _after_hello(run: Run) -> Json:
    """What the agent answered to the first request."""
    hello = _sent(run)[0]["id"]
    found: Json = next(m for to, m in run if to == "rireki" and m.get("id") == hello)
    return found


def _answer(request: Json, recorded: Json) -> None:
    _put({**recorded, "id": request["id"]})


def _replay(run: Run, known: dict[int, Json]) -> None:
    """`known` are the messages that came already, by their number."""
    ids: dict[Any, Any] = {}
    hello = _sent(run)[0]["id"]
    number = 0
    for to, message in run:
        if to == "agent":
            came = known.get(number) or _next()
            number += 1
            if _kind(came) != _kind(message):
                raise SystemExit(f"{_kind(message)} was to come, and not {_kind(came)}")
            if "method" in message and "id" in message:
                ids[message["id"]] = came["id"]
        elif not isinstance(message, dict):
            print(message)
        elif "method" in message or message.get("id") not in ids:
            _put(message)
        elif message["id"] != hello:
            _put({**message, "id": ids[message["id"]]})


def _kind(message: Json) -> str:
    """The method of a request; of an answer, what it answers and how."""
    if "method" in message:
        return str(message["method"])
    return f"answer to {message.get('id')}: {json.dumps(message.get('result'), sort_keys=True)}"


def _next() -> Json:
    line = sys.stdin.readline()
    if not line:
        raise SystemExit(0)
    message: Json = json.loads(line)
    return message


def _put(message: Any) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()
