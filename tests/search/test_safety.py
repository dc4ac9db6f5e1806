"""Whatever happens to the index, searches answer as if nothing had: it is a projection.

What is promised: a file that is missing, or of another size or time than when it was
written, is noticed when the index is opened; damage in the texts when they are read.
What rots in silence, with size and time unchanged, is found by `rireki verify`.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from rireki.archive.base import Archive, Heading
from rireki.errors import RirekiError
from rireki.intake import sweep
from rireki.intake.forget import forget
from rireki.intake.parallel import bulk, pool
from rireki.search import search as search_module
from rireki.search.index import index as index_module
from rireki.search.index import update
from rireki.search.index import writer as writer_module
from rireki.search.index.importing import take_in
from rireki.search.index.index import open_existing, peek
from rireki.search.index.notes import IndexStore
from rireki.search.index.update import FEW, catch_up, erase, outdated, rebuild
from rireki.search.index.words import WordWriter, WriteFailed
from rireki.search.index.writer import IndexWriter
from rireki.search.search import Search
from rireki.search.text.blocks import open_block, open_entry
from rireki.sources.kit.places import Places
from tests.support.engine import sql_of
from tests.support.searching import (
    ALL,
    QUERIES,
    Answers,
    Place,
    answers,
    append_turn,
    end,
    found,
    heard,
    kill,
    make_home,
    messages,
    opened,
    searching,
    start,
    troubles,
)

SESSIONS = 14
#: Every kind of file an index is made of, by how its name ends.
KINDS = (
    "current",
    "lock.sqlite3",
    "texts.sqlite3",
    "texts.sqlite3-wal",
    "meta.json",
    ".managed.json",
    ".term",
    ".idx",
    ".pos",
    ".fast",
    ".fieldnorm",
    ".store",
    ".del",
)
SEGMENT = KINDS[6:]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """An archive and its index, with a file of every kind."""
    place = Place(tmp_path_factory.mktemp("whole"))
    make_home(place.home, SESSIONS)
    place.take_in()
    append_turn(place.transcripts()[3], "one more turn, so that something was replaced")
    place.take_in()
    with opened(place) as archive:
        (folder,) = (path for path in place.index.iterdir() if path.is_dir())
        # Held open, it keeps its log when the others close it: the copy gets both.
        store = IndexStore(folder / "texts.sqlite3")
        store.get("kind")
        assert catch_up(archive)
        copy = place.copy_to(tmp_path_factory.mktemp("copy"))
        store.close()
    for kind in KINDS:
        assert _file(copy, kind).exists(), f"there is no {kind}"
    return copy


@pytest.fixture(scope="module")
def expected(whole: Place, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    answered = answers(whole.copy_to(tmp_path_factory.mktemp("expected")))
    planted = json.loads((whole.home / "MANIFEST.json").read_text(encoding="utf-8"))["needles"]
    for word in ("quokkaflux", "鳳凰", "獏"):
        sessions = {id.partition("/")[2] for id, _ in answered[word]}
        assert sessions == set(planted[word])
    assert all(answered[query] for query in QUERIES if query != "is:gone")
    return answered


@pytest.fixture
def place(whole: Place, tmp_path: Path) -> Place:
    """A copy to be broken, without the home it came from."""
    shutil.copytree(whole.folder, tmp_path, ignore=lambda *_: {"home"}, dirs_exist_ok=True)
    return Place(tmp_path)


@pytest.fixture
def living(whole: Place, tmp_path: Path) -> Place:
    """An archive of its own home, which may go on."""
    place = Place(tmp_path)
    shutil.copytree(whole.home, place.home)
    place.take_in()
    with opened(place) as archive:
        assert catch_up(archive)
    return place


def _file(place: Place, kind: str) -> Path:
    return next((path for path in place.files() if path.name.endswith(kind)), Path("/nowhere"))


# ── damage ──


def _folders(place: Place) -> list[Path]:
    return [path for path in place.index.iterdir() if path.is_dir()]


def delete(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path, at: int | None = None) -> None:
    data = bytearray(path.read_bytes() or b"x")
    # Not where a page begins: what stands there may lead to a page that is not needed.
    middle = len(data) // 2 + (1000 if len(data) > 4000 else 0)
    data[middle if at is None else at] ^= 0x10
    path.write_bytes(data)


def fill_with_garbage(path: Path) -> None:
    path.write_bytes(random.Random(7).randbytes(max(path.stat().st_size, 40)))


def fill_with_zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def put_a_folder_there(path: Path) -> None:
    path.unlink()
    (path / "something").mkdir(parents=True)


DAMAGES: tuple[Callable[[Path], None], ...] = (
    delete,
    empty,
    cut_short,
    put_a_folder_there,
    flip,
    fill_with_garbage,
    fill_with_zeros,
)


@pytest.mark.parametrize(
    ("kind", "damage"),
    [
        (kind, damage)
        for kind in KINDS
        # All files of a segment end with a checksum, and are treated alike.
        for damage in (DAMAGES[::2] if kind in SEGMENT[1:] else DAMAGES)
    ],
)
def test_a_damaged_file_changes_no_answer(
    place: Place, expected: Answers, kind: str, damage: Callable[[Path], None]
) -> None:
    damage(_file(place, kind))
    assert answers(place) == expected
    assert troubles(place) == []


@pytest.mark.parametrize("kind", ["texts.sqlite3", "meta.json", ".managed.json"])
def test_no_byte_can_be_changed_in_what_has_no_checksum_of_its_own(
    place: Place, whole: Place, expected: Answers, kind: str
) -> None:
    chance = random.Random(kind)
    for _ in range(8):
        shutil.rmtree(place.index)
        shutil.copytree(whole.index, place.index)
        path = _file(place, kind)
        at = chance.randrange(path.stat().st_size)
        flip(path, at)
        assert answers(place) == expected, f"byte {at}"


def test_the_number_of_documents_is_believed_only_as_written(
    place: Place, expected: Answers
) -> None:
    path = _file(place, "meta.json")
    meta = json.loads(path.read_bytes())
    meta["segments"][0]["max_doc"] -= 2
    path.write_text(json.dumps(meta))
    assert answers(place) == expected


@pytest.mark.parametrize("kind", SEGMENT)
def test_what_rots_in_silence_is_found_by_verify(
    place: Place, expected: Answers, kind: str
) -> None:
    path = _file(place, kind)
    stat = path.stat()
    flip(path)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert troubles(place), "not noticed"
    with opened(place) as archive:
        assert rebuild(archive)
    assert answers(place) == expected
    assert troubles(place) == []


def test_a_lost_block_of_texts_is_found_by_verify_and_by_whoever_needs_it(
    place: Place, expected: Answers
) -> None:
    store = IndexStore(_file(place, "texts.sqlite3"))
    with store.writing():
        store.sql.execute("DELETE FROM block WHERE id = (SELECT min(id) FROM block)")
    store.close()
    assert troubles(place), "not noticed"
    assert answers(place) == expected
    assert troubles(place) == []


def test_without_its_folder_the_index_is_made_anew_and_a_bar_tells(
    place: Place, expected: Answers
) -> None:
    class Bar:
        def __init__(self) -> None:
            self.told: list[tuple[str, int]] = []
            self.done = 0

        def start(self, label: str, total: int) -> None:
            self.told.append((label, total))

        def advance(self, amount: int) -> None:
            self.done += amount

        def finish(self) -> None:
            self.told.append(("finished", self.done))

    shutil.rmtree(place.index)
    bar = Bar()
    with opened(place) as archive:
        number = archive.count()
        search = Search(archive, bar)
        assert messages(search.find("import", ALL)) == expected["import"]
        search.close()
    assert bar.told == [("indexing", number), ("finished", number)]
    assert answers(place) == expected


def test_an_index_that_vanishes_while_it_is_used_is_made_anew(
    living: Place, expected: Answers
) -> None:
    with searching(living) as search:
        assert messages(search.find("import", ALL)) == expected["import"]
        shutil.rmtree(living.index)
        append_turn(living.transcripts()[1], "said after it was gone")
        living.take_in()
        for query in QUERIES:
            if query != "author:person":
                assert messages(search.find(query, ALL)) == expected[query]
        assert len(messages(search.find("gone said after", ALL))) == 1


def test_an_index_of_another_version_is_made_anew(
    place: Place, expected: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer:
        newer.setattr(index_module, "FORMAT", 99)
        assert answers(place) == expected
        with opened(place) as archive:
            assert open_existing(archive) is not None
    assert answers(place) == expected


def test_the_first_import_of_a_new_version_makes_the_index_anew(
    living: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though there is nothing new to take in: else the first search would have to wait for it."""
    with monkeypatch.context() as older:
        older.setattr(index_module, "VERSION", 5)
        answers(living)
    with opened(living) as archive:
        assert catch_up(archive, lazy=True)
        index = open_existing(archive)
        assert index is not None and len(index.store.talks()[1]) == archive.count()
        index.close()


