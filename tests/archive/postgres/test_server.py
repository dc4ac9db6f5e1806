"""The servers that tests start: theirs alone, and gone with them."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from tests.support.postgres import PostgresServer, engines, running

#: Starts a server, tells where, and is killed while it waits.
OWNER = """
from tests.support.postgres import running
with running() as server:
    print(server.folder, flush=True)
    input()
"""


@pytest.mark.parametrize("version", engines())
def test_a_stopped_server_has_what_was_committed_when_it_is_back(version: int) -> None:
    with running(version, durable=True) as server:
        assert server.execute("SHOW server_version")[0][0].startswith(f"{version}.")
        server.execute("CREATE TABLE kept AS SELECT 7 AS seven")
        server.stop("immediate")
        with pytest.raises(psycopg.OperationalError):
            server.execute("SELECT 1")
        server.start()
        assert server.execute("SELECT seven FROM kept") == [(7,)]
    assert not server.folder.exists()


def test_a_copy_of_a_template_is_nobody_elses(postgres: PostgresServer) -> None:
    def prepare(address: str) -> None:
        with psycopg.connect(address) as connection:
            connection.execute("CREATE TABLE made (once int)")

    first, second = (postgres.database("template_of_one_table", prepare) for _ in range(2))
    with psycopg.connect(first) as connection:
        connection.execute("INSERT INTO made VALUES (1)")
    with psycopg.connect(second) as connection:
        assert connection.execute("SELECT count(*) FROM made").fetchall() == [(0,)]


def test_a_server_ends_with_whoever_started_it() -> None:
    command = [sys.executable, "-c", OWNER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        folder = Path(owner.stdout.readline().strip())
        assert (folder / "data").exists()
        owner.kill()
    deadline = time.monotonic() + 30
    while folder.exists():
        assert time.monotonic() < deadline, "it runs on"
        time.sleep(0.02)
