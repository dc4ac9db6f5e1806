"""A rendered request goes into the named package as it is, and the right bytes reach the wire.

Each provider's own package sends what `render` made to a server on loopback, which keeps the body.
The history holds what is easily spoiled on the way: pictures, a document, results with pictures,
thinking with its signature, calls of several providers.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from rireki import MessageHistory
from rireki.providers import PROVIDERS, Provider, Request

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
SHOT = b"\x89PNG\r\n\x1a\n a screenshot \xff\xfe\xfb\xf0"
PAPER = b"%PDF-1.7 a paper \xfb\xff\xbf"
SIGNED = base64.b64encode(b"\xfb\xffsigned by its model\xfe").decode()
MODELS = {"gemini": "gemini-3-pro-preview", "bedrock": "anthropic.claude-sonnet-4-5"}


class Wire(ThreadingHTTPServer):
    """Keeps the body of every request, and refuses it: nobody waits for an answer here."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[bytes] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Wire)
        length = self.headers.get("Content-Length")
        self.server.bodies.append(self.rfile.read(int(length)) if length else self._chunks())
        body = b'{"error": {"message": "not served"}}'
        self.send_response(400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _chunks(self) -> bytes:
        data = b""
        while size := int(self.rfile.readline(), 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        return data

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    server = Wire()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _anthropic(address: str, request: Request) -> None:
    import anthropic

    client = anthropic.Anthropic(base_url=address, api_key="none", max_retries=0)
    client.messages.create(
        model="any-claude",
        max_tokens=10,
        messages=request.messages,
        **({} if request.system is None else {"system": request.system}),
    )


def _openai(address: str, request: Request) -> None:
    import openai

    client = openai.OpenAI(base_url=address, api_key="none", max_retries=0)
    client.chat.completions.create(model="gpt-4.1", messages=request.messages)


def _responses(address: str, request: Request) -> None:
    import openai

    client = openai.OpenAI(base_url=address, api_key="none", max_retries=0)
    client.responses.create(model="gpt-5.1", input=request.messages)


def _gemini(address: str, request: Request) -> None:
    from google import genai

    client = genai.Client(api_key="none", http_options={"base_url": address})
    client.models.generate_content(
        model=MODELS["gemini"],
        contents=request.messages,
        config={"system_instruction": request.system},
    )


def _bedrock(address: str, request: Request) -> None:
    import boto3  # type: ignore[import-untyped]
    from botocore.config import Config  # type: ignore[import-untyped]

    client = boto3.client(
        "bedrock-runtime",
        endpoint_url=address,
        region_name="us-east-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(retries={"max_attempts": 0}),
    )
    system = {} if request.system is None else {"system": request.system}
    client.converse(modelId=MODELS["bedrock"], messages=request.messages, **system)


def _ollama(address: str, request: Request) -> None:
    import ollama

    ollama.Client(host=address).chat(model="qwen3", messages=request.messages)


SENDERS: dict[str, Callable[[str, Request], None]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "responses": _responses,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "ollama": _ollama,
}
#: Where the messages stand in the body.
KEYS = {"responses": "input", "gemini": "contents"}


def sent(wire: Wire, provider: str, request: Request) -> dict[str, Any]:
    """The body that the provider's package makes of a request."""
    wire.bodies.clear()
    with pytest.raises(Exception, match=r"not served|400|Bad Request"):
        SENDERS[provider](wire.address, request)
    (body,) = wire.bodies
    value: dict[str, Any] = json.loads(body)
    return value


def as_meant(value: Any) -> Any:
    """What a body says, however the package spells it.

    google-genai writes base64 with the letters that are safe in addresses, and some names with
    underscores; ollama leaves out what is empty.
    """
    if isinstance(value, dict):
        named = {_camel(key): as_meant(inner) for key, inner in value.items()}
        return {key: inner for key, inner in named.items() if inner not in ("", None)}
    if isinstance(value, list):
        return [as_meant(inner) for inner in value]
    return value.replace("-", "+").replace("_", "/") if isinstance(value, str) else value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def full_history() -> MessageHistory:
    """Two pictures, a document, a result with a picture, a failed call, thinking of another model."""
    history = MessageHistory()
    history.add_system_message("Be exact.")
    document = {
        "type": "document",
        "title": "paper.pdf",
        "source": {"type": "base64", "media_type": "application/pdf", "data": b64(PAPER)},
    }
    text = {"type": "text", "text": "What is this? これは何?"}
    history.add_user_message([text, document], images=[PICTURE])
    history.add_raw_message(
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": SIGNED},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "片"}},
                {"type": "tool_use", "id": "toolu_2", "name": "ls", "input": {"data": b64(SHOT)}},
            ],
        }
    )
    history.add_tool_results(
        [
            {"tool_use_id": "toolu_1", "result": "seen", "tool_name": "look", "images": [SHOT]},
            {"tool_use_id": "toolu_2", "result": "no", "tool_name": "ls", "is_error": True},
        ]
    )
    history.add_raw_message({"role": "assistant", "content": "A picture."})
    history.add_user_message("Thanks.")
    return history


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_rendered_request_reaches_the_wire_as_it_is_meant(wire: Wire, provider: Provider) -> None:
    request = full_history().render(provider, MODELS.get(provider))
    body = sent(wire, provider, request)
    messages = body[KEYS.get(provider, "messages")]
    assert as_meant(messages) == as_meant(request.as_json().messages)
    said = str(as_meant(messages))
    for data in (PICTURE, SHOT, PAPER):
        if provider != "ollama" or data != PAPER:
            assert b64(data) in said
        assert b64(b64(data).encode())[:40] not in said, "encoded twice"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_the_provider_wrote_itself_goes_back_as_it_came(
    wire: Wire, provider: Provider
) -> None:
    """Signatures, encrypted thinking and pictures in the provider's own spelling."""
    history = MessageHistory()
    for message in OWN[provider]:
        history.add_raw_message(message, provider=provider)
    request = history.render(provider, MODELS.get(provider))
    body = sent(wire, provider, request)
    messages = body[KEYS.get(provider, "messages")]
    assert as_meant(messages) == as_meant(request.as_json().messages)
    said = str(as_meant(messages))
    expected = {"openai": [PICTURE], "responses": [PICTURE, SHOT], "ollama": [PICTURE]}
    for data in expected.get(provider, [PICTURE, SHOT, base64.b64decode(SIGNED)]):
        assert b64(data) in said


