"""A transcript and the journal of who drove its agent are one story: nothing twice, nothing lost."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rireki.model.message import Author, Entry, Message
from rireki.model.parts import Attachment, Part, Text, Thinking, ToolCall, ToolResult
from rireki.sources.bridge.join import ONLY_HERE, join
from tests.support.driven import time


def made(
    id: str,
    rule: str,
    *parts: Part | str,
    author: Author = "agent",
    at: float | None = None,
    turn: int | None = None,
    flags: tuple[str, ...] = (),
    label: str | None = None,
) -> Message:
    return Message(
        id=id,
        author=author,
        display="bubble",
        label=label,
        at=None if at is None else time(at),
        turn=turn,
        parts=[Text(part) if isinstance(part, str) else part for part in parts],
        entry=Entry(1, rule, flags, rule),
    )


def prompt(id: str, text: str, at: float | None = 0, *flags: str, pictures: int = 0) -> Message:
    attached = [Attachment("image/png", f"{id}-{n}") for n in range(pictures)]
    return made(id, "prompt", text, *attached, author="person", at=at, flags=("given", *flags))


def text(id: str, words: str, at: float = 0, *flags: str) -> Message:
    return made(id, "text", words, at=at, flags=flags)


def typed(
    id: str, words: str, at: float | None = 0.1, turn: int | None = 1, *parts: Part
) -> Message:
    return made(id, "typed", words, *parts, author="person", at=at, turn=turn)


def answer(id: str, *parts: Part | str, at: float | None = 1, turn: int | None = 1) -> Message:
    return made(id, "answer", *parts, at=at, turn=turn)


def ids(transcript: list[Message], journal: list[Message], *running: str) -> list[str]:
    return [m.id for m in join(transcript, journal, running).messages]


# ── prompts ──


def test_a_prompt_is_known_by_its_id_or_by_its_words_however_they_are_spaced() -> None:
    assert ids([typed("p", "other words")], [prompt("p", "words")]) == ["p"]
    assert ids([typed("T", "fix  the\nbug ")], [prompt("p", "fix the bug")]) == ["T"]
    assert ids([typed("T", "fix the bag")], [prompt("p", "fix the bug")]) == ["p", "T"]


def test_what_is_mentioned_may_follow_the_words_in_a_part_of_its_own() -> None:
    mentioned = typed("T", "look at this", 0.1, 1, Text("[@a.py](file:///a.py)"))
    assert ids([mentioned], [prompt("p", "look at this")]) == ["T"]


def test_the_same_words_twice_are_two_prompts() -> None:
    both = [prompt("p1", "go", 0), prompt("p2", "go", 10)]
    assert ids([], both) == ["p1", "p2"]
    assert ids([typed("T1", "go", 0.1)], both) == ["T1", "p2"]
    assert ids([typed("T1", "go", 0.1, 1), typed("T2", "go", 10.1, 2)], both) == ["T1", "T2"]
    # The first one never reached the transcript.
    assert ids([typed("T2", "go", 10.1)], both) == ["p1", "T2"]


def test_the_same_words_twice_within_a_moment_are_two_prompts() -> None:
    """A queue that is worked off: the second is given in the very moment the first is noted."""
    both = [prompt("p1", "go", 0), prompt("p2", "go", 0.1)]
    assert ids([typed("T1", "go", 0.1, 1), typed("T2", "go", 0.1, 2)], both) == ["T1", "T2"]


def test_what_was_typed_again_after_a_failure_is_another_prompt() -> None:
    failed = [
        prompt("p", "go", 0, "cut"),
        made("n", "turn_end", "failed", author="harness", at=5),
    ]
    assert ids([typed("T", "go", 60)], failed) == ["p", "n", "T"]
    assert ids([typed("T", "go", 0.2)], failed) == ["T", "n"]


def test_words_that_were_typed_long_before_are_no_copy() -> None:
    old = typed("old", "continue", -3600)
    assert ids([old, answer("a", "ok", at=-3599)], [prompt("p", "continue", 0)]) == [
        "old",
        "a",
        "p",
    ]
    new = typed("new", "continue", 0.2, 2)
    assert ids([old, new], [prompt("p", "continue", 0)]) == ["old", "new"]


def test_a_clock_that_counts_whole_seconds_is_early_and_right() -> None:
    assert ids([typed("T", "go", 7.0)], [prompt("p", "go", 7.9)]) == ["T"]


def test_without_times_the_last_words_are_the_ones_once_the_turn_has_ended() -> None:
    old, new = typed("old", "continue", None, None), typed("new", "continue", None, None)
    mine = prompt("p", "continue", 0)
    ask = made("ask", "ask", "?", author="harness", at=1)
    # Amazon Q saves a row when its answer is complete: until then only the old words are there.
    assert ids([old], [mine, ask], "p") == ["old", "p", "ask"]
    assert ids([old, answer("a", "x", at=None), new], [mine, ask]) == ["old", "a", "new", "ask"]
    # What was interrupted may not have been saved at all.
    assert ids([old], [prompt("p", "continue", 0, "cut")]) == ["old", "p"]
    after = [prompt("p0", "start", 0), prompt("p", "continue", 1, "cut")]
    assert ids([typed("T", "start", None), new], after) == ["T", "new"]


def test_what_waits_or_was_withdrawn_is_the_journals_alone() -> None:
    for label in ("queued", "withdrawn"):
        waiting = made("p", "prompt", "go", author="person", at=5, label=label)
        assert ids([typed("T", "go", 6)], [waiting]) == ["p", "T"]
    # Unless the transcript has that very one: its name says so.
    assert ids([typed("p", "go", 6)], [waiting]) == ["p"]


def test_pictures_that_the_transcript_did_not_keep_are_kept() -> None:
    bare = join([typed("T", "look")], [prompt("p", "look", pictures=2)]).messages
    assert [part.digest for part in bare[0].parts if isinstance(part, Attachment)] == ["p-0", "p-1"]
    own = Attachment("image/png", "resized")
    kept = join([typed("T", "look", 0.1, 1, own)], [prompt("p", "look", pictures=1)]).messages
    assert kept[0].parts == [Text("look"), own]


def test_who_drives_an_agent_is_a_person() -> None:
    headless, queued = typed("T", "go"), typed("T", "go")
    headless.label, queued.label = "headless", "sent while working"
    assert join([headless], [prompt("p", "go")]).messages[0].label is None
    assert headless.label == "headless"
    assert join([queued], [prompt("p", "go")]).messages[0].label == "sent while working"
    assert join([headless], [prompt("p", "other")]).messages[1].label == "headless"


# ── what the agent did ──


def test_words_that_the_transcript_has_in_that_turn_go_and_others_are_marked() -> None:
    journal = [prompt("p", "go"), text("b1", "I will  look."), text("b2", "Half an ans")]
    transcript = [typed("T", "go"), answer("a", "I will look.", ToolCall("c", "Read"))]
    joined = join(transcript, journal)
    assert [(m.id, m.label) for m in joined.messages] == [
        ("T", None),
        ("a", None),
        ("b2", ONLY_HERE),
    ]
    # While the turn goes on, the transcript may still come to have it.
    assert join(transcript, journal, {"b2"}).messages[-1].label is None


def test_the_same_words_in_another_turn_are_no_copy() -> None:
    transcript = [
        typed("T1", "one", 0, 1),
        answer("a", "Done.", turn=1),
        typed("T2", "two", 10, 2),
    ]
    journal = [prompt("p1", "one", 0), prompt("p2", "two", 10), text("b", "Done.", 11)]
    assert ids(transcript, journal) == ["T1", "a", "T2", "b"]


def test_a_block_may_be_spread_over_several_messages() -> None:
    transcript = [typed("T", "go"), answer("a", "One."), answer("b", "Two.")]
    assert ids(transcript, [prompt("p", "go"), text("x", "One.\n\nTwo.")]) == ["T", "a", "b"]


def test_thoughts_are_compared_with_thoughts() -> None:
    thought = made("t", "thought", Thinking("hm"), at=0.5)
    same = [typed("T", "go"), answer("a", Thinking("hm"), "hm?")]
    assert ids(same, [prompt("p", "go"), thought]) == ["T", "a"]
    other = [typed("T", "go"), answer("a", "hm")]
    assert ids(other, [prompt("p", "go"), thought]) == ["T", "a", "t"]


def test_provisional_words_go_when_the_turn_is_answered() -> None:
    journal = [prompt("p", "go"), text("b", "> th\x1b[0me answ", 0.5, "provisional")]
    assert ids([typed("T", "go")], journal) == ["T", "b"]
    assert ids([typed("T", "go"), answer("a", "the answer")], journal) == ["T", "a"]
    assert ids([], journal) == ["p", "b"]


def test_calls_and_results_are_known_by_their_call() -> None:
    call, result = ToolCall("c", "Bash", {}), ToolResult("c", "ok", "done")
    journal = [
        prompt("p", "go"),
        made("call:c", "call", ToolCall("c", "Bash", {"command": "ls"})),
        made("result:c", "result", result, author="tool"),
    ]
    transcript = [typed("T", "go"), answer("a", "I look.", call)]
    assert ids(transcript, journal) == ["T", "a", "result:c"]
    transcript.append(made("r", "result", result, author="tool", turn=1))
    assert ids(transcript, journal) == ["T", "a", "r"]


def test_a_plan_goes_when_a_call_has_all_its_steps() -> None:
    plan = made("n1", "plan", "- [x] Read it\n- [ ] Fix it", at=0.5)
    todos = [{"content": "Read it", "status": "pending"}, {"content": "Fix it"}]
    journal = [prompt("p", "go"), plan]
    assert ids(
        [typed("T", "go"), answer("a", ToolCall("t", "TodoWrite", {"todos": todos}))], journal
    ) == [
        "T",
        "a",
    ]
    other = answer("a", ToolCall("t", "TodoWrite", {"todos": todos[:1]}))
    assert ids([typed("T", "go"), other], journal) == ["T", "a", "n1"]


# ── order ──


def test_what_stays_stands_between_its_neighbours() -> None:
    call, result = ToolCall("c", "Bash", {}), ToolResult("c", "ok", "done")
    transcript = [
        typed("T1", "one", 0, 1),
        answer("a1", "Let me see.", call, at=1, turn=1),
        made("r1", "result", result, author="tool", at=3, turn=1),
        answer("a2", "Done.", at=4, turn=1),
        typed("T2", "two", 10, 2),
    ]
    journal = [
        made("n0", "note", "started", author="harness", at=-1),
        prompt("p1", "one", 0),
        made("t1", "thought", Thinking("hm"), at=0.5),
        text("b1", "Let me see.", 1),
        made("call:c", "call", call, at=1),
        made("ask", "ask", "may I?", author="harness", at=2),
        made("result:c", "result", result, author="tool", at=3),
        text("b2", "Done.", 4),
        made("n1", "note", "a note", author="harness", at=5),
        prompt("p2", "two", 10),
        made("n2", "note", "another", author="harness", at=11),
    ]
    expected = ["n0", "T1", "t1", "a1", "ask", "r1", "a2", "n1", "T2", "n2"]
    assert ids(transcript, journal) == expected


def test_what_stays_does_not_jump_over_turns_that_were_typed_elsewhere() -> None:
    transcript = [
        typed("T1", "one", 0, 1),
        answer("a1", "Half", at=1, turn=1),
        typed("T2", "in the terminal", 100, 2),
        answer("a2", "ok", at=101, turn=2),
    ]
    stopped = made("n1", "turn_end", "stopped", author="harness", at=2)
    assert ids(transcript, [prompt("p1", "one", 0), stopped]) == ["T1", "a1", "n1", "T2", "a2"]
    later = prompt("p3", "three", 200)
    assert ids(transcript, [prompt("p1", "one"), stopped, later])[-1] == "p3"


def test_turns_are_counted_anew_where_a_prompt_was_put_in() -> None:
    transcript = [typed("T1", "one", 0, 1), answer("a1", "x", turn=1), typed("T3", "three", 20, 2)]
    journal = [prompt("p1", "one", 0), prompt("p2", "two", 10), prompt("p3", "three", 20)]
    joined = join(transcript, journal)
    assert [(m.id, m.turn) for m in joined.messages] == [("T1", 1), ("a1", 1), ("p2", 2), ("T3", 3)]
    # What was handed in is not changed.
    assert transcript[2].turn == 2


def test_no_two_messages_have_the_same_name() -> None:
    transcript = [answer("x", "an answer that is called x")]
    joined = join(transcript, [prompt("p", "go"), text("x", "another"), text("x~", "a third")])
    names = [m.id for m in joined.messages]
    assert len(set(names)) == len(names) == 4
    assert sorted(joined.names.values()) == ["p", "x", "x~"]


# ── whatever happens ──

_WORDS = st.sampled_from(["go", "continue", "fix it", "修正して", "go on"])


@st.composite
def drives(draw: st.DrawFn) -> tuple[list[Message], list[Message]]:
    """A journal, and the transcript its agent would have when all of it is written."""
    timed = draw(st.booleans())
    journal: list[Message] = []
    transcript: list[Message] = []
    at = 0.0
    turn = 0
    for number in range(draw(st.integers(1, 6))):
        at += 10
        words = draw(_WORDS)
        kept = draw(st.booleans()) or not timed
        fate = () if kept else ("cut",)
        journal.append(prompt(f"p{number}", words, at, *fate))
        if kept:
            turn += 1
            transcript.append(typed(f"T{number}", words, at + 0.1 if timed else None, turn))
        for step in range(draw(st.integers(0, 3))):
            at += 0.5
            name = f"{number}.{step}"
            said = f"answer {name}."
            call, result = ToolCall(name, "Bash", {}), ToolResult(name, "ok", "out")
            journal.append(text(f"b{name}", said, at))
            journal.append(made(f"call:{name}", "call", call, at=at))
            if draw(st.booleans()):
                journal.append(made(f"ask{name}", "ask", "?", author="harness", at=at))
            journal.append(made(f"result:{name}", "result", result, author="tool", at=at))
            if kept:
                moment = at if timed else None
                transcript.append(answer(f"A{name}", said, call, at=moment, turn=turn))
                transcript.append(
                    made(f"R{name}", "result", result, author="tool", at=moment, turn=turn)
                )
        if not kept:
            at += 1
            journal.append(made(f"n{number}", "turn_end", "stopped", author="harness", at=at))
        if draw(st.booleans()):
            at += 100
            turn += 1
            words = draw(_WORDS)
            transcript.append(typed(f"E{number}", words, at if timed else None, turn))
            # Only what can be told apart is asked for: without times, equal words cannot be.
            if not timed:
                transcript[-1] = typed(f"E{number}", f"elsewhere {number}", None, turn)
    return transcript, journal


@settings(max_examples=300, deadline=None)
@given(drives())
def test_every_prompt_is_told_once_whatever_part_of_the_transcript_is_there(
    drive: tuple[list[Message], list[Message]],
) -> None:
    whole, journal = drive
    asks = [m.id for m in journal if m.id.startswith("ask")]
    for end in range(len(whole) + 1):
        transcript = whole[:end]
        before = msgspec.json.encode(transcript)
        joined = join(transcript, journal)
        told = joined.messages
        # Nothing the transcript has is lost, changed or moved.
        assert msgspec.json.encode(transcript) == before
        kept = {m.id for m in joined.kept}
        assert [m.id for m in told if m.id not in kept] == [m.id for m in transcript]
        # Every prompt once, in its order: as the transcript has it, or as the journal does.
        sent = [m for m in told if m.id[0] in "pT"]
        assert [m.parts for m in sent] == [m.parts for m in journal if m.id.startswith("p")]
        if whole and whole[0].at is not None:
            assert [m.id[1:] for m in sent] == [str(n) for n in range(len(sent))]
        # What both have is told once, what only the journal has as well, in its order.
        said = [part.call_id for m in told for part in m.parts if isinstance(part, ToolCall)]
        assert len(set(said)) == len(said)
        assert [m.id for m in told if m.id in asks] == asks
        answers = Counter(
            part.text
            for m in told
            for part in m.parts
            if m.author == "agent" and isinstance(part, Text)
        )
        assert all(count == 1 for count in answers.values())
        turns = [m.turn for m in told if m.author == "person" and m.turn is not None]
        assert turns == list(range(1, len(turns) + 1))


@pytest.mark.parametrize("count", [400])
def test_a_long_conversation_is_joined_with_work_that_grows_with_it(count: int) -> None:
    transcript: list[Message] = []
    journal: list[Message] = []
    for number in range(count):
        transcript.append(typed(f"T{number}", "go", number * 10 + 0.1, number + 1))
        transcript.append(answer(f"A{number}", f"said {number}", turn=number + 1))
        journal.append(prompt(f"p{number}", "go", number * 10))
        journal.append(text(f"b{number}", f"said {number}", number * 10 + 1))
    joined = join(transcript, journal)
    assert joined.kept == [] and len(joined.messages) == 2 * count
