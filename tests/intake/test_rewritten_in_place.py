"""A line is rewritten in place, by one of the same length, far from the end of its file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.intake.check import Checker
from rireki.intake.interpret import read_conversation
from rireki.intake.restore import restore
from rireki.intake.sweep import Report, import_history, sweep
from rireki.intake.verify import verify
from rireki.sources.kit import jsonl
from rireki.sources.kit.places import Places
from tests.intake.test_work import counting_opens
from tests.support.engine import sql_of

pytestmark = pytest.mark.usefixtures("plain_source")

NAME = "talk"


def note(number: int, text: str) -> bytes:
    return json.dumps({"id": f"m{number}", "who": "me", "text": text}).encode() + b"\n"


@pytest.fixture
def file(home: Path) -> Path:
    file = home / "notes" / f"{NAME}.jsonl"
    file.parent.mkdir()
    # Some 600 KB: ten chunks.
    file.write_bytes(b"".join(note(n, f"number {n:05} " + "x" * 200) for n in range(2500)))
    return file


def take_in(archive: Archive, home: Path, check: bool = False) -> Report:
    return import_history(archive, places=Places.at(home), check=check)


def rewrite(file: Path, number: int, text: str = "changed") -> None:
    old, new = f"number {number:05}".encode(), f"{text:>12}".encode()
    at = file.read_bytes().index(old)
    with file.open("r+b") as out:
        out.seek(at)
        out.write(new)


def append(file: Path, number: int) -> None:
    with file.open("ab") as out:
        out.write(note(number, f"number {number:05}"))


def kept(archive: Archive) -> bytes:
    (strand,) = archive.strands("plain", NAME)
    return strand.document()


@pytest.mark.parametrize("number", [0, 1, 1200, 2480])
def test_a_rewrite_of_equal_length_is_seen_and_the_old_line_is_kept(
    archive: Archive, home: Path, file: Path, tmp_path: Path, number: int
) -> None:
    before = file.read_bytes()
    take_in(archive, home)
    at = archive.clock()
    rewrite(file, number)
    assert file.stat().st_size == len(before)
    report = take_in(archive, home)
    assert report.sources[0].new_bytes < 300, "only the line itself is new"
    found = archive.find(NAME)
    (now,) = restore(archive, found, tmp_path / "now")
    (then,) = restore(archive, found, tmp_path / "then", at)
    assert now.read_bytes() == file.read_bytes()
    assert then.read_bytes() == before
    told = {str(m.parts): m.upstream for m in read_conversation(archive, found).messages()}
    assert [v for k, v in told.items() if f"number {number:05}" in k] == ["gone"]
    assert [v for k, v in told.items() if "changed" in k] == ["present"]
    assert verify(archive) == []
    take_in(archive, home)
    assert len(archive.strands("plain", NAME)[0].states) == 2


def test_a_file_that_was_only_touched_is_no_new_version(
    archive: Archive, home: Path, file: Path
) -> None:
    take_in(archive, home)
    os.utime(file, ns=(1, 1))
    take_in(archive, home)
    assert len(archive.strands("plain", NAME)[0].states) == 1
    with counting_opens(home) as opened:
        take_in(archive, home)
    assert [path for path in opened if Path(path).is_file()] == []


def test_a_file_put_in_its_place_is_compared_and_only_the_difference_kept(
    archive: Archive, home: Path, file: Path
) -> None:
    take_in(archive, home)
    copy = file.with_name("copy")
    copy.write_bytes(file.read_bytes())
    rewrite(copy, 1000)
    copy.replace(file)
    report = take_in(archive, home)
    assert kept(archive) == file.read_bytes()
    assert report.sources[0].new_bytes < 300


def test_a_rewrite_that_came_with_an_addition_is_found_by_the_keeper(
    archive: Archive, home: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_in(archive, home)
    rewrite(file, 700)
    append(file, 2500)
    # The one chunk that is compared is another one.
    monkeypatch.setattr(jsonl, "_is_sound", lambda *_: True)
    take_in(archive, home)
    assert kept(archive) != file.read_bytes()
    with counting_opens(home) as opened:
        take_in(archive, home)
    assert [path for path in opened if Path(path).is_file()] == [], "a plain import opens nothing"
    assert kept(archive) != file.read_bytes()
    checker = Checker(200 << 10)
    for _ in range(4):
        sweep(archive, Places.at(home), checker=checker)
        assert checker.bytes <= 200 << 10
    assert kept(archive) == file.read_bytes()
    assert verify(archive) == []


def test_a_rewrite_that_came_with_an_addition_is_found_by_a_look_at_one_chunk_in_the_end(
    archive: Archive, home: Path, file: Path
) -> None:
    take_in(archive, home)
    rewrite(file, 700)
    for number in range(2500, 2700):
        append(file, number)
        take_in(archive, home)
        if kept(archive) == file.read_bytes():
            break
    assert kept(archive) == file.read_bytes(), "one of ten chunks, two hundred times"


def test_a_check_compares_everything(archive: Archive, home: Path, file: Path) -> None:
    take_in(archive, home)
    (_strand,) = archive.strands("plain", NAME)
    rewrite(file, 700)
    # As if the stamp had not told: a clock that was set back, a disk image that was written to.
    status = file.stat()
    stamp = f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"
    sql_of(archive).execute("UPDATE origin SET stamp = ?", (stamp,))
    take_in(archive, home)
    assert kept(archive) != file.read_bytes()
    report = take_in(archive, home, check=True)
    assert report.sources[0].compared == 1
    assert kept(archive) == file.read_bytes()


def test_the_file_grows_while_it_is_compared(
    archive: Archive, home: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_in(archive, home)
    rewrite(file, 1000)
    original = jsonl._same

    def same(*values: object) -> int:
        found = original(*values)  # type: ignore[arg-type]
        append(file, 2500)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(jsonl, "_same", same)
        take_in(archive, home)
    take_in(archive, home)
    assert kept(archive) == file.read_bytes()
    assert verify(archive) == []


def test_a_cut_in_the_middle_keeps_what_stood_before_it(
    archive: Archive, home: Path, file: Path
) -> None:
    whole = file.read_bytes()
    take_in(archive, home)
    os.truncate(file, len(whole) // 2)
    report = take_in(archive, home)
    assert kept(archive) == file.read_bytes()
    assert report.sources[0].new_bytes == 0
    file.write_bytes(whole)
    take_in(archive, home)
    assert kept(archive) == whole


def test_those_that_waited_longest_are_compared_first(archive: Archive, home: Path) -> None:
    folder = home / "notes"
    folder.mkdir()
    for number in range(6):
        (folder / f"t{number}.jsonl").write_bytes(note(0, "x" * 40_000))
    take_in(archive, home)
    places = Places.at(home)
    compared: list[str] = []
    checker = Checker(50_000)

    def look(keeper: Checker) -> None:
        with counting_opens(home) as opened:
            sweep(archive, places, checker=keeper)
        compared.extend(Path(path).stem for path in opened if Path(path).is_file())

    look(checker)
    look(checker)
    # Another keeper goes on where the first one stopped.
    other = Checker(50_000)
    for _ in range(8):
        look(other)
    assert list(dict.fromkeys(compared)) == [f"t{n}" for n in range(6)]
    rest = len(compared)
    look(other)
    assert len(compared) == rest, "and then there is nothing more to compare for a day"
