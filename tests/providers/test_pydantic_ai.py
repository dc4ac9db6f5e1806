"""Our requests beside those that pydantic-ai sends for the same history, over a fake transport.

Where they differ on purpose, the test says how and why.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from pydantic_ai.direct import model_request
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model

from rireki.history.adapters.pydantic_json import told
from rireki.providers import Call, NeutralText, NeutralThinking, Result, Turn, encode


class Sent(BaseException):
    """The request was made; nobody answers. No error that a client may take for its own."""


def theirs(provider: str, history: list[ModelMessage]) -> dict[str, Any]:
    """The body that pydantic-ai sends."""
    bodies: list[dict[str, Any]] = []

    def take(request: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(request.content))
        raise Sent

    async def ask() -> None:
        transport = httpx2.MockTransport(take)
        async with httpx2.AsyncClient(transport=transport, timeout=600) as client:
            with pytest.raises(Sent):
                await model_request(_MODELS[provider](client), history)

    asyncio.run(ask())
    return bodies[0]


def _anthropic(client: httpx2.AsyncClient) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    api = AsyncAnthropic(api_key="none", http_client=client, max_retries=0)
    return AnthropicModel("claude-of-tests", provider=AnthropicProvider(anthropic_client=api))


def _openai(client: httpx2.AsyncClient) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    api = AsyncOpenAI(api_key="none", http_client=client, max_retries=0)
    return OpenAIChatModel("gpt-5", provider=OpenAIProvider(openai_client=api))


def _responses(client: httpx2.AsyncClient) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    api = AsyncOpenAI(api_key="none", http_client=client, max_retries=0)
    return OpenAIResponsesModel("gpt-5", provider=OpenAIProvider(openai_client=api))


def _gemini(client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key="none", http_client=client)
    return GoogleModel("gemini-3-pro-preview", provider=provider)


def _ollama(client: httpx2.AsyncClient) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    address = "http://127.0.0.1:1/v1"
    api = AsyncOpenAI(api_key="none", base_url=address, http_client=client, max_retries=0)
    return OllamaModel("qwen3", provider=OllamaProvider(openai_client=api))


_MODELS: dict[str, Callable[[httpx2.AsyncClient], Model]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "responses": _responses,
    "gemini": _gemini,
    "ollama": _ollama,
}


def theirs_on_bedrock(model: str, history: list[ModelMessage]) -> dict[str, Any]:
    """The same over boto3, which has a transport of its own."""
    import boto3  # type: ignore[import-untyped]
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    bodies: list[dict[str, Any]] = []

    def take(request: Any, **more: Any) -> None:
        bodies.append(json.loads(request.body))
        raise Sent

    client = boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",
    )
    client.meta.events.register("before-send.bedrock-runtime.Converse", take)
    asked = BedrockConverseModel(model, provider=BedrockProvider(bedrock_client=client))
    with pytest.raises(Sent):
        asyncio.run(model_request(asked, history))
    return bodies[0]


THEIRS: list[ModelMessage] = [
    ModelRequest(parts=[SystemPromptPart("be brief"), UserPromptPart("go")]),
    ModelResponse(
        parts=[
            ThinkingPart("hm", signature="s", provider_name="elsewhere"),
            TextPart("let me"),
            ToolCallPart("read", {"p": 1}, tool_call_id="a"),
            ToolCallPart("read", {"p": 1}, tool_call_id="b"),
        ]
    ),
    ModelRequest(
        parts=[
            ToolReturnPart("read", "one", tool_call_id="a"),
            ToolReturnPart("read", "二", tool_call_id="b"),
            UserPromptPart("and?"),
        ]
    ),
]
OURS = [
    Turn("system", [NeutralText("be brief")]),
    Turn("user", [NeutralText("go")]),
    Turn(
        "assistant",
        [
            NeutralThinking("hm", "s", provider="elsewhere"),
            NeutralText("let me"),
            Call("a", "read", {"p": 1}),
            Call("b", "read", {"p": 1}),
        ],
    ),
    Turn(
        "user",
        [Result("a", content=[NeutralText("one")]), Result("b", content=[NeutralText("二")])],
    ),
    Turn("user", [NeutralText("and?")]),
]


def tagged(value: Any) -> Any:
    """Their tag around foreign thinking is <think>, ours is <thinking>: the longer one is no
    special token of any open model."""
    text = json.dumps(value).replace("<think>", "<thinking>").replace("</think>", "</thinking>")
    return json.loads(text)


def as_blocks(message: dict[str, Any]) -> dict[str, Any]:
    """Anthropic takes a string for one text block; they always send blocks, and is_error: false."""
    content = message["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    told = []
    for block in content:
        if block["type"] == "tool_result":
            inner = block["content"]
            inner = [{"type": "text", "text": inner}] if isinstance(inner, str) else inner
            block = {"is_error": False} | block | {"content": inner}
        told.append(block)
    return {"role": message["role"], "content": told}


def test_anthropic_is_sent_the_same_without_foreign_thinking() -> None:
    """They move foreign thinking into a user turn of its own, because Claude copies tags that it
    reads in its own turns; we leave it out and report it, as nobody said it to Claude."""
    body = theirs("anthropic", THEIRS)
    request = encode("anthropic", OURS)
    moved = body["messages"].pop(1)
    assert (moved["role"], "hm" in moved["content"][0]["text"]) == ("user", True)
    assert [as_blocks(m) for m in request.messages] == [as_blocks(m) for m in body["messages"]]
    assert request.system == body["system"]


def test_openai_is_sent_the_same() -> None:
    assert encode("openai", OURS).messages == tagged(theirs("openai", THEIRS))["messages"]


def test_responses_is_sent_the_same() -> None:
    """A message with one text may be a string; texts of one answer stand in one item with us."""
    body = tagged(theirs("responses", THEIRS))["input"]
    request = encode("responses", OURS).messages
    texts = [item for item in body if item.get("role") == "assistant"]
    joined = "\n\n".join(item["content"] for item in texts)
    assert request[2] == {"role": "assistant", "content": joined}
    others = [item for item in body if item.get("role") != "assistant"]
    assert [_string_content(item) for item in (*request[:2], *request[3:])] == others


def _string_content(item: dict[str, Any]) -> dict[str, Any]:
    if isinstance(item.get("content"), list):
        return item | {"content": item["content"][0]["text"]}
    return item


def test_gemini_is_sent_the_same_but_for_what_it_does_not_understand() -> None:
    """They mark foreign thinking as Gemini's own, send the signature for nobody once more in
    base64 (the API documents the literal), and call a result `return_value` where the API names
    `output`."""
    body = theirs("gemini", THEIRS)
    request = encode("gemini", OURS, "gemini-3-pro")
    told = json.loads(
        json.dumps(body["contents"])
        .replace("return_value", "output")
        .replace("c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=", "skip_thought_signature_validator")
    )
    told[1]["parts"][0] = {"text": "<thinking>\nhm\n</thinking>"}
    assert request.messages == told
    assert request.system["parts"] == body["systemInstruction"]["parts"]


def without_success(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """They say of every result that it succeeded; that is what Converse takes it for anyway."""
    for block in (block for message in messages for block in message["content"]):
        if block.get("toolResult", {}).get("status") == "success":
            del block["toolResult"]["status"]
    return messages


def test_claude_on_bedrock_is_sent_the_same_without_foreign_thinking() -> None:
    """As with Anthropic itself: they move it into the user's turn, we leave it out."""
    model = "anthropic.claude-3-5-sonnet-20241022-v2:0"
    body = theirs_on_bedrock(model, THEIRS)
    moved = body["messages"][0]["content"].pop()
    assert "hm" in moved["text"]
    request = encode("bedrock", OURS, model)
    assert request.messages == without_success(body["messages"])
    assert request.system == body["system"]


