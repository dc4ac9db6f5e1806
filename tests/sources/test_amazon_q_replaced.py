"""Whose place a row took: new chats, new files, rows that break, and rows that come back."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.sources.amazon_q.reader import READER
from rireki.sources.kit.places import Places
from rireki.sources.reader import Known, Update
from tests.support.memory import Memory
from tests.support.q_rows import Client, Value, called, message_saying, said, shown, talk, words

HELLO = said("m1", "hello", "Hi.")
OTHER = said("m2", "howdy", "Yo.")
THIRD = said("m3", "later", "Ok.")
TABLE = "CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT)"


@pytest.fixture
def q(tmp_path: Path) -> Client:
    return Client(tmp_path)


def replaced_by(q: Client, value: Value) -> str | None:
    """The chat whose place a new one takes, as the next import will say."""
    q.save(value)
    (origin,) = READER.discover(Places.at(q.home)).origins
    known = Known(dict(q.memory.cursors[str(q.database)]))
    (update,) = [item for item in READER.read(origin, known) if isinstance(item, Update)]
    q.look()
    return json.loads(update.replaces)[2] if update.replaces else None


def test_a_new_database_of_the_same_shape_is_not_taken_for_the_old_one(q: Client) -> None:
    q.save_and_look(talk("aaaa", HELLO))
    q.database.unlink()
    q.run(TABLE)
    q.save(talk("bbbb", OTHER))
    found = q.look()
    assert {name: one.conversation.upstream for name, one in found.items()} == {
        "aaaa": "gone",
        "bbbb": "present",
    }
    assert words(found["aaaa"]) == ["hello", "Hi."]


def test_a_row_deleted_and_written_anew_at_its_place_is_noticed(q: Client) -> None:
    q.save_and_look(talk("one", HELLO))
    q.run("DELETE FROM conversations")
    assert words(q.save_and_look(talk("one", OTHER)), "present") == ["howdy", "Yo."]


def test_the_chat_that_was_there_last_is_replaced_whatever_the_rowids_say(q: Client) -> None:
    for number in range(5):
        q.save(talk(f"x{number}", HELLO), f"/x/{number}")
    q.save_and_look(talk("aaaa", HELLO))
    q.database.unlink()
    q.run(TABLE)
    assert replaced_by(q, talk("bbbb", OTHER)) == "aaaa"
    assert replaced_by(q, talk("cccc", THIRD)) == "bbbb"


def test_a_chat_that_came_back_is_the_one_that_is_replaced_next(q: Client) -> None:
    q.save_and_look(talk("aaaa", HELLO))
    before = q.database.read_bytes()
    q.save_and_look(talk("bbbb", OTHER))
    q.database.write_bytes(before)
    assert q.look()["aaaa"].conversation.upstream == "present"
    assert replaced_by(q, talk("cccc", THIRD)) == "aaaa"


def test_two_chats_in_turn_take_the_place_of_each_other(q: Client) -> None:
    q.save_and_look(talk("aaaa", HELLO))
    assert replaced_by(q, talk("bbbb", OTHER)) == "aaaa"
    assert replaced_by(q, talk("aaaa", HELLO, THIRD)) == "bbbb"
    assert replaced_by(q, talk("aaaa", HELLO, THIRD, OTHER)) is None
    assert replaced_by(q, talk("bbbb", OTHER)) == "aaaa"
    found = q.look()
    assert words(found["aaaa"]) == ["hello", "Hi.", "later", "Ok.", "howdy", "Yo."]
    assert words(found["bbbb"], "present") == ["howdy", "Yo."]


def held_by_turns(archive: Archive, q: Client, *turns: str) -> set[tuple[str, str]]:
    """Chats save in turn, each time with one more answer; returns (child, parent) of successions."""
    for number, name in enumerate(turns):
        count = turns[: number + 1].count(name)
        q.save(talk(name, *(said(f"{name}{n}", f"{name} asks {n}", "Ok.") for n in range(count))))
        import_history(archive, places=Places.at(q.home), sources=["amazon-q"])
    links = {
        (talk.native_id, link.id.partition("/")[2])
        for talk in archive.conversations()
        for link in talk.links
        if (link.kind, link.side) == ("supersedes", "parent")
    }
    for name in set(turns):
        found = archive.find(name)
        assert len(words(read_conversation(archive, found))) == 2 * turns.count(name)
        assert found.conversation.upstream == ("present" if name == turns[-1] else "gone")
        child = {link.id for link in found.conversation.links if link.side == "child"}
        assert bool(child) == (name != turns[-1]), "whoever is gone, and nobody else, was replaced"
    return links


@pytest.mark.parametrize(
    ("turns", "links"),
    [
        ("AB", {"BA"}),
        ("ABA", {"AB"}),
        ("ABAB", {"BA"}),
        ("ABABABA", {"AB"}),
        ("ABC", {"BA", "CB"}),
        ("ABCA", {"CB", "AC"}),
        ("ABAC", {"AB", "CA"}),
    ],
)
def test_the_archive_tells_who_has_whose_place_now(
    archive: Archive, q: Client, turns: str, links: set[str]
) -> None:
    assert held_by_turns(archive, q, *turns) == {(link[0], link[1]) for link in links}
    assert verify(archive) == []


def test_a_row_that_broke_does_not_hide_who_was_there_before(q: Client) -> None:
    q.save_and_look(talk("aaaa", HELLO))
    q.save('{"broken')
    assert q.look()["aaaa"].conversation.upstream == "gone"
    assert replaced_by(q, talk("bbbb", OTHER)) == "aaaa"


def test_a_row_that_came_back_as_it_was_tells_no_other_time(q: Client) -> None:
    first = q.save_and_look(talk("one", HELLO)).conversation.started_at
    q.run("DELETE FROM conversations")
    q.look()
    found = q.save_and_look(talk("one", HELLO)).conversation
    assert (found.upstream, found.started_at, found.updated_at) == ("present", first, first)


def test_what_the_directory_no_longer_holds_cannot_be_resumed(q: Client) -> None:
    q.save_and_look(talk("old", HELLO))
    q.save_and_look(talk("new", OTHER))
    found = {name: READER.resume(one.conversation) for name, one in q.look().items()}
    assert found == {"old": None, "new": "cd /home/u/app && q chat --resume"}


def test_what_is_known_from_a_saved_file_only_cannot_be_resumed(tmp_path: Path) -> None:
    entry = said("m1", "hello", "Hi.")
    entry["user"]["env_context"]["env_state"] = {"current_working_directory": "/home/u/app"}
    (tmp_path / "mine.json").write_text(json.dumps(talk("one", entry)))
    memory = Memory(READER)
    (origin,) = READER.recognise(tmp_path / "mine.json")
    memory.take(origin)
    (reading,) = memory.readings().values()
    assert (reading.conversation.project, reading.conversation.held_by) == ("/home/u/app", [])
    assert READER.resume(reading.conversation) is None


def test_a_chat_that_appeared_while_we_looked_on_was_held_then(q: Client) -> None:
    q.save_and_look(talk("old", HELLO))
    q.save_and_look(talk("new", OTHER))
    found = q.look()
    assert found["old"].conversation.updated_at == "2026-01-01T00:00:01.000Z"
    assert found["new"].conversation.updated_at == "2026-01-01T00:00:02.000Z"
    assert {one.conversation.times_from for one in found.values()} == {"rireki"}


def test_earlier_versions_stand_beside_what_took_their_place(q: Client) -> None:
    call = called("m4", "look", "Looking.", "t1", path=".")
    q.save_and_look(talk("one", call, HELLO))
    renamed = copy.deepcopy(call)
    renamed["assistant"]["ToolUse"]["tool_uses"][0]["name"] = "dummy"
    q.save_and_look(talk("one", renamed, HELLO))
    rewritten = copy.deepcopy(call)
    rewritten["assistant"]["ToolUse"]["tool_uses"][0]["orig_name"] = "fs_list"
    rewritten["user"]["content"] = {"Prompt": {"prompt": "look around"}}
    reading = q.save_and_look(talk("one", rewritten, HELLO))
    # The name that only the backend saw is no version of its own.
    assert [(m.id, m.replaced_by, m.turn) for m in reading.messages()[:4]] == [
        ("m4-u~1", "m4-u", 1),
        ("m4-u", None, 1),
        ("m4~1", "m4", 1),
        ("m4", None, 1),
    ]
    assert reading.conversation.title == "look around"


def test_hook_output_belongs_to_the_turn_of_its_prompt(q: Client) -> None:
    hooked = said("m2", "howdy", "Yo.", additional_context="branch=main")
    reading = q.save_and_look(talk("one", HELLO, hooked))
    assert message_saying(reading, "branch=main").turn == 2


def test_a_command_that_only_the_transcript_has_is_a_chip_that_names_it(q: Client) -> None:
    lines = [*shown(HELLO), "> /compact", "> !ls", "Throttled: try again", *shown(OTHER)]
    reading = q.save_and_look(talk("one", OTHER, latest_summary="Hi.", transcript=lines))
    assert [m.label for m in reading.messages() if m.display == "chip"] == [
        "/compact (only in the transcript)",
        "!ls (only in the transcript)",
        "Throttled: try again (only in the transcript)",
    ]


def test_the_title_is_the_first_prompt_even_if_only_the_transcript_has_it(q: Client) -> None:
    lines = ["> /model", *shown(HELLO, OTHER)]
    reading = q.save_and_look(talk("one", OTHER, latest_summary="Hi.", transcript=lines))
    assert reading.conversation.title == "hello"


def test_results_that_the_client_left_out_are_no_prompt(q: Client) -> None:
    reading = q.save_and_look(talk("one", said("m0", "<tool result redacted>", "Fine."), HELLO))
    assert (reading.conversation.title, reading.conversation.turns) == ("hello", 1)
    assert message_saying(reading, "<tool result redacted>").author == "harness"


def test_fields_that_are_null_cost_nothing_else(q: Client) -> None:
    call = called("m4", "look", "Looking.", "t1", path=".")
    entry = said("m5", "", "Fine.")
    result = {"tool_use_id": "t1", "content": None, "status": None}
    entry["user"]["content"] = {"ToolUseResults": {"tool_use_results": [result]}}
    empty = said("m6", "", "Pardon?")
    value = talk("one", call, entry, empty)
    empty["user"]["content"] = {"Prompt": {"prompt": None}}
    found = q.save_and_look(value).conversation
    assert (found.tool_results, found.calls_without_result, found.turns) == (1, 0, 2)


def test_only_an_id_that_is_null_says_that_the_client_wrote_the_answer(q: Client) -> None:
    without = copy.deepcopy(HELLO)
    del without["assistant"]["Response"]["message_id"]
    null = said("m9", "and?", "Nothing.")
    null["assistant"]["Response"]["message_id"] = None
    reading = q.save_and_look(talk("one", without, null))
    authors = [message_saying(reading, text).author for text in ("Hi.", "Nothing.")]
    assert authors == ["agent", "harness"]
