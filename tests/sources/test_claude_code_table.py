"""Each row of the classification table: who is behind an entry, and how it is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rireki.model.message import Message
from rireki.sources.claude_code.classify import ALL, HUMAN, RuleInput, judge
from rireki.sources.claude_code.shapes import Kind, LineHead
from tests.sources.transcripts import Transcript, fixture, lay, read, row, tell, words


def judged(home: Path, content: Any, **fields: Any) -> Message:
    transcript = Transcript()
    transcript.user(content, **fields)
    return tell(home, transcript).messages()[-1]


def verdict(message: Message) -> tuple[str, str, str]:
    assert message.entry is not None
    return message.entry.rule, message.author, message.display


def outcome(
    home: Path, tool: str, content: Any, error: bool = False, **fields: Any
) -> list[Message]:
    """What is shown of a tool's result."""
    transcript = Transcript()
    transcript.user("go", permissionMode="default")
    transcript.call("toolu_1", tool)
    transcript.result("toolu_1", content, error, **fields)
    return tell(home, transcript).messages()[2:]


# --- 1: tool outcomes ----------------------------------------------------------------------


def test_1_a_tool_result_folds_into_its_call(home: Path) -> None:
    (result,) = outcome(home, "Bash", "one\ntwo")
    assert verdict(result) == ("1", "tool", "fold")
    assert (result.label, words(result)) == ("Bash", "one\ntwo")


def test_1_a_failure_is_not_a_refusal(home: Path) -> None:
    (result,) = outcome(home, "Bash", "Exit code 2\nno such file", error=True)
    assert result.parts[0].status == "error"  # type: ignore[union-attr]


def test_1a_a_refusal_with_a_reason_is_the_persons_word() -> None:
    messages = fixture("2.1.197", "becdaf4e").messages()
    said = row(messages, "1a")
    assert verdict(said) == ("1a", "person", "bubble")
    assert (said.label, words(said)) == ("refused", "do it another way")
    result = next(m for m in messages if m.id == said.id.removesuffix("#said"))
    assert result.parts[0].status == "cancelled"  # type: ignore[union-attr]


def test_1a_a_refusal_over_the_sdk_leaves_nothing_but_its_text() -> None:
    said = row(fixture("2.1.197", "4d04b3de").messages(), "1a")
    assert words(said) == "No, please do something else"


@pytest.mark.parametrize(
    "mark",
    [
        {"holdsPersonsWords": True},
        {"toolDenialKind": "user-rejected"},
        {"permissionDecision": {"decision": "reject", "source": "user_reject"}},
    ],
)
def test_1a_newer_versions_mark_a_refusal(home: Path, mark: dict[str, Any]) -> None:
    result, said = outcome(home, "Bash", "rather not", error=True, **mark)
    assert verdict(said) == ("1a", "person", "bubble")
    assert result.parts[0].status == "cancelled"  # type: ignore[union-attr]


def test_1a_a_rejection_by_configuration_is_nobodys_word(home: Path) -> None:
    decision = {"decision": "reject", "source": "config"}
    (result,) = outcome(
        home, "Bash", "Permission to use Bash has been denied.", True, permissionDecision=decision
    )
    assert verdict(result) == ("1", "tool", "fold")


def test_1a_a_refusal_by_a_rule_is_nobodys_word_whatever_its_kind(home: Path) -> None:
    decision = {"decision": "reject", "source": "hook"}
    marks = {"toolDenialKind": "hook-denied", "permissionDecision": decision}
    (result,) = outcome(home, "Bash", "blocked", error=True, **marks)
    assert verdict(result) == ("1", "tool", "fold")


def test_1a_words_that_came_with_a_yes_are_no_refusal(home: Path) -> None:
    _, said = outcome(home, "Bash", "ok. the user said: mind the gap", holdsPersonsWords=True)
    assert (said.label, words(said)) == ("said", "mind the gap")


def test_1b_an_answer_in_own_words_is_an_answer(home: Path) -> None:
    _, said = outcome(home, "AskUserQuestion", "Your answer: blue", holdsPersonsWords=True)
    assert (verdict(said), said.label) == (("1b", "person", "bubble"), "answered")


