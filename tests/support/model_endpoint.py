"""The scripted model behind the interfaces of other makers, too: OpenAI's two, and Google's.

Which one it is, the path of the request tells. What is done is chosen by the last word of the
script that stands in what was typed last: agents put much of their own around it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.support.anthropic_endpoint import (
    Endpoint,
    Handler,
    LastTyped,
    Move,
    Moves,
    Script,
    serving,
    words,
)

__all__ = ["ModelEndpoint", "model_endpoint"]

Json = dict[str, Any]
Typed = tuple[str, int]


class ModelEndpoint(Endpoint):
    def __init__(self, script: Script) -> None:
        super().__init__(script, _AnyHandler)


@contextmanager
def model_endpoint(script: Script) -> Iterator[ModelEndpoint]:
    with serving(ModelEndpoint(script)) as server:
        yield server


class _Dialect(NamedTuple):
    typed: LastTyped
    #: The pieces of an answer, as they come over the wire.
    stream: Callable[[Move, int], Iterator[bytes]]
    whole: Callable[[Move, int], Json]


class _AnyHandler(Handler):
    def do_GET(self) -> None:
        if self.path.split("?")[0].endswith("/models"):
            listed = {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
            self._send(json.dumps(listed).encode(), "application/json")
            return
        super().do_GET()

    def do_POST(self) -> None:
        path = self.path.split("?")[0]
        name = next((end for end in _DIALECTS if path.endswith(end)), None)
        if name is None:
            super().do_POST()
            return
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        dialect = _DIALECTS[name]
        move = self._move(body, dialect.typed)
        count = len(self.server.requests)
        if name == ":generateContent" or not (body.get("stream") or name.startswith(":")):
            self._send(json.dumps(dialect.whole(move, count)).encode(), "application/json")
            return
        self._begin_stream()
        for piece in dialect.stream(move, count):
            self.wfile.write(piece)
            self.wfile.flush()
            if self.server.closing.wait(move.pause):
                break
        self.close_connection = True

    def _move(self, body: Json, last: LastTyped | None = None) -> Move:
        return super()._move(body, last or _messages_typed)

    def _moves(self, typed: str) -> Moves:
        # What was never answered may stand before it, in the same message.
        found = re.findall("|".join(map(re.escape, self.server.script)), typed)
        return self.server.script[found[-1]] if found else ()


def _event(value: Json) -> bytes:
    name = f"event: {value['type']}\n" if isinstance(value.get("type"), str) else ""
    return f"{name}data: {json.dumps(value)}\n\n".encode()


def _call_id(count: int, number: int) -> str:
    return f"call_{count}_{number}_{time.time_ns():x}"


# ── Anthropic's ──


def _messages_typed(body: Json) -> Typed:
    """Results that nobody answered may stand before what was typed, in the same message."""
    results = 0
    for message in reversed(body["messages"]):
        if message["role"] == "user":
            typed = _plain(message["content"])
            if typed.strip():
                return typed, results
            results += 1
    return "", results


# ── OpenAI's chat completions ──


def _chat_typed(body: Json) -> Typed:
    results = 0
    for message in reversed(body["messages"]):
        if message["role"] == "tool":
            results += 1
        elif message["role"] == "user":
            return _plain(message["content"]), results
    return "", results


def _plain(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(
        str(part.get("text") or "") for part in content or () if isinstance(part, dict)
    )


_USED = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _chat_calls(move: Move, count: int) -> list[Json]:
    return [
        {
            "index": number,
            "id": _call_id(count, number),
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(move.calls)
    ]


def _chat_stream(move: Move, count: int) -> Iterator[bytes]:
    def chunk(delta: Json, end: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        return _event({**_chat_head(count, "chat.completion.chunk"), "choices": [choice], **more})

    yield chunk({"role": "assistant", "content": ""})
    for piece in words(move.text):
        yield chunk({"content": piece})
    for call in _chat_calls(move, count):
        yield chunk({"tool_calls": [call]})
    yield chunk({}, "tool_calls" if move.calls else "stop", usage=_USED)
    yield b"data: [DONE]\n\n"


def _chat_whole(move: Move, count: int) -> Json:
    calls = _chat_calls(move, count)
    message = {
        "role": "assistant",
        "content": move.text,
        **({"tool_calls": calls} if calls else {}),
    }
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {**_chat_head(count, "chat.completion"), "choices": [choice], "usage": _USED}


def _chat_head(count: int, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{count}",
        "object": kind,
        "created": int(time.time()),
        "model": "scripted",
    }


# ── OpenAI's responses ──


def _responses_typed(body: Json) -> Typed:
    results = 0
    given = body["input"]
    for item in reversed([{"role": "user", "content": given}] if isinstance(given, str) else given):
        if str(item.get("type", "")).endswith("call_output"):
            results += 1
        elif item.get("role") == "user":
            return _plain(item["content"]), results
    return "", results


def _response(move: Move, count: int, status: str, output: list[Json]) -> Json:
    used = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    return {
        "id": f"resp_{count}",
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "model": "scripted",
        "output": output,
        "usage": used if status == "completed" else None,
    }


def _responses_items(move: Move, count: int) -> list[Json]:
    said = {"type": "output_text", "text": move.text, "annotations": []}
    text = {
        "type": "message",
        "id": f"msg_{count}",
        "status": "completed",
        "role": "assistant",
        "content": [said],
    }
    calls = [
        {
            "type": "function_call",
            "id": f"fc_{count}_{number}",
            "call_id": _call_id(count, number),
            "name": name,
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
        for number, (name, arguments) in enumerate(move.calls)
    ]
    return [*([text] if move.text else []), *calls]


def _responses_stream(move: Move, count: int) -> Iterator[bytes]:
    items = _responses_items(move, count)
    begun = _response(move, count, "in_progress", [])
    yield _event({"type": "response.created", "response": begun})
    for index, item in enumerate(items):
        empty = {**item, "status": "in_progress"} | ({"content": []} if "content" in item else {})
        yield _event({"type": "response.output_item.added", "output_index": index, "item": empty})
        if item["type"] == "message":
            at = {"item_id": item["id"], "output_index": index, "content_index": 0}
            for piece in words(move.text):
                yield _event({"type": "response.output_text.delta", **at, "delta": piece})
            yield _event({"type": "response.output_text.done", **at, "text": move.text})
        yield _event({"type": "response.output_item.done", "output_index": index, "item": item})
    ended = _response(move, count, "completed", items)
    yield _event({"type": "response.completed", "response": ended})


def _responses_whole(move: Move, count: int) -> Json:
    return _response(move, count, "completed", _responses_items(move, count))


# ── Google's ──


def _gemini_typed(body: Json) -> Typed:
    results = 0
    for content in reversed(body["contents"]):
        if content.get("role") != "user":
            continue
        parts = content["parts"]
        if any("functionResponse" in part for part in parts):
            results += 1
        else:
            return "\n".join(part.get("text", "") for part in parts), results
    return "", results


def _gemini_answer(parts: list[Json], end: str | None = None) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
    used = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    ended = {"finishReason": end} if end else {}
    return {
        "candidates": [{**candidate, **ended}],
        "usageMetadata": used,
        "modelVersion": "scripted",
    }


def _gemini_parts(move: Move) -> Iterator[Json]:
    for piece in words(move.text):
        yield {"text": piece}
    for name, arguments in move.calls:
        yield {"functionCall": {"name": name, "args": arguments}}


def _gemini_stream(move: Move, count: int) -> Iterator[bytes]:
    for part in _gemini_parts(move):
        yield _event(_gemini_answer([part]))
    yield _event(_gemini_answer([{"text": ""}], "STOP"))


def _gemini_whole(move: Move, count: int) -> Json:
    return _gemini_answer(list(_gemini_parts(move)), "STOP")


_DIALECTS = {
    "/chat/completions": _Dialect(_chat_typed, _chat_stream, _chat_whole),
    "/responses": _Dialect(_responses_typed, _responses_stream, _responses_whole),
    ":streamGenerateContent": _Dialect(_gemini_typed, _gemini_stream, _gemini_whole),
    ":generateContent": _Dialect(_gemini_typed, _gemini_stream, _gemini_whole),
}
