"""The power is cut between journal and archive: writes that were not synced are lost, or torn."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive, Filter
from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.sources.kit.places import Places
from tests.conftest import Clock

SECTOR = 512

#: Imports a home that grows, and notes every write of the archive's files in the order they came.
RECORDER = """
import pickle, sys
from pathlib import Path
import apsw

target, home, folder = map(Path, sys.argv[1:4])
operations = []
BASE = apsw.vfs_names()[0]

class File(apsw.VFSFile):
    def __init__(self, name, flags):
        self.name = Path(name.filename() if hasattr(name, "filename") else name).name
        super().__init__(BASE, name, flags)
    def xWrite(self, data, offset):
        operations.append(("write", self.name, offset, bytes(data)))
        return super().xWrite(data, offset)
    def xTruncate(self, size):
        operations.append(("truncate", self.name, size))
        return super().xTruncate(size)
    def xSync(self, flags):
        answer = super().xSync(flags)
        operations.append(("sync", self.name))
        return answer

class Traced(apsw.VFS):
    def __init__(self):
        super().__init__("traced", BASE, makedefault=True)
    def xOpen(self, name, flags):
        return File(name, flags)
    def xDelete(self, name, sync):
        operations.append(("delete", Path(name).name, bool(sync)))
        return super().xDelete(name, sync)

vfs = Traced()
from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from tests.stress.test_power_cut import grow

for step in range(6):
    grow(home, step)
    archive = open_archive(folder / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(home))
    archive.settle()
    operations.append(("durable", step))
    if step % 2:
        archive.close()
target.write_bytes(pickle.dumps(operations))
"""


def grow(home: Path, step: int) -> None:
    """Journals of our own, each a few entries longer."""
    folder = home / ".local" / "share" / "rireki" / "histories"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(4):
        with (folder / f"talk{number}.jsonl").open("a") as file:
            for n in range(10):
                text = f"{step}.{n} " + "x" * 500
                file.write(
                    f'{{"v":1,"id":"{step}-{n}","parent":null,"seq":{step * 10 + n},'
                    f'"at":"2026-01-01T00:00:00.000Z","kind":"user",'
                    f'"raw":{{"role":"user","content":"{text}"}}}}\n'
                )


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    folder = tmp_path_factory.mktemp("recorded")
    home, target = folder / "home", folder / "operations"
    done = subprocess.run(
        [sys.executable, "-c", RECORDER, str(target), str(home), str(folder)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    operations = pickle.loads(target.read_bytes())
    assert sum(1 for each in operations if each[0] == "durable") == 6
    return home, operations


def after_the_cut(operations: list[Any], cut: int, chance: random.Random) -> dict[str, bytearray]:
    """The files as they may be: all that was synced, and of the rest any part, in any state."""
    synced: dict[str, int] = {}
    for number, each in enumerate(operations[:cut]):
        if each[0] == "sync":
            synced[each[1]] = number
    files: dict[str, bytearray] = {}
    for number, each in enumerate(operations[:cut]):
        kind, name, *values = each
        if kind in ("durable", "sync"):
            continue
        # What a file's folder says is synced with it, where SQLite asks for that.
        certain = values[0] if kind == "delete" else number < synced.get(name, -1)
        if not certain and chance.random() < 0.4:
            continue
        file = files.setdefault(name, bytearray())
        if kind == "delete":
            del files[name]
        elif kind == "truncate":
            del file[values[0] :]
        else:
            offset, data = values
            if not certain and chance.random() < 0.3:
                data = data[: chance.randrange(0, len(data) + 1, SECTOR)]
            if len(file) < offset:
                file.extend(bytes(offset - len(file)))
            file[offset : offset + len(data)] = data
    return files


def test_a_power_cut_costs_nothing_that_was_said_to_be_durable(
    recorded: tuple[Path, list[Any]], tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    home, operations = recorded
    cuts = 600 if pytestconfig.getoption("campaign") else 40
    chance = random.Random(16)
    for attempt in range(cuts):
        cut = chance.randrange(1, len(operations) + 1)
        folder = tmp_path / str(attempt)
        folder.mkdir()
        for name, data in after_the_cut(operations, cut, chance).items():
            if not name.endswith("-shm"):
                (folder / name).write_bytes(data)
        durable = [each[1] for each in operations[:cut] if each[0] == "durable"]
        _check(folder, home, max(durable, default=-1), f"cut {cut} of attempt {attempt}")


def _check(folder: Path, home: Path, durable: int, what: str) -> None:
    archive = open_archive(folder / "archive.sqlite3", create=True, clock=Clock())
    try:
        assert archive.check() == [], what
        assert verify(archive) == [], what
        for number in range(4) if durable >= 0 else ():
            (strand,) = archive.strands("rireki", f"talk{number}")
            assert strand.document().count(b"\n") >= 10 * (durable + 1), what
        import_history(archive, places=Places.at(home))
        assert verify(archive) == [], what
        for file in sorted((home / ".local" / "share" / "rireki" / "histories").iterdir()):
            (strand,) = archive.strands("rireki", file.stem)
            assert strand.document() == file.read_bytes(), what
        assert len(list(archive.conversations(Filter()))) == 4, what
    finally:
        archive.close()


def test_a_journal_that_lost_its_last_lines_after_they_were_archived(
    archive: Archive, home: Path
) -> None:
    """The archive was synced and the journal was not: what it lost is kept, and marked as gone."""
    for step in range(3):
        grow(home, step)
        import_history(archive, places=Places.at(home))
    chance = random.Random(17)
    for file in (home / ".local" / "share" / "rireki" / "histories").iterdir():
        data = file.read_bytes()
        # Torn in the middle of a line, the last block full of zeros, as some file systems leave it.
        cut = chance.randrange(len(data) // 2, len(data))
        file.write_bytes(data[:cut] + bytes(chance.choice([0, SECTOR])))
    import_history(archive, places=Places.at(home))
    grow(home, 3)
    import_history(archive, places=Places.at(home))
    for file in (home / ".local" / "share" / "rireki" / "histories").iterdir():
        (strand,) = archive.strands("rireki", file.stem)
        assert strand.document() == file.read_bytes()
        ever = b"".join(record.data for record in strand.story("lines"))
        assert all(b'"id":"%d-%d"' % (step, n) in ever for step in range(3) for n in range(10))
    assert verify(archive) == []
