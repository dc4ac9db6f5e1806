"""Where the reader looks, and what it takes for its own."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from rireki.sources.claude_code import READER
from rireki.sources.kit.places import Places
from tests.sources.transcripts import FIXTURES, SESSION, Transcript, lay

REAL = FIXTURES / "2.1.197"


def transcript() -> bytes:
    written = Transcript()
    written.user("hello")
    return written.bytes()


def found(home: Path) -> dict[str, str]:
    """Roles of the files found, by name."""
    return {Path(o.place).name: o.role for o in READER.discover(Places.at(home)).origins}


def test_everything_that_belongs_to_a_session_is_found() -> None:
    origins = READER.discover(Places.at(REAL)).origins
    by_role: dict[str, set[str]] = {}
    for origin in origins:
        by_role.setdefault(origin.role, set()).add(str(origin.conversation))
        assert origin.root == str(REAL / ".claude")
        assert origin.stamp
    assert "becdaf4e-5d54-4031-a161-6c017325d5ec" in by_role["main"]
    assert by_role["agent"] == by_role["agent-meta"]
    assert "agent-accbf71339f686f7a" in by_role["agent"]
    assert by_role["tool-output"] == {"317cdda1-f796-4a54-8cf4-eff2497a5773"}
    assert by_role["prompts"] == {"@history"}


def test_other_files_of_a_session_are_kept_and_the_memory_of_the_project(home: Path) -> None:
    folder = lay(home, transcript()).parent
    (folder / SESSION / "pictures").mkdir(parents=True)
    (folder / SESSION / "pictures" / "1.png").write_bytes(b"png")
    (folder / "memory").mkdir()
    (folder / "memory" / "MEMORY.md").write_text("note")
    assert found(home) == {f"{SESSION}.jsonl": "main", "1.png": "side", "MEMORY.md": "memory"}


def test_what_is_kept_per_session_beside_the_projects_is_kept_with_it(home: Path) -> None:
    lay(home, transcript())
    for folder, name in (("file-history", "b37e@v1"), ("image-cache", "2.png")):
        (home / ".claude" / folder / SESSION).mkdir(parents=True)
        (home / ".claude" / folder / SESSION / name).write_bytes(b"x")
    assert found(home) == {f"{SESSION}.jsonl": "main", "b37e@v1": "side", "2.png": "side"}


def test_a_variable_moves_the_root(home: Path, tmp_path: Path) -> None:
    lay(home, transcript())
    places = Places(tmp_path / "elsewhere", {"CLAUDE_CONFIG_DIR": str(home / ".claude")})
    assert [o.conversation for o in READER.discover(places).origins] == [SESSION]


def test_it_says_why_nothing_was_found(home: Path) -> None:
    (looked,) = READER.discover(Places.at(home)).looked
    assert not looked.found and looked.note.startswith("no such folder")
    (home / ".claude").mkdir()
    (looked,) = READER.discover(Places.at(home)).looked
    assert not looked.found and looked.note.startswith("no transcripts")


def test_pipes_sockets_and_folders_named_like_transcripts_are_left_alone(home: Path) -> None:
    folder = lay(home, transcript()).parent
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "folder.jsonl").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        # The path of a socket is short by law: bind it from within its folder.
        before = Path.cwd()
        os.chdir(folder)
        try:
            server.bind("s.jsonl")
        finally:
            os.chdir(before)
        assert list(found(home)) == [f"{SESSION}.jsonl"]


def test_symbolic_links_are_followed_once(home: Path) -> None:
    folder = lay(home, transcript()).parent
    (folder / SESSION).mkdir()
    (folder / SESSION / "loop").symlink_to(folder, target_is_directory=True)
    (folder.parent / "again").symlink_to(folder, target_is_directory=True)
    (folder / "dangling.jsonl").symlink_to(folder / "nowhere")
    assert list(found(home)) == [f"{SESSION}.jsonl"]


def test_a_folder_that_cannot_be_listed_is_a_trouble(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = lay(home, transcript()).parent
    closed = folder.with_name("closed")
    closed.mkdir(mode=0)
    list_folder = os.scandir

    def refuse(path: str) -> object:
        # Root may list everything, so the refusal is ours.
        if path == str(closed):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return list_folder(path)

    monkeypatch.setattr(os, "scandir", refuse)
    discovery = READER.discover(Places.at(home))
    assert [o.conversation for o in discovery.origins] == [SESSION]
    assert [t.place for t in discovery.troubles] == [str(closed)]


def test_a_file_where_a_folder_should_be_is_a_trouble(home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "projects").write_text("not a folder")
    discovery = READER.discover(Places.at(home))
    assert [t.place for t in discovery.troubles] == [str(home / ".claude" / "projects")]
    assert discovery.looked[0].note == "it cannot be read"


# --- recognise -------------------------------------------------------------------------------

PROJECT = REAL / ".claude" / "projects" / "-home-dev-proj-demo-app"
EVERYTHING = {"main", "agent", "agent-meta", "tool-output", "prompts", "plan", "task"}
NESTED = PROJECT / "d23a3610-9308-40d2-a995-799d5fdeaea0"


@pytest.mark.parametrize(
    ("path", "roles"),
    [
        (REAL, EVERYTHING),
        (REAL / ".claude", EVERYTHING),
        (REAL / ".claude" / "projects", EVERYTHING),
        (PROJECT, {"main", "agent", "agent-meta", "tool-output"}),
        (NESTED, {"agent", "agent-meta"}),
        (NESTED.with_suffix(".jsonl"), {"main", "agent", "agent-meta"}),
        (NESTED / "subagents" / "agent-accbf71339f686f7a.jsonl", {"agent", "agent-meta"}),
        (REAL / ".claude" / "history.jsonl", {"prompts"}),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_a_path_the_user_names_is_recognised(path: Path, roles: set[str]) -> None:
    origins = READER.recognise(path)
    assert {origin.role for origin in origins} == roles
    assert {origin.root for origin in origins} == {str(REAL / ".claude")}


def test_a_transcript_under_another_name_belongs_to_its_session(tmp_path: Path) -> None:
    path = tmp_path / "that one chat.jsonl"
    path.write_bytes(b"damaged\n" + transcript())
    (origin,) = READER.recognise(path)
    assert (origin.conversation, origin.role, origin.root) == (SESSION, "main", str(tmp_path))


def test_a_backup_beside_a_transcript_is_the_same_session(home: Path) -> None:
    folder = home / ".claude" / "projects" / "-x"
    folder.mkdir(parents=True)
    for name in (SESSION, f"{SESSION}.backup"):
        (folder / f"{name}.jsonl").write_bytes(transcript())
    origins = READER.discover(Places.at(home)).origins
    assert [origin.conversation for origin in origins] == [SESSION, SESSION]
    (located,) = READER.locate(Places.at(home), str(folder / f"{SESSION}.backup.jsonl"))
    assert located in origins


@pytest.mark.parametrize(
    "line",
    [
        b'{"timestamp":"2026-01-01","type":"session_meta","payload":{}}',
        b'{"type":"user","message":{"role":"user","content":"hi"},"session_id":"x","uuid":"y"}',
        b'{"role":"user","content":"hi"}',
        b"plain text",
        b"",
    ],
    ids=["rollout", "stream", "chat", "text", "empty"],
)
def test_other_programs_files_are_left_to_them(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(line + b"\n")
    assert READER.recognise(path) == []
    assert READER.recognise(tmp_path) == []