def test_1a_what_a_command_prints_is_not_what_a_person_said(home: Path) -> None:
    (result,) = outcome(home, "Bash", "Exit code 1\nlog: the user said: hello", error=True)
    assert verdict(result) == ("1", "tool", "fold")


def test_1b_a_question_may_be_declined(home: Path) -> None:
    _, said = outcome(home, "AskUserQuestion", "User declined to answer questions", error=True)
    assert (verdict(said), said.label) == (("1a", "person", "bubble"), "refused")


@pytest.mark.parametrize("tool", ["AskUserQuestion", "ExitPlanMode"])
def test_1b_1c_a_call_that_went_wrong_never_reached_a_person(home: Path, tool: str) -> None:
    (result,) = outcome(home, tool, "<tool_use_error>bad input</tool_use_error>", error=True)
    assert verdict(result) == ("1", "tool", "fold")


def test_1b_answers_to_questions_are_the_persons() -> None:
    said = row(fixture("2.1.197", "becdaf4e").messages(), "1b")
    assert verdict(said) == ("1b", "person", "bubble")
    assert words(said) == "Which colour do you want? → Red\nWhich fruits? → Apple, Pear"


def test_1c_a_plan_is_approved_by_a_person() -> None:
    said = row(fixture("2.1.197", "a6ad046e").messages(), "1c")
    assert verdict(said) == ("1c", "person", "chip")
    assert (said.label, words(said)) == ("plan approved (edited)", "# Plan\n1. Do A\n2. Do B\n")


def test_1c_a_plan_is_rejected_with_words() -> None:
    messages = fixture("2.1.197", "b6aceb4a").messages()
    said = row(messages, "1c")
    assert (said.label, words(said)) == ("plan rejected", "No, please do something else")


def test_persons_answers_to_tools_start_no_turn() -> None:
    assert fixture("2.1.197", "f60897ff").conversation.turns == 1


# --- 2 and 3: sub-agents, compaction -------------------------------------------------------


def test_2_the_parent_agent_wrote_a_sub_agents_prompt() -> None:
    reading = fixture("2.1.197", "agent-accbf71339f686f7a")
    assert verdict(reading.messages()[0]) == ("2", "harness", "bubble")
    assert reading.conversation.turns == 0


def test_2_warming_up_is_hidden() -> None:
    reading = fixture("2.0.76", "agent-afc7a0d")
    assert {m.display for m in reading.messages()} == {"hidden"}
    assert reading.conversation.messages == 0


def test_2_nobody_types_in_a_sub_agents_conversation(home: Path) -> None:
    agent = Transcript()
    agent.user("look around", isSidechain=True)
    agent.user("[Request interrupted by user for tool use]", isSidechain=True)
    lay(home, agent.bytes(), "agent-a1")
    reading = read(home)["agent-a1"]
    stopped = reading.messages()[-1]
    assert (verdict(stopped), stopped.label) == (("2", "harness", "chip"), "interrupted")
    assert not reading.conversation.finished


def test_3_a_compaction_is_a_divider_that_holds_its_summary() -> None:
    divider = row(fixture("2.1.325", "0058d519").messages(), "3")
    assert verdict(divider) == ("3", "harness", "divider")
    assert divider.label == "context compacted (2,251 → 2,932 tokens)"
    assert words(divider).startswith("This session is being continued")


def test_3_a_summary_without_boundary_is_a_divider_too(home: Path) -> None:
    message = judged(home, "This session is being continued …", isVisibleInTranscriptOnly=True)
    assert verdict(message) == ("3", "harness", "divider")


def test_3_a_summary_without_flags_is_known_by_its_first_words(home: Path) -> None:
    text = "This session is being continued from a previous conversation that ran out of context. …"
    assert verdict(judged(home, text)) == ("3", "harness", "divider")


# --- 4 to 9: injected text ------------------------------------------------------------------


def test_4_a_skill_loaded_by_the_model_is_a_chip() -> None:
    message = row(fixture("2.1.197", "679047ab").messages(), "4")
    assert verdict(message) == ("4", "harness", "chip")
    assert message.label == "skill: demo-skill"


