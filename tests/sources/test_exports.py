"""Exports of ChatGPT, claude.ai and Open WebUI: lists of conversations, alone, in a folder or in a zip."""

from __future__ import annotations

import json
import sqlite3
import time
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive, Filter
from rireki.errors import NotFound
from rireki.intake.interpret import read_conversation
from rireki.intake.restore import restore
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation, Reading
from rireki.model.message import Message
from rireki.model.parts import Attachment, Text, Thinking, ToolCall, ToolResult
from rireki.sources.exports.tree import in_order
from rireki.sources.kit.places import Places
from tests.support.homes import FIXTURES

FILES = FIXTURES / "exports"
PLOT = "33333333-cccc-4ccc-8ccc-000000000001"
TRAIN = "5f0c4a52-0d5e-4f57-9d9b-000000000001"
WEATHER = "c0ffee00-0000-4000-8000-000000000001"


def take_in(archive: Archive, path: Path) -> dict[str, Conversation]:
    import_history(archive, paths=[path], places=Places.at(path.parent))
    return {one.native_id: one for one in archive.conversations(Filter(subagents=True))}


def reading(archive: Archive, id: str) -> Reading:
    return read_conversation(archive, archive.find(id))


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def prompts(said: list[Message]) -> list[str]:
    return [text_of(one) for one in said if one.author == "person" and one.display == "bubble"]


def answers(said: list[Message], abandoned: bool = False) -> list[str]:
    mine = [one for one in said if one.author == "agent" and one.abandoned == abandoned]
    return [text_of(one) for one in mine if text_of(one)]


def copied(name: str, to: Path) -> Path:
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes((FILES / name).read_bytes())
    return to


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def parts_of(said: list[Message], kind: type) -> list[Any]:
    return [part for one in said for part in one.parts if isinstance(part, kind)]


# ── ChatGPT ──


def test_a_chatgpt_conversation_says_what_was_typed_answered_and_called(
    archive: Archive, tmp_path: Path
) -> None:
    found = take_in(archive, copied("chatgpt.json", tmp_path / "conversations.json"))
    (checked,) = json.loads((FILES / "chatgpt.expected.json").read_text("utf-8"))["conversations"]
    assert list(found) == [checked["native_id"]]
    plot = found[PLOT]
    assert (plot.source, plot.title, plot.project) == ("chatgpt-export", checked["title"], None)
    assert sorted(plot.models) == checked["models"]
    said = reading(archive, PLOT).messages()
    assert prompts(said) == checked["prompts"]
    assert answers(said) == checked["agent_messages"]
    assert answers(said, abandoned=True) == checked["abandoned_agent_messages"]
    assert len(parts_of(said, Thinking)) == checked["thinking"]
    calls = [(part.name, part.call_id) for part in parts_of(said, ToolCall)]
    assert calls == [(one["name"], one["id"]) for one in checked["tool_calls"]]
    assert [(one.call_id, one.output) for one in parts_of(said, ToolResult)] == [("c1", "4")]
    assert plot.finished
    assert plot.turns == 2


def test_custom_instructions_are_folded_and_nobodys_words(archive: Archive, tmp_path: Path) -> None:
    take_in(archive, copied("chatgpt.json", tmp_path / "conversations.json"))
    (custom,) = [one for one in reading(archive, PLOT).messages() if "be terse" in text_of(one)]
    assert (custom.author, custom.display) == ("harness", "fold")


def test_a_zip_brings_the_pictures_that_conversations_name(
    archive: Archive, tmp_path: Path
) -> None:
    picture = b"\x89PNG\r\n\x1a\nred"
    members = {
        "conversations-000.json": (FILES / "chatgpt.json").read_bytes(),
        "user.json": b'{"email": "canary@example.com"}',
        "file-abc-dot.png": picture,
        "file-other.png": b"nobody's",
    }
    take_in(archive, zipped(tmp_path / "export.zip", members))
    found = reading(archive, PLOT)
    (shown,) = parts_of(found.messages(), Attachment)
    assert (shown.name, shown.media_type) == ("file-abc-dot.png", "image/png")
    assert found.attachment is not None
    assert found.attachment(shown.digest) == picture
    back = restore(archive, archive.find(PLOT), tmp_path / "back")
    whole = json.loads((FILES / "chatgpt.json").read_text("utf-8"))[0]
    assert sorted(path.suffix for path in back) == [".json", ".png"]
    for path in back:
        data = path.read_bytes()
        assert data == picture if path.suffix == ".png" else json.loads(data) == whole


