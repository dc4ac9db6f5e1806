"""Amp: threads as documents that are written whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive
from rireki.intake.interpret import read_conversation
from rireki.intake.restore import restore
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Attachment, Text, ToolCall, ToolResult
from rireki.sources.amp import READER
from rireki.sources.kit.places import Places
from tests.support.homes import lay_out

ID = "T-5f0c8a52-7d1e-4b61-9a3c-2f6f0d9b1c77"


@pytest.fixture
def thread(home: Path) -> Path:
    lay_out("amp-composed", home)
    return home / ".local" / "share" / "amp" / "threads" / f"{ID}.json"


def take_in(archive: Archive, thread: Path) -> tuple[Conversation, list[Message]]:
    import_history(archive, places=Places.at(thread.parents[4]))
    found = archive.find(f"amp/{ID}")
    return next(iter(archive.conversations())), read_conversation(archive, found).messages()


def rewrite(thread: Path, change: Callable[[list[Any]], None]) -> None:
    value = json.loads(thread.read_text("utf-8"))
    change(value["messages"])
    # As Amp writes it: what stays is the same byte for byte.
    text = json.dumps(value, ensure_ascii=False, indent=1)
    thread.write_text(text + "\n", encoding="utf-8")


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def parts_of(said: list[Message], kind: type) -> list[Any]:
    return [part for one in said for part in one.parts if isinstance(part, kind)]


def test_a_thread_says_who_typed_what_and_what_tools_gave_back(
    archive: Archive, thread: Path
) -> None:
    found, said = take_in(archive, thread)
    assert [(m.author, m.display, text_of(m)) for m in said] == [
        ("person", "bubble", "Rename clock.py to watch.py, please."),
        ("agent", "bubble", "I will move it."),
        ("tool", "fold", ""),
        ("agent", "bubble", "clock.py is now watch.py."),
        ("person", "fold", "git status"),
        ("person", "bubble", "ありがとう。テストも直して。"),
        ("agent", "bubble", ""),
        ("tool", "fold", ""),
    ]
    assert [(one.call_id, one.status, one.output) for one in parts_of(said, ToolResult)] == [
        ("toolu_01", "ok", "moved"),
        ("toolu_02", "error", "no such file"),
        ("message-4-0", "ok", "renamed: clock.py -> watch.py"),
        ("toolu_03", "cancelled", "stopped by the person"),
    ]
    assert [one.name for one in parts_of(said, ToolCall)] == ["Bash", "Read", "Bash", "Bash"]
    (picture,) = parts_of(said, Attachment)
    assert (picture.size, picture.name) == (8, "/home/aya/shot.png")
    assert (found.title, found.project) == ("Rename the clock module", "/home/aya/src/clock")
    assert (found.models, found.turns, found.finished) == (["claude-sonnet-4-5"], 2, False)
    usage = found.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (18, 95)
    assert (usage.cache_read_tokens, usage.cache_write_tokens) == (8900, 1000)
    assert READER.resume(found) == f"cd /home/aya/src/clock && amp threads continue {ID}"


def test_an_answer_that_was_seen_half_is_told_once_and_a_deleted_thread_stays(
    archive: Archive, thread: Path, tmp_path: Path
) -> None:
    whole = thread.read_bytes()

    def halve(messages: list[Any]) -> None:
        del messages[4:]
        messages[3]["content"][0]["text"] = "clock.py is"
        messages[3]["state"] = {"type": "streaming"}

    rewrite(thread, halve)
    found, said = take_in(archive, thread)
    assert (text_of(said[-1]), found.finished) == ("clock.py is", False)
    thread.write_bytes(whole)
    _, said = take_in(archive, thread)
    assert [text_of(m) for m in said].count("clock.py is now watch.py.") == 1
    assert "clock.py is" not in [text_of(m) for m in said]
    assert len(said) == 8
    assert not any(m.abandoned for m in said)
    thread.unlink()
    found, said = take_in(archive, thread)
    assert (found.upstream, len(said)) == ("gone", 8)
    (file,) = restore(archive, archive.find(f"amp/{ID}"), tmp_path / "back")
    assert file.read_bytes() == whole


def test_what_an_edited_prompt_took_away_is_an_abandoned_branch(
    archive: Archive, thread: Path
) -> None:
    take_in(archive, thread)

    def edit(messages: list[Any]) -> None:
        del messages[6:]
        messages[5]["content"][0]["text"] = "Leave the tests alone."

    rewrite(thread, edit)
    _, said = take_in(archive, thread)
    left = [text_of(m) for m in said if m.abandoned]
    assert left == ["ありがとう。テストも直して。", "", ""]
    assert [text_of(m) for m in said if not m.abandoned][-1] == "Leave the tests alone."


def test_the_tokens_of_two_threads_are_told_apart(archive: Archive, thread: Path) -> None:
    """Messages are numbered in each thread from nought."""
    other = ID.replace("5f0c", "6f0c")
    copy = thread.read_text("utf-8").replace(ID, other)
    thread.with_name(f"{other}.json").write_text(copy, encoding="utf-8")
    take_in(archive, thread)
    keys = [
        answer.key
        for id in (ID, other)
        for answer in read_conversation(archive, archive.find(f"amp/{id}")).answers
    ]
    assert len(set(keys)) == len(keys) == 4


def test_a_summary_is_a_divider_and_an_unknown_block_is_kept(
    archive: Archive, thread: Path
) -> None:
    def add(messages: list[Any]) -> None:
        summary = {"type": "summary", "summary": {"type": "message", "summary": "A file moved."}}
        messages.append({"role": "info", "messageId": 8, "content": [summary]})
        messages.append({"role": "user", "messageId": 9, "content": [{"type": "hologram"}]})
        running = {"type": "tool_result", "toolUseID": "t", "run": {"status": "in-progress"}}
        messages.append({"role": "user", "messageId": 10, "content": [running]})
        old = {"type": "tool_result", "tool_use_id": "t", "content": [{"text": "a"}]}
        messages.append({"role": "user", "messageId": 11, "content": [old]})

    rewrite(thread, add)
    _, said = take_in(archive, thread)
    divider, unknown, old = said[8:]
    assert (divider.display, text_of(divider)) == ("divider", "A file moved.")
    assert "hologram" in str(unknown.parts)
    assert old.parts == [ToolResult("t", "ok", "a")]


def test_no_secret_of_amp_is_in_the_archive(archive: Archive, thread: Path) -> None:
    canary = '{"apiKey@https://ampcode.com/": "sk-canary"}'
    for folder in (thread.parent, thread.parents[1]):
        (folder / "secrets.json").write_text(canary, encoding="utf-8")
    take_in(archive, thread)
    for group in archive.groups():
        for strand in archive.strands(group.family, group.conversation):
            assert b"sk-canary" not in strand.document()


def test_the_folder_may_lie_in_a_data_directory_of_its_own(thread: Path, tmp_path: Path) -> None:
    places = Places(tmp_path / "elsewhere", {"XDG_DATA_HOME": str(thread.parents[2])})
    assert [origin.place for origin in READER.discover(places).origins] == [str(thread)]