OWN: dict[str, list[Any]] = {
    "anthropic": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look."},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": b64(PICTURE)},
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": SIGNED},
                {"type": "redacted_thinking", "data": SIGNED},
                {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": [
                        {
                            "type": "image",
                            "source": {
                                "type": "base64",
                                "media_type": "image/png",
                                "data": b64(SHOT),
                            },
                        }
                    ],
                }
            ],
        },
    ],
    "openai": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look."},
                {
                    "type": "image_url",
                    "image_url": {"url": f"data:image/png;base64,{b64(PICTURE)}"},
                },
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "look", "arguments": "{}"},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "seen"},
    ],
    "responses": [
        {
            "role": "user",
            "content": [
                {"type": "input_image", "image_url": f"data:image/png;base64,{b64(PICTURE)}"},
            ],
        },
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": SIGNED},
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "look",
            "arguments": "{}",
        },
        {
            "type": "function_call_output",
            "call_id": "call_1",
            "output": [
                {"type": "input_image", "image_url": f"data:image/png;base64,{b64(SHOT)}"},
            ],
        },
    ],
    "gemini": [
        {
            "role": "user",
            "parts": [
                {"text": "Look."},
                {"inlineData": {"mimeType": "image/png", "data": b64(PICTURE)}},
            ],
        },
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True},
                {
                    "functionCall": {"name": "look", "args": {"data": "iQ=="}},
                    "thoughtSignature": SIGNED,
                },
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "name": "look",
                        "response": {"output": "seen"},
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": b64(SHOT)}}],
                    }
                }
            ],
        },
    ],
    "bedrock": [
        {
            "role": "user",
            "content": [
                {"text": "Look."},
                {"image": {"format": "png", "source": {"bytes": PICTURE}}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": SIGNED}}},
                {"reasoningContent": {"redactedContent": base64.b64decode(SIGNED)}},
                {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"bytes": "iQ=="}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "toolResult": {
                        "toolUseId": "t1",
                        "content": [
                            {"image": {"format": "png", "source": {"bytes": SHOT}}},
                        ],
                    }
                }
            ],
        },
    ],
    "ollama": [
        {"role": "user", "content": "Look.", "images": [b64(PICTURE)]},
        {
            "role": "assistant",
            "content": "",
            "thinking": "Hm.",
            "tool_calls": [
                {"function": {"name": "look", "arguments": {"at": "x"}}},
            ],
        },
        {"role": "tool", "content": "seen", "tool_name": "look"},
    ],
}
