"""Kiro's editor: `.chat` files, sessions with runs, and what its newer version migrated of them."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Attachment, Text, ToolCall, ToolResult
from rireki.sources.amazon_q.kiro import READER as KIRO
from rireki.sources.amazon_q.kiro_ide import READER
from rireki.sources.kit.places import Places
from tests.support.homes import FIXTURES, lay_out

CHECKED = json.loads((FIXTURES / "kiro-ide/composed/hand-checked.json").read_text("utf-8"))
OLD = [one for one in CHECKED["conversations"] if one["store"] in ("workspace-sessions", "chat")]
PROJECT = "/home/dev/proj/demo-app"
FOLDER = sha256(PROJECT.encode()).hexdigest()[:32]
RUNS = "414d1636299d2b9e4ce7e17fb11f63e9"


def take_in(archive: Archive, home: Path) -> dict[str, Conversation]:
    import_history(archive, places=Places.at(home))
    return {c.native_id: c for c in archive.conversations(Filter(subagents=True))}


def messages(archive: Archive, id: str) -> list[Message]:
    return read_conversation(archive, archive.find(id)).messages()


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def prompts(said: list[Message]) -> list[str]:
    return [text_of(m) for m in said if m.author == "person" and m.display == "bubble"]


def answers(said: list[Message]) -> list[str]:
    return [text_of(m) for m in said if m.author == "agent" and text_of(m)]


def write(home: Path, name: str, value: Any) -> Path:
    path = home / ".config/Kiro/User/globalStorage/kiro.kiroagent" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def run(id: str, *actions: dict[str, Any], session: str = "s1", **more: Any) -> dict[str, Any]:
    about = {
        "executionId": id,
        "chatSessionId": session,
        "status": "succeed",
        "startTime": 1773050401000,
    }
    return about | {"actions": list(actions)} | more


def say(id: str, text: str) -> dict[str, Any]:
    return {
        "actionId": id,
        "actionType": "say",
        "actionState": "Success",
        "output": {"message": text},
    }


def chat(id: str, *texts: str, start: int = 1754000000000, **more: Any) -> dict[str, Any]:
    roles = ("human", "bot")
    entries = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    metadata = {"workflowId": "w", "modelId": "sonnet", "startTime": start, "endTime": start + 9}
    return {"executionId": id, "chat": entries, "metadata": metadata} | more


@pytest.mark.parametrize("one", OLD, ids=lambda one: one["native_id"])
def test_every_conversation_says_what_was_typed_answered_and_called(
    one: dict[str, Any], archive: Archive, home: Path
) -> None:
    lay_out("kiro-ide-composed", home)
    found = take_in(archive, home)[one["native_id"]]
    said = messages(archive, found.id)
    parts = [part for message in said for part in message.parts]
    assert prompts(said) == one["prompts"]
    assert answers(said) == one["agent_messages"]
    calls = [(part.call_id, part.name) for part in parts if isinstance(part, ToolCall)]
    assert calls == [
        (call["id"], ".".join(filter(None, (call.get("namespace"), call["name"]))))
        for call in one["tool_calls"]
    ]
    results = {part.call_id: part.status for part in parts if isinstance(part, ToolResult)}
    assert len(results) == one["results"]
    failed = {call["id"] for call in one["tool_calls"] if call.get("error")}
    assert {id for id, status in results.items() if status != "ok"} == failed
    assert len([p for p in parts if isinstance(p, Attachment)]) == one.get("images", 0)
    assert (found.project, found.models) == (one["project"], one["models"])
    assert found.title == one["title"] or one["title"] is None


def test_a_home_with_three_generations_has_each_conversation_once(
    archive: Archive, home: Path
) -> None:
    lay_out("kiro-ide-composed", home)
    found = take_in(archive, home)
    wanted = {c["native_id"] for c in CHECKED["conversations"] if c.get("is_conversation", True)}
    assert {id for id, one in found.items() if one.nature == "conversation"} == wanted
    migrated = found["7a11c0de-0001-4000-8000-000000000001"]
    assert (migrated.id, migrated.turns) == (f"kiro/{migrated.native_id}", 3)
    assert migrated.held_by == ["kiro", "kiro-ide"]
    assert KIRO.resume(migrated) == (
        f"cd /home/dev/proj/demo-app && kiro-cli --v3 --resume-id {migrated.native_id}"
    )
    typed = [m.at for m in messages(archive, migrated.id) if m.author == "person"]
    assert None not in typed


def test_what_followed_a_migration_is_told_after_the_old_files(
    archive: Archive, home: Path
) -> None:
    lay_out("kiro-ide-composed", home)
    id = "7a11c0de-0001-4000-8000-000000000001"
    log = home / ".kiro" / "sessions" / "c394af3a009a31cd" / id / "messages.jsonl"
    with log.open("a", encoding="utf-8") as file:
        for name, kind, text in (("n1", "user", "And now?"), ("n2", "assistant", "Now this.")):
            payload = {"type": kind, "operationType": "Say", "content": text}
            at = "2026-09-01T00:00:00.000Z"
            file.write(json.dumps({"id": name, "timestamp": at, "payload": payload}) + "\n")
    take_in(archive, home)
    said = messages(archive, f"kiro/{id}")
    assert prompts(said)[2:] == ["Thanks. What did you change?", "And now?"]
    assert answers(said)[-2:] == ["I translated the greeting in app.py.", "Now this."]


def test_a_deleted_session_stays_and_its_runs_are_a_conversation_without_it(
    archive: Archive, home: Path
) -> None:
    history = [
        {"message": {"role": "user", "content": "hello", "id": "m1"}},
        {"message": {"role": "assistant", "content": "On it.", "id": "m2"}, "executionId": "e1"},
    ]
    spine = {"sessionId": "s1", "title": "Greeting", "history": history}
    place = write(home, "workspace-sessions/key/s1.json", spine)
    write(home, f"{FOLDER}/{RUNS}/x1", run("e1", say("a1", "Hi.")))
    asked = {"data": {"userPrompt": "alone"}}
    write(home, f"{FOLDER}/{RUNS}/x2", run("e2", say("a2", "Yes."), session="s2", input=asked))
    take_in(archive, home)
    place.unlink()
    found = take_in(archive, home)
    assert found.keys() == {"s1", "s2"}
    assert (prompts(messages(archive, "s1")), found["s1"].title) == (["hello"], "Greeting")
    assert answers(messages(archive, "s1")) == ["Hi."]
    assert prompts(messages(archive, "s2")) == ["alone"]


def test_a_run_that_is_torn_just_now_is_left_as_it_was(archive: Archive, home: Path) -> None:
    place = write(home, f"{FOLDER}/{RUNS}/x1", run("e1", say("a1", "Hi.")))
    take_in(archive, home)
    place.write_bytes(place.read_bytes()[:60])
    assert take_in(archive, home).keys() == {"s1"}
    assert answers(messages(archive, "s1")) == ["Hi."]
    write(home, f"{FOLDER}/{RUNS}/x1", run("e1", say("a1", "Hi."), say("a2", "There.")))
    take_in(archive, home)
    assert answers(messages(archive, "s1")) == ["Hi.", "There."]


def test_half_a_character_where_an_output_was_cut_spoils_nothing(
    archive: Archive, home: Path
) -> None:
    place = write(home, f"{FOLDER}/{RUNS}/x1", run("e1", say("a1", "Hi.")))
    take_in(archive, home)
    write(home, f"{FOLDER}/{RUNS}/x1", run("e1", say("a1", "Hi."), say("a2", "cut HERE")))
    place.write_text(place.read_text("utf-8").replace("HERE", "\\ud83d"), "utf-8")
    take_in(archive, home)
    assert answers(messages(archive, "s1")) == ["Hi.", "cut \ufffd"]
    (strand,) = archive.strands("amazon-q", "s1")
    assert {one.lane for one in strand.states[-1].runs} == {"head", "actions"}


def test_what_was_said_before_the_first_run_that_is_left_is_told(
    archive: Archive, home: Path
) -> None:
    def message(role: str, **entry: Any) -> dict[str, Any]:
        return {"role": role, "entries": [entry]}

    before = [
        message("human", type="text", text="<identity>\nYou are Kiro.\n</identity>"),
        message("human", type="text", text="earlier"),
        message("bot", type="toolUse", id="t1", name="ls", args={}),
        message("tool", type="toolUseResponse", toolUseId="t1", message="a", success=True),
        message("human", type="text", text="now"),
    ]
    more: dict[str, Any] = {
        "context": {"messages": before},
        "input": {"data": {"userPrompt": "now"}},
    }
    write(home, f"{FOLDER}/{RUNS}/x1", run("e1", say("a1", "Hi."), **more))
    found = take_in(archive, home)["s1"]
    assert prompts(messages(archive, "s1")) == ["earlier", "now"]
    assert (found.tool_calls, found.calls_without_result) == (1, 0)


def entry(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"message": {"role": role, "content": content}} | more


def session(home: Path, *history: dict[str, Any], id: str = "s1") -> Path:
    spine = {"sessionId": id, "title": "", "history": list(history)}
    key = base64.urlsafe_b64encode(PROJECT.encode()).decode().replace("=", "_")
    return write(home, f"workspace-sessions/{key}/{id}.json", spine)


def asks(text: str) -> dict[str, Any]:
    return {"input": {"data": {"userPrompt": text}}}


def told(archive: Archive, id: str = "s1") -> list[tuple[str, str]]:
    said = [m for m in messages(archive, id) if m.display == "bubble" and text_of(m)]
    return [(m.author, text_of(m)) for m in said]


def test_the_same_words_typed_twice_are_two_prompts_but_a_run_that_goes_on_is_none(
    archive: Archive, home: Path
) -> None:
    for number, status in enumerate(("succeed", "yielded", "succeed"), 1):
        one = run(
            f"e{number}", say(f"a{number}", f"Step {number}."), status=status, **asks("go on")
        )
        write(home, f"{FOLDER}/{RUNS}/x{number}", one | {"startTime": 1773050400000 + number})
    take_in(archive, home)
    asked, agent = ("person", "go on"), "agent"
    assert told(archive) == [
        *(asked, (agent, "Step 1."), asked, (agent, "Step 2."), (agent, "Step 3.")),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([entry("user", "one", executionId="e1"), entry("assistant", "On it.")], True),
        ([entry("user", "one"), entry("assistant", "On it.")], True),
        ([entry("user", "one"), entry("assistant", "On it."), {"executionId": "e1"}], True),
        ([entry("user", "one"), entry("assistant", "On it.", executionId="e1"),
          entry("assistant", "Other words.", executionId="e1")], True),
        ([entry("user", "one"), entry("assistant", "On it.",
          promptLogs=[{"completion": "First."}]), {"executionId": "e1"}], True),
        ([entry("user", "one"), entry("assistant", "First.", executionId="lost")], False),
        ([entry("user", "one"), entry("assistant", "First.", executionId="mute")], False),
        ([entry("user", "one"), entry("assistant", "On it.", executionId="lost")], False),
    ],
)  # fmt: skip
def test_the_words_of_a_turn_are_those_of_its_run_wherever_it_is_named(
    first: list[dict[str, Any]], second: bool, archive: Archive, home: Path
) -> None:
    before = [
        {"role": "human", "entries": [{"type": "text", "text": "one"}]},
        {"role": "bot", "entries": [{"type": "text", "text": "First."}]},
        {"role": "human", "entries": [{"type": "text", "text": "two"}]},
    ]
    later = entry("user", "two"), entry("assistant", "On it.", executionId="e2")
    session(home, *first, *later)
    if second:
        write(home, f"{FOLDER}/{RUNS}/x1", run("e1", say("a1", "First."), **asks("one")))
    write(home, f"{FOLDER}/{RUNS}/x0", run("mute", startTime=1))
    more = asks("two") | {"context": {"messages": before}}
    write(home, f"{FOLDER}/{RUNS}/x2", run("e2", say("a2", "Second."), **more))
    take_in(archive, home)
    assert told(archive) == [
        *(("person", "one"), ("agent", "First."), ("person", "two"), ("agent", "Second.")),
    ]


def test_a_hidden_session_was_started_by_the_editor(archive: Archive, home: Path) -> None:
    path = session(home, entry("user", "Implement task 1."), entry("assistant", "Done."))
    listed = [{"sessionId": "s1", "title": "Task 1", "hidden": True}]
    path.with_name("sessions.json").write_text(json.dumps(listed))
    take_in(archive, home)
    assert told(archive) == [("agent", "Done.")]


def test_a_run_that_another_started_is_a_sub_agents(archive: Archive, home: Path) -> None:
    step: dict[str, Any] = {
        "actionId": "t1",
        "actionType": "invoke_sub_agent",
        "actionState": "Success",
    }
    step |= {"input": {"prompt": "count"}, "output": {"executionId": "e2"}}
    write(home, f"{FOLDER}/{RUNS}/x1", run("e1", step, say("a1", "Three."), **asks("how many?")))
    write(home, f"{FOLDER}/{RUNS}/x2", run("e2", say("a2", "3"), **asks("count")))
    found = take_in(archive, home)
    assert {id: one.nature for id, one in found.items()} == {"s1": "conversation", "e2": "subagent"}
    assert told(archive) == [("person", "how many?"), ("agent", "Three.")]
    assert told(archive, "e2") == [("harness", "count"), ("agent", "3")]
    links = [(one.kind, one.side, one.id, one.call_id) for one in found["e2"].links]
    assert links == [("subagent", "parent", "kiro-ide/s1", "t1")]


def test_a_run_belongs_to_the_session_that_names_it(archive: Archive, home: Path) -> None:
    """After a restart, runs have another session's id, which no file is called by."""
    runs = (("e1", "s1"), ("e2", "other"), ("e3", "orphan"))
    answers = [entry("assistant", "On it.", executionId=id) for id, _ in runs[:2]]
    session(home, entry("user", "one"), answers[0], entry("user", "two"), answers[1])
    for id, chat_session in runs:
        write(home, f"{FOLDER}/{RUNS}/{id}", run(id, say(f"a{id}", id), session=chat_session))
    assert take_in(archive, home).keys() == {"s1", "orphan"}
    assert told(archive) == [
        *(("person", "one"), ("agent", "e1"), ("person", "two"), ("agent", "e2")),
    ]


