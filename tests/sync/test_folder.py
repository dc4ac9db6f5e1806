"""A folder as a remote: what others do to it, what is forgotten, and what was put back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyrage  # type: ignore[import-untyped]
import pytest

from rireki.archive.base import Archive
from rireki.archive.forgetting import forget, remember
from rireki.archive.open import open_archive
from rireki.errors import RirekiError
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from rireki.sync import folder as folders
from rireki.sync import link, log
from rireki.sync.cipher import given_key, new_key
from rireki.sync.link import RemoteLink
from rireki.sync.machine import Machine
from rireki.sync.remotes import Remote
from rireki.sync.sender import Transferred
from tests.archive.contract import add, project, reading, update
from tests.support.homes import lay_out
from tests.support.pushing import told, understand
from tests.support.syncing import DESKTOP, LAPTOP

HISTORY = "@history"


@pytest.fixture
def drive(tmp_path: Path) -> Remote:
    url, key = str(tmp_path / "drive"), new_key()
    assert folders.ensure_folder(url, key) and not folders.ensure_folder(url, key)
    return Remote(name="drive", url=url, kind="own", key=key)


@pytest.fixture(autouse=True)
def machines(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Who we are is said by each call."""
    monkeypatch.setattr(link, "this_machine", lambda: LAPTOP)
    monkeypatch.setattr("rireki.sync.sender.LIMIT", 5000)
    yield


def on(archive: Archive, remote: Remote, machine: Machine) -> RemoteLink:
    found = RemoteLink(archive, remote)
    found.machine = machine
    return found


def push(archive: Archive, remote: Remote, machine: Machine = LAPTOP) -> Transferred:
    return on(archive, remote, machine).push()


def pull(archive: Archive, remote: Remote, machine: Machine = DESKTOP) -> Transferred:
    done = on(archive, remote, machine).pull()
    understand(archive)
    return done


def stories(archive: Archive, conversation: str = "one") -> list[bytes]:
    return [strand.document() for strand in archive.strands("pad", conversation)]


def plain(remote: Remote) -> bytes:
    """Everything in the folder, opened as any age program would."""
    identity = pyrage.x25519.Identity.from_str(remote.key)
    files = [path for path in Path(remote.url).rglob("*") if path.is_file()]
    return b"".join(_unpacked(pyrage.decrypt(path.read_bytes(), [identity])) for path in files)


def _unpacked(held: bytes) -> bytes:
    from rireki.archive.pack import unpack
    from rireki.sync.wire import PushBatch, decode, decode_batch, encode

    if held.startswith(b"rireki"):
        return held
    told = b""
    for body in decode(held, log.LoggedBatches).bodies:
        batch = decode_batch(body)
        assert isinstance(batch, PushBatch)
        told += encode(batch)
        for part in batch.delta.parts:
            for chunk in part.chunks:
                told += b"".join(unpack(chunk.data, chunk.size, chunk.lengths, ""))
    return told


def test_logs_grow_by_batches_in_few_files(archive: Archive, other: Archive, drive: Remote) -> None:
    text = b""
    for cursor in range(1, 40):
        line = b"line %d\n" % cursor
        add(archive, update(line, cursor=cursor), before=cursor - 1 or None)
        text += line
        assert push(archive, drive).batches == 1
        if cursor % 7 == 0:
            assert pull(other, drive).batches == 7
    assert push(archive, drive).batches == 0
    assert pull(other, drive).batches == 39 % 7
    assert pull(other, drive).batches == 0
    assert stories(other) == [text]
    assert len(list(Path(drive.url).rglob("*-*.age"))) == 1


def test_a_lost_note_of_what_the_log_holds_is_read_out_of_it(
    archive: Archive, other: Archive, drive: Remote, home: Path, tmp_path: Path
) -> None:
    lay_out("claude-code-2.0.76", home)
    import_history(archive, places=Places.at(home))
    push(archive, drive)
    shutil.rmtree(archive.home.sync)
    add(archive, update(b"more\n"))
    assert push(archive, drive).batches == 1
    pull(other, drive)
    understand(archive)
    assert told(other, tmp_path / "there") == told(archive, tmp_path / "here")


