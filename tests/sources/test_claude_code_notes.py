"""To-do lists, tasks, plans and memories: kept in every version, shown with their session or project."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_conversation
from rireki.intake.restore import restore
from rireki.intake.sweep import import_history
from rireki.model.message import Message
from rireki.search.results import SearchOptions
from rireki.search.search import Search
from rireki.show.figures import figures
from rireki.sources.claude_code import READER
from rireki.sources.claude_code.reader import REASONS
from rireki.sources.kit.places import Places
from tests.sources.transcripts import SESSION, Transcript, lay, read, words

SLUG = "quiet-counting-otter"
MEMORY = "memory/-home-dev-app"


def session(home: Path) -> Path:
    """A session with a plan, and the folder of Claude Code."""
    told = Transcript()
    told.user("plan it", slug=SLUG)
    told.answer("planned", slug=SLUG)
    lay(home, told.bytes())
    return home / ".claude"


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def todo_file(root: Path) -> Path:
    return root / "todos" / f"{SESSION}-agent-{SESSION}.json"


def items(*told: tuple[str, str]) -> str:
    return json.dumps([{"content": content, "status": status} for content, status in told])


def take_in(archive: Archive, home: Path) -> None:
    import_history(archive, places=Places.at(home))


def messages(archive: Archive, id: str) -> list[Message]:
    return read_conversation(archive, archive.find(f"claude-code/{id}")).messages()


def test_a_to_do_list_stands_folded_at_the_end_of_its_session(home: Path) -> None:
    root = session(home)
    put(
        todo_file(root),
        items(("Buy ink", "completed"), ("Print", "in_progress"), ("Go", "pending")),
    )
    reading = read(home)[SESSION]
    last = reading.messages()[-1]
    assert words(last) == "- [x] Buy ink\n- [ ] Print (in_progress)\n- [ ] Go"
    assert (last.author, last.display, last.label) == ("harness", "fold", "to-do list")
    assert last.entry is not None and last.entry.rule in REASONS
    assert reading.conversation.messages == len(reading.messages()) == 3
    assert reading.conversation.finished
    assert reading.records()[last.id]


def test_a_task_is_told_with_its_description_and_locks_are_only_kept(home: Path) -> None:
    folder = session(home) / "tasks" / SESSION
    task = {"id": "1", "subject": "Collect", "description": "All of it", "status": "pending"}
    put(folder / "1.json", json.dumps(task))
    put(folder / ".lock", "7")
    assert [words(m) for m in read(home)[SESSION].messages()][2:] == ["- [ ] Collect\n  All of it"]


@pytest.mark.parametrize("text", ["[]", "", " \n"])
def test_an_empty_list_says_nothing(home: Path, text: str) -> None:
    put(todo_file(session(home)), text)
    assert len(read(home)[SESSION].messages()) == 2


def test_a_list_of_another_shape_is_kept_as_it_is(home: Path) -> None:
    put(todo_file(session(home)), '{"later": ["this"]}')
    (part,) = read(home)[SESSION].messages()[-1].parts
    assert "later" in str(part)


def test_every_version_of_a_list_stays_and_the_newest_is_shown(
    archive: Archive, home: Path
) -> None:
    path = put(todo_file(session(home)), items(("First thought", "pending")))
    take_in(archive, home)
    put(path, items(("Second thought", "pending")))
    take_in(archive, home)
    *_, old, new = messages(archive, SESSION)
    assert (words(old), old.upstream, old.replaced_by) == ("- [ ] First thought", "gone", new.id)
    assert (words(new), new.upstream) == ("- [ ] Second thought", "present")
    put(path, "[]")
    take_in(archive, home)
    assert [m.upstream for m in messages(archive, SESSION)][2:] == ["gone", "gone"]


def test_a_list_whose_transcript_is_gone_is_an_entry_of_its_own(home: Path) -> None:
    put(todo_file(home / ".claude"), items(("Left over", "pending")))
    (reading,) = read(home).values()
    assert reading.conversation.native_id == f"{SESSION}/notes"
    assert reading.conversation.nature == "notes"


def test_a_plan_is_linked_with_the_session_that_wrote_it(archive: Archive, home: Path) -> None:
    root = session(home)
    put(root / "plans" / f"{SLUG}.md", "# Otters\n1. Count them\n")
    put(root / "plans" / f"{SLUG}-agent-a12.md", "# Part of it\n")
    take_in(archive, home)
    for name, title in ((SLUG, "Otters"), (f"{SLUG}-agent-a12", "Part of it")):
        plan = archive.find(f"claude-code/plan/{name}").conversation
        assert (plan.title, plan.nature, plan.unfinished) == (title, "notes", False)
        assert [(link.kind, link.id) for link in plan.links] == [("plan", f"claude-code/{SESSION}")]


def test_a_memory_belongs_to_the_project_whatever_its_folder_is_called(home: Path) -> None:
    folder = session(home) / "projects" / "-home-dev-app" / "memory"
    put(folder / "MEMORY.md", "# What I know\nThe tests are slow.\n")
    put(folder / "topics" / "ink.md", "Ink is blue.\n")
    memory = read(home)[MEMORY]
    assert (memory.conversation.project, memory.conversation.title) == (
        "/home/dev/app",
        "What I know",
    )
    assert [m.label for m in memory.messages()] == ["memory (MEMORY.md)", "memory (topics/ink.md)"]


def test_notes_are_no_conversations_in_lists_and_figures(archive: Archive, home: Path) -> None:
    root = session(home)
    put(root / "plans" / f"{SLUG}.md", "# Otters\n")
    put(root / "projects" / "-home-dev-app" / "memory" / "MEMORY.md", "note")
    take_in(archive, home)
    assert [each.native_id for each in archive.conversations(Filter())] == [SESSION]
    assert figures(archive)["conversations"] == 1
    assert len(list(archive.conversations(Filter(subagents=True)))) == 3
    assert [each.conversation.id for each in archive.sightings("/home/dev/app")] == [
        f"claude-code/{SESSION}"
    ]


def test_a_session_is_restored_with_its_list_and_its_plan(
    archive: Archive, home: Path, tmp_path: Path
) -> None:
    root = session(home)
    paths = [
        put(todo_file(root), items(("ひとつ", "pending"))),
        put(root / "plans" / f"{SLUG}.md", "# 計画\r\n1. A\n"),
    ]
    take_in(archive, home)
    restore(archive, archive.find(f"claude-code/{SESSION}"), tmp_path / "back")
    for path in paths:
        (found,) = (tmp_path / "back").rglob(path.name)
        assert found.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("word", "id"), [("walrus", SESSION), ("otters", f"plan/{SLUG}"), ("ink", MEMORY)]
)
def test_notes_are_found_by_their_words(archive: Archive, home: Path, word: str, id: str) -> None:
    root = session(home)
    put(todo_file(root), items(("Feed the walrus", "pending")))
    put(root / "plans" / f"{SLUG}.md", "# Otters\n")
    put(root / "projects" / "-home-dev-app" / "memory" / "MEMORY.md", "Ink is blue.")
    take_in(archive, home)
    with closing(Search(archive)) as search:
        talks = search.find(word, SearchOptions()).talks
    assert [talk.conversation.id for talk in talks] == [f"claude-code/{id}"]


@pytest.mark.parametrize(
    "name",
    [
        f"todos/{SESSION}-agent-{SESSION}.json",
        f"plans/{SLUG}.md",
        f"tasks/{SESSION}/1.json",
        "projects/-home-dev-app/memory/topics/ink.md",
    ],
)
def test_a_note_that_is_written_is_located_as_it_is_discovered(home: Path, name: str) -> None:
    path = put(session(home) / name, "x")
    places = Places.at(home)
    (located,) = READER.locate(places, str(path))
    assert located in READER.discover(places).origins
    assert any(
        path.is_relative_to(each.folder) and (each.deep or path.parent == Path(each.folder))
        for each in READER.watched(places)
    )
