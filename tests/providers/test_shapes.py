"""What people put into a history: the four shapes in the wild, and what the SDKs return."""

from __future__ import annotations

import copy
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel

from rireki import MessageHistory
from rireki.errors import RirekiError
from rireki.providers import (
    PROVIDERS,
    Call,
    NeutralText,
    NeutralThinking,
    Opaque,
    Provider,
    Result,
    Turn,
    decode,
    detect,
    encode,
    is_item,
    plain,
    unwrap,
)
from tests.providers.rules_of import complaints
from tests.providers.scripts import Exchange, Step, Use, spell

SCRIPT = [
    Exchange("直して", "done", [Step([Use("read", {"p": 1}, "x")], "hm", "let me")], True, "so")
]


@dataclass
class TextBlock:
    text: str
    type: str = "text"


@dataclass
class ToolUse:
    id: str
    name: str
    input: dict[str, Any] = field(default_factory=dict)
    type: str = "tool_use"


class Loose:
    """An object with attributes only, its type on the class."""

    type = "text"

    def __init__(self) -> None:
        self.text = "hi"
        self._client = object()


def bare_parts(turn: Turn) -> list[Any]:
    return [getattr(part, "text", None) or part for part in turn.parts]


def test_string_content() -> None:
    assert decode(None, [{"role": "user", "content": "hi"}])[0].parts == [NeutralText("hi")]


def test_dict_blocks() -> None:
    (turn,) = decode(None, [{"role": "user", "content": [{"type": "text", "text": "hi"}]}])
    assert bare_parts(turn) == ["hi"]


def test_objects_with_a_type() -> None:
    message = {"role": "assistant", "content": [TextBlock("hi"), Loose(), ToolUse("c", "read")]}
    (turn,) = decode(None, [message])
    assert turn.provider == "anthropic"
    assert bare_parts(turn)[:2] == ["hi", "hi"]
    assert isinstance(turn.parts[2], Call)
    assert turn.parts[2].raw == {"id": "c", "name": "read", "input": {}, "type": "tool_use"}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_prompt_json_of_small_clients(provider: str) -> None:
    call = {"name": "read", "arguments": {"path": "a"}}
    messages: list[Any] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": {"thought": "hm", "tool_call": call}},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "text of a"}],
        },
        {"role": "assistant", "content": {"thought": "ok", "response": "done"}},
        {"role": "user", "content": "thanks"},
    ]
    turns = decode(None, messages)
    assert turns[1].parts == [NeutralThinking("hm"), Call(None, "read", {"path": "a"})]
    request = encode(provider, turns)
    assert complaints(provider, request.messages) == []
    assert "text of a" in str(request.messages) and "interrupted" not in str(request.messages)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_is_known_by_its_shape(provider: str) -> None:
    known = {detect(message) for message in spell(provider, SCRIPT)}
    assert known - {None} == {provider}


def test_a_mixed_history_is_read_message_by_message() -> None:
    messages = [message for provider in PROVIDERS for message in spell(provider, SCRIPT)]
    turns = decode(None, messages)
    assert {turn.provider for turn in turns} == set(PROVIDERS)
    for provider in PROVIDERS:
        assert complaints(provider, encode(provider, turns).messages) == []


def test_answers_of_anthropics_package() -> None:
    from anthropic.types import Message

    answer = Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 1, "output_tokens": 1},
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}],
        }
    )
    provider, (message,) = unwrap(answer)
    assert provider == "anthropic"
    assert message.keys() == {"role", "content"}
    assert encode("anthropic", decode(provider, [message])).messages[1]["content"] == [
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
    ]


def test_answers_of_openais_package() -> None:
    from openai.types.chat import ChatCompletion
    from openai.types.responses import ResponseFunctionToolCall, ResponseReasoningItem

    function = {"name": "read", "arguments": "{}"}
    call = {"id": "call_1", "type": "function", "function": function}
    chat = ChatCompletion.model_validate(
        {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {"role": "assistant", "content": None, "tool_calls": [call]},
                }
            ],
        }
    )
    assert unwrap(chat) == (
        "openai",
        [{"role": "assistant", "content": None, "tool_calls": [call]}],
    )
    items = [
        ResponseReasoningItem(type="reasoning", id="rs_1", summary=[]),
        ResponseFunctionToolCall(
            type="function_call", call_id="c", name="read", arguments="{}", id="fc_1"
        ),
    ]
    assert [detect(item) for item in items] == ["responses", "responses"]
    provider, output = unwrap({"object": "response", "output": items})
    assert provider == "responses"
    assert output[1]["call_id"] == "c"


class Weather(BaseModel):
    parsed: int


