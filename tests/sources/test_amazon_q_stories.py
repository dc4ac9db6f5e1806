"""What a person finds again after Amazon Q has overwritten, compacted, trimmed or lost it."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from rireki.sources.reader import Known, Update
from tests.support.q_rows import (
    Client,
    Value,
    called,
    message_saying,
    put_in,
    returned,
    said,
    shown,
    talk,
    texts,
    to_a_model,
    words,
)

FIRST = said("m1", "how do I undo a commit?", "git reset --soft HEAD~1")
SECOND = said("m2", "and push it?", "git push --force-with-lease")
THIRD = said("m3", "thanks", "You are welcome.")
CALL = called("m4", "list the files", "Looking.", "t1", path=".")
RESULT = returned("m5", "t1", "src\ntests", "Two folders.")


@pytest.fixture
def q(tmp_path: Path) -> Client:
    return Client(tmp_path)


def test_a_new_chat_in_the_same_directory_overwrites_the_row_and_the_old_one_stays(
    q: Client,
) -> None:
    q.save_and_look(talk("old", FIRST, SECOND))
    q.save_and_look(talk("new", THIRD))
    found = q.look()
    assert words(found["old"]) == [
        "how do I undo a commit?",
        "git reset --soft HEAD~1",
        "and push it?",
        "git push --force-with-lease",
    ]
    assert found["old"].conversation.upstream == "gone"
    assert {message.upstream for message in found["old"].messages()} == {"gone"}
    assert found["new"].conversation.upstream == "present"


def test_the_new_chat_says_which_one_it_replaced(q: Client) -> None:
    q.save_and_look(talk("old", FIRST))
    q.save(talk("new", THIRD))
    (origin,) = q.memory.reader.recognise(q.database)
    cursors = q.memory.cursors[str(q.database)]
    updates = [u for u in q.memory.reader.read(origin, Known(cursors)) if isinstance(u, Update)]
    assert [json.loads(update.replaces or "")[2] for update in updates] == ["old"]


def test_resuming_adds_to_the_same_conversation(q: Client) -> None:
    q.save_and_look(talk("one", FIRST))
    resumed = said("m9", "In a few words, summarize our conversation so far.", "Undoing commits.")
    reading = q.save_and_look(talk("one", FIRST, resumed, SECOND))
    assert reading.conversation.turns == 2
    assert reading.conversation.upstream == "present"
    prompt = message_saying(reading, "In a few words, summarize our conversation so far.")
    assert (prompt.author, prompt.display) == ("harness", "chip")


def test_compacting_leaves_the_whole_talk_and_a_divider(q: Client) -> None:
    q.save_and_look(talk("one", FIRST, SECOND))
    compacted = talk("one", THIRD, latest_summary=["They spoke of undoing.", {"message_id": "m0"}])
    compacted["transcript"] = shown(FIRST, SECOND, THIRD)
    reading = q.save_and_look(compacted)
    assert words(reading) == [
        *words(reading, "gone"),
        "They spoke of undoing.",
        "thanks",
        "You are welcome.",
    ]
    assert words(reading, "gone")[0] == "how do I undo a commit?"
    divider = message_saying(reading, "They spoke of undoing.")
    assert (divider.display, divider.label) == ("divider", "context compacted")
    assert reading.conversation.upstream == "changed"
    assert reading.conversation.turns == 3
    assert to_a_model(reading) == ["They spoke of undoing.", "thanks", "You are welcome."]


def test_what_was_compacted_before_we_came_survives_in_the_transcript(q: Client) -> None:
    compacted = talk("one", THIRD, latest_summary="They spoke of undoing.")
    compacted["transcript"] = ["> /compact", *shown(FIRST), "> y", "throttled", *shown(THIRD)]
    reading = q.save_and_look(compacted)
    prompt = message_saying(reading, "how do I undo a commit?")
    assert (prompt.author, prompt.display, prompt.label, prompt.turn) == (
        "person",
        "bubble",
        "only in the transcript",
        None,
    )
    assert [message_saying(reading, text).display for text in ("/compact", "y")] == ["chip", "chip"]
    (notice,) = [m for m in reading.messages() if "throttled" in str(m.parts)]
    assert (notice.author, notice.display) == ("harness", "chip")
    assert reading.conversation.turns == 1
    assert words(reading)[-3:] == ["They spoke of undoing.", "thanks", "You are welcome."]
    assert to_a_model(reading) == words(reading)[-3:]


def test_trimming_drops_the_head_and_rewrites_the_first_entry(q: Client) -> None:
    q.save_and_look(talk("one", FIRST, CALL, RESULT, SECOND))
    rewritten = said("m5", "src tests", "Two folders.")
    reading = q.save_and_look(talk("one", rewritten, SECOND, THIRD))
    original, made = (
        next(m for m in reading.messages() if m.entry and text in texts(m))
        for text in ("src\ntests", "src tests")
    )
    assert (original.upstream, original.replaced_by) == ("gone", made.id)
    assert (made.author, made.upstream, made.turn) == ("harness", "present", 2)
    assert words(reading).count("Two folders.") == 1
    assert words(reading, "gone")[:2] == ["how do I undo a commit?", "git reset --soft HEAD~1"]
    assert reading.conversation.turns == 4
    assert reading.conversation.tool_results == 1


def test_clearing_loses_nothing(q: Client) -> None:
    q.save_and_look(talk("one", FIRST, SECOND))
    cleared = talk("one", THIRD, transcript=[*shown(FIRST, SECOND), "> /clear", *shown(THIRD)])
    reading = q.save_and_look(cleared)
    assert words(reading) == [*_text(FIRST, SECOND), "/clear", *_text(THIRD)]
    assert words(reading, "gone") == _text(FIRST, SECOND)


def test_a_tangent_is_there_while_it_runs_and_after_it_was_left(q: Client) -> None:
    aside = said("m8", "what is a reflog?", "A diary of HEAD.")
    tangent = talk(
        "one",
        FIRST,
        aside,
        tangent_state={
            "main_history": [FIRST],
            "main_next_message": None,
            "main_transcript": shown(FIRST),
            "main_latest_summary": None,
            "tangent_start_time": [2025, 246, 1, 15, 0, 0, 0, 0, 0],
        },
    )
    reading = q.save_and_look(tangent)
    assert message_saying(reading, "A diary of HEAD.").label == "tangent"
    assert message_saying(reading, "git reset --soft HEAD~1").label is None
    assert reading.conversation.entries == 2

    reading = q.save_and_look(talk("one", FIRST, SECOND))
    diary = message_saying(reading, "A diary of HEAD.")
    assert (diary.label, diary.upstream) == ("tangent", "gone")
    assert message_saying(reading, "git push --force-with-lease").upstream == "present"


def test_going_back_to_a_checkpoint_keeps_what_came_after_it(q: Client) -> None:
    reading = q.save_and_look(talk("one", FIRST, SECOND, THIRD))
    manager = {"checkpoints": [{"tag": "1", "history_snapshot": [FIRST, SECOND]}], "tag_index": {}}
    reading = q.save_and_look(talk("one", FIRST, checkpoint_manager=manager))
    assert [m.label for m in reading.messages()] == [None] * 2 + ["only in a checkpoint"] * 2 + [
        None
    ] * 2
    assert words(reading, "gone") == _text(THIRD)

    reading = q.save_and_look(talk("one", FIRST, SECOND, THIRD))
    assert reading.conversation.upstream == "present"
    assert len(reading.messages()) == 6


def test_an_entry_that_only_a_checkpoint_remembers_is_shown(q: Client) -> None:
    manager = {"checkpoints": [{"tag": "1", "history_snapshot": [FIRST, SECOND]}]}
    reading = q.save_and_look(talk("one", FIRST, checkpoint_manager=manager))
    found = message_saying(reading, "git push --force-with-lease")
    assert (found.label, found.upstream) == ("only in a checkpoint", "present")


def test_a_renamed_tool_is_a_new_version_of_the_same_message(q: Client) -> None:
    q.save_and_look(talk("one", CALL, RESULT))
    renamed = copy.deepcopy(CALL)
    renamed["assistant"]["ToolUse"]["tool_uses"][0]["orig_args"] = {"path": "/"}
    reading = q.save_and_look(talk("one", renamed, RESULT))
    old, new = [m for m in reading.messages() if m.id.startswith("m4") and m.author == "agent"]
    assert (old.id, old.upstream, old.replaced_by) == ("m4~1", "gone", "m4")
    assert (new.id, new.upstream, new.replaced_by) == ("m4", "present", None)
    assert words(reading).count("list the files") == 1
    assert reading.conversation.tool_calls == 1
    assert reading.conversation.messages == 4


def test_a_name_that_only_the_backend_sees_changes_nothing_for_the_reader(q: Client) -> None:
    q.save_and_look(talk("one", CALL, RESULT))
    renamed = copy.deepcopy(CALL)
    renamed["assistant"]["ToolUse"]["tool_uses"][0]["name"] = "dummy"
    reading = q.save_and_look(talk("one", renamed, RESULT))
    assert len(reading.messages()) == 4
    assert reading.conversation.upstream == "present"


def test_a_newer_client_writes_old_pairs_as_objects_and_nothing_doubles(q: Client) -> None:
    timeout = said("x", "write it all", "Response timed out - message took too long to generate")
    timeout["assistant"]["Response"]["message_id"] = None
    entries = [FIRST, timeout, SECOND]
    pairs = [
        [{k: v for k, v in e["user"].items() if k != "timestamp"}, e["assistant"]] for e in entries
    ]
    q.save_and_look(talk("one", *entries, history=pairs))
    reading = q.save_and_look(talk("one", *entries))
    assert words(reading) == _text(*entries)
    assert reading.conversation.upstream == "present"
    assert reading.conversation.entries == 3


def test_a_long_title_ends_with_a_whole_letter(q: Client) -> None:
    reading = q.save_and_look(talk("one", said("m1", "x" * 149 + "か\u3099 and more", "Yes.")))
    assert reading.conversation.title == "x" * 149


def test_what_an_mcp_prompt_put_in_is_nobodys_turn_and_no_title(q: Client) -> None:
    brought = put_in("You review code.", "Understood.")
    reading = q.save_and_look(talk("one", brought, FIRST))
    sides = [message_saying(reading, text) for text in ("You review code.", "Understood.")]
    assert [(m.author, m.display, m.label, m.turn) for m in sides] == [
        ("harness", "chip", "from an MCP prompt", None)
    ] * 2
    assert [m.entry.rule for m in sides if m.entry] == ["MCP prompt"] * 2
    assert reading.conversation.title == "how do I undo a commit?"
    assert reading.conversation.turns == 1

    pair = [brought["user"], brought["assistant"]]
    reading = q.save_and_look(talk("old", FIRST, history=[pair, FIRST]))
    assert message_saying(reading, "You review code.").author == "harness"


def test_a_typed_prompt_whose_answer_has_no_id_stays_typed(q: Client) -> None:
    timeout = put_in("write it all", "Response timed out - message took too long to generate")
    requested = {**put_in("and the docs", "Done."), "request_metadata": {"request_id": "r1"}}
    unnamed = said("-", "and push it?", "Pushed.")
    del unnamed["assistant"]["Response"]["message_id"]
    reading = q.save_and_look(talk("one", timeout, requested, unnamed))
    typed = ("write it all", "and the docs", "and push it?")
    assert [message_saying(reading, text).author for text in typed] == ["person"] * 3
    assert reading.conversation.turns == 3


def test_two_chats_in_one_directory_take_turns_and_both_are_complete(q: Client) -> None:
    q.save_and_look(talk("a", FIRST))
    q.save_and_look(talk("b", CALL))
    q.save_and_look(talk("a", FIRST, SECOND))
    q.save_and_look(talk("b", CALL, RESULT))
    found = q.look()
    assert words(found["a"]) == [*_text(FIRST), *_text(SECOND)]
    assert found["b"].conversation.tool_results == 1
    assert [found[name].conversation.upstream for name in "ab"] == ["gone", "present"]


def test_a_deleted_row_is_gone_and_readable(q: Client) -> None:
    q.save_and_look(talk("one", FIRST))
    q.run("DELETE FROM conversations")
    reading = q.look()["one"]
    assert words(reading) == _text(FIRST)
    assert reading.conversation.upstream == "gone"
    assert q.save_and_look(talk("one", FIRST)).conversation.upstream == "present"


def test_a_prompt_without_an_answer_waits_at_the_end(q: Client) -> None:
    pending = said("-", "and now the docs", "-")["user"]
    reading = q.save_and_look(talk("one", FIRST, next_message=pending))
    last = reading.messages()[-1]
    assert (texts(last), last.author, last.label, last.turn) == (
        ["and now the docs"],
        "person",
        "not answered yet",
        2,
    )
    assert reading.conversation.finished

    answered = said("m7", "and now the docs", "Done.")
    reading = q.save_and_look(talk("one", FIRST, answered))
    assert words(reading).count("and now the docs") == 1


def test_ids_stay_the_same_however_often_it_is_saved(q: Client) -> None:
    before = [m.id for m in q.save_and_look(talk("one", FIRST, CALL)).messages()]
    after = [m.id for m in q.save_and_look(talk("one", FIRST, CALL, RESULT, SECOND)).messages()]
    assert after[: len(before)] == before
    assert len(set(after)) == len(after)


def _text(*entries: Value) -> list[str]:
    return [
        text
        for entry in entries
        for text in (
            entry["user"]["content"]["Prompt"]["prompt"],
            entry["assistant"]["Response"]["content"],
        )
    ]
