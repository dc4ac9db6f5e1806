"""The five methods that users of the old class know, dict for dict."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rireki import MessageHistory
from rireki.errors import RirekiError


@pytest.fixture(params=["memory", "disk"])
def history(request: pytest.FixtureRequest, place: Path) -> MessageHistory:
    return MessageHistory() if request.param == "memory" else MessageHistory.open(archive=place)


def test_a_user_message(history: MessageHistory) -> None:
    assert history.add_user_message("Hello") is None  # type: ignore[func-returns-value]
    assert history.messages == [{"role": "user", "content": "Hello"}]
    assert type(history.messages) is list


def test_a_raw_message_stays_as_given(history: MessageHistory) -> None:
    message = {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I will read it."},
            {"type": "tool_use", "id": "call_1", "name": "read_file", "input": {"path": "a.py"}},
        ],
    }
    history.add_raw_message(message)
    assert history.get_messages() == [message]


def test_a_tool_result_and_its_defaults(history: MessageHistory) -> None:
    history.add_tool_result("call_1", "print(1)", "read_file")
    history.add_tool_result("call_2", "done")
    block = {"type": "tool_result", "tool_use_id": "call_1", "tool_name": "read_file"}
    other = {"type": "tool_result", "tool_use_id": "call_2", "tool_name": "unknown"}
    assert history.get_messages() == [
        {"role": "user", "content": [{**block, "content": "print(1)"}]},
        {"role": "user", "content": [{**other, "content": "done"}]},
    ]


BLOCKS = [{"type": "text", "text": "three"}]


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        ({"a": "三"}, '{"a":"三"}'),
        (5, "5"),
        (True, "true"),
        ([1, 2], "[1,2]"),
        ([{"a": 1}], '[{"a":1}]'),
        (2**80, str(2**80)),
        (BLOCKS, BLOCKS),
        ("", ""),
    ],
)
def test_a_tool_result_that_is_no_text_is_told_as_json(
    history: MessageHistory, result: Any, kept: Any
) -> None:
    history.add_raw_message(
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": id, "name": "f", "input": {}} for id in ("a", "b", "c")
            ],
        }
    )
    history.add_tool_result("a", result, "f")
    history.add_tool_results([("b", result), {"tool_use_id": "c", "content": result}])
    told = [block["content"] for message in history.messages[1:] for block in message["content"]]
    assert told == [kept] * 3
    sent = [m["content"] for m in history.render("openai").messages if m["role"] == "tool"]
    assert sent == ["three" if kept is BLOCKS else kept] * 3


@pytest.mark.parametrize("wrong", [("a",), {"result": "x"}, "ab", 5, ("a", "b", "c", "d")])
def test_what_is_no_tool_result_is_refused(history: MessageHistory, wrong: Any) -> None:
    with pytest.raises(RirekiError, match="is no result of a tool") as caught:
        history.add_tool_results([("ok", "x"), wrong])
    assert "tool_use_id" in caught.value.hint
    assert history.messages == []


def test_keyword_names_are_those_of_the_contract(history: MessageHistory) -> None:
    history.add_user_message(content="a")
    history.add_raw_message(message={"role": "assistant", "content": "b"})
    history.add_tool_result(tool_use_id="c", result="d", tool_name="e")
    assert [message["role"] for message in history.messages] == ["user", "assistant", "user"]


def test_the_copy_shares_nothing(history: MessageHistory) -> None:
    history.add_raw_message({"role": "assistant", "content": [{"type": "text", "text": "kept"}]})
    copy = history.get_messages()
    copy[0]["content"][0]["text"] = "changed"
    copy.append({"role": "user", "content": "new"})
    assert history.get_messages() == [
        {"role": "assistant", "content": [{"type": "text", "text": "kept"}]}
    ]


def test_clear_empties_it_and_it_goes_on(history: MessageHistory) -> None:
    history.add_user_message("before")
    history.clear()
    assert history.messages == [] and history.get_messages() == []
    history.add_user_message("after")
    assert history.messages == [{"role": "user", "content": "after"}]


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


def test_objects_with_a_type_stay_objects_in_memory() -> None:
    history = MessageHistory()
    blocks = [TextBlock("hm"), ToolUse("call_1", "ls")]
    history.add_raw_message({"role": "assistant", "content": blocks})
    (message,) = history.get_messages()
    assert message["content"] == blocks and message["content"][0] is not blocks[0]
    (call,) = history.pending_calls()
    assert (call.id, call.name) == ("call_1", "ls")


def test_objects_with_a_type_are_json_on_disk(place: Path) -> None:
    with MessageHistory.open(archive=place) as history:
        blocks = [TextBlock("hm"), ToolUse("call_1", "ls", {"a": 1})]
        history.add_raw_message({"role": "assistant", "content": blocks})
        assert json.loads(json.dumps(history.messages)) == [
            {
                "role": "assistant",
                "content": [
                    {"text": "hm", "type": "text"},
                    {"id": "call_1", "name": "ls", "input": {"a": 1}, "type": "tool_use"},
                ],
            }
        ]


def test_a_program_may_change_the_list_itself_in_memory() -> None:
    history = MessageHistory()
    for number in range(4):
        history.add_user_message(str(number))
    here = history.checkpoint()
    history.messages.append({"role": "assistant", "content": "by hand"})
    history.messages.pop(0)
    history.add_user_message("4")
    said = [message["content"] for message in history.get_messages()]
    assert said == ["1", "2", "3", "by hand", "4"]
    history.messages = history.messages[-2:]
    assert [m["content"] for m in history.render("openai").messages] == ["by hand", "4"]
    history.branch(here)
    assert [message["content"] for message in history.messages] == ["0", "1", "2", "3"]


def by_render(history: MessageHistory) -> list[str]:
    return [message["content"] for message in history.render("ollama").messages]


def test_messages_may_be_replaced_inserted_and_removed_anywhere_in_memory() -> None:
    history = MessageHistory()
    for number in range(4):
        history.add_user_message(str(number))
    assert by_render(history) == ["0", "1", "2", "3"]
    here = history.checkpoint()
    history.messages[0] = {"role": "user", "content": "first"}
    assert by_render(history) == ["first", "1", "2", "3"]
    assert [turn[0]["content"] for turn in history.turns()] == ["first", "1", "2", "3"]
    assert len(history.search("first")) == 1
    history.messages[1], history.messages[2] = history.messages[2], history.messages[1]
    history.add_user_message("4")
    assert by_render(history) == ["first", "2", "1", "3", "4"]
    del history.messages[1]
    history.messages.insert(0, {"role": "system", "content": "Be brief."})
    assert by_render(history) == ["Be brief.", "first", "1", "3", "4"]
    history.trim(turns=1)
    assert by_render(history) == ["Be brief.", "4"]
    history.branch(here)
    assert by_render(history) == ["0", "1", "2", "3"]


def test_a_change_is_part_of_what_a_note_goes_back_to() -> None:
    history = MessageHistory()
    history.add_user_message("0")
    history.add_user_message("1")
    history.messages[0] = {"role": "user", "content": "first"}
    history.add_note("here", 1)
    (noted,) = history.notes("here")
    history.add_user_message("2")
    history.branch(noted.at)
    assert by_render(history) == ["first", "1"]


def test_a_message_may_be_changed_where_it_is_in_memory() -> None:
    history = MessageHistory()
    block: dict[str, Any] = {"type": "text", "text": "old"}
    history.add_raw_message({"role": "user", "content": [block]})
    history.add_user_message("last")
    assert by_render(history) == ["old", "last"]
    block["text"] = "new"
    history.messages[1]["role"] = "assistant"
    assert by_render(history) == ["new", "last"]
    assert [len(turn) for turn in history.turns()] == [2]
    block |= {"type": "tool_use", "id": "c", "name": "ls", "input": {}}
    history.messages[0]["role"] = "assistant"
    assert [call.name for call in history.pending_calls()] == ["ls"]


def test_a_fork_shares_nothing_after_a_change_of_the_list() -> None:
    history = MessageHistory()
    history.add_user_message("0")
    history.messages.append({"role": "user", "content": "1"})
    history.add_raw_message(
        {"output": [{"role": "assistant", "content": text} for text in ("2", "3")]},
        provider="responses",
    )
    del history.messages[2]
    other = history.fork()
    for message in other.messages:
        message["content"] += "!"
    assert by_render(other) == ["0!", "1!", "3!"]
    assert by_render(history) == ["0", "1", "3"]
    other.messages.pop()
    assert other.pop_message() == {"role": "user", "content": "1!"}


def test_on_disk_changing_the_messages_changes_nothing(place: Path) -> None:
    with MessageHistory.open(archive=place) as history:
        history.add_user_message("kept")
        history.messages[0]["content"] = "changed"
        history.messages.clear()
        assert by_render(history) == ["kept"]
        assert history.get_messages() == [{"role": "user", "content": "kept"}]


def test_the_loop_of_the_old_documentation_runs_unchanged() -> None:
    answers: Iterator[dict[str, Any]] = iter(
        [
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "call_9", "name": "add", "input": {"a": 1, "b": 2}}
                ],
            },
            {"role": "assistant", "content": [{"type": "text", "text": "It is 3."}]},
        ]
    )
    history = MessageHistory()
    history.add_user_message("What is 1 + 2?")
    for _ in range(10):
        seen = history.get_messages()
        answer = next(answers)
        history.add_raw_message(answer)
        uses = [block for block in answer["content"] if block["type"] == "tool_use"]
        if not uses:
            break
        for use in uses:
            total = use["input"]["a"] + use["input"]["b"]
            history.add_tool_result(use["id"], str(total), use["name"])
    assert len(seen) == 3 and len(history.messages) == 4
    assert history.messages[2]["content"][0]["content"] == "3"
    history.clear()
    assert history.get_messages() == []
