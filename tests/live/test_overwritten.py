"""What agents do to what was said, while the keeper watches: all of it stays, and is there once."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
import zstandard

from rireki.archive.open import open_archive
from rireki.intake.interpret import read_conversation
from rireki.model.message import Message
from rireki.model.parts import Text
from tests.live.conftest import Kept, until
from tests.sources import test_amazon_q_ide as q
from tests.sources import test_cursor as cursor
from tests.sources import test_opencode as opencode
from tests.support.homes import lay_out

#: Writes from a process of its own, as agents do. Besides, Python's SQLite and ours are two libraries,
#: and in one process they would not see each other's locks.
WRITE = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=5, isolation_level=None)
db.executescript(sys.stdin.read())
db.close()
"""

pytestmark = pytest.mark.usefixtures("without_sweeps")


def run(database: Path, *statements: str) -> None:
    command = [sys.executable, "-c", WRITE, str(database)]
    subprocess.run(command, input="\n".join(statements).encode(), check=True)


def messages(kept: Kept, id: str) -> list[Message]:
    with closing(open_archive(kept.path)) as archive:
        return read_conversation(archive, archive.find(id)).messages()


def ids(kept: Kept) -> set[str]:
    with closing(open_archive(kept.path)) as archive:
        return {one.id for one in archive.headings()}


def said(kept: Kept, id: str) -> list[str]:
    """Everything that was typed or answered, whatever became of it."""
    found = [one for one in messages(kept, id) if one.author in ("person", "agent")]
    texts = ("".join(p.text for p in one.parts if isinstance(p, Text)) for one in found)
    return [text for text in texts if text]


def upstream(kept: Kept, id: str) -> str:
    found = kept.find(id)
    return found.upstream if found else ""


def test_a_gemini_chat_that_its_client_deletes_after_a_resume(kept: Kept, home: Path) -> None:
    """Resumed a minute later, it gets a second file, which the next start takes for broken: it
    then deletes every file of the session."""
    session = "342829f2-9e46-4c9b-b1f3-d946d551a3ba"
    lay_out("gemini-cli-0.61.0-resume-stub", home)
    chat, stub = sorted(home.glob(".gemini/tmp/demo-app/chats/*.jsonl"))
    whole, header = chat.read_bytes(), stub.read_bytes()
    first = whole[: whole.index(b'{"sessionId"', 1)]
    chat.write_bytes(first)
    stub.unlink()
    kept.start()
    assert kept.turns(session) == 1
    with chat.open("ab") as file:
        file.write(whole[len(first) :])
    stub.write_bytes(header)
    until(lambda: kept.turns(session) == 3, "what was said after the resume")
    chat.unlink()
    stub.unlink()
    until(lambda: upstream(kept, session) == "gone", "the deletion")
    assert ids(kept) == {f"gemini-cli/{session}"}
    assert said(kept, session) == [
        "Please list the files in this folder.",
        "I will look at the files.",
        "There are two files: README.md and app.py.",
        "A second question: what does app.py print?",
        "This is the answer to the second question.",
        "A third question, one minute later.",
        "This is the answer to the third question.",
    ]


def test_an_opencode_session_in_both_stores(kept: Kept, home: Path) -> None:
    """The first start of 1.2 copies all files into its database; much later somebody clears them away."""
    lay_out("opencode-1.0.185-files", home)
    kept.start()
    before = {id: messages(kept, id) for id in ids(kept)}
    folder = opencode.storage(home)
    with closing(sqlite3.connect(":memory:")) as copied:
        copied.executescript(opencode.SCHEMA)
        opencode.migrate(folder / "storage", copied)
        run(folder / "opencode.db", "PRAGMA journal_mode = WAL;", *copied.iterdump())
    sessions = [id.partition("/")[2] for id in before]
    until(lambda: all(kinds(kept, one) == {".json", ".db"} for one in sessions), "all rows")
    shutil.rmtree(folder / "storage")
    until(lambda: all(kinds(kept, one) == {".db"} for one in sessions), "the files that went")
    assert {upstream(kept, one) for one in sessions} == {"present"}
    tables = ("part", "message", "session")
    run(folder / "opencode.db", *(f"DELETE FROM {table};" for table in tables))
    until(lambda: all(upstream(kept, one) == "gone" for one in sessions), "the deletion")
    assert ids(kept) == before.keys()
    for id, told in before.items():
        now = messages(kept, id)
        assert [(one.id, one.parts) for one in now] == [(one.id, one.parts) for one in told]


def kinds(kept: Kept, session: str) -> set[str]:
    """In what files a session of opencode lies now."""
    with closing(open_archive(kept.path)) as archive:
        found = archive.strands("opencode", session)
        return {Path(one.place).suffix for one in found if one.present}


