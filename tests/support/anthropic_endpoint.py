"""A scripted model behind Anthropic's Messages interface, on loopback, streaming.

What it does is chosen by the first word of what the person typed last, and by how many results
of tools came since: so a request that is repeated, or made again after a restart, gets the same
answer. It knows nothing of who asks; requests without tools (titles, checks) get a short word.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, TypeAlias, TypeVar

__all__ = [
    "Endpoint",
    "Handler",
    "Move",
    "Moves",
    "Script",
    "endpoint",
    "serving",
    "typed_last",
    "words",
]

#: What agents put around what was typed; none of it is typed.
_PUT_IN = re.compile(r"<(system-reminder|command-\w+|local-command-\w+)>.*?</\1>", re.DOTALL)


class Move(NamedTuple):
    """One answer of the model: thoughts, words, calls (name, arguments); `pause` between its pieces."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    thinking: str = ""
    pause: float = 0.0


#: A move may depend on the request.
Moves: TypeAlias = Sequence[Move | Callable[[dict[str, Any]], Move]]
#: What was typed last, and how many answers of tools came since.
LastTyped: TypeAlias = Callable[[dict[str, Any]], tuple[str, int]]
Script = Mapping[str, Moves]


class Endpoint(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, script: Script, handler: type[Handler] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), handler or Handler)
        self.script = script
        #: The bodies of the requests that had tools.
        self.requests: list[dict[str, Any]] = []
        self.closing = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def environment(self) -> dict[str, str]:
        """What makes Claude Code ask here, and nobody else for anything."""
        return {
            "ANTHROPIC_BASE_URL": self.address,
            "ANTHROPIC_API_KEY": "scripted",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_BUG_COMMAND": "1",
            "NO_PROXY": "127.0.0.1",
        }

    def typed(self) -> list[str]:
        """What the person typed last, in each request that had tools."""
        return [typed_last(body)[0] for body in self.requests]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever hangs up in the middle was stopped or killed: that is what the tests do."""


_Server = TypeVar("_Server", bound=Endpoint)


@contextmanager
def endpoint(script: Script) -> Iterator[Endpoint]:
    with serving(Endpoint(script)) as server:
        yield server


@contextmanager
def serving(server: _Server) -> Iterator[_Server]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    server: Endpoint
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send(b"", "text/plain")

    def do_GET(self) -> None:
        self._send(b"{}", "application/json", 404)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        if "count_tokens" in self.path:
            self._send(b'{"input_tokens": 10}', "application/json")
            return
        if not self.path.startswith("/v1/messages"):
            self._send(b"{}", "application/json", 404)
            return
        count = len(self.server.requests)
        move = self._move(body)
        if not body.get("stream"):
            self._send(json.dumps(_whole(move, count)).encode(), "application/json")
            return
        self._stream(move, count)

    def _move(self, body: dict[str, Any], last: LastTyped | None = None) -> Move:
        if not body.get("tools"):
            return Move("ok")
        self.server.requests.append(body)
        typed, results = (last or typed_last)(body)
        moves = self._moves(typed)
        move = moves[results] if results < len(moves) else Move(f"You said: {typed}")
        return move if isinstance(move, Move) else move(body)

    def _moves(self, typed: str) -> Moves:
        return self.server.script.get(typed.split(" ", 1)[0], ())

    def _send(self, body: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

    def _stream(self, move: Move, count: int) -> None:
        self._begin_stream()
        for event in _events(move, count):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
            if event["type"] == "content_block_delta" and self.server.closing.wait(move.pause):
                break
        self.close_connection = True


def typed_last(body: dict[str, Any]) -> tuple[str, int]:
    """What was typed last, and how many messages with results came since."""
    results = 0
    for message in reversed(body["messages"]):
        if message["role"] != "user":
            continue
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if any(block["type"] == "tool_result" for block in blocks):
            results += 1
            continue
        texts = [_PUT_IN.sub("", block["text"]) for block in blocks if block["type"] == "text"]
        typed = "\n".join(text.strip() for text in texts if text.strip())
        if typed:
            return typed, results
    return "", results


def _head(count: int) -> dict[str, Any]:
    return {
        "id": f"msg_{count}_{time.time_ns():x}",
        "type": "message",
        "role": "assistant",
        "model": "claude-scripted",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 1},
    }


def _blocks(move: Move, count: int) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each block as it begins, and its pieces."""
    if move.thinking:
        pieces = [{"type": "thinking_delta", "thinking": each} for each in words(move.thinking)]
        signed = {"type": "signature_delta", "signature": "c2lnbmVk"}
        yield {"type": "thinking", "thinking": "", "signature": ""}, [*pieces, signed]
    if move.text:
        said = [{"type": "text_delta", "text": each} for each in words(move.text)]
        yield {"type": "text", "text": ""}, said
    for number, (name, arguments) in enumerate(move.calls):
        id = f"toolu_{count}_{number}_{time.time_ns():x}"
        spelled = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        yield {"type": "tool_use", "id": id, "name": name, "input": {}}, [spelled]


def words(text: str) -> list[str]:
    return re.findall(r"\S+\s*", text)


def _events(move: Move, count: int) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": _head(count)}
    for index, (start, pieces) in enumerate(_blocks(move, count)):
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for piece in pieces:
            yield {"type": "content_block_delta", "index": index, "delta": piece}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": "tool_use" if move.calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def _whole(move: Move, count: int) -> dict[str, Any]:
    """The same answer for who does not want a stream."""
    content: list[dict[str, Any]] = []
    if move.text:
        content.append({"type": "text", "text": move.text})
    for number, (name, arguments) in enumerate(move.calls):
        id = f"toolu_{count}_{number}_{time.time_ns():x}"
        content.append({"type": "tool_use", "id": id, "name": name, "input": arguments})
    reason = "tool_use" if move.calls else "end_turn"
    return {**_head(count), "content": content, "stop_reason": reason}
