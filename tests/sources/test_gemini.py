"""Gemini CLI and Qwen Code: chats of every form, and everything their clients do to them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_conversation
from rireki.intake.restore import restore
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Attachment, Text, Thinking, ToolCall, ToolResult
from rireki.sources.gemini import GEMINI, QWEN
from rireki.sources.kit.places import Places
from tests.support.driven import Journal
from tests.support.homes import FIXTURES, files, lay_out

CHECKED = [
    path
    for source in ("gemini-cli", "qwen-code")
    for path in sorted((FIXTURES / source).glob("*/hand-checked.json"))
]
SESSION = "9ff13080-cdb1-4ee3-8eb6-5630c78a2c08"
RESUMED = "342829f2-9e46-4c9b-b1f3-d946d551a3ba"


def take_in(archive: Archive, home: Path) -> dict[str, Conversation]:
    import_history(archive, places=Places.at(home))
    return {c.native_id: c for c in archive.conversations(Filter(subagents=True))}


def messages(archive: Archive, conversation: Conversation) -> list[Message]:
    return read_conversation(archive, archive.find(conversation.id)).messages()


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def prompts(said: list[Message]) -> list[str]:
    return [text_of(m) for m in said if m.author == "person" and m.display == "bubble"]


def answers(said: list[Message]) -> list[str]:
    return [text_of(m) for m in said if (m.author, m.display) == ("agent", "bubble") and text_of(m)]


def rules(said: list[Message]) -> list[str]:
    return [m.entry.rule for m in said if m.entry]


def outline(message: Message) -> tuple[Any, ...]:
    return message.id, message.parts, message.label, message.abandoned, message.upstream


# ── what real clients wrote ──


@pytest.mark.parametrize("checked", CHECKED, ids=lambda p: f"{p.parts[-3]}-{p.parts[-2]}")
def test_every_session_says_what_was_typed_answered_and_called(
    checked: Path, archive: Archive, home: Path
) -> None:
    lay_out(f"{checked.parts[-3]}-{checked.parts[-2]}", home)
    # Directories that other agents worked in: names of folders are hashes of them.
    lay_out("qwen-code-0.24.4", home) if checked.parts[-2] == "0.24.5" else None
    take_in(archive, home)
    found = {k: c for k, c in take_in(archive, home).items() if c.source == checked.parts[-3]}
    expected = json.loads(checked.read_text("utf-8"))["conversations"]
    assert found.keys() == {one["native_id"] for one in expected}
    for one in expected:
        conversation = found[one["native_id"]]
        said = messages(archive, conversation)
        parts = [part for message in said for part in message.parts]
        assert prompts(said) == one["prompts"]
        assert answers(said) == one["agent_messages"]
        called = [(part.name, part.call_id) for part in parts if isinstance(part, ToolCall)]
        assert called == [(call["name"], call["id"]) for call in one["tool_calls"]]
        results = {part.call_id: part.status for part in parts if isinstance(part, ToolResult)}
        assert len([part for part in parts if isinstance(part, ToolResult)]) == len(results)
        statuses = {"success": "ok", "error": "error", "cancelled": "cancelled", None: "ok"}
        assert results == {
            call["id"]: statuses[call["status"]] for call in one["tool_calls"] if call["has_result"]
        }
        assert conversation.project == one["project"]
        assert conversation.models == one["models"]
        assert (conversation.nature == "subagent") == ("sub_agent_of" in one)
        tasks = [m for m in said if m.entry and m.entry.rule in ("task of a sub-agent", "nudge")]
        assert [text_of(m) for m in tasks] == one.get("prompts_from_parent_agent", [])
        left = [text_of(m) for m in said if m.abandoned and m.author == "agent"]
        assert left == one.get("abandoned_agent_messages", [])
        used, total = conversation.usage, one["token_totals"]
        assert used is not None
        read = used.input_tokens + used.cache_read_tokens
        assert read == total.get("input", total.get("promptTokenCount"))
        # What the model thought is written as well: Gemini counts it apart, Qwen does not.
        if "total" in total:
            assert read + used.output_tokens == total["total"]
        else:
            assert used.output_tokens == total["candidatesTokenCount"]
        parents = [link.id for link in conversation.links if link.side == "parent"]
        parent = one.get("sub_agent_of") or one.get("forked_from")
        assert parents == ([f"{conversation.source}/{parent}"] if parent else [])


# ── what their clients do to them ──

AT = "2026-11-17T10:00:0{}.000Z"
HASH = "c394af3a009a31cd36cd3c42ecd7b6045bb377099bac0eb980d136ed89000feb"


def write(home: Path, lines: list[dict[str, Any]], session: str = SESSION, name: str = "") -> Path:
    """A log of these lines."""
    path = home / ".gemini" / "tmp" / "demo" / "chats"
    path = path / (name or f"session-2026-11-17T10-00-{session[:8]}.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"sessionId": session, "projectHash": HASH, "startTime": AT.format(0), "kind": "main"}
    text = "".join(json.dumps(line) + "\n" for line in [head, *lines])
    path.write_text(text, encoding="utf-8")
    return path


def user(id: str, *texts: str, at: int = 1, **more: Any) -> dict[str, Any]:
    parts = [{"text": text} for text in texts]
    return {"id": id, "timestamp": AT.format(at), "type": "user", "content": parts} | more


def gemini(id: str, text: str, at: int = 2, **more: Any) -> dict[str, Any]:
    tokens = {"input": 10, "output": 2, "cached": 1, "thoughts": 3, "tool": 0, "total": 15}
    told = {"id": id, "timestamp": AT.format(at), "type": "gemini", "content": text}
    return told | {"tokens": tokens, "model": "gemini-9"} | more


def replaced(*messages: dict[str, Any], at: int = 3) -> dict[str, Any]:
    return {"$set": {"messages": list(messages), "lastUpdated": AT.format(at)}}


def only(archive: Archive, home: Path) -> list[Message]:
    (conversation,) = take_in(archive, home).values()
    return messages(archive, conversation)


def test_a_chat_that_its_client_deletes_after_a_resume_is_kept(
    archive: Archive, home: Path, tmp_path: Path
) -> None:
    lay_out("gemini-cli-0.61.0-resume-stub", home)
    before = only(archive, home)
    kept = {path.name: path.read_bytes() for path in files(home) if path.suffix == ".jsonl"}
    for path in files(home):
        if path.suffix == ".jsonl":
            path.unlink()
    (gone,) = take_in(archive, home).values()
    assert gone.upstream == "gone"
    assert prompts(messages(archive, gone)) == prompts(before)
    back = restore(archive, archive.find(gone.id), tmp_path / "back")
    assert {path.name: path.read_bytes() for path in back} == kept
    assert GEMINI.resume(gone) == f"cd /home/dev/proj/demo-app && gemini --resume {RESUMED}"


def test_a_list_that_replaces_all_messages_degrades_none_of_them(
    archive: Archive, home: Path
) -> None:
    call = {
        "id": "c1",
        "name": "ls",
        "args": {"path": "."},
        "status": "success",
        "result": [{"functionResponse": {"id": "c1", "response": {"output": "all of it"}}}],
    }
    masked = call | {"result": [{"functionResponse": {"id": "c1", "response": {"output": "cut"}}}]}
    thoughts = [{"subject": "Look", "description": "first"}]
    poor = {"id": "g1", "timestamp": AT.format(9), "type": "gemini"}
    content = [{"text": "Look first", "thought": True}, {"text": "Here."}]
    write(
        home,
        [
            user("u1", "list it"),
            gemini("g1", "Here.", toolCalls=[call], thoughts=thoughts),
            replaced(
                user("u1", "list it", at=9),
                poor | {"content": [*content, {"functionCall": {"id": "c1", "name": "ls"}}]},
                user("g1", at=9) | {"content": masked["result"]},
            ),
            gemini("g1", "Here.", toolCalls=[masked], thoughts=[]),
        ],
    )
    said = only(archive, home)
    assert [m.id for m in said] == ["u1", "g1", "g1.results"]
    assert said[0].at == AT.format(1)
    answer, result = said[1].parts, said[2].parts
    assert answer == [Thinking("Look\nfirst"), Text("Here."), ToolCall("c1", "ls", {"path": "."})]
    assert result == [ToolResult("c1", "ok", "all of it")]


def test_the_same_words_typed_twice_are_two_prompts(archive: Archive, home: Path) -> None:
    write(home, [user("u1", "go on"), gemini("g1", "A"), user("u2", "go on"), gemini("g2", "A")])
    said = only(archive, home)
    assert prompts(said) == ["go on", "go on"]
    assert answers(said) == ["A", "A"]


def test_what_a_list_alone_has_is_added(archive: Archive, home: Path) -> None:
    write(home, [replaced(user("o1", "asked before"), gemini("o2", "Yes.")), user("u1", "now")])
    assert prompts(only(archive, home)) == ["asked before", "now"]


def test_a_summary_in_place_of_the_chat_is_a_divider_and_a_fold(
    archive: Archive, home: Path
) -> None:
    summary = user("s1", "<state_snapshot>all so far</state_snapshot>")
    filler = gemini("s2", "Got it. Thanks for the additional context!", model=None, tokens=None)
    write(
        home, [user("u1", "one"), gemini("g1", "A"), replaced(summary, filler), user("u2", "two")]
    )
    said = only(archive, home)
    assert [(m.display, m.label) for m in said[2:5]] == [
        ("divider", "context compacted"),
        ("fold", "summary"),
        ("fold", "put in by the program"),
    ]
    assert prompts(said) == ["one", "two"]


def test_a_folder_that_got_another_name_changes_nothing(archive: Archive, home: Path) -> None:
    """From 0.3x on, what lay in a folder called after a hash is taken over into another one."""
    lay_out("gemini-cli-0.61.0-terminal", home)
    tmp = home / ".gemini" / "tmp"
    shutil.move(tmp / "demo-app", tmp / HASH)
    before = only(archive, home)
    shutil.copytree(tmp / HASH, tmp / "demo-app")
    assert [outline(m) for m in only(archive, home)] == [outline(m) for m in before]
    shutil.rmtree(tmp / HASH)
    (conversation,) = take_in(archive, home).values()
    assert conversation.upstream == "present"
    moved = messages(archive, conversation)
    assert [outline(m) for m in moved] == [outline(m) for m in before]


@pytest.mark.parametrize("form", ["list", "line and list"])
@pytest.mark.parametrize(
    "summary",
    [
        "<state_snapshot>all so far</state_snapshot>",
        "<scratchpad>hm</scratchpad>\n<state_snapshot>all so far</state_snapshot>",
        "All so far, in plain words.",
    ],
)
def test_a_summary_is_told_by_its_tags_or_by_what_the_client_answers_it(
    form: str, summary: str, archive: Archive, home: Path
) -> None:
    filler = gemini("s2", "Got it. Thanks for the additional context!", model=None, tokens=None)
    new = [user("s1", summary, at=3), filler | {"timestamp": AT.format(3)}]
    lines = new if form == "line and list" else []
    first = [user("u1", "one"), gemini("g1", "A")]
    write(home, [*first, *lines, replaced(*new), user("u2", "two", at=9)])
    said = only(archive, home)
    assert prompts(said) == ["one", "two"]
    assert [m.label for m in said if m.label] == [
        *("context compacted", "summary", "put in by the program")
    ]


def test_going_back_to_a_message_nobody_knows_leaves_everything(
    archive: Archive, home: Path
) -> None:
    write(home, [user("u1", "one"), {"$rewindTo": "elsewhere"}, user("u2", "two")])
    said = only(archive, home)
    assert [m.abandoned for m in said if m.display == "bubble"] == [True, False]


def test_a_whole_file_that_is_rewritten_keeps_what_it_had(archive: Archive, home: Path) -> None:
    path = (
        home / ".gemini" / "tmp" / HASH / "chats" / f"session-2026-11-17T10-00-{SESSION[:8]}.json"
    )
    path.parent.mkdir(parents=True)
    head = {"sessionId": SESSION, "projectHash": HASH, "startTime": AT.format(0)}
    first = [user("u1", "one"), gemini("g1", "A"), user("u2", "two"), gemini("g2", "B")]
    path.write_text(json.dumps(head | {"messages": first}, indent=2))
    take_in(archive, home)
    call: dict[str, Any] = {
        "id": "c",
        "name": "ls",
        "status": "cancelled",
        "args": {},
        "result": None,
    }
    later = [*first[:2], gemini("g1", "A", toolCalls=[call]), user("u3", "three")]
    path.write_text(json.dumps(head | {"summary": "Named", "messages": later[1:]}, indent=2))
    (conversation,) = take_in(archive, home).values()
    said = messages(archive, conversation)
    assert sorted(prompts(said)) == ["one", "three", "two"]
    assert answers(said).count("A") == 1
    assert conversation.title == "Named"
    assert conversation.upstream == "changed"
    assert {text_of(m): (m.upstream, m.abandoned) for m in said if m.author == "person"} == {
        "one": ("gone", False),
        "two": ("gone", True),
        "three": ("present", False),
    }


def test_a_file_of_the_old_form_that_became_a_log_is_one_session(
    archive: Archive, home: Path
) -> None:
    said = [user("u1", "one"), gemini("g1", "A")]
    log = write(home, [*said, {"$set": {"sessionId": SESSION}}, user("u2", "two")])
    head = {"sessionId": SESSION, "projectHash": HASH, "startTime": AT.format(0)}
    log.with_suffix(".json").write_text(json.dumps(head | {"messages": said}))
    found = only(archive, home)
    assert prompts(found) == ["one", "two"]
    assert answers(found) == ["A"]


def test_a_session_in_which_nobody_said_anything_is_none(archive: Archive, home: Path) -> None:
    log = write(home, [replaced(user("c", "<session_context>x</session_context>"))])
    assert take_in(archive, home) == {}
    with log.open("a") as file:
        file.write(json.dumps(user("u1", "hello")) + "\n")
    assert prompts(only(archive, home)) == ["hello"]


def test_a_session_of_nothing_but_commands_is_none_either(archive: Archive, home: Path) -> None:
    log = write(home, [replaced(user("c", "<session_context>x</session_context>"))])
    told = {"sessionId": SESSION, "messageId": 0, "type": "user", "timestamp": AT.format(5)}
    (log.parents[1] / "logs.json").write_text(json.dumps([told | {"message": "/quit"}]))
    (found,) = take_in(archive, home).values()
    assert (found.nature, found.turns) == ("prompts", 0)


def test_two_sessions_whose_ids_begin_alike_stay_two(archive: Archive, home: Path) -> None:
    other = f"{SESSION[:8]}-0000-4000-8000-000000000000"
    write(home, [user("u1", "one")])
    write(home, [user("u2", "two")], other, f"session-2026-11-17T11-00-{other[:8]}.jsonl")
    found = take_in(archive, home)
    assert {id: c.title for id, c in found.items()} == {SESSION: "one", other: "two"}


def response(id: str, output: str) -> dict[str, Any]:
    return {"functionResponse": {"id": id, "name": "read", "response": {"output": output}}}


def results(said: list[Message]) -> list[tuple[str, str, str]]:
    parts = [part for message in said for part in message.parts]
    return [(p.call_id, p.status, p.output) for p in parts if isinstance(p, ToolResult)]


def test_a_call_has_its_own_result_where_all_results_of_a_turn_stand_in_each(
    archive: Archive, home: Path
) -> None:
    turn = [response("a", "of a"), response("b", "of b")]
    calls: list[dict[str, Any]] = [
        {"id": id, "name": "read", "args": {}, "status": "success", "result": turn}
        for id in ("a", "b")
    ]
    write(home, [user("u1", "both"), gemini("g1", "Reading.", toolCalls=calls)])
    assert results(only(archive, home)) == [("a", "ok", "of a"), ("b", "ok", "of b")]


def test_a_picture_beside_a_result_is_kept(archive: Archive, home: Path) -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}
    turn = [response("a", "Binary content"), picture, response("b", "text")]
    calls: list[dict[str, Any]] = [
        {"id": id, "name": "read", "args": {}, "status": "success", "result": turn}
        for id in ("a", "b")
    ]
    write(home, [user("u1", "look"), gemini("g1", "", toolCalls=calls)])
    said = only(archive, home)
    assert results(said) == [("a", "ok", "Binary content"), ("b", "ok", "text")]
    kinds = [type(part).__name__ for part in said[-1].parts]
    assert kinds == ["ToolResult", "Attachment", "ToolResult"]


def test_a_result_in_a_message_of_its_own_is_not_shown_again_by_its_display(
    archive: Archive, home: Path
) -> None:
    call = {"id": "a", "name": "read", "args": {}, "status": "success", "resultDisplay": "shown"}
    answer = gemini("g1", "", toolCalls=[call])
    write(home, [user("u1", "look"), answer, user("r1") | {"content": [response("a", "all")]}])
    assert results(only(archive, home)) == [("a", "ok", "all")]


def test_a_denied_call_is_cancelled_wherever_that_is_said(archive: Archive, home: Path) -> None:
    told = "[Operation Cancelled] Reason: User denied execution."
    denied = {"functionResponse": {"id": "a", "name": "rm", "response": {"error": told}}}
    asked = {"functionCall": {"id": "a", "name": "rm", "args": {}}}
    list_ = [
        user("u1", "remove it"),
        gemini("g1", "") | {"content": [asked]},
        user("g1") | {"content": [denied]},
    ]
    write(home, [replaced(*list_)])
    assert results(only(archive, home)) == [("a", "cancelled", told)]


def test_words_that_a_list_has_twice_are_two_prompts(archive: Archive, home: Path) -> None:
    before = (user("o1", "go on"), gemini("o2", "A"), user("o3", "go on"), gemini("o4", "A"))
    write(home, [replaced(*before), user("u1", "go on", at=9)])
    said = only(archive, home)
    assert prompts(said) == ["go on", "go on", "go on"]
    assert answers(said) == ["A", "A"]


def test_going_back_to_a_message_that_was_said_again_leaves_what_came_after_it(
    archive: Archive, home: Path
) -> None:
    again = (
        *(user("x1", "one", at=5), gemini("y1", "A", at=5, model=None, tokens=None)),
        *(user("x2", "two", at=5), gemini("y2", "B", at=5, model=None, tokens=None)),
    )
    first = (user("u1", "one"), gemini("g1", "A"), user("u2", "two"), gemini("g2", "B"))
    write(home, [*first, user("u3", "denied"), *again, replaced(*again, at=5), {"$rewindTo": "x2"}])
    said = only(archive, home)
    bubbles = [(text_of(m), m.abandoned) for m in said if m.display == "bubble"]
    assert bubbles == [
        *(("one", False), ("A", False)),
        *(("two", True), ("B", True), ("denied", True)),
    ]


def test_a_prompt_that_begins_as_a_nudge_does_is_a_prompt(archive: Archive, home: Path) -> None:
    write(
        home, [user("u1", "Please continue. Then run the tests."), user("u2", "Please continue.")]
    )
    assert prompts(only(archive, home)) == ["Please continue. Then run the tests."]


def test_a_sub_agents_chat_beside_the_others_is_a_sub_agent(archive: Archive, home: Path) -> None:
    chat = write(home, [user("u1", "look")])
    # Some versions gave it the id of the session it worked for, and the next name.
    head = {"sessionId": SESSION, "projectHash": HASH, "startTime": AT.format(1)}
    told = [user("t1", "count lines"), gemini("t2", "Three.")]
    value = head | {"kind": "subagent", "directories": ["/src/app"], "messages": told}
    beside = chat.parent / f"session-2026-11-17T10-01-{SESSION[:8]}.json"
    beside.write_text(json.dumps(value))
    import_history(archive, places=Places.at(home))
    found = {c.nature: c for c in archive.conversations(Filter(subagents=True))}
    assert {nature: c.title for nature, c in found.items()} == {
        "conversation": "look",
        "subagent": "count lines",
    }
    assert found["conversation"].native_id == SESSION
    assert answers(messages(archive, found["conversation"])) == []
    assert [link.id for link in found["subagent"].links] == [f"gemini-cli/{SESSION}"]


def test_a_turn_that_was_stopped_is_interrupted(archive: Archive, home: Path) -> None:
    stopped = {"id": "i1", "timestamp": AT.format(3), "type": "info"}
    write(home, [user("u1", "tell a story"), stopped | {"content": "Request cancelled."}])
    (conversation,) = take_in(archive, home).values()
    (_, notice) = messages(archive, conversation)
    assert (notice.author, notice.label, conversation.finished) == ("person", "interrupted", False)


def test_text_that_the_client_put_in_is_told_from_what_was_typed(
    archive: Archive, home: Path
) -> None:
    shell = (
        "I ran the following shell command:\n```sh\nls -a\n```\n\n"
        "This produced the following result:\n```\n. ..\n```"
    )
    files_in = ("\n--- Content from referenced files ---", "\nContent from @a.py:\n", "print()")
    picture = {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}
    asked = user("u1", "<session_context>x</session_context>", "Read @a.py", *files_in)
    asked["content"] += [picture, {"text": "\n--- End of content ---"}]
    write(home, [asked, user("u2", shell), user("u3", "System: Please continue.")])
    said = only(archive, home)
    assert prompts(said) == ["Read @a.py"]
    assert [part for part in said[0].parts if isinstance(part, Attachment)]
    assert rules(said) == [
        *("typed prompt", "session context", "mentioned files"),
        *("shell command", "nudge"),
    ]
    assert text_of(said[3]) == "! ls -a\n. .."


def test_a_prompt_that_the_client_expands_is_shown_as_it_was_typed(
    archive: Archive, home: Path
) -> None:
    write(home, [user("u1", "a long text of a command", displayContent=[{"text": "/review"}])])
    said = only(archive, home)
    assert prompts(said) == ["/review"]
    assert text_of(said[1]) == "a long text of a command"


def test_of_a_session_without_its_chat_what_was_typed_survives(
    archive: Archive, home: Path
) -> None:
    lay_out("gemini-cli-0.61.0-terminal", home)
    shutil.rmtree(home / ".gemini" / "tmp" / "demo-app" / "chats")
    shutil.rmtree(home / ".gemini" / "tmp" / "demo-app" / "checkpoints")
    (home / ".gemini" / "tmp" / "demo-app" / "checkpoint-mytag.json").unlink()
    (conversation,) = take_in(archive, home).values()
    assert (conversation.nature, conversation.native_id) == ("prompts", SESSION)
    said = messages(archive, conversation)
    assert len(prompts(said)) == 6
    assert [text_of(m) for m in said if m.entry and m.entry.rule == "command"][:2] == [
        "/chat save mytag",
        "/compress",
    ]


def test_a_saved_history_tells_what_was_said_where_the_chat_is_gone(
    archive: Archive, home: Path
) -> None:
    lay_out("gemini-cli-0.61.0-terminal", home)
    shutil.rmtree(home / ".gemini" / "tmp" / "demo-app" / "chats")
    said = only(archive, home)
    assert answers(said)[:2] == ["Hello. What shall we do?", "I will remove it."]
    assert prompts(said)[:2] == ["Hello, first typed prompt.", "Please remove the build folder."]


def test_a_saved_history_of_no_known_session_is_called_by_its_tag(
    archive: Archive, home: Path
) -> None:
    path = home / ".gemini" / "tmp" / "demo" / "checkpoint-tag.json"
    path.parent.mkdir(parents=True)
    history = [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"text": "ho"}]},
    ]
    path.write_text(json.dumps(history))
    (conversation,) = take_in(archive, home).values()
    assert (conversation.title, conversation.turns) == ("checkpoint-tag", 1)
    assert GEMINI.resume(conversation) is None


def test_short_names_of_sub_agents_are_told_apart_by_their_sessions(
    archive: Archive, home: Path
) -> None:
    task = "Your task is to do a deep investigation.\n<objective>\nfind it\n</objective>\nNow."
    sessions = ("11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000")
    for session in sessions:
        call = {"id": "c", "name": "codebase_investigator", "args": {"objective": "find it"}}
        write(
            home,
            [user("u", "look"), gemini("g", "", toolCalls=[call])],
            session,
            f"session-2026-11-17T10-00-{session[:8]}.jsonl",
        )
        write(home, [user("t", task)], "abcdef", f"{session}/abcdef.jsonl")
    take_in(archive, home)
    agents = [c for c in archive.conversations(Filter(subagents=True)) if c.nature == "subagent"]
    assert [c.native_id for c in agents] == ["abcdef", "abcdef"]
    assert sorted((c.title, link.id, link.call_id) for c in agents for link in c.links) == [
        ("find it", f"gemini-cli/{session}", "c") for session in sessions
    ]


def test_a_file_named_by_hand_is_known_by_its_content(home: Path, tmp_path: Path) -> None:
    chat = write(home, [user("u1", "one")])
    loose = tmp_path / "saved.jsonl"
    shutil.copy(chat, loose)
    assert [(o.role, o.conversation) for o in GEMINI.recognise(loose)] == [("chat", SESSION[:8])]
    assert QWEN.recognise(loose) == []
    lay_out("qwen-code-0.24.4", home)
    (session,) = (home / ".qwen").rglob("319eacc0*.jsonl")
    assert [o.role for o in QWEN.recognise(session)] == ["session"]
    assert GEMINI.recognise(session) == []


@pytest.mark.parametrize("source", ["gemini-cli", "qwen-code"])
def test_a_driven_session_and_its_transcript_are_one_conversation(
    source: str, archive: Archive, home: Path
) -> None:
    if source == "gemini-cli":
        lay_out("gemini-cli-0.61.0-resume-stub", home)
        session = RESUMED
    else:
        lay_out("qwen-code-0.24.4", home)
        session = "319eacc0-6563-4f83-b474-8abf590c52f6"
    journal = Journal(home)
    journal.start(source)
    journal.write("session", source=source, id=session)
    journal.send("p1", "Please list the files in this folder.")
    journal.say("b1", "I will look at the files.")
    journal.say("b2", "There are two files: README.md and app.py.")
    journal.end("p1")
    found = take_in(archive, home)
    assert not [c for c in found.values() if c.source == "bridge"]
    said = messages(archive, found[session])
    assert prompts(said).count("Please list the files in this folder.") == 1
    assert answers(said).count("I will look at the files.") == 1


# ── Qwen Code ──

QWEN_SESSION = "aaaaaaaa-0000-4000-8000-000000000000"


def qwen(home: Path, *lines: dict[str, Any]) -> Path:
    path = home / ".qwen" / "projects" / "-home-dev" / "chats" / f"{QWEN_SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"sessionId": QWEN_SESSION, "cwd": "/home/dev", "timestamp": AT.format(1)}
    path.write_text("".join(json.dumps(about | line) + "\n" for line in lines))
    return path


def asked(uuid: str, parent: str | None, text: str, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "parts": [{"text": text}]}
    return {"uuid": uuid, "parentUuid": parent, "type": "user", "message": message} | more


def system(uuid: str, parent: str | None, subtype: str, **payload: Any) -> dict[str, Any]:
    about = {"uuid": uuid, "parentUuid": parent, "type": "system", "subtype": subtype}
    return about | {"systemPayload": payload}


def test_qwen_a_rewind_leaves_a_branch(archive: Archive, home: Path) -> None:
    qwen(
        home,
        asked("1", None, "one"),
        asked("2", "1", "left"),
        system("3", "1", "rewind", truncatedCount=1),
        asked("4", "3", "two"),
    )
    said = only(archive, home)
    assert [(text_of(m), m.abandoned) for m in said if m.display == "bubble"] == [
        ("one", False),
        ("left", True),
        ("two", False),
    ]


def test_qwen_a_title_told_beside_the_others_leaves_nothing(archive: Archive, home: Path) -> None:
    qwen(
        home,
        asked("1", None, "one"),
        asked("2", "1", "left"),
        system("3", "1", "rewind", truncatedCount=1),
        asked("4", "3", "two"),
        system("5", None, "custom_title", customTitle="Named"),
    )
    said = [m for m in only(archive, home) if m.display == "bubble"]
    assert [(text_of(m), m.abandoned) for m in said] == [
        ("one", False),
        ("left", True),
        ("two", False),
    ]


def test_qwen_a_branch_without_a_word_on_it_is_left_too(archive: Archive, home: Path) -> None:
    qwen(home, asked("1", None, "one"), asked("2", "1", "left"), asked("3", "1", "two"))
    assert [(text_of(m), m.abandoned) for m in only(archive, home)] == [
        ("one", False),
        ("left", True),
        ("two", False),
    ]


def test_qwen_a_session_that_lies_in_two_places_is_told_once(archive: Archive, home: Path) -> None:
    file = qwen(home, asked("1", None, "one"), asked("2", "1", "two"))
    other = home / ".qwen" / "projects" / "-elsewhere" / "chats" / file.name
    other.parent.mkdir(parents=True)
    shutil.copy(file, other)
    said = only(archive, home)
    assert [(m.id, text_of(m)) for m in said] == [("1", "one"), ("2", "two")]


def test_qwen_what_a_program_wrote_is_no_prompt(archive: Archive, home: Path) -> None:
    qwen(
        home,
        asked("1", None, "typed", systemPayload={"displayText": "/typed"}),
        asked("2", "1", "ended", subtype="notification", provenance="system"),
        asked("3", "2", "every day", subtype="cron", provenance="system"),
        asked("4", "3", "steer", subtype="mid_turn_user_message", provenance="real_user"),
        system("5", "4", "slash_command", phase="invocation", rawCommand="/about"),
        system("6", "5", "chat_compression", compressedHistory=[{"parts": [{"text": "short"}]}]),
        system("7", "6", "custom_title", customTitle="Called so"),
        system(
            "8", "7", "ui_telemetry", uiEvent={"event.name": "qwen-code.api_error", "error": "no"}
        ),
    )
    (conversation,) = take_in(archive, home).values()
    said = messages(archive, conversation)
    assert prompts(said) == ["/typed", "steer"]
    assert conversation.title == "Called so"
    assert [(m.display, m.label) for m in said if m.display != "bubble"] == [
        ("fold", "what the model was given"),
        ("chip", "a background task ended"),
        ("fold", "scheduled prompt"),
        ("chip", "/about"),
        ("divider", "context compacted"),
        ("chip", "API error"),
    ]
    assert QWEN.resume(conversation) == f"cd /home/dev && qwen --resume {QWEN_SESSION}"
