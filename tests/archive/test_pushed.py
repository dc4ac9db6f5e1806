"""What one archive tells another: the same conversations, whatever happens on the way."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from rireki.archive.base import Archive, Stale
from rireki.archive.delta import NOTHING
from rireki.archive.forgetting import forget, remember
from rireki.archive.pack import FULL
from rireki.archive.records import MANY
from rireki.errors import ArchiveTrouble
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.model.record import Origin
from rireki.sources.kit.places import Places
from tests.archive.contract import ORIGIN, add, project, reading, update
from tests.sources.transcripts import SESSION, Transcript, lay
from tests.support.homes import NAMES, files, lay_out
from tests.support.pushing import deltas, push, restored, told, understand

HERE = Origin(source="pad", place="/pad/two", root="/pad", form="lines", role="journal")


def stories(archive: Archive, conversation: str = "one", **when: object) -> list[bytes]:
    return [s.document() for s in archive.strands("pad", conversation, **when)]  # type: ignore[arg-type]


def take_in(archive: Archive, home: Path) -> None:
    import_history(archive, places=Places.at(home))


# ── the same conversations ──


@pytest.mark.parametrize("name", NAMES)
def test_what_is_told_in_parts_is_equal_in_the_end(
    name: str, archive: Archive, other: Archive, home: Path, tmp_path: Path
) -> None:
    lay_out(name, home)
    take_in(archive, home)
    # Some of it is known already when the home changes.
    for _, delta in zip(range(3), deltas(archive, other), strict=False):
        other.take(other.stream(archive.identity(), "laptop").id, delta)
    understand(other)
    plain = [
        path for path in files(home) if path.suffix in (".jsonl", ".md") and path.stat().st_size
    ]
    for number, path in enumerate(plain):
        data = path.read_bytes()
        if number % 3 == 0:
            path.write_bytes(data + data[: len(data) // 3])
        elif number % 3 == 1 and len(plain) > 3:
            path.unlink()
        else:
            path.write_bytes(data[: len(data) // 2])
        if number % 4 == 0:
            take_in(archive, home)
    take_in(archive, home)
    push(archive, other)
    assert told(other, tmp_path / "there") == told(archive, tmp_path / "here")
    assert verify(other) == [] and other.check() == []
    assert push(archive, other) == []


def test_nothing_new_is_told_as_nothing(archive: Archive, other: Archive) -> None:
    add(archive, update(b"a\n"))
    push(archive, other)
    known = archive.number()
    archive.mark_stale()
    delta = archive.delta(known, 1000, lambda strands: pytest.fail("nobody is to be asked"))
    assert delta.is_empty and delta.upto == archive.number()


def test_a_strand_is_told_with_what_is_new_of_it_alone(archive: Archive, other: Archive) -> None:
    add(archive, update(b"first\n"))
    push(archive, other)
    add(archive, update(b"second\n", cursor=2), before=1)
    (delta,) = push(archive, other)
    (part,) = delta.parts
    assert [(chunk.first, chunk.count, chunk.size) for chunk in part.chunks] == [(1, 1, 7)]
    assert stories(other) == [b"first\nsecond\n"]


def test_small_pieces_are_put_together_once_they_are_many(archive: Archive, other: Archive) -> None:
    add(archive, update(b"0\n"))
    most = 0
    for number in range(1, 40):
        add(archive, update(b"%d\n" % number, cursor=number + 1), before=number)
        push(archive, other)
        (strand,) = other.strands("pad", "one")
        most = max(most, len(other.rows.get("chunk", "first", strand=strand.id)))
    assert most == MANY
    assert stories(other) == [b"".join(b"%d\n" % number for number in range(40))]
    assert verify(other) == []


def test_what_is_larger_than_a_delta_comes_in_parts(archive: Archive, other: Archive) -> None:
    lines = [bytes([n]) * 100 + str(n * 7919).encode() * 900 + b"\n" for n in range(200)]
    add(archive, update(*lines))
    add(archive, update(b"small\n", conversation="two"), origin=HERE)
    told = push(archive, other, limit=1000)
    sizes = [sum(len(c.data) for part in delta.parts for c in part.chunks) for delta in told]
    assert len(told) >= 4 and max(sizes) < 1000 + FULL
    # Its number is reached with the last part.
    assert [delta.upto for delta in told[:-2]] == [0] * (len(told) - 2)
    assert stories(other) == [b"".join(lines)] and stories(other, "two") == [b"small\n"]


def test_chunks_travel_as_they_lie(archive: Archive, other: Archive) -> None:
    add(archive, update(*(str(n).encode() * 5000 + b"\n" for n in range(40))))
    push(archive, other)
    data = [sorted(each.rows.get("chunk", "first, data")) for each in (archive, other)]
    assert data[0] == data[1] and len(data[0]) > 2


def test_a_version_that_a_reading_took_back_goes_there_too(
    archive: Archive, other: Archive
) -> None:
    add(archive, update(b"a\n"))
    push(archive, other)
    add(archive, update(b"b\n", cursor=2, continues=True), before=1)
    assert len(archive.strands("pad", "one")[0].states) == 1
    push(archive, other)
    (strand,) = other.strands("pad", "one")
    assert [strand.document(state) for state in strand.states] == [b"a\nb\n"]


def test_an_unfinished_line_stays_in_the_version_that_had_it(
    archive: Archive, other: Archive
) -> None:
    add(archive, update(b"a\n", tail=b"hal"))
    first = archive.number()
    push(archive, other)
    add(archive, update(b"half\n", cursor=2), before=1)
    push(archive, other)
    assert stories(archive, number=first) == [b"a\nhal"]
    for each in (archive, other):
        (strand,) = each.strands("pad", "one")
        assert [strand.document(state) for state in strand.states] == [b"a\nhal", b"a\nhalf\n"]


def test_strands_move_to_another_conversation_and_files_to_another_folder(
    archive: Archive, other: Archive
) -> None:
    add(archive, update(b"a\n"))
    push(archive, other)
    add(archive, update(conversation="two", cursor=2), before=1)
    (known,) = archive.origins()
    with archive.writing() as batch:
        batch.move(known, HERE)
    push(archive, other)
    assert stories(other) == [] and stories(other, "two") == [b"a\n"]
    assert [strand.place for strand in other.strands("pad", "two")] == [HERE.place]
    # Another file takes the place that became free.
    add(archive, update(b"b\n"))
    push(archive, other)
    assert stories(other) == [b"b\n"]


def test_strands_stand_in_the_order_they_were_read_in_whatever_came_first(
    archive: Archive, other: Archive
) -> None:
    add(archive, update(b"x\n", key="x"))
    add(archive, update(b"y\n", key="y"))
    add(archive, update(b"more\n", key="x", cursor=2), before=1)
    (delta,) = push(archive, other)
    assert [part.strand.key for part in delta.parts] == ["y", "x"]
    assert [strand.key for strand in other.strands("pad", "one")] == ["x", "y"]


def test_who_replaced_whom_is_told(archive: Archive, other: Archive) -> None:
    add(archive, update(b"a\n", key="x"))
    add(archive, update(b"b\n", conversation="two", key="y", replaces="x"))
    project(archive, one=[reading("pad/one")], two=[reading("pad/two")])
    push(archive, other)
    project(other, one=[reading("pad/one")], two=[reading("pad/two")])
    links = [each.find("pad/two").conversation.links for each in (archive, other)]
    assert links[0] == links[1] != []


# ── whatever happens on the way ──


class Killed(Exception):
    pass


def test_every_kill_and_lost_answer_leaves_it_whole(
    archive: Archive,
    other: Archive,
    engine: Callable[[Path], Archive],
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lay_out("claude-code-2.0.76", home)
    lay_out("amazon-q-1.12", home)
    take_in(archive, home)
    stream, _ = other.stream(archive.identity(), "laptop")
    put = type(other.rows).put
    left = 0

    def dying(rows: object, table: str, columns: str, *values: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Killed
        put(rows, table, columns, *values)  # type: ignore[arg-type]

    turn = 0
    while True:
        turn += 1
        with closing(engine(tmp_path / "other")) as target:
            reached = target.stream(archive.identity(), "laptop").reached
            delta = archive.delta(reached, 5000, partial(target.held, stream))
            if delta.is_empty:
                break
            if turn % 3 == 0:
                left = turn
                with monkeypatch.context() as patched, pytest.raises(Killed):
                    patched.setattr(type(target.rows), "put", dying)
                    for _ in range(turn):
                        target.take(stream, delta)
                        raise Killed
                continue
            target.take(stream, delta)
            if turn % 3 == 1:
                # The answer was lost: the same once more.
                before = target.number()
                try:
                    assert target.take(stream, delta) == delta.upto > delta.after
                except Stale:
                    assert delta.upto == delta.after
                assert target.number() == before
    assert turn > 15
    understand(other)
    assert told(other, tmp_path / "there") == told(archive, tmp_path / "here")


def test_of_two_who_tell_the_same_at_once_one_is_told_where_it_stands(
    archive: Archive, other: Archive
) -> None:
    add(archive, update(b"a\n"))
    stream, reached = other.stream(archive.identity(), "laptop")
    first = archive.delta(reached, 1000, partial(other.held, stream))
    add(archive, update(b"b\n", cursor=2), before=1)
    second = archive.delta(reached, 1000, partial(other.held, stream))
    assert other.take(stream, second) == second.upto
    assert other.take(stream, first) == second.upto
    assert stories(other) == [b"a\nb\n"]


def test_what_goes_on_from_records_that_are_not_there_is_not_kept(
    archive: Archive, other: Archive, engine: Callable[[Path], Archive], tmp_path: Path
) -> None:
    add(archive, update(b"a\n"))
    stream, _ = other.stream(archive.identity(), "laptop")
    told = archive.delta(0, 1000, partial(other.held, stream))
    push(archive, other)
    add(archive, update(b"b\n", cursor=2), before=1)
    later = archive.delta(told.upto, 1000, partial(other.held, stream))
    with closing(engine(tmp_path / "third")) as third:
        stream, _ = third.stream(archive.identity(), "laptop")
        with third.rows.writing():
            third.rows.change("stream", {"id": stream}, reached=told.upto)
        before = third.number()
        with pytest.raises(Stale):
            third.take(stream, later)
        assert third.number() == before and stories(third) == []


def test_damaged_records_are_not_taken(archive: Archive, other: Archive) -> None:
    add(archive, update(b"some words\n"))
    (row,) = archive.rows.get("chunk", "first, data")
    with archive.rows.writing():
        archive.rows.change("chunk", {"first": row[0]}, data=row[1][:-2] + b"??")
    stream, _ = other.stream(archive.identity(), "laptop")
    with pytest.raises(ArchiveTrouble):
        other.take(stream, archive.delta(0, 1000, lambda strands: {}))
    assert other.stream(archive.identity(), "laptop").reached == 0 and stories(other) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"chunks": {"count": 7}},
        {"chunks": {"lengths": "[1]"}},
        {"chunks": {"digests": b"short"}},
        {"states": {"runs": "no runs"}},
        {"strand": {"cursor": "{"}},
        {"strand": {"origin": 99}},
    ],
    ids=str,
)
def test_a_delta_that_contradicts_itself_is_not_taken(
    wrong: dict[str, dict[str, Any]], archive: Archive, other: Archive
) -> None:
    add(archive, update(b"some words\n"))
    stream, _ = other.stream(archive.identity(), "laptop")
    delta = archive.delta(0, 1000, partial(other.held, stream))
    ((name, values),) = wrong.items()
    told = getattr(delta.parts[0], name)
    bad = [replace(told[0], **values)] if isinstance(told, list) else replace(told, **values)
    delta = replace(delta, parts=[replace(delta.parts[0], **{name: bad})])
    with pytest.raises(ArchiveTrouble):
        other.take(stream, delta)
    assert other.stream(archive.identity(), "laptop").reached == 0 and stories(other) == []


# ── several machines ──


def test_two_machines_with_equal_paths_do_not_collide(archive: Archive, other: Archive) -> None:
    add(archive, update(b"here\n"))
    add(other, update(b"there\n", conversation="two"))
    push(archive, other)
    push(other, archive)
    for each in (archive, other):
        assert (stories(each), stories(each, "two")) == ([b"here\n"], [b"there\n"])
        (known,) = each.origins()
        assert known.place == ORIGIN.place
    # What is done here concerns what was read here.
    (known,) = other.origins()
    with other.writing() as batch:
        batch.vanish(known)
    (mine,), (theirs,) = other.strands("pad", "two"), other.strands("pad", "one")
    assert not mine.present and theirs.present
    assert other.cursors("pad", ORIGIN.place) == {"": 1}
    held = other.held_bytes("pad", ORIGIN.place)
    assert held is not None and b"".join(held.stream()) == b"there\n"
    add(archive, update(b"more\n", cursor=2), before=1)
    push(archive, other)
    assert stories(other) == [b"here\nmore\n"] and stories(other, "two") == [b"there\n"]


def test_only_what_was_read_here_is_told(
    archive: Archive, other: Archive, engine: Callable[[Path], Archive], tmp_path: Path
) -> None:
    add(archive, update(b"here\n"))
    push(archive, other)
    with closing(engine(tmp_path / "third")) as third:
        assert push(other, third) == []
        add(other, update(b"there\n", conversation="two"))
        push(other, third)
        assert stories(third) == [] and stories(third, "two") == [b"there\n"]


@pytest.mark.parametrize("name", ["claude-code-2.0.76", "amazon-q-1.12", "codex-0.150.0"])
def test_an_import_leaves_what_other_machines_read_alone(
    name: str, archive: Archive, other: Archive, home: Path, tmp_path: Path
) -> None:
    lay_out(name, home)
    take_in(archive, home)
    push(archive, other)
    before = told(other, tmp_path / "before")
    # The same folders, and nothing in them.
    shutil.rmtree(home)
    home.mkdir()
    report = import_history(other, places=Places.at(home))
    assert sum(source.vanished for source in report.sources) == 0
    assert told(other, tmp_path / "after") == before


def test_one_conversation_that_went_on_on_two_machines_has_both_branches(
    archive: Archive, other: Archive, home: Path, tmp_path: Path
) -> None:
    talk = Transcript()
    talk.user("count the pelicans", uuid="11111111-1111-4111-8111-111111111111")
    begun = talk.bytes()
    sides = {}
    for each, words in ((archive, "on the laptop"), (other, "on the desktop")):
        more = Transcript()
        more.user(words, parent="11111111-1111-4111-8111-111111111111")
        lay(home, begun + more.bytes())
        sides[words] = begun + more.bytes()
        take_in(each, home)
    push(archive, other)
    push(other, archive)
    here, there = told(archive, tmp_path / "here"), told(other, tmp_path / "there")
    assert here["conversations"] == there["conversations"] and here["answers"] == there["answers"]
    for each in (archive, other):
        (conversation,) = each.conversations()
        found = each.find(conversation.id)
        files = restored(each, found, tmp_path / each.address.replace("/", "_"))
        assert isinstance(files, dict) and sorted(files.values()) == sorted(sides.values())
        texts = str(told(each, tmp_path / "told" / each.address.replace("/", "_"))["read"])
        assert all(words in texts for words in ("pelicans", *sides))
        assert conversation.native_id == SESSION


# ── forgetting ──


def holds(archive: Archive, secret: bytes) -> bool:
    """Whether a word is in any file of the archive, packed or not."""
    rows = archive.rows.get("chunk", "data, size, lengths")
    if any(secret in data or secret in _plain(data) for data, *_ in rows):
        return True
    archive.settle()
    files = Path(archive.address).parent.glob("*")
    return any(secret in path.read_bytes() for path in files)


def _plain(data: bytes) -> bytes:
    from rireki.archive.pack import unsqueeze

    return unsqueeze(data)


def test_what_is_forgotten_is_forgotten_there_too(archive: Archive, other: Archive) -> None:
    add(archive, update(b"secret\n"))
    add(other, update(b"the same secret, read there\n"))
    push(archive, other)
    project(archive, one=[reading("pad/one")])
    assert holds(other, b"secret")
    forget(archive, [archive.find("pad/one")])
    push(archive, other)
    assert stories(other) == [] and not holds(other, b"secret")
    assert set(other.forgotten()) == {("pad", "one")}
    assert [group[:2] for group in other.pending()] == []
    # It does not come back from there either.
    push(other, archive)
    assert stories(archive) == []


def test_what_came_to_another_conversation_before_it_was_forgotten_goes_too(
    archive: Archive, other: Archive
) -> None:
    add(archive, update(b"secret\n"))
    push(archive, other)
    project(other, one=[reading("pad/one")])
    add(archive, update(conversation="two", cursor=2), before=1)
    project(archive, two=[reading("pad/two")])
    forget(archive, [archive.find("pad/two")])
    # The same number again, for something else.
    add(archive, update(b"harmless\n", conversation="three"), origin=HERE)
    push(archive, other)
    assert stories(other) == [] and stories(other, "three") == [b"harmless\n"]
    assert not holds(other, b"secret")
    project(other)
    assert not any(heading.id == "pad/one" for heading in other.headings())


def test_what_was_forgotten_and_remembered_is_taken_again(archive: Archive, other: Archive) -> None:
    add(archive, update(b"first\n"))
    push(archive, other)
    project(archive, one=[reading("pad/one")])
    forget(archive, [archive.find("pad/one")])
    push(archive, other)
    assert remember(archive, "one")
    add(archive, update(b"again\n"))
    push(archive, other)
    assert stories(other) == [b"again\n"] and set(other.forgotten()) == set()
    assert push(archive, other) == []


def test_what_is_forgotten_here_is_not_taken_until_it_is_remembered(
    archive: Archive, other: Archive
) -> None:
    add(archive, update(b"first\n"))
    add(archive, update(b"x" * 3000 + b"\n", conversation="two"), origin=HERE)
    push(archive, other)
    project(other, one=[reading("pad/one")], two=[reading("pad/two")])
    forget(other, [other.find("pad/one")])
    add(archive, update(b"second\n", cursor=2), before=1)
    push(archive, other, limit=1)
    assert stories(other) == []
    assert remember(other, "one")
    push(archive, other, limit=1)
    assert stories(other) == [b"first\nsecond\n"] and len(stories(other, "two")) == 1


def test_lines_of_shared_files_are_emptied_there_too(archive: Archive, other: Archive) -> None:
    add(archive, update(b"a\n"))
    add(
        archive,
        update(
            b'{"id":"one","text":"secret"}\n', b"other\n", conversation="@all", tail=b"one: sec"
        ),
        origin=HERE,
    )
    push(archive, other)
    project(archive, one=[reading("pad/one")])
    forget(archive, [archive.find("pad/one")])
    push(archive, other)
    assert stories(other, "@all") == stories(archive, "@all") == [b"other\n"]
    assert not holds(other, b"secret") and not holds(other, b"one: sec")


def test_of_what_is_not_known_there_is_nothing(other: Archive) -> None:
    stream, reached = other.stream("another archive", "laptop")
    assert other.held(stream, [1, 2]) == {} and reached == 0 and NOTHING.number == 0
    assert other.stream("another archive", "laptop", epoch=2).id != stream
