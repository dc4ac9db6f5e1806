"""Everything that may be handed to `add_raw_message`, and what becomes of it on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from anthropic.types import Message as AnthropicMessage
from google.genai.types import GenerateContentResponse
from ollama import ChatResponse
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from rireki import MessageHistory
from rireki.errors import RirekiError
from rireki.providers import PROVIDERS, Provider

ANTHROPIC = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "content": [
        {"type": "text", "text": "hm"},
        {"type": "tool_use", "id": "t1", "name": "ls", "input": {"path": "."}},
    ],
    "usage": {"input_tokens": 5, "output_tokens": 7},
}
FUNCTION = {"name": "ls", "arguments": '{"path":"."}'}
OPENAI = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-5",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "hm",
                "tool_calls": [{"id": "t1", "type": "function", "function": FUNCTION}],
            },
        }
    ],
    "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12},
}
TEXT = {"type": "output_text", "text": "hm", "annotations": []}
RESPONSES = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "gpt-5",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [TEXT],
        },
        {"id": "fc_1", "type": "function_call", "call_id": "t1", **FUNCTION},
    ],
    "usage": {
        "input_tokens": 5,
        "output_tokens": 7,
        "total_tokens": 12,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    },
}
GEMINI = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "hm"},
                    {"functionCall": {"id": "t1", "name": "ls", "args": {"path": "."}}},
                ],
            }
        }
    ],
    "modelVersion": "gemini-3-pro",
    "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 7},
}
BEDROCK = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"text": "hm"},
                {"toolUse": {"toolUseId": "t1", "name": "ls", "input": {"path": "."}}},
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {"inputTokens": 5, "outputTokens": 7},
}
OLLAMA = {
    "model": "qwen3",
    "message": {
        "role": "assistant",
        "content": "hm",
        "tool_calls": [{"function": {"name": "ls", "arguments": {"path": "."}}}],
    },
    "prompt_eval_count": 5,
    "eval_count": 7,
}
ANSWERS: dict[str, Any] = {
    "anthropic": AnthropicMessage.model_validate(ANTHROPIC),
    "openai": ChatCompletion.model_validate(OPENAI),
    "responses": Response.model_validate(RESPONSES),
    "gemini": GenerateContentResponse.model_validate(GEMINI),
    "bedrock": BEDROCK,
    "ollama": ChatResponse.model_validate(OLLAMA),
}


def test_there_is_an_answer_of_every_provider() -> None:
    assert set(ANSWERS) == set(PROVIDERS)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_of_a_package_is_taken_as_it_came(provider: Provider, place: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        history.add_user_message("look around")
        history.add_raw_message(ANSWERS[provider])
        (call,) = history.pending_calls()
        assert (call.name, call.arguments) == ("ls", {"path": "."})
        before = history.get_messages()
    with MessageHistory.open("x", archive=place) as again:
        assert again.get_messages() == before
        assert again.pending_calls() == [call]
        again.add_tool_result(call.id or "", "README.md", "ls")
        sent = again.render(provider).messages
        # What its own provider said goes back word for word.
        assert sent[1 : len(before)] == before[1:]
        assert again.pending_calls() == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_in_memory_it_says_the_same(provider: str, place: Path) -> None:
    memory, disk = MessageHistory(), MessageHistory.open(archive=place)
    for history in (memory, disk):
        history.add_raw_message(ANSWERS[provider])
    assert memory.render("openai") == disk.render("openai")
    assert memory.pending_calls() == disk.pending_calls()


@pytest.mark.parametrize(
    "content",
    [
        "words",
        [{"type": "text", "text": "words"}],
        {"thought": "hm", "response": "words"},
    ],
)
def test_every_content_found_in_the_wild_is_rendered(content: Any) -> None:
    history = MessageHistory()
    history.add_user_message("say it")
    history.add_raw_message({"role": "assistant", "content": content})
    history.add_user_message("again")
    for provider in PROVIDERS:
        assert "words" in str(history.render(provider).messages)


def test_contents_alone_are_the_assistants() -> None:
    history = MessageHistory()
    history.add_raw_message("words")
    history.add_raw_message([{"type": "text", "text": "blocks"}])
    history.add_raw_message({"thought": "hm", "tool_call": {"name": "ls", "arguments": {}}})
    assert [message["role"] for message in history.messages] == ["assistant"] * 3


def test_a_list_of_items_is_as_many_messages() -> None:
    history = MessageHistory()
    history.add_raw_message(RESPONSES["output"])
    assert history.messages == RESPONSES["output"]


def test_items_of_any_kind_are_messages_by_themselves(place: Path) -> None:
    items: list[Any] = [
        {"role": "user", "content": "go"},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"},
        {"type": "item_reference", "id": "msg_1"},
        {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {
            "type": "function_call_output",
            "call_id": "c",
            "output": [{"type": "input_text", "text": "seen"}],
        },
    ]
    for history in (MessageHistory(), MessageHistory.open(archive=place)):
        history.add_raw_message(items)
        assert history.messages == items and history.pending_calls() == []
        assert history.render("responses").messages[1:] == items[1:]


@pytest.mark.parametrize("provider", ["anthropic", "responses", "gemini", "bedrock"])
def test_pieces_of_an_answer_are_taken_as_what_they_are(provider: Provider) -> None:
    """People hand over `response.content`, or one block of it, as readily as the response."""
    answer = ANSWERS[provider]
    pieces: list[Any] = {
        "anthropic": lambda: answer.content,
        "responses": lambda: answer.output,
        "gemini": lambda: answer.candidates[0].content.parts,
        "bedrock": lambda: answer["output"]["message"]["content"],
    }[provider]()
    for given in (pieces, pieces[1]) if provider != "bedrock" else (pieces,):
        history = MessageHistory()
        history.add_user_message("look around")
        history.add_raw_message(given)
        (call,) = history.pending_calls()
        assert (call.name, call.arguments) == ("ls", {"path": "."})
        assert history.validate(provider)[0].code == "call-interrupted"


def test_results_without_a_frame_are_the_users() -> None:
    block = {"type": "tool_result", "tool_use_id": "a", "content": "1"}
    part = {"functionResponse": {"name": "ls", "response": {"output": "1"}}}
    history = MessageHistory()
    history.add_raw_message(block)
    history.add_raw_message([part])
    assert history.messages == [
        {"role": "user", "content": [block]},
        {"role": "user", "parts": [part]},
    ]


def test_what_is_no_message_is_refused_with_a_way_out() -> None:
    with pytest.raises(RirekiError, match="cannot keep a bytes"):
        MessageHistory().add_raw_message(b"words")
    with pytest.raises(RirekiError, match="cannot keep a int") as caught:
        MessageHistory().add_raw_message(7)
    assert "dict" in caught.value.hint
    with pytest.raises(RirekiError, match="no provider called 'cohere'"):
        MessageHistory().add_raw_message({"role": "user", "content": ""}, provider="cohere")  # type: ignore[arg-type]


PNG = b"\x89PNG\r\n\x1a\n"


def test_pictures_in_results_and_prompts() -> None:
    history = MessageHistory()
    history.add_user_message("what is it?", images=[PNG])
    history.add_raw_message({"role": "assistant", "content": [ANTHROPIC["content"][1]]})  # type: ignore[index]
    history.add_tool_result("t1", "a file", "ls", is_error=True, images=[("image/webp", b"x")])
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png"}}
    picture["source"]["data"] = "iVBORw0KGgo="  # type: ignore[index]
    assert history.messages[0]["content"] == [{"type": "text", "text": "what is it?"}, picture]
    block = history.messages[2]["content"][0]
    assert block["is_error"] is True and block["content"][1]["source"]["data"] == "eA=="
    assert history.validate("anthropic") == []
    with pytest.raises(RirekiError, match="do not tell what kind"):
        history.add_user_message("?", images=[b"abcd"])
    with pytest.raises(RirekiError, match="A str is no picture"):
        history.add_user_message("?", images=["a.png"])


def test_a_riff_file_is_a_picture_only_if_it_says_so() -> None:
    history = MessageHistory()
    history.add_user_message("?", images=[b"RIFF\x10\0\0\0WEBPVP8 "])
    assert history.messages[0]["content"][1]["source"]["media_type"] == "image/webp"
    for other in (b"RIFF\x10\0\0\0WAVEfmt ", b"RIFF\x10\0\0\0AVI LIST", b"RIFF"):
        with pytest.raises(RirekiError, match="do not tell what kind"):
            history.add_user_message("?", images=[other])


def test_several_results_are_one_message() -> None:
    history = MessageHistory()
    history.add_tool_results([("a", "1"), ("b", "2", "ls"), {"tool_use_id": "c", "result": "3"}])
    history.add_tool_results([])
    (message,) = history.messages
    found = [(b["tool_use_id"], b["content"], b["tool_name"]) for b in message["content"]]
    assert found == [("a", "1", "unknown"), ("b", "2", "ls"), ("c", "3", "unknown")]


def test_text_that_no_utf8_can_say_survives(place: Path) -> None:
    odd = {"role": "user", "content": "half \ud83d a pair", "number": 2**70}
    with MessageHistory.open("x", archive=place) as history:
        history.add_raw_message(odd)
    with MessageHistory.open("x", archive=place, read_only=True) as again:
        assert again.get_messages() == [odd]
