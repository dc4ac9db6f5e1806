"""A strand that turns out to belong to another conversation takes what it was read as along."""

from __future__ import annotations

from rireki.archive.base import Archive, PendingGroup
from rireki.model.conversation import LinkToken
from tests.archive.contract import ORIGIN, project, reading, update


def marks(archive: Archive) -> list[tuple[str, str]]:
    return [pending[:2] for pending in archive.pending()]


def begin(archive: Archive) -> None:
    with archive.writing() as batch:
        batch.add(ORIGIN, "pad", update(b"a\n", conversation="one", cursor=1), None)
    project(archive, one=[reading("pad/one")])


def test_both_groups_are_to_be_read_anew(archive: Archive) -> None:
    begin(archive)
    with archive.writing() as batch:
        batch.add(ORIGIN, "pad", update(b"b\n", conversation="two", family="book", cursor=2), 1)
    assert marks(archive) == [("book", "two"), ("pad", "one")]
    assert [group[:2] for group in archive.groups()] == [("book", "two")]
    (strand,) = archive.strands("book", "two")
    assert strand.document() == b"a\nb\n" and archive.strands("pad", "one") == []


def test_what_it_was_read_as_is_found_until_it_is_read_anew(archive: Archive) -> None:
    begin(archive)
    with archive.writing() as batch:
        batch.add(ORIGIN, "pad", update(b"b\n", conversation="two", family="book", cursor=2), 1)
    found = archive.find("pad/one")
    assert (found.conversation.id, found.family, found.grouping) == ("pad/one", "book", "two")
    number = archive.number()
    project(archive, two=[reading("book/two", LinkToken("alias", "offer", "pad/one"))])
    assert {each.id for each in archive.headings()} == {"book/two"}
    assert archive.find("pad/one").conversation.id == "book/two"
    changes = {c.conversation: c.reached for c in archive.changes(number, archive.number())}
    assert changes["pad/one"] == 0 and changes["book/two"] > 0


def test_a_group_that_keeps_another_strand_keeps_its_conversation(archive: Archive) -> None:
    with archive.writing() as batch:
        batch.add(ORIGIN, "pad", update(b"a\n", conversation="one", cursor=1), None)
        batch.add(ORIGIN, "pad", update(b"x\n", conversation="one", cursor=1, key="other"), None)
    project(archive, one=[reading("pad/one")])
    with archive.writing() as batch:
        batch.add(ORIGIN, "pad", update(b"b\n", conversation="two", family="book", cursor=2), 1)
    project(archive, one=[reading("pad/one")], two=[reading("book/two")])
    assert {each.id for each in archive.headings()} == {"pad/one", "book/two"}
    assert archive.find("pad/one").grouping == "one"


def test_an_alias_gives_way_to_a_conversation_of_that_name(archive: Archive) -> None:
    with archive.writing() as batch:
        batch.add(ORIGIN, "pad", update(b"a\n", conversation="one", cursor=1), None)
        batch.add(
            ORIGIN,
            "pad",
            update(b"b\n", conversation="two", family="book", cursor=1, key="other"),
            None,
        )
    alias = LinkToken("alias", "offer", "pad/one")
    project(archive, one=[reading("pad/one")], two=[reading("book/two", alias)])
    assert archive.find("pad/one").conversation.id == "pad/one"
    assert archive.find("pad/one").conversation.links == []


def test_what_stays_where_it_was_marks_nothing_else(archive: Archive) -> None:
    begin(archive)
    with archive.writing() as batch:
        batch.add(ORIGIN, "pad", update(b"b\n", conversation="one", cursor=2), 1)
    assert list(archive.pending()) == [PendingGroup("pad", "one", archive.number())]
