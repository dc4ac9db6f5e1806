"""Every question is one that each version of PostgreSQL understands, and that a node of Citus answers
by itself. The cluster is named by RIREKI_TEST_CITUS, where there is one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import psycopg
import pytest

from rireki.archive.open import open_archive, open_store
from rireki.archive.postgres.store import TeamStore
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.sources.kit.places import Places
from tests.archive.contract import add, project, reading, update
from tests.archive.postgres.test_lint import ASKED, Overheard
from tests.support.homes import lay_out
from tests.support.postgres import engines, running
from tests.support.pushing import push, told

CITUS = os.environ.get("RIREKI_TEST_CITUS", "")
#: The newest runs all of the contract.
EARLIER = list(engines())[1:]
_owners = count(1_000_000)


@pytest.fixture(scope="module", params=EARLIER)
def earlier(request: pytest.FixtureRequest) -> Iterator[str]:
    with running(request.param) as server:
        yield server.database()


def asked() -> Iterator[tuple[str, dict[str, object]]]:
    overheard = Overheard()
    for asks in ASKED.values():
        for ask in asks:
            ask(overheard)
    for question, values in zip(overheard.questions, overheard.values, strict=True):
        assert isinstance(values, dict)
        yield question, values


def explained(address: str) -> Iterator[tuple[str, str]]:
    with psycopg.connect(address, autocommit=True) as connection:
        for question, values in asked():
            cursor = connection.execute(f"EXPLAIN {question}".encode(), values)
            yield question, "\n".join(line for (line,) in cursor)


def test_every_question_is_answered_by_an_index(store: TeamStore, database: str) -> None:
    plans = list(explained(f"{database}&options=-c%20enable_seqscan%3Doff"))
    assert len(plans) >= len(ASKED)
    assert [(q, plan) for q, plan in plans if "Seq Scan" in plan] == []


def test_an_earlier_version_keeps_what_it_is_told(
    earlier: str, home: Path, tmp_path: Path, clock: Callable[[], str]
) -> None:
    lay_out("amazon-q-1.12", home)
    with (
        closing(open_archive(tmp_path / "laptop.sqlite3", create=True, clock=clock)) as laptop,
        open_store(earlier, create=True, clock=clock) as team,
        closing(team.archive(1)) as target,
    ):
        assert len(list(explained(earlier))) >= len(ASKED)
        import_history(laptop, places=Places.at(home))
        push(laptop, target)
        assert told(target, tmp_path / "there") == told(laptop, tmp_path / "here")
        assert verify(target) == [] and target.check() == []


@pytest.mark.skipif(not CITUS, reason="RIREKI_TEST_CITUS names no cluster")
def test_one_node_of_a_cluster_answers(clock: Callable[[], str]) -> None:
    with (
        open_store(CITUS, create=True, clock=clock) as team,
        closing(team.archive(next(_owners))) as archive,
    ):
        add(archive, update(b"a\n"))
        project(archive, one=[reading("pad/one")])
        plans = list(explained(CITUS))
        assert [q for q, plan in plans if "Task Count: 1" not in plan] == []
