"""Stories the Claude Code reader must tell right: branches, forks, sub-agents, rewrites, tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rireki.model.conversation import LinkToken, Reading
from rireki.model.parts import Text, Thinking, ToolCall
from rireki.sources.claude_code import READER
from tests.sources.transcripts import (
    FIXTURES,
    SESSION,
    Transcript,
    fixture,
    fixtures,
    lay,
    read,
    row,
    tell,
    words,
)
from tests.support.memory import Memory


def tokens(reading: Reading, role: str) -> set[str]:
    return {tie.token for tie in reading.link_tokens if tie.role == role}


# --- one answer, many lines ------------------------------------------------------------------


@pytest.mark.parametrize(("version", "session"), [("1.0.51", "88a497f0"), ("2.1.197", "5471a680")])
def test_an_answer_split_over_lines_is_one_message_and_its_results_follow(
    version: str, session: str
) -> None:
    reading = fixture(version, session)
    _, answer, *results, _ = [m for m in reading.messages() if m.display != "hidden"]
    assert [type(part) for part in answer.parts] == [Thinking, Text, ToolCall, ToolCall, ToolCall]
    assert [m.author for m in results] == ["tool"] * 3
    calls = {part.call_id for part in answer.parts if isinstance(part, ToolCall)}
    assert {m.parts[0].call_id for m in results} == calls  # type: ignore[union-attr]
    assert reading.conversation.tool_calls == 3
    assert reading.conversation.calls_without_result == 0


def test_a_result_written_between_the_calls_comes_after_them(home: Path) -> None:
    transcript = Transcript()
    transcript.user("go")
    transcript.call("a", id="msg")
    transcript.result("a")
    transcript.call("b", id="msg")
    transcript.result("b")
    messages = tell(home, transcript).messages()
    assert [m.author for m in messages] == ["person", "agent", "tool", "tool"]
    assert len(messages[1].parts) == 2


def test_a_result_written_before_its_call_is_moved_behind_it(home: Path) -> None:
    transcript = Transcript()
    transcript.user("go")
    transcript.result("a", "early")
    transcript.call("a")
    transcript.answer("done")
    reading = tell(home, transcript)
    assert [m.author for m in reading.messages()] == ["person", "agent", "tool", "agent"]
    assert reading.conversation.results_without_call == 0


def test_a_choice_written_before_its_question_is_still_the_persons(home: Path) -> None:
    transcript = Transcript()
    transcript.result("a", "Your questions have been answered")
    transcript.call("a", "AskUserQuestion")
    messages = tell(home, transcript).messages()
    assert [m.entry.rule for m in messages if m.entry] == ["answer", "1", "1b"]


def test_a_spilled_output_is_taken_from_its_file() -> None:
    result = row(fixture("2.1.197", "317cdda1").messages(), "1")
    assert words(result).endswith("19999\n20000\n")


def test_a_spilled_output_whose_file_is_gone_keeps_its_beginning(home: Path) -> None:
    transcript = Transcript()
    transcript.call("a")
    transcript.result("a", "<persisted-output>\nsaved to: /x/tool-results/b.txt\n\n1\n2")
    result = tell(home, transcript).messages()[-1]
    assert words(result).startswith("<persisted-output>")
    assert result.parts[1].level == "warning"  # type: ignore[union-attr]


# --- branches and compaction -----------------------------------------------------------------


def test_a_rewind_leaves_a_branch_that_stays_in_the_story() -> None:
    reading = fixture("2.1.197", "becdaf4e")
    left = [words(m) for m in reading.messages() if m.abandoned and m.author == "person"]
    assert left[0] == "SCENE:slow queue against"
    assert left[-1] == "/rename Nice name"
    after = next(m for m in reading.messages() if "branch after rewind" in words(m))
    first = next(m for m in reading.messages() if "slow queue against" in words(m))
    assert not after.abandoned
    assert after.parent == first.parent


def test_a_rewind_to_within_a_turn_leaves_what_was_sent_meanwhile() -> None:
    messages = fixture("2.1.325", "0058d519").messages()
    assert row(messages, "A1").abandoned
    assert not next(m for m in messages if "after rewind" in words(m)).abandoned


def test_a_branch_is_seen_below_a_line_of_an_unknown_type(home: Path) -> None:
    transcript = Transcript()
    transcript.user("one")
    answer = transcript.answer("first")
    transcript.add("narration")
    transcript.user("left behind")
    transcript.answer("second")
    transcript.user("another way", parent=answer)
    left = [words(m) for m in tell(home, transcript).messages() if m.abandoned]
    assert left == ["left behind", "second"]


def test_whether_it_is_finished_is_decided_on_the_branch_that_is_live(home: Path) -> None:
    transcript = Transcript()
    start = transcript.user("start")
    transcript.answer("yes")
    fork = transcript.last
    transcript.user("left behind")
    transcript.answer("an answer")
    transcript.user("live", parent=fork)
    reading = tell(home, transcript)
    assert start and not reading.conversation.finished
    assert reading.conversation.turns == 3


def test_a_rewind_to_before_the_first_prompt_leaves_all_of_it(home: Path) -> None:
    transcript = Transcript()
    transcript.user("/first thoughts")
    transcript.answer("an answer")
    transcript.user("second thoughts", parent=None)
    transcript.answer("another")
    told = {words(m): m.abandoned for m in tell(home, transcript).messages()}
    assert told == {
        "/first thoughts": True,
        "an answer": True,
        "second thoughts": False,
        "another": False,
    }


def test_a_rewind_below_a_hook_that_began_the_session_is_one_too(home: Path) -> None:
    transcript = Transcript()
    top = transcript.attach("hook_success", {"content": "hello"})
    transcript.user("first")
    transcript.answer("an answer")
    transcript.user("second", parent=top)
    messages = tell(home, transcript).messages()
    assert [words(m) for m in messages if m.abandoned] == ["first", "an answer"]


@pytest.mark.parametrize("start", ["hook", "command", "unknown"])
def test_a_second_beginning_is_not_always_a_rewind(home: Path, start: str) -> None:
    transcript = Transcript()
    transcript.user("first")
    transcript.answer("an answer")
    if start == "hook":
        transcript.attach("hook_success", {"content": "resumed"}, parent=None)
    elif start == "command":
        transcript.user("<command-name>/model</command-name>", parent=None)
    transcript.user("second", parent="lost" if start == "unknown" else "last")
    assert not any(m.abandoned for m in tell(home, transcript).messages())


def test_compaction_does_not_cut_the_story() -> None:
    messages = fixture("2.1.197", "ef9efb2c").messages()
    divider = row(messages, "3")
    assert divider.parent is not None
    assert messages.index(divider) > 5
    assert not any(m.abandoned for m in messages)


def test_lines_that_a_second_compaction_repeats_are_told_once() -> None:
    reading = fixture("2.1.197", "aa8dd1f6")
    prompts = [words(m) for m in reading.messages() if m.entry and m.entry.rule == "20"]
    assert prompts == [
        f"SCENE:{what}"
        for what in ("bash one", "plain two", "plain three", "bash four", "plain five")
    ]
    assert reading.conversation.upstream == "present"


def test_a_model_is_shown_the_last_summary_what_it_spared_and_what_came_since() -> None:
    reading = fixture("2.1.197", "aa8dd1f6")
    assert reading.shown is not None
    told = {message.id: message for message in reading.messages()}
    shown = [told[id] for id in reading.shown() if id in told]
    dividers = [m for m in reading.messages() if m.display == "divider"]
    assert len(dividers) == 2
    assert shown[0] is told[dividers[1].id]
    # The answer that the second compaction left as it was, told behind the summary.
    assert shown[1].author == "agent"
    assert list(told).index(shown[1].id) < list(told).index(shown[0].id)
    prompts = [words(m) for m in shown if m.entry and m.entry.rule == "20"]
    assert prompts == ["SCENE:plain five"]


def test_a_compaction_may_name_only_the_ends_of_what_it_spared(home: Path) -> None:
    transcript = Transcript()
    transcript.user("one")
    transcript.answer("first")
    head = transcript.user("two")
    tail = transcript.answer("second")
    segment = {"headUuid": head, "anchorUuid": head, "tailUuid": tail}
    transcript.system("compact_boundary", compactMetadata={"preservedSegment": segment})
    transcript.user("they counted", isCompactSummary=True)
    transcript.user("three")
    reading = tell(home, transcript)
    assert reading.shown is not None
    told = {message.id: words(message) for message in reading.messages()}
    assert [told[id] for id in reading.shown()] == ["they counted", "two", "second", "three"]


@pytest.mark.parametrize("spared", [{"allUuids": 0.1}, {"allUuids": [[]]}, 3])
def test_a_compaction_that_names_what_it_spared_by_no_ids_is_read(home: Path, spared: Any) -> None:
    transcript = Transcript()
    transcript.user("one")
    metadata = {"preservedMessages": spared, "preservedSegment": {"headUuid": []}}
    transcript.system("compact_boundary", compactMetadata=metadata)
    transcript.user("they counted", isCompactSummary=True)
    reading = tell(home, transcript)
    assert reading.shown is not None
    told = {message.id: words(message) for message in reading.messages()}
    assert [told[id] for id in reading.shown()] == ["they counted"]


def test_without_a_compaction_a_model_is_shown_everything(home: Path) -> None:
    transcript = Transcript()
    transcript.user("first")
    transcript.answer("an answer")
    reading = tell(home, transcript)
    assert reading.shown is not None
    assert reading.shown() == [message.id for message in reading.messages()]


# --- forks -----------------------------------------------------------------------------------


def test_an_old_resume_looks_for_the_last_answer_it_took_over() -> None:
    old = fixture("1.0.51", "16224542")
    first, second = fixture("1.0.51", "810fc42b"), fixture("1.0.51", "0c9ba80e")
    for new in (first, second):
        (token,) = tokens(new, "want") & tokens(old, "offer")
        assert token.startswith("answer:msg_fake00000047@")
    assert not tokens(second, "want") & tokens(first, "offer")
    assert not tokens(old, "want") & tokens(first, "offer")


@pytest.mark.parametrize("fork", ["22222222"])
def test_a_forked_session_looks_for_the_lines_of_its_original(fork: str) -> None:
    old, new = fixture("2.1.197", "11111111"), fixture("2.1.197", fork)
    found = tokens(new, "want") & tokens(old, "offer")
    assert {token.partition(":")[0] for token in found} == {"line"}
    assert not tokens(old, "want") & tokens(new, "offer")
    assert not tokens(old, "share") & tokens(new, "share")


def test_a_fork_whose_lines_name_the_original_is_no_ancestor_of_it() -> None:
    old, new = fixture("2.0.76", "c2337036"), fixture("2.0.76", "78a8eb3e")
    assert f"session:{old.conversation.native_id}" in tokens(new, "want") & tokens(old, "offer")
    assert not tokens(old, "share") & tokens(new, "share")


def test_forks_without_their_original_are_still_related(home: Path) -> None:
    names = [f"{n}{SESSION[1:]}" for n in "bc"]
    for name in names:
        fork = Transcript(name)
        fork.meta("queue-operation", operation="enqueue", timestamp="2026-11-16T00:00:00.000Z")
        fork.user("first")
        fork.answer("yes")
        lay(home, fork.bytes(), name)
    one, other = (read(home)[name] for name in names)
    assert tokens(one, "share") & tokens(other, "share")
    assert not tokens(one, "want") & tokens(other, "offer")


def test_the_same_uuid_or_answer_id_at_another_time_is_no_fork(home: Path) -> None:
    for name, time in (("b", "2026-11-15T10:00:00.000Z"), ("c", "2026-11-15T11:00:00.000Z")):
        transcript = Transcript(f"{name}{SESSION[1:]}")
        transcript.user("hello", uuid="33333333-0000-4000-8000-000000000000", timestamp=time)
        transcript.answer("hi", id="msg_1")
        lay(home, transcript.bytes(), transcript.session)
    one, other = read(home).values()
    assert not tokens(one, "share") & tokens(other, "share")
    assert not tokens(one, "want") & tokens(other, "offer")


def test_a_session_copied_without_a_trace_shares_its_first_lines(home: Path) -> None:
    for name in "bc":
        transcript = Transcript(f"{name}{SESSION[1:]}")
        transcript.user("hello")
        transcript.answer("hi")
        lay(home, transcript.bytes(), transcript.session)
    one, other = read(home).values()
    assert tokens(one, "share") & tokens(other, "share")


@pytest.mark.parametrize(
    ("version", "fork", "origin"),
    [
        ("2.1.197", "4ca55770", "becdaf4e-5d54-4031-a161-6c017325d5ec"),
        ("2.1.325", "60bd9e9b", "11111111-1111-4111-8111-111111111111"),
    ],
)
def test_a_branch_names_where_it_came_from(version: str, fork: str, origin: str) -> None:
    assert f"session:{origin}" in tokens(fixture(version, fork), "want")


def test_the_circle_in_a_branch_of_a_compacted_session_is_no_trap() -> None:
    reading = fixture("2.1.197", "4ca55770")
    assert reading.messages()[0].parent is None
    assert reading.conversation.turns == 6


def test_a_cleared_session_starts_anew_and_keeps_the_title() -> None:
    reading = fixture("2.1.197", "b58e2bf6")
    assert (reading.conversation.title, reading.conversation.turns) == ("my-branch", 2)


def test_a_continued_session_offers_itself_to_its_successor(home: Path) -> None:
    transcript = Transcript()
    transcript.user("go")
    transcript.meta("continued-in", continuedInSessionId="next")
    assert LinkToken("continuation", "offer", "next:next") in tell(home, transcript).link_tokens
    assert (
        LinkToken("continuation", "want", f"next:{SESSION}") in tell(home, transcript).link_tokens
    )


def test_a_session_that_says_what_it_was_made_from_looks_for_it(home: Path) -> None:
    transcript = Transcript()
    transcript.meta("derived-from", parentSessionId="before")
    transcript.user("go")
    assert "session:before" in tokens(tell(home, transcript), "want")


# --- sub-agents ------------------------------------------------------------------------------


def test_an_inline_sub_agent_is_a_conversation_of_its_own() -> None:
    found = fixtures("1.0.51")
    parent = next(r for name, r in found.items() if name.startswith("4d2eee1d") and "/" not in name)
    child = found[f"{parent.conversation.native_id}/sidechain-376865ea"]
    assert child.conversation.nature == "subagent"
    assert (parent.conversation.tool_calls, child.conversation.tool_calls) == (1, 1)
    call = f"call:{parent.conversation.native_id}/toolu_fake00000002"
    assert tokens(child, "want") == {call} <= tokens(parent, "offer")
    assert len([m for m in parent.messages() if m.display != "hidden"]) == 4


def test_a_flat_sub_agent_is_found_by_its_name() -> None:
    child, parent = fixture("2.0.76", "agent-aaade07"), fixture("2.0.76", "eb51c70e")
    name = f"agent:{parent.conversation.native_id}/aaade07"
    assert name in tokens(child, "want") & tokens(parent, "offer")


def test_nested_sub_agents_are_found_by_the_call_that_started_them() -> None:
    root = fixture("2.1.197", "d23a3610")
    outer, inner = (
        fixture("2.1.197", "agent-accbf71339f686f7a"),
        fixture("2.1.197", "agent-a5161a6471e98d909"),
    )
    assert tokens(outer, "want") <= tokens(root, "offer")
    assert tokens(inner, "want") <= tokens(outer, "offer")
    assert not tokens(inner, "want") & tokens(root, "offer")
    assert (outer.conversation.title, inner.conversation.title) == ("Outer agent", "Inner agent")


def test_a_sub_agent_that_no_call_started_belongs_to_its_session(home: Path) -> None:
    agent = Transcript()
    agent.user("suggest a prompt", isSidechain=True)
    lay(home, agent.bytes(), "agent-asuggest")
    assert f"session:{SESSION}" in tokens(read(home)["agent-asuggest"], "want")
    assert f"session:{SESSION}" not in tokens(fixture("2.0.76", "agent-afc7a0d"), "want")


def test_a_skill_may_start_a_sub_agent(home: Path) -> None:
    transcript = Transcript()
    transcript.call("toolu_s", "Skill", input={"skill": "tidy"})
    assert f"call:{SESSION}/toolu_s" in tokens(tell(home, transcript), "offer")


def test_two_inline_sub_agents_whose_names_begin_alike_are_two(home: Path) -> None:
    transcript = Transcript()
    for number in (1, 2):
        uuid = f"12345678-0000-4000-8000-{number:012d}"
        transcript.user(f"task {number}", uuid=uuid, parent=None, isSidechain=True)
    lay(home, transcript.bytes())
    assert [r.conversation.title for r in read(home).values()] == ["task 1", "task 2"]


def test_a_spilled_output_of_a_sub_agent_says_where_it_lies(home: Path) -> None:
    agent = Transcript()
    agent.call("a")
    agent.result("a", "<persisted-output>\nsaved to: /x/tool-results/b.txt\n\n1\n2")
    lay(home, agent.bytes(), "agent-a1")
    result = read(home)["agent-a1"].messages()[-1]
    assert "files of the session" in words(result)


# --- facts -----------------------------------------------------------------------------------


def test_the_project_is_the_first_directory_and_the_rest_is_a_trail() -> None:
    conversation = fixture("2.1.325", "1bea272a").conversation
    assert conversation.project == "/home/dev/proj/demo_app"
    assert conversation.trail == ["/home/dev/proj/demo_app/.claude/worktrees/wt2"]


def test_a_line_separator_inside_a_line_does_not_cut_it() -> None:
    reading = fixture("2.1.197", "f3fffff1")
    assert any("\u2028" in words(m) for m in reading.messages())
    assert reading.conversation.troubles == []


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ([("ai-title", {"aiTitle": "AI"}), ("custom-title", {"customTitle": "Mine"})], "Mine"),
        ([("last-prompt", {"lastPrompt": "second"}), ("ai-title", {"aiTitle": "AI"})], "AI"),
        ([("last-prompt", {"lastPrompt": "second", "leafUuid": "x"})], "second"),
        ([("last-prompt", {"lastPrompt": "from elsewhere", "leafUuid": "x"})], "first"),
        ([("summary", {"summary": "foreign", "leafUuid": "not here"})], "first"),
        (
            [("summary", {"summary": "own", "leafUuid": "00000003-0000-4000-8000-000000000000"})],
            "own",
        ),
        ([("ai-title", {"aiTitle": "API Error: 429 rate limited"})], "first"),
        ([("custom-title", {"customTitle": "API Error: 429"})], "API Error: 429"),
    ],
)
def test_titles_in_their_order(
    home: Path, lines: list[tuple[str, dict[str, Any]]], title: str
) -> None:
    transcript = Transcript()
    transcript.user("<command-name>/clear</command-name>")
    transcript.user("first")
    transcript.user("second")
    for kind, fields in lines:
        transcript.meta(kind, **fields)
    assert tell(home, transcript).conversation.title == title


def test_a_long_title_ends_with_a_whole_letter(home: Path) -> None:
    transcript = Transcript()
    transcript.user("x" * 198 + "か\u3099 and more")
    assert tell(home, transcript).conversation.title == "x" * 198 + "…"


def test_a_session_of_shell_commands_only_is_called_by_the_first(home: Path) -> None:
    transcript = Transcript()
    transcript.user("<bash-input>make test</bash-input>")
    transcript.user("<bash-stdout>ok</bash-stdout>")
    assert tell(home, transcript).conversation.title == "! make test"


def test_tokens_of_an_answer_count_once(home: Path) -> None:
    transcript = Transcript()
    transcript.answer("thinking aloud", id="m", output=1, stop_reason=None)
    transcript.answer("the answer", id="m", output=50)
    transcript.answer("No response requested.", model="<synthetic>", output=7)
    reading = tell(home, transcript)
    (answer,) = reading.answers
    assert (answer.key, answer.usage.output_tokens, answer.usage.lower_bound) == ("m", 50, False)
    assert reading.conversation.usage == answer.usage


def test_an_answer_that_no_model_is_named_for_has_none() -> None:
    """What was said until a person stopped it is kept under a made-up name."""
    messages = fixture("2.1.197", "becdaf4e").messages()
    stopped = [m for m in messages if m.author == "agent" and m.model is None]
    assert [p.text[:31] for m in stopped for p in m.parts if isinstance(p, Text)] == [
        "This answer is streamed slowly "
    ]
    assert {m.model for m in messages if m.model} == {"claude-opus-4-8"}


def test_start_values_and_aborted_answers_are_lower_bounds() -> None:
    old = fixture("1.0.51", "810fc42b").answers
    assert [a.usage.lower_bound for a in old] == [True, True, False]
    aborted = [a for a in fixture("2.1.325", "0058d519").answers if a.usage.lower_bound]
    assert [a.key for a in aborted] == ["msg_fake00000633"]


def test_an_answer_that_a_person_stopped_is_a_lower_bound(home: Path) -> None:
    transcript = Transcript()
    transcript.user("go")
    transcript.answer("an answer that was", id="cut", stop_reason=None)
    transcript.user("[Request interrupted by user]", interruptedMessageId="cut")
    transcript.answer("whole", id="whole")
    transcript.user("[Request interrupted by user]")
    bounds = {a.key: a.usage.lower_bound for a in tell(home, transcript).answers}
    assert bounds == {"cut": True, "whole": False}


def test_an_answer_cut_off_in_the_middle_does_not_finish(home: Path) -> None:
    transcript = Transcript()
    transcript.user("go")
    transcript.answer("I was abo", isAbortedMidStream=True)
    assert not tell(home, transcript).conversation.finished


@pytest.mark.parametrize(
    ("version", "session", "finished"),
    [
        ("2.1.197", "5471a680", True),
        ("2.1.197", "304dd7e8", False),
        ("2.1.197", "ea7d55a5", False),
        ("2.1.197", "becdaf4e", True),
    ],
)
def test_finished_when_the_agent_spoke_last(version: str, session: str, finished: bool) -> None:
    assert fixture(version, session).conversation.finished is finished


def test_the_census_counts_flags_of_user_entries() -> None:
    flags = fixture("2.1.197", "becdaf4e").conversation.flags
    assert flags["isMeta"] == 6
    assert (flags["isCompactSummary"], flags["isVisibleInTranscriptOnly"]) == (1, 1)
    assert flags["origin:human"] == 13


def test_every_count_agrees_with_the_messages() -> None:
    for version in ("1.0.51", "2.0.76", "2.1.197", "2.1.325"):
        for reading in fixtures(version).values():
            messages = reading.messages()
            shown = [m for m in messages if m.display != "hidden" and m.replaced_by is None]
            assert reading.conversation.messages == len(shown)
            assert len({m.id for m in messages}) == len(messages)


def test_a_session_is_resumed_where_it_was_started() -> None:
    session = fixture("2.1.197", "f3fffff1").conversation
    command = f"claude --resume {session.native_id}"
    assert READER.resume(session) == f"cd '/home/dev/proj/日本語 プロジェクト' && {command}"
    assert READER.resume(fixture("2.0.76", "agent-aaade07").conversation) is None


def test_prompts_survive_a_transcript_that_is_gone(home: Path) -> None:
    history = (FIXTURES / "2.1.197" / ".claude" / "history.jsonl").read_bytes()
    (home / ".claude").mkdir()
    (home / ".claude" / "history.jsonl").write_bytes(history)
    reading = read(home)["becdaf4e-5d54-4031-a161-6c017325d5ec"]
    assert reading.conversation.nature == "prompts"
    assert reading.conversation.title == "SCENE:plain hello from the terminal"
    (
        notice,
        first,
        *_,
    ) = reading.messages()
    assert (notice.author, first.author) == ("harness", "person")
    assert any("line B" in words(m) for m in reading.messages())


# --- what happens to files -------------------------------------------------------------------


def test_a_session_in_two_folders_is_one_conversation(home: Path) -> None:
    transcript = Transcript()
    transcript.user("before the move")
    lay(home, transcript.bytes(), folder="-a")
    transcript.answer("after the move")
    lay(home, transcript.bytes(), folder="-b")
    reading = read(home)[SESSION]
    assert [words(m) for m in reading.messages()] == ["before the move", "after the move"]


def test_a_rewritten_line_keeps_its_earlier_version(home: Path) -> None:
    transcript = Transcript()
    transcript.user("what I said", uuid="u1")
    transcript.answer("fine", uuid="u2")
    path = lay(home, transcript.bytes())
    memory = Memory(READER)
    memory.import_home(home)
    path.write_bytes(transcript.bytes().replace(b"what I said", b"what I mean"))
    memory.import_home(home)
    (reading,) = memory.readings().values()
    told = {m.id: (words(m), m.upstream, m.replaced_by) for m in reading.messages()}
    assert told["u1~1"] == ("what I said", "gone", "u1")
    assert told["u1"] == ("what I mean", "present", None)
    assert told["u2"] == ("fine", "present", None)
    assert (reading.conversation.upstream, reading.conversation.messages) == ("changed", 2)


def test_a_line_written_anew_stands_where_the_old_one_stood(home: Path) -> None:
    transcript = Transcript()
    transcript.user("alpha", uuid="u1")
    transcript.answer("first", uuid="a1")
    transcript.user("beta", uuid="u2")
    transcript.answer("second", uuid="a2")
    path = lay(home, transcript.bytes())
    memory = Memory(READER)
    memory.import_home(home)
    path.write_bytes(b"".join(transcript.lines[:2]).replace(b"first", b"first, redone"))
    memory.import_home(home)
    (reading,) = memory.readings().values()
    told = [(words(m), m.turn) for m in reading.messages()]
    redone = [("alpha", 1), ("first", 1), ("first, redone", 1)]
    assert told == [*redone, ("beta", 2), ("second", 2)]
    # What the file lost does not keep open what it still holds.
    assert reading.conversation.finished


def test_the_same_words_as_text_and_as_a_block_are_one_version(home: Path) -> None:
    transcript = Transcript()
    transcript.user("hello", uuid="u1")
    transcript.user([{"type": "text", "text": "hello"}], uuid="u1")
    assert [words(m) for m in tell(home, transcript).messages()] == ["hello"]


def test_a_truncated_file_loses_nothing(home: Path) -> None:
    transcript = Transcript()
    transcript.user("kept")
    transcript.answer("cut off")
    path = lay(home, transcript.bytes())
    memory = Memory(READER)
    memory.import_home(home)
    path.write_bytes(transcript.lines[0])
    memory.import_home(home)
    (reading,) = memory.readings().values()
    assert [(words(m), m.upstream) for m in reading.messages()] == [
        ("kept", "present"),
        ("cut off", "gone"),
    ]


def test_a_vanished_file_is_gone_but_readable(home: Path) -> None:
    transcript = Transcript()
    transcript.user("hello")
    lay(home, transcript.bytes())
    memory = Memory(READER)
    memory.import_home(home)
    for strand in memory.strands.values():
        strand.vanished_at = memory.now
    (reading,) = memory.readings().values()
    assert reading.conversation.upstream == "gone"
    assert [m.upstream for m in reading.messages()] == ["gone"]
