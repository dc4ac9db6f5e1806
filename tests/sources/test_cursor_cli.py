"""Cursor's CLI: a database per chat whose messages are named by their hash, and transcripts for people."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from hashlib import md5, sha256
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive
from rireki.intake.restore import restore
from rireki.intake.sweep import import_history
from rireki.model.parts import ToolCall, ToolResult
from rireki.sources.cursor import READER
from rireki.sources.kit.places import Places
from tests.sources.test_cursor import kept, messages, prompts, take_in, text_of

CHAT = "0c4a7000-0001-4000-8000-000000000001"
FOLDER = "/home/dev/proj/demo-app"
SECRET = "canary-secret-of-cursor"


def store(home: Path, *states: list[dict[str, Any]], id: str = CHAT, **meta: Any) -> Path:
    """A chat, with the root of each of its states: one field per message, and one that is none."""
    folder = home / ".cursor" / "chats" / md5(FOLDER.encode()).hexdigest() / id
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "store.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE IF NOT EXISTS blobs (id TEXT PRIMARY KEY, data BLOB)")
        database.execute("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT)")

        def put(data: bytes) -> bytes:
            hash = sha256(data)
            row = (hash.hexdigest(), data)
            database.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", row)
            return hash.digest()

        for state in states:
            ids = [put(json.dumps(one, ensure_ascii=False).encode()) for one in state]
            root = put(b"".join(b"\x0a\x20" + one for one in ids) + b"\x10\x96\x01\x1a\x02ok")
        about: dict[str, Any] = {"agentId": id, "latestRootBlobId": root.hex(), "name": "New Agent"}
        about |= {"createdAt": 1794916000000, "lastUsedModel": "composer-1"}
        about |= {"blobEncryptionKey": SECRET} | meta
        value = json.dumps(about).encode().hex()
        database.execute("INSERT OR REPLACE INTO meta VALUES ('0', ?)", (value,))
    return path


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def agent(*blocks: dict[str, Any] | str) -> dict[str, Any]:
    told = [{"type": "text", "text": one} if isinstance(one, str) else one for one in blocks]
    return {"role": "assistant", "content": told}


SYSTEM = {"role": "system", "content": "You are an agent."}
INFO = user("<user_info>\nLinux\n</user_info>")
CALL = {"type": "tool-call", "toolCallId": "t1", "toolName": "Shell", "args": {"command": "ls"}}
DONE = {"type": "tool-result", "toolCallId": "t1", "toolName": "Shell", "result": "a b"}
TALK = [
    *(SYSTEM, INFO, user("<user_query>\nList them.\n</user_query>")),
    *(agent({"type": "reasoning", "text": "Look."}, "Looking.", CALL),),
    *({"role": "tool", "content": [DONE]}, agent("Two.")),
]


def test_a_chat_says_what_was_typed_answered_and_called(archive: Archive, home: Path) -> None:
    path = store(home, TALK[:4], TALK)
    note: dict[str, Any] = {
        "schemaVersion": 1,
        "createdAtMs": 1794916000000,
        "updatedAtMs": 1794916060000,
    }
    path.with_name("meta.json").write_text(json.dumps(note | {"cwd": FOLDER, "title": "Files"}))
    found = take_in(archive, home)[CHAT]
    said = messages(archive, CHAT)
    assert prompts(said) == ["List them."]
    assert [text_of(m) for m in said if m.author == "agent"] == ["Looking.", "Two."]
    parts = [part for message in said for part in message.parts]
    assert ToolCall("t1", "Shell", {"command": "ls"}) in parts
    assert ToolResult("t1", "ok", "a b") in parts
    assert [m.display for m in said if m.author == "harness"] == ["hidden", "fold"]
    assert (found.title, found.project, found.models) == ("Files", FOLDER, ["composer-1"])
    assert (found.started_at, found.updated_at) == (
        "2026-11-17T11:46:40.000Z",
        "2026-11-17T11:47:40.000Z",
    )
    assert READER.resume(found) == f"cd {FOLDER} && cursor-agent --resume {CHAT}"


def test_what_the_newest_root_has_no_more_was_left(archive: Archive, home: Path) -> None:
    before = [SYSTEM, user("one"), agent("1"), user("two"), agent("2")]
    store(home, before, [*before[:3], user("two, but better"), agent("3")])
    take_in(archive, home)
    said = messages(archive, CHAT)
    assert prompts(said) == ["one", "two, but better"]
    assert prompts(said, abandoned=True) == ["two"]


def test_a_chat_that_goes_on_is_one_and_a_removed_one_stays(archive: Archive, home: Path) -> None:
    store(home, TALK)
    take_in(archive, home)
    path = store(home, [*TALK, user("And now?"), agent("Now this.")])
    assert take_in(archive, home)[CHAT].turns == 2
    path.unlink()
    found = take_in(archive, home)[CHAT]
    assert (found.turns, found.upstream) == (2, "gone")
    assert READER.resume(found) is None


def test_a_chat_comes_back_as_rows(archive: Archive, home: Path, tmp_path: Path) -> None:
    store(home, TALK)
    take_in(archive, home)
    (file,) = restore(archive, archive.find(CHAT), tmp_path / "out")
    rows = json.loads(file.read_bytes())
    assert (file.name, rows["meta"][0]["value"]["agentId"]) == (f"{CHAT}.json", CHAT)
    assert [one["data"] for one in rows["blobs"] if "data" in one] == TALK


def test_no_key_of_a_chat_comes_into_the_archive(archive: Archive, home: Path) -> None:
    path = store(home, TALK, id="plain")
    store(home, TALK)
    with closing(sqlite3.connect(path)) as database, database:
        broken = f'{{"blobEncryptionKey": "{SECRET}"'.encode().hex()
        database.execute("INSERT INTO meta VALUES ('1', ?)", (broken,))
        database.execute("INSERT INTO meta VALUES ('2', ?)", (SECRET,))
    take_in(archive, home)
    assert b"List them." in kept(archive)
    assert SECRET.encode() not in kept(archive)
    assert SECRET.encode().hex().encode() not in kept(archive)


def test_a_chat_that_was_also_transcribed_is_told_once(archive: Archive, home: Path) -> None:
    store(home, TALK)
    transcribe(home, f"{CHAT}/{CHAT}.jsonl", user("<user_query>List them.</user_query>"))
    assert take_in(archive, home)[CHAT].turns == 1
    assert len(messages(archive, CHAT)) == 6


# ── transcripts ──


def transcribe(home: Path, name: str, *lines: dict[str, Any], root: str = ".cursor") -> None:
    folder = home / root / "projects" / "home-dev-proj-demo-app" / "agent-transcripts"
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    told = [{"role": one["role"], "message": {"content": one["content"]}} for one in lines]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in told))


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("<user_query>\na\n</user_query>\n<system_reminder>x</system_reminder>", ["a"]),
        ("<system_reminder>\nBe brief.\n</system_reminder>", []),
        (
            "<attached_files>\nf\n</attached_files>\n<context>c</context>\nlook at it",
            ["look at it"],
        ),
        ("what does <context> mean?", ["what does <context> mean?"]),
    ],
)
def test_what_the_program_put_beside_or_in_place_of_words_is_folded(
    text: str, typed: list[str], archive: Archive, home: Path
) -> None:
    transcribe(home, "c1.jsonl", user(text), agent("fine"))
    take_in(archive, home)
    said = messages(archive)
    assert prompts(said) == typed
    assert "".join(map(text_of, said)).count("x</") == text.count("x</")


def test_an_old_transcript_that_is_a_text_is_read(archive: Archive, home: Path) -> None:
    transcribe(home, "c1.txt")
    (path,) = home.glob(".cursor/projects/*/agent-transcripts/c1.txt")
    path.write_text("user:\n<user_query>\nhello\n</user_query>\n\nassistant:\nHi.\n")
    take_in(archive, home)
    assert [(m.author, text_of(m)) for m in messages(archive)] == [
        ("person", "hello"),
        ("agent", "Hi."),
    ]


def test_a_transcript_belongs_to_the_project_that_its_folder_is_called_by(home: Path) -> None:
    transcribe(home, "c1.jsonl", user("hello"))
    store(home, TALK)
    places = Places.at(home).knowing(lambda: ["/home/dev/proj/other", FOLDER])
    origins = READER.discover(places).origins
    assert [one.project for one in origins] == [FOLDER, FOLDER]
    assert [READER.locate(places, one.place) for one in origins] == [[one] for one in origins]


def test_the_folder_of_the_cli_may_be_elsewhere(tmp_path: Path) -> None:
    for root in (".cursor", ".config/cursor", "named"):
        transcribe(tmp_path, "c1.jsonl", user("hello"), root=root)

    def found(**environment: str) -> list[str]:
        origins = READER.discover(Places(tmp_path, environment)).origins
        return [str(Path(one.root).relative_to(tmp_path)) for one in origins]

    assert found() == [".cursor", ".config/cursor"]
    assert found(CURSOR_CONFIG_DIR=str(tmp_path / "named")) == ["named"]


def test_a_chat_is_heard_of_by_its_journal(home: Path) -> None:
    path = store(home, TALK)
    (origin,) = READER.discover(Places.at(home)).origins
    assert READER.locate(Places.at(home), f"{path}-wal") == [origin]
    assert any(str(path).startswith(one.folder) for one in READER.watched(Places.at(home)))


def test_an_unchanged_chat_is_not_kept_again(archive: Archive, home: Path) -> None:
    path = store(home, TALK)
    take_in(archive, home)
    path.touch()
    report = import_history(archive, places=Places.at(home))
    (source,) = [one for one in report.sources if one.source == "cursor"]
    assert (source.changed_conversations, source.new_bytes) == (0, 0)
