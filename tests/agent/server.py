"""A server on loopback that answers as four providers do, and refuses what they would refuse.

What it says is scripted, and the same for all: moves of a text and calls. Whose rules a request
breaks is decided by tests/providers/rules_of.py; it then answers with a 400 that says which.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.providers.rules_of import complaints

__all__ = ["MODELS", "PROVIDERS", "Move", "Server", "client_of", "serving"]

MODELS = {
    "anthropic": "claude-scripted",
    "openai": "gpt-4.1",
    "responses": "gpt-5.1",
    "gemini": "gemini-3-pro-preview",
    "ollama": "qwen3",
}
PROVIDERS = tuple(MODELS)


class Move(NamedTuple):
    """What the model does next: thinks, says, calls (name, arguments)."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    thinking: str = ""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: list[Move] = []
        #: (provider, body) of every request, and what was wrong with some.
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.refused: list[str] = []
        self.count = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def client_of(provider: str, address: str) -> Any:
    """The provider's own client, pointed at the server."""
    if provider == "anthropic":
        import anthropic

        return anthropic.Anthropic(base_url=address, api_key="none", max_retries=0)
    if provider in ("openai", "responses"):
        import openai

        return openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)
    if provider == "gemini":
        from google import genai

        return genai.Client(api_key="none", http_options={"base_url": address})
    import ollama

    return ollama.Client(host=address)


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        provider = _provider_of(self.path)
        server = self.server
        server.requests.append((provider, body))
        wrong = list(_wrong(provider, body))
        if wrong:
            server.refused += wrong
            self._send(400, "application/json", [json.dumps({"error": {"message": wrong}})])
            return
        server.count += 1
        move = server.script.pop(0)
        if provider == "ollama":
            lines = [json.dumps(piece) + "\n" for piece in _ollama(move)]
            self._send(200, "application/x-ndjson", lines)
            return
        events = _EVENTS[provider](move, server.count)
        self._send(200, "text/event-stream", [_event(provider, e) for e in events])

    def _send(self, status: int, kind: str, pieces: list[str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        for piece in pieces:
            self.wfile.write(piece.encode())


def _provider_of(path: str) -> str:
    if path.startswith("/v1/messages"):
        return "anthropic"
    if path.endswith("/chat/completions"):
        return "openai"
    if path.endswith("/responses"):
        return "responses"
    return "gemini" if ":streamGenerateContent" in path else "ollama"


def _wrong(provider: str, body: dict[str, Any]) -> Iterator[str]:
    messages = body.get({"responses": "input", "gemini": "contents"}.get(provider, "messages"))
    assert isinstance(messages, list)
    model = body.get("model", MODELS["gemini"])
    yield from complaints(provider, messages, model)
    if not any(name in json.dumps(body.get("tools", [])) for name in ("add", "look")):
        yield "the tools are missing"


def _event(provider: str, event: Any) -> str:
    if event == "[DONE]":
        return "data: [DONE]\n\n"
    named = f"event: {event['type']}\n" if provider in ("anthropic", "responses") else ""
    return f"{named}data: {json.dumps(event)}\n\n"


def _halves(text: str) -> list[str]:
    """A text in two pieces, as streams have it."""
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


def _anthropic(move: Move, count: int) -> list[Any]:
    usage = {"input_tokens": 10, "output_tokens": 5}
    begun: dict[str, Any] = {
        "id": f"msg_{count}",
        "type": "message",
        "role": "assistant",
        "content": [],
    }
    begun |= {"model": MODELS["anthropic"], "stop_reason": None, "stop_sequence": None}
    made: list[Any] = [{"type": "message_start", "message": {**begun, "usage": usage}}]
    blocks: list[tuple[Any, list[Any]]] = []
    if move.thinking:
        thought = [{"type": "thinking_delta", "thinking": p} for p in _halves(move.thinking)]
        signed = {"type": "signature_delta", "signature": "c2lnbmVk"}
        start = {"type": "thinking", "thinking": "", "signature": ""}
        blocks.append((start, [*thought, signed]))
    if move.text:
        said = [{"type": "text_delta", "text": piece} for piece in _halves(move.text)]
        blocks.append(({"type": "text", "text": ""}, said))
    for number, (name, arguments) in enumerate(move.calls):
        pieces = _halves(json.dumps(arguments))
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        id = f"toolu_{count}_{number}"
        blocks.append(({"type": "tool_use", "id": id, "name": name, "input": {}}, deltas))
    for index, (start, deltas) in enumerate(blocks):
        made.append({"type": "content_block_start", "index": index, "content_block": start})
        made += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
        made.append({"type": "content_block_stop", "index": index})
    reason = "tool_use" if move.calls else "end_turn"
    ended = {"stop_reason": reason, "stop_sequence": None}
    made.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 5}})
    return [*made, {"type": "message_stop"}]