def test_4_a_skill_body_is_known_by_its_first_words(home: Path) -> None:
    message = judged(home, "Base directory for this skill: C:\\skills\\tidy\n\n# Tidy")
    assert (verdict(message), message.label) == (("4", "harness", "chip"), "skill: tidy")


def test_5_the_text_of_a_command_folds_under_it() -> None:
    for version, session in (
        ("1.0.51", "3d045958"),
        ("2.0.76", "81e27afc"),
        ("2.1.197", "becdaf4e"),
    ):
        message = row(fixture(version, session).messages(), "5")
        assert verdict(message) == ("5", "harness", "fold")
        assert "Please greet" in words(message)


@pytest.mark.parametrize(("version", "session"), [("1.0.51", "0c9ba80e"), ("2.1.197", "becdaf4e")])
def test_6_caveats_are_hidden(version: str, session: str) -> None:
    assert verdict(row(fixture(version, session).messages(), "6")) == ("6", "harness", "hidden")


def test_7_the_path_of_a_pasted_picture_names_the_picture() -> None:
    messages = fixture("2.1.197", "becdaf4e").messages()
    assert verdict(row(messages, "7")) == ("7", "harness", "fold")
    assert row(messages, "19").parts[1].name == "dot.png"  # type: ignore[union-attr]


def test_7_several_pasted_pictures_have_a_name_each(home: Path) -> None:
    transcript = Transcript()
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    transcript.user([{"type": "image", "source": source}] * 2)
    paths = [{"type": "text", "text": f"[Image: source: /x/{n}.png]"} for n in (1, 2)]
    transcript.user(paths, isMeta=True)
    prompt = tell(home, transcript).messages()[0]
    names = [part.name for part in prompt.parts]  # type: ignore[union-attr]
    assert names == ["1.png", "2.png"]


def test_8_a_hook_that_sends_the_agent_on_is_a_chip() -> None:
    assert verdict(row(fixture("2.1.197", "10206694").messages(), "8")) == ("8", "harness", "chip")


@pytest.mark.parametrize(("version", "session"), [("2.1.197", "becdaf4e"), ("2.1.325", "cd869fbd")])
def test_9_other_injected_text_is_hidden(version: str, session: str) -> None:
    assert verdict(row(fixture(version, session).messages(), "9")) == ("9", "harness", "hidden")


# --- 10 to 12: other senders ----------------------------------------------------------------


def test_10_an_entry_of_another_origin_is_a_chip() -> None:
    message = row(fixture("2.1.197", "15a3592f").messages(), "10")
    assert verdict(message) == ("10", "harness", "chip")
    assert message.label == 'task completed: Agent "BG reader" finished'


def test_10_a_peer_speaks_under_its_own_name(home: Path) -> None:
    origin = {"kind": "peer", "from": "helper", "body": "the tests are green"}
    message = judged(home, "<wrapped>the tests are green</wrapped>", origin=origin)
    assert (message.label, words(message)) == ("peer: helper", "the tests are green")


def test_10_an_unknown_origin_is_not_human(home: Path) -> None:
    message = judged(home, "do more", origin={"kind": "moonbeam"}, promptSource="typed")
    assert verdict(message) == ("10", "harness", "chip")


def test_10_a_human_may_type_what_looks_like_a_tag(home: Path) -> None:
    text = "<task-notification> is a tag I saw, what is it?"
    message = judged(home, text, origin={"kind": "human"}, promptSource="typed")
    assert verdict(message) == ("20", "person", "bubble")


@pytest.mark.parametrize(
    "text",
    [
        "Caveat: The messages below were generated by the user - why do I see that?",
        "This session is being continued from a previous conversation that ran out of context. Go.",
        "Base directory for this skill: is that the right folder?",
        "<p>what is <command-name> for?</p>",
    ],
)
def test_10_a_human_may_quote_what_programs_write(home: Path, text: str) -> None:
    message = judged(home, text, origin={"kind": "human"}, promptSource="typed")
    assert (verdict(message), words(message)) == (("20", "person", "bubble"), text)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("<command-name>/model</command-name>", "13"),
        ("<command-message>x</command-message>\n<command-name>/x</command-name>", "13"),
        ("<bash-input>ls</bash-input>", "15"),
    ],
)
def test_10_what_a_human_does_by_typing_is_still_seen_as_such(
    home: Path, text: str, rule: str
) -> None:
    message = judged(home, text, origin={"kind": "human"})
    assert verdict(message)[:2] == (rule, "person")


