"""From one archive to another: everything, once, whatever happens on the way."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rireki.archive.base import Archive
from rireki.archive.delta import Delta, Held
from rireki.archive.forgetting import forget, remember
from rireki.archive.open import open_archive
from rireki.errors import RirekiError
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.sources.kit.places import Places
from rireki.sync.outbox import Outbox
from rireki.sync.receiver import Receiver
from rireki.sync.sender import Sender
from rireki.sync.wire import (
    VERSION,
    BatchTooLarge,
    MalformedBatch,
    RecordsTaken,
    StreamConflict,
    StreamOpening,
    StreamPosition,
    TooNew,
    Unkept,
    decode,
    decode_batch,
    encode,
    encode_batch,
)
from tests.archive.contract import add, project, reading, update
from tests.support.homes import lay_out
from tests.support.pushing import told, understand
from tests.support.syncing import LAPTOP, SMALL, BadWay, persistently, pull, push


@pytest.fixture
def full(archive: Archive, home: Path) -> Archive:
    lay_out("claude-code-2.0.76", home)
    lay_out("amazon-q-1.12", home)
    import_history(archive, places=Places.at(home))
    return archive


def outbox(archive: Archive) -> Outbox:
    return Outbox(archive, LAPTOP)


def stories(archive: Archive, conversation: str = "one") -> list[bytes]:
    return [strand.document() for strand in archive.strands("pad", conversation)]


def position(archive: Archive, source: Archive) -> StreamPosition:
    found = Receiver(archive).open(outbox(source).opening())
    assert isinstance(found, StreamPosition)
    return found


# ── the same conversations ──


def test_what_is_pushed_and_what_is_pulled_is_equal(
    full: Archive, other: Archive, tmp_path: Path
) -> None:
    assert push(full, other).batches > 3
    here = told(full, tmp_path / "here")
    assert told(other, tmp_path / "pushed") == here
    with closing(open_archive(tmp_path / "third.sqlite3", create=True)) as third:
        assert pull(full, third).batches > 3
        assert told(third, tmp_path / "pulled") == here
        assert verify(third) == [] and third.check() == []
    assert verify(other) == [] and other.check() == []


def test_both_ways_lead_to_one_stream(full: Archive, other: Archive, tmp_path: Path) -> None:
    push(full, other)
    assert pull(full, other).batches == 0
    assert [each.machine for each in other.streams()] == ["laptop"]


def test_nothing_new_is_one_question_and_writes_nothing(full: Archive, other: Archive) -> None:
    push(full, other)
    before = full.rows.get("meta", "key, value"), other.number()
    way = BadWay(Receiver(other))
    assert Sender(outbox(full), way, "other").push().batches == 0
    assert way.asked == 1
    assert (full.rows.get("meta", "key, value"), other.number()) == before


def test_a_sender_that_is_kept_asks_no_more_than_it_must(archive: Archive, other: Archive) -> None:
    add(archive, update(b"a\n"))
    way = BadWay(Receiver(other))
    sender = Sender(outbox(archive), way, "other")
    sender.push()
    sender.push()
    before = way.asked
    add(archive, update(b"b\n", cursor=2), before=1)
    sender.push()
    assert way.asked - before == 2
    assert stories(other) == [b"a\nb\n"]


# ── whatever happens on the way ──


def test_every_third_answer_is_lost(full: Archive, other: Archive, tmp_path: Path) -> None:
    way = BadWay(Receiver(other), lost=3)
    failures = persistently(Sender(outbox(full), way, "other", limit=SMALL))
    assert failures == len(way.bodies) // 3 > 2
    understand(other)
    assert told(other, tmp_path / "there") == told(full, tmp_path / "here")


def test_two_who_push_one_archive_at_once_do_no_harm(
    full: Archive, other: Archive, tmp_path: Path
) -> None:
    second = Sender(outbox(full), BadWay(Receiver(other)), "other", limit=SMALL // 2)

    def in_between() -> None:
        if len(way.bodies) % 2:
            second.limit = SMALL // (1 + len(way.bodies) % 5)
            batch_of(second)

    def batch_of(sender: Sender) -> None:
        """One batch of the other one, which does not know how far the first has come."""
        where = position(other, full)
        batch = sender.outbox.next(where.reached, where.seal, held_there, sender.limit)
        if batch is not None:
            Receiver(other).take(where.stream, encode_batch(batch))

    def held_there(strands: Sequence[int]) -> dict[int, Held]:
        where = position(other, full)
        return other.held(int(where.stream), strands)

    way = BadWay(Receiver(other), before=in_between)
    done = Sender(outbox(full), way, "other", limit=SMALL).push()
    assert done.put_back == 0 and done.batches < len(way.bodies)
    understand(other)
    assert told(other, tmp_path / "there") == told(full, tmp_path / "here")
    assert position(other, full).reached > 0 and len(other.streams()) == 1


@pytest.mark.parametrize(("ask", "look"), [("open", 1), ("take", 2)])
def test_where_a_stream_is_and_its_seal_are_told_of_one_moment(
    ask: str, look: int, archive: Archive, other: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(archive, update(b"a\n"))
    out = outbox(archive)
    late = out.next(0, "", lambda strands: {})
    push(archive, other)
    add(archive, update(b"b\n", cursor=2), before=1)
    rows, looks = type(other.rows), 0
    note = rows.note

    def noted(self: object, name: str) -> object:
        # Another pusher comes in between.
        nonlocal looks
        is_looked_at = name.startswith("seal ") and self is other.rows
        looks += is_looked_at
        if is_looked_at and looks == look:
            with closing(open_archive(other.address)) as second:
                push(archive, second)
        return note(self, name)  # type: ignore[arg-type]

    assert late is not None
    stream = other.stream(out.opening().archive, "laptop").id
    monkeypatch.setattr(rows, "note", noted)
    receiver = Receiver(other)
    if ask == "open":
        said: Any = receiver.open(out.opening())
    else:
        # It is not what it was when this was put together.
        said = receiver.take_batch(
            str(stream), msgspec.structs.replace(late, seal="of another life")
        )
    assert looks >= look and out.is_known(said.reached, said.seal)
    monkeypatch.undo()
    assert push(archive, other).put_back == 0 and stories(other) == [b"a\nb\n"]


def test_an_archive_that_was_put_back_begins_another_life(
    archive: Archive, other: Archive, tmp_path: Path
) -> None:
    add(archive, update(b"a\n"))
    push(archive, other)
    archive.settle()
    shutil.copy(archive.address, tmp_path / "copy.sqlite3")
    add(archive, update(b"lost here\n", cursor=2), before=1)
    push(archive, other)
    with closing(open_archive(tmp_path / "copy.sqlite3")) as back:
        # It grows past where the other one is, in another way.
        add(back, update(b"b\n", cursor=3), before=1)
        add(back, update(b"c\n", cursor=4), before=3)
        assert back.number() >= archive.number()
        assert push(back, other).put_back == 1
        assert [each.epoch for each in other.streams()] == [1, 2]
        assert sorted(stories(other)) == [b"a\nb\nc\n", b"a\nlost here\n"]
        assert push(back, other) == pull(back, other) == push(back, other)
        # It is put back once more, further.
        archive.close()
    with closing(open_archive(tmp_path / "copy.sqlite3")) as back:
        add(back, update(b"d\n", cursor=5), before=4)
        assert push(back, other).put_back == 0
        assert sorted(stories(other)) == [b"a\nb\nc\nd\n", b"a\nlost here\n"]


def test_who_pulls_from_an_archive_that_was_put_back_gets_its_other_life(
    archive: Archive, other: Archive, tmp_path: Path
) -> None:
    add(archive, update(b"a\n"))
    pull(archive, other)
    archive.settle()
    shutil.copy(archive.address, tmp_path / "copy.sqlite3")
    add(archive, update(b"lost here\n", cursor=2), before=1)
    pull(archive, other)
    with closing(open_archive(tmp_path / "copy.sqlite3")) as back:
        add(back, update(b"b\n", cursor=3), before=1)
        assert pull(back, other).put_back == 1
        assert sorted(stories(other)) == [b"a\nb\n", b"a\nlost here\n"]
        assert pull(back, other).put_back == 0


def test_where_the_other_one_was_put_back_it_is_told_again_from_there(
    archive: Archive, other: Archive, tmp_path: Path
) -> None:
    add(archive, update(b"a\n"))
    push(archive, other)
    other.settle()
    shutil.copy(other.address, tmp_path / "copy.sqlite3")
    for cursor in range(2, 6):
        add(archive, update(b"more\n", cursor=cursor), before=cursor - 1)
        push(archive, other)
    with closing(open_archive(tmp_path / "copy.sqlite3")) as back:
        done = push(archive, back)
        assert (done.put_back, done.batches) == (0, 1)
        assert stories(back) == stories(other) == stories(archive)


def test_a_full_disk_is_said_and_what_was_taken_stays(
    full: Archive, other: Archive, tmp_path: Path
) -> None:
    other.rows.sql.execute("PRAGMA max_page_count = 60")  # type: ignore[attr-defined]
    sender = Sender(outbox(full), Receiver(other), "other", limit=SMALL)
    with pytest.raises(RirekiError, match="disk is full"):
        sender.push()
    assert position(other, full).reached > 0
    other.rows.sql.execute("PRAGMA max_page_count = 1000000")  # type: ignore[attr-defined]
    sender.push()
    understand(other)
    assert told(other, tmp_path / "there") == told(full, tmp_path / "here")


def test_what_is_forgotten_is_forgotten_there_and_comes_back_when_it_is_remembered(
    archive: Archive, other: Archive
) -> None:
    add(archive, update(b"secret\n"))
    push(archive, other)
    project(archive, one=[reading("pad/one")])
    forget(archive, [archive.find("pad/one")])
    push(archive, other)
    assert stories(other) == []
    remember(archive, "one")
    add(archive, update(b"again\n"))
    push(archive, other)
    assert stories(other) == [b"again\n"]


def test_batches_become_smaller_where_large_ones_are_not_taken(
    full: Archive, other: Archive, tmp_path: Path
) -> None:
    sender = Sender(outbox(full), Receiver(other, largest=300_000), "other", limit=8 << 20)
    sender.push()
    with pytest.raises(RirekiError, match="a single record is larger"):
        Sender(outbox(full), Receiver(other, largest=10), "o", limit=8 << 20).forget_position()
        other.rows.change("stream", {"id": 1}, reached=0)
        full.mark_stale()
        add(full, update(b"a\n"))
        Sender(outbox(full), Receiver(other, largest=10), "other").push()


# ── to whom ──


def test_to_a_team_goes_what_is_let_through_and_nothing_else(
    archive: Archive, other: Archive
) -> None:
    add(archive, update(b"private words\n"))
    add(archive, update(b"for all\n", conversation="two", key="two"))
    with pytest.raises(RirekiError, match="only what you share"):
        Outbox(archive, LAPTOP, "team")

    class Shared:
        def wants(self, family: str, conversation: str | None) -> bool:
            return conversation == "two"

        def __call__(self, delta: Delta) -> Delta:
            assert {part.strand.conversation for part in delta.parts} <= {"two"}
            return delta

    way = BadWay(Receiver(other, "team"))
    Sender(Outbox(archive, LAPTOP, "team", Shared()), way, "acme", "team").push()
    assert stories(other) == [] and stories(other, "two") == [b"for all\n"]
    assert position(other, archive).reached == archive.number()


@pytest.mark.parametrize("said", ["team", "own", "whatever"])
def test_a_server_that_says_another_kind_gets_nothing(
    said: str, archive: Archive, other: Archive
) -> None:
    add(archive, update(b"private words\n"))
    was = "own" if said != "own" else "team"
    way = BadWay(Receiver(other, said))  # type: ignore[arg-type]
    out = Outbox(archive, LAPTOP, was, lambda delta: delta)  # type: ignore[arg-type]
    with pytest.raises(RirekiError, match="nothing was sent"):
        Sender(out, way, "acme", was).push()  # type: ignore[arg-type]
    assert way.bodies == []


# ── what is no batch ──


def test_answers_have_their_status(archive: Archive, other: Archive) -> None:
    add(archive, update(b"a\n"))
    receiver = Receiver(other, largest=4000)
    where = position(other, archive)
    batch = outbox(archive).next(0, "", lambda strands: {})
    assert batch is not None
    body = encode_batch(batch)
    newer = StreamOpening(archive="x", epoch=1, machine="m", version=VERSION + 1)
    assert receiver.open(newer) == TooNew(VERSION)
    assert isinstance(receiver.take(where.stream, b"?" * 5000), BatchTooLarge)
    assert isinstance(receiver.take("99", body), MalformedBatch)
    assert isinstance(receiver.take("no number", body), MalformedBatch)
    assert isinstance(receiver.take(where.stream, body), RecordsTaken)
    # Told twice: it is there.
    assert isinstance(receiver.take(where.stream, body), RecordsTaken)
    older = msgspec.structs.replace(batch, sealed="another")
    refused = receiver.take(where.stream, encode_batch(older))
    assert refused == StreamConflict(batch.delta.upto, batch.sealed)
    statuses = [kind.status for kind in (StreamConflict, BatchTooLarge, TooNew, Unkept)]
    assert statuses == [409, 413, 426, 503]


def test_a_batch_that_is_cut_or_changed_anywhere_changes_nothing(
    archive: Archive, other: Archive
) -> None:
    add(archive, update(b"some words that are kept\n"))
    batch = outbox(archive).next(0, "", lambda strands: {})
    assert batch is not None
    body = encode_batch(batch)
    assert decode_batch(body) == batch
    receiver, where = Receiver(other), position(other, archive)
    for end in range(0, len(body), 7):
        assert isinstance(receiver.take(where.stream, body[:end]), MalformedBatch)
    for place in range(0, len(body), 5):
        changed = body[:place] + bytes([body[place] ^ 0x55]) + body[place + 1 :]
        assert isinstance(receiver.take(where.stream, changed), MalformedBatch)
    assert isinstance(receiver.take(where.stream, body + b"more"), MalformedBatch)
    assert stories(other) == [] and position(other, archive).reached == 0


def test_what_a_newer_version_says_besides_is_passed_over() -> None:
    said = {"archive": "x", "epoch": 1, "machine": "m", "version": 1, "mood": "good"}
    assert decode(encode(said), StreamOpening).archive == "x"
