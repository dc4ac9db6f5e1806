"""The log and its journal: the same entries come to the same, also after a cut anywhere."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rireki.drive.acp.asks import permission
from rireki.drive.journal import Counter, DriveJournal, DrivenElsewhere, ended
from rireki.drive.reduce import SessionLog
from rireki.errors import NotFound, RirekiError
from rireki.home import Home
from rireki.journals.session_entry import BridgeEntry, parse, spell


def entry(number: int, kind: str, **more: object) -> BridgeEntry:
    return BridgeEntry(number, "2026-01-01T00:00:00.000Z", kind, dict(more))


ids = st.sampled_from(["a", "b", "c"])
kinds = st.one_of(
    st.tuples(st.just("prompt"), st.fixed_dictionaries({"id": ids, "text": st.text(max_size=5)})),
    st.tuples(st.just("edit"), st.fixed_dictionaries({"id": ids, "text": st.text(max_size=5)})),
    st.tuples(st.just("withdraw"), st.fixed_dictionaries({"id": ids})),
    st.tuples(st.just("given"), st.fixed_dictionaries({"id": ids})),
    st.tuples(
        st.just("turn_end"),
        st.fixed_dictionaries({"reason": st.sampled_from(["end_turn", "cancelled", "failed"])}),
    ),
    st.tuples(
        st.just("ask"),
        st.fixed_dictionaries({"id": ids, "what": st.just("permission"), "title": st.just("t")}),
    ),
    st.tuples(st.just("answer"), st.fixed_dictionaries({"id": ids, "outcome": st.just("expired")})),
    st.tuples(st.just("call"), st.fixed_dictionaries({"call": ids, "name": st.just("n")})),
    st.tuples(st.just("result"), st.fixed_dictionaries({"call": ids, "status": st.just("ok")})),
    st.tuples(
        st.just("state"),
        st.fixed_dictionaries({"state": st.sampled_from(["starting", "ended", "failed"])}),
    ),
    st.tuples(
        st.text(max_size=12), st.dictionaries(st.text(max_size=4), st.integers() | st.text())
    ),
)


def seen(log: SessionLog) -> object:
    return dict(vars(log))


@given(st.lists(kinds, max_size=25))
def test_entries_read_back_come_to_the_same(story: list[tuple[str, dict[str, object]]]) -> None:
    live, read = SessionLog(), SessionLog()
    for number, (kind, more) in enumerate(story, 1):
        more = {key: value for key, value in more.items() if key not in ("v", "n", "at", "kind")}
        one = entry(number, kind, **more)
        live.add(one)
        back = parse(spell(one))
        assert back is not None
        read.add(back)
    assert seen(live) == seen(read)


def test_a_prompt_counts_once_and_keeps_its_place() -> None:
    log = SessionLog()
    log.add(entry(1, "prompt", id="a", text="first"))
    log.add(entry(2, "prompt", id="b", text="second"))
    log.add(entry(3, "prompt", id="a", text="again"))
    log.add(entry(4, "prompt", id="c", text="a reason", first=True))
    assert [(queued.id, queued.text) for queued in log.queue] == [
        ("c", "a reason"),
        ("a", "first"),
        ("b", "second"),
    ]
    assert log.prompts == {"a": 1, "b": 2, "c": 4}


def test_a_late_word_about_a_call_does_not_bring_it_back() -> None:
    log = SessionLog()
    log.add(entry(1, "call", call="x", name="Edit"))
    log.add(entry(2, "result", call="x", status="ok"))
    log.add(entry(3, "call", call="x", diffs=[]))
    assert not log.calls


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.integers(min_value=0, max_value=400))
def test_a_journal_cut_anywhere_keeps_its_whole_lines_and_takes_new_ones(
    tmp_path: Path, cut: int
) -> None:
    path = tmp_path / f"j{cut}.jsonl"
    path.unlink(missing_ok=True)
    journal = DriveJournal(path, Counter())
    journal.open()
    for number in range(4):
        journal.write("prompt", id=str(number), text="naïve 日本 🙂")
    journal.close()
    whole = path.read_bytes()
    cut = min(cut, len(whole))
    path.write_bytes(whole[:cut])
    again = DriveJournal(path, Counter())
    kept = again.open()
    # A line whose newline alone is missing is whole.
    assert len(kept) == len((whole[:cut] + b"\n").replace(b"}\n\n", b"}\n").split(b"}\n")) - 1
    later = again.write("prompt", id="new", text="t")
    assert not kept or later.number > kept[-1].number
    again.close()
    read = DriveJournal(path, Counter()).peek()
    assert [e.more["id"] for e in read] == [*(e.more["id"] for e in kept), "new"]


def test_a_journal_has_one_writer_and_others_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    first, second = DriveJournal(path, Counter()), DriveJournal(path, Counter())
    first.open()
    first.write("prompt", id="a")
    assert [e.more["id"] for e in second.peek()] == ["a"]
    with pytest.raises(DrivenElsewhere, match=f"process {os.getpid()}"):
        second.open()
    first.write("prompt", id="b")
    first.close()
    assert [e.more["id"] for e in second.open()] == ["b"]
    with pytest.raises(RirekiError, match="not open"):
        first.write("prompt", id="c")
    second.close()
    assert [p.name for p in tmp_path.iterdir()] == ["x.jsonl"]


def test_a_journal_that_was_cut_while_open_takes_nothing_more(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    journal = DriveJournal(path, Counter())
    journal.open()
    journal.write("prompt", id="a")
    os.truncate(path, 3)
    with pytest.raises(RirekiError, match="removed or cut"):
        journal.write("prompt", id="b")
    journal.close()


def test_numbers_grow_over_restarts_also_when_the_clock_goes_back(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    future = 2**52
    path.write_bytes(spell(entry(future, "start", agent="a")))
    counter = Counter()
    journal = DriveJournal(path, counter)
    journal.open()
    assert journal.write("state", state="ended").number > future
    assert ended(path)
    journal.write("prompt", id="a")
    assert not ended(path)
    journal.close()


def test_names_that_lead_elsewhere_are_refused(tmp_path: Path) -> None:
    for name in ("../x", "a/b", ".x", "-x", "x" * 65, ""):
        with pytest.raises(RirekiError):
            Home(tmp_path / "archive.sqlite3").session(name)
    with pytest.raises(NotFound):
        DriveJournal(Home(tmp_path / "archive.sqlite3").session("x"), Counter()).peek()


@given(st.permutations(["reject_always", "allow_always", "reject_once", "allow_once", "other"]))
def test_options_are_offered_in_one_order_whatever_the_agent_has(kinds: list[str]) -> None:
    params = {"options": [{"optionId": kind, "name": kind, "kind": kind} for kind in kinds]}
    options = msgspec.to_builtins(permission(params).options)
    log = SessionLog()
    log.add(entry(1, "ask", id="a", what="permission", title="t", options=options))
    assert [option.id for option in log.asks["a"].options] == [
        "other",
        "allow_once",
        "allow_always",
        "reject_once",
        "reject_always",
    ]
