"""Bedrock over boto3 and a loopback server that speaks Amazon's event streams."""

from __future__ import annotations

import json
import struct
import threading
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3  # type: ignore[import-untyped]
import pytest

from rireki import MessageHistory
from rireki.agent import Agent, Event, TextDelta, ThinkingDelta, connect
from tests.providers.rules_of import complaints

MODEL = "anthropic.claude-scripted"


class Answers(ThreadingHTTPServer):
    answers: list[list[tuple[str, Any]]]
    refused: list[str]


class Handler(BaseHTTPRequestHandler):
    server: Answers

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.refused += complaints("bedrock", body["messages"], MODEL)
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.amazon.eventstream")
        self.end_headers()
        for name, event in self.server.answers.pop(0):
            self.wfile.write(frame(name, json.dumps(event).encode()))


def frame(name: str, payload: bytes) -> bytes:
    """One message of an event stream: lengths, headers, payload, and their checksums."""
    headers = b""
    told = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    for key, value in told.items():
        headers += struct.pack("B", len(key)) + key.encode() + b"\x07"
        headers += struct.pack(">H", len(value)) + value.encode()
    lengths = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    whole = lengths + struct.pack(">I", zlib.crc32(lengths)) + headers + payload
    return whole + struct.pack(">I", zlib.crc32(whole))


def delta(index: int, **said: Any) -> tuple[str, Any]:
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": said}


def begun(index: int, id: str, name: str) -> tuple[str, Any]:
    use = {"toolUse": {"toolUseId": id, "name": name}}
    return "contentBlockStart", {"contentBlockIndex": index, "start": use}


def ended(reason: str) -> list[tuple[str, Any]]:
    usage = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}
    metadata = {"usage": usage, "metrics": {"latencyMs": 1}}
    return [("messageStop", {"stopReason": reason}), ("metadata", metadata)]


@pytest.fixture
def server() -> Iterator[Answers]:
    running = Answers(("127.0.0.1", 0), Handler)
    running.daemon_threads = True
    running.answers, running.refused = [], []
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


def test_a_run_over_boto3(server: Answers) -> None:
    server.answers = [
        [
            delta(0, reasoningContent={"text": "Well, "}),
            delta(0, reasoningContent={"text": "add."}),
            delta(0, reasoningContent={"signature": "c2ln"}),
            delta(1, text="Let me "),
            delta(1, text="add."),
            begun(2, "t1", "add"),
            delta(2, toolUse={"input": '{"a": 1, '}),
            delta(2, toolUse={"input": '"b": 2}'}),
            begun(3, "t2", "add"),
            delta(3, toolUse={"input": '{"a": 1, "b'}),
            *ended("tool_use"),
        ],
        [delta(0, text="Three."), *ended("end_turn")],
    ]

    def add(a: int, b: int) -> int:
        return a + b

    client = boto3.client(
        "bedrock-runtime",
        endpoint_url=f"http://127.0.0.1:{server.server_address[1]}",
        region_name="us-east-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",
    )
    history = MessageHistory()
    agent = Agent(connect(f"bedrock:{MODEL}", client=client), [add], history, instructions="Add.")
    events: list[Event] = []
    assert agent.run_sync("What is 1 + 2?", tell=events.append).text == "Three."
    assert [e.text for e in events if isinstance(e, TextDelta)] == ["Let me ", "add.", "Three."]
    assert [e.text for e in events if isinstance(e, ThinkingDelta)] == ["Well, ", "add."]
    assert server.refused == []
    thought, said, call, cut = history.messages[2]["content"]
    assert thought["reasoningContent"]["reasoningText"] == {
        "text": "Well, add.",
        "signature": "c2ln",
    }
    assert said == {"text": "Let me add."} and call["toolUse"]["input"] == {"a": 1, "b": 2}
    assert cut["toolUse"]["input"] == '{"a": 1, "b'
    told = history.messages[3]["content"]
    assert [(b["content"], bool(b.get("is_error"))) for b in told] == [
        ("3", False),
        ("Error: the arguments of add are not a JSON object", True),
    ]