def test_a_later_export_adds_and_what_was_deleted_meanwhile_stays(
    archive: Archive, tmp_path: Path
) -> None:
    first = copied("chatgpt.json", tmp_path / "may" / "conversations.json")
    take_in(archive, first)
    (later,) = json.loads(first.read_text("utf-8"))
    later["update_time"] += 60
    later["mapping"].pop("a3")
    node: dict[str, Any] = {"id": "a4", "parent": "u2", "children": [], "message": None}
    author: dict[str, Any] = {"role": "assistant", "name": None, "metadata": {}}
    content = {"content_type": "text", "parts": ["Another answer."]}
    node["message"] = {"id": "a4", "author": author, "content": content, "recipient": "all"}
    later["mapping"]["a4"] = node
    later["current_node"] = "a4"
    second = tmp_path / "june" / "conversations.json"
    second.parent.mkdir()
    second.write_text(json.dumps([later]), encoding="utf-8")
    assert list(take_in(archive, second)) == [PLOT]
    said = reading(archive, PLOT).messages()
    assert answers(said) == ["Here it is: 4.", "Another answer."]
    (gone,) = [one for one in said if text_of(one) == "赤い点です。"]
    assert (gone.upstream, gone.abandoned) == ("gone", True)


def test_the_same_export_again_adds_nothing(archive: Archive, tmp_path: Path) -> None:
    path = copied("chatgpt.json", tmp_path / "conversations.json")
    take_in(archive, path)
    before = archive.number()
    path.touch()
    take_in(archive, path)
    assert archive.strands("chatgpt-export", PLOT)[0].states[1:] == []
    assert archive.number() - before <= 1


def test_half_a_character_in_one_chat_costs_no_chat_and_no_byte(
    archive: Archive, tmp_path: Path
) -> None:
    path = copied("chatgpt.json", tmp_path / "conversations.json")
    (chat,) = json.loads(path.read_text("utf-8"))
    cut = {**chat, "id": "cut", "conversation_id": "cut", "title": "Smile \ud83d"}
    path.write_text(json.dumps([cut, chat], indent=1), encoding="utf-8")
    assert set(take_in(archive, path)) == {"cut", PLOT}
    (strand,) = archive.strands("chatgpt-export", "cut")
    assert strand.document() in path.read_bytes()
    assert (
        archive.find("chatgpt-export/cut").conversation.title == "Smile \N{REPLACEMENT CHARACTER}"
    )


def test_an_unknown_content_is_kept_and_shown_folded(archive: Archive, tmp_path: Path) -> None:
    path = copied("chatgpt.json", tmp_path / "conversations.json")
    chats = json.loads(path.read_text("utf-8"))
    chats[0]["mapping"]["a3"]["message"]["content"] = {"content_type": "hologram", "beam": "red"}
    path.write_text(json.dumps(chats), encoding="utf-8")
    take_in(archive, path)
    parts = [part for one in reading(archive, PLOT).messages() for part in one.parts]
    assert "hologram" in str(parts)


def test_a_branch_that_leads_in_a_circle_ends(archive: Archive) -> None:
    parents = {"a": "c", "b": "a", "c": "b", "d": None}
    assert sorted(node.id for node in in_order(parents, {}, "a")) == ["a", "b", "c", "d"]


def test_branches_that_were_left_come_before_the_one_that_went_on() -> None:
    parents = {"r": None, "one": "r", "two": "r", "three": "r", "end": "two"}
    nodes = list(in_order(parents, {}, "end"))
    assert [node.id for node in nodes] == ["r", "one", "three", "two", "end"]
    assert [node.id for node in nodes if node.abandoned] == ["one", "three"]


# ── claude.ai ──


def test_a_conversation_of_claude_ai_is_read_with_its_branches(
    archive: Archive, tmp_path: Path
) -> None:
    found = take_in(archive, copied("claude-ai.json", tmp_path / "conversations.json"))
    assert found[TRAIN].title == "Train times"
    said = reading(archive, TRAIN).messages()
    assert prompts(said) == ["When is the next train?", "ありがとう"]
    assert answers(said) == ["At 08:12, to Kyoto."]
    assert answers(said, abandoned=True) == ["At eight, I guess."]
    assert [part.text for part in parts_of(said, Thinking)] == ["The plan says it."]
    assert [part.call_id for part in parts_of(said, ToolCall)] == ["toolu_1"]
    assert [(one.call_id, one.output) for one in parts_of(said, ToolResult)] == [
        ("toolu_1", "08:01")
    ]
    assert [part.name for part in parts_of(said, Attachment)] == ["plan.txt", "station.png"]
    (attached,) = [one for one in said if text_of(one) == "08:12 Kyoto"]
    assert (attached.author, attached.display) == ("harness", "fold")
    assert not found[TRAIN].finished


