"""Kiro's third engine: folders that its editor and its CLI share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Text, ToolCall, ToolResult
from rireki.sources.amazon_q.kiro import READER
from rireki.sources.kit.places import Places
from tests.support.homes import FIXTURES, copy

SESSION = "sess_5e551001-0001-4000-8000-00000000000a"


def take_in(archive: Archive, home: Path) -> dict[str, Conversation]:
    import_history(archive, places=Places.at(home))
    return {c.native_id: c for c in archive.conversations(Filter(subagents=True))}


def messages(archive: Archive, id: str) -> list[Message]:
    return read_conversation(archive, archive.find(f"kiro/{id}")).messages()


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def prompts(said: list[Message]) -> list[str]:
    return [text_of(m) for m in said if m.author == "person" and m.display == "bubble"]


def line(name: str, second: int = 0, /, **payload: Any) -> dict[str, Any]:
    return {"id": name, "timestamp": f"2026-08-12T08:00:{second:02d}.000Z", "payload": payload}


def write(home: Path, folder: str, *lines: dict[str, Any], **session: Any) -> None:
    place = home / ".kiro" / "sessions" / folder
    place.mkdir(parents=True)
    text = "".join(json.dumps(one) + "\n" for one in lines)
    (place / "messages.jsonl").write_text(text, encoding="utf-8")
    if session:
        (place / "session.json").write_text(json.dumps(session), encoding="utf-8")


def asked(name: str, text: str, second: int = 0) -> dict[str, Any]:
    return line(name, second, type="user", content=text)


def said(name: str, text: str, second: int = 1) -> dict[str, Any]:
    return line(name, second, type="assistant", operationType="Say", content=text)


def test_a_session_says_what_was_typed_answered_called_and_taken_back(
    archive: Archive, home: Path
) -> None:
    copy(FIXTURES / "kiro-ide" / "composed" / ".kiro", home / ".kiro")
    checked = json.loads((FIXTURES / "kiro-ide/composed/hand-checked.json").read_text("utf-8"))
    (one,) = [c for c in checked["conversations"] if c.get("title") == "Add a health check"]
    found = take_in(archive, home)[SESSION]
    told = messages(archive, SESSION)
    live = [m for m in told if not m.abandoned]
    assert prompts(live) == one["prompts"]
    assert prompts([m for m in told if m.abandoned]) == one["abandoned_prompts"]
    answers = [text_of(m) for m in live if m.author == "agent" and text_of(m)]
    assert answers == one["agent_messages"]
    parts = [part for m in told for part in m.parts]
    calls = [(part.call_id, part.name) for part in parts if isinstance(part, ToolCall)]
    assert calls == [(call["id"], call["name"]) for call in one["tool_calls"]]
    results = [part.status for part in parts if isinstance(part, ToolResult)]
    assert results == ["ok", "cancelled"]
    assert (found.project, found.title, found.models) == (
        one["project"],
        one["title"],
        one["models"],
    )
    assert not found.finished


def test_a_sub_agent_is_linked_and_its_task_is_no_persons(archive: Archive, home: Path) -> None:
    copy(FIXTURES / "kiro-ide" / "composed" / ".kiro", home / ".kiro")
    found = take_in(archive, home)
    (agent,) = [one for one in found.values() if one.nature == "subagent"]
    assert [(link.kind, link.id, link.call_id) for link in agent.links] == [
        ("subagent", f"kiro/{SESSION}", "tooluse_v2_0003")
    ]
    assert prompts(read_conversation(archive, archive.find(agent.id)).messages()) == []
    assert (agent.native_id, agent.id) == ("sub-0001", f"kiro/{SESSION[5:]}.sub-0001")


def test_sub_agents_of_one_name_belong_to_their_own_sessions(archive: Archive, home: Path) -> None:
    start = line("s", 1, type="sub_agent_start", subSessionId="sub-1", toolCallId="t1")
    for session in ("sess_one", "sess_two"):
        write(home, f"aaa/{session}", asked("a", session), start)
        folder = home / ".kiro" / "sessions" / "aaa" / session / "sub-executions"
        folder.mkdir()
        (folder / "sub-1.jsonl").write_text(json.dumps(asked("x", "count")) + "\n")
    import_history(archive, places=Places.at(home))
    agents = [c for c in archive.conversations(Filter(subagents=True)) if c.nature == "subagent"]
    assert {one.id: [link.id for link in one.links] for one in agents} == {
        "kiro/one.sub-1": ["kiro/sess_one"],
        "kiro/two.sub-1": ["kiro/sess_two"],
    }


def test_what_belongs_to_no_folder_cannot_be_resumed(archive: Archive, home: Path) -> None:
    write(home, "_global/sess_one", asked("a", "hello"), said("b", "yes"))
    assert READER.resume(take_in(archive, home)["sess_one"]) is None


def test_a_shell_is_no_conversation(archive: Archive, home: Path) -> None:
    folder = home / ".kiro" / "sessions" / "abc" / "sess_shell"
    folder.mkdir(parents=True)
    (folder / "session.json").write_text('{"id": "sess_shell", "title": "New Session"}')
    assert take_in(archive, home) == {}


def test_different_talks_of_one_id_are_two_conversations(archive: Archive, home: Path) -> None:
    write(home, "aaa/sess_one", asked("a", "first talk"), said("b", "yes"))
    write(home, "bbb/sess_one", asked("c", "second talk"), said("d", "no"))
    found = take_in(archive, home)
    assert found.keys() == {"sess_one", "sess_one@bbb"}
    assert prompts(messages(archive, "sess_one@bbb")) == ["second talk"]
    assert READER.resume(found["sess_one@bbb"]) is None


def test_a_folder_that_goes_on_from_another_is_the_same_conversation(
    archive: Archive, home: Path
) -> None:
    talk = [asked("a", "first"), said("b", "yes")]
    write(home, "aaa/sess_one", *talk)
    write(home, "bbb/sess_one", *talk, asked("c", "more", 2), said("d", "so", 3))
    assert take_in(archive, home).keys() == {"sess_one"}
    assert prompts(messages(archive, "sess_one")) == ["first", "more"]


def test_a_forks_copied_lines_do_not_count_again(archive: Archive, home: Path) -> None:
    call = line("t", 1, type="tool_call", toolCallId="t1", toolName="ls", args={})
    talk = [asked("a", "first"), call, said("b", "yes")]
    write(home, "aaa/sess_one", *talk, id="sess_one", createdAt="2026-08-12T08:00:00.000Z")
    fork = {"parentSessionId": "sess_one", "createdAt": "2026-08-12T08:00:30.000Z"}
    write(home, "aaa/sess_two", *talk, asked("c", "other", 40), said("d", "so", 41), **fork)
    found = take_in(archive, home)
    assert [(one.kind, one.id) for one in found["sess_two"].links] == [("fork", "kiro/sess_one")]
    assert (found["sess_two"].turns, found["sess_two"].tool_calls) == (1, 0)
    assert prompts(messages(archive, "sess_two")) == ["other"]


def test_a_start_of_a_session_is_a_prompt_only_where_nobody_else_asked(
    archive: Archive, home: Path
) -> None:
    start = line("s", type="session_start", content="Fix the tests.")
    write(home, "aaa/sess_one", start, said("b", "yes"))
    write(home, "aaa/sess_two", asked("a", "hello"), said("b", "yes"), start)
    take_in(archive, home)
    assert prompts(messages(archive, "sess_one")) == ["Fix the tests."]
    assert prompts(messages(archive, "sess_two")) == ["hello"]


def test_a_summary_is_a_divider_and_a_broken_off_call_cancelled(
    archive: Archive, home: Path
) -> None:
    write(
        home,
        "aaa/sess_one",
        asked("a", "go"),
        line("t", 1, type="tool_call", toolCallId="t1", toolName="ls", args={}),
        line("t1-result-synthetic", 2, type="tool_result", toolCallId="t1", success=False),
        line("m", 3, type="assistant", operationType="Summary", content="so far"),
        line("n", 4, type="tombstone", kind="summarization"),
    )
    take_in(archive, home)
    told = messages(archive, "sess_one")
    dividers = [(m.label, text_of(m)) for m in told if m.display == "divider"]
    assert dividers == [("context compacted", "so far")]
    (result,) = [part for m in told for part in m.parts if isinstance(part, ToolResult)]
    assert result.status == "cancelled"
