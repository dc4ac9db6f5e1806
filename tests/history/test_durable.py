"""On disk: it goes on after a restart, has one writer, and tells of what went wrong."""

from __future__ import annotations

import errno
import gc
import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from rireki import HistoryConflict, MessageHistory
from rireki.archive.open import open_archive
from rireki.errors import NotFound, RirekiError
from tests.history.conftest import calls, exchange, says

PROGRAM = "from rireki import MessageHistory\nimport os, sys, time\n"


def journal(place: Path, name: str = "x") -> Path:
    return place.parent / "histories" / f"{name}.jsonl"


def lines(place: Path, name: str = "x") -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal(place, name).read_text("utf-8").splitlines()]


def test_reopening_goes_on(place: Path) -> None:
    with MessageHistory.open("x", archive=place, title="T", project="/home/u/x") as history:
        exchange(history, 1)
        before = history.get_messages()
        assert history.id == "x" and history.title == "T"
    with MessageHistory.open("rireki/x", archive=place) as history:
        assert history.get_messages() == before
        exchange(history, 2)
        assert history.render("gemini") == MessageHistory.open(
            "x", archive=place, read_only=True
        ).render("gemini")
    written = lines(place)
    assert [line["seq"] for line in written] == list(range(11))
    assert [line["parent"] for line in written[1:]] == [line["id"] for line in written[:-1]]
    assert written[0]["kind"] == "start" and written[0]["project"] == "/home/u/x"


def test_a_history_without_a_name_gets_one(place: Path) -> None:
    with MessageHistory.open(archive=place) as one, MessageHistory.open(archive=place) as other:
        assert one.id and other.id and one.id != other.id


def test_nothing_said_leaves_nothing_behind(place: Path) -> None:
    MessageHistory.open("x", archive=place, title="T").close()
    assert list(journal(place).parent.iterdir()) == []
    assert not place.exists()


