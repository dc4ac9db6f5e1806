"""Archived conversations of real agents, for every provider."""

from __future__ import annotations

from pathlib import Path

import pytest

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model import parts
from rireki.model.message import Message
from rireki.providers import (
    PROVIDERS,
    Call,
    Media,
    NeutralText,
    Note,
    Result,
    Turn,
    encode,
    turns_of,
)
from rireki.sources.kit.places import Places
from tests.providers.rules_of import complaints
from tests.providers.types_of import checker
from tests.support.homes import NAMES, lay_out

MODELS = {"bedrock": ["", "meta.llama3-1-70b"], "gemini": ["", "gemini-3-pro"]}


@pytest.mark.parametrize("name", NAMES)
def test_every_archived_conversation_renders_for_every_provider(
    name: str, archive: Archive, home: Path
) -> None:
    lay_out(name, home)
    import_history(archive, places=Places.at(home))
    seen = 0
    for conversation in archive.conversations(Filter(subagents=True)):
        reading = read_conversation(archive, archive.find(conversation.id))
        turns = turns_of(reading.messages(), reading.attachment)
        seen += len(turns)
        for provider in PROVIDERS:
            for model in MODELS.get(provider, [""]):
                request = encode(provider, turns, model, nudge="go on")
                checker(provider)(request)
                assert complaints(provider, request.messages, model) == [], conversation.id
    assert seen


def said(author: str, display: str, *inner: parts.Part, **more: object) -> Message:
    return Message(id="m", author=author, display=display, parts=list(inner), **more)  # type: ignore[arg-type]


def test_people_agents_and_tools_become_users_and_assistants() -> None:
    messages = [
        said("person", "bubble", parts.Text("go")),
        said("agent", "bubble", parts.Text("ok"), parts.ToolCall("c", "Read", {"p": 1})),
        said("tool", "fold", parts.ToolResult("c", "error", "no such file"), label="Read"),
    ]
    assert turns_of(messages) == [
        Turn("user", [NeutralText("go")]),
        Turn("assistant", [NeutralText("ok"), Call("c", "Read", {"p": 1})]),
        Turn("user", [Result("c", None, [NeutralText("no such file")], is_error=True)]),
    ]


def test_words_of_the_program_that_the_model_saw_are_marked() -> None:
    messages = [
        said("harness", "chip", parts.Text("branch=main"), label="hook context"),
        said("harness", "divider", parts.Text("Summary: all well"), label="context compacted"),
        said("harness", "bubble", parts.Text("Read the readme."), label="task"),
    ]
    assert [part.text for turn in turns_of(messages) for part in turn.parts] == [  # type: ignore[union-attr]
        "[hook context]\nbranch=main",
        "[context compacted]\nSummary: all well",
        "Read the readme.",
    ]


def test_what_was_hidden_left_or_told_again_stays_out() -> None:
    text = parts.Text("x")
    messages = [
        said("harness", "hidden", text),
        said("person", "bubble", text, abandoned=True),
        said("person", "bubble", text, replaced_by="n"),
        said("harness", "chip", parts.Notice("connection refused"), parts.Unknown("what", {})),
    ]
    assert turns_of(messages) == []


def test_pictures_come_by_their_digest_and_belong_to_their_result() -> None:
    picture = parts.Attachment("image/png", "d1", "a.png")
    messages = [said("tool", "fold", parts.ToolResult("c", "ok", ""), picture)]
    (turn,) = turns_of(messages, {"d1": b"\x89"}.get)
    media = Media("image", "image/png", "iQ==", None, "a.png")
    assert turn.parts == [Result("c", None, [media])]
    report: list[Note] = []
    (turn,) = turns_of([said("person", "bubble", picture)], report=report)
    assert turn.parts == [NeutralText("[image a.png: not archived]")]
    assert [note.code for note in report] == ["media-as-text"]
