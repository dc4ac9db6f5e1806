"""GitHub Copilot: sessions of its CLI, chats of VS Code, and everything both do to their files."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Attachment, Notice, Text, Thinking, ToolCall, ToolResult
from rireki.show.figures import count_all
from rireki.sources.copilot.chat import READER as CHAT
from rireki.sources.copilot.cli import READER as CLI
from rireki.sources.copilot.sessions import flat_yaml
from rireki.sources.kit.places import Places
from tests.support.homes import FIXTURES, lay_out

CHECKED = sorted(FIXTURES.glob("copilot-*/*/hand-checked.json"))
PARENT = "25f2f5d9-40c7-433a-bcd1-6433269d5704"
FORK = "9e5f954d-2a37-4583-98b9-506f86cf6ae6"
HELPED = "a4fccc36-84f5-4e71-90c8-47a35821ac05"
LOGGED = "22222222-bbbb-4bbb-8bbb-000000000001"
SESSION = "11111111-0000-4000-8000-000000000001"
AT = "2026-11-17T10:00:00.000Z"


def take_in(archive: Archive, home: Path) -> dict[str, Conversation]:
    import_history(archive, places=Places.at(home))
    return {c.native_id: c for c in archive.conversations(Filter(subagents=True))}


def messages(archive: Archive, id: str, source: str = "copilot-cli") -> list[Message]:
    return read_conversation(archive, archive.find(f"{source}/{id}")).messages()


def text_of(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def prompts(said: list[Message], *, abandoned: bool = False) -> list[str]:
    typed = [m for m in said if m.author == "person" and m.display == "bubble"]
    return [text_of(m) for m in typed if m.abandoned is abandoned]


def kept(archive: Archive) -> bytes:
    """Every byte that the archive has of anything."""
    found = []
    for group in archive.groups():
        for strand in archive.strands(group.family, group.conversation):
            found += [strand.document(state) for state in strand.states]
    return b"\n".join(found)


# ── what was checked by hand ──


@pytest.mark.parametrize("checked", CHECKED, ids=lambda path: path.parent.name)
def test_everything_that_was_typed_answered_and_called_is_there(
    checked: Path, archive: Archive, home: Path
) -> None:
    source = checked.parent.parent.name
    lay_out(f"{source}-{checked.parent.name}", home)
    found = take_in(archive, home)
    expected = {
        one["native_id"]: one for one in json.loads(checked.read_text("utf-8"))["conversations"]
    }
    assert {id for id, c in found.items() if c.nature == "conversation"} == expected.keys()
    for id, one in expected.items():
        said = messages(archive, id, source)
        parts = [part for message in said for part in message.parts]
        assert prompts(said) == one["prompts"]
        assert prompts(said, abandoned=True) == one.get("abandoned_prompts", [])
        spoken = [text_of(m) for m in said if m.author == "agent" and not m.abandoned]
        assert [text for text in spoken if text] == one["agent_messages"]
        calls = [(part.call_id, part.name) for part in parts if isinstance(part, ToolCall)]
        assert calls == [(call["id"], call["name"]) for call in one["tool_calls"]]
        results = {part.call_id for part in parts if isinstance(part, ToolResult)}
        assert results == {call["id"] for call in one["tool_calls"] if call["has_result"]}
        assert found[id].project == one["project"]
        assert found[id].models == (one["models"] or found[id].models)
        # The hand-checked titles are raw YAML.
        assert found[id].title == one["title"].strip('"')
        dividers = [m for m in said if m.label == "context compacted"]
        assert len(dividers) == one.get("compactions", 0)


def test_tokens_are_those_of_the_calls_of_this_session_alone(archive: Archive, home: Path) -> None:
    lay_out("copilot-cli-1.0.102-terminal", home)
    found = take_in(archive, home)
    parent, fork = found[PARENT].usage, found[FORK].usage
    assert parent is not None and fork is not None
    assert (parent.input_tokens, parent.cache_read_tokens, parent.output_tokens) == (434, 16, 28)
    # The client's own total says 573: it goes on from the parent's.
    assert (fork.input_tokens, fork.cache_read_tokens, fork.output_tokens) == (119, 4, 7)


def test_totals_of_a_process_count_where_calls_were_not_noted(archive: Archive, home: Path) -> None:
    lay_out("copilot-cli-1.0.24", home)
    used = take_in(archive, home)["390329fa-7d38-4e1f-9b16-315a0d30bf58"].usage
    assert used is not None
    # It was started twice, and says so twice.
    assert (used.input_tokens + used.cache_read_tokens, used.output_tokens) == (600_000, 14)
    assert not used.lower_bound


def test_tokens_of_a_session_that_was_killed_are_a_lower_bound(
    archive: Archive, home: Path
) -> None:
    write(home, event("assistant.message", content="yes", toolRequests=[], outputTokens=7))
    used = take_in(archive, home)[SESSION].usage
    assert used is not None
    assert (used.output_tokens, used.lower_bound) == (7, True)


def test_a_fork_is_linked_and_what_it_copied_is_not_said_again(
    archive: Archive, home: Path
) -> None:
    lay_out("copilot-cli-1.0.102-terminal", home)
    found = take_in(archive, home)
    assert [(one.kind, one.side, one.id) for one in found[FORK].links] == [
        ("fork", "parent", f"copilot-cli/{PARENT}")
    ]
    assert found[FORK].turns == 1
    # What was done before the fork was done once, in the session it was done in.
    assert (found[FORK].tools, found[FORK].tool_calls) == ({}, 1)
    assert count_all([found[PARENT], found[FORK]])["tools"] == {"bash": 1}
    copied = [
        m for m in messages(archive, FORK) if m.label == "from the session it was forked from"
    ]
    assert [text_of(m) for m in copied if m.author == "person"] == prompts(
        messages(archive, PARENT)
    )


def test_a_sub_agent_is_a_conversation_of_its_own(archive: Archive, home: Path) -> None:
    lay_out("copilot-cli-1.0.24", home)
    found = take_in(archive, home)
    agent = found[f"{HELPED}/call_00820"]
    assert (agent.nature, agent.title) == ("subagent", "count lines")
    assert [(one.kind, one.side, one.call_id) for one in agent.links] == [
        ("subagent", "parent", "call_00820")
    ]
    said = messages(archive, agent.native_id)
    assert [text_of(m) for m in said if text_of(m)] == [
        "Count the lines of app.py and report the number.",
        "app.py has 3 lines.",
    ]
    assert found[HELPED].tool_calls == 1


def test_words_of_a_denial_are_the_persons_and_no_prompt(archive: Archive, home: Path) -> None:
    lay_out("copilot-cli-1.0.102-terminal", home)
    take_in(archive, home)
    (denial,) = [m for m in messages(archive, PARENT) if m.entry and m.entry.rule == "denial"]
    assert (denial.author, denial.display) == ("person", "chip")
    assert text_of(denial) == "no, keep the build folder"


def test_it_is_resumed_where_it_was(archive: Archive, home: Path) -> None:
    lay_out("copilot-cli-1.0.24", home)
    found = take_in(archive, home)["8756520f-e9c5-47bc-a879-288a723a652c"]
    assert CLI.resume(found) == f"cd '/home/dev/proj/日本語' && copilot --resume {found.native_id}"


# ── events ──


def event(kind: str, /, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "timestamp": AT, "parentId": None}


def write(home: Path, *events: dict[str, Any], name: str = f"{SESSION}/events.jsonl") -> Path:
    """A session of these events."""
    path = home / ".copilot" / "session-state" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    start = event("session.start", sessionId=SESSION, context={"cwd": "/home/dev/proj"})
    lines = [{"id": f"e{n}"} | one for n, one in enumerate((start, *events))]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def said_in(archive: Archive, home: Path, *events: dict[str, Any]) -> list[Message]:
    write(home, *events)
    take_in(archive, home)
    return messages(archive, SESSION)


def typed(text: str, **more: Any) -> dict[str, Any]:
    return event("user.message", content=text, transformedContent=f"<now/>\n\n{text}", **more)


def answered(text: str, *calls: str, **more: Any) -> dict[str, Any]:
    requests = [{"toolCallId": call, "name": "bash", "arguments": {}} for call in calls]
    return event("assistant.message", content=text, toolRequests=requests, **more)


def test_what_another_wrote_in_the_users_place_is_no_prompt(archive: Archive, home: Path) -> None:
    said = said_in(archive, home, typed("mine"), typed("a skill", source="skill-pdf"))
    assert prompts(said) == ["mine"]
    assert [(m.author, m.label) for m in said if m.display == "fold"] == [
        ("harness", "from skill-pdf")
    ]


def test_agents_with_ids_are_told_from_the_session(archive: Archive, home: Path) -> None:
    agent = {"agentId": "agent-1"}
    task = event("user.message", content="Count.", source=f"agent-{SESSION}", parentToolCallId="c1")
    used = event("session.usage_record", usage={"model": "m", "inputTokens": 5, "outputTokens": 2})
    said = said_in(
        archive,
        home,
        typed("go"),
        answered("Handing over.", "c1"),
        task | agent,
        used | agent,
        answered("Three.", parentToolCallId="c1", model="m") | agent,
        event("tool.execution_complete", toolCallId="c1", success=True, result={"content": "3"}),
    )
    assert prompts(said) == ["go"]
    assert [text_of(m) for m in said if m.author == "agent"] == ["Handing over."]
    helper = archive.find(f"copilot-cli/{SESSION}/c1").conversation
    assert helper.usage is not None and helper.usage.output_tokens == 2
    assert archive.find(f"copilot-cli/{SESSION}").conversation.usage is None
    assert [text_of(m) for m in messages(archive, f"{SESSION}/c1")] == ["Count.", "Three."]


def test_what_the_client_calls_by_itself_is_not_the_models_act(
    archive: Archive, home: Path
) -> None:
    said = said_in(
        archive,
        home,
        typed("go"),
        answered("Started.", model="m"),
        event("system.notification", content="<system_notification>\ndone\n</system_notification>"),
        answered("", "c9"),
    )
    assert [m.author for m in said if any(isinstance(p, ToolCall) for p in m.parts)] == ["harness"]
    assert said[2].parts == [Notice("done")]


def test_nor_is_it_where_other_answers_name_their_model(archive: Archive, home: Path) -> None:
    told = event("system.notification", content="<system_notification>done</system_notification>")
    again = event("system.message", content="You are the GitHub Copilot CLI.")
    said = said_in(
        archive, home, typed("go"), answered("Started.", model="m"), told, again, answered("", "c9")
    )
    assert [m.author for m in said if any(isinstance(p, ToolCall) for p in m.parts)] == ["harness"]


def test_totals_that_a_client_repeats_after_it_was_only_opened_count_once(
    archive: Archive, home: Path
) -> None:
    """1.0.102 writes the totals of the whole session, and notes each call besides."""
    usage = {"model": "m", "inputTokens": 100, "outputTokens": 7}
    totals = {"modelMetrics": {"m": {"usage": usage}}}
    end = event("session.shutdown", accountingSnapshot=totals)
    used = event("session.usage_record", usage=usage)
    write(home, typed("a"), used, answered("b", model="m"), end, event("session.resume"), end)
    take_in(archive, home)
    counted = archive.find(f"copilot-cli/{SESSION}").conversation.usage
    assert counted is not None
    assert (counted.input_tokens, counted.output_tokens) == (100, 7)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        ({"success": True, "result": {"content": "x\n<exited with exit code 1>"}}, "error"),
        ({"success": True, "result": {"content": "x\n<exited with exit code 0>"}}, "ok"),
        ({"success": True, "result": {"content": "x"}, "shellExecution": {"exitCode": 2}}, "error"),
        ({"success": False, "error": {"message": "no", "code": "denied"}}, "cancelled"),
        ({"success": False, "error": {"message": "broken", "code": "failure"}}, "error"),
    ],
)
def test_how_a_command_ended_is_told_by_its_exit_code(
    data: dict[str, Any], status: str, archive: Archive, home: Path
) -> None:
    ended = event("tool.execution_complete", toolCallId="c1", **data)
    said = said_in(archive, home, answered("", "c1"), ended)
    (result,) = [p for m in said for p in m.parts if isinstance(p, ToolResult)]
    assert result.status == status


@pytest.mark.parametrize(("ended", "author"), [(True, "harness"), (False, "person")])
def test_an_abort_after_the_end_says_nothing_about_a_person(
    ended: bool, author: str, archive: Archive, home: Path
) -> None:
    end = [event("session.shutdown")] if ended else []
    abort = event("abort", reason="user initiated")
    said = said_in(archive, home, typed("a"), answered("b"), *end, abort)
    assert (said[-1].author, said[-1].display) == (author, "hidden" if ended else "chip")
    assert archive.find(SESSION).conversation.finished is ended


def test_what_was_rewound_is_abandoned(archive: Archive, home: Path) -> None:
    back = event("session.snapshot_rewind", upToEventId="e3", eventsRemoved=2)
    said = said_in(archive, home, typed("a"), answered("1"), typed("b"), answered("2"), back)
    assert [(text_of(m), m.abandoned) for m in said if m.display == "bubble"] == [
        ("a", False),
        ("1", False),
        ("b", True),
        ("2", True),
    ]


def test_thoughts_commands_answers_and_pictures_are_told(archive: Archive, home: Path) -> None:
    picture = {"type": "blob", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
    said = said_in(
        archive,
        home,
        typed("look", attachments=[picture, {"type": "file", "path": "/a.py"}]),
        event("tool.user_requested", toolCallId="u1", toolName="bash", arguments={"command": "ls"}),
        event("tool.execution_complete", toolCallId="u1", success=True, result={"content": "a"}),
        event("user_input.requested", requestId="q", question="Which?"),
        event("user_input.completed", requestId="q", answer="the first"),
        answered("Fine.", reasoningText="Hm."),
    )
    assert [type(part) for part in said[0].parts] == [Text, Attachment, Attachment]
    assert [text_of(m) for m in said[1:4]] == ["! ls", "a", "the first"]
    assert said[3].label == "answered a question: Which?"
    assert said[-1].parts == [Thinking("Hm."), Text("Fine.")]


def test_copies_of_the_context_around_a_compaction_are_passed_over(
    archive: Archive, home: Path
) -> None:
    copy = event("model.messages_snapshot", messages=[{"role": "user", "content": "again"}])
    done = event("session.compaction_complete", success=True, summaryContent="In short.")
    said = said_in(archive, home, typed("a"), copy, done)
    assert [(m.display, text_of(m)) for m in said] == [("bubble", "a"), ("divider", "In short.")]


def test_files_of_older_versions_are_read(archive: Archive, home: Path) -> None:
    write(home, typed("flat"), name=f"{SESSION}.jsonl")
    old = "22222222-0000-4000-8000-000000000002"
    path = home / ".copilot" / "history-session-state" / f"session_{old}_1759950616398.json"
    path.parent.mkdir()
    call = {"id": "c", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    chat = [
        {"role": "user", "content": "<current_datetime>x</current_datetime>\n\nlist them"},
        {"role": "assistant", "content": "Yes.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "a b"},
    ]
    timeline = [{"type": "user", "text": "list them", "timestamp": AT}]
    whole = {"sessionId": old, "startTime": AT, "chatMessages": chat, "timeline": timeline}
    path.write_text(json.dumps(whole, indent=2))
    found = take_in(archive, home)
    assert prompts(messages(archive, SESSION)) == ["flat"]
    assert prompts(messages(archive, old)) == ["list them"]
    assert (found[old].tool_calls, found[old].tool_results) == (1, 1)


def test_a_plan_and_checkpoints_come_back_with_the_session(archive: Archive, home: Path) -> None:
    path = write(home, typed("a"))
    (path.parent / "plan.md").write_text("# The plan\n")
    (path.parent / "checkpoints").mkdir()
    (path.parent / "checkpoints" / "001-x.md").write_text("In short.")
    take_in(archive, home)
    assert text_of(messages(archive, SESSION)[-1]) == "# The plan\n"
    assert b"In short." in kept(archive)


def test_a_deleted_session_stays(archive: Archive, home: Path) -> None:
    path = write(home, typed("a"), answered("b"))
    take_in(archive, home)
    shutil.rmtree(path.parent)
    found = take_in(archive, home)[SESSION]
    assert (found.upstream, found.turns) == ("gone", 1)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("name: Plain words", "Plain words"),
        ('name: "Quoted: \\"so\\""', 'Quoted: "so"'),
        ("name: 'It''s'", "It's"),
        ("name: >-\n  A long\n  title\nid: x", "A long title"),
        ("name: |-\n  Two\n  lines", "Two\nlines"),
        ("name: A long\n  title\nid: x", "A long title"),
        ("name:\nid: x", ""),
    ],
)
def test_facts_are_read_as_yaml_spells_them(text: str, name: str) -> None:
    assert flat_yaml(text)["name"] == name


def test_what_a_running_client_does_is_told(home: Path) -> None:
    path = write(home, typed("a"), event("tool.execution_start", toolCallId="c", toolName="bash"))
    (path.parent / f"inuse.{os.getpid()}.lock").touch()
    (doing,) = CLI.activity(Places.at(home))
    assert (doing.conversation, doing.state, doing.detail) == (
        f"copilot-cli/{SESSION}",
        "working",
        "bash",
    )
    asked = {"permissionRequest": {"fullCommandText": "rm x"}}
    write(home, typed("a"), event("permission.requested", **asked))
    assert [(one.state, one.detail) for one in CLI.activity(Places.at(home))] == [
        ("permission", "rm x")
    ]


def test_another_home_is_named_by_a_variable(home: Path) -> None:
    write(home, typed("a"))
    elsewhere = Places(home / "nobody", {"COPILOT_HOME": str(home / ".copilot")})
    assert [one.conversation for one in CLI.discover(elsewhere).origins] == [SESSION]
    assert [one.conversation for one in CLI.recognise(home / ".copilot")] == [SESSION]


# ── chats ──


def chat_file(home: Path, name: str = "workspaceStorage/w/chatSessions/s1.jsonl") -> Path:
    path = home / ".config" / "Code" / "User" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def asked(id: str, text: str, *response: Any, **more: Any) -> dict[str, Any]:
    request = {"requestId": id, "message": {"text": text}, "response": list(response)}
    return request | {"timestamp": 1794916000000, "modelId": "copilot/m"} | more


def whole(*requests: dict[str, Any]) -> dict[str, Any]:
    return {"version": 3, "sessionId": "s1", "requests": list(requests)}


def log(path: Path, *changes: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(change) + "\n" for change in changes))
    return path


def chat(archive: Archive, home: Path) -> list[Message]:
    take_in(archive, home)
    return messages(archive, "s1", "vscode-copilot-chat")


def test_changes_are_applied_in_order(archive: Archive, home: Path) -> None:
    path = log(
        chat_file(home),
        {"kind": 0, "v": whole(asked("r1", "one"))},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "Fir"}]},
        {"kind": 1, "k": ["requests", 0, "response", 0], "v": {"value": "First"}},
        {"kind": 1, "k": ["customTitle"], "v": "A title"},
        {"kind": 3, "k": ["customTitle"]},
        {"kind": 2, "k": ["requests", 7, "response"], "v": ["nowhere"]},
    )
    assert [text_of(m) for m in chat(archive, home)] == ["one", "First"]
    found = archive.find("s1").conversation
    assert found.title == "one"
    assert [trouble.place for trouble in found.troubles] == [f"{path}: line 6"]


def test_what_a_log_loses_when_it_is_written_anew_is_kept(archive: Archive, home: Path) -> None:
    first, second = asked("r1", "one", {"value": "1"}), asked("r2", "two", {"value": "2"})
    path = log(
        chat_file(home),
        {"kind": 0, "v": whole(first)},
        {"kind": 2, "k": ["requests"], "v": [second]},
        {"kind": 2, "k": ["requests"], "v": [asked("r3", "three")], "i": 1},
    )
    assert prompts(chat(archive, home), abandoned=True) == ["two"]
    log(path, {"kind": 0, "v": whole(first, asked("r3", "three", {"value": "3"}))})
    said = chat(archive, home)
    assert prompts(said) == ["one", "three"]
    assert [(text_of(m), m.upstream) for m in said if m.abandoned] == [
        ("two", "gone"),
        ("2", "gone"),
    ]
    path.unlink()
    assert [text_of(m) for m in chat(archive, home)] == [text_of(m) for m in said]
    assert archive.find("s1").conversation.upstream == "gone"


def test_a_chat_in_all_three_stores_is_there_once(archive: Archive, home: Path) -> None:
    first, second = asked("r1", "one", {"value": "1"}), asked("r2", "two", {"value": "2"})
    path = chat_file(home)
    with sqlite3.connect(path.parent.parent / "state.vscdb") as database:
        database.execute("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        row = ("interactive.sessions", json.dumps([whole(first)]))
        database.execute("INSERT INTO ItemTable VALUES (?, ?)", row)
    database.close()
    path.with_suffix(".json").write_text(json.dumps(whole(first, second)))
    log(path, {"kind": 0, "v": whole(first, asked("r3", "three"))})
    said = chat(archive, home)
    assert prompts(said) == ["one", "three"]
    assert prompts(said, abandoned=True) == ["two"]


def test_a_copy_in_another_window_is_the_same_chat(archive: Archive, home: Path) -> None:
    first = asked("r1", "one", {"value": "1"})
    alone = chat_file(home, "globalStorage/emptyWindowChatSessions/s1.jsonl")
    log(alone, {"kind": 0, "v": whole(first)})
    later = asked("r2", "two", timestamp=1794916900000)
    log(chat_file(home), {"kind": 0, "v": whole(first, later)})
    said = chat(archive, home)
    assert (prompts(said), prompts(said, abandoned=True)) == (["one", "two"], [])


def test_what_a_document_got_after_the_log_beside_it_was_not_taken_back(
    archive: Archive, home: Path
) -> None:
    first, gone = asked("r1", "one", "1"), asked("r2", "two", "2")
    later = asked("r3", "three", "3", timestamp=1794916900000)
    path = log(chat_file(home), {"kind": 0, "v": whole(first)})
    path.with_suffix(".json").write_text(json.dumps(whole(first, gone, later)))
    said = chat(archive, home)
    assert prompts(said) == ["one", "three"]
    assert prompts(said, abandoned=True) == ["two"]


def test_a_call_is_one_although_the_editor_made_up_an_id_for_it(
    archive: Archive, home: Path
) -> None:
    shown = {
        "kind": "toolInvocationSerialized",
        "toolId": "copilot_readFile",
        "toolCallId": "6f0f3f4e-made-up",
        "isComplete": True,
    }
    call = {"id": "call_1", "name": "read_file", "arguments": '{"path":"a"}'}
    metadata = {
        "toolCallRounds": [{"id": "t", "response": "", "toolCalls": [call]}],
        "toolCallResults": {"call_1": {"content": [{"value": "text"}]}},
    }
    request = asked("r1", "one", {"value": "Reading."}, shown, result={"metadata": metadata})
    log(chat_file(home), {"kind": 0, "v": whole(request)})
    parts = [part for m in chat(archive, home) for part in m.parts]
    assert [part for part in parts if isinstance(part, ToolCall)] == [
        ToolCall("call_1", "read_file", {"path": "a"})
    ]
    assert [part for part in parts if isinstance(part, ToolResult)] == [
        ToolResult("call_1", "ok", "text")
    ]


def test_a_document_that_is_trimmed_loses_nothing(archive: Archive, home: Path) -> None:
    path = chat_file(home).with_suffix(".json")
    path.write_text(json.dumps(whole(asked("r1", "one", "1"), asked("r2", "two", "2")), indent=2))
    chat(archive, home)
    path.write_text(json.dumps(whole(asked("r2", "two", "2", " more")), indent=2))
    said = chat(archive, home)
    assert [(text_of(m), m.upstream) for m in said] == [
        ("one", "gone"),
        ("1", "gone"),
        ("two", "present"),
        ("2 more", "present"),
    ]


def test_a_transcript_of_the_extension_is_read_where_it_is_all_there_is(
    archive: Archive, home: Path
) -> None:
    path = chat_file(home, "workspaceStorage/w/GitHub.copilot-chat/transcripts/s1.jsonl")
    log(path, {"id": "e1"} | typed("asked"), {"id": "e2"} | answered("said"))
    assert [text_of(m) for m in chat(archive, home)] == ["asked", "said"]
    log(chat_file(home), {"kind": 0, "v": whole(asked("r1", "asked", "said at length"))})
    assert [text_of(m) for m in chat(archive, home)] == ["asked", "said at length"]


@pytest.mark.parametrize(
    ("told", "project"),
    [
        ({"folder": "file:///home/dev/my%20proj"}, "/home/dev/my proj"),
        ({"folder": "file:///c%3A/Users/dev/proj"}, "c:\\Users\\dev\\proj"),
        ({"folder": "vscode-remote://ssh-remote%2Bbox/srv/proj"}, "/srv/proj"),
        ({"workspace": "file:///home/dev/all.code-workspace"}, "/home/dev"),
        ({"folder": "untitled:x"}, None),
        ("nonsense", None),
    ],
)
def test_the_project_is_told_by_the_workspace(
    told: Any, project: str | None, archive: Archive, home: Path
) -> None:
    path = log(chat_file(home), {"kind": 0, "v": whole(asked("r1", "one"))})
    (path.parent.parent / "workspace.json").write_text(json.dumps(told))
    take_in(archive, home)
    assert archive.find("s1").conversation.project == project


def test_other_editors_and_servers_are_looked_into(home: Path) -> None:
    for place in (".config/VSCodium", "Library/Application Support/Code", "AppData/Roaming/Cursor"):
        path = home / place / "User" / "workspaceStorage" / "w" / "chatSessions" / "s.json"
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    remote = home / ".vscode-server" / "data" / "User" / "workspaceStorage" / "w" / "chatSessions"
    remote.mkdir(parents=True)
    (remote / "s.jsonl").write_text("{}\n")
    found = CHAT.discover(Places.at(home))
    assert len(found.origins) == 4
    assert all(one.found or "Code" in one.place or "data" in one.place for one in found.looked)


def test_the_folder_of_an_editor_may_be_named_at_any_height(home: Path) -> None:
    path = log(chat_file(home), {"kind": 0, "v": whole(asked("r1", "one"))})
    places = [path, *path.parents][:7]
    assert places[5].name == "Code"
    found = [[one.conversation for one in CHAT.recognise(place)] for place in (*places[:6], home)]
    assert found == [["s1"]] * 7


def test_no_token_comes_into_the_archive(archive: Archive, home: Path) -> None:
    lay_out("vscode-copilot-chat-composed-earlier", home)
    lay_out("copilot-cli-1.0.24", home)
    for name in ("config.json", "mcp-oauth-config/x.json", "logs/a.log"):
        path = home / ".copilot" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text('{"copilot_tokens": "canary-secret-of-the-cli"}')
    take_in(archive, home)
    assert b"sort_items" in kept(archive)
    assert b"canary-secret" not in kept(archive)