def test_what_is_forgotten_is_in_no_file_any_more(
    archive: Archive, other: Archive, drive: Remote
) -> None:
    shared = {"conversation": HISTORY, "key": "history"}
    add(archive, update(b"a secret\n", cursor=1))
    add(archive, update(b'{"one": "a secret prompt"}\n', b'{"two": "kept"}\n', **shared))
    add(archive, update(b"kept\n", conversation="two", key="two"))
    push(archive, drive)
    pull(other, drive)
    assert b"secret" in plain(drive) and stories(other) == [b"a secret\n"]
    project(archive, one=[reading("pad/one")])
    forget(archive, [archive.find("pad/one")])
    add(archive, update(b"later\n", conversation="three", key="three"))
    push(archive, drive)
    assert b"secret" not in plain(drive) and b"kept" in plain(drive)
    pull(other, drive)
    assert stories(other) == [] and stories(other, "three") == [b"later\n"]
    # Somebody who comes late gets the rest.
    with closing(open_archive(other.home.folder / "third.sqlite3", create=True)) as third:
        pull(third, drive, Machine("cc" * 8, "third"))
        assert (stories(third), stories(third, "two")) == ([], [b"kept\n"])
    remember(archive, "one")
    add(archive, update(b"again\n", cursor=3))
    push(archive, drive)
    pull(other, drive)
    assert stories(other) == [b"again\n"] and stories(other, "two") == [b"kept\n"]


def test_what_another_machine_forgets_leaves_this_ones_log(
    archive: Archive, other: Archive, drive: Remote
) -> None:
    add(archive, update(b"a secret\n"))
    shared = {"conversation": HISTORY, "key": "history"}
    add(archive, update(b'{"one": "a secret prompt"}\n', **shared))
    push(archive, drive)
    pull(other, drive)
    project(other, one=[reading("pad/one")])
    forget(other, [other.find("pad/one")])
    push(other, drive, DESKTOP)
    pull(archive, drive, LAPTOP)
    assert stories(archive) == []
    push(archive, drive)
    assert b"secret" not in plain(drive)
    # What was forgotten here goes on elsewhere: it stays forgotten, and the rest is taken.
    add(archive, update(b"kept\n", conversation="two", key="two"))
    push(archive, drive)
    pull(other, drive)
    assert stories(other) == [] and stories(other, "two") == [b"kept\n"]


def test_a_strand_that_was_forgotten_here_and_goes_on_there_stays_away(
    archive: Archive, other: Archive, drive: Remote
) -> None:
    add(archive, update(b"a\n"))
    push(archive, drive)
    pull(other, drive)
    project(other, one=[reading("pad/one")])
    forget(other, [other.find("pad/one")])
    add(archive, update(b"b\n", cursor=2), before=1)
    add(archive, update(b"kept\n", conversation="two", key="two"))
    push(archive, drive)
    pull(other, drive)
    assert stories(other) == [] and stories(other, "two") == [b"kept\n"]
    # Until it is remembered: then all of it is taken from the log again.
    remember(other, "one")
    pull(other, drive)
    assert stories(other) == [b"a\nb\n"] and stories(other, "two") == [b"kept\n"]


def test_an_archive_that_was_put_back_gets_its_own_lost_history_back(
    archive: Archive, other: Archive, drive: Remote, tmp_path: Path
) -> None:
    add(archive, update(b"a\n"))
    push(archive, drive)
    archive.settle()
    shutil.copytree(archive.home.folder, tmp_path / "copy")
    add(archive, update(b"b, lost here\n", cursor=2), before=1)
    push(archive, drive)
    with closing(open_archive(tmp_path / "copy" / "archive.sqlite3")) as back:
        add(back, update(b"c\n", cursor=3), before=1)
        assert push(back, drive).put_back == 1
        pull(back, drive, LAPTOP)
        assert sorted(stories(back)) == [b"a\nb, lost here\n", b"a\nc\n"]
        pull(other, drive)
        assert sorted(stories(other)) == [b"a\nb, lost here\n", b"a\nc\n"]
        assert push(back, drive).batches == pull(back, drive, LAPTOP).batches == 0