def test_11_a_background_task_that_ended_is_a_chip(home: Path) -> None:
    text = "<task-notification>\n<status>failed</status>\n<summary>it broke</summary></task-notification>"
    message = judged(home, text)
    assert (verdict(message), message.label) == (("11", "harness", "chip"), "task failed: it broke")


@pytest.mark.parametrize(
    "text",
    [
        '<teammate-message teammate_id="ann">hi</teammate-message>',
        '<agent-message from="ann">hi</agent-message>',
    ],
)
def test_12_another_agent_is_a_chip_with_its_name(home: Path, text: str) -> None:
    message = judged(home, text)
    assert (verdict(message), message.label) == (("12", "harness", "chip"), "from ann")


# --- 13 to 18: what people type besides prompts ----------------------------------------------


def test_13_commands_of_both_spellings_are_the_persons() -> None:
    messages = fixture("2.1.197", "becdaf4e").messages()
    chips = [m.label for m in messages if m.entry is not None and m.entry.rule == "13"]
    assert chips == [
        "/usage",
        "/rename Nice name",
        "/compact",
        "/demo-skill from terminal",
        "/greet terminal",
        "/model sonnet",
    ]


def test_13_arguments_may_hold_angle_brackets(home: Path) -> None:
    text = (
        "<command-name>/fix</command-name>\n<command-args>if a < b </command-args> c</command-args>"
    )
    assert judged(home, text).label == "/fix if a < b </command-args> c"


def test_14_output_of_a_command_folds_without_its_colours() -> None:
    message = row(fixture("2.1.197", "becdaf4e").messages(), "14")
    assert verdict(message) == ("14", "harness", "fold")
    last = [m for m in fixture("2.1.197", "becdaf4e").messages() if m.display != "hidden"][-1]
    assert words(last).startswith("Set model to Sonnet 5 and")


def test_14_empty_output_is_hidden() -> None:
    assert verdict(row(fixture("2.1.197", "b58e2bf6").messages(), "14")) == (
        "14",
        "harness",
        "hidden",
    )


def test_15_a_shell_command_is_the_persons_and_its_output_is_not() -> None:
    messages = [
        m for m in fixture("2.1.197", "becdaf4e").messages() if m.entry and m.entry.rule == "15"
    ]
    assert [(verdict(m)[1:], words(m)) for m in messages] == [
        (("person", "bubble"), "echo typed-bash-mode"),
        (("harness", "fold"), "typed-bash-mode"),
    ]


def test_16_an_interruption_is_an_act_but_no_turn(home: Path) -> None:
    transcript = Transcript()
    transcript.user("go")
    transcript.answer("I was about to")
    transcript.user([{"type": "text", "text": "[Request interrupted by user]"}])
    reading = tell(home, transcript)
    assert verdict(reading.messages()[-1]) == ("16", "person", "chip")
    assert (reading.conversation.turns, reading.conversation.finished) == (1, False)


def test_17_what_an_editor_adds_is_taken_apart_from_what_was_typed(home: Path) -> None:
    transcript = Transcript()
    context = "<ide_opened_file>The user opened a.py</ide_opened_file>"
    transcript.user([{"type": "text", "text": context}, {"type": "text", "text": "what is this?"}])
    added, typed = tell(home, transcript).messages()
    assert verdict(added) == ("17", "harness", "chip")
    assert (verdict(typed), words(typed)) == (("20", "person", "bubble"), "what is this?")


def test_17_an_editor_may_add_behind_what_was_typed(home: Path) -> None:
    transcript = Transcript()
    context = "<ide_selection>line 3 of a.py</ide_selection>"
    transcript.user([{"type": "text", "text": "what is this?"}, {"type": "text", "text": context}])
    added, typed = tell(home, transcript).messages()
    assert (verdict(added), words(added)) == (("17", "harness", "chip"), context)
    assert (verdict(typed), words(typed)) == (("20", "person", "bubble"), "what is this?")


