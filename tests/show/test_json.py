"""The JSON contract: every name it promises, and nothing that breaks a program."""

from __future__ import annotations

import json

from rireki.model.conversation import Conversation, Link, Trouble
from rireki.model.message import Message, Usage
from rireki.model.parts import Part, Text, ToolCall, ToolResult, Unknown
from rireki.show.json import line

CONVERSATION = """
    id source native_id project title started_at updated_at messages turns finished
    tool_calls tool_results calls_without_result results_without_call pattern upstream links
    troubles usage
"""
MESSAGE = "id author display label at model turn upstream replaced_by parts usage"


def test_a_conversation_has_the_contracts_names_first() -> None:
    conversation = Conversation(
        id="toy/1",
        source="toy",
        native_id="1",
        links=[Link("fork", "toy/2", "parent")],
        troubles=[Trouble("here", "broken")],
        usage=Usage(1, 2),
    )
    value = json.loads(line(conversation))
    names = CONVERSATION.split()
    assert list(value)[: len(names)] == names
    assert value["links"][0] == {"kind": "fork", "id": "toy/2", "is": "parent", "call_id": None}


def test_a_message_has_the_contracts_names_first() -> None:
    parts: list[Part] = [
        Text("hi"),
        ToolCall("c", "Bash", {"command": "ls"}),
        ToolResult("c"),
        Unknown("x", [1]),
    ]
    value = json.loads(line(Message(id="m", author="agent", display="bubble", parts=parts)))
    names = MESSAGE.split()
    assert list(value)[: len(names)] == names
    kinds = [part["kind"] for part in value["parts"]]
    assert kinds == ["text", "tool_call", "tool_result", "unknown"]


def test_half_a_surrogate_pair_is_escaped_not_fatal() -> None:
    assert line({"text": "\ud83d"}) == '{"text":"\\ud83d"}'
