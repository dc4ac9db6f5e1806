"""Trajectories as others read them: every one is checked with the types of PyPI's `atif`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from atif import Trajectory

from rireki.archive.base import Archive, Filter
from rireki.export.documents import Document, Wish, document
from rireki.intake.sweep import import_history
from rireki.model.conversation import Link
from rireki.model.message import Message, Usage
from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from rireki.show.atif import VERSION
from rireki.show.formats import FormatOptions, earlier, write
from rireki.show.transcript import Transcript
from rireki.sources.kit.places import Places
from tests.show.made import call, conversation, message, result
from tests.support.homes import FIXTURES, NAMES, lay_out

WHITE = bytes.fromhex("89504e470d0a1a0a")


def told(*messages: Message, options: FormatOptions = FormatOptions(), **facts: Any) -> Any:  # noqa: B008
    value = json.loads("".join(write("atif", Transcript(conversation(**facts), messages), options)))
    Trajectory.model_validate(value)
    return value


def documents(archive: Archive) -> Iterator[Document]:
    """Every conversation of an archive, with all that is hidden."""
    for each in archive.conversations(Filter(subagents=True)):
        yield document(archive, each.id, Wish("atif", everything=True))


def words_in(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(map(words_in, value.values()))
    if isinstance(value, list):
        return "\n".join(map(words_in, value))
    return value if isinstance(value, str) else ""


def words_of(message: Message) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, Text | Thinking | Notice):
            yield part.text
        elif isinstance(part, ToolResult):
            yield part.output


@pytest.mark.parametrize("name", NAMES)
def test_every_fixture_is_a_valid_trajectory_with_every_word_in_it(
    name: str, archive: Archive, home: Path
) -> None:
    import_history(archive, places=Places.at(lay_out(name, home)))
    for one in documents(archive):
        value = json.loads("".join(one.pieces()))
        trajectory = Trajectory.model_validate(value)
        about = one.transcript.conversation
        assert (trajectory.schema_version, trajectory.trajectory_id) == (VERSION, about.id)
        options = one.options._replace(name="x.atif.json")
        versions = [json.loads("".join(e.pieces)) for e in earlier("atif", one.transcript, options)]
        for version in versions:
            Trajectory.model_validate(version)
        told = words_in([value, *versions])
        for said in one.transcript.messages:
            for words in words_of(said):
                assert words in told


@pytest.mark.parametrize("name", ["chatgpt.json", "claude-ai.json", "open-webui.json"])
def test_downloaded_chats_are_valid_trajectories(
    name: str, archive: Archive, tmp_path: Path
) -> None:
    file = tmp_path / ("conversations.json" if name != "open-webui.json" else name)
    file.write_bytes((FIXTURES / "exports" / name).read_bytes())
    import_history(archive, paths=[file], places=Places.at(tmp_path))
    found = [Trajectory.model_validate_json("".join(one.pieces())) for one in documents(archive)]
    assert found and all(one.steps for one in found)


def test_a_call_has_its_result_in_its_own_step() -> None:
    asked = message("1", "person", "読んで", at="2026-11-15T18:01:00.000Z", turn=1)
    usage = Usage(5, 7, cache_read_tokens=100, cache_write_tokens=20)
    parts: list[Part] = [Thinking("hm"), Text("I look."), ToolCall("A", "Bash", {"command": "ls"})]
    called = message("2", parts=parts, model="m-1", usage=usage)
    value = told(asked, called, result("3", "A", "a b", status="error"), models=["m-1"])
    first, second = value["steps"]
    assert (first["source"], first["message"], first["timestamp"]) == ("user", "読んで", asked.at)
    assert (second["message"], second["reasoning_content"]) == ("I look.", "hm")
    assert second["tool_calls"] == [
        {"tool_call_id": "A", "function_name": "Bash", "arguments": {"command": "ls"}}
    ]
    (observed,) = second["observation"]["results"]
    assert (observed["source_call_id"], observed["content"]) == ("A", "a b")
    assert observed["extra"]["status"] == "error"
    assert second["metrics"] == {
        "prompt_tokens": 125,
        "completion_tokens": 7,
        "cached_tokens": 100,
        "extra": {"cache_write_tokens": 20},
    }
    assert value["agent"] == {"name": "toy", "version": "unknown", "model_name": "m-1"}


def test_a_result_without_a_call_is_an_observation_of_the_system_and_is_warned_of() -> None:
    noted: list[str] = []
    value = told(result("1", "nobody", "lost"), options=FormatOptions(note=noted.append))
    (step,) = value["steps"]
    assert step["source"] == "system" and step["observation"]["results"][0]["content"] == "lost"
    assert value["extra"]["conversion_warnings"] == [
        "message 1: no call has the id of the result nobody"
    ]
    assert noted == ["atif: message 1: no call has the id of the result nobody"]
    assert value["extra"]["completeness"]["tool_results_without_call"] == 1


def test_words_behind_a_call_stay_behind_it() -> None:
    parts: list[Part] = [Text("one"), ToolCall("A", "ls"), Text("two")]
    value = told(message("1", parts=parts), result("2", "A", "x"))
    assert [step["message"] for step in value["steps"]] == ["one", "two"]
    assert "observation" in value["steps"][0] and "tool_calls" not in value["steps"][1]


def test_only_the_agent_calls_so_what_others_ran_is_a_step_without_a_model() -> None:
    ran = message("1", "person", parts=[Text("look"), ToolCall("A", "Bash", "ls -l")])
    value = told(ran, result("2", "A", "x"))
    said, step = value["steps"]
    assert (said["source"], step["source"], step["llm_call_count"]) == ("user", "agent", 0)
    assert step["tool_calls"][0]["arguments"] == {"input": "ls -l"}
    assert "arguments" in value["extra"]["conversion_warnings"][0]


def test_pictures_stand_where_they_were_and_other_attachments_are_named() -> None:
    parts: list[Part] = [
        Text("look"),
        Attachment("image/png", "d", "white.png"),
        Attachment("application/pdf", "e", "paper.pdf"),
        Attachment("image/png", "gone", "lost.png"),
    ]
    bytes_of = {"d": WHITE, "e": b"%PDF"}
    options = FormatOptions(attachment_bytes=lambda part: bytes_of.get(part.digest))
    value = told(message("1", "person", parts=parts), options=options)
    content = value["steps"][0]["message"]
    assert [one["type"] for one in content] == ["text", "image", "text", "text"]
    assert content[1]["source"]["path"].startswith("data:image/png;base64,iVBO")
    assert content[2]["text"] == "[attachment: paper.pdf]"
    assert len(value["extra"]["conversion_warnings"]) == 2
    assert value["extra"]["completeness"]["attachments_named_only"] == 2


def test_a_picture_that_a_tool_gave_back_stands_in_its_observation() -> None:
    back = message("2", "tool", parts=[ToolResult("A", "ok", "seen"), Attachment("image/png", "d")])
    options = FormatOptions(attachment_bytes=lambda part: WHITE)
    value = told(call("1", "A", "shot"), back, options=options)
    (step,) = value["steps"]
    assert [one["type"] for one in step["observation"]["results"][0]["content"]] == [
        "text",
        "image",
    ]


def test_what_is_not_understood_and_what_the_program_said_is_kept() -> None:
    odd = message("1", parts=[Text("x"), Unknown("riddle", {"a": 1})])
    notice = message("2", "harness", display="chip", label="API error", parts=[Notice("429")])
    value = told(odd, notice)
    assert value["steps"][0]["extra"]["not_understood"][0]["raw"] == {"a": 1}
    assert value["steps"][1]["message"] == "429" and value["steps"][1]["source"] == "system"
    assert value["steps"][1]["extra"]["label"] == "API error"


def test_what_is_hidden_is_counted_unless_it_is_asked_for() -> None:
    hidden = message("1", "harness", "be brief", display="hidden")
    assert told(hidden)["extra"]["completeness"]["messages_left_out"] == 1
    assert told(hidden)["steps"] == []
    assert len(told(hidden, options=FormatOptions(everything=True))["steps"]) == 1


def test_what_a_fork_was_copied_from_its_parent_is_marked() -> None:
    shared = [message("1", "person", "hello"), message("2", text="hi")]
    options = FormatOptions(messages_of=lambda id: shared if id == "toy/parent" else [])
    links = [Link("fork", "toy/parent", "parent")]
    value = told(*shared, message("3", "person", "go on"), options=options, links=links)
    assert [step.get("is_copied_context") for step in value["steps"]] == [True, True, None]


def test_a_sub_agent_is_embedded_and_named_where_it_was_started() -> None:
    links = [Link("subagent", "toy/child", "child", "A")]
    child = Transcript(
        conversation(id="toy/child", native_id="child"), [message("c", text="looked")]
    )
    about = conversation(links=links)
    story = Transcript(about, [call("1", "A", "look"), result("2", "A", "done")], [child])
    trajectory = Trajectory.model_validate_json("".join(write("atif", story, FormatOptions())))
    assert trajectory.subagent_trajectories and trajectory.steps[0].observation
    (embedded,) = trajectory.subagent_trajectories
    (reference,) = trajectory.steps[0].observation.results[0].subagent_trajectory_ref or []
    assert embedded.trajectory_id == reference.trajectory_id == "toy/child"


def test_each_branch_that_was_left_is_a_trajectory_that_was_continued() -> None:
    story = Transcript(
        conversation(),
        [
            message("1", "person", "first"),
            message("2", "person", "left", abandoned=True),
            message("3", text="left too", abandoned=True),
            message("4~1", text="half", replaced_by="4"),
            message("4", text="whole"),
            message("5", "person", "left again", abandoned=True),
            message("6", "person", "last"),
        ],
    )
    options = FormatOptions(name="talk.atif.json")
    newest = json.loads("".join(write("atif", story, options)))
    assert [step["message"] for step in newest["steps"]] == ["first", "whole", "last"]
    assert "continued_trajectory_ref" not in newest
    assert newest["extra"]["completeness"]["messages_in_earlier_versions"] == 4
    found = {one.mark: json.loads("".join(one.pieces)) for one in earlier("atif", story, options)}
    for value in found.values():
        Trajectory.model_validate(value)
    assert [step["message"] for step in found["1"]["steps"]] == [
        "first",
        "left",
        "left too",
        "half",
    ]
    marks = [step.get("is_copied_context") for step in found["1"]["steps"]]
    assert marks == [True, None, None, None]
    assert found["1"]["continued_trajectory_ref"] == "talk.2.atif.json"
    assert found["2"]["continued_trajectory_ref"] == "talk.atif.json"
    assert found["2"]["trajectory_id"] == "toy/0001#2"