def test_successive_chats_of_a_workflow_are_one_without_what_they_repeat(
    archive: Archive, home: Path
) -> None:
    write(home, f"{FOLDER}/a.chat", chat("e1", "one"))
    write(home, f"{FOLDER}/b.chat", chat("e1", "one", "first"))
    write(
        home, f"{FOLDER}/c.chat", chat("e2", "one", "first", "two", "second", start=1754000050000)
    )
    found = take_in(archive, home)
    assert found.keys() == {"e1"}
    assert prompts(messages(archive, "e1")) == ["one", "two"]
    assert answers(messages(archive, "e1")) == ["first", "second"]


def test_calls_in_a_chat_are_told_with_their_results(archive: Archive, home: Path) -> None:
    call = "Looking.<tool_use><name>ls</name><path>.</path></tool_use>"
    value = chat("e1", "<kiro-ide-message>x<user>go</kiro-ide-message>", call)
    value["chat"].append({"role": "tool", "content": "a b"})
    write(home, f"{FOLDER}/a.chat", value)
    found = take_in(archive, home)["e1"]
    assert prompts(messages(archive, "e1")) == ["go"]
    assert (found.tools, found.tool_results) == ({"ls": 1}, 1)


def test_a_call_without_a_result_takes_no_later_one(archive: Archive, home: Path) -> None:
    first, second = "<tool_use><name>ls</name>.", "<tool_use><name>cat</name>a</tool_use>"
    value = chat("e1", "one", first, "two", second)
    value["chat"].append({"role": "tool", "content": "found"})
    write(home, f"{FOLDER}/a.chat", value)
    take_in(archive, home)
    parts = [part for message in messages(archive, "e1") for part in message.parts]
    calls = {part.call_id: part.name for part in parts if isinstance(part, ToolCall)}
    assert list(calls.values()) == ["ls", "cat"]
    results = [calls[part.call_id] for part in parts if isinstance(part, ToolResult)]
    assert results == ["cat"]