def test_an_old_export_of_claude_ai_has_its_words_in_text(archive: Archive, tmp_path: Path) -> None:
    found = take_in(archive, copied("claude-ai.json", tmp_path / "conversations.json"))
    (old,) = [id for id in found if id != TRAIN]
    said = reading(archive, old).messages()
    assert (prompts(said), answers(said)) == (["An old export has only this"], ["So it has."])
    assert found[old].title == "An old export has only this"


# ── Open WebUI ──


def _check_weather(archive: Archive, found: dict[str, Conversation]) -> None:
    assert (found[WEATHER].title, found[WEATHER].models) == ("Weather", ["llama4"])
    said = reading(archive, WEATHER).messages()
    assert (prompts(said), answers(said)) == (["Will it rain?"], ["Yes, at noon."])
    assert answers(said, abandoned=True) == ["No."]
    assert [part.text for part in parts_of(said, Thinking)] == ["Ask the station."]
    (call,) = parts_of(said, ToolCall)
    assert (call.call_id, call.name, call.arguments) == ("call_1", "forecast", {"city": "Kyoto"})
    assert [part.output for part in parts_of(said, ToolResult)] == ["rain at noon"]
    assert [part.media_type for part in parts_of(said, Attachment)] == ["image/png"]
    usage = found[WEATHER].usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (40, 9)


def test_an_export_of_open_webui_is_read(archive: Archive, tmp_path: Path) -> None:
    found = take_in(archive, copied("open-webui.json", tmp_path / "chats.json"))
    _check_weather(archive, found)


def test_the_database_of_open_webui_is_read_and_nothing_else_of_it(
    archive: Archive, tmp_path: Path
) -> None:
    (chat,) = json.loads((FILES / "open-webui.json").read_text("utf-8"))
    path = tmp_path / "webui.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE TABLE chat (id, user_id, title, chat TEXT, created_at INTEGER, updated_at INTEGER)"
        )
        row = (chat["id"], "u", chat["title"], json.dumps(chat["chat"]), 1790000000, 1790000100)
        database.execute("INSERT INTO chat VALUES (?, ?, ?, ?, ?, ?)", row)
        database.execute("CREATE TABLE auth (id TEXT, password TEXT)")
        database.execute("INSERT INTO auth VALUES ('u', 'canary-password-hash')")
    _check_weather(archive, take_in(archive, path))
    kept = [one.document() for one in archive.strands("open-webui", WEATHER)]
    assert kept and b"canary" not in b"".join(kept)


# ── damage ──


@pytest.mark.parametrize("data", [b"[", b'[{"mapping": {', b"PK\x03\x04 torn", b"[1, null]"])
def test_what_is_no_export_is_refused_in_words(
    data: bytes, archive: Archive, tmp_path: Path
) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(data)
    try:
        take_in(archive, path)
    except NotFound:
        return
    assert list(archive.troubles("chatgpt-export"))


def test_a_zip_that_promises_gigabytes_is_refused(archive: Archive, tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "bomb.zip", {"conversations.json": b'[{"mapping": 1}' + b" " * (1 << 24)}
    )
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (0xFFFFFFF0).to_bytes(4, "little")
    path.write_bytes(data)
    take_in(archive, path)
    (trouble,) = [one for *_, one in archive.troubles("chatgpt-export")]
    assert "not a list of conversations" in trouble.message


def test_details_that_nobody_closes_cost_no_time(archive: Archive, tmp_path: Path) -> None:
    text = '<details type="reasoning">\nHm</details>Yes' + '<details type="reasoning">' * 20_000
    message: dict[str, Any] = {
        "id": "m",
        "parentId": None,
        "childrenIds": [],
        "role": "assistant",
        "content": text,
    }
    chat = {"history": {"messages": {"m": message}, "currentId": "m"}}
    path = tmp_path / "chats.json"
    path.write_text(json.dumps([{"id": "a", "title": "t", "chat": chat}]))
    started = time.process_time()
    import_history(archive, places=Places.at(tmp_path), paths=[path])
    said = read_conversation(archive, archive.find("open-webui/a")).messages()
    assert time.process_time() - started < 5
    assert [part.text for part in said[0].parts if isinstance(part, Thinking)] == ["Hm"]