def test_what_openais_package_parsed_is_left_out_and_nothing_else() -> None:
    from openai.types.chat import ParsedChatCompletion
    from openai.types.responses import ParsedResponse

    said, asked = '{"parsed":1}', {"name": "f", "arguments": '{"parsed":1}'}
    call = {"id": "c", "type": "function", "function": asked}
    message: dict[str, Any] = {"role": "assistant", "content": said, "tool_calls": [call]}
    told = copy.deepcopy(message)
    told["parsed"] = Weather(parsed=1)
    told["tool_calls"][0]["function"]["parsed_arguments"] = {"parsed": 1}
    choice = {"index": 0, "finish_reason": "stop", "message": told}
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt"}
    chat = ParsedChatCompletion[Weather].model_validate({**head, "choices": [choice]})
    assert chat.choices[0].message.parsed == Weather(parsed=1)
    assert unwrap(chat) == ("openai", [message])
    assert unwrap(chat.choices[0].message) == ("openai", [message])

    text = {"type": "output_text", "text": said, "annotations": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    parsed = {**item, "content": [{**text, "parsed": Weather(parsed=1)}]}
    use = {"type": "function_call", "call_id": "c", **asked}
    answer = ParsedResponse[Weather].model_validate(
        {
            "id": "r",
            "object": "response",
            "created_at": 1,
            "model": "gpt",
            "tools": [],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "output": [parsed, {**use, "parsed_arguments": {"parsed": 1}}],
        }
    )
    assert answer.output_parsed == Weather(parsed=1)
    assert unwrap(answer) == ("responses", [{**item, "content": [text]}, use])


def test_answers_of_googles_package() -> None:
    from google.genai import types

    part = types.Part(
        function_call=types.FunctionCall(name="read", args={"p": 1}), thought_signature=b"\xff\xfe"
    )
    answer = types.GenerateContentResponse(
        candidates=[types.Candidate(content=types.Content(role="model", parts=[part]))]
    )
    provider, messages = unwrap(answer)
    assert provider == "gemini"
    (turn,) = decode("gemini", messages)
    assert isinstance(turn.parts[0], Call)
    again = types.Content.model_validate(messages[0])
    assert again.parts is not None
    assert again.parts[0].thought_signature == b"\xff\xfe"


def test_pictures_that_pydantic_wrote_have_the_letters_of_base64_that_others_take() -> None:
    from google.genai import types

    from rireki.providers import with_bytes

    picture = bytes(range(200, 256))
    shown = types.Content(
        role="user", parts=[types.Part.from_bytes(data=picture, mime_type="image/png")]
    )
    turns = decode("gemini", [shown])
    own = encode("gemini", turns).messages
    assert own == [plain(shown)], "its own form is left alone"
    assert types.Content.model_validate(own[0]) == shown
    standard = b64encode(picture).decode()
    for provider in PROVIDERS:
        if provider != "gemini":
            assert standard in str(encode(provider, turns).as_json().messages)
    sent = encode("bedrock", turns).messages
    assert with_bytes(sent) == sent, "bytes stay bytes"
    assert sent[0]["content"][0]["image"]["source"]["bytes"] == picture


def test_bytes_for_boto3_are_those_that_base64_says() -> None:
    from rireki.providers import with_bytes

    for told, meant in [
        ("--__", b64decode("++//")),
        ("aGVs\nbG8=\n", b"hello"),
        ("hello, world", b"hello, world"),
        ("日本", "日本".encode()),
    ]:
        assert with_bytes([{"bytes": told}]) == [{"bytes": meant}]


def test_answers_of_boto3_and_ollama() -> None:
    from ollama import ChatResponse

    answer = {"output": {"message": {"role": "assistant", "content": [{"text": "hi"}]}}}
    assert unwrap(answer) == ("bedrock", [answer["output"]["message"]])
    chat = ChatResponse.model_validate({"message": {"role": "assistant", "content": "hi"}})
    assert unwrap(chat) == ("ollama", [{"role": "assistant", "content": "hi"}])


def test_plain_json_is_not_copied() -> None:
    value = {"a": [1, {"b": None}]}
    assert plain(value) is value


def test_bytes_become_base64_and_go_back_for_boto3() -> None:
    from rireki.providers import with_bytes

    message = {
        "role": "user",
        "content": [{"image": {"format": "png", "source": {"bytes": b"\x89"}}}],
    }
    stored = plain([message])
    assert stored[0]["content"][0]["image"]["source"]["bytes"] == "iQ=="
    assert with_bytes(stored) == [message]
    call = [{"content": [{"toolUse": {"input": {"bytes": "iQ=="}}}]}]
    assert with_bytes(call) == call


def test_what_is_not_json_is_refused_by_name() -> None:
    with pytest.raises(RirekiError, match=r"builtins\.object"):
        plain({"role": "user", "content": [object()]})
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(RirekiError, match="deep"):
        plain(endless)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "message",
    [
        None,
        5,
        [],
        {},
        {"role": 7, "content": {"x": [1]}},
        {"role": "user", "content": [None, 3, {"type": 9}, {"type": "tool_result"}, "words"]},
        {"role": "user", "content": [{"type": "search_result"}, {"type": "image"}]},
        {"role": "assistant", "content": 1.5, "tool_calls": [None, {}, {"function": 3}]},
        {"role": "model", "parts": [None, {"functionCall": {}}, {"inlineData": 3}, {}]},
        {"role": "model", "parts": 3},
        {"role": "tool", "content": {"deep": []}, "images": [3, "x"]},
        {"type": "function_call", "call_id": 3, "arguments": ["x"]},
        {"type": "function_call_output", "output": [None, {"type": "input_image"}]},
        {
            "role": "user",
            "content": [{"toolResult": {"content": [3, {}]}}, {"image": {"source": 3}}],
        },
    ],
)
def test_hostile_messages_are_read_and_still_render(provider: str, message: Any) -> None:
    turns = decode(provider, [message])
    assert len(turns) == 1
    for target in PROVIDERS:
        turns = [Turn("user", [NeutralText("hi")]), *turns, Turn("user", [NeutralText("so?")])]
        assert complaints(target, encode(target, turns).messages) == []