def test_an_index_of_another_archive_is_not_believed(
    place: Place, expected: Answers, tmp_path: Path
) -> None:
    other = Place(tmp_path / "other")
    make_home(other.home, 3, seed=9)
    other.take_in()
    with opened(other) as archive:
        assert catch_up(archive)
    shutil.rmtree(place.index)
    shutil.copytree(other.index, place.index)
    assert answers(place) == expected


def test_an_archive_put_back_to_an_earlier_state_is_believed_more_than_its_index(
    living: Place, expected: Answers
) -> None:
    backup = living.path.read_bytes()
    append_turn(living.transcripts()[0], "wolpertinger")
    living.take_in()
    with opened(living) as archive:
        assert catch_up(archive)
    assert len(found(living, "wolpertinger")) == 1
    for path in living.folder.glob("archive.sqlite3*"):
        path.unlink()
    living.path.write_bytes(backup)
    assert answers(living) == expected
    assert found(living, "wolpertinger") == set()


def test_an_archive_put_back_and_gone_on_with_is_searched_as_it_is(living: Place) -> None:
    backup = living.path.read_bytes()
    transcript = living.transcripts()[0]
    append_turn(transcript, "wolpertinger")
    living.take_in()
    with opened(living) as archive:
        assert catch_up(archive)
    for path in living.folder.glob("archive.sqlite3*"):
        path.unlink()
    living.path.write_bytes(backup)
    append_turn(transcript, "tatzelwurm")
    living.take_in()
    assert len(found(living, "wolpertinger")) == 1
    assert len(found(living, "tatzelwurm")) == 1


