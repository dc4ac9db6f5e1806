"""Real clients, driven once and recorded: what they wrote down and our journals are one conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.message import Message
from rireki.model.parts import Text, ToolCall, ToolResult
from rireki.sources.bridge.matching import before_mentions
from rireki.sources.kit.places import Places
from tests.support.recorded import RECORDED, lay_out_recorded


def text_of(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


@pytest.mark.parametrize(
    ("name", "added"),
    [
        ("gemini-0.61.0", " @/home/dev/proj/a%20file.txt @/home/dev/proj/b.txt"),
        ("copilot-1.0.102", "\\n[Resource link: file:///home/dev/proj/a%20file.txt]"),
    ],
)
def test_a_prompt_to_which_its_client_added_what_it_mentions_is_told_once(
    name: str, added: str, archive: Archive, tmp_path: Path
) -> None:
    home = tmp_path / "recorded"
    lay_out_recorded(name, home)
    for file in home.glob(".*/*/*/**/*.jsonl"):
        if "rireki" not in file.parts:
            text = file.read_text("utf-8")
            file.write_text(text.replace("touch-it please", f"touch-it please{added}"), "utf-8")
    import_history(archive, places=Places.at(home))
    (found,) = archive.conversations(Filter())
    messages = read_conversation(archive, archive.find(found.id)).messages()
    typed = [text_of(m) for m in messages if m.author == "person" and m.display == "bubble"]
    assert len(typed) == 4
    assert typed[1] == f"touch-it please{added}".replace("\\n", "\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("look", "look"),
        ("look @/a/b.txt\n", "look"),
        ("look @C:/a/b.txt", "look"),
        ("look @b.txt", "look @b.txt"),
        ("look\n[Resource link: file:///a]\n[Resource link: file:///b]", "look"),
        ("[Resource link: file:///a]\nlook [1]", "[Resource link: file:///a]\nlook [1]"),
        ("@/a", ""),
        ("", ""),
    ],
)
def test_what_a_client_adds_to_a_prompt_is_known(text: str, words: str) -> None:
    assert before_mentions(text) == words


@pytest.mark.parametrize("name", RECORDED)
def test_a_real_client_and_its_journals_are_one_conversation(
    name: str, archive: Archive, tmp_path: Path
) -> None:
    home = tmp_path / "recorded"
    lay_out_recorded(name, home)
    import_history(archive, places=Places.at(home))
    (found,) = archive.conversations(Filter(subagents=True))
    assert found.source.partition("-")[0] == name.partition("-")[0]
    assert found.project == "/home/dev/proj"
    for id in ("drive-1", "drive-2"):
        assert archive.find(f"bridge/{id}").conversation.id == found.id
    messages = list(read_conversation(archive, archive.find(found.id)).messages())
    assert len({message.id for message in messages}) == len(messages)

    people = [message for message in messages if message.author == "person"]
    assert [text_of(each) for each in people if each.display == "bubble"] == [
        "greet-me 日本語",
        "touch-it please",
        "refuse-it please",
        "greet-me again",
    ]
    chosen = [each.label for each in people if (each.label or "").startswith("You ")]
    assert [label.partition(":")[0] for label in chosen if label] == [
        "You allowed once",
        "You refused",
    ]
    said = "\n".join(text_of(each) for each in messages if each.author == "agent")
    assert said.count("Good morning to you, whoever you are.") == 2
    assert all(said.count(words) == 1 for words in ("I make it.", "It is made.", "I try it."))
    parts = [part for message in messages for part in message.parts]
    calls = [part.call_id for part in parts if isinstance(part, ToolCall)]
    results = [part.call_id for part in parts if isinstance(part, ToolResult)]
    assert len(calls) == 2 and calls == results