def test_hostile_blocks_of_bedrocks_own_are_sent_as_they_came() -> None:
    odd: list[Any] = [{"toolResult": 3}, {"document": 3}, {"toolResult": {"type": "x"}}]
    raw = [{"role": "user", "content": [{**block, "more": {}} for block in odd]}]
    assert encode("bedrock", decode("bedrock", raw)).messages == raw


def test_an_unknown_provider_is_named() -> None:
    with pytest.raises(RirekiError, match="cohere") as caught:
        encode("cohere", [])
    assert "anthropic" in caught.value.hint


@pytest.mark.parametrize("provider", [None, "gemini", "bedrock"])
def test_a_single_text_of_gemini_or_bedrock_is_a_message(provider: Provider | None) -> None:
    from google.genai import types

    for given in ({"text": "hello"}, types.Part(text="hello"), [{"text": "hello"}]):
        history = MessageHistory()
        history.add_user_message("hi")
        history.add_raw_message(given, provider=provider)
        for target in PROVIDERS:
            request = history.render(target)
            assert "hello" in str(request.messages[1])
            assert request.messages[1]["role"] in ("assistant", "model")


def test_a_single_block_of_bedrock_is_a_message() -> None:
    use = {"toolUse": {"toolUseId": "t", "name": "ls", "input": {}}}
    told = {"toolResult": {"toolUseId": "t", "content": [{"text": "a b"}]}}
    history = MessageHistory()
    history.add_user_message("hi")
    history.add_raw_message(use)
    assert [call.name for call in history.pending_calls()] == ["ls"]
    history.add_raw_message(told)
    assert history.pending_calls() == []
    assert history.messages[1:] == [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [told]},
    ]
    assert history.render("bedrock").messages[1:] == history.messages[1:]


def test_results_keep_their_errors_and_pictures() -> None:
    from tests.providers.scripts import PNG

    script = [Exchange("a", "b", [Step([Use("read", {}, "x", failed=True, picture=True)])])]
    (told,) = [
        p for t in decode("bedrock", spell("bedrock", script)) for p in t.parts if type(p) is Result
    ]
    assert told.is_error
    assert [getattr(inner, "data", None) for inner in told.content] == [None, PNG]


def test_unknown_blocks_of_the_provider_itself_go_back_as_they_were() -> None:
    raw = [{"role": "user", "content": [{"type": "from_the_future", "x": 1}]}]
    turns = decode("anthropic", raw)
    assert isinstance(turns[0].parts[0], Opaque)
    assert encode("anthropic", turns).messages == raw


@pytest.mark.parametrize(
    "item",
    [
        {
            "type": "function_call_output",
            "call_id": "c",
            "output": [{"type": "input_text", "text": "x"}],
        },
        {"type": "shell_call_output", "call_id": "c", "output": []},
        {"type": "compaction", "encrypted_content": "x"},
        {"type": "item_reference", "id": "msg_1"},
    ],
)
def test_an_item_of_responses_is_no_whole_answer(item: dict[str, Any]) -> None:
    assert unwrap(item) == ("responses", [item])


def test_compaction_is_an_item_of_one_provider_and_a_block_of_another() -> None:
    assert is_item({"type": "compaction", "id": "cmp_1", "encrypted_content": "x"})
    assert not is_item({"type": "compaction", "content": "They said hello."})


def test_a_whole_answer_of_responses_may_lack_its_label() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    assert unwrap({"id": "resp_1", "output": [call]}) == ("responses", [call])