@pytest.mark.parametrize("before", [True, False])
def test_17_a_reminder_beside_a_prompt_is_not_the_persons(home: Path, before: bool) -> None:
    transcript = Transcript()
    blocks = [
        {"type": "text", "text": "<system-reminder>\nMind the gap.\n</system-reminder>"},
        {"type": "text", "text": "what is this?"},
    ]
    transcript.user(blocks if before else blocks[::-1])
    reading = tell(home, transcript)
    added, typed = reading.messages()
    assert (verdict(added), added.label) == (("17", "harness", "chip"), "context: system-reminder")
    assert (verdict(typed), words(typed)) == (("20", "person", "bubble"), "what is this?")
    assert reading.conversation.title == "what is this?"


@pytest.mark.parametrize(
    "tag", ["ide_selection", "session-start-hook", "system-reminder", "tick", "goal"]
)
def test_17_context_alone_is_nobodys_prompt(home: Path, tag: str) -> None:
    message = judged(home, f"<{tag}>something</{tag}>")
    assert verdict(message) == ("17", "harness", "chip")


def test_18_a_note_to_remember_is_a_chip(home: Path) -> None:
    message = judged(home, "<user-memory-input>use tabs</user-memory-input>")
    assert (verdict(message), message.label) == (("18", "person", "chip"), "remember: use tabs")


# --- 19 and 20: prompts ---------------------------------------------------------------------


def test_19_a_prompt_with_a_picture_brings_its_bytes() -> None:
    reading = fixture("2.1.197", "becdaf4e")
    message = row(reading.messages(), "19")
    assert verdict(message) == ("19", "person", "bubble")
    picture = message.parts[1]
    assert picture.media_type == "image/png"  # type: ignore[union-attr]
    data = reading.attachment(picture.digest)  # type: ignore[union-attr]
    assert data is not None and data.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("source", "badge"),
    [
        ("typed", None),
        ("queued", "queued"),
        ("sdk", "headless"),
        ("suggestion_accepted", "accepted suggestion"),
    ],
)
def test_20_the_rest_is_typed_and_says_how(home: Path, source: str, badge: str | None) -> None:
    message = judged(home, "hello", promptSource=source)
    assert (verdict(message), message.label) == (("20", "person", "bubble"), badge)


def test_19_a_picture_that_is_only_mentioned_is_one_too(home: Path) -> None:
    assert verdict(judged(home, "what is on [Image #2]?")) == ("19", "person", "bubble")


@pytest.mark.parametrize("content", ["", [], None])
def test_20_nobody_typed_nothing(home: Path, content: Any) -> None:
    assert verdict(judged(home, content)) == ("unknown", "harness", "fold")


# --- A and S: attachments, the queue, system lines --------------------------------------------


@pytest.mark.parametrize(("version", "session"), [("2.1.197", "d1c36bd9"), ("2.1.325", "7424ab90")])
def test_a1_a_prompt_typed_while_a_tool_ran_has_no_user_line(version: str, session: str) -> None:
    reading = fixture(version, session)
    message = row(reading.messages(), "A1")
    assert verdict(message) == ("A1", "person", "bubble")
    assert (message.label, words(message)) == ("sent while working", "queued while a tool runs")
    assert reading.conversation.turns == 2


@pytest.mark.parametrize(
    "marks",
    [
        {"origin": {"kind": "peer"}},
        {"commandMode": "task-notification"},
        {"origin": {"kind": "new"}},
    ],
)
def test_a2_what_others_queued_is_a_chip(home: Path, marks: dict[str, Any]) -> None:
    transcript = Transcript()
    transcript.attach("queued_command", {"prompt": "news", **marks})
    reading = tell(home, transcript)
    assert verdict(reading.messages()[0]) == ("A2", "harness", "chip")
    assert reading.conversation.turns == 0


def test_a2_a_task_that_ended_meanwhile_tells_its_outcome(home: Path) -> None:
    transcript = Transcript()
    text = (
        "<task-notification><status>completed</status><summary>built</summary></task-notification>"
    )
    transcript.attach("queued_command", {"prompt": text, "commandMode": "task-notification"})
    assert tell(home, transcript).messages()[0].label == "task completed: built"