def test_a_codex_thread_that_is_rewound_archived_and_compressed(kept: Kept, home: Path) -> None:
    """A rewind begins another file; archiving moves both; what is cold is compressed in place."""
    thread, parent = (f"01a1e95{rest}" for rest in ("b-50f0", "9-7b36"))
    lay_out("codex-0.169.0-tui", home)
    _, begun, rewound = sorted(home.glob(".codex/sessions/*/*/*/*.jsonl"))
    again = rewound.read_bytes()
    rewound.unlink()
    kept.start()
    id = next(one for one in ids(kept) if one.startswith(f"codex/{thread}"))
    session = id.partition("/")[2]
    assert kept.turns(session) == 2
    rewound.write_bytes(again)
    until(lambda: kept.turns(session) == 3, "the rewind")
    told = said(kept, id)
    archived = home / ".codex" / "archived_sessions"
    archived.mkdir()
    for path in (begun, rewound):
        path.rename(archived / path.name)
    until(lambda: places(kept, session) == {str(archived / p.name) for p in (begun, rewound)})
    packed = {str(archived / f"{path.name}.zst") for path in (begun, rewound)}
    for path in sorted(archived.glob("*.jsonl")):
        Path(f"{path}.zst").write_bytes(zstandard.compress(path.read_bytes()))
        path.unlink()
    until(lambda: places(kept, session) == packed, "the compressed files")
    assert upstream(kept, session) == "present"
    assert said(kept, id) == told
    shutil.rmtree(archived)
    until(lambda: upstream(kept, session) == "gone", "the deletion")
    assert said(kept, id) == told
    assert sorted(one[: len("codex/01a1e95b")] for one in ids(kept)) == [
        f"codex/{one[:8]}" for one in (parent, thread)
    ]
    typed = [
        one for one in messages(kept, id) if one.author == "person" and one.display == "bubble"
    ]
    assert [one.abandoned for one in typed] == [False, True, False]


def places(kept: Kept, session: str) -> set[str]:
    """Where the files of a thread of Codex lie now."""
    with closing(open_archive(kept.path)) as archive:
        found = archive.strands("codex", session)
        return {one.place for one in found if one.present and one.role == "rollout"}


def test_an_amazon_q_file_of_an_editor_that_is_trimmed(kept: Kept, home: Path) -> None:
    """The file is written whole, in place: the eldest messages go, then the tab."""
    talk = [
        one
        for n in range(0, 12, 2)
        for one in (q.prompt(f"asked {n}", q.at(n)), q.answer(f"answered {n}", q.at(n + 1)))
    ]
    q.write(home, q.tab("one", *talk[:8]))
    kept.start()
    q.write(home, q.tab("one", *talk[4:10]))
    until(lambda: kept.turns("one") == 5, "what came with the first trim")
    q.write(home, q.tab("one", *talk[8:]))
    until(lambda: kept.turns("one") == 6, "what came with the second trim")
    q.write(home, q.tab("two", q.prompt("another tab")))
    until(lambda: upstream(kept, "one") == "gone", "the tab that was closed")
    assert ids(kept) == {"amazon-q-ide/one", "amazon-q-ide/two"}
    assert said(kept, "one") == [
        text for n in range(0, 12, 2) for text in (f"asked {n}", f"answered {n}")
    ]


def test_a_cursor_conversation_that_is_deleted(kept: Kept, home: Path) -> None:
    """Its rows go, while the same save brings another conversation."""
    begun = (
        cursor.composer("a", "b") | cursor.bubble("a", 1, "asked") | cursor.bubble("b", 2, "said")
    )
    other = {
        "composerData:c2": {
            "_v": 10,
            "fullConversationHeadersOnly": [{"bubbleId": "x", "type": 1}],
        },
        "bubbleId:c2:x": {"_v": 3, "type": 1, "bubbleId": "x", "text": "something else"},
    }
    editor = cursor.save(home, begun)
    kept.start()
    assert kept.turns("c1") == 1
    run(editor, *put(cursor.composer("a", "b", "c") | cursor.bubble("c", 1, "asked again")))
    until(lambda: kept.turns("c1") == 2, "the second prompt")
    run(editor, "BEGIN;", "DELETE FROM cursorDiskKV;", *put(other), "COMMIT;")
    until(lambda: kept.turns("c2") == 1, "the other conversation")
    until(lambda: upstream(kept, "c1") == "gone", "the deletion")
    assert ids(kept) == {"cursor/c1", "cursor/c2"}
    assert said(kept, "cursor/c1") == ["asked", "said", "asked again"]


def put(rows: Mapping[str, object]) -> list[str]:
    """Rows without a quote in them, as statements."""
    return [
        f"INSERT INTO cursorDiskKV VALUES ('{key}', '{json.dumps(value)}');"
        for key, value in rows.items()
    ]
