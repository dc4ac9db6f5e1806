"""What every archive does, whatever engine it stands on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import pytest

from rireki.archive import rows
from rireki.archive.base import Archive, Filter, KnownOrigin, Stale
from rireki.archive.forgetting import forget, remember
from rireki.errors import Ambiguous, NotFound
from rireki.model.conversation import LinkToken, Trouble
from rireki.model.record import Origin
from tests.archive.contract import ORIGIN, add, project, reading, update

ELSEWHERE = Origin(source="pad", place="/pad/moved", root="/pad", form="lines", role="journal")


def stories(archive: Archive, conversation: str = "one", **when: object) -> list[bytes]:
    return [s.document() for s in archive.strands("pad", conversation, **when)]  # type: ignore[arg-type]


def known(archive: Archive) -> KnownOrigin:
    (origin,) = archive.origins()
    return origin


# ── records ──


def test_what_was_added_comes_back_byte_for_byte_also_from_another_handle(
    archive: Archive, reopen: Callable[[], Archive]
) -> None:
    lines = [b"a\n", b"\xff\x00\n", "履歴\n".encode(), b"x" * 100_000 + b"\n"]
    assert add(archive, update(*lines)) == sum(map(len, lines))
    assert stories(archive) == [b"".join(lines)]
    with closing(reopen()) as other:
        assert stories(other) == [b"".join(lines)]
        assert other.cursors("pad", ORIGIN.place) == {"": 1}


def test_who_was_overtaken_is_told_and_nothing_of_the_transaction_is_kept(
    archive: Archive, reopen: Callable[[], Archive]
) -> None:
    add(archive, update(b"a\n"))
    with closing(reopen()) as other:
        add(other, update(b"b\n", cursor=2), before=1)
    before = archive.number()
    with pytest.raises(Stale), archive.writing() as batch:
        batch.add(ORIGIN, "pad", update(b"x\n", key="other"), None)
        batch.add(ORIGIN, "pad", update(b"c\n", cursor=3), 1)
    assert stories(archive) == [b"a\nb\n"]
    assert archive.number() == before


def test_every_version_stays_although_the_source_wrote_something_else(archive: Archive) -> None:
    add(archive, update(b"a\n", b"b\n", cursor=1))
    first = archive.number()
    add(archive, update(b"a\n", b"c\n", cursor=2, grows=False), before=1)
    (strand,) = archive.strands("pad", "one")
    assert [strand.document(state) for state in strand.states] == [b"a\nb\n", b"a\nc\n"]
    assert stories(archive, number=first) == [b"a\nb\n"]
    assert stories(archive, as_of=strand.states[0].at) == [b"a\nb\n"]
    assert stories(archive, as_of="2000-01-01T00:00:00.000Z") == []


def test_what_is_the_same_adds_no_bytes(archive: Archive) -> None:
    add(archive, update(b"a\n", b"b\n", cursor=1))
    assert add(archive, update(b"b\n", b"a\n", cursor=2, grows=False), before=1) == 0


def test_what_vanished_stays_readable_and_is_marked(archive: Archive) -> None:
    add(archive, update(b"a\n"))
    with archive.writing() as batch:
        batch.vanish(known(archive))
    assert known(archive).vanished_at is not None
    assert stories(archive) == [b"a\n"]


def test_rows_that_a_database_no_longer_has_vanish_one_by_one(archive: Archive) -> None:
    with archive.writing() as batch:
        for key in ("x", "y"):
            batch.add(ORIGIN, "pad", update(key.encode(), conversation=key, key=key), None)
        batch.finish(ORIGIN)
    with archive.writing() as batch:
        batch.finish(ORIGIN, ["y"])
    gone = {c: s.vanished_at is not None for c in "xy" for s in archive.strands("pad", c)}
    assert gone == {"x": True, "y": False}


def test_a_file_that_moved_keeps_its_records_and_its_cursor(archive: Archive) -> None:
    add(archive, update(b"a\n"))
    with archive.writing() as batch:
        batch.move(known(archive), ELSEWHERE)
    assert known(archive).place == ELSEWHERE.place
    assert archive.cursors("pad", ELSEWHERE.place) == {"": 1}
    add(archive, update(b"b\n", cursor=2), before=1, origin=ELSEWHERE)
    assert stories(archive) == [b"a\nb\n"]


def test_a_trouble_of_an_origin_is_told_until_it_can_be_read_again(archive: Archive) -> None:
    trouble = Trouble(ORIGIN.place, "locked", "Close it.")
    with archive.writing() as batch:
        batch.fail(ORIGIN, trouble)
    assert archive.troubles() == [("pad", ORIGIN.place, trouble)]
    assert archive.troubles("other") == []
    with archive.writing() as batch:
        batch.finish(ORIGIN)
    assert archive.troubles() == []


# ── meaning ──


def test_what_is_stored_of_a_conversation_that_changed_meanwhile_is_not_its_last_word(
    archive: Archive,
) -> None:
    add(archive, update(b"a\n"))
    (waiting,) = archive.pending()
    add(archive, update(b"b\n", cursor=2), before=1)
    with archive.writing() as batch:
        batch.project(waiting, [reading("pad/one")])
    assert [group[:2] for group in archive.pending()] == [("pad", "one")]
    project(archive, one=[reading("pad/one")])
    assert list(archive.pending()) == [] and {each.id for each in archive.headings()} == {"pad/one"}


def test_lists_are_newest_first_filtered_and_cut_into_pages(archive: Archive) -> None:
    for number in range(5):
        name = f"c{number}"
        add(archive, update(b"a\n", conversation=name, key=name))
        at = f"2026-01-0{number + 1}T00:00:00.000Z"
        project(archive, **{name: [reading(f"pad/{name}", updated_at=at, project=f"/p/{number}")]})

    def listed(**wanted: object) -> list[str]:
        return [c.native_id for c in archive.conversations(Filter(**wanted))]  # type: ignore[arg-type]

    assert listed() == ["c4", "c3", "c2", "c1", "c0"]
    assert listed(limit=2) == ["c4", "c3"]
    after = ("2026-01-04T00:00:00.000Z", "pad/c3")
    assert listed(limit=2, after=after) == ["c2", "c1"]
    assert listed(since="2026-01-03T00:00:00.000Z", before="2026-01-05T00:00:00.000Z") == [
        "c3",
        "c2",
    ]
    assert listed(project="/p/2") == ["c2"]
    assert listed(project="/p") == ["c4", "c3", "c2", "c1", "c0"]
    assert listed(project="/p", below=False) == []
    assert listed(source="other") == []
    assert archive.count() == 5 and set(archive.pick(["pad/c1", "pad/none"])) == {"pad/c1"}


def test_a_beginning_of_an_id_finds_what_it_means_or_says_why_not(archive: Archive) -> None:
    for name in ("abc1", "abc2"):
        add(archive, update(b"a\n", conversation=name, key=name))
        project(archive, **{name: [reading(f"pad/{name}")]})
    assert archive.find("abc1").conversation.id == "pad/abc1"
    assert archive.find("pad/abc2").grouping == "abc2"
    with pytest.raises(Ambiguous):
        archive.find("abc")
    with pytest.raises(NotFound):
        archive.find("x")


def test_conversations_are_linked_by_what_one_wants_and_another_offers(archive: Archive) -> None:
    for name in ("parent", "child"):
        add(archive, update(b"a\n", conversation=name, key=name))
    project(
        archive,
        parent=[reading("pad/parent", LinkToken("subagent", "offer", "call-1", "call-1"))],
        child=[reading("pad/child", LinkToken("subagent", "want", "call-1"))],
    )
    (link,) = archive.find("pad/child").conversation.links
    assert (link.kind, link.id) == ("subagent", "pad/parent")
    (back,) = archive.find("pad/parent").conversation.links
    assert back.id == "pad/child" and back.side != link.side


def test_changes_are_numbered_and_told_once(archive: Archive) -> None:
    add(archive, update(b"a\n"))
    project(archive, one=[reading("pad/one")])
    first = archive.number()
    add(archive, update(b"b\n", cursor=2), before=1)
    project(archive, one=[reading("pad/one")])
    (change,) = archive.changes(first, archive.number())
    assert change.conversation == "pad/one" and 0 < change.before < change.reached
    assert archive.changes(archive.number(), archive.number()) == []
    assert [heading.id for heading in archive.headings(after=first)] == ["pad/one"]


def test_a_rebuild_waits_for_every_group_and_loses_no_record(archive: Archive) -> None:
    add(archive, update(b"a\n"))
    project(archive, one=[reading("pad/one")])
    archive.mark_stale(drop=False)
    assert {each.id for each in archive.headings()} == {"pad/one"} and len(
        list(archive.pending())
    ) == 1
    archive.mark_stale()
    assert {each.id for each in archive.headings()} == set() and stories(archive) == [b"a\n"]
    project(archive, one=[reading("pad/one")])
    assert {each.id for each in archive.headings()} == {"pad/one"}


def test_what_is_forgotten_is_gone_for_good_and_stays_away(archive: Archive) -> None:
    add(archive, update(b"secret\n"))
    add(archive, update(b"other\n", conversation="two", key="two"))
    project(archive, one=[reading("pad/one")], two=[reading("pad/two")])
    assert forget(archive, [archive.find("pad/one")]) > 0
    assert {each.id for each in archive.headings()} == {"pad/two"} and stories(archive) == []
    assert set(archive.forgotten()) == {("pad", "one")}
    assert remember(archive, "one") and set(archive.forgotten()) == set()


def test_what_is_asked_of_a_few_is_answered_for_those(archive: Archive) -> None:
    add(archive, update(b"a\n"))
    add(archive, update(b"b\n", conversation="two", key="two"))
    assert archive.count(waiting=True) == 2 and not any(archive.pending("pad", "three"))
    assert [group.conversation for group in archive.pending("pad", "two")] == ["two"]
    early, late = "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"
    project(
        archive,
        one=[reading("pad/one", project="/old", updated_at=early)],
        two=[reading("pad/two", project="/new", updated_at=late)],
    )
    assert archive.count(waiting=True) == 0 and list(archive.projects()) == ["/new", "/old"]
    assert archive.missing(["pad/one", "pad/none"]) == {"pad/none"}
    assert [heading.id for heading in archive.headings(since=late)] == ["pad/two"]
    assert all(
        [h.id for h in archive.headings(beginning=b)] == ["pad/one"] for b in ("pad/o", "on")
    )
    forget(archive, [archive.find("one")])
    assert set(archive.forgotten(["one", "two"])) == {("pad", "one")}
    assert set(archive.forgotten(["two"])) == set()


def test_a_conversation_is_new_once(archive: Archive) -> None:
    add(archive, update(b"a\n"))
    with archive.writing() as batch:
        (stored,) = batch.project(next(archive.pending()), [reading("pad/one")])
        assert stored.is_new
    add(archive, update(b"b\n", cursor=2), before=1)
    with archive.writing() as batch:
        (stored,) = batch.project(next(archive.pending()), [reading("pad/one")])
        assert not stored.is_new


def test_short_ids_mean_one_conversation_only(archive: Archive) -> None:
    ids = ["q/aaaaaaaa1", "q/aaaaaaaa2", "q/bbbbbbbb-1", "q/bbbbbbbb-1/agent-x", "q/same", "r/same"]
    for id in ids:
        add(archive, update(b"a\n", conversation=id, key=id))
        project(archive, **{id: [reading(id)]})
    assert archive.short_ids(ids) == {
        "q/aaaaaaaa1": "aaaaaaaa1",
        "q/aaaaaaaa2": "aaaaaaaa2",
        "q/bbbbbbbb-1": "bbbbbbbb",
        "q/bbbbbbbb-1/agent-x": "bbbbbbbb-1/",
        "q/same": "q/same",
        "r/same": "r/same",
    }
    assert archive.short_ids([]) == {}
    assert archive.short_ids(["q/unknown"]) == {"q/unknown": "q/unknown"}


def test_much_is_read_some_at_a_time_and_comes_whole(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"c{number}" for number in range(7)] + ["@shared"]
    for name in names:
        add(archive, update(b"a\n", conversation=name, key=name))
    monkeypatch.setattr(rows, "AT_ONCE", 3)
    assert [group.conversation for group in archive.pending()] == names
    assert [group.conversation for group in archive.groups()] == sorted(names)
    project(archive, **{name: [reading(f"pad/{name}")] for name in names})
    ids = [f"pad/{name}" for name in sorted(names)]
    assert sorted(heading.id for heading in archive.headings()) == ids
    assert [id for id, _ in archive.answers()] == ids


# ── itself ──


def test_notes_are_no_changes(archive: Archive, reopen: Callable[[], Archive]) -> None:
    before = archive.number()
    assert archive.note_of("index") is None
    archive.set_note("index", "7")
    with closing(reopen()) as other:
        assert other.note_of("index") == "7"
        assert other.identity() == archive.identity() != ""
    assert archive.number() == before


def test_what_is_read_within_one_look_is_of_one_moment(
    archive: Archive, reopen: Callable[[], Archive]
) -> None:
    add(archive, update(b"a\n"))
    with archive.reading():
        before = archive.number()
        with closing(reopen()) as other:
            add(other, update(b"b\n", cursor=2), before=1)
        assert archive.number() == before and stories(archive) == [b"a\n"]
    assert stories(archive) == [b"a\nb\n"]


def test_a_whole_archive_is_sound(archive: Archive) -> None:
    add(archive, update(b"a\n"))
    project(archive, one=[reading("pad/one")])
    assert archive.check() == [] and archive.damage == []
