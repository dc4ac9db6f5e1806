"""Session traces as the Hub's documentation tells them: a header line, then a message per line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive, Filter
from rireki.export.documents import Wish, document
from rireki.intake.sweep import import_history
from rireki.model.parts import Attachment, Part, Text, Thinking, ToolCall
from rireki.show.formats import FormatOptions, write
from rireki.show.transcript import Transcript
from rireki.sources.kit.places import Places
from tests.show.made import conversation, message, result
from tests.support.homes import NAMES, lay_out

KNOWN = {"role", "content", "reasoningContent", "toolCalls", "toolCallId", "timestamp", "model"}


def lines(text: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header and the messages, each of the form that is documented."""
    header, *rest = map(json.loads, text.rstrip("\n").split("\n"))
    assert header["type"] == "session" and header["harness"] and header["id"]
    messages = []
    for each in rest:
        assert set(each) == {"type", "message"} and each["type"] == "message"
        said = each["message"]
        assert set(said) <= KNOWN and isinstance(said["content"], str)
        assert said["role"] in ("user", "assistant", "system", "tool")
        assert ("toolCallId" in said) == (said["role"] == "tool")
        for called in said.get("toolCalls", ()):
            assert isinstance(json.loads(called["function"]["arguments"]), object)
        messages.append(said)
    return header, messages


@pytest.mark.parametrize("name", NAMES)
def test_every_fixture_has_the_documented_form(name: str, archive: Archive, home: Path) -> None:
    import_history(archive, places=Places.at(lay_out(name, home)))
    for each in archive.conversations(Filter(subagents=True)):
        text = "".join(document(archive, each.id, Wish("sts")).pieces())
        header, _ = lines(text)
        assert header["id"] == each.native_id


def test_results_are_messages_that_name_their_call() -> None:
    parts: list[Part] = [Thinking("hm"), Text("I look."), ToolCall("A", "Bash", {"command": "ls"})]
    at = "2026-11-15T18:01:00.000Z"
    story = Transcript(
        conversation(),
        [
            message("1", "person", "読んで", at=at),
            message("2", parts=parts, model="m-1"),
            result("3", "A", "a b"),
            message("4", text="left", abandoned=True),
            message("5", text="half", replaced_by="6"),
        ],
    )
    header, said = lines("".join(write("sts", story, FormatOptions())))
    assert header["harness"] == "toy" and header["name"] == "設定ファイルを読む"
    assert said == [
        {"role": "user", "content": "読んで", "timestamp": 1794765660000},
        {
            "role": "assistant",
            "content": "I look.",
            "reasoningContent": "hm",
            "toolCalls": [
                {"id": "A", "function": {"name": "Bash", "arguments": '{"command":"ls"}'}}
            ],
            "model": "m-1",
        },
        {"role": "tool", "toolCallId": "A", "content": "a b"},
    ]
    assert header["leftOut"] == {"messages of earlier versions": 2}


def test_what_has_no_place_is_counted_and_told() -> None:
    parts: list[Part] = [Text("look"), Attachment("image/png", "d", "white.png")]
    noted: list[str] = []
    story = Transcript(conversation(), [message("1", "person", parts=parts)])
    header, _ = lines("".join(write("sts", story, FormatOptions(note=noted.append))))
    assert header["leftOut"] == {"attachments": 1} and noted == ["sts: left out: attachments (1)"]