def test_an_entry_is_in_the_file_when_the_method_returns(place: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        for number in range(3):
            history.add_user_message(f"number {number}")
            assert lines(place)[-1]["raw"]["content"] == f"number {number}"


def test_full_sync_waits_for_the_disk(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with MessageHistory.open("x", archive=place, sync="full") as history:
        history.add_user_message("a")
        history.add_user_message("b")
        assert len(synced) == 2


def test_who_only_reads_goes_on_in_a_copy(place: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        history.add_user_message("mine")
        with pytest.raises(HistoryConflict, match="the history x is being written by this process"):
            history.fork("x")
        reader = MessageHistory.open("x", archive=place, read_only=True)
        with pytest.raises(RirekiError, match="opened to be read only"):
            reader.add_user_message("no")
        with reader.fork("y") as copy:
            copy.add_user_message("in a copy")
        assert [m["content"] for m in history.messages] == ["mine"]
    with MessageHistory.open("x", archive=place) as again:
        again.add_user_message("now")


def test_a_writer_in_another_process_is_named(place: Path) -> None:
    code = f"{PROGRAM}h = MessageHistory.open('x', archive={str(place)!r})\n"
    code += "h.add_user_message('theirs'); print(os.getpid(), flush=True); sys.stdin.read()"
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout and other.stdin
    pid = other.stdout.readline().strip()
    with pytest.raises(HistoryConflict, match=f"is being written by process {pid} ") as caught:
        MessageHistory.open("x", archive=place)
    assert "read_only=True" in caught.value.hint and "fork()" in caught.value.hint
    other.kill()
    other.wait()
    other.stdin.close()
    other.stdout.close()
    # The system takes the lock back when its holder dies.
    with MessageHistory.open("x", archive=place) as history:
        assert [m["content"] for m in history.messages] == ["theirs"]


def test_a_copy_of_the_process_cannot_write(place: Path) -> None:
    code = (
        PROGRAM
        + f"""
from rireki import HistoryConflict
h = MessageHistory.open('x', archive={str(place)!r})
h.add_user_message('parent')
if os.fork() == 0:
    try:
        h.add_user_message('child')
    except HistoryConflict as error:
        print(error.message, flush=True)
    sys.exit(0)
os.wait()
h.add_user_message('parent again')
"""
    )
    run = [sys.executable, "-W", "ignore", "-c", code]
    said = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    assert "of which this one" in said
    with MessageHistory.open("x", archive=place) as history:
        assert [m["content"] for m in history.messages] == ["parent", "parent again"]


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_torn_last_line_is_set_aside_and_told(place: Path, cut: int) -> None:
    with MessageHistory.open("x", archive=place) as history:
        history.add_user_message("whole")
        history.add_user_message("torn in the middle")
    data = journal(place).read_bytes()
    journal(place).write_bytes(data[:-cut])
    torn = data[:-cut].rpartition(b"\n")[2].decode()
    with MessageHistory.open("x", archive=place) as history:
        said = [m["content"] for m in history.messages]
        if cut == 1:
            # Only the newline was missing: the entry is there.
            assert said == ["whole", "torn in the middle"] and history.troubles == []
        else:
            assert said == ["whole"]
            assert "unfinished last line" in history.troubles[0]
            assert lines(place)[-1]["torn"] == torn
        history.add_user_message("next")
    with MessageHistory.open("x", archive=place) as history:
        assert [m["content"] for m in history.messages] == [*said, "next"]


def test_a_damaged_line_costs_itself_only(place: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        exchange(history, 1)
    whole = journal(place).read_bytes().split(b"\n")
    whole[2] = b'{"v": 1, "id": \xff'
    journal(place).write_bytes(b"\n".join(whole))
    with MessageHistory.open("x", archive=place) as history:
        assert len(history.messages) == 4
        assert f"{journal(place)}: line 3" in history.troubles[0]
        for provider in ("anthropic", "openai"):
            history.render(provider)


def test_a_hostile_journal_is_read_without_harm(place: Path) -> None:
    journal(place).parent.mkdir(parents=True)
    deep = "[" * 5000 + "]" * 5000
    hostile: list[Any] = [
        {"v": 1, "id": "a", "kind": "user", "parent": "a", "raw": {"role": "user", "content": "1"}},
        {"v": 1, "id": "a", "kind": "branch", "parent": "a"},
        {"v": 1, "id": "b", "kind": "branch", "parent": "nowhere"},
        {"v": 1, "id": "c", "kind": "edit", "items": [[1, 2]]},
        {"v": 1, "id": "d", "kind": "repair", "after": 7, "raw": None},
        {"v": 1, "id": "e", "kind": "trim", "keep": ["x"]},
        {"v": 1, "id": "f", "kind": "summary", "raw": {"a": 1}},
        {"v": 1, "id": "g", "kind": "assistant", "provider": "x", "answer": True, "raw": 5},
        {"v": 1, "id": "h", "kind": "never heard of", "raw": 5},
        {"v": 1, "id": "i", "kind": "user", "provider": "gemini", "raw": [1, {"a": None}]},
        {"v": 2, "id": "j", "kind": "user"},
        {"v": 1, "id": "", "kind": "user"},
    ]
    text = "".join(json.dumps(line) + "\n" for line in hostile)
    journal(place).write_text(text + f'{{"v":1,"id":"k","kind":"user","raw":{deep}}}\n')
    with MessageHistory.open("x", archive=place) as history:
        history.add_user_message("still here")
        assert history.messages[-1]["content"] == "still here"
        assert len(history.troubles) >= 2
    archive = open_archive(place)
    assert archive.find("rireki/x").conversation.troubles
    archive.close()


def test_a_full_disk_keeps_all_or_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def full(file: int, data: bytes) -> int:
        write(file, data[:20])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with MessageHistory.open("x", archive=place) as history:
        history.add_user_message("before")
        for fault in (full, lambda file, data: write(file, data[:10])):
            with monkeypatch.context() as patch:
                patch.setattr(os, "write", fault)
                with pytest.raises(RirekiError, match="history x could not be written") as caught:
                    history.add_user_message("lost")
            assert "Make room" in caught.value.hint
            assert [m["content"] for m in history.messages] == ["before"]
        history.add_user_message("after")
    with MessageHistory.open("x", archive=place) as history:
        assert [m["content"] for m in history.messages] == ["before", "after"]
        assert history.troubles == []


def test_a_fork_that_finds_no_room_leaves_nothing_behind(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with MessageHistory.open("x", archive=place, sync="full") as history:
        history.add_user_message("a")
        before = sorted(journal(place).parent.iterdir())
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(RirekiError, match="history y cannot be opened"):
                history.fork("y")
        assert sorted(journal(place).parent.iterdir()) == before
        with history.fork("y") as copy:
            assert len(copy) == 1


def test_a_journal_that_was_removed_is_noticed(place: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        history.add_user_message("a")
        journal(place).unlink()
        with pytest.raises(RirekiError, match="was removed or cut"):
            history.add_user_message("b")
        with history.fork("y") as copy:
            assert [m["content"] for m in copy.messages] == ["a"]


def test_a_closed_history_says_so(place: Path) -> None:
    history = MessageHistory.open("x", archive=place)
    history.add_user_message("a")
    history.close()
    history.close()
    with pytest.raises(RirekiError, match="the history x is closed"):
        history.add_user_message("b")
    assert len(history) == 1


def test_a_forgotten_history_lets_go(place: Path) -> None:
    history = MessageHistory.open("x", archive=place)
    history.add_user_message("a")
    del history
    gc.collect()
    with MessageHistory.open("x", archive=place) as again:
        assert len(again) == 1


def test_the_collector_never_waits_for_the_archive(place: Path) -> None:
    """It may come in the middle of a transaction, in the very thread that has to end it."""
    with MessageHistory.open("y", archive=place) as other:
        other.add_user_message("a")
    history = MessageHistory.open("x", archive=place)
    history.add_user_message("a")
    held: list[Any] = [history]
    held.append(held)
    del history, held
    archive = open_archive(place)
    with archive.writing():
        gc.collect()
        # It was forgotten here, and its file is free.
        again = MessageHistory.open("x", archive=place)
    again.close()
    for thread in threading.enumerate():
        if thread.name == "rireki-history":
            thread.join(30)
    assert archive.find("rireki/x").conversation.turns == 1
    archive.close()


def test_names_that_no_file_should_have_are_refused(place: Path) -> None:
    for name in ("../x", "a/b", "", ".hidden", "a" * 201, "a\0b"):
        if name:
            with pytest.raises(RirekiError, match="cannot be the name"):
                MessageHistory.open(name, archive=place)
    with pytest.raises(NotFound, match="there is no history y"):
        MessageHistory.open("y", archive=place, read_only=True)


def test_messages_on_disk_cannot_be_replaced(place: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        history.add_user_message("a")
        history.messages.append("ignored")
        assert len(history) == 1
        with pytest.raises(RirekiError, match="cannot be replaced"):
            history.messages = []


def test_an_archive_that_cannot_be_written_is_no_reason_to_lose_anything(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place.parent.mkdir()
    place.write_bytes(b"this is no archive" * 100)
    with caplog.at_level(logging.WARNING), MessageHistory.open("x", archive=place) as history:
        history.add_user_message("a")
    assert "was not brought into the archive" in history.troubles[0]
    assert "rireki import" in caplog.text
    with MessageHistory.open("x", archive=place, read_only=True) as again:
        assert len(again) == 1


def test_a_fork_holds_everything_and_goes_its_own_way(place: Path) -> None:
    with MessageHistory.open("x", archive=place, title="T", project="/home/u/x") as history:
        history.add_user_message("hidden")
        history.compact("short")
        here = history.checkpoint()
        history.add_raw_message(says("left"))
        history.branch(here)
        exchange(history, 1)
        with history.fork() as copy:
            assert copy.get_messages() == history.get_messages()
            copy.add_user_message("there")
            history.add_user_message("here")
            assert copy.title == "T" and copy.id
        assert history.messages[-1]["content"] == "here"
        with pytest.raises(RirekiError, match=f"there is a history {copy.id} already"):
            history.fork(copy.id)
    with MessageHistory.open(copy.id, archive=place) as again:
        assert again.messages[-1]["content"] == "there"
    archive = open_archive(place)
    (link,) = archive.find(f"rireki/{copy.id}").conversation.links
    assert (link.kind, link.id, link.side) == ("fork", "rireki/x", "parent")
    archive.close()


def test_a_question_outlives_a_restart(place: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        history.add_user_message("do it")
        history.add_raw_message(calls("q", name="ask_user"))
        history.add_raw_message(calls("w", name="approve"))
        history.waiting("w")
    with MessageHistory.open("x", archive=place) as history:
        assert [call.waiting for call in history.pending_calls()] == [True, True]
        assert history.repair() == [] and history.validate("anthropic") == []
        history.add_tool_results([("q", "yes", "ask_user"), ("w", "no", "approve")])
        assert history.pending_calls() == []
        with pytest.raises(RirekiError, match="no call 'q' without a result"):
            history.waiting("q")