def test_llama_on_bedrock_is_sent_the_same() -> None:
    """Results alone in their turn, and a dot of the assistant's before what the user says then."""
    model = "meta.llama3-1-70b-instruct-v1:0"
    body = tagged(theirs_on_bedrock(model, THEIRS))
    request = encode("bedrock", OURS, model)
    assert request.messages == without_success(body["messages"])
    assert request.system == body["system"]


def test_ollama_is_sent_the_same_in_its_own_words() -> None:
    """They ask Ollama in OpenAI's words, at another address: arguments are text there, a result
    names its call by an id, and thinking of others is tagged text. Ollama's own interface has
    arguments as an object, pairs by order, wants a tool's name, and has a place for thinking."""
    told = [_in_ollamas_words(message) for message in theirs("ollama", THEIRS)["messages"]]
    assert encode("ollama", OURS, "qwen3").messages == told


def _in_ollamas_words(message: dict[str, Any]) -> dict[str, Any]:
    if message["role"] == "tool":
        return {"role": "tool", "content": message["content"], "tool_name": "read"}
    told = {"role": message["role"], "content": message["content"]}
    if message["role"] == "assistant":
        thought, _, said = message["content"].partition("\n</think>\n\n")
        told |= {"content": said, "thinking": thought.removeprefix("<think>\n")}
        told["tool_calls"] = [
            {"function": {"name": function["name"], "arguments": json.loads(function["arguments"])}}
            for function in (call["function"] for call in message["tool_calls"])
        ]
    return told


def test_call_ids_that_a_provider_rejects_are_only_mended_here() -> None:
    """pydantic-ai sends `functions.read:0` to Anthropic as it is, and an empty text block."""
    history: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart("go")]),
        ModelResponse(parts=[ToolCallPart("read", {}, tool_call_id="functions.read:0")]),
        ModelRequest(parts=[ToolReturnPart("read", "", tool_call_id="functions.read:0")]),
    ]
    body = theirs("anthropic", history)
    assert body["messages"][1]["content"][0]["id"] == "functions.read:0"
    ours = [
        Turn("user", [NeutralText("go")]),
        Turn("assistant", [Call("functions.read:0", "read", {})]),
        Turn("user", [Result("functions.read:0", content=[NeutralText("")])]),
    ]
    told = encode("anthropic", ours).messages
    assert told[1]["content"][0]["id"] == told[2]["content"][0]["tool_use_id"] == "call_1_0"
    assert "content" not in told[2]["content"][0]


def test_pictures_of_pydantic_ai_are_told_with_the_letters_of_base64_that_providers_take() -> None:
    data = bytes(range(200, 256))
    asked = ModelRequest(parts=[UserPromptPart([BinaryContent(data, media_type="image/png")])])
    (message,) = ModelMessagesTypeAdapter.dump_python([asked], mode="json")
    (shown,) = told(message)[0]["content"]
    assert b64decode(shown["source"]["data"], validate=True) == data