def test_the_index_of_a_copy_that_went_its_own_way_is_not_believed(
    living: Place, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Both have had as many commits: folders that a tool synchronizes may come to this."""
    aside = tmp_path_factory.mktemp("aside")
    before = living.copy_to(aside / "before")
    for word in ("wolpertinger", "tatzelwurm"):
        shutil.rmtree(living.folder)
        before.copy_to(living.folder)
        append_turn(living.transcripts()[0], word)
        living.take_in()
        with opened(living) as archive:
            assert catch_up(archive)
        living.copy_to(aside / word)
    shutil.rmtree(living.index)
    shutil.copytree(aside / "wolpertinger" / living.index.name, living.index)
    assert len(found(living, "tatzelwurm")) == 1
    assert found(living, "wolpertinger") == set()


def test_notes_that_were_lost_in_a_power_cut_are_not_mixed_with_newer_words(
    living: Place, expected: Answers
) -> None:
    texts = _file(living, "texts.sqlite3")
    _fold_log_in(texts)
    before = texts.read_bytes()
    for number in range(3):
        append_turn(living.transcripts()[number], f"wolpertinger {number}")
    living.take_in()
    with opened(living) as archive:
        assert catch_up(archive)
    texts.write_bytes(before)
    append_turn(living.transcripts()[1], "tatzelwurm")
    living.take_in()
    with opened(living) as archive:
        assert catch_up(archive)
    assert len(found(living, "wolpertinger")) == 3
    assert len(found(living, "tatzelwurm")) == 1
    assert answers(living, QUERIES[:3]) == {query: expected[query] for query in QUERIES[:3]}
    assert troubles(living) == []


def _fold_log_in(path: Path) -> None:
    store = IndexStore(path)
    store.sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()


# ── where it cannot be written ──


def _told_or_right(place: Place, expected: Answers) -> None:
    """A search either answers as ever, or says what is wrong and what to do."""
    with searching(place) as search:
        for query in QUERIES:
            try:
                assert messages(search.find(query, ALL)) == expected[query]
            except RirekiError as error:
                assert error.message and error.hint


def test_a_file_in_the_place_of_the_folder_is_told(place: Place, expected: Answers) -> None:
    shutil.rmtree(place.index)
    place.index.write_text("not a folder")
    _told_or_right(place, expected)
    place.index.unlink()
    assert answers(place) == expected


FULL = """
import resource, signal, sys
from pathlib import Path
from tests.support.searching import Place, searching, messages, ALL, QUERIES
from rireki.errors import RirekiError
place = Place(Path(sys.argv[1]))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with searching(place) as search:
    search.archive.identity()
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    try:
        results = search.find("import", ALL)
    except RirekiError as error:
        assert error.message and error.hint
        print("told")
    else:
        print(len(messages(results)))
"""


@pytest.mark.parametrize("room", [300, 9_000, 25_000, 60_000])
def test_a_disk_that_is_full_while_the_index_is_made_is_told(
    place: Place, expected: Answers, room: int
) -> None:
    """No file may grow beyond the limit: that is what a full disk looks like to a process."""
    shutil.rmtree(place.index)
    process = start(FULL, place.folder, room)
    assert process.stdout is not None
    said = process.stdout.read().strip()
    assert end(process) == 0
    assert said in ("told", str(len(expected["import"])))
    assert answers(place) == expected
    assert troubles(place) == []


def _no_words(*_: object, **__: object) -> None:
    raise ValueError("IoError: No space left on device (os error 28)")


def _no_notes(self: IndexStore, key: str, value: object) -> None:
    raise apsw.FullError("No space left on device")


@pytest.mark.parametrize("full", ["words", "notes"])
def test_of_an_index_that_cannot_be_made_nothing_is_left(
    place: Place, expected: Answers, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    shutil.rmtree(place.index)
    with monkeypatch.context() as patch:
        if full == "words":
            patch.setattr("rireki.search.index.words.tantivy.Index", _no_words)
        else:
            patch.setattr(IndexStore, "put", _no_notes)
        for _ in range(3):
            with searching(place) as search:
                results = search.find("quokkaflux", ALL)
            assert messages(results) == expected["quokkaflux"]
            assert "No space left" in results.scope.slower
            assert [path.name for path in place.index.iterdir()] == ["lock.sqlite3"]
    assert answers(place) == expected


def test_a_folder_in_the_way_of_a_new_index_is_removed(place: Place, expected: Answers) -> None:
    (place.index / "current").unlink()
    (place.index / "current.new").mkdir()
    assert answers(place) == expected
    assert len(_folders(place)) == 1 and not (place.index / "current.new").exists()


def test_an_index_that_could_not_be_extended_is_kept_and_extended_later(
    living: Place, expected: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: WordWriter, generation: int) -> None:
        raise WriteFailed("No space left on device (os error 28)")

    before = _file(living, "meta.json").parent
    append_turn(living.transcripts()[0], "wolpertinger")
    with monkeypatch.context() as patch, opened(living) as archive:
        patch.setattr(WordWriter, "commit", full)
        take_in(archive, Places.at(living.home))
        with pytest.raises(RirekiError, match="No space left"):
            catch_up(archive)
        search = Search(archive)
        assert len(messages(search.find("wolpertinger", ALL))) == 1
        search.close()
    assert len(found(living, "wolpertinger")) == 1
    with opened(living) as archive:
        assert catch_up(archive)
    assert _file(living, "meta.json").parent == before
    assert answers(living, QUERIES[:3]) == {query: expected[query] for query in QUERIES[:3]}


@pytest.mark.parametrize("method", ["begin", "put", "commit", "close"])
def test_an_import_goes_through_though_its_index_does_not(
    tmp_path: Path, whole: Place, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def fail(self: IndexWriter, *_: object) -> None:
        raise WriteFailed("No space left on device (os error 28)")

    place = Place(tmp_path)
    shutil.copytree(whole.home, place.home)
    with monkeypatch.context() as patch, opened(place) as archive:
        # Everything is fresh and goes by way of the workers, which the index follows.
        patch.setattr(sweep, "BULK", 0)
        patch.setattr(IndexWriter, method, fail)
        with suppress(RirekiError):
            take_in(archive, Places.at(place.home))
        assert archive.count() >= SESSIONS and not any(archive.pending())
    assert len(found(place, "quokkaflux")) == 7


# ── as soon as it is committed ──


def _untouched(place: Place) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.files() if "sqlite3-" not in path.name}


def test_what_was_just_imported_is_found_although_the_index_was_not_touched(living: Place) -> None:
    before = answers(living) and _untouched(living)
    ids = append_turn(living.transcripts()[2], "wolpertinger asked", "wolpertinger answered")
    living.take_in()
    assert {id for _, id in found(living, "wolpertinger")} == set(ids)
    assert _untouched(living) == before
    with opened(living) as archive:
        assert catch_up(archive)
    assert {id for _, id in found(living, "wolpertinger")} == set(ids)
    assert _untouched(living) != before


def test_a_small_import_asks_the_index_little_however_many_conversations_it_has(
    living: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_turn(living.transcripts()[0], "wolpertinger")
    with monkeypatch.context() as patch:
        patch.setattr(IndexStore, "talks", lambda store: pytest.fail("it read about all of them"))
        living.take_in()
    assert len(found(living, "wolpertinger")) == 1


@pytest.mark.parametrize("more", ["", " -is:subagent source:claude-code", " project:home"])
def test_a_running_search_sees_each_import(living: Place, more: str) -> None:
    with searching(living) as search:
        for number in range(FEW + 4):
            append_turn(living.transcripts()[number], f"wolpertinger {number}")
            living.take_in()
            assert len(messages(search.find("wolpertinger" + more, ALL))) == number + 1


def test_a_conversation_that_is_written_anew_stands_in_the_index_once(
    living: Place, expected: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "MANY_BLOCKS", 0)
    for number in range(3):
        for transcript in living.transcripts():
            append_turn(transcript, f"wolpertinger {number}")
        living.take_in()
        with opened(living) as archive:
            assert catch_up(archive)
            assert outdated(archive, {kept.id: kept for kept in peek(archive) or ()}) == []
    assert len(found(living, "wolpertinger")) == 3 * SESSIONS
    assert found(living, "quokkaflux") == expected["quokkaflux"]
    assert troubles(living) == []


def _offer_title(place: Place, title: str) -> str:
    """A small transcript more, which has a title for another one; returns the id of that."""
    transcript = max(place.transcripts(), key=lambda path: path.stat().st_size)
    lines = [json.loads(line) for line in transcript.read_text(encoding="utf-8").splitlines()]
    last = next(line["uuid"] for line in reversed(lines) if line.get("uuid"))
    session = "00000000-0000-4000-8000-000000000001"
    prompt = next(line for line in lines if line.get("type") == "user" and "message" in line)
    prompt |= {"sessionId": session, "uuid": session, "parentUuid": None}
    prompt |= {"message": {"role": "user", "content": "a short one"}}
    offer = {"type": "summary", "summary": title, "leafUuid": last}
    text = "".join(json.dumps(line) + "\n" for line in (prompt, offer))
    transcript.with_name(f"{session}.jsonl").write_text(text, encoding="utf-8")
    return f"claude-code/{transcript.stem}"


@pytest.mark.parametrize("much", [1, update.MUCH], ids=["in two commits", "in one"])
def test_what_an_import_only_ties_to_others_is_not_read_again(
    corpus: Callable[[int], tuple[Path, dict[str, Any]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    much: int,
) -> None:
    """A sub-agent, or a title out of another file, makes a later change of what was indexed before."""
    monkeypatch.setattr(update, "MUCH", much)
    monkeypatch.setattr(sweep, "BULK", 0)
    monkeypatch.setattr(bulk, "BATCH", 1)
    # The newest ones are taken in whole, and change no more.
    monkeypatch.setattr(bulk, "NEWEST", 0)
    monkeypatch.setattr(pool, "processors", lambda: 1)
    place = Place(tmp_path)
    shutil.copytree(corpus(1)[0], place.home)
    renamed = _offer_title(place, "wolpertinger census")
    carried: dict[str, bool] = {}
    carry_over = IndexWriter.carry_over

    def note(writer: IndexWriter, heading: Heading, *, renamed: bool) -> None:
        carried[heading.id] = renamed
        carry_over(writer, heading, renamed=renamed)

    monkeypatch.setattr(IndexWriter, "carry_over", note)
    place.take_in()
    assert carried[renamed] and not all(carried.values())
    with opened(place) as archive:
        kept = peek(archive) or []
        assert outdated(archive, {each.id: each for each in kept}) == []
        # Most is written while others are still being read.
        assert len({each.generation for each in kept}) == (2 if much == 1 else 1)
    with searching(place) as search:
        (talk,) = search.find("wolpertinger", ALL).talks
        assert talk.conversation.id == renamed and search.find("self").scope.direct == 0
    assert troubles(place) == []


def _replace(transcript: Path, old: str, new: str) -> None:
    data = transcript.read_text(encoding="utf-8")
    assert old in data
    transcript.write_text(data.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("settled", [False, True], ids=["read directly", "indexed"])
def test_a_rewritten_message_is_found_by_its_old_and_its_new_words(
    living: Place, settled: bool
) -> None:
    transcript = living.transcripts()[4]
    append_turn(transcript, "wolpertinger stood here")
    living.take_in()
    with opened(living) as archive:
        assert catch_up(archive)
    _replace(transcript, "wolpertinger stood", "tatzelwurm stands")
    living.take_in()
    if settled:
        with opened(living) as archive:
            assert catch_up(archive)
    assert len(found(living, "wolpertinger")) == 1
    assert found(living, "wolpertinger") == found(living, "wolpertinger is:gone")
    assert len(found(living, "tatzelwurm -is:gone")) == 1
    assert len(found(living, "here is:gone wolpertinger OR tatzelwurm")) == 1


@pytest.mark.parametrize("settled", [False, True], ids=["read directly", "indexed"])
def test_a_deleted_transcript_is_still_found_as_gone(
    living: Place, expected: Answers, settled: bool
) -> None:
    planted = sorted(expected["quokkaflux"])[0]
    (transcript,) = (t for t in living.transcripts() if t.stem == planted[0].partition("/")[2])
    transcript.unlink()
    living.take_in()
    if settled:
        with opened(living) as archive:
            assert catch_up(archive)
    assert found(living, "quokkaflux") == expected["quokkaflux"]
    assert found(living, "quokkaflux is:gone") == {planted}


# ── forgetting ──

SECRET = "zqxsecretwordqxz"


def _words_of_the_index(place: Place) -> set[str]:
    """Everything that stands in the index, however it is packed."""
    with opened(place) as archive:
        index = open_existing(archive)
        assert index is not None
        terms = {term for term, _ in index.reader().searcher.terms_with_prefix("words", "")}
        for kept in index.store.talks()[1]:
            for _, data in index.store.blocks(kept.number):
                terms |= {str(part) for raw in open_block(data) for part in open_entry(raw).parts}
        index.close()
    return terms


def _knows_the_secret(place: Place) -> bool:
    in_bytes = any(SECRET.encode() in path.read_bytes() for path in place.files())
    return in_bytes or any(SECRET in term for term in _words_of_the_index(place))


@pytest.mark.parametrize("interrupted", [False, True], ids=["at once", "killed in between"])
def test_of_what_was_forgotten_no_byte_stays_in_the_index(living: Place, interrupted: bool) -> None:
    transcript = living.transcripts()[5]
    append_turn(transcript, f"the password is {SECRET}")
    living.take_in()
    with opened(living) as archive:
        assert catch_up(archive)
        assert _knows_the_secret(living)
        forget(archive, archive.find(transcript.stem))
        if not interrupted:
            erase(archive)
    if interrupted:
        assert found(living, SECRET) == set()
        append_turn(living.transcripts()[0], "something else")
        living.take_in()
    assert found(living, SECRET) == set()
    assert not _knows_the_secret(living)


def _with_secret(place: Place) -> Path:
    """The transcript that has it, well in the index."""
    transcript = place.transcripts()[5]
    append_turn(transcript, f"the password is {SECRET}")
    place.take_in()
    with opened(place) as archive:
        assert catch_up(archive)
    assert _knows_the_secret(place)
    return transcript


def test_forgetting_removes_an_index_that_nothing_leads_to(living: Place) -> None:
    transcript = _with_secret(living)
    (living.index / "current").unlink()
    with opened(living) as archive:
        forget(archive, archive.find(transcript.stem))
        erase(archive)
    assert _folders(living) == []
    assert found(living, SECRET) == set()


@pytest.mark.parametrize("next_one", ["import", "forget"])
def test_an_old_index_that_a_killed_process_left_goes_with_the_next_who_writes(
    living: Place, next_one: str
) -> None:
    transcript = _with_secret(living)
    (old,) = _folders(living)
    copy = living.folder / "copy"
    shutil.copytree(old, copy)
    with opened(living) as archive:
        forget(archive, archive.find(transcript.stem))
        erase(archive)
        # As if it had been killed just before.
        copy.rename(old)
        if next_one == "import":
            append_turn(living.transcripts()[0], "something else")
            take_in(archive, Places.at(living.home))
        else:
            erase(archive)
    assert not old.exists() and len(_folders(living)) == 1


def test_what_was_forgotten_goes_though_there_is_no_room_for_a_new_index(
    living: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = _with_secret(living)
    with opened(living) as archive, monkeypatch.context() as patch:
        forget(archive, archive.find(transcript.stem))
        patch.setattr("rireki.search.index.words.tantivy.Index", _no_words)
        erase(archive)
    assert _folders(living) == []
    assert len(found(living, "quokkaflux")) > 0


def test_forgetting_makes_a_damaged_index_anew_since_it_may_hold_anything(living: Place) -> None:
    transcript = living.transcripts()[5]
    append_turn(transcript, f"the password is {SECRET}")
    living.take_in()
    with opened(living) as archive:
        assert catch_up(archive)
        _fold_log_in(_file(living, "texts.sqlite3"))
        fill_with_garbage(_file(living, "texts.sqlite3"))
        forget(archive, archive.find(transcript.stem))
        erase(archive)
    assert not _knows_the_secret(living)


# ── what is not interpreted yet ──


def _without_interpreting(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import that is killed between keeping records and saying what they mean."""
    with monkeypatch.context() as patch:
        patch.setattr(sweep, "interpret_pending", lambda *_, **__: iter(()))
        place.take_in()
    with opened(place) as archive:
        assert any(archive.pending())


def test_a_message_is_found_before_it_is_interpreted(
    living: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = append_turn(living.transcripts()[6], "wolpertinger")
    _without_interpreting(living, monkeypatch)
    assert {id for _, id in found(living, "wolpertinger")} == {ids[0]}


@pytest.mark.parametrize("verb", ["headings", "pending", "number"])
def test_a_message_is_found_while_it_is_interpreted(
    living: Place, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """Another process interprets it just after we looked at one thing, and before the next."""
    ids = append_turn(living.transcripts()[6], "wolpertinger")
    _without_interpreting(living, monkeypatch)
    with searching(living) as search:
        look = getattr(search.archive, verb)

        def look_and_wait(*arguments: Any, **named: Any) -> Any:
            seen = look(*arguments, **named)
            living.take_in()
            return seen

        monkeypatch.setattr(search.archive, verb, look_and_wait)
        got = messages(search.find("wolpertinger", ALL))
    assert {id for _, id in got} == {ids[0]}


def test_a_new_conversation_is_found_before_it_is_interpreted(
    living: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = living.transcripts()[6]
    fresh = transcript.with_name("00000000-aaaa-4000-8000-000000000000.jsonl")
    data = transcript.read_text(encoding="utf-8").replace(transcript.stem, fresh.stem)
    fresh.write_text(data, encoding="utf-8")
    append_turn(fresh, "wolpertinger")
    _without_interpreting(living, monkeypatch)
    assert {id for id, _ in found(living, "wolpertinger")} == {f"claude-code/{fresh.stem}"}


def test_everything_is_found_while_everything_is_interpreted_anew(
    place: Place, expected: Answers
) -> None:
    with opened(place) as archive:
        archive.mark_stale()
    assert answers(place, QUERIES[:3]) == {query: expected[query] for query in QUERIES[:3]}


def test_who_searches_what_an_interrupted_rebuild_left_is_told_what_finishes_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_module, "MANY_PENDING", SESSIONS - 1)
    with opened(place) as archive:
        archive.mark_stale()
    with searching(place) as search:
        assert "'rireki import' finishes it" in search.find("quokkaflux").scope.slower


@pytest.mark.parametrize("after", [True, False], ids=["after", "before"])
@pytest.mark.parametrize("verb", ["number", "pending", "headings", "pick", "note_of"])
def test_everything_is_found_though_another_process_begins_to_interpret_it_anew(
    place: Place, expected: Answers, monkeypatch: pytest.MonkeyPatch, verb: str, after: bool
) -> None:
    with searching(place) as search, opened(place) as other:
        look = getattr(search.archive, verb)
        begun: list[str] = []

        def look_and_mark_stale(*arguments: Any, **named: Any) -> Any:
            seen = look(*arguments, **named) if after else None
            if not begun:
                begun.append(verb)
                other.mark_stale()
            return seen if after else look(*arguments, **named)

        monkeypatch.setattr(search.archive, verb, look_and_mark_stale)
        for query in QUERIES[:3]:
            results = search.find(query, ALL)
            assert messages(results) == expected[query]
            assert results.scope.conversations == len(list(other.groups()))
    assert begun


def test_what_is_forgotten_in_the_moment_it_is_found_is_not_told(
    place: Place, expected: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    with searching(place) as search, opened(place) as other:
        look = search.archive.pick
        id, _ = min(expected["quokkaflux"])

        def forget_and_look(ids: Any) -> Any:
            forget(other, other.find(id))
            return look(ids)

        monkeypatch.setattr(search.archive, "pick", forget_and_look)
        talks = search.find("quokkaflux", ALL).talks
    assert {t.conversation.id for t in talks} == {i for i, _ in expected["quokkaflux"]} - {id}


def test_what_is_forgotten_while_texts_are_fetched_costs_no_new_index(
    place: Place, expected: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    with searching(place) as search, opened(place) as other:
        search.find("warm")
        fetch = search.library.docs_at
        chosen = {id for id, _ in expected["quokkaflux"]}
        gone = min(chosen)

        def forget_and_fetch(places: Any) -> Any:
            monkeypatch.undo()
            forget(other, other.find(gone))
            return fetch(places)

        monkeypatch.setattr(search.library, "docs_at", forget_and_fetch)
        current = (place.index / "current").read_text()
        # What has to be looked up in the texts.
        talks = search.find("/quokka[a-z]+/", ALL).talks
        assert (place.index / "current").read_text() == current
    assert {t.conversation.id for t in talks} == chosen - {gone}


def test_prompts_of_the_history_are_not_found_twice_while_everything_is_interpreted_anew(
    living: Place,
) -> None:
    session = living.transcripts()[6]
    append_turn(session, "wolpertinger")
    line = {"display": "wolpertinger", "pastedContents": {}, "timestamp": 1_790_000_000_000}
    line |= {"project": "/home/dev/work/api-server", "sessionId": session.stem}
    (living.home / ".claude" / "history.jsonl").write_text(json.dumps(line) + "\n")
    living.take_in()
    with opened(living) as archive:
        archive.mark_stale()
    with searching(living) as search:
        (talk,) = search.find("wolpertinger", ALL).talks
    assert len(talk.hits) == 1 and talk.conversation.nature == "conversation"


def test_prompts_of_the_history_are_not_found_twice_before_they_are_interpreted(
    living: Place, expected: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = living.transcripts()[6]
    append_turn(session, "wolpertinger")
    living.take_in()
    line = {"display": "wolpertinger", "pastedContents": {}, "timestamp": 1_790_000_000_000}
    line |= {"project": "/home/dev/work/api-server", "sessionId": session.stem}
    (living.home / ".claude" / "history.jsonl").write_text(json.dumps(line) + "\n")
    _without_interpreting(living, monkeypatch)
    assert len(found(living, "wolpertinger")) == 1


# ── several processes ──

HOLD = """
import sys
from pathlib import Path
from tests.support.searching import Place, opened
from rireki.search.index.index import make
from rireki.search.index.writer import IndexWriter
with opened(Place(Path(sys.argv[1]))) as archive:
    index = make(archive, anew=sys.argv[2] == "anew")
    writer = IndexWriter(index, archive)
    print("writing", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("much", [True, False], ids=["much", "little"])
def test_while_another_process_writes_searches_answer_and_tell_if_it_takes_longer(
    living: Place, expected: Answers, much: bool
) -> None:
    process = start(HOLD, living.folder, "anew" if much else "")
    heard(process, "writing")
    append_turn(living.transcripts()[0], "wolpertinger")
    living.take_in()
    with searching(living) as search:
        results = search.find("quokkaflux", ALL)
        assert messages(results) == expected["quokkaflux"]
        assert bool(results.scope.slower) == much
        assert results.scope.direct == (search.archive.count() if much else 1)
        assert len(messages(search.find("wolpertinger", ALL))) == 1
    assert end(process) == 0
    assert len(found(living, "wolpertinger")) == 1


GROW = """
import sys, time
from pathlib import Path
from tests.support.searching import Place, append_turn
from rireki.search.index.update import catch_up, rebuild
place = Place(Path(sys.argv[1]))
transcripts = place.transcripts()
until = time.monotonic() + float(sys.argv[2])
step = 0
print("growing", flush=True)
while time.monotonic() < until:
    step += 1
    append_turn(transcripts[step % 5], f"wolpertinger step{step}")
    place.take_in()
    archive = place.archive()
    if step % 3 == 0:
        catch_up(archive)
    if step % 17 == 0:
        rebuild(archive)
    archive.close()
print(step, flush=True)
"""


def _committed(archive: Archive, since: int, until: int) -> int:
    """How many turns the archive took in between two of its numbers: each is a state."""
    count: int = (
        sql_of(archive)
        .execute("SELECT count(*) FROM state WHERE number > ? AND number <= ?", (since, until))
        .get
    )
    return count


def test_every_answer_has_what_was_committed_before_it_was_asked(
    living: Place, pytestconfig: pytest.Config
) -> None:
    seconds = 10.0 if pytestconfig.getoption("campaign") else 3.0
    with opened(living) as archive:
        first = archive.number()
        warm = Search(archive)
        process = start(GROW, living.folder, seconds)
        heard(process, "growing")
        asked = 0
        while process.poll() is None:
            asked += 1
            number = archive.number()
            # In turns one that has been open all the time, and one that opens the index anew.
            search = warm if asked % 2 else Search(archive)
            got = messages(search.find("wolpertinger", ALL))
            assert len(got) >= _committed(archive, first, number)
            if search is not warm:
                search.close()
        assert process.stdout is not None
        steps = int(process.stdout.readline())
        assert end(process) == 0
        assert steps > 5 and asked > 20
        assert len(messages(warm.find("wolpertinger", ALL))) == steps
        assert _committed(archive, first, archive.number()) == steps
        warm.close()


# ── kills ──

MAKE = """
import sys
from pathlib import Path
from tests.support.searching import Place, opened
from rireki.search.index.update import catch_up, rebuild
with opened(Place(Path(sys.argv[1]))) as archive:
    print("making", flush=True)
    rebuild(archive) if sys.argv[2] == "rebuild" else catch_up(archive)
"""


@pytest.mark.parametrize("way", ["catch up", "rebuild"])
def test_a_killed_writer_changes_no_answer(place: Place, expected: Answers, way: str) -> None:
    chance = random.Random(way)
    for _ in range(5 if way == "rebuild" else 3):
        if way == "catch up":
            shutil.rmtree(place.index)
        process = start(MAKE, place.folder, way)
        heard(process, "making")
        time.sleep(chance.uniform(0, 0.1))
        kill(process)
        assert answers(place, QUERIES[:3]) == {query: expected[query] for query in QUERIES[:3]}
    assert answers(place) == expected
    assert troubles(place) == []
