"""Cursor: conversations as rows of a database that also holds tokens, and all that its editor does to them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_conversation
from rireki.intake.restore import restore
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import (
    Attachment,
    Notice,
    ResultStatus,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from rireki.sources.cursor import READER
from rireki.sources.kit.places import Places
from tests.support.homes import FIXTURES, lay_out

FIRST = "11111111-aaaa-4aaa-8aaa-000000000001"
HELPER = "11111111-aaaa-4aaa-8aaa-000000000003"
SCHEMA = """
CREATE TABLE IF NOT EXISTS ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE IF NOT EXISTS cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
"""


def take_in(archive: Archive, home: Path) -> dict[str, Conversation]:
    import_history(archive, places=Places.at(home))
    return {c.native_id: c for c in archive.conversations(Filter(subagents=True))}


def messages(archive: Archive, id: str = "c1") -> list[Message]:
    return read_conversation(archive, archive.find(f"cursor/{id}")).messages()


def text_of(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def prompts(said: list[Message], *, abandoned: bool = False) -> list[str]:
    typed = [m for m in said if m.author == "person" and m.display == "bubble"]
    return [text_of(m) for m in typed if m.abandoned is abandoned and not m.replaced_by]


def kept(archive: Archive) -> bytes:
    """Every byte that the archive has of anything."""
    found = []
    for group in archive.groups():
        for strand in archive.strands(group.family, group.conversation):
            found += [strand.document(state) for state in strand.states]
    return b"\n".join(found)


def user(home: Path) -> Path:
    return home / ".config" / "Cursor" / "User"


def save(home: Path, rows: dict[str, Any], table: str = "cursorDiskKV", at: str = "") -> Path:
    """Rows as the editor writes them: over those of the same key."""
    path = user(home) / (at or "globalStorage") / "state.vscdb"
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(SCHEMA)
        values = [(k, v if isinstance(v, bytes) else json.dumps(v)) for k, v in rows.items()]
        database.executemany(f"INSERT INTO {table} VALUES (?, ?)", values)
    return path


def composer(*headers: str, **more: Any) -> dict[str, Any]:
    named = [{"bubbleId": id, "type": 1} for id in headers]
    return {"composerData:c1": {"_v": 10, "fullConversationHeadersOnly": named} | more}


def bubble(id: str, kind: int, text: str = "", **more: Any) -> dict[str, Any]:
    return {f"bubbleId:c1:{id}": {"_v": 3, "type": kind, "bubbleId": id, "text": text} | more}


def test_everything_that_was_typed_answered_and_called_is_there(
    archive: Archive, home: Path
) -> None:
    lay_out("cursor-composed-3.x", home)
    found = take_in(archive, home)
    checked = FIXTURES / "cursor" / "composed-3.x" / "hand-checked.json"
    expected = json.loads(checked.read_text("utf-8"))["conversations"]
    assert found.keys() == {one["native_id"] for one in expected}
    for one in expected:
        said = messages(archive, one["native_id"])
        parts = [part for message in said for part in message.parts]
        assert prompts(said) == one["prompts"]
        assert prompts(said, abandoned=True) == one.get("abandoned_prompts", [])
        tasks = [text_of(m) for m in said if m.author == "harness" and m.display == "bubble"]
        assert tasks == one.get("prompts_from_parent_agent", [])
        spoken = [text_of(m) for m in said if m.author == "agent" and text_of(m)]
        assert spoken == one["agent_messages"]
        calls = [(part.call_id, part.name) for part in parts if isinstance(part, ToolCall)]
        assert calls == [(call["id"], call["name"]) for call in one["tool_calls"]]
        results = {part.call_id for part in parts if isinstance(part, ToolResult)}
        assert results == {call["id"] for call in one["tool_calls"] if call["has_result"]}
        assert len([p for p in parts if isinstance(p, Thinking)]) == one.get("thinking", 0)
        assert found[one["native_id"]].models == one.get("models", [])
        if "project" in one:
            assert found[one["native_id"]].project == one["project"]
            assert found[one["native_id"]].title == one["title"]
    used = found[FIRST].usage
    assert used is not None
    assert (used.input_tokens, used.output_tokens, used.lower_bound) == (1200, 40, True)


def test_a_sub_agent_is_linked_with_its_parent(archive: Archive, home: Path) -> None:
    lay_out("cursor-composed-3.x", home)
    helper = take_in(archive, home)[HELPER]
    assert helper.nature == "subagent"
    assert [(one.kind, one.side, one.id) for one in helper.links] == [
        ("subagent", "parent", f"cursor/{FIRST}")
    ]


def test_a_sub_agent_that_only_its_parent_names_is_one(archive: Archive, home: Path) -> None:
    child = json.loads(json.dumps(composer("a") | bubble("a", 1, "Count.")).replace(":c1", ":c2"))
    save(home, child | composer("p") | bubble("p", 1, "asked"))
    assert {one.nature for one in take_in(archive, home).values()} == {"conversation"}
    save(home, composer("p", subComposerIds=["c2"]))
    found = take_in(archive, home)["c2"]
    assert (found.nature, prompts(messages(archive, "c2"))) == ("subagent", [])
    assert [(one.kind, one.side, one.id) for one in found.links] == [
        ("subagent", "parent", "cursor/c1")
    ]
    save(home, bubble("q", 2, "done"))
    assert take_in(archive, home)["c2"].nature == "subagent"


# ── what the editor does to rows ──


def test_a_deleted_conversation_stays_and_comes_back(
    archive: Archive, home: Path, tmp_path: Path
) -> None:
    path = save(home, composer("a", "b") | bubble("a", 1, "asked") | bubble("b", 2, "said"))
    take_in(archive, home)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM cursorDiskKV")
    found = take_in(archive, home)["c1"]
    assert (found.upstream, found.turns) == ("gone", 1)
    assert [text_of(m) for m in messages(archive)] == ["asked", "said"]
    (restored,) = restore(archive, archive.find("c1"), tmp_path / "out")
    rows = json.loads(restored.read_bytes())
    assert [row["key"] for row in rows["bubbleId"]] == ["bubbleId:c1:a", "bubbleId:c1:b"]
    assert rows["bubbleId"][0]["value"] == bubble("a", 1, "asked")["bubbleId:c1:a"]


def test_a_message_that_streams_is_one_message(archive: Archive, home: Path) -> None:
    save(home, composer("a", "b") | bubble("a", 1, "asked") | bubble("b", 2, "Onc"))
    take_in(archive, home)
    save(home, bubble("b", 2, "Once upon a time"))
    take_in(archive, home)
    assert [text_of(m) for m in messages(archive)] == ["asked", "Once upon a time"]


def test_an_edited_prompt_leaves_what_followed_it(archive: Archive, home: Path) -> None:
    first = bubble("a", 1, "one") | bubble("b", 2, "1")
    save(home, composer("a", "b", "c", "d") | first | bubble("c", 1, "two") | bubble("d", 2, "2"))
    take_in(archive, home)
    path = save(home, composer("a", "b", "e") | bubble("e", 1, "two, but better"))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM cursorDiskKV WHERE key = 'bubbleId:c1:d'")
    take_in(archive, home)
    said = messages(archive)
    assert prompts(said) == ["one", "two, but better"]
    assert [(text_of(m), m.upstream) for m in said if m.abandoned] == [
        ("two", "present"),
        ("2", "gone"),
    ]


def test_a_run_without_changes_takes_nothing_in(archive: Archive, home: Path) -> None:
    save(home, composer("a") | bubble("a", 1, "asked"))
    take_in(archive, home)
    before = [len(strand.states) for strand in archive.strands("cursor", "c1")]
    save(home, {"somethingElse": 1}, table="ItemTable")
    take_in(archive, home)
    assert [len(strand.states) for strand in archive.strands("cursor", "c1")] == before


def test_rows_that_are_still_in_the_log_are_read(archive: Archive, home: Path) -> None:
    path = save(home, composer("a") | bubble("a", 1, "asked"))
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        with database:
            database.execute(
                "INSERT INTO cursorDiskKV VALUES (?, ?)",
                ("bubbleId:c1:z", json.dumps({"type": 2, "text": "in the log"})),
            )
        take_in(archive, home)
        # Nothing is held: the editor can go on writing.
        with database:
            database.execute("DELETE FROM cursorDiskKV WHERE key LIKE 'bubbleId%'")
    assert "in the log" in [text_of(m) for m in messages(archive)]


# ── forms ──


def test_a_row_may_be_bytes_null_or_no_json(archive: Archive, home: Path) -> None:
    rows = composer("a", "b", "n") | bubble("a", 1, "asked") | bubble("n", 2)
    rows |= {"bubbleId:c1:n": None, "bubbleId:c1:b": json.dumps({"type": 2, "text": "é"}).encode()}
    save(home, rows | {"bubbleId:c1:x": b"\xff\xfe", "composerData:c2": b"{"})
    found = take_in(archive, home)
    assert [text_of(m) for m in messages(archive)] == ["asked", "é"]
    assert "c2" not in found


def test_drafts_without_words_are_no_conversations(archive: Archive, home: Path) -> None:
    save(home, composer())
    assert take_in(archive, home) == {}


@pytest.mark.parametrize(
    ("tool", "status", "output"),
    [
        ({"status": "completed", "result": '{"output": "a", "exitCode": 0}'}, "ok", "a"),
        ({"status": "completed", "result": '{"output": "a", "exitCode": 1}'}, "error", "a"),
        ({"status": "error", "result": '{"error": "no"}'}, "error", '{"error":"no"}'),
        ({"status": "completed", "userDecision": "rejected"}, "cancelled", ""),
        ({"status": "completed", "additionalData": {"status": "rejected"}}, "cancelled", ""),
        ({"status": "cancelled"}, "cancelled", ""),
        ({"status": "loading"}, None, ""),
    ],
)
def test_a_call_has_its_result_with_it(
    tool: dict[str, Any], status: ResultStatus | None, output: str, archive: Archive, home: Path
) -> None:
    call = {
        "tool": 15,
        "name": "run_terminal_cmd",
        "toolCallId": "t1",
        "rawArgs": '{"command":"x"}',
    }
    save(home, composer("a") | bubble("a", 2, toolFormerData=call | tool))
    take_in(archive, home)
    parts = [part for message in messages(archive) for part in message.parts]
    assert parts[0] == ToolCall("t1", "run_terminal_cmd", {"command": "x"})
    assert parts[1:] == ([ToolResult("t1", status, output)] if status else [])


def test_rich_texts_attachments_and_errors_are_told(archive: Archive, home: Path) -> None:
    leaf = [{"type": "text", "text": "rich "}, {"type": "mention", "text": "@app.py"}]
    rich = json.dumps({"root": {"children": [{"type": "paragraph", "children": leaf}]}})
    files = {"fileSelections": [{"uri": {"fsPath": "/p/app.py"}}]}
    rows = bubble("a", 1, richText=rich, context=files)
    rows |= bubble("b", 2, errorDetails={"message": "too busy"})
    save(home, composer("a", "b") | rows)
    take_in(archive, home)
    asked, failed = messages(archive)
    assert asked.parts == [
        Text("rich @app.py"),
        Attachment("application/octet-stream", name="/p/app.py"),
    ]
    assert failed.parts == [Notice("too busy", "error")]


def test_what_the_editor_does_not_show_is_folded(archive: Archive, home: Path) -> None:
    headers = [{"bubbleId": "a", "type": 2, "grouping": {"isRenderable": False}}]
    save(home, composer(fullConversationHeadersOnly=headers) | bubble("a", 2, "aside"))
    take_in(archive, home)
    assert [(m.display, m.label) for m in messages(archive)] == [
        ("fold", "not shown by the editor")
    ]


def test_the_model_is_the_messages_own_or_the_chosen_one(archive: Archive, home: Path) -> None:
    rows = bubble("a", 2, "x", modelInfo={"modelName": "own"}) | bubble("b", 2, "y")
    save(home, composer("a", "b", modelConfig={"modelName": "chosen"}) | rows)
    take_in(archive, home)
    assert [m.model for m in messages(archive)] == ["own", "chosen"]
    save(home, composer("a", "b", modelConfig={"modelName": "default"}))
    take_in(archive, home)
    assert [m.model for m in messages(archive)] == ["own", None]


def test_an_older_catalog_and_the_workspace_tell_title_and_project(
    archive: Archive, home: Path
) -> None:
    save(home, composer("a") | bubble("a", 1, "asked", createdAt=1750000000000))
    listed = {"allComposers": [{"composerId": "c1", "name": "Listed"}]}
    save(home, {"composer.composerHeaders": listed}, table="ItemTable")
    save(home, {"composer.composerData": listed}, table="ItemTable", at="workspaceStorage/w")
    (user(home) / "workspaceStorage" / "w" / "workspace.json").write_text(
        '{"folder": "file:///c%3A/proj"}'
    )
    found = take_in(archive, home)["c1"]
    assert (found.title, found.project) == ("Listed", "c:\\proj")
    assert found.started_at == "2025-06-15T15:06:40.000Z"


@pytest.mark.parametrize("place", ["composer", "catalog", "table", "bubble"])
def test_the_project_is_told_by_whatever_names_the_workspace(
    place: str, archive: Archive, home: Path
) -> None:
    workspace = user(home) / "workspaceStorage" / "w"
    workspace.mkdir(parents=True)
    (workspace / "workspace.json").write_text('{"folder": "file:///home/dev/a%20b"}')
    named: dict[str, Any] = {"workspaceIdentifier": {"id": "w"}}
    whole = {"workspaceIdentifier": {"id": "x", "uri": {"fsPath": "/home/dev/a b"}}}
    save(home, composer("a", **(named if place == "composer" else {})))
    uris = {"workspaceUris": ["file:///home/dev/a%20b"]}
    path = save(home, bubble("a", 1, "asked", **(uris if place == "bubble" else {})))
    if place == "catalog":
        listed = {"allComposers": [{"composerId": "c1", **whole}]}
        save(home, {"composer.composerHeaders": listed}, table="ItemTable")
    if place == "table":
        # Not every version has all columns.
        row = ("c1", None, json.dumps(named))
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("CREATE TABLE composerHeaders (composerId, workspaceId, value)")
            database.execute("INSERT INTO composerHeaders VALUES (?, ?, ?)", row)
    assert take_in(archive, home)["c1"].project == "/home/dev/a b"


def test_the_first_forms_of_a_conversation_are_read(archive: Archive, home: Path) -> None:
    said = [{"type": "user", "text": "asked"}, {"type": "ai", "rawText": "said"}]
    mapped = {"a": {"type": 1, "text": "asked"}, "b": {"type": 2, "text": "said"}}
    save(home, {"composerData:c1": {"tabs": [{"bubbles": said}]}})
    save(home, {"composerData:c2": {"conversationMap": mapped}})
    listed = {"allComposers": [{"composerId": "c3", "conversation": list(mapped.values())}]}
    save(home, {"composer.composerData": listed}, table="ItemTable", at="workspaceStorage/w")
    assert take_in(archive, home).keys() == {"c1", "c2", "c3"}
    for id in ("c1", "c2", "c3"):
        assert [(m.author, text_of(m)) for m in messages(archive, id)] == [
            ("person", "asked"),
            ("agent", "said"),
        ]


def test_code_that_a_call_wrote_is_no_answer(archive: Archive, home: Path) -> None:
    tool = {"name": "edit_file", "toolCallId": "t1", "status": "completed"}
    blocks = [{"content": "print(1)"}]
    rows = bubble("a", 2, toolFormerData=tool, codeBlocks=blocks) | bubble(
        "b", 2, codeBlocks=blocks
    )
    save(home, composer("a", "b") | rows)
    take_in(archive, home)
    assert [text_of(m) for m in messages(archive) if m.author == "agent"] == ["", "print(1)"]


def test_a_summary_stands_where_the_talk_was_cut(archive: Archive, home: Path) -> None:
    summary = {"summary": {"summary": "so far"}, "lastBubbleId": "a"}
    rows = bubble("a", 1, "asked") | bubble("b", 2, "said")
    save(home, composer("a", "b", latestConversationSummary=summary) | rows)
    take_in(archive, home)
    assert [(m.display, text_of(m)) for m in messages(archive)] == [
        ("bubble", "asked"),
        ("divider", "so far"),
        ("bubble", "said"),
    ]


def test_chats_of_the_panel_are_read(archive: Archive, home: Path) -> None:
    said = [{"type": "user", "text": "asked"}, {"type": "ai", "rawText": "said"}]
    tabs = {"tabs": [{"tabId": "t1", "chatTitle": "Old", "bubbles": said}]}
    key = "workbench.panel.aichat.view.aichat.chatdata"
    save(home, {key: tabs}, table="ItemTable", at="workspaceStorage/w")
    assert take_in(archive, home)["t1"].title == "Old"
    assert [text_of(m) for m in messages(archive, "t1")] == ["asked", "said"]


# ── transcripts ──


def transcribe(home: Path, name: str, *lines: tuple[str, list[dict[str, Any]]]) -> None:
    path = home / ".cursor" / "projects" / "home-dev-proj" / "agent-transcripts" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    told = [{"role": role, "message": {"content": blocks}} for role, blocks in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in told))


def written(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def test_a_transcript_is_read_and_its_prompts_are_unwrapped(archive: Archive, home: Path) -> None:
    wrapped = "<context>\nopen files\n</context>\n<user_query>\nlist them\n</user_query>"
    call = {"type": "tool_use", "name": "ls", "input": {"path": "."}}
    transcribe(home, "c1/c1.jsonl", ("user", [written(wrapped)]), ("assistant", [call]))
    transcribe(home, "c1/subagents/s1.jsonl", ("user", [written("Count.")]))
    found = take_in(archive, home)
    said = messages(archive)
    assert prompts(said) == ["list them"]
    assert [text_of(m) for m in said if m.label == "context"] == [
        "<context>\nopen files\n</context>"
    ]
    assert (found["c1"].tool_calls, found["s1"].nature) == (1, "subagent")
    assert [(one.kind, one.id) for one in found["s1"].links] == [("subagent", "cursor/c1")]


def test_a_conversation_in_both_is_told_by_the_database(archive: Archive, home: Path) -> None:
    transcribe(home, "c1/c1.jsonl", ("user", [written("<user_query>asked</user_query>")]))
    save(home, composer("a", "b") | bubble("a", 1, "asked") | bubble("b", 2, "said"))
    take_in(archive, home)
    assert [text_of(m) for m in messages(archive)] == ["asked", "said"]


# ── what is left alone ──


def test_no_token_comes_into_the_archive(archive: Archive, home: Path) -> None:
    secret = "canary-secret-of-cursor"
    keys = {"blobEncryptionKey": secret, "speculativeSummarizationEncryptionKey": secret}
    words = "what is a blobEncryptionKey?"
    save(home, composer("a", **keys) | bubble("a", 1, words) | {f"agentKv:blob:{secret}": secret})
    tokens = ("cursorAuth/accessToken", "cursorAuth/refreshToken", 'secret://{"key":"x"}')
    for place in ("", "workspaceStorage/w"):
        save(home, dict.fromkeys(tokens, secret), table="ItemTable", at=place)
    entry = {"allComposers": [{"composerId": "c1", **keys}]}
    save(home, {"composer.composerHeaders": entry}, table="ItemTable")
    save(home, {"composer.composerData": entry}, table="ItemTable", at="workspaceStorage/w")
    broken = f'{{"blobEncryptionKey": "{secret}"'.encode()
    save(home, {"composerData:c9": broken} | {"bubbleId:c9:a": {"type": 1, "text": "broken"}})
    take_in(archive, home)
    assert words.encode() in kept(archive)
    assert secret.encode() not in kept(archive)


def test_it_is_found_on_every_platform(tmp_path: Path) -> None:
    for place in (".config", "Library/Application Support", "AppData/Roaming"):
        path = tmp_path / place / "Cursor" / "User" / "globalStorage" / "state.vscdb"
        path.parent.mkdir(parents=True)
        path.touch()
    assert len(READER.discover(Places.at(tmp_path)).origins) == 3
    elsewhere = Places(tmp_path / "x", {"XDG_CONFIG_HOME": str(tmp_path / ".config")})
    assert len(READER.discover(elsewhere).origins) == 1