def test_a3_prompts_that_were_sent_together_are_not_told_twice(home: Path) -> None:
    transcript = Transcript()
    for text in ("first of all", "and then"):
        transcript.meta("queue-operation", operation="enqueue", content=text)
    for _ in range(2):
        transcript.meta("queue-operation", operation="dequeue")
    transcript.user("first of all\nand then")
    assert len(tell(home, transcript).messages()) == 1


@pytest.mark.parametrize(
    "marks",
    [
        {"origin": {"kind": "task-notification", "subkind": "scheduled-trigger"}},
        {"origin": {"kind": "channel"}},
        {"isMeta": True},
    ],
)
def test_a3_what_a_program_queued_and_sent_is_not_told_twice(
    home: Path, marks: dict[str, Any]
) -> None:
    transcript = Transcript()
    transcript.meta("queue-operation", operation="enqueue", content="check the deploy")
    transcript.meta("queue-operation", operation="dequeue")
    transcript.user("check the deploy", **marks)
    (message,) = tell(home, transcript).messages()
    assert message.author == "harness"


def test_a3_what_programs_queue_was_typed_by_nobody(home: Path) -> None:
    transcript = Transcript()
    transcript.user("go")
    for text in ("<task-notification>x", '<teammate-message teammate_id="a">x', "<tick>x</tick>"):
        transcript.meta("queue-operation", operation="enqueue", content=text)
    assert len(tell(home, transcript).messages()) == 1


def test_a3_a_prompt_that_never_left_the_queue_is_shown_as_such(home: Path) -> None:
    transcript = Transcript()
    transcript.user("first")
    for operation in ("enqueue", "popAll"):
        transcript.meta("queue-operation", operation=operation, content="never mind")
    reading = tell(home, transcript)
    message = row(reading.messages(), "A3")
    assert verdict(message) == ("A3", "person", "bubble")
    assert (message.label, words(message), reading.conversation.turns) == (
        "never sent",
        "never mind",
        1,
    )


def test_a3_a_picture_that_was_never_sent_is_kept(home: Path) -> None:
    transcript = Transcript()
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    content = [{"type": "text", "text": "look"}, {"type": "image", "source": source}]
    transcript.meta("queue-operation", operation="enqueue", content=content)
    reading = tell(home, transcript)
    picture = reading.messages()[0].parts[1]
    assert reading.attachment(picture.digest) == b"\x89PNG\r\n\x1a\n"  # type: ignore[union-attr]


def test_a3_a_delivered_prompt_is_not_told_twice() -> None:
    for session in ("becdaf4e", "d1c36bd9", "22222222", "ef9efb2c", "50be82ff"):
        rules = {m.entry.rule for m in fixture("2.1.197", session).messages() if m.entry}
        assert "A3" not in rules


def test_a4_hooks_are_chips_and_blocking_ones_errors() -> None:
    hooks = [
        m for m in fixture("2.1.197", "10206694").messages() if m.entry and m.entry.rule == "A4"
    ]
    assert {verdict(m) for m in hooks} == {("A4", "harness", "chip")}
    assert hooks[0].label == "hook: SessionStart:startup"
    assert hooks[-1].parts[0].level == "error"  # type: ignore[union-attr]


def test_a4_a_hook_that_stopped_the_agent_says_why(home: Path) -> None:
    transcript = Transcript()
    stopped = {"hookName": "Stop", "message": "blocked by policy"}
    transcript.attach("hook_stopped_continuation", stopped)
    transcript.system("stop_hook_summary", hookErrors=["the linter failed"], hookCount=1)
    transcript.system("stop_hook_summary", hookErrors=[], hookCount=1)
    hook, summary = tell(home, transcript).messages()
    assert (verdict(hook), words(hook)) == (("A4", "harness", "chip"), "blocked by policy")
    assert (verdict(summary), words(summary)) == (("S2", "harness", "chip"), "the linter failed")


def test_a5_mentioned_files_fold_under_the_prompt() -> None:
    message = row(fixture("2.1.197", "1137aee7").messages(), "A5")
    assert (verdict(message), message.label) == (("A5", "harness", "fold"), "file: README.md")
    assert words(message) == "# Demo app\n\nThis is a demo.\n"