@pytest.mark.parametrize("path", [PROJECT, "c:\\src", "/home/dev/日本語", "/tmp/a?"])
def test_a_folder_is_known_by_the_workspaces_that_sessions_name(path: str, home: Path) -> None:
    key = base64.urlsafe_b64encode(path.encode()).decode().replace("=", "_")
    write(home, f"workspace-sessions/{key}/s1.json", {"sessionId": "s1", "history": []})
    write(home, f"{sha256(path.encode()).hexdigest()[:32]}/a.chat", chat("e1", "hello"))
    (origin,) = [one for one in READER.discover(Places.at(home)).origins if one.role == "ide-chat"]
    assert origin.project == path
    assert READER.locate(Places.at(home), origin.place) == [origin]


def test_every_system_is_looked_at(tmp_path: Path) -> None:
    places = Places(tmp_path, {"XDG_CONFIG_HOME": "/cfg", "APPDATA": "/roaming"})
    looked = [one.place for one in READER.discover(places).looked]
    below = "User/globalStorage/kiro.kiroagent"
    assert looked == [
        f"/cfg/Kiro/{below}",
        f"{tmp_path}/Library/Application Support/Kiro/{below}",
        f"/roaming/Kiro/{below}",
        f"{tmp_path}/.kiro-server/data/{below}",
    ]


def test_there_is_no_command_that_resumes_an_old_session(archive: Archive, home: Path) -> None:
    write(home, f"{FOLDER}/a.chat", chat("e1", "hello", "hi"))
    assert READER.resume(take_in(archive, home)["e1"]) is None