def _openai(move: Move, count: int) -> list[Any]:
    head = {"id": f"chatcmpl-{count}", "object": "chat.completion.chunk", "created": 1}
    head |= {"model": MODELS["openai"]}
    deltas: list[Any] = [{"role": "assistant", "content": None}]
    deltas += [{"reasoning_content": piece} for piece in _halves(move.thinking)]
    deltas += [{"content": piece} for piece in _halves(move.text)]
    for index, (name, arguments) in enumerate(move.calls):
        first, *rest = _halves(json.dumps(arguments))
        call = {"index": index, "id": f"call_{count}_{index}", "type": "function"}
        call["function"] = {"name": name, "arguments": first}
        deltas.append({"tool_calls": [call]})
        for piece in rest:
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    reason = "tool_calls" if move.calls else "stop"
    choices.append({"index": 0, "delta": {}, "finish_reason": reason})
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    made = [{**head, "choices": [choice]} for choice in choices]
    return [*made, {**head, "choices": [], "usage": usage}, "[DONE]"]


def _responses(move: Move, count: int) -> list[Any]:
    output: list[Any] = []
    deltas: list[Any] = []
    if move.thinking:
        said = [{"type": "summary_text", "text": move.thinking}]
        output.append({"type": "reasoning", "id": f"rs_{count}", "summary": said})
        output[-1]["encrypted_content"] = "sealed"
    if move.text or not move.calls:
        content = [{"type": "output_text", "text": move.text, "annotations": []}]
        output.append({"type": "message", "id": f"msg_{count}", "role": "assistant"})
        output[-1] |= {"status": "completed", "content": content}
        where = {"item_id": f"msg_{count}", "output_index": len(output) - 1, "content_index": 0}
        kind = {"type": "response.output_text.delta", "logprobs": [], "sequence_number": 1}
        deltas = [{**kind, **where, "delta": piece} for piece in _halves(move.text)]
    for number, (name, arguments) in enumerate(move.calls):
        call = {"type": "function_call", "id": f"fc_{count}_{number}", "status": "completed"}
        call |= {"call_id": f"call_{count}_{number}", "name": name}
        output.append({**call, "arguments": json.dumps(arguments)})
    whole: dict[str, Any] = {
        "id": f"resp_{count}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
    }
    whole |= {"model": MODELS["responses"], "output": output, "tools": [], "tool_choice": "auto"}
    whole |= {"parallel_tool_calls": True}
    return [*deltas, {"type": "response.completed", "sequence_number": 2, "response": whole}]


def _gemini(move: Move, count: int) -> list[Any]:
    parts: list[Any] = [{"text": piece, "thought": True} for piece in _halves(move.thinking)]
    parts += [{"text": piece} for piece in _halves(move.text)]
    for number, (name, arguments) in enumerate(move.calls):
        # Only the first call of a step is signed, and none has an id.
        signed = {} if number else {"thoughtSignature": "c2lnbmVk"}
        parts.append({"functionCall": {"name": name, "args": arguments}, **signed})
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    made: list[Any] = []
    for part in parts:
        content = {"role": "model", "parts": [part]}
        made.append({"candidates": [{"index": 0, "content": content}]})
    made[-1]["candidates"][0]["finishReason"] = "STOP"
    made[-1] |= {"usageMetadata": usage, "modelVersion": MODELS["gemini"]}
    return made


def _ollama(move: Move) -> list[Any]:
    head = {"model": MODELS["ollama"], "created_at": "2026-01-01T00:00:00Z"}
    said: list[Any] = [{"content": "", "thinking": piece} for piece in _halves(move.thinking)]
    said += [{"content": piece} for piece in _halves(move.text)]
    for name, arguments in move.calls:
        call = {"function": {"name": name, "arguments": arguments}}
        said.append({"content": "", "tool_calls": [call]})
    made = [{**head, "message": {"role": "assistant", **one}, "done": False} for one in said]
    last = {"role": "assistant", "content": ""}
    counts = {"prompt_eval_count": 10, "eval_count": 5, "done_reason": "stop"}
    return [*made, {**head, "message": last, "done": True, **counts}]


_EVENTS = {
    "anthropic": _anthropic,
    "openai": _openai,
    "responses": _responses,
    "gemini": _gemini,
}