def test_a_drive_that_was_put_back_is_told_again(
    archive: Archive, other: Archive, drive: Remote, tmp_path: Path
) -> None:
    add(archive, update(b"a\n"))
    push(archive, drive)
    shutil.copytree(drive.url, tmp_path / "older")
    for cursor in (2, 3):
        add(archive, update(b"more\n", cursor=cursor), before=cursor - 1)
        push(archive, drive)
    pull(other, drive)
    shutil.rmtree(drive.url)
    shutil.copytree(tmp_path / "older", drive.url)
    add(archive, update(b"end\n", cursor=4), before=3)
    assert push(archive, drive).put_back == 0
    pull(other, drive)
    assert stories(other) == [b"a\nmore\nmore\nend\n"]
    with closing(open_archive(tmp_path / "third.sqlite3", create=True)) as third:
        pull(third, drive)
        assert stories(third) == stories(other)


# ── others' hands ──


@pytest.fixture
def several(archive: Archive, drive: Remote, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Files of one batch each."""
    monkeypatch.setattr(log, "FULL", 1)
    for cursor in range(1, 6):
        add(archive, update(b"%d\n" % cursor, cursor=cursor), before=cursor - 1 or None)
        push(archive, drive)
    files = sorted(Path(drive.url).rglob("*-*.age"))
    assert len(files) == 5
    return files


def test_files_that_a_drive_has_not_brought_yet_are_waited_for(
    several: list[Path], other: Archive, drive: Remote
) -> None:
    late = several[2].read_bytes()
    several[2].unlink()
    done = pull(other, drive)
    assert (done.batches, done.missing) == (2, 1) and stories(other) == [b"1\n2\n"]
    several[2].write_bytes(late)
    done = pull(other, drive)
    assert (done.batches, done.missing) == (3, 0) and stories(other) == [b"1\n2\n3\n4\n5\n"]


@pytest.mark.parametrize("what", ["cut", "changed", "renamed", "swapped", "foreign", "copied"])
def test_files_that_somebody_changed_are_not_taken(
    what: str, several: list[Path], other: Archive, drive: Remote
) -> None:
    victim, data = several[1], several[1].read_bytes()
    if what == "cut":
        victim.write_bytes(data[:-9])
    elif what == "changed":
        victim.write_bytes(data[:-20] + b"?" + data[-19:])
    elif what == "renamed":
        several[3].replace(victim)
    elif what == "swapped":
        victim.write_bytes(several[2].read_bytes())
    elif what == "foreign":
        stranger = pyrage.x25519.Identity.generate().to_public()
        victim.write_bytes(pyrage.encrypt(b"hello", [stranger]))
    elif what == "copied":
        shutil.copytree(victim.parent, victim.parent.with_name("f" * 32))
    with pytest.raises(RirekiError) as raised:
        pull(other, drive)
    assert raised.value.code == "folder-not-opened"
    assert stories(other) in ([b"1\n"], [b"1\n2\n3\n4\n5\n"])


def test_what_else_lies_in_the_folder_is_left_alone(
    several: list[Path], other: Archive, drive: Remote
) -> None:
    (Path(drive.url) / "holiday.jpg").write_bytes(b"?")
    (Path(drive.url) / ("a" * 32)).write_bytes(b"?")
    (several[0].parent / "0000000001-0000000002.age.conflict").write_bytes(b"?")
    (Path(drive.url) / "desktop.ini").write_bytes(b"?")
    assert pull(other, drive).batches == 5


def test_a_merge_that_was_cut_short_does_no_harm(
    archive: Archive, other: Archive, drive: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(archive, update(b"a\n"))
    push(archive, drive)
    with monkeypatch.context() as patched:
        patched.setattr("rireki.sync.storage.LocalStorage.remove", lambda self, name: None)
        add(archive, update(b"b\n", cursor=2), before=1)
        push(archive, drive)
    assert len(list(Path(drive.url).rglob("*-*.age"))) == 2
    assert pull(other, drive).batches == 2
    add(archive, update(b"c\n", cursor=3), before=2)
    push(archive, drive)
    pull(other, drive)
    assert stories(other) == [b"a\nb\nc\n"]


def test_a_disk_that_is_not_there_is_said_and_nothing_is_made_in_its_place(
    archive: Archive, drive: Remote
) -> None:
    add(archive, update(b"a\n"))
    shutil.rmtree(drive.url)
    for ask in (push, pull):
        with pytest.raises(RirekiError, match="is not there"):
            ask(archive, drive)
    assert not Path(drive.url).exists()
    with pytest.raises(RirekiError) as raised:
        folders.ensure_folder(__file__, drive.key)
    assert raised.value.code == "folder-not-reached"


def test_keys(drive: Remote, tmp_path: Path) -> None:
    with pytest.raises(RirekiError) as raised:
        folders.ensure_folder(drive.url, new_key())
    assert raised.value.code == "folder-not-opened"
    file = tmp_path / "key"
    file.write_text(f"# created by somebody\n{drive.key}\n")
    assert given_key(str(file)) == given_key(drive.key) == drive.key
    for bad, code in [
        ("AGE-SECRET-KEY-1NO", "key-unusable"),
        (__file__, "key-unusable"),
        ("/no/such/file", "folder-key-unreadable"),
        (str(tmp_path), "folder-key-unreadable"),
        ("\0", "folder-key-unreadable"),
    ]:
        with pytest.raises(RirekiError) as raised:
            given_key(bad)
        assert raised.value.code == code
        assert "NO" not in raised.value.message


@pytest.mark.parametrize("gone", [0, 2, 4])
def test_what_somebody_deleted_is_told_again(
    gone: int, several: list[Path], archive: Archive, other: Archive, drive: Remote
) -> None:
    several[gone].unlink()
    add(archive, update(b"6\n", cursor=6), before=5)
    push(archive, drive)
    assert pull(other, drive).missing == 0 and stories(other) == stories(archive)
    assert push(archive, drive).batches == 0


def test_a_file_that_was_slipped_in_behind_the_others_is_no_part_of_the_log(
    several: list[Path], archive: Archive, other: Archive, drive: Remote
) -> None:
    several[4].with_name("0000009999-0000009999.age").write_bytes(several[4].read_bytes())
    add(archive, update(b"6\n", cursor=6), before=5)
    push(archive, drive)
    assert pull(other, drive).missing == 0 and stories(other) == stories(archive)


def test_nothing_is_put_together_with_another_ones_file(
    archive: Archive, other: Archive, drive: Remote
) -> None:
    add(archive, update(b"a\n"))
    push(archive, drive)
    (mine,) = Path(drive.url).rglob("*-*.age")
    add(other, update(b"b\n"))
    push(other, drive, DESKTOP)
    (theirs,) = set(Path(drive.url).rglob("*-*.age")) - {mine}
    mine.write_bytes(theirs.read_bytes())
    add(archive, update(b"c\n", cursor=2), before=1)
    with pytest.raises(RirekiError) as raised:
        push(archive, drive)
    assert raised.value.code == "folder-not-opened" and mine.name in raised.value.message
    # As the hint says.
    mine.unlink()
    push(archive, drive)
    with closing(open_archive(Path(drive.url).parent / "third.sqlite3", create=True)) as third:
        pull(third, drive)
        assert sorted(stories(third)) == [b"a\nc\n", b"b\n"]


def test_one_log_that_is_damaged_keeps_no_other_away(
    several: list[Path], archive: Archive, drive: Remote, tmp_path: Path
) -> None:
    for name in "0" * 32, "f" * 32:
        shutil.copytree(several[0].parent, several[0].parent.with_name(name))
    with closing(open_archive(tmp_path / "third.sqlite3", create=True)) as third:
        with pytest.raises(RirekiError, match="cannot be opened"):
            pull(third, drive)
        understand(third)
        assert stories(third) == stories(archive)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders here")
@pytest.mark.parametrize("what", ["pipe", "folder", "huge"])
def test_what_is_no_file_is_not_waited_for(
    what: str, several: list[Path], other: Archive, drive: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = several[1]
    if what == "huge":
        monkeypatch.setattr("rireki.sync.storage.LARGEST", 4 << 20)
        with victim.open("ab") as file:
            file.truncate(5 << 20)
    else:
        victim.unlink()
        os.mkfifo(victim) if what == "pipe" else victim.mkdir()
    with pytest.raises(RirekiError) as raised:
        pull(other, drive)
    assert raised.value.code == "folder-not-opened" and victim.name in raised.value.message
