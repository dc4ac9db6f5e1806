"""Cline, Roo Code and Kilo Code: sessions of a terminal, tasks of extensions, and what clients do to them."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_conversation
from rireki.intake.restore import restore
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message, Usage
from rireki.model.parts import Attachment, Text, ToolCall, ToolResult
from rireki.sources.cline import KILO_CODE, READER, ROO_CODE
from rireki.sources.kit.places import Places
from tests.support.homes import FIXTURES, lay_out

LISTED, PARENT = "1795024439935_telw3", "1795024456439_ox241"
AGENT = f"{PARENT}__agent_1795024457071_2p7w4a"
TASK, OLDER, UNSEEN = "1795100000000", "1795186400000", "1795272800000"
ROO = "0199a000-0000-7000-8000-000000000001"
SECRET = "sk-canary-91ce"


def take_in(archive: Archive, home: Path) -> dict[str, Conversation]:
    import_history(archive, places=Places.at(home))
    return {c.native_id: c for c in archive.conversations(Filter(subagents=True))}


def messages(archive: Archive, id: str, source: str = "cline") -> list[Message]:
    return read_conversation(archive, archive.find(f"{source}/{id}")).messages()


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def prompts(said: list[Message]) -> list[str]:
    return [text_of(m) for m in said if m.author == "person" and m.display == "bubble"]


def answers(said: list[Message]) -> list[str]:
    return [text_of(m) for m in said if m.author == "agent" and text_of(m)]


def calls(said: list[Message]) -> list[tuple[str, str]]:
    return [(p.call_id, p.name) for m in said for p in m.parts if isinstance(p, ToolCall)]


def results(said: list[Message]) -> list[tuple[str, str, str]]:
    parts = [part for m in said for part in m.parts]
    return [(p.call_id, p.status, p.output) for p in parts if isinstance(p, ToolResult)]


def tasks(home: Path, extension: str = "saoudrizwan.claude-dev") -> Path:
    return home / ".config" / "Code" / "User" / "globalStorage" / extension / "tasks"


def shown(home: Path, *records: dict[str, Any]) -> Path:
    """A task that has shown these records."""
    path = tasks(home) / TASK / "ui_messages.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    numbered = [{"ts": 1000 + n} | one for n, one in enumerate(records)]
    path.write_text(json.dumps(numbered), encoding="utf-8")
    return path


def say(kind: str, text: str = "", **more: Any) -> dict[str, Any]:
    return {"type": "say", "say": kind, "text": text} | more


# ── the terminal ──


def test_what_the_terminal_wrote_says_what_was_typed_answered_and_called(
    archive: Archive, home: Path
) -> None:
    lay_out("cline-3.0.65", home)
    found = take_in(archive, home)
    assert len(found) == 7
    said = messages(archive, LISTED)
    assert prompts(said) == ["Please list the files here."]
    assert answers(said) == [
        "I will look at the files. ",
        'Done: "Please list the files here." ',
    ]
    assert calls(said) == [("call_00001", "run_commands")]
    assert results(said) == [("call_00001", "ok", "$ ls\nREADME.md\napp.py\n")]
    listed = found[LISTED]
    assert (listed.title, listed.project) == ("Please list the files here.", "/home/dev/proj")
    # 206 of the input are what the client counts: 8 of these came from the cache.
    assert (listed.usage, listed.models) == (Usage(198, 14, 8, 0), ["gpt-lab"])
    assert [m.display for m in said if m.label == "system prompt"] == ["hidden"]
    assert READER.resume(listed) == f"cd /home/dev/proj && cline --id {LISTED}"


def test_a_sub_agent_has_a_session_of_its_own(archive: Archive, home: Path) -> None:
    lay_out("cline-3.0.65", home)
    agent = take_in(archive, home)[AGENT]
    assert (agent.nature, [link.id for link in agent.links]) == ("subagent", [f"cline/{PARENT}"])
    said = messages(archive, AGENT)
    assert prompts(said) == []
    assert text_of(said[0]) == "Count the lines of app.py and report the number."
    assert results(messages(archive, PARENT)) == [("call_00002", "ok", "app.py has 3 lines. ")]


def test_a_tool_that_was_not_allowed_is_cancelled_and_an_error_is_told(
    archive: Archive, home: Path
) -> None:
    lay_out("cline-3.0.65", home)
    take_in(archive, home)
    (denied,) = results(messages(archive, "1795024482377_sjww1"))
    assert denied[1] == "cancelled"
    failed = messages(archive, "1795024486340_voyao")
    assert prompts(failed) == ["slow story"]
    assert [(m.author, m.label) for m in failed if m.display == "chip"] == [
        ("harness", "API error")
    ]


def test_a_session_that_is_written_whole_again_keeps_what_it_lost(
    archive: Archive, home: Path, tmp_path: Path
) -> None:
    lay_out("cline-3.0.65", home)
    take_in(archive, home)
    folder = home / ".cline" / "data" / "sessions" / LISTED
    path = folder / f"{LISTED}.messages.json"
    value = json.loads(path.read_text())
    value["messages"] = value["messages"][:1]
    path.write_text(json.dumps(value, indent=2))
    found = take_in(archive, home)[LISTED]
    assert (found.upstream, found.tool_calls) == ("changed", 1)
    gone = [m for m in messages(archive, LISTED) if m.upstream == "gone"]
    assert {m.abandoned for m in gone} == {True}
    shutil.rmtree(folder)
    found = take_in(archive, home)[LISTED]
    assert (found.upstream, found.turns) == ("gone", 1)
    back = restore(archive, archive.find(f"cline/{LISTED}"), tmp_path / "back")
    assert {file.name for file in back} == {f"{LISTED}.json", path.name}


def session(home: Path, *messages: dict[str, Any], name: str = "") -> Path:
    """A session of the terminal with these messages."""
    folder = home / ".cline" / "data" / "sessions" / LISTED
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name or LISTED}.messages.json"
    path.write_text(json.dumps({"version": 1, "messages": messages}), encoding="utf-8")
    return folder


def test_what_the_program_puts_beside_a_prompt_was_not_typed(archive: Archive, home: Path) -> None:
    notice = "<mode_notice>The user switched from act mode to plan mode.</mode_notice>"
    state = "<editor_state>\nActive file: a.py\n</editor_state>"
    texts = [
        f'<user_input mode="plan">{notice}\nare you okay?</user_input>',
        f'{notice}\n<user_input mode="yolo">fix 直して\n\n{state}</user_input>',
        '<user_command slash="team">spawn a team of agents for the following task: look</user_command>',
        '<user_input mode="act">[TASK RESUMPTION] The task was interrupted.</user_input>',
        '<user_input mode="act">The user approved switching to act mode. Continue.</user_input>',
    ]
    kinds = [{"kind": "recovery_notice"}, {"displayRole": "system"}, {"kind": "compaction_summary"}]
    asked = [{"role": "user", "content": one} for one in texts]
    told = [{"role": "user", "content": "Go on.", "metadata": one} for one in kinds]
    session(home, *asked, *told)
    found = take_in(archive, home)[LISTED]
    said = messages(archive, LISTED)
    assert prompts(said) == ["are you okay?", "fix 直して", "/team look"]
    assert (found.turns, found.title) == (3, "are you okay?")
    assert [(m.label, m.display) for m in said if m.author == "harness"] == [
        ("mode changed", "chip"),
        ("mode changed", "chip"),
        ("environment", "hidden"),
        ("task resumed", "fold"),
        ("plan approved", "fold"),
        ("notice", "fold"),
        ("notice", "fold"),
        ("context compacted", "divider"),
    ]


def test_one_of_a_team_is_a_sub_agent_and_a_compacted_copy_is_kept_aside(
    archive: Archive, home: Path
) -> None:
    asked = {"role": "user", "content": '<user_input mode="act">go</user_input>'}
    folder = session(home, asked)
    session(home, {"role": "user", "content": "look"}, name="alice__task_1")
    (folder / f"{LISTED}.json").write_text(json.dumps({"cwd": "/home/dev/proj"}))
    (folder / f"{LISTED}.compaction.json").write_text(json.dumps({"messages": [asked]}))
    found = take_in(archive, home)
    assert found.keys() == {LISTED, f"{LISTED}__alice__task_1"}
    assert (found[LISTED].project, found[LISTED].turns) == ("/home/dev/proj", 1)
    agent = found[f"{LISTED}__alice__task_1"]
    assert (agent.nature, [one.id for one in agent.links]) == ("subagent", [f"cline/{LISTED}"])


def test_a_session_with_any_letters_in_its_id_is_no_sub_agent(archive: Archive, home: Path) -> None:
    lay_out("cline-3.0.65", home)
    folder = home / ".cline" / "data" / "sessions"
    renamed = folder / "1795054572017__RlN8_cli"
    shutil.move(folder / PARENT, renamed)
    for file in renamed.glob(f"{PARENT}*"):
        file.rename(renamed / file.name.replace(PARENT, renamed.name))
    found = take_in(archive, home)
    assert found[renamed.name].nature == "conversation"
    agent = found[AGENT.replace(PARENT, renamed.name)]
    assert (agent.nature, [one.id for one in agent.links]) == (
        "subagent",
        [f"cline/{renamed.name}"],
    )


# ── the extension ──


def test_what_the_person_saw_is_the_conversation_with_what_the_model_got(
    archive: Archive, home: Path
) -> None:
    lay_out("cline-composed", home)
    found = take_in(archive, home)
    assert found.keys() == {TASK, OLDER, UNSEEN}
    said = messages(archive, TASK)
    assert prompts(said) == ["List the files, please", "app.py を見せて", "Thanks. Now stop."]
    assert answers(said) == [
        "I will look at the files.",
        "Which one?\n- README.md\n- app.py",
        "It prints hello.",
    ]
    assert calls(said) == [("toolu_1", "execute_command"), ("toolu_2", "read_file")]
    assert [(call, output[-14:]) for call, _, output in results(said)] == [
        ("toolu_1", "EADME.md\napp.py"[-14:]),
        ("toolu_2", 'print("hello")'),
    ]
    assert said[-1].label == "interrupted"
    task = found[TASK]
    assert (task.project, task.models) == ("/home/dev/proj/demo", ["claude-lab"])
    assert task.usage == Usage(490, 33, 8, 0)
    pictures = [part for m in said for part in m.parts if isinstance(part, Attachment)]
    assert [one.media_type for one in pictures] == ["image/png"]


def test_tools_without_ids_are_paired_by_their_order(archive: Archive, home: Path) -> None:
    lay_out("cline-composed", home)
    found = take_in(archive, home)[OLDER]
    said = messages(archive, OLDER)
    assert (prompts(said), answers(said)) == (["Fix the bug"], ["Reading first.", "My plan"])
    ((call, name),) = calls(said)
    assert name == "read_file"
    assert results(said) == [(call, "ok", 'print("hello")')]
    assert found.project == "/home/dev/proj/old"
    assert [m.label for m in said if m.display == "chip"] == ["API error", "notice"]


def test_where_only_the_models_copy_is_left_the_words_are_unwrapped(
    archive: Archive, home: Path
) -> None:
    lay_out("cline-composed", home)
    found = take_in(archive, home)[UNSEEN]
    said = messages(archive, UNSEEN)
    assert prompts(said) == ["Only the other file is left", "Go on"]
    assert (found.project, answers(said)) == ("/home/dev/proj/demo", ["So it is."])
    assert [(m.label, m.display) for m in said if m.author == "harness"] == [
        ("environment", "hidden"),
        ("task resumed", "fold"),
    ]


def test_going_back_to_a_checkpoint_leaves_a_branch(archive: Archive, home: Path) -> None:
    first = (say("text", "first"), say("text", "one"))
    shown(home, *first, say("user_feedback", "second"), say("text", "two"))
    take_in(archive, home)
    shown(home, *first, {"ts": 9000} | say("user_feedback", "better"))
    take_in(archive, home)
    said = [(text_of(m), m.abandoned) for m in messages(archive, TASK)]
    assert said == [
        ("first", False),
        ("one", False),
        ("second", True),
        ("two", True),
        ("better", False),
    ]
    shutil.rmtree(tasks(home) / TASK)
    assert take_in(archive, home)[TASK].upstream == "gone"


def test_a_file_that_is_torn_leaves_no_branch(archive: Archive, home: Path) -> None:
    path = shown(home, say("text", "first"), say("text", "one"))
    take_in(archive, home)
    path.write_bytes(path.read_bytes()[:40])
    assert take_in(archive, home)[TASK].troubles
    said = messages(archive, TASK)
    assert [(text_of(m), m.abandoned) for m in said] == [("first", False), ("one", False)]


def test_words_that_stream_are_said_once(archive: Archive, home: Path) -> None:
    asked = say("text", "go")
    for words in ("Al", "Almost", "Almost done"):
        shown(home, asked, say("text", words, partial=words != "Almost done"))
        take_in(archive, home)
    assert [text_of(m) for m in messages(archive, TASK)] == ["go", "Almost done"]


def test_output_of_a_command_is_taken_from_what_was_shown(archive: Archive, home: Path) -> None:
    shown(
        home, say("text", "go"), say("command", "ls"), say("command_output", "a"), say("text", "b")
    )
    take_in(archive, home)
    said = messages(archive, TASK)
    assert [(m.author, m.display) for m in said] == [
        ("person", "bubble"),
        ("agent", "bubble"),
        ("tool", "fold"),
        ("agent", "bubble"),
    ]
    assert results(said)[0][1:] == ("ok", "a")


def sent(home: Path, *messages: tuple[str, list[dict[str, Any]]]) -> None:
    """What the model was sent in the task that was `shown`."""
    path = tasks(home) / TASK / "api_conversation_history.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([{"role": role, "content": parts} for role, parts in messages]))


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id: str, name: str, **given: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def tool(name: str, path: str) -> dict[str, Any]:
    return say("tool", json.dumps({"tool": name, "path": path, "content": f"/proj/{path}"}))


def test_calls_keep_their_ids_where_one_was_not_shown(archive: Archive, home: Path) -> None:
    # A patch is shown for each file; a file that is not there is not shown at all.
    shown(
        home,
        say("text", "go"),
        say("command", "lsREQ_APP"),
        tool("editedExistingFile", "a.py"),
        tool("newFileCreated", "b.py"),
        tool("readFile", "src/c.py"),
    )
    done = {"type": "tool_result", "tool_use_id": "t4", "content": [text("c")]}
    sent(
        home,
        ("user", [text("<task>\ngo\n</task>")]),
        ("assistant", [use("t0", "read_file", path="gone.py")]),
        ("user", [{"type": "tool_result", "tool_use_id": "t0", "content": "no such file"}]),
        ("assistant", [use("t1", "execute_command", command="ls")]),
        ("user", [text("[execute_command for 'ls'] Result:\na.py")]),
        ("assistant", [use("t2", "apply_patch", input="*** Update File: a.py")]),
        ("user", [text("[apply_patch for 'a.py'] Result:"), text("patched")]),
        ("assistant", [use("t4", "read_file", path="/proj/src/c.py")]),
        ("user", [done]),
    )
    take_in(archive, home)
    said = messages(archive, TASK)
    assert [name for _, name in calls(said)] == [
        "read_file",
        "execute_command",
        "apply_patch",
        "newFileCreated",
        "read_file",
    ]
    assert [(call, output) for call, _, output in results(said)] == [
        ("t0", "no such file"),
        ("t1", "a.py"),
        ("t2", "patched"),
        ("t4", "c"),
    ]


def test_a_call_that_says_something_has_its_id_where_it_was_shown_as_a_call(
    archive: Archive, home: Path
) -> None:
    shown(home, say("text", "go"), tool("updateTodoList", ""), say("completion_result", "Done."))
    told = {"type": "tool_result", "tool_use_id": "t1", "content": "updated"}
    sent(
        home,
        ("user", [text("<task>go</task>")]),
        ("assistant", [use("t1", "update_todo_list", todos="[x] a")]),
        ("user", [told]),
        ("assistant", [use("t2", "attempt_completion", result="Done.")]),
    )
    take_in(archive, home)
    said = messages(archive, TASK)
    assert (calls(said), answers(said)) == ([("t1", "update_todo_list")], ["Done."])
    assert results(said) == [("t1", "ok", "updated")]


def test_calls_that_went_with_a_checkpoint_keep_their_results(archive: Archive, home: Path) -> None:
    first = ("user", [text("<task>go</task>")])
    shown(home, say("text", "go"), say("command", "ls"), say("command_output", "a"))
    made = ("assistant", [use("t1", "execute_command", command="ls")])
    told = ("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "a"}])
    sent(home, first, made, told)
    take_in(archive, home)
    shown(home, say("text", "go"))
    sent(home, first)
    take_in(archive, home)
    said = messages(archive, TASK)
    assert (calls(said), results(said)) == ([("t1", "execute_command")], [("t1", "ok", "a")])
    assert [m.abandoned for m in said] == [False, True, True]


def test_an_answer_that_was_chosen_is_the_persons(archive: Archive, home: Path) -> None:
    asked = {"question": "Which?", "options": ["This", "That"], "selected": "That"}
    suggested = {"question": "Now?", "suggest": [{"answer": "Yes"}, {"answer": "No"}]}
    shown(
        home,
        say("text", "go"),
        {"type": "ask", "ask": "followup", "text": json.dumps(asked)},
        {"type": "ask", "ask": "followup", "text": json.dumps(suggested)},
        say("user_feedback", "Later"),
    )
    found = take_in(archive, home)[TASK]
    said = messages(archive, TASK)
    assert (prompts(said), found.turns) == (["go", "That", "Later"], 3)
    assert answers(said) == ["Which?\n- This\n- That", "Now?\n- Yes\n- No"]


def test_what_the_program_wrote_behind_a_text_is_not_said(archive: Archive, home: Path) -> None:
    shown(home, say("text", "go"), say("completion_result", "All done.HAS_CHANGES"))
    take_in(archive, home)
    assert answers(messages(archive, TASK)) == ["All done."]


def test_a_record_that_was_left_unfinished_is_not_told_beside_the_whole(
    archive: Archive, home: Path
) -> None:
    half = {"type": "ask", "ask": "tool", "text": '{"tool":"readFile","pa', "partial": True}
    shown(
        home,
        say("text", "go"),
        say("text", "Al", partial=True),
        say("text", "All"),
        half,
        tool("readFile", "a.py"),
        say("text", "Done", partial=True),
    )
    take_in(archive, home)
    said = messages(archive, TASK)
    assert answers(said) == ["All", "Done"]
    assert [name for _, name in calls(said)] == ["readFile"]


def test_pictures_of_a_browser_are_pictures(archive: Archive, home: Path) -> None:
    dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
    told = {"screenshot": f"data:image/png;base64,{dot}", "logs": "ready", "currentUrl": "http://a"}
    launch = {"type": "ask", "ask": "browser_action_launch", "text": "http://a"}
    shown(home, say("text", "go"), launch, say("browser_action_result", json.dumps(told)))
    take_in(archive, home)
    said = messages(archive, TASK)
    assert results(said)[0][2] == "http://a\nready"
    assert [p.media_type for m in said for p in m.parts if isinstance(p, Attachment)] == [
        "image/png"
    ]


def test_tokens_of_requests_that_are_not_told_any_more_count(archive: Archive, home: Path) -> None:
    gone = json.dumps({"tokensIn": 5, "tokensOut": 2})
    agents = json.dumps({"source": "subagents", "tokensIn": 7, "tokensOut": 1, "cacheReads": 3})
    shown(home, say("text", "go"), say("deleted_api_reqs", gone), say("subagent_usage", agents))
    assert take_in(archive, home)[TASK].usage == Usage(12, 3, 3, 0)


def test_of_a_task_without_what_was_shown_only_what_is_in_tags_was_typed(
    archive: Archive, home: Path
) -> None:
    denied = "The user denied this operation:\n<feedback>\nNot so\n</feedback>"
    machine = "# Current Working Directory (/home/dev/a (b)) Files"
    spelled = "Look.\n<read_file>\n<path>a.py</path>\n</read_file>"
    sent(
        home,
        ("user", [text("<task>\ngo\n</task>"), text("\n# task_progress RECOMMENDED\nUse it.")]),
        ("assistant", [text(spelled)]),
        (
            "user",
            [
                text("[read_file for 'a.py'] Result:"),
                text("import os"),
                text(f"<environment_details>\n{machine}\n</environment_details>"),
            ],
        ),
        ("assistant", [use("t1", "execute_command", command="rm a.py")]),
        ("user", [{"type": "tool_result", "tool_use_id": "t1", "content": [text(denied)]}]),
        (
            "assistant",
            [text("<attempt_completion>\n<result>\nDone.\n</result>\n</attempt_completion>")],
        ),
    )
    found = take_in(archive, home)[TASK]
    said = messages(archive, TASK)
    assert (prompts(said), answers(said)) == (["go", "Not so"], ["Look.", "Done."])
    assert [name for _, name in calls(said)] == ["read_file", "execute_command"]
    ((read, _, output), (_, status, _)) = results(said)
    assert (read, output, status) == (calls(said)[0][0], "import os", "cancelled")
    assert found.project == "/home/dev/a (b)"


def test_tags_that_nobody_closes_cost_no_time(archive: Archive, home: Path) -> None:
    sent(
        home,
        ("user", [text("<task>go</task>" + "<feedback>" * 60_000)]),
        ("assistant", [text("<read_file><path>" * 60_000)]),
    )
    started = time.process_time()
    take_in(archive, home)
    assert prompts(messages(archive, TASK)) == ["go"]
    assert time.process_time() - started < 5


def test_a_directory_is_known_where_only_what_was_shown_is_left(
    archive: Archive, home: Path
) -> None:
    about = "<environment_details>\n# Current Working Directory (c:/work/app) Files\na.py"
    request = json.dumps({"request": f"<task>go</task>\n{about}"})
    shown(home, say("text", "go"), say("api_req_started", request))
    assert take_in(archive, home)[TASK].project == "c:/work/app"


def test_what_a_session_says_of_itself_counts_where_its_messages_do_not(
    archive: Archive, home: Path
) -> None:
    folder = home / ".cline" / "data" / "sessions" / "1795024439999_abcde"
    folder.mkdir(parents=True)
    about = {
        "session_id": folder.name,
        "model": "gpt-lab",
        "prompt": '<user_input mode="plan">Started in vain</user_input>',
        "metadata": {"usage": {"inputTokens": 9, "outputTokens": 1, "cacheReadTokens": 4}},
    }
    (folder / f"{folder.name}.json").write_text(json.dumps(about))
    found = take_in(archive, home)[folder.name]
    assert (found.title, found.models, found.usage) == (
        "Started in vain",
        ["gpt-lab"],
        Usage(5, 1, 4),
    )


# ── those made from it ──


def test_tasks_of_roo_code_know_their_parents(archive: Archive, home: Path) -> None:
    lay_out("roo-code-composed", home)
    found = take_in(archive, home)
    (child,) = [c for c in found.values() if c.nature == "subagent"]
    assert [link.id for link in child.links] == [f"roo-code/{ROO}"]
    assert found[ROO].project == "/home/dev/proj/roo"
    said = messages(archive, ROO, "roo-code")
    assert (prompts(said), answers(said)) == (["Build it"], ["I delegate.", "Built."])
    assert calls(said)[0][1] == "newTask"
    assert results(said)[0][2] == "Written."
    (divider,) = [m for m in said if m.display == "divider"]
    assert text_of(divider) == "so far"


def test_tasks_of_kilo_code_are_told_by_what_was_shown(archive: Archive, home: Path) -> None:
    lay_out("kilo-code-composed", home)
    (found,) = take_in(archive, home).values()
    assert (found.source, found.usage) == ("kilo-code", Usage(9, 3))
    said = messages(archive, found.native_id, "kilo-code")
    assert (prompts(said), answers(said)) == (["Say hello"], ["Hello"])
    assert KILO_CODE.resume(found) is None


# ── where it looks ──


def test_no_token_is_ever_in_the_archive(archive: Archive, home: Path) -> None:
    lay_out("cline-3.0.65", home)
    for name in ("settings/providers.json", "secrets.json", "globalState.json"):
        path = home / ".cline" / "data" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"apiKey": SECRET}))
    take_in(archive, home)
    for group in archive.groups():
        for strand in archive.strands(group.family, group.conversation):
            assert SECRET.encode() not in strand.document()


@pytest.mark.parametrize(
    "folder",
    [
        "Library/Application Support/Cursor/User",
        "AppData/Roaming/VSCodium/User",
        ".vscode-server/data/User",
        ".local/share/code-server/User",
        ".vscode-remote/data/User",
        ".var/app/com.vscodium.codium/config/VSCodium/User",
        ".config/Code - OSS/User",
        "Library/Application Support/Code/User/profiles/-5f3a",
    ],
)
def test_every_editor_is_looked_at(folder: str, tmp_path: Path) -> None:
    source = FIXTURES / "cline" / "composed" / ".config" / "Code" / "User"
    shutil.copytree(source, tmp_path / folder)
    found = READER.discover(Places.at(tmp_path)).origins
    assert {one.conversation for one in found} == {TASK, OLDER, UNSEEN, None}


def test_a_folder_that_was_moved_is_its_agents(tmp_path: Path) -> None:
    lay_out("roo-code-composed", tmp_path)
    moved = tmp_path / "roo" / "tasks"
    shutil.move(tasks(tmp_path, ROO_CODE.extension), moved)
    file = moved / ROO / "ui_messages.json"
    assert {one.conversation for one in ROO_CODE.recognise(file)} == {ROO}
    assert READER.recognise(file) == KILO_CODE.recognise(file) == []


def test_a_folder_that_a_setting_moved_is_found(tmp_path: Path) -> None:
    lay_out("roo-code-composed", tmp_path)
    moved = tmp_path / "ロー" / "tasks"
    moved.parent.mkdir()
    shutil.move(tasks(tmp_path, ROO_CODE.extension), moved)
    settings = tmp_path / ".config" / "Code" / "User" / "settings.json"
    there = json.dumps(str(moved.parent))
    settings.write_text(
        '{\n  // "roo-cline.customStoragePath": "/nowhere",\n'
        f'  "roo-cline.customStoragePath": {there}, // moved\n}}',
        encoding="utf-8",
    )
    assert {ROO} < {one.conversation for one in ROO_CODE.discover(Places.at(tmp_path)).origins}
    assert READER.discover(Places.at(tmp_path)).origins == []
    settings.write_text('"roo-cline.customStoragePath": "\\x"')
    assert ROO_CODE.discover(Places.at(tmp_path)).origins == []


def test_another_folder_is_named_by_a_variable(tmp_path: Path) -> None:
    lay_out("cline-3.0.65", tmp_path)
    places = Places(tmp_path / "nobody", {"CLINE_DIR": str(tmp_path / ".cline")})
    assert len(READER.discover(places).origins) == 13