def test_a6_other_context_is_hidden_but_there() -> None:
    message = row(fixture("2.1.325", "0058d519").messages(), "A6")
    assert verdict(message) == ("A6", "harness", "hidden")
    assert message.parts[0].what == "environment"  # type: ignore[union-attr]


def test_s1_an_unknown_command_was_typed_by_a_person(home: Path) -> None:
    transcript = Transcript()
    transcript.system("local_command", content="/frobnicate now")
    message = tell(home, transcript).messages()[0]
    assert (verdict(message), message.label) == (("S1", "person", "chip"), "/frobnicate now")


def test_s2_notices_of_the_program_are_shown() -> None:
    message = row(fixture("2.1.325", "2d9d7698").messages(), "S2")
    assert (verdict(message), message.label) == (("S2", "harness", "chip"), "api_error")
    assert words(message).startswith("Connection refused")
    assert message.parts[0].level == "error"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"status": 529, "error": {"error": {"message": "Overloaded"}}}, "529 Overloaded"),
        ({"message": "no route", "status": None}, "no route"),
        ({"cause": {"code": "ECONNRESET"}}, "ECONNRESET"),
        ("went wrong", "went wrong"),
        ({"strange": 1}, '{"strange": 1}'),
    ],
)
def test_s2_an_error_is_told_in_words(home: Path, error: Any, told: str) -> None:
    transcript = Transcript()
    transcript.system("api_error", error=error)
    assert words(tell(home, transcript).messages()[0]) == told


@pytest.mark.parametrize("subtype", ["memory_saved", "agents_killed", "bridge_status"])
def test_s2_system_lines_we_know_show_nothing_when_they_say_nothing(
    home: Path, subtype: str
) -> None:
    transcript = Transcript()
    transcript.system(subtype)
    assert tell(home, transcript).messages()[0].display == "hidden"


METADATA = """
    summary custom-title ended-by-model ai-title last-prompt tag relocated agent-name agent-color
    agent-setting pr-link frame-link bridge-session file-history-snapshot attribution-snapshot
    speculation-accept mode permission-mode isolation-latch worktree-state queue-operation
    marble-origami-commit marble-origami-snapshot marble-origami-reset content-replacement
    fork-context-ref continued-in history-suppression file-history-delta session-owner dev-mods
    memory-mode atis-latch tools-used data-flow-x derived-from cost-state api-request-shape
    api-request-blob api-request observer-ref resume-head-vouch artifact-x
"""


@pytest.mark.parametrize("kind", METADATA.split())
def test_metadata_is_known_and_no_message(home: Path, kind: str) -> None:
    transcript = Transcript()
    transcript.user("hello")
    transcript.meta(kind, content={"any": "thing"}, message={"role": "user", "content": "hello"})
    assert [words(m) for m in tell(home, transcript).messages()] == ["hello"]


# --- the shortcut -----------------------------------------------------------------------------

_TEXTS = (
    "",
    "hello",
    "/x",
    "Warmup",
    "<tick>x</tick>",
    "[Request interrupted by user]",
    "[Image: source: /a.png]",
    "Caveat: The messages below were generated by the user",
    "Base directory for this skill: /a",
    "Stop hook feedback: no",
)
_LOOKS: tuple[dict[str, Any], ...] = (
    {},
    {"isMeta": True},
    {"isCompactSummary": True},
    {"origin": Kind("human")},
    {"origin": Kind("peer")},
    {"promptSource": "system"},
)


@pytest.mark.parametrize("agent", [True, False])
@pytest.mark.parametrize("marks", _LOOKS)
@pytest.mark.parametrize("text", _TEXTS)
def test_plain_texts_are_judged_as_if_every_row_had_been_asked(
    text: str, marks: dict[str, Any], agent: bool
) -> None:
    case = RuleInput(LineHead(**marks), text, agent=agent)
    human = marks.get("origin") == Kind("human")
    asked = next(rule for rule in (HUMAN if human else ALL) if rule.hits(case))
    assert judge(case) == asked
