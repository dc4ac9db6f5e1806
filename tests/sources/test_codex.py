"""Codex: rollout files of three generations, and everything its client does to them."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import zstandard

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Attachment, Notice, Text, Thinking, ToolCall, ToolResult
from rireki.sources.codex import READER
from rireki.sources.kit.places import Places
from tests.support.homes import FIXTURES, lay_out

CHECKED = sorted((FIXTURES / "codex").glob("*/hand-checked.json"))
THREAD = "01a1e95b-50f0-7033-9aad-66701f3a0522"
OTHER = "01a1e958-0000-7000-8000-000000000000"
PARENT = "01a1e959-7b36-7581-91b9-7e3214892af8"


def take_in(archive: Archive, home: Path) -> dict[str, Conversation]:
    import_history(archive, places=Places.at(home))
    return {c.native_id: c for c in archive.conversations(Filter(subagents=True))}


def messages(archive: Archive, id: str) -> list[Message]:
    return read_conversation(archive, archive.find(f"codex/{id}")).messages()


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def prompts(said: list[Message]) -> list[str]:
    return [text_of(m) for m in said if m.author == "person" and m.display == "bubble"]


def write(home: Path, lines: list[dict[str, Any]], name: str = "") -> Path:
    """A rollout file of these lines."""
    name = name or f"rollout-2026-11-17T10-00-00-{THREAD}.jsonl"
    path = home / ".codex" / "sessions" / "2026" / "11" / "17" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def line(kind: str, at: str = "2026-11-17T10:00:00.000Z", /, **payload: Any) -> dict[str, Any]:
    return {"timestamp": at, "type": kind, "payload": payload}


def meta(**more: Any) -> dict[str, Any]:
    facts = {"id": THREAD, "timestamp": "2026-11-17T10:00:00.000Z", "cwd": "/home/dev/proj"}
    return line("session_meta", **(facts | more))


def item(**item: Any) -> dict[str, Any]:
    return line("event_msg", type="item_completed", turn_id="t", item=item)


def typed(text: str) -> dict[str, Any]:
    return line("event_msg", type="user_message", message=text)


def answered(text: str) -> dict[str, Any]:
    return line("event_msg", type="agent_message", message=text)


def for_the_model(role: str, *texts: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text} for text in texts]
    return line("response_item", type="message", role=role, content=content, **more)


# ── what real clients wrote ──


@pytest.mark.parametrize("checked", CHECKED, ids=lambda path: path.parent.name)
def test_every_thread_says_what_was_typed_answered_and_called(
    checked: Path, archive: Archive, home: Path
) -> None:
    lay_out(f"codex-{checked.parent.name}", home)
    found = take_in(archive, home)
    threads: dict[str, list[dict[str, Any]]] = {}
    for one in json.loads(checked.read_text("utf-8"))["conversations"]:
        threads.setdefault(one["native_id"], []).append(one)
    assert found.keys() == threads.keys()
    for id, files in threads.items():
        said = messages(archive, id)
        parts = [part for message in said for part in message.parts]
        assert prompts(said) == [text for file in files for text in file["prompts"]]
        agents = [text_of(m) for m in said if m.author == "agent" and text_of(m)]
        assert agents == [text for file in files for text in file["agent_messages"]]
        called = [(part.call_id, part.name) for part in parts if isinstance(part, ToolCall)]
        assert called == [
            (call["id"], ".".join(filter(None, (call.get("namespace"), call["name"]))))
            for file in files
            for call in file["tool_calls"]
        ]
        results = [part.call_id for part in parts if isinstance(part, ToolResult)]
        assert len(results) == sum(file["results"] for file in files)
        thoughts = [part for part in parts if isinstance(part, Thinking)]
        assert len(thoughts) == sum(file["reasoning_items"] for file in files)
        dividers = [m for m in said if m.display == "divider"]
        assert len(dividers) == sum(file["compacted"] for file in files)
        assert found[id].project == files[0]["project"]
        assert found[id].models == files[0]["models"]
        assert found[id].title == files[0].get("title", found[id].title)
        assert (found[id].nature == "subagent") == ("sub_agent_of" in files[0])
        asked = files[0].get("prompts_from_parent_agent", [])
        assert [
            text_of(m) for m in said if m.author == "harness" and m.display == "bubble"
        ] == asked


def test_tokens_are_those_of_the_calls_of_this_thread_alone(archive: Archive, home: Path) -> None:
    lay_out("codex-0.150.0", home)
    found = take_in(archive, home)
    fork = found["01a1e95f-78ac-7c32-a556-94f6d888dbe8"].usage
    assert fork is not None
    # The client's own total says 1036 and 80: it goes on from the parent's.
    assert (fork.input_tokens, fork.cache_read_tokens, fork.output_tokens) == (272, 10, 20)


def test_a_total_that_begins_again_with_a_resume_is_no_loss(archive: Archive, home: Path) -> None:
    lay_out("codex-0.63.0", home)
    used = take_in(archive, home)["01a1e95d-285e-7c21-b6cc-5bdc0610307c"].usage
    assert used is not None
    assert used.output_tokens == 60


def test_forks_and_sub_agents_are_linked(archive: Archive, home: Path) -> None:
    lay_out("codex-0.150.0", home)
    found = take_in(archive, home)
    fork = found["01a1e95f-78ac-7c32-a556-94f6d888dbe8"]
    assert [(one.kind, one.side, one.id) for one in fork.links] == [
        ("fork", "parent", "codex/01a1e95e-ec01-7fa0-8858-ad7ad075fa4b")
    ]
    agent = found["01a1e95f-5515-7773-b74b-6614b1e08393"]
    assert [(one.kind, one.side, one.call_id) for one in agent.links] == [
        ("subagent", "parent", "call_01721")
    ]


def test_a_rewind_leaves_a_branch_and_loses_no_prompt(archive: Archive, home: Path) -> None:
    lay_out("codex-0.169.0-tui", home)
    take_in(archive, home)
    said = [m for m in messages(archive, THREAD) if m.author == "person" and m.display == "bubble"]
    assert [(text_of(m), m.abandoned) for m in said] == [
        ("Hello in the fork", False),
        ("こんにちは、二つ目", True),
        ("こんにちは、二つ目 (rewound) hello", False),
    ]


def test_a_command_typed_with_an_exclamation_mark_is_the_persons_act(
    archive: Archive, home: Path
) -> None:
    lay_out("codex-0.169.0-tui", home)
    take_in(archive, home)
    (shell,) = [m for m in messages(archive, PARENT) if m.label == "! echo from-bang"]
    assert (shell.author, shell.display) == ("person", "chip")
    assert "from-bang" in text_of(shell)


def test_a_denied_command_is_cancelled(archive: Archive, home: Path) -> None:
    lay_out("codex-0.169.0-tui", home)
    take_in(archive, home)
    parts = [part for m in messages(archive, PARENT) for part in m.parts]
    status = {part.call_id: part.status for part in parts if isinstance(part, ToolResult)}
    assert status == {"call_00481": "cancelled", "call_00502": "ok"}


def test_pictures_come_back(archive: Archive, home: Path) -> None:
    lay_out("codex-0.63.0", home)
    lay_out("codex-0.150.0", home / "newer")
    shutil.copytree(home / "newer" / ".codex", home / ".codex", dirs_exist_ok=True)
    take_in(archive, home)
    for id in ("01a1e95d-9abf-7811-a397-1f2b01e8fa88", "01a1e95f-462b-7ba0-a3ec-3f16927b8357"):
        reading = read_conversation(archive, archive.find(f"codex/{id}"))
        (picture,) = [
            part for m in reading.messages() for part in m.parts if isinstance(part, Attachment)
        ]
        data = reading.attachment(picture.digest)
        assert data is not None
        assert data.startswith(b"\x89PNG")
        assert picture.media_type == "image/png"


def test_it_is_resumed_where_it_was(archive: Archive, home: Path) -> None:
    lay_out("codex-0.63.0", home)
    found = take_in(archive, home)["01a1e95d-4a5e-7430-8537-cc4b21aadacb"]
    assert READER.resume(found) == f"cd '/home/dev/proj/日本語' && codex resume {found.native_id}"


# ── what its client does to files ──


def test_a_thread_that_is_archived_compressed_and_deleted_is_there_once(
    archive: Archive, home: Path
) -> None:
    path = write(home, [meta(), typed("first"), answered("one")])
    take_in(archive, home)
    moved = home / ".codex" / "archived_sessions" / path.name
    moved.parent.mkdir()
    path.rename(moved)
    assert take_in(archive, home)[THREAD].upstream == "present"
    packed = moved.with_name(f"{moved.name}.zst")
    packed.write_bytes(zstandard.compress(moved.read_bytes()))
    moved.unlink()
    found = take_in(archive, home)
    assert (found[THREAD].turns, found[THREAD].upstream) == (1, "present")
    assert [text_of(m) for m in messages(archive, THREAD)] == ["first", "one"]
    packed.unlink()
    assert take_in(archive, home)[THREAD].upstream == "gone"
    assert [text_of(m) for m in messages(archive, THREAD)] == ["first", "one"]


def test_a_compressed_file_that_is_none_is_named_and_costs_nothing_else(
    archive: Archive, home: Path
) -> None:
    path = write(home, [meta(), typed("first")])
    path.with_name(f"{path.name}.zst").write_bytes(b"\x28\xb5\x2f\xfd garbage")
    found = take_in(archive, home)[THREAD]
    assert [trouble.message.split(" (")[0] for trouble in found.troubles] == ["cannot be unpacked"]
    assert prompts(messages(archive, THREAD)) == ["first"]


def test_prompts_whose_rollout_is_gone_are_kept(archive: Archive, home: Path) -> None:
    lay_out("codex-0.169.0-tui", home)
    shutil.rmtree(home / ".codex" / "sessions")
    found = take_in(archive, home)
    assert {c.nature for c in found.values()} == {"prompts"}
    assert found[THREAD].title == "My Codex thread"
    assert prompts(messages(archive, THREAD))[0] == "Hello in the fork"


def test_turns_that_were_rolled_back_are_abandoned(archive: Archive, home: Path) -> None:
    back = line("event_msg", type="thread_rolled_back", num_turns=1)
    write(home, [meta(), typed("a"), answered("1"), typed("b"), answered("2"), back, typed("c")])
    take_in(archive, home)
    said = [(text_of(m), m.abandoned) for m in messages(archive, THREAD) if m.display == "bubble"]
    assert said == [("a", False), ("1", False), ("b", True), ("2", True), ("c", False)]


def test_what_a_fork_copied_is_not_said_again(archive: Archive, home: Path) -> None:
    begun = line("event_msg", type="task_started", turn_id="old", started_at=1794900000)
    own = line("event_msg", type="task_started", turn_id="new", started_at=1794909600)
    call = line("response_item", type="function_call", name="ls", arguments="{}", call_id="c1")
    parent = [meta(id=PARENT), begun, typed("parent's"), call, answered("parent's answer")]
    write(home, [meta(forked_from_id=PARENT), *parent, own, typed("mine"), answered("yours")])
    found = take_in(archive, home)[THREAD]
    assert (found.turns, found.tool_calls) == (1, 0)
    said = messages(archive, THREAD)
    assert prompts(said) == ["mine"]
    copied = [text_of(m) for m in said if m.label == "from the thread it was forked from"]
    assert copied == ["parent's", "parent's answer"]


def test_a_fork_in_which_nothing_was_asked_yet_has_each_copy_once(
    archive: Archive, home: Path
) -> None:
    parent = [meta(id=PARENT), for_the_model("user", "parent's"), typed("parent's")]
    write(home, [meta(forked_from_id=PARENT), *parent])
    assert take_in(archive, home)[THREAD].turns == 0
    assert [text_of(m) for m in messages(archive, THREAD)] == ["parent's"]


def test_a_checkout_of_its_own_belongs_to_its_repository(archive: Archive, home: Path) -> None:
    repository = home / "proj" / "demo"
    checkout = home / ".codex" / "worktrees" / "83af" / "demo"
    checkout.mkdir(parents=True)
    (checkout / ".git").write_text(f"gitdir: {repository}/.git/worktrees/demo\n")
    write(home, [meta(cwd=str(checkout)), typed("hello")])
    found = take_in(archive, home)[THREAD]
    assert (found.project, found.trail) == (str(repository), [str(checkout)])
    assert READER.resume(found) == f"cd {checkout} && codex resume {THREAD}"


def test_a_checkout_may_name_its_repository_as_seen_from_itself(
    archive: Archive, home: Path
) -> None:
    checkout = home / ".codex" / "worktrees" / "83af" / "demo"
    checkout.mkdir(parents=True)
    (checkout / ".git").write_text("gitdir: ../../../../proj/demo/.git/worktrees/demo\n")
    write(home, [meta(cwd=str(checkout)), typed("hello")])
    assert take_in(archive, home)[THREAD].project == str(home / "proj" / "demo")


def test_a_fork_that_does_not_say_so_is_told_by_the_first_line_it_copied(
    archive: Archive, home: Path
) -> None:
    """Up to 0.63; without tasks, what was copied is told by having been written all at once."""
    copied = [meta(id=PARENT), typed("parent's"), answered("parent's answer")]
    later = "2026-11-17T10:00:05.000Z"
    own = line("event_msg", later, type="user_message", message="mine")
    write(home, [meta(), *copied, own])
    write(home, copied, f"rollout-2026-11-17T09-00-00-{PARENT}.jsonl")
    found = take_in(archive, home)[THREAD]
    assert prompts(messages(archive, THREAD)) == ["mine"]
    assert [(one.kind, one.id) for one in found.links] == [("fork", f"codex/{PARENT}")]


def test_where_a_fork_begins_is_told_by_the_time_in_the_ids_of_turns(
    archive: Archive, home: Path
) -> None:
    """The second is too coarse when the parent worked in it, and some tasks do not say theirs."""
    own_start = "2026-11-17T10:00:00.500Z"

    def turn(millisecond: int) -> dict[str, Any]:
        # 2026-11-17T10:00:00Z is 1794909600 seconds.
        stamp = f"{1794909600000 + millisecond:012x}"
        id = f"{stamp[:8]}-{stamp[8:]}-7000-8000-000000000000"
        return line("event_msg", own_start, type="task_started", turn_id=id)

    parent = [meta(id=PARENT), turn(100) | {}, typed("parent's"), answered("parent's answer")]
    parent[1]["payload"]["started_at"] = 1794909600
    first = meta(forked_from_id=PARENT, timestamp=own_start)
    write(home, [first, *parent, turn(600), typed("mine"), answered("yours")])
    take_in(archive, home)
    assert prompts(messages(archive, THREAD)) == ["mine"]


def write_paginated(home: Path, *said: tuple[str, str]) -> None:
    """The same file as `codex migrate-rollouts` writes it."""
    items = [item(type=kind, content=[{"type": "text", "text": text}]) for kind, text in said]
    lines = [meta(history_mode="paginated"), for_the_model("user", "first"), *items]
    write(home, [{**one, "ordinal": n} for n, one in enumerate(lines)])


def test_a_file_that_the_client_writes_anew_in_another_generation_is_told_once(
    archive: Archive, home: Path
) -> None:
    write(home, [meta(), for_the_model("user", "first"), typed("first"), answered("one")])
    take_in(archive, home)
    kept = [("UserMessage", "first"), ("AgentMessage", "one")]
    write_paginated(home, *kept)
    take_in(archive, home)
    assert [text_of(m) for m in messages(archive, THREAD)] == ["first", "one"]
    write_paginated(home, *kept, ("UserMessage", "second"))
    assert take_in(archive, home)[THREAD].turns == 2
    assert prompts(messages(archive, THREAD)) == ["first", "second"]


def test_what_did_not_come_along_into_another_generation_is_kept_as_left(
    archive: Archive, home: Path
) -> None:
    write(home, [meta(), typed("first"), answered("one")])
    take_in(archive, home)
    write_paginated(home, ("UserMessage", "second"))
    take_in(archive, home)
    said = [(text_of(m), m.abandoned) for m in messages(archive, THREAD) if m.display == "bubble"]
    assert said == [("first", True), ("one", True), ("second", False)]


def test_lines_that_are_alike_are_not_one_when_a_file_lies_in_two_places(
    archive: Archive, home: Path
) -> None:
    """Those of the first generation have no time to tell them apart."""

    def bare(role: str, text: str) -> dict[str, Any]:
        return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}

    where = "<environment_context>\n<cwd>/home/dev/old</cwd>\n</environment_context>"
    first = {"id": THREAD, "timestamp": "2026-11-17T10:00:00.000Z", "instructions": None}
    turns = [bare("user", "yes"), bare("assistant", "done")]
    path = write(home, [first, bare("user", where), *turns, *turns])
    packed = path.with_name(f"{path.name}.zst")
    packed.write_bytes(zstandard.compress(path.read_bytes()))
    found = take_in(archive, home)[THREAD]
    bubbles = [text_of(m) for m in messages(archive, THREAD) if m.display == "bubble"]
    assert bubbles == ["yes", "done", "yes", "done"]
    assert found.project == "/home/dev/old"


def test_a_file_that_goes_on_from_another_says_where_that_is(archive: Archive, home: Path) -> None:
    base = {"thread_id": PARENT, "end_ordinal_exclusive": 29}
    said = item(type="UserMessage", content=[{"type": "text", "text": "mine"}])
    write(home, [meta(history_mode="paginated", forked_from_id=PARENT, history_base=base), said])
    take_in(archive, home)
    assert messages(archive, THREAD)[0].parts == [
        Notice("What came before stands in the thread it was forked from.")
    ]
    rewound = {"thread_id": THREAD, "end_ordinal_exclusive": 5}
    name = f"rollout-2026-11-17T10-00-00-{PARENT}_{THREAD}.jsonl"
    rewound["thread_id"] = PARENT
    write(home, [meta(id=PARENT, history_mode="paginated", history_base=rewound), said], name)
    take_in(archive, home)
    assert messages(archive, PARENT)[0].parts == [
        Notice("What came before was in a file that was never seen.")
    ]


def test_a_fork_may_name_a_file_of_a_thread_that_was_rewound(archive: Archive, home: Path) -> None:
    rollout = "01a1e95b-bf68-70a2-b57d-705ebb8d8bab"
    said = item(type="UserMessage", content=[{"type": "text", "text": "mine"}])
    name = f"rollout-2026-11-17T09-00-00-{PARENT}_{rollout}.jsonl"
    write(home, [meta(id=PARENT, history_mode="paginated"), said], name)
    base = {"thread_id": rollout, "end_ordinal_exclusive": 2}
    write(home, [meta(history_mode="paginated", history_base=base), said])
    found = take_in(archive, home)[THREAD]
    assert [(one.kind, one.id) for one in found.links] == [("fork", f"codex/{PARENT}")]


# ── who typed what ──


def test_a_prompt_that_only_begins_like_an_injected_text_is_a_prompt(
    archive: Archive, home: Path
) -> None:
    environment = "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>"
    texts = [environment, "<skill> what is this tag?", "<SKILL>a skill</SKILL>"]
    write(home, [meta(), *(for_the_model("user", text) for text in texts)])
    take_in(archive, home)
    said = messages(archive, THREAD)
    assert prompts(said) == ["<skill> what is this tag?"]
    assert [(m.label, m.author) for m in said if m.display == "fold"] == [
        ("environment", "harness"),
        ("skill", "harness"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '<skill name="x">quoted</skill>',
        "<skills>mine</skills>",
        "<image src='a.png'> should be <img>",
        "Warning: the build prints this. Why?",
    ],
)
def test_a_text_that_only_looks_like_an_injected_one_is_a_prompt(
    text: str, archive: Archive, home: Path
) -> None:
    write(home, [meta(), for_the_model("user", text)])
    take_in(archive, home)
    assert prompts(messages(archive, THREAD)) == [text]


@pytest.mark.parametrize(
    "text",
    [
        '<codex_internal_context source="goal">\ngo on\n</codex_internal_context>',
        '<hook_prompt hook_run_id="h1">again</hook_prompt>',
        "<external_editor>a selection</external_editor>",
        '<image name=[Image #1] path="red.png">',
        "Warning: apply_patch was requested via exec_command. Use the apply_patch tool instead.",
    ],
)
def test_what_the_client_puts_there_is_none(text: str, archive: Archive, home: Path) -> None:
    write(home, [meta(), for_the_model("user", text)])
    take_in(archive, home)
    assert prompts(messages(archive, THREAD)) == []


def test_context_among_the_events_of_old_versions_is_no_prompt(
    archive: Archive, home: Path
) -> None:
    context = "<environment_context>\n</environment_context>"
    told = line("event_msg", type="user_message", message=context, kind="environment_context")
    write(home, [meta(), for_the_model("user", context), told, typed("hello")])
    take_in(archive, home)
    assert prompts(messages(archive, THREAD)) == ["hello"]


def test_a_short_answer_that_a_summary_ends_with_is_an_answer(archive: Archive, home: Path) -> None:
    summary = "Here is the summary:\nAll is\nDone."
    lines = [typed("a"), answered("Done."), line("compacted", message=summary)]
    write(home, [meta(), *lines, answered("All is\nDone.")])
    take_in(archive, home)
    said = messages(archive, THREAD)
    assert [text_of(m) for m in said if m.author == "agent"] == ["Done."]


def test_a_summary_may_stand_in_what_replaces_the_history_alone(
    archive: Archive, home: Path
) -> None:
    opening = "Another language model started to solve this problem and produced a summary.\nAll."
    history = [{"role": "user", "content": [{"type": "input_text", "text": opening}]}]
    compacted = line("compacted", message="", replacement_history=history)
    write(home, [meta(), typed("a"), answered("All."), compacted])
    take_in(archive, home)
    assert [(m.author, m.display) for m in messages(archive, THREAD)] == [
        ("person", "bubble"),
        ("harness", "fold"),
        ("harness", "divider"),
    ]


def test_an_answer_is_told_once_although_its_copy_has_marks_for_the_program(
    archive: Archive, home: Path
) -> None:
    told = item(type="AgentMessage", id="msg_1", content=[{"type": "Text", "text": "Done."}])
    text = "Done.<citation>x</citation>"
    content = [{"type": "output_text", "text": text}]
    copy = line("response_item", type="message", id="msg_1", role="assistant", content=content)
    write(home, [meta(history_mode="paginated"), told, copy])
    take_in(archive, home)
    assert [text_of(m) for m in messages(archive, THREAD)] == ["Done."]


def test_a_picture_that_a_tool_looked_at_belongs_to_no_prompt(archive: Archive, home: Path) -> None:
    looked = [{"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}]
    seen = line("response_item", type="message", role="user", content=looked)
    write(home, [meta(), typed("look"), seen, for_the_model("user", "next"), typed("next")])
    take_in(archive, home)
    parts = [part for m in messages(archive, THREAD) for part in m.parts]
    assert not any(isinstance(part, Attachment) for part in parts)


def test_a_command_for_the_shell_is_no_prompt_where_the_rollout_is_gone(
    archive: Archive, home: Path
) -> None:
    (home / ".codex").mkdir()
    kept = [{"session_id": THREAD, "ts": 1, "text": text} for text in ("hello", "!ls")]
    (home / ".codex" / "history.jsonl").write_text("".join(json.dumps(k) + "\n" for k in kept))
    assert take_in(archive, home)[THREAD].turns == 1
    assert prompts(messages(archive, THREAD)) == ["hello"]


def test_the_client_writes_its_memories_without_a_person(archive: Archive, home: Path) -> None:
    write(home, [meta(thread_source="memory_consolidation"), typed("Consolidate.")])
    assert take_in(archive, home)[THREAD].nature == "subagent"
    assert prompts(messages(archive, THREAD)) == []


def test_where_the_client_says_whose_a_text_is_that_counts(archive: Archive, home: Path) -> None:
    def marked(text: str, origin: str) -> dict[str, Any]:
        passed = {"content_item_metadata": [{"provenance": {"type": origin}}]}
        return for_the_model("user", text, internal_chat_message_metadata_passthrough=passed)

    quoted = "<skill>I quote this</skill>"
    lines = [marked("plain, but not typed", "skills"), marked(quoted, "user")]
    write(home, [meta(history_mode="paginated"), *lines])
    take_in(archive, home)
    assert prompts(messages(archive, THREAD)) == [quoted]


def test_commands_of_a_script_are_listed_under_it(archive: Archive, home: Path) -> None:
    script = 'await tools.exec_command({"cmd":"ls"})'
    call = line("response_item", type="custom_tool_call", name="exec", input=script, call_id="c1")
    ran = item(
        type="CommandExecution", id="exec-1", command=["bash", "-lc", "ls"], aggregated_output="a\n"
    )
    texts = [{"type": "input_text", "text": "Script completed\nWall time 0.1\nOutput:\n"}]
    output = line("response_item", type="custom_tool_call_output", call_id="c1", output=texts)
    write(home, [meta(history_mode="paginated"), call, ran, output])
    found = take_in(archive, home)[THREAD]
    assert (found.tool_calls, found.tool_results) == (1, 1)
    said = messages(archive, THREAD)
    assert [m.author for m in said] == ["agent", "tool", "tool"]
    assert said[0].parts == [ToolCall("c1", "exec", script)]
    assert text_of(said[1]) == "$ ls\na\n"


def test_what_else_a_script_did_is_listed_too(archive: Archive, home: Path) -> None:
    call = line("response_item", type="custom_tool_call", name="exec", input="js", call_id="c1")
    changes = {"/p/a.py": {"type": "update", "unified_diff": "+x"}}
    steps = [
        item(type="FileChange", id="exec-1", changes=changes, status="completed"),
        item(type="McpToolCall", id="exec-2", server="db", tool="ask", arguments={"q": 1}),
        item(type="Extension", id="exec-3", kind="web.search", query="how"),
        item(type="CollabAgentToolCall", id="exec-4", receiver_thread_ids=[PARENT]),
    ]
    write(home, [meta(history_mode="paginated"), call, *steps])
    take_in(archive, home)
    agent = meta(id=PARENT, source={"subagent": {"thread_spawn": {"parent_thread_id": THREAD}}})
    write(home, [agent], f"rollout-2026-11-17T10-00-01-{PARENT}.jsonl")
    (link,) = take_in(archive, home)[PARENT].links
    assert link.call_id == "c1"
    said = messages(archive, THREAD)[1:]
    assert [text_of(m) for m in said] == ["update /p/a.py\n+x", 'db.ask {"q":1}', "how"]
    assert {(m.author, m.display) for m in said} == {("tool", "fold")}


def test_a_sub_agent_that_is_named_by_a_path_belongs_to_its_call(
    archive: Archive, home: Path
) -> None:
    calls = [
        line("response_item", type="function_call", name="spawn_agent", arguments="{}", call_id=id)
        for id in ("c1", "c2")
    ]
    named = json.dumps({"task_name": "/root/one"})
    output = line("response_item", type="function_call_output", call_id="c1", output=named)
    begun = item(
        type="SubAgentActivity",
        id="x",
        agent_thread_id=PARENT,
        agent_path="/root/one",
        kind="started",
    )
    write(home, [meta(history_mode="paginated"), *calls, output, begun])
    agent = meta(id=PARENT, thread_source="subagent", parent_thread_id=THREAD)
    write(home, [agent], f"rollout-2026-11-17T10-00-01-{PARENT}.jsonl")
    (link,) = take_in(archive, home)[PARENT].links
    assert (link.id, link.call_id) == (f"codex/{THREAD}", "c1")


@pytest.mark.parametrize(
    ("payload", "display", "text"),
    [
        ("Count the lines.", "bubble", "Count the lines."),
        ("gAAAAABo", "fold", "Message Type: NEW_TASK\nPayload:\n\n(encrypted)"),
    ],
)
def test_the_task_of_a_sub_agent_is_told_where_it_can_be_read(
    payload: str, display: str, text: str, archive: Archive, home: Path
) -> None:
    content = [
        {"type": "input_text", "text": "Message Type: NEW_TASK\nPayload:\n"},
        {"type": "encrypted_content", "encrypted_content": payload},
    ]
    task = line("response_item", type="agent_message", author="/root", content=content)
    write(home, [meta(thread_source="subagent", history_mode="paginated"), task])
    take_in(archive, home)
    (told,) = messages(archive, THREAD)
    assert (told.author, told.display, text_of(told)) == ("harness", display, text)


def test_an_agent_that_is_spoken_with_is_none_that_was_started(
    archive: Archive, home: Path
) -> None:
    """A sub-agent that tells its parent something notes that the same way."""
    told = {"type": "sub_agent_activity", "event_id": "c9", "agent_thread_id": THREAD}
    spoken = line("event_msg", **told, kind="interacted")
    source = {"subagent": {"thread_spawn": {"parent_thread_id": OTHER}}}
    write(home, [meta(source=source), typed("task")])
    write(home, [meta(id=PARENT, source=source), spoken], f"rollout-1-{PARENT}.jsonl")
    started = line("event_msg", type="collab_agent_spawn_end", call_id="c1", new_thread_id=THREAD)
    write(home, [meta(id=OTHER), started], f"rollout-2-{OTHER}.jsonl")
    (link,) = [one for one in take_in(archive, home)[THREAD].links if one.side == "parent"]
    assert (link.id, link.call_id) == (f"codex/{OTHER}", "c1")


def test_a_name_in_the_file_is_the_title_where_no_list_has_one(
    archive: Archive, home: Path
) -> None:
    named = line("event_msg", type="thread_name_updated", thread_name="Mine")
    write(home, [meta(), typed("hello"), named])
    assert take_in(archive, home)[THREAD].title == "Mine"


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({"type": "error", "message": "no quota"}, Notice("no quota", "error")),
        ({"type": "warning", "message": "long thread"}, Notice("long thread", "warning")),
        ({"type": "agent_reasoning_raw_content", "text": "hm"}, Thinking("hm")),
        ({"type": "entered_review_mode", "user_facing_hint": "main"}, Text("main")),
        (
            {"type": "exited_review_mode", "review_output": {"overall_explanation": "fine"}},
            Text("fine"),
        ),
    ],
)
def test_events_of_other_versions_are_understood(
    event: dict[str, Any], told: Any, archive: Archive, home: Path
) -> None:
    write(home, [meta(), typed("hello"), line("event_msg", **event)])
    take_in(archive, home)
    assert messages(archive, THREAD)[-1].parts == [told]


def test_a_plan_is_the_agents(archive: Archive, home: Path) -> None:
    write(home, [meta(), typed("plan"), item(type="Plan", id="p", text="1. Do it")])
    take_in(archive, home)
    plan = messages(archive, THREAD)[-1]
    assert (plan.author, plan.display, text_of(plan)) == ("agent", "fold", "1. Do it")


def test_a_picture_that_was_made_comes_back(archive: Archive, home: Path) -> None:
    made = line(
        "response_item",
        type="image_generation_call",
        id="ig_1",
        status="completed",
        revised_prompt="a red dot",
        result="iVBORw0KGgo=",
    )
    write(home, [meta(), typed("draw"), made])
    take_in(archive, home)
    parts = [part for m in messages(archive, THREAD) for part in m.parts]
    assert [part.media_type for part in parts if isinstance(part, Attachment)] == ["image/png"]


def test_tokens_of_a_thread_that_a_newer_client_went_on_with_are_all_counted(
    archive: Archive, home: Path
) -> None:
    def counted(total: int, last: int) -> dict[str, Any]:
        info = {
            "total_token_usage": {"input_tokens": total},
            "last_token_usage": {"input_tokens": last},
        }
        return line("event_msg", type="token_count", info=info)

    record = line("token_usage_record", response_id="r2", usage={"input_tokens": 7})
    write(home, [meta(), typed("a"), counted(5, 5), typed("b"), record, counted(12, 7)])
    used = take_in(archive, home)[THREAD].usage
    assert used is not None
    assert used.input_tokens == 12


def test_an_error_of_the_service_is_told(archive: Archive, home: Path) -> None:
    error = {"message": "quota exceeded", "codex_error_info": "usage_limit_exceeded"}
    ended = line("event_msg", type="task_complete", turn_id="t", error=error)
    write(home, [meta(), typed("hello"), ended])
    found = take_in(archive, home)[THREAD]
    assert not found.finished
    assert messages(archive, THREAD)[-1].parts == [Notice("quota exceeded", "error")]


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("Exit code: 0\nWall time: 1 seconds\nOutput:\nExit code: 9", "ok"),
        ("Exit code: 2\nWall time: 1 seconds\nOutput:\n", "error"),
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\n", "error"),
        ('{"output":"hi","metadata":{"exit_code":0}}', "ok"),
        ('{"output":"no","metadata":{"exit_code":1}}', "error"),
        ("Wall time: 18.5 seconds\naborted by user", "cancelled"),
        ("aborted by user after 3.1s", "cancelled"),
        ("exec command rejected by user", "cancelled"),
        (
            'exec_command failed for `rm`: CreateProcess { message: "Rejected(\\"no\\")" }',
            "cancelled",
        ),
        ("exec_command failed for `nope`: No such file", "error"),
        ("Chunk ID: 1\nProcess exited with code 0\nOutput:\nExit code: 9", "ok"),
        ("a log\nExit code: 9", "ok"),
    ],
)
def test_how_a_tool_ended_is_told_by_its_text(
    output: str, status: str, archive: Archive, home: Path
) -> None:
    call = line("response_item", type="function_call", name="shell", arguments="{}", call_id="c")
    ended = line("response_item", type="function_call_output", call_id="c", output=output)
    write(home, [meta(), call, ended])
    take_in(archive, home)
    parts = [part for m in messages(archive, THREAD) for part in m.parts]
    assert [part.status for part in parts if isinstance(part, ToolResult)] == [status]


@pytest.mark.parametrize(
    ("twin", "status"),
    [
        ({"type": "patch_apply_end", "call_id": "c", "success": False}, "error"),
        ({"type": "mcp_tool_call_end", "call_id": "c", "result": {"Err": "no"}}, "error"),
        (
            {"type": "mcp_tool_call_end", "call_id": "c", "result": {"Ok": {"isError": True}}},
            "error",
        ),
        ({"type": "mcp_tool_call_end", "call_id": "c", "result": {"Ok": {"content": []}}}, "ok"),
        ({"item": {"type": "CommandExecution", "id": "c", "status": "failed"}}, "error"),
        ({"item": {"type": "FileChange", "id": "c", "status": "declined"}}, "cancelled"),
        ({"item": {"type": "CommandExecution", "id": "c", "exit_code": 0}}, "ok"),
    ],
)
def test_or_by_the_event_beside_it(
    twin: dict[str, Any], status: str, archive: Archive, home: Path
) -> None:
    mode = {"history_mode": "paginated"} if "item" in twin else {}
    event = line("event_msg", **({"type": "item_completed"} | twin))
    call = line("response_item", type="function_call", name="f", arguments="{}", call_id="c")
    ended = line("response_item", type="function_call_output", call_id="c", output="text")
    write(home, [meta(**mode), call, event, ended])
    take_in(archive, home)
    parts = [part for m in messages(archive, THREAD) for part in m.parts]
    assert [part.status for part in parts if isinstance(part, ToolResult)] == [status]


# ── where it looks ──


def test_another_home_is_named_by_a_variable(tmp_path: Path) -> None:
    write(tmp_path, [meta(), typed("hello")])
    elsewhere = Places(tmp_path / "nobody", {"CODEX_HOME": str(tmp_path / ".codex")})
    assert [one.conversation for one in READER.discover(elsewhere).origins] == [THREAD]


def test_a_file_of_any_name_is_recognised_by_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "saved.jsonl"
    path.write_text(json.dumps(meta()) + "\n")
    assert [one.conversation for one in READER.recognise(path)] == [THREAD]
    path.write_text('{"type": "user", "sessionId": "x"}\n')
    assert READER.recognise(path) == []


def test_no_token_comes_into_the_archive(archive: Archive, home: Path) -> None:
    lay_out("codex-0.169.0-tui", home)
    for name in ("auth.json", "config.toml", "sessions/auth.json", "log/codex-tui.log"):
        path = home / ".codex" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text('{"tokens": "canary-5c1f"}')
    index = sqlite3.connect(home / ".codex" / "state_5.sqlite")
    index.execute("UPDATE threads SET cwd = 'canary-5c1f'")
    index.execute("CREATE TABLE secrets (name TEXT, value TEXT)")
    index.execute("INSERT INTO secrets VALUES ('token', 'canary-5c1f')")
    index.commit()
    index.close()
    take_in(archive, home)
    kept = [
        strand.document(state)
        for group in archive.groups()
        for strand in archive.strands(group.family, group.conversation)
        for state in strand.states
    ]
    assert any(b"My Codex thread" in one for one in kept)
    assert not any(b"canary-5c1f" in one for one in kept)
