"""Disks that are full while something is pushed: it is said, what was acknowledged stays, and the next
push goes on."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from rireki.archive.open import open_archive
from rireki.errors import RirekiError
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from tests.support.machines import Laptop
from tests.support.postgres import PostgresServer
from tests.support.pushing import told, understand
from tests.support.small_disk import small_disk
from tests.support.syncing import served
from tests.support.two_people import write_session
from tests.team.conftest import office_at, opened, rule
from tests.web.conftest import until

#: Conversations, and letters in each that nothing makes much smaller.
SESSIONS, LETTERS = 16, 1 << 20


def large_history(home: Path) -> list[str]:
    """Returns the ids."""
    ids = [f"{number:08d}-0000-4000-8000-000000000001" for number in range(SESSIONS)]
    for id in ids:
        file = write_session(home, id, f"/home/ann/p{id[:8]}", "quokkaflux")
        line = json.loads(file.read_text().splitlines()[0])
        line["message"]["content"] = os.urandom(LETTERS // 2).hex()
        line |= {"uuid": f"large-{id}", "timestamp": "2026-01-01T00:00:09Z"}
        with file.open("a") as more:
            more.write(json.dumps(line) + "\n")
    return ids


@pytest.fixture
def laptop(tmp_path: Path) -> Path:
    large_history(tmp_path / "home")
    path = tmp_path / "laptop.sqlite3"
    with closing(open_archive(path, create=True)) as archive:
        import_history(archive, places=Places.at(tmp_path / "home"))
    return path


def test_a_full_disk_of_the_database_is_said_and_what_was_taken_stays(
    postgres: PostgresServer, laptop: Path, tmp_path: Path
) -> None:
    place = postgres.folder / "small"
    with small_disk(place, 64) as resize:
        postgres.execute(f"CREATE TABLESPACE small LOCATION '{place}'")
        postgres.execute("CREATE DATABASE small TABLESPACE small")
        try:
            with (
                office_at(tmp_path, postgres, postgres.address("small")) as office,
                opened(laptop) as archive,
            ):
                resize((shutil.disk_usage(place).used >> 20) + 5)
                with pytest.raises(RirekiError, match=r"the disk of .* is full"):
                    office.push(archive, [rule("/")])
                with office.team.archive(1) as there:
                    taken = [each.reached for each in there.streams()]
                    assert taken and taken[0] > 0 and there.check() == []
                # What is there can be read meanwhile.
                assert office.get("bob", "/api/v1/conversations").status_code == 200
                resize(256)
                office.push(archive, [rule("/")])
                assert len(office.ids("bob")) == SESSIONS
                with office.team.archive(1) as there:
                    assert told(there, tmp_path / "there") == told(archive, tmp_path / "here")
        finally:
            postgres.execute("DROP DATABASE small WITH (FORCE)")
            postgres.execute("DROP TABLESPACE small")


def test_a_full_disk_of_the_server_delays_finding_and_loses_nothing(
    postgres: PostgresServer, laptop: Path, tmp_path: Path
) -> None:
    with (
        small_disk(tmp_path / "server", 1) as resize,
        office_at(tmp_path, postgres) as office,
        opened(laptop) as archive,
    ):
        # All of it is acknowledged; it cannot be put into an index.
        office.send(archive, [rule("/")])
        until(lambda: len(office.ids("bob")) == SESSIONS)
        keeper = office.server.keeper
        assert keeper.indexed.get(1) != keeper.shelves.rows.numbers()[1]
        resize(256)
        office.settled()
        found = office.get("bob", "/api/v1/search?q=quokkaflux&limit=100").json()
        assert len(found["talks"]) == SESSIONS


def test_a_full_disk_of_the_laptop_is_said_and_the_next_push_goes_on(
    tmp_path: Path,
) -> None:
    with small_disk(tmp_path / "laptop", 64):
        laptop = Laptop(tmp_path, "laptop")
        large_history(laptop.home)
        laptop.take_in()
        other = tmp_path / "other.sqlite3"
        open_archive(other, create=True).close()
        with served(other) as url:
            laptop.rireki("remote", "add", "other", url, "--token", "secret-device", "--own")
            filler = tmp_path / "laptop" / "filler"
            with pytest.raises(OSError, match="No space"), filler.open("wb", 0) as file:
                while True:
                    file.write(bytes(4096))
            said = laptop.rireki("push", code=1)
            assert "full" in said and "Traceback" not in said
            filler.unlink()
            laptop.rireki("push")
        with laptop.opened() as archive, closing(open_archive(other)) as there:
            understand(there)
            assert told(there, tmp_path / "there") == told(archive, tmp_path / "here")
