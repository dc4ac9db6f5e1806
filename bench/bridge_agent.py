"""The agent of bench.bridge: speaks the Agent Client Protocol and writes the time into its text.

`tick N SECONDS` is N updates so far apart, each with the moment at which it was sent;
`busy SECONDS RATE` is text and tool calls for so long, so many updates a second; everything
else is repeated. Python alone, so that twenty of them start quickly.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

SESSION = "bench"


def put(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(**what: Any) -> None:
    put(method="session/update", params={"sessionId": SESSION, "update": what})


def say(text: str) -> None:
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def tick(count: int, pause: float) -> None:
    for number in range(count):
        say(f" t{number}:{time.time() * 1000:.1f};")
        time.sleep(pause)


def busy(seconds: float, rate: float) -> None:
    begun = time.monotonic()
    count = 0
    while time.monotonic() < begun + seconds:
        count += 1
        if count % 50 == 0:
            call = f"call-{time.time_ns()}"
            arguments = {"command": f"make step{count}"}
            what = {"toolCallId": call, "title": "make", "kind": "execute"}
            update(sessionUpdate="tool_call", rawInput=arguments, status="pending", **what)
            update(
                sessionUpdate="tool_call_update",
                toolCallId=call,
                status="completed",
                rawOutput="done\n" * 20,
            )
        say(f"and then word {count} of a long answer ")
        time.sleep(max(0.0, begun + count / rate - time.monotonic()))


def answer(text: str) -> None:
    word, *rest = text.split(" ")
    if word == "tick":
        tick(int(rest[0]), float(rest[1]))
    elif word == "busy":
        busy(float(rest[0]), float(rest[1]))
    else:
        say(text)


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        method = asked.get("method")
        if "id" not in asked:
            continue
        result: Any = {}
        if method == "initialize":
            result = {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}
        elif method == "session/new":
            result = {"sessionId": SESSION}
        elif method == "session/prompt":
            answer(asked["params"]["prompt"][0]["text"])
            result = {"stopReason": "end_turn"}
        put(id=asked["id"], result=result)


if __name__ == "__main__":
    main()
