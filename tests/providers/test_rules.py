"""Each rule of each provider, by name: what breaks it, and what the copy has instead."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rireki.providers import (
    INTERRUPTED,
    PROVIDERS,
    Call,
    Media,
    NeutralText,
    NeutralThinking,
    Note,
    Opaque,
    Request,
    Result,
    Turn,
    decode,
    encode,
    problems,
)
from rireki.providers.registry import provider_named
from rireki.providers.rules import BEDROCK_FORMATS
from tests.providers.rules_of import complaints
from tests.providers.scripts import PDF, PNG
from tests.providers.types_of import checker

LLAMA = "meta.llama3-1-70b-instruct-v1:0"
each = pytest.mark.parametrize("provider", PROVIDERS)


def render(provider: str, turns: list[Turn], model: str | None = None) -> tuple[Request, set[str]]:
    """A request that the provider takes, as its JSON, and the codes of what was noted."""
    report: list[Note] = []
    request = encode(provider, turns, model, report, nudge="go on")
    checker(provider)(request)
    request = request.as_json()
    assert complaints(provider, request.messages, model or "") == []
    return request, {note.code for note in report}


def user(*parts: Any) -> Turn:
    return Turn("user", [NeutralText(part) if isinstance(part, str) else part for part in parts])


def agent(*parts: Any) -> Turn:
    return Turn(
        "assistant", [NeutralText(part) if isinstance(part, str) else part for part in parts]
    )


def result(identity: str | None, text: str = "ok", **more: Any) -> Result:
    return Result(identity, content=[NeutralText(text)] if text else [], **more)


def read(identity: str | None = "c1", name: str = "read") -> Call:
    return Call(identity, name, {"path": "a"})


# Calls and results --------------------------------------------------------------------------


@each
def test_an_interrupted_call_gets_a_marked_result(provider: str) -> None:
    request, codes = render(provider, [user("go"), agent(read()), user("well?")])
    assert INTERRUPTED in json.dumps(request.messages)
    assert "call-interrupted" in codes


@each
def test_results_stand_directly_after_their_calls_whatever_came_between(provider: str) -> None:
    turns = [user("go"), agent(read()), user("wait"), agent("hm"), user(result("c1", "late"))]
    request, codes = render(provider, turns)
    assert INTERRUPTED not in json.dumps(request.messages)
    if provider != "responses":
        assert "result-moved" in codes


def test_results_come_together_and_first_for_anthropic() -> None:
    turns = [user("go"), agent(read("a"), read("b")), user(result("a")), user("hi", result("b"))]
    request, _ = render("anthropic", turns)
    kinds = [block["type"] for block in request.messages[2]["content"]]
    assert kinds == ["tool_result", "tool_result", "text"]


def test_results_of_the_contract_are_merged_and_lose_tool_name() -> None:
    """add_tool_result makes one user message per result, with a key that Anthropic rejects."""
    blocks: list[Any] = [
        {"type": "tool_use", "id": name, "name": "read", "input": {}} for name in ("a", "b")
    ]
    messages: list[Any] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": blocks},
    ]
    for name in ("a", "b"):
        told = {"type": "tool_result", "tool_use_id": name, "tool_name": "read", "content": "ok"}
        messages.append({"role": "user", "content": [told]})
    turns = decode("anthropic", messages)
    request, _ = render("anthropic", turns)
    assert len(request.messages) == 3
    assert "tool_name" not in json.dumps(request.messages)
    gemini, _ = render("gemini", turns)
    names = [part["functionResponse"]["name"] for part in gemini.messages[2]["parts"]]
    assert names == ["read", "read"]


def test_gemini_and_ollama_learn_the_name_of_a_tool_from_its_call() -> None:
    turns = [user("go"), agent(read("a", "look")), user(result("a"))]
    gemini, _ = render("gemini", turns)
    assert gemini.messages[2]["parts"][0]["functionResponse"]["name"] == "look"
    ollama, _ = render("ollama", turns)
    assert ollama.messages[2]["tool_name"] == "look"


def test_gemini_has_results_alone_in_one_content() -> None:
    turns = [user("go"), agent(read("a"), read("b")), user(result("b"), result("a"), "and more")]
    request, _ = render("gemini", turns)
    assert [len(content["parts"]) for content in request.messages] == [1, 2, 2, 1]


def test_llama_on_bedrock_has_nothing_beside_results() -> None:
    turns = [user("go"), agent(read("a")), user(result("a"), "and more")]
    request, _ = render("bedrock", turns, LLAMA)
    assert [message["role"] for message in request.messages[2:]] == ["user", "assistant", "user"]
    claude, _ = render("bedrock", turns, "anthropic.claude-sonnet-4")
    assert len(claude.messages) == 3


@each
def test_an_orphan_result_becomes_text(provider: str) -> None:
    request, codes = render(provider, [user("go"), user(result("gone", "forty-two")), user("so?")])
    assert "forty-two" in json.dumps(request.messages)
    assert "orphan-result" in codes


@each
def test_a_second_result_of_one_call_is_an_orphan(provider: str) -> None:
    turns = [user("go"), agent(read()), user(result("c1", "one")), user(result("c1", "two"))]
    _, codes = render(provider, turns)
    assert "orphan-result" in codes


@each
def test_parallel_calls_with_equal_arguments_stay_two(provider: str) -> None:
    turns = [user("go"), agent(read("a"), read("b")), user(result("a", "1"), result("b", "2"))]
    request, _ = render(provider, turns)
    calls = [p for t in decode(provider, request.messages) for p in t.parts if type(p) is Call]
    assert len(calls) == 2


def test_answers_to_calls_without_ids_pair_by_order_and_name() -> None:
    raw = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"function": {"name": name, "arguments": {}}} for name in ("read", "run", "read")
            ],
        },
        {"role": "tool", "tool_name": "read", "content": "first read"},
        {"role": "tool", "tool_name": "read", "content": "second read"},
        {"role": "tool", "tool_name": "run", "content": "ran"},
    ]
    request, _ = render("openai", decode("ollama", raw))
    told = {message["tool_call_id"]: message["content"] for message in request.messages[2:]}
    asked = [(c["function"]["name"], told[c["id"]]) for c in request.messages[1]["tool_calls"]]
    assert asked == [("read", "first read"), ("run", "ran"), ("read", "second read")]


def test_ollama_gets_results_in_the_order_of_the_calls() -> None:
    turns = [
        user("go"),
        agent(read("a"), read("b", "run")),
        user(result("b", "2"), result("a", "1")),
    ]
    request, _ = render("ollama", turns)
    assert [message["tool_name"] for message in request.messages[2:]] == ["read", "run"]


def test_ids_that_come_again_pair_with_the_nearest_call() -> None:
    turns = [
        user("go"),
        agent(read("functions.read:0")),
        user(result("functions.read:0", "first")),
        agent(read("functions.read:0")),
        user(result("functions.read:0", "second")),
    ]
    request, codes = render("anthropic", turns)
    told = [m["content"][0]["content"] for m in request.messages[2::2]]
    assert told == ["first", "second"]
    assert "id-changed" in codes


# Ids and names ------------------------------------------------------------------------------


@pytest.mark.parametrize("identity", [None, "", "call|fc", "functions.x:0", "x" * 391, "日本"])
@each
def test_ids_that_are_missing_too_long_or_wrong_are_made_anew(
    provider: str, identity: str | None
) -> None:
    turns = [user("go"), agent(Call(identity or None, "read", {})), user(result(identity or None))]
    request, _ = render(provider, turns)
    assert INTERRUPTED not in json.dumps(request.messages)


def test_made_ids_depend_on_the_place_alone() -> None:
    turns = [user("go"), agent(read("a.b"), read("a.b")), user(result("a.b"), result("a.b"))]
    once, _ = render("anthropic", turns)
    later, _ = render("anthropic", [*turns, agent("done"), user("more")])
    assert later.messages[:3] == once.messages
    ids = [block["id"] for block in once.messages[1]["content"]]
    assert ids == ["call_1_0", "call_1_1"]


def test_a_made_id_gives_way_to_none_that_is_there() -> None:
    turns = [
        user("go"),
        agent(read("call_3_0")),
        user(result("call_3_0")),
        agent(read("a.b")),
        user(result("a.b")),
    ]
    request, _ = render("anthropic", turns)
    assert request.messages[3]["content"][0]["id"] == "call_3_0_2"


@each
def test_names_have_the_characters_that_are_allowed(provider: str) -> None:
    turns = [user("go"), agent(read("a", "mcp/ファイル を読む")), user(result("a"))]
    _, codes = render(provider, turns)
    assert ("name-changed" in codes) == (provider != "ollama")


@pytest.mark.parametrize("name", ["7zip", "-x", ".a", "7" * 64, "7" * 200, ""])
@each
def test_names_begin_with_a_letter_where_they_must(provider: str, name: str) -> None:
    turns = [user("go"), agent(read("a", name)), user(result("a"))]
    request, codes = render(provider, turns)
    if provider == "gemini":
        call, told = (request.messages[place]["parts"][0] for place in (1, 2))
        assert call["functionCall"]["name"] == told["functionResponse"]["name"]
        assert "name-changed" in codes


def test_names_that_gemini_takes_stay() -> None:
    for name in ("a.b:c-d", "_x", "x" * 128):
        _, codes = render("gemini", [user("go"), agent(read("a", name)), user(result("a"))])
        assert "name-changed" not in codes


# Arguments ----------------------------------------------------------------------------------


@each
def test_half_written_arguments_are_kept_as_text(provider: str) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": '{"pa'}}
    raw = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "ok"},
    ]
    request, codes = render(provider, decode("openai", raw))
    assert "arguments-unfinished" in codes
    assert "unfinished" in json.dumps(request.messages)


@each
def test_arguments_are_text_here_and_an_object_there(provider: str) -> None:
    turns = [user("go"), agent(Call("a", "read", {"n": [1, "二"]})), user(result("a"))]
    request, _ = render(provider, turns)
    calls = [p for t in decode(provider, request.messages) for p in t.parts if type(p) is Call]
    assert calls[0].arguments == {"n": [1, "二"]}


# Texts --------------------------------------------------------------------------------------


@each
def test_empty_texts_are_left_out_where_they_are_rejected(provider: str) -> None:
    turns = [user("go"), agent("", "said"), user(" "), agent("\n"), user("on")]
    _, codes = render(provider, turns)
    assert ("empty-dropped" in codes) == (provider in ("anthropic", "gemini", "bedrock"))


@each
def test_an_empty_result_is_said_where_it_is_rejected(provider: str) -> None:
    turns = [user("go"), agent(read()), user(result("c1", "", is_error=True))]
    _, codes = render(provider, turns)
    assert ("empty-result" in codes) == (provider in ("anthropic", "bedrock"))


@each
def test_a_failed_call_is_told_where_there_is_no_mark_for_it(provider: str) -> None:
    turns = [user("go"), agent(read()), user(result("c1", "no such file", is_error=True))]
    request, codes = render(provider, turns)
    told = "Error: no such file" in json.dumps(request.messages)
    assert told == ("error-as-text" in codes) == (provider in ("openai", "responses", "ollama"))


@each
def test_half_a_surrogate_pair_does_not_break_the_request(provider: str) -> None:
    request, codes = render(provider, [user("a\ud83d")])
    assert "broken-characters" in codes
    json.dumps(request.messages, ensure_ascii=False).encode()


# Roles --------------------------------------------------------------------------------------


@each
def test_a_history_that_starts_with_the_assistant(provider: str) -> None:
    request, codes = render(provider, [agent("hello", read()), user(result("c1"))])
    assert ("starts-with-assistant" in codes) == (provider in ("anthropic", "gemini", "bedrock"))
    assert "hello" in json.dumps(request.messages)


@pytest.mark.parametrize("provider", ["gemini", "bedrock"])
def test_a_history_that_ends_with_the_assistant_waits_or_is_nudged(provider: str) -> None:
    turns = [user("go"), agent("done")]
    report: list[Note] = []
    assert len(encode(provider, turns, report=report).messages) == 2
    assert [note.code for note in report] == ["ends-with-assistant"]
    assert len(encode(provider, turns, nudge="go on").messages) == 3


def test_models_without_prefill_want_the_user_last() -> None:
    turns = [user("go"), agent("done")]
    assert problems("anthropic", turns, "claude-sonnet-4-5") == []
    (problem,) = problems("anthropic", turns, "claude-opus-4-6")
    assert (problem.code, problem.place) == ("ends-with-assistant", 1)
    assert "next message" in problem.remedy


def test_a_prefill_has_no_space_at_its_end() -> None:
    request, codes = render("anthropic", [user("go"), agent("so \n")])
    assert request.messages[-1]["content"] == "so"
    assert "trailing-space" in codes


def test_neighbours_of_one_role_are_put_together_for_bedrock() -> None:
    raw: list[Any] = [
        {"role": "user", "content": [{"text": "one"}]},
        {"role": "user", "content": [{"text": "two"}, {"cachePoint": {"type": "default"}}]},
    ]
    request, codes = render("bedrock", decode("bedrock", raw))
    assert codes == {"same-role"}
    assert request.messages == [
        {"role": "user", "content": [*raw[0]["content"], *raw[1]["content"]]}
    ]


def test_system_prompts_go_where_they_belong() -> None:
    turns = [Turn("system", [NeutralText("be brief")]), user("hi")]
    assert render("anthropic", turns)[0].system == "be brief"
    assert render("gemini", turns)[0].system == {"parts": [{"text": "be brief"}]}
    assert render("bedrock", turns)[0].system == [{"text": "be brief"}]
    for provider in ("openai", "responses", "ollama"):
        assert render(provider, turns)[0].messages[0]["role"] == "system"


@pytest.mark.parametrize(
    ("provider", "system"),
    [
        ("anthropic", "be brief"),
        ("anthropic", [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]),
        ("gemini", {"role": "user", "parts": [{"text": "be brief"}]}),
        ("bedrock", [{"text": "be brief"}, {"cachePoint": {"type": "default"}}]),
        ("responses", "be brief"),
    ],
)
def test_a_system_prompt_comes_back_as_it_was(provider: str, system: Any) -> None:
    raw: list[Any] = [{"role": "user", "content": "hi"}]
    if provider == "gemini":
        raw = [{"role": "user", "parts": [{"text": "hi"}]}]
    if provider == "bedrock":
        raw = [{"role": "user", "content": [{"text": "hi"}]}]
    turns = decode(provider, raw, system)
    assert render(provider, turns)[0] == provider_named(provider).request(raw, system)
    for other in PROVIDERS:
        assert "brief" in str(render(other, turns)[0]) or "x" in str(render(other, turns)[0])


@each
def test_system_words_in_the_middle_keep_their_place(provider: str) -> None:
    turns = [
        user("go"),
        agent(read()),
        Turn("system", [NeutralText("now in plan mode")]),
        user(result("c1")),
    ]
    request, codes = render(provider, turns)
    assert ("system-among-messages" in codes) == (provider in ("anthropic", "gemini", "bedrock"))
    assert "now in plan mode" in json.dumps(request.messages)


@pytest.mark.parametrize("source", [None, "anthropic", "bedrock"])
@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
def test_system_words_in_the_middle_are_marked_whoever_wrote_them(
    provider: str, source: str | None
) -> None:
    """Only some models take the role among the messages, and only in some places."""
    said = [{"text": "now in plan mode"}] if source == "bedrock" else "now in plan mode"
    system = decode(source, [{"role": "system", "content": said}])
    request, codes = render(provider, [user("go"), agent("hm"), *system, user("well?")])
    assert codes == {"system-among-messages"}
    told = str(request.messages[2])
    assert "<system>" in told and "now in plan mode" in told and "'role': 'user'" in told


# Thinking -----------------------------------------------------------------------------------


@each
def test_foreign_thinking_becomes_tagged_text_is_dropped_or_stays(provider: str) -> None:
    turns = [
        user("go"),
        agent(NeutralThinking("why not", signature="s", provider="elsewhere"), "yes"),
    ]
    request, codes = render(provider, turns)
    told = json.dumps(request.messages)
    tagged = provider not in ("anthropic", "ollama")
    assert ("<thinking>" in told) == ("thinking-as-text" in codes) == tagged
    assert ("why not" not in told) == ("thinking-dropped" in codes) == (provider == "anthropic")
    assert '"s"' not in told


@each
def test_redacted_and_encrypted_thinking_of_others_is_dropped_and_reported(provider: str) -> None:
    turns = [
        user("go"),
        agent(NeutralThinking("", redacted="c2VjcmV0", provider="elsewhere"), "yes"),
    ]
    request, codes = render(provider, turns)
    assert "c2VjcmV0" not in json.dumps(request.messages)
    assert "thinking-dropped" in codes


@pytest.mark.parametrize(("provider", "model"), [("anthropic", ""), ("bedrock", "claude-3")])
def test_own_thinking_that_was_cut_off_has_no_signature_and_is_dropped(
    provider: str, model: str
) -> None:
    blocks: dict[str, list[Any]] = {
        "anthropic": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}],
        "bedrock": [{"reasoningContent": {"reasoningText": {"text": "hm"}}}, {"text": "yes"}],
    }
    first = {"anthropic": "go", "bedrock": [{"text": "go"}]}[provider]
    raw = [{"role": "user", "content": first}, {"role": "assistant", "content": blocks[provider]}]
    request, codes = render(provider, decode(provider, raw), model)
    assert "hm" not in json.dumps(request.messages)
    assert "thinking-dropped" in codes


@pytest.mark.parametrize(("provider", "model"), [("anthropic", ""), ("bedrock", "claude-3")])
def test_claudes_last_word_is_not_a_thought(provider: str, model: str) -> None:
    thought = NeutralThinking("hm", "s", None, provider)
    hidden = NeutralThinking("", None, "c2VjcmV0", provider)

    def said(*parts: Any) -> Turn:
        return Turn(
            "assistant", [NeutralText(p) if isinstance(p, str) else p for p in parts], provider
        )

    turns = [user("go"), said("so", thought, thought), user("on"), said(thought), user("?")]
    request, codes = render(provider, turns, model)
    assert "hm" not in json.dumps(request.messages) and "so" in json.dumps(request.messages)
    assert codes - {"same-role"} == {"thinking-dropped"}
    assert [p.place for p in problems(provider, turns, model) if "thinking" in p.code] == [1, 3]
    _, codes = render(provider, [user("go"), said("so", hidden), user("on")], model)
    assert codes == {"thinking-dropped"}
    kept = [user("go"), said(thought), said("yes"), user("on"), said(thought, read())]
    assert "hm" in json.dumps(render(provider, kept, model)[0].messages[1])
    assert "thinking-dropped" not in render(provider, kept, model)[1]


@pytest.mark.parametrize("content", [None, []])
def test_an_answer_of_openai_chat_has_content_or_calls(content: Any) -> None:
    """Servers that tell what was thought may have been cut off before a word was said."""
    go, well = {"role": "user", "content": "go"}, {"role": "user", "content": "well?"}
    said = {"role": "assistant", "content": content, "reasoning_content": "hm"}
    for answer in (said, {**said, "tool_calls": []}, {**said, "refusal": None}):
        request, _ = render("openai", decode("openai", [go, answer, well]))
        kept = {"role": "assistant", "content": "", "reasoning_content": "hm"}
        assert request.messages == [go, kept, well]
    spoken = {"role": "assistant", "content": "so", "tool_calls": []}
    request, _ = render("openai", decode("openai", [go, spoken, well]))
    assert request.messages[1] == {"role": "assistant", "content": "so"}
    refused = {"role": "assistant", "content": None, "refusal": "no"}
    turns = decode("openai", [go, refused, well])
    assert encode("openai", turns).messages == [go, refused, well]


@each
def test_own_thinking_that_was_written_by_hand_is_sent_in_some_form(provider: str) -> None:
    """Responses takes back only items that the server itself has named."""
    said = Turn(
        "assistant", [NeutralThinking("hm", "s", None, provider), NeutralText("yes")], provider
    )
    request, codes = render(provider, [user("go"), said])
    assert "hm" in json.dumps(request.messages)
    assert ("thinking-as-text" in codes) == (provider == "responses")


def test_the_first_unsigned_call_of_a_step_gets_the_signature_for_nobody() -> None:
    turns = [user("go"), agent(read("a"), read("b")), user(result("a"), result("b"))]
    request, codes = render("gemini", turns, "gemini-3-pro")
    signatures = [part.get("thoughtSignature") for part in request.messages[1]["parts"]]
    assert signatures == ["skip_thought_signature_validator", None]
    assert "signed-by-nobody" in codes


def test_geminis_own_unsigned_calls_are_signed_only_for_models_that_ask() -> None:
    raw = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "read", "response": {"output": "x"}}}],
        },
    ]
    turns = decode("gemini", raw)
    assert render("gemini", turns)[0].messages == raw
    assert (
        "thoughtSignature" in render("gemini", turns, "gemini-3-flash")[0].messages[1]["parts"][0]
    )


def test_reasoning_items_without_what_they_led_to_are_dropped() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    raw = [{"role": "user", "content": "go"}, reasoning, {"role": "user", "content": "well?"}]
    request, codes = render("responses", decode("responses", raw))
    assert request.messages == [raw[0], raw[2]]
    assert codes == {"thinking-leads-nowhere"}


def test_item_ids_without_their_kinds_prefix_are_left_out() -> None:
    call = {
        "type": "function_call",
        "id": "__fake_id__",
        "call_id": "c",
        "name": "f",
        "arguments": "{}",
    }
    raw = [
        {"role": "user", "content": "go"},
        call,
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
    ]
    request, _ = render("responses", decode("responses", raw))
    assert "__fake_id__" not in json.dumps(request.messages)


# Pictures, files, other providers' own tools ------------------------------------------------


@each
def test_a_picture_in_a_result_is_shown_after_it_where_it_cannot_be_inside(provider: str) -> None:
    picture = Media("image", "image/png", PNG)
    told = Result("c1", "read", [NeutralText("see"), picture])
    request, codes = render(provider, [user("go"), agent(read()), user(told)])
    assert PNG in json.dumps(request.messages)
    assert ("media-moved" in codes) == (provider in ("openai", "gemini", "ollama"))


def test_llama_on_bedrock_sees_a_tools_picture_in_a_turn_of_its_own() -> None:
    told = Result("c1", "read", [Media("image", "image/png", PNG)])
    request, codes = render("bedrock", [user("go"), agent(read()), user(told)], LLAMA)
    assert "image" in request.messages[-1]["content"][-1]
    assert "media-moved" in codes


@each
def test_files_are_sent_or_told(provider: str) -> None:
    media = [
        Media("document", "application/pdf", PDF, name="paper.pdf"),
        Media("document", "text/x-python", "cHJpbnQoMSk=", name="a.py"),
        Media("document", "application/zip", "UEsDBA==", name="a.zip"),
        Media("audio", "audio/mpeg", "SUQz"),
        Media("image", "image/png", url="https://example.org/a.png"),
    ]
    request, codes = render(provider, [user(*media)])
    told = json.dumps(request.messages)
    assert (PDF in told) == (provider != "ollama")
    assert "print(1)" in told or "cHJpbnQoMSk=" in told
    assert "a.zip" in told or "UEsDBA==" in told
    assert "example.org" in told
    assert ("media-as-text" in codes) == (provider != "gemini")


BEDROCK_MEDIA = [
    ("image/png", "png"),
    ("image/jpg", "jpeg"),
    ("image/svg+xml", None),
    ("video/quicktime", "mov"),
    ("video/3gpp", "three_gp"),
    ("video/x-msvideo", None),
    ("audio/mpeg", "mp3"),
    ("audio/ogg; codecs=opus", "ogg"),
    ("audio/aiff", None),
    ("application/pdf", "pdf"),
    ("application/zip", None),
]


@pytest.mark.parametrize(("media_type", "form"), BEDROCK_MEDIA)
def test_bedrock_is_told_formats_that_it_knows(media_type: str, form: str | None) -> None:
    blob = {"inlineData": {"mimeType": media_type, "data": "AAAA"}}
    turns = decode("gemini", [{"role": "user", "parts": [{"text": "see"}, blob]}])
    request, codes = render("bedrock", turns)
    (media,) = request.messages[0]["content"][1].values()
    if form is None:
        assert "not carried over" in media and "media-as-text" in codes
        return
    assert media["format"] == form and not codes
    again = decode("bedrock", request.messages)
    assert render("bedrock", [Turn(turn.role, turn.parts) for turn in again])[0] == request


def test_formats_of_bedrock_are_those_of_its_service_model() -> None:
    from botocore.loaders import Loader  # type: ignore[import-untyped]
    from botocore.model import ServiceModel  # type: ignore[import-untyped]

    service = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"))
    for kind, formats in BEDROCK_FORMATS.items():
        known = service.shape_for(f"{kind.title()}Format").enum
        assert set(formats.values()) <= set(known)
        for form in known:
            block = {kind: {"format": form, "name": "x", "source": {"bytes": "AAAA"}}}
            (turn,) = decode("bedrock", [{"role": "user", "content": [block]}])
            assert isinstance(turn.parts[0], Media) and turn.parts[0].kind == kind


def test_documents_in_a_message_for_bedrock_have_names_of_their_own_and_a_text() -> None:
    paper = Media("document", "application/pdf", PDF)
    named = Media("document", "application/pdf", PDF, name="document (2)")
    request, _ = render("bedrock", [user("see", paper, named, paper)])
    called = [block["document"]["name"] for block in request.messages[0]["content"][1:]]
    assert called == ["document", "document (2)", "document (3)"]
    told = Result("c1", "read", [paper, paper])
    request, _ = render("bedrock", [user("go"), agent(read()), user(told, paper)])
    assert "document (3)" in json.dumps(request.messages[2])


def test_bedrocks_own_documents_are_changed_only_where_they_would_be_rejected() -> None:
    form = {"format": "pdf", "source": {"bytes": PDF}}
    one, two = {"document": {"name": "a", **form}}, {"document": {"name": "b", **form}}
    fine = [{"role": "user", "content": [one, {"text": "see"}, two]}]
    assert render("bedrock", decode("bedrock", fine))[0].messages == fine
    bare = [{"role": "user", "content": [one, one]}]
    request, _ = render("bedrock", decode("bedrock", bare))
    again = {"document": {"name": "a (2)", **form}}
    assert request.messages[0]["content"] == [one, again, {"text": "(document)"}]
    assert bare[0]["content"] == [one, one], "what was stored stays as it is"


@pytest.mark.parametrize(
    ("media_type", "form"),
    [("audio/wav", "wav"), ("audio/mp3", "mp3"), ("audio/ogg", None), ("audio/aac", None)],
)
def test_openai_chat_hears_nothing_but_wav_and_mp3(media_type: str, form: str | None) -> None:
    request, codes = render("openai", [user(Media("audio", media_type, "SUQz"), "hear")])
    block = request.messages[0]["content"][0]
    if form is None:
        assert block["text"] == f"[audio {media_type}: not carried over]"
        assert codes == {"media-as-text"}
    else:
        assert block["input_audio"]["format"] == form and not codes


def test_a_sound_of_openais_is_called_what_it_is() -> None:
    sound = {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "flac"}}
    turns = decode("openai", [{"role": "user", "content": [sound]}])
    request, _ = render("gemini", turns)
    assert request.messages[0]["parts"][0]["inlineData"]["mimeType"] == "audio/flac"


@pytest.mark.parametrize("provider", ["anthropic", "openai", "responses", "bedrock"])
@pytest.mark.parametrize("media_type", ["image/svg+xml", "image/heic", "image/tiff"])
def test_pictures_of_a_type_that_is_not_taken_are_told(provider: str, media_type: str) -> None:
    picture = Media("image", media_type, "AAAA")
    request, codes = render(provider, [user(picture, "see")])
    assert "AAAA" not in json.dumps(request.messages)
    assert codes == {"media-as-text"}
    jpeg, codes = render(provider, [user(Media("image", "image/jpg", "AAAA"), "see")])
    assert "AAAA" in json.dumps(jpeg.messages) and "image/jpg" not in json.dumps(jpeg.messages)
    assert codes == set()


def test_pictures_in_anthropics_form_are_held_to_its_types() -> None:
    """It is also the form of histories that were never sent to Anthropic."""

    def shown(media_type: str) -> tuple[Request, set[str]]:
        source = {"type": "base64", "media_type": media_type, "data": "AAAA"}
        blocks = [{"type": "text", "text": "see"}, {"type": "image", "source": source}]
        return render("anthropic", decode(None, [{"role": "user", "content": blocks}]))

    request, codes = shown("image/svg+xml")
    assert "AAAA" not in json.dumps(request.messages) and codes == {"media-as-text"}
    request, codes = shown("image/jpg")
    assert request.messages[0]["content"][1]["source"]["media_type"] == "image/jpeg"
    assert codes == set()


@each
def test_pictures_of_the_assistant_are_told(provider: str) -> None:
    _, codes = render(provider, [user("draw"), agent(Media("image", "image/png", PNG)), user("ok")])
    assert ("media-as-text" in codes) == (provider != "gemini")


@each
def test_server_side_tools_of_another_provider_are_told_or_reported(provider: str) -> None:
    turns = [
        user("go"),
        agent(
            Opaque("elsewhere", {"type": "code", "code": "print(1)"}, "print(1)"),
            Opaque("elsewhere", {"type": "web_search_call"}),
            "done",
        ),
    ]
    request, codes = render(provider, turns)
    assert {"opaque-as-text", "opaque-dropped"} <= codes
    assert "print(1)" in json.dumps(request.messages)
    assert "web_search_call" not in json.dumps(request.messages)


def test_anthropics_own_tools_stay_for_anthropic() -> None:
    blocks = [
        {
            "type": "server_tool_use",
            "id": "srvtoolu_1",
            "name": "web_search",
            "input": {"query": "x"},
        },
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {"type": "text", "text": "found"},
    ]
    raw = [{"role": "user", "content": "find"}, {"role": "assistant", "content": blocks}]
    turns = decode("anthropic", raw)
    assert render("anthropic", turns)[0].messages == raw
    assert "opaque-dropped" in render("openai", turns)[1]


def test_what_only_one_provider_understands_is_named_in_the_report() -> None:
    block = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    report: list[Note] = []
    encode("openai", decode("anthropic", [{"role": "user", "content": [block]}]), report=report)
    assert [(note.code, note.place) for note in report] == [("not-carried", 0)]
    assert "cache_control" in report[0].message


@each
def test_calls_and_thoughts_in_the_users_name_are_told(provider: str) -> None:
    _, codes = render(provider, [user(read(), NeutralThinking("hm"), "go")])
    assert "call-misplaced" in codes


def test_problems_have_a_place_and_a_remedy_and_wait_for_people() -> None:
    turns = [user("go"), agent(read("q1", "ask_user")), user("never mind")]
    (problem,) = problems("anthropic", turns)
    assert (problem.code, problem.place) == ("call-interrupted", 1)
    assert "repair()" in problem.remedy
    assert problems("anthropic", turns, pending={"q1"}) == []
    both = [user("go"), agent(read("q1", "ask_user"), read("c2"))]
    assert len(problems("anthropic", both, pending={"q1"})) == 1


LOCAL_SHELL = {
    "type": "local_shell_call",
    "id": "lsh_1",
    "call_id": "c1",
    "status": "completed",
    "action": {"type": "exec", "command": ["ls"], "env": {}},
}
#: Calls of tools that Responses has its own items for, and what a program answers them with.
OWN_TOOLS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "select 1"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "seen"},
    ),
    (
        {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}},
        {
            "type": "shell_call_output",
            "call_id": "c1",
            "output": [
                {"stdout": "seen\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 2}}
            ],
        },
    ),
    (
        LOCAL_SHELL,
        {"type": "local_shell_call_output", "call_id": "c1", "id": "lso_1", "output": "seen"},
    ),
    (LOCAL_SHELL, {"type": "local_shell_call_output", "id": "c1", "output": "seen"}),
    (
        {
            "type": "apply_patch_call",
            "call_id": "c1",
            "status": "completed",
            "operation": {"type": "delete_file", "path": "a"},
        },
        {
            "type": "apply_patch_call_output",
            "call_id": "c1",
            "status": "completed",
            "output": "seen",
        },
    ),
]


@pytest.mark.parametrize(("call", "output"), OWN_TOOLS)
def test_a_call_of_responses_own_tools_is_answered_in_kind(
    call: dict[str, Any], output: dict[str, Any]
) -> None:
    go = {"role": "user", "content": "go"}
    turns = decode("responses", [go, call, output])
    assert render("responses", turns)[0].messages == [go, call, output], "its own goes back"
    for provider in PROVIDERS:
        told, codes = render(provider, [*turns, user("and?")])
        assert "seen" in json.dumps(told.messages) and not codes & {"opaque-dropped"}
    # Whoever answered did not know the kind; or nobody did, because the program was killed.
    for answers in ([user(result("c1", "well"))], []):
        told, _ = render("responses", [*turns[:2], *answers, user("and?")])
        assert [item.get("type") for item in told.messages[1:3]] == [call["type"], output["type"]]


def test_a_call_of_the_computer_without_its_screenshot_is_dropped_with_what_led_to_it() -> None:
    """Its output is a picture of the screen, and nobody has one."""
    go, well = {"role": "user", "content": "go"}, {"role": "user", "content": "well?"}
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    call = {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "c1",
        "status": "completed",
        "action": {"type": "screenshot"},
        "pending_safety_checks": [],
    }
    screen = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"}
    output = {"type": "computer_call_output", "call_id": "c1", "output": screen}
    whole = [go, thought, call, output, well]
    assert render("responses", decode("responses", whole)) == (
        provider_named("responses").request(whole),
        set(),
    )
    request, codes = render("responses", decode("responses", [go, thought, call, well]))
    assert request.messages == [go, well]
    assert codes == {"opaque-dropped", "thinking-leads-nowhere"}
    request, codes = render("responses", decode("responses", [go, output, well]))
    assert request.messages == [go, well]
    assert codes == {"opaque-dropped"}


@pytest.mark.parametrize("provider", [None, *PROVIDERS])
def test_a_message_that_nobody_knows_is_reported_and_not_lost_in_silence(
    provider: str | None,
) -> None:
    turns = decode(provider, [{"role": "user", "content": "go"}, {"foo": 1}])
    report: list[Note] = []
    encode("anthropic", turns, report=report)
    (note,) = report
    assert note.code in ("opaque-dropped", "not-carried") and note.place == 1
