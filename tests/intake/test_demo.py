"""The invented home: that its files are what the agents write, and that it shows what rireki is for."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive, Filter
from rireki.errors import RirekiError
from rireki.intake.demo import change_demo_home, make_demo_home
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import Report
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Text, Unknown
from rireki.sources import registry

TakeIn = Callable[[], Report]

Q = Path(".local/share/amazon-q/data.sqlite3")
KIRO = Path(".local/share/kiro-cli/data.sqlite3")
DATES = re.compile(r"(?<![\w-])20\d\d-\d\d-\d\d")
TIMES = re.compile(r"(?<!\w)1[78]\d{11}(?!\w)|(?<!\w)1[78]\d{8}(?!\w)")
#: A day in the name of a file, or as a folder for each part of it.
NAMED = re.compile(r"20\d\d([-/])\d\d\1\d\d")
#: What holds no moment: names of projects, and words whose moments lie elsewhere.
TIMELESS = re.compile(r"\.meta\.json$|/workspace\.json$|/projects\.json$|/workspace-sessions/")
JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
#: Sources with one conversation: its directory, turns and calls, and what goes on with it.
AGENTS = {
    "aider": ("~", 2, 0, "aider"),
    "amazon-q-ide": ("/home/aiko/infra/night-train", 2, 1, ""),
    "amp": ("/home/aiko/dev/kissaten-api", 2, 1, "amp"),
    "cline": ("/home/aiko/dev/kissaten-blog", 1, 1, "cline"),
    "codex": ("/home/aiko/dev/kissaten-api", 2, 1, "codex"),
    "copilot-cli": ("/home/aiko/dev/tea-timer", 2, 1, "copilot"),
    "crush": ("~", 1, 1, "crush"),
    "cursor": ("/home/aiko/dev/kissaten-blog", 2, 1, ""),
    "gemini-cli": ("/home/aiko/dev/tea-timer", 2, 2, "gemini"),
    "goose": ("/home/aiko/写真/京都", 1, 1, "goose"),
    "kilo": ("/home/aiko/dev/tea-timer", 1, 1, "kilo"),
    "kilo-code": ("/home/aiko/dev/kissaten-blog", 1, 1, ""),
    "kiro-ide": ("/home/aiko/仕事/注文サービス", 1, 1, ""),
    "llm": (None, 2, 0, "llm"),
    "opencode": ("/home/aiko/dev/tea-timer", 1, 1, "opencode"),
    "qwen-code": ("/home/aiko/dev/haiku-bot", 2, 1, "qwen"),
    "roo-code": ("/home/aiko/dev/kissaten-api", 2, 2, ""),
    "vscode-copilot-chat": ("/home/aiko/dev/喫茶店メニュー", 2, 1, ""),
    "zed": ("/home/aiko/dev/dotfiles", 2, 1, ""),
}
#: Files that a person downloads and names, and what programs of ours write.
NOT_SHOWN = (
    *("chatgpt-export", "claude-ai-export", "open-webui", "atif", "shared"),
    *("rireki", "chatkit", "bridge"),
)


@pytest.fixture
def demo(home: Path) -> Path:
    make_demo_home(home)
    return home


def contents(home: Path) -> dict[str, bytes]:
    files = (path for path in home.rglob("*") if path.is_file())
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


def lines(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data[:-1].split(b"\n")]


def transcripts(home: Path) -> list[Path]:
    return sorted(home.glob(".claude/projects/*/*.jsonl"))


def agents(home: Path) -> list[Path]:
    return sorted(home.glob(".claude/projects/*/*/subagents/*.jsonl"))


def blocks(path: Path, kind: str) -> list[dict[str, Any]]:
    """The content blocks of a kind in a transcript."""
    messages = (line["message"] for line in lines(path) if "message" in line)
    spoken = (block for message in messages for block in message["content"])
    return [block for block in spoken if isinstance(block, dict) and block["type"] == kind]


def rows(path: Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(sql).fetchall()


def texts(home: Path) -> dict[str, str]:
    """Every file as text, databases as their rows; a path as it goes on behind its days."""
    found = {}
    for path in (path for path in home.rglob("*") if path.is_file()):
        name = NAMED.sub("DAY", str(path.relative_to(home)))
        if path.suffix in (".sqlite3", ".vscdb", ".db"):
            with closing(sqlite3.connect(path)) as database:
                found[name] = "\n".join(sorted(database.iterdump()))
        else:
            found[name] = path.read_text("utf-8")
    return found


def days_in_names(home: Path) -> list[date]:
    """The days that files and folders are called by, of all files in the order of their other names."""
    paths = {NAMED.sub("DAY", str(path)): str(path) for path in home.rglob("*") if path.is_file()}
    found = (NAMED.search(path) for _, path in sorted(paths.items()))
    return [date.fromisoformat(day[0].replace("/", "-")) for day in found if day]


# ── the files ──


def test_the_same_home_is_made_each_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_demo_home(tmp_path / name)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    for name in ("one", "two"):
        change_demo_home(tmp_path / name)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_its_newest_conversation_is_less_than_a_week_old(
    archive: Archive, home: Path, take_in: TakeIn
) -> None:
    today = date(2028, 3, 1)
    make_demo_home(home, today)
    take_in()
    change_demo_home(home)
    assert troubles(take_in()) == []
    times = [each.updated_at for each in archive.conversations(Filter(subagents=True))]
    newest = max(datetime.fromisoformat(time) for time in times if time)
    assert today - timedelta(days=7) <= newest.date() < today


def test_every_date_is_moved_by_the_same_whole_weeks(tmp_path: Path) -> None:
    days = (date(2026, 11, 15), date(2027, 1, 3))
    for day in days:
        make_demo_home(tmp_path / str(day), day)
        change_demo_home(tmp_path / str(day))
    there, moved = (texts(tmp_path / str(day)) for day in days)
    assert there.keys() == moved.keys()
    for name, text in there.items():
        found = DATES.findall(text)
        assert [date.fromisoformat(day) + timedelta(weeks=7) for day in found] == [
            date.fromisoformat(day) for day in DATES.findall(moved[name])
        ]
        seconds = [int(number[:10]) + 7 * 7 * 86_400 for number in TIMES.findall(text)]
        assert seconds == [int(number[:10]) for number in TIMES.findall(moved[name])]
        assert found or TIMES.search(text) or TIMELESS.search(name), name
        rest = [TIMES.sub("", DATES.sub("", each)) for each in (text, moved[name])]
        assert rest[0] == rest[1].replace("date(2026, 12, 21)", "date(2026, 11, 2)")
    named, later = (days_in_names(tmp_path / str(day)) for day in days)
    assert len(named) > 2
    assert [day + timedelta(weeks=7) for day in named] == later


def test_a_day_before_the_data_moves_nothing(tmp_path: Path) -> None:
    make_demo_home(tmp_path / "plain")
    make_demo_home(tmp_path / "early", date(2020, 1, 1))
    assert contents(tmp_path / "plain") == contents(tmp_path / "early")


def test_a_home_where_somebody_lives_is_left_alone(home: Path) -> None:
    (home / "diary.txt").write_text("mine")
    with pytest.raises(RirekiError, match="not empty"):
        make_demo_home(home)
    assert contents(home) == {"diary.txt": b"mine"}


def test_every_line_of_a_transcript_hangs_on_an_earlier_one(demo: Path) -> None:
    for path in transcripts(demo) + agents(demo):
        seen: set[str] = set()
        for line in lines(path):
            if "uuid" in line:
                above = line["parentUuid"] or line.get("logicalParentUuid")
                assert above in seen or not seen
                assert line["uuid"] not in seen
                seen.add(line["uuid"])
        assert seen


def test_a_transcript_is_named_after_its_session_and_its_folder_after_the_project(
    demo: Path,
) -> None:
    for path in transcripts(demo):
        told = [line for line in lines(path) if "sessionId" in line]
        assert {line["sessionId"] for line in told} == {path.stem}
        (project,) = {line["cwd"] for line in told if "cwd" in line}
        assert path.parent.name == re.sub(r"[^A-Za-z0-9]", "-", project)


def test_every_call_has_its_one_result(demo: Path) -> None:
    for path in transcripts(demo) + agents(demo):
        asked = [block["id"] for block in blocks(path, "tool_use")]
        assert sorted(asked) == sorted(b["tool_use_id"] for b in blocks(path, "tool_result"))


def test_a_sub_agent_is_linked_to_the_call_that_started_it(demo: Path) -> None:
    assert len(agents(demo)) == 2
    for path in agents(demo):
        meta = json.loads(path.with_suffix(".meta.json").read_bytes())
        parent = path.parents[1].with_suffix(".jsonl")
        assert meta["toolUseId"] in [block["id"] for block in blocks(parent, "tool_use")]
        assert {line["agentId"] for line in lines(path)} == {path.stem.removeprefix("agent-")}
        assert {line["sessionId"] for line in lines(path)} == {parent.stem}


def test_an_edit_tells_what_it_changed(demo: Path) -> None:
    edits = [
        line["toolUseResult"]
        for path in transcripts(demo)
        for line in lines(path)
        if isinstance(line.get("toolUseResult"), dict) and "oldString" in line["toolUseResult"]
    ]
    assert len(edits) == 3
    for edit in edits:
        for hunk in edit["structuredPatch"]:
            signs = "".join(line[0] for line in hunk["lines"])
            assert len(signs) - signs.count("+") == hunk["oldLines"]
            assert len(signs) - signs.count("-") == hunk["newLines"]


def test_the_typed_lines_stand_in_the_order_of_time(demo: Path) -> None:
    typed = lines(demo / ".claude/history.jsonl")
    times = [line["timestamp"] for line in typed]
    assert times == sorted(times)
    forgotten = {line["sessionId"] for line in typed} - {path.stem for path in transcripts(demo)}
    assert len(forgotten) == 1


def test_the_databases_hold_conversations_and_nothing_else(demo: Path) -> None:
    for key, value in rows(demo / Q, "SELECT key, value FROM conversations"):
        state = json.loads(value)
        places = [entry["user"]["env_context"]["env_state"] for entry in state["history"]]
        assert {place["current_working_directory"] for place in places} == {key}
    for id, value in rows(demo / KIRO, "SELECT conversation_id, value FROM conversations_v2"):
        assert json.loads(value)["conversation_id"] == id
    for path in (demo / Q, demo / KIRO):
        for table in ("auth_kv", "history", "state"):
            assert rows(path, f"SELECT count(*) FROM {table}") == [(0,)]


def test_a_kiro_session_has_a_log_and_a_head_of_the_same_id(demo: Path) -> None:
    kinds: set[str] = set()
    for path in demo.glob(".kiro/sessions/cli/*.jsonl"):
        assert json.loads(path.with_suffix(".json").read_bytes())["session_id"] == path.stem
        kinds.update(line["kind"] for line in lines(path))
    assert kinds == {"Prompt", "AssistantMessage", "ToolResults", "Compaction", "Clear"}


# ── what rireki makes of them ──


def titled(archive: Archive, start: str) -> Conversation:
    (found,) = [each for each in archive.conversations() if each.title.startswith(start)]
    return found


def story(archive: Archive, start: str) -> list[Message]:
    name = titled(archive, start).id
    return read_conversation(archive, archive.find(name)).messages()


def text(messages: list[Message]) -> str:
    parts = (part for message in messages for part in message.parts)
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def one_each(archive: Archive) -> list[Conversation]:
    return [each for each in archive.conversations() if each.source in AGENTS]


def troubles(report: Report) -> list[Any]:
    return [trouble for source in report.sources for trouble in source.troubles]


def test_it_is_taken_in_without_trouble(archive: Archive, demo: Path, take_in: TakeIn) -> None:
    report = take_in()
    assert troubles(report) == []
    assert all(each.troubles == [] for each in archive.conversations(Filter(subagents=True)))
    sources = [each.source for each in archive.conversations()]
    several = {"amazon-q": 4, "claude-code": 8, "kiro": 4}
    assert Counter(sources) == several | dict.fromkeys(AGENTS, 1)
    assert {reader.name for reader in registry.readers()} == {*several, *AGENTS, *NOT_SHOWN}
    again = take_in()
    assert not any(source.read for source in again.sources), "nothing changed meanwhile"


@pytest.mark.parametrize("source", AGENTS)
def test_every_agent_has_a_conversation_that_is_whole(
    archive: Archive, demo: Path, take_in: TakeIn, source: str
) -> None:
    take_in()
    (found,) = archive.conversations(Filter(source=source))
    project, turns, calls, resumed = AGENTS[source]
    assert found.project == (str(demo) if project == "~" else project)
    assert (found.turns, found.tool_calls, found.finished) == (turns, calls, True)
    assert (found.calls_without_result, found.upstream) == (0, "present")
    messages = read_conversation(archive, archive.find(found.id)).messages()
    assert not any(isinstance(part, Unknown) for each in messages for part in each.parts)
    command = registry.reader(source).resume(found)
    assert (command or "").rpartition(" && ")[2].partition(" ")[0] == resumed


def test_it_speaks_japanese_and_english(archive: Archive, demo: Path, take_in: TakeIn) -> None:
    take_in()
    for source in ("amazon-q", "claude-code", "kiro"):
        found = list(archive.conversations(Filter(source=source)))
        japanese = [each for each in found if JAPANESE.search(each.title)]
        assert 0 < len(japanese) < len(found)
    others = [text(story(archive, each.title)) for each in one_each(archive)]
    assert sum(bool(JAPANESE.search(each)) for each in others) > len(others) / 2
    assert titled(archive, "喫茶店").project == "/home/aiko/dev/喫茶店メニュー"


def test_it_shows_what_can_happen_in_a_conversation(
    archive: Archive, demo: Path, take_in: TakeIn
) -> None:
    take_in()
    labels = {
        message.label
        for each in archive.conversations()
        for message in read_conversation(archive, archive.find(each.id)).messages()
    }
    assert {"sent while working", "interrupted", "refused", "answered"} <= labels
    assert "skill: release-notes" in labels
    helpers = titled(archive, "Split timer.ts")
    assert [link.kind for link in helpers.links] == ["subagent", "subagent"]
    assert helpers.usage
    assert not titled(archive, "抽出時間").finished
    assert titled(archive, "マグカップ").nature == "prompts"
    assert "1.9 GB" in text(story(archive, "Why is our container")), "the transcript remembers"


def test_what_agents_do_to_history_costs_nothing(
    archive: Archive, demo: Path, take_in: TakeIn
) -> None:
    take_in()
    change_demo_home(demo)
    assert troubles(take_in()) == []
    assert titled(archive, "git の俳句").upstream == "gone"
    assert "reflog にまだ 君がいる" in text(story(archive, "git の俳句"))
    assert titled(archive, "夜間バッチ").upstream == "gone"
    assert "CREATE INDEX CONCURRENTLY" in text(story(archive, "夜間バッチ"))
    compacted = titled(archive, "The staging cluster")
    assert compacted.upstream == "changed"
    assert "Look at the lock first" in text(story(archive, "The staging cluster"))
    newer = titled(archive, "Which of our night jobs")
    assert newer.upstream == "present"
    assert newer.project == titled(archive, "夜間バッチ").project
