"""Faults of the machine, each once as a story: no locks, no watches, a clock that goes backwards."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.intake.restore import restore
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.live.keeper_work import EAGER
from rireki.sources.kit.places import Places
from tests.support.homes import lay_out

linux = pytest.mark.skipif(sys.platform != "linux", reason="made with what Linux has")

#: Answers every wish for a lock with the error that a file system without locks gives.
NO_LOCKS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
static int refused(void) { errno = atoi(getenv("NO_LOCKS")); return -1; }
#define SHIM(name) int name(int file, int command, ...) { \
    va_list list; va_start(list, command); void *value = va_arg(list, void *); va_end(list); \
    if (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK) return refused(); \
    int (*real)(int, int, ...) = dlsym(RTLD_NEXT, #name); return real(file, command, value); }
SHIM(fcntl)
SHIM(fcntl64)
int flock(int file, int operation) { return refused(); }
"""


@pytest.fixture(scope="module")
def no_locks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(NO_LOCKS)
    shim = folder / "shim.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", shim, folder / "shim.c", "-ldl"], check=True
    )
    return shim


def rireki(
    *words: str, shim: Path | None = None, error: int = 0
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_LOCKS": str(error)}
    if shim is not None:
        environment["LD_PRELOAD"] = str(shim)
    return subprocess.run(
        [sys.executable, "-m", "rireki", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@linux
@pytest.mark.parametrize(
    "error", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP], ids=["ENOLCK", "ENOSYS", "EOPNOTSUPP"]
)
def test_a_file_system_without_locks_is_told_in_two_lines(
    no_locks: Path, home: Path, tmp_path: Path, error: int
) -> None:
    lay_out("rireki", home)
    archive = tmp_path / "archive" / "archive.sqlite3"
    base = ("--archive", str(archive))
    for existing in (False, True):
        commands: list[tuple[str, ...]] = [("import", "--home", str(home), "--no-index")]
        if existing:
            assert rireki(*base, *commands[0]).returncode == 0
            # SQLite takes the first error for somebody else's lock, and waits for it each time.
            reading = [("list",), ("search", "weather"), ("show", "weather"), ("verify",)]
            commands = reading[:1] if error == errno.ENOLCK else [*commands, *reading]
        for words in commands:
            done = rireki(*base, *words, shim=no_locks, error=error)
            assert done.returncode == 1, (words, done.stdout)
            lines = done.stderr.strip().splitlines()
            assert "Traceback" not in done.stderr and len(lines) == 2, (words, done.stderr)
            assert "without locks" in lines[0] and "--archive" in lines[1]
        assert rireki(*base, "import", "--home", str(home), "--no-index").returncode == 0


@linux
def test_no_inotify_watches_left_is_told_once_and_swept_instead(home: Path, tmp_path: Path) -> None:
    """The kernel itself says so: in a namespace of its own, a user may have three watches."""
    probe = "echo 3 > /proc/sys/user/max_inotify_watches"
    if subprocess.run(["unshare", "-Ur", "sh", "-c", probe], check=False).returncode:
        pytest.skip("namespaces cannot be made here")
    projects = home / ".claude" / "projects"
    for number in range(12):
        (projects / f"-p{number}").mkdir(parents=True)
    archive = tmp_path / "archive.sqlite3"
    command = f'{probe}; exec "$@"'
    words = ["--archive", str(archive), "watch", "--home", str(home)]
    watch = subprocess.Popen(
        ["unshare", "-Ur", "sh", "-c", command, "sh", sys.executable, "-m", "rireki", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert watch.stdout is not None
        said = ""
        while "sysctl" not in said:
            said += (heard := watch.stdout.readline())
            assert heard, said
        line = {
            "type": "user",
            "uuid": "u1",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "message": {"role": "user", "content": "swept up"},
        }
        (projects / "-p7" / "talk.jsonl").write_text(json.dumps(line) + "\n")
        found, deadline = "", time.monotonic() + 60
        while "swept up" not in found and time.monotonic() < deadline:
            found = rireki("--archive", str(archive), "list").stdout
        assert "swept up" in found
        # Until it was swept once more.
        time.sleep(EAGER + 0.5)
    finally:
        watch.send_signal(signal.SIGINT)
        said += watch.communicate(timeout=30)[0]
    assert said.count("cannot be heard of") == 1, said
    assert "sysctl" in said and "Traceback" not in said


def test_the_clock_goes_backwards(archive: Archive, home: Path, tmp_path: Path) -> None:
    """Versions stay in the order in which they were seen, and none is dated before the last."""
    lay_out("rireki", home)
    file = home / ".local" / "share" / "rireki" / "histories" / "weather.jsonl"
    versions = [file.read_bytes()]
    times = ["2026-05-05T12:00:00.000Z", "2026-05-05T11:00:00.000Z", "2025-01-01T00:00:00.000Z"]
    for number, at in enumerate([*times, "2026-05-06T00:00:00.000Z"]):
        archive.clock = lambda at=at: at  # type: ignore[misc]
        if number:
            note = {"v": 1, "id": f"x{number}", "parent": None, "seq": 90 + number, "at": at}
            note |= {"kind": "user", "raw": {"role": "user", "content": f"later {number}"}}
            with file.open("a") as more:
                more.write(json.dumps(note) + "\n")
            os.utime(file, (1, 1))
            versions.append(file.read_bytes())
        import_history(archive, places=Places.at(home))
    (strand,) = archive.strands("rireki", "weather")
    assert strand.document() == versions[-1]
    dates = [state.at for state in strand.states]
    assert dates == sorted(dates), "no version is dated before the one it followed"
    found = archive.find("weather")
    (path,) = restore(archive, found, tmp_path / "then", "2026-05-05T12:00:00.000Z")
    assert path.read_bytes() == versions[2], "all that was seen while the clock said no later"
    assert strand.first_seen <= strand.last_seen
    file.unlink()
    archive.clock = lambda: "2024-01-01T00:00:00.000Z"
    import_history(archive, places=Places.at(home))
    (strand,) = archive.strands("rireki", "weather")
    assert not strand.present and strand.document() == versions[-1]
    assert archive.strands("rireki", "weather", "2026-05-05T23:00:00.000Z"), "it was there then"
    assert verify(archive) == []
