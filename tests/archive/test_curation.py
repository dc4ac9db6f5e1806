"""What people add to conversations: kept, told, undone, forgotten, whichever engine it stands on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from rireki.archive.base import Archive, Filter, PersonFact
from rireki.archive.forgetting import forget, remember
from rireki.archive.open import open_archive
from rireki.cli.main import run
from rireki.intake.forget import forget_due, forget_soon, keep_after_all, leaving
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.model.conversation import Curation, LinkToken
from rireki.sources.kit.places import Places
from tests.archive.contract import add, project, reading, update
from tests.archive.formats import bring_down
from tests.sources.transcripts import SESSION, Transcript, lay
from tests.support.pushing import push


def fact(
    kind: str,
    value: str | None = "",
    name: str = "",
    *,
    about: str = "one",
    message: str = "",
    at: str = "",
    machine: str = "",
) -> PersonFact:
    return PersonFact("pad", about, message, kind, name, value, "kim", at, machine)


def known(archive: Archive, id: str = "pad/one") -> Curation:
    return archive.find(id).conversation.added


@pytest.fixture
def one(archive: Archive) -> Archive:
    """With a conversation in it."""
    add(archive, update(b"a\n"))
    project(archive, one=[reading("pad/one", title="its own title")])
    return archive


# ── said and taken back ──


def test_what_is_added_is_there_and_its_list_knows_it(one: Archive) -> None:
    before = one.number()
    one.add_facts(
        fact("title", "mine"),
        fact("tag", name="work"),
        fact("tag", name="db"),
        fact("star"),
        fact("note", "why we did it"),
        fact("note", "this one", message="m1"),
    )
    (listed,) = one.conversations()
    assert listed.added == Curation("mine", ("db", "work"), True, False, 2)
    assert listed.title == "mine" and one.curations() == {"pad/one": listed.added}
    notes = [f for f in one.facts(one.find("one")) if f.kind == "note"]
    assert [(f.message, f.value, f.author) for f in notes] == [
        ("", "why we did it", "kim"),
        ("m1", "this one", "kim"),
    ]
    assert all(f.machine == one.identity() and f.at for f in notes)
    # Whoever follows is told, though no record changed.
    (change,) = one.changes(before, one.number())
    assert change.conversation == "pad/one" and change.before == change.reached


def test_what_is_taken_back_is_gone_and_the_source_names_it_again(one: Archive) -> None:
    one.add_facts(fact("title", "mine"), fact("tag", name="work"), fact("star"))
    one.add_facts(fact("title", None), fact("tag", None, name="work"), fact("star", None))
    (listed,) = one.conversations()
    assert listed.curation is UNSET and listed.title == "its own title"
    assert one.facts(one.find("one")) == []


def test_lists_are_narrowed_by_it(one: Archive) -> None:
    add(one, update(b"b\n", conversation="two", key="two"))
    project(one, two=[reading("pad/two")])
    one.add_facts(fact("tag", name="work"), fact("star"), fact("hidden", about="two"))

    def ids(**wanted: object) -> list[str]:
        return [c.id for c in one.conversations(Filter(**wanted))]  # type: ignore[arg-type]

    assert ids(tags=["work"]) == ids(starred=True) == ids(hidden=False) == ["pad/one"]
    assert ids(tags=["work", "other"]) == [] and ids(hidden=True) == ["pad/two"]
    assert sorted(ids()) == ["pad/one", "pad/two"]


def test_a_saved_search_is_of_no_conversation(one: Archive) -> None:
    one.add_facts(PersonFact("", "", "", "search", "mine", "is:starred tag:work"))
    assert [(f.name, f.value) for f in one.facts()] == [("mine", "is:starred tag:work")]
    assert one.facts(one.find("one")) == []


def test_it_survives_a_rebuild_and_a_better_title_of_the_source(one: Archive) -> None:
    one.add_facts(fact("title", "mine"), fact("tag", name="work"))
    one.mark_stale()
    project(one, one=[reading("pad/one", title="a better one")])
    assert one.find("one").conversation.title == "mine"
    assert known(one) == Curation("mine", ("work",))
    one.add_facts(fact("title", None))
    assert one.find("one").conversation.title == "a better one"


def test_a_title_from_another_file_does_not_replace_a_persons(one: Archive) -> None:
    one.add_facts(fact("title", "mine"))
    add(one, update(b"b\n", conversation="two", key="two"))
    wants = LinkToken("title", "want", "leaf")
    add(one, update(b"more\n", cursor=2), before=1)
    project(
        one,
        one=[reading("pad/one", wants, title="its own title")],
        two=[reading("pad/two", LinkToken("title", "offer", "leaf", "handed over"))],
    )
    assert one.find("one").conversation.title == "mine"
    # The other file alone is read again.
    add(one, update(b"c\n", conversation="two", key="two", cursor=2), before=1)
    project(one, two=[reading("pad/two", LinkToken("title", "offer", "leaf", "handed over"))])
    assert one.find("one").conversation.title == "mine"
    one.add_facts(fact("title", None))
    assert one.find("one").conversation.title == "handed over"


def test_it_follows_a_conversation_that_turns_out_to_be_another(one: Archive) -> None:
    one.add_facts(fact("tag", name="work"), fact("note", "kept"))
    add(one, update(b"b\n", conversation="own", cursor=2), before=1)
    project(one, own=[reading("pad/own")])
    assert known(one, "pad/own") == Curation(tags=("work",), notes=1)
    assert one.rows.get("fact", "name", conversation="one") == []


def test_it_follows_a_conversation_that_was_known_by_another_name(one: Archive) -> None:
    one.add_facts(fact("star"))
    add(one, update(b"more\n", cursor=2), before=1)
    project(one, one=[reading("pad/long-one", LinkToken("alias", "offer", "one"))])
    assert known(one, "pad/long-one").starred
    forget(one, [one.find("pad/long-one")])
    assert one.rows.get("fact", "kind") == []


# ── between machines ──


def test_it_goes_along_to_another_machine_and_not_further(one: Archive, other: Archive) -> None:
    one.add_facts(fact("tag", name="work"), fact("note", "why", message="m1"))
    push(one, other)
    project(other, one=[reading("pad/one")])
    assert known(other) == Curation(tags=("work",), notes=1)
    assert other.facts(other.find("one")) == one.facts(one.find("one"))
    assert other.delta(0, 1000, lambda strands: {}).facts == []
    one.add_facts(fact("tag", None, name="work"))
    (delta,) = push(one, other)
    assert [f.value for f in delta.facts] == [None] and known(other) == Curation(notes=1)
    assert push(one, other) == []


@pytest.mark.parametrize("first", [0, 1])
def test_the_later_word_counts_whichever_comes_first(
    one: Archive, other: Archive, first: int
) -> None:
    stream, _ = one.stream("laptop", "laptop")
    early = fact("title", "early", at="2026-01-01T00:00:00.000Z", machine="b")
    late = fact("title", "late", at="2026-01-02T00:00:00.000Z", machine="a")
    same = fact("title", "same time", at="2026-01-02T00:00:00.000Z", machine="c")
    empty = other.delta(0, 1000, lambda strands: {})
    for place, word in enumerate([early, same, late][:: -1 if first else 1]):
        one.take(stream, replace(empty, after=place, upto=place + 1, facts=[word]))
    assert known(one).title == "same time"


def test_what_is_said_now_counts_whatever_another_clock_said(one: Archive) -> None:
    stream, _ = one.stream("laptop", "laptop")
    empty = one.delta(one.number(), 1000, lambda strands: {})
    ahead = fact("title", "of the future", at="2099-12-31T23:59:59.999Z", machine="zz")
    endless = fact("star", at="9999-12-31T23:59:59.999Z", machine="zz")
    one.take(stream, replace(empty, after=0, upto=1, facts=[ahead, endless]))
    assert known(one) == Curation("of the future")
    one.add_facts(fact("title", "mine"))
    assert known(one).title == "mine"


# ── forgotten, damaged, old ──


def test_it_is_forgotten_with_the_conversation(one: Archive, other: Archive) -> None:
    one.add_facts(fact("note", "QUOKKA-NOTE"), fact("tag", name="QUOKKA-TAG"))
    one.add_facts(fact("note", "QUOKKA-EDITED"))
    push(one, other)
    project(other, one=[reading("pad/one")])
    forget(one, [one.find("one")])
    push(one, other)
    for each in (one, other):
        assert each.rows.get("fact", "kind") == []
        if (file := Path(each.address)).exists():
            assert not [p for p in file.parent.glob("archive*") if b"QUOKKA" in p.read_bytes()]
    # Said elsewhere of what was forgotten here: not wanted, unless it is remembered.
    other.add_facts(fact("star"))
    assert other.rows.get("fact", "kind") == []
    assert remember(one, "one")
    one.add_facts(fact("star"))
    assert len(one.rows.get("fact", "kind")) == 1


@pytest.fixture
def full(archive: Archive, home: Path) -> Path:
    talk = Transcript()
    talk.user("count the pelicans")
    lay(home, talk.bytes())
    import_history(archive, places=Places.at(home))
    said = (("title", "", "mine"), ("tag", "work", ""), ("star", "", ""), ("note", "", "why"))
    archive.add_facts(*(PersonFact("claude-code", SESSION, "", kind, n, v) for kind, n, v in said))
    archive.close()
    return Path(archive.address)


MINE = Curation("mine", ("work",), starred=True, notes=1)


def test_what_is_damaged_gives_it_back(
    full: Path, tmp_path: Path, clock: Callable[[], str]
) -> None:
    data = bytearray(full.read_bytes())
    # The list of tables goes: rows are known by their shape and checksums alone.
    data[100:2000] = bytes(1900)
    full.write_bytes(data)
    with closing(open_archive(full)) as archive:
        assert known(archive, SESSION) == MINE and archive.damage
        assert archive.facts(archive.find(SESSION))
    saved = tmp_path / "saved.sqlite3"
    run(["verify", "--salvage", str(saved), "--archive", str(full)])
    with closing(open_archive(saved, clock=clock)) as archive:
        assert known(archive, SESSION) == MINE and archive.check() == verify(archive) == []


@pytest.mark.parametrize("version", [3, 4, 5])
def test_an_archive_of_an_earlier_format_has_room_for_it(full: Path, version: int) -> None:
    bring_down(full, version)
    with closing(open_archive(full, read_only=True)) as archive:
        assert archive.find(SESSION).conversation.curation is UNSET
        assert archive.curations() == {} and archive.facts() == []
        assert list(archive.conversations(Filter(starred=True))) == []
    with closing(open_archive(full)) as archive:
        archive.add_facts(PersonFact("claude-code", SESSION, "", "star", "", ""))
        assert known(archive, SESSION) == Curation(starred=True)
        assert verify(archive) == []


# ── about to be forgotten ──


def test_what_is_to_be_forgotten_disappears_and_can_be_taken_back(
    one: Archive, other: Archive
) -> None:
    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    forget_soon(one, one.find("one"), now)
    assert list(one.conversations(Filter(hidden=False))) == []
    assert list(one.conversations(Filter(hidden=True))) == []
    (found,) = leaving(one)
    assert found.id == "pad/one" and found.due == now + timedelta(seconds=10)
    assert forget_due(one, now + timedelta(seconds=9)) == []
    # Nobody else is told before it is so.
    assert all(not delta.facts for delta in push(one, other))
    keep_after_all(one, one.find("one"))
    assert leaving(one) == [] and len(list(one.conversations(Filter(hidden=False)))) == 1
    forget_soon(one, one.find("one"), now)
    assert forget_due(one, now + timedelta(seconds=11)) == ["pad/one"]
    assert one.count() == 0 and stories(one) == [] and leaving(one) == []
    assert one.rows.get("fact", "kind") == []


def stories(archive: Archive) -> list[bytes]:
    return [strand.document() for strand in archive.strands("pad", "one")]
