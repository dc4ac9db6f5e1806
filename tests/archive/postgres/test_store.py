"""The store: whose is whose, how it is made, and what it says when the server has trouble."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from rireki.archive.base import Archive, Filter
from rireki.archive.forgetting import forget
from rireki.archive.open import open_archive, open_store
from rireki.archive.postgres import migrate
from rireki.archive.postgres.rows import PostgresRows
from rireki.archive.postgres.store import TeamStore
from rireki.archive.postgres.trouble import explained
from rireki.errors import ArchiveTrouble, NotFound, RirekiError
from rireki.sync.outbox import Outbox
from rireki.sync.receiver import Receiver
from rireki.sync.sender import Sender
from rireki.sync.wire import StreamOpening, Unkept
from tests.archive.contract import add, project, reading, update
from tests.support.postgres import PostgresServer
from tests.support.pushing import push
from tests.support.syncing import LAPTOP

#: Raises as PostgreSQL would, as long as a sequence is below a number: what it counts is not taken back.
TROUBLE = """
    CREATE SEQUENCE times;
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('times') <= {times} THEN
            RAISE EXCEPTION 'as if' USING ERRCODE = '{state}';
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER failing BEFORE INSERT ON chunk FOR EACH ROW EXECUTE FUNCTION fail();
"""


@pytest.fixture
def own(postgres: PostgresServer) -> str:
    """A database that this test may spoil."""
    return postgres.database()


@pytest.fixture
def laptop(tmp_path: Path, clock: Callable[[], str]) -> Iterator[Archive]:
    path = tmp_path / "laptop.sqlite3"
    with closing(open_archive(path, create=True, clock=clock)) as archive:
        add(archive, update(b"a\n"))
        yield archive


def name_of(address: str) -> str:
    return address.rpartition("/")[2].partition("?")[0]


def code_of(trouble: pytest.ExceptionInfo[ArchiveTrouble]) -> str:
    # It can be said, in both languages.
    assert all(trouble.value.lines(language)[0] for language in ("en", "ja"))
    return trouble.value.code


# ── whose is whose ──


def test_owners_know_nothing_of_each_other(store: TeamStore) -> None:
    owners = [store.archive(owner) for owner in (900_001, 900_002)]
    for place, archive in enumerate(owners):
        add(archive, update(b"of %d\n" % place))
        project(archive, one=[reading("pad/one", title=f"of {place}")])
    first, second = owners
    assert first.identity() != second.identity() and first.number() == second.number()
    forget(first, [first.find("pad/one")])
    with pytest.raises(NotFound):
        first.find("pad/one")
    assert second.find("one").conversation.title == "of 1"
    assert [s.document() for s in second.strands("pad", "one")] == [b"of 1\n"]
    first.mark_stale()
    assert second.count() == 1 and list(second.forgotten()) == []


def test_an_address_opens_the_same_archive(store: TeamStore) -> None:
    archive = store.archive(900_003)
    add(archive, update(b"a\n"))
    with closing(open_archive(archive.address)) as other:
        assert other.identity() == archive.identity()
        assert other.home.index == Path(f"{other.home.archive}.search")


def test_texts_that_postgres_does_not_keep_come_back(store: TeamStore) -> None:
    odd = ["a\0b", "\0", chr(0xFFFFE) + "0", chr(0xFFFFE) + "\0", "履歴", chr(0x10FF80)]
    archive = store.archive(900_004)
    for place, text in enumerate(odd):
        name = f"c{place}"
        add(archive, update(b"a\n", conversation=name, key=text, cursor=text, project=text))
        found = [reading(f"pad/{name}", title=text, project=text)]
        project(archive, **{name: found})
    assert [archive.find(f"c{n}").conversation.title for n in range(len(odd))] == odd
    assert [archive.strands("pad", f"c{n}")[0].key for n in range(len(odd))] == odd
    assert set(archive.projects()) == set(odd)
    told = list(archive.conversations(Filter(project="a\0b")))
    assert [c.native_id for c in told] == ["c0"]


def test_many_threads_write_for_one_owner_and_for_many(store: TeamStore) -> None:
    def write(number: int) -> None:
        archive = store.archive(900_010 + number % 3)
        add(archive, update(b"a\n", conversation=f"c{number}", key=str(number)))

    with ThreadPoolExecutor(12) as threads:
        list(threads.map(write, range(60)))
    for owner in range(900_010, 900_013):
        archive = store.archive(owner)
        assert len(list(archive.pending())) == 20 and archive.number() == 20
        assert archive.check() == []


# ── how it is made ──


def test_many_at_once_make_the_tables_once(own: str) -> None:
    def opened(_: int) -> None:
        open_store(own, create=True).close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(opened, range(8)))
    with open_store(own) as store, closing(store.archive(1)) as archive:
        assert archive.count() == 0


def test_who_died_while_making_them_is_followed_by_another(
    own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first, *rest) = migrate.steps()
    broken = [[*first[:7], "SELECT 1 / 0", *first[7:]], *rest]
    with monkeypatch.context() as patched:
        patched.setattr(migrate, "steps", lambda: broken)
        patched.setattr(migrate, "GIVE_LEASE", "SELECT %(name)s::text, %(holder)s::text")
        patched.setattr(migrate, "TAKE_LEASE", migrate.TAKE_LEASE.replace("60 s", "0.2 s"))
        with pytest.raises(ArchiveTrouble):
            open_store(own, create=True)
    with pytest.raises(ArchiveTrouble) as trouble:
        open_store(own)
    assert code_of(trouble) == "database-unprepared"
    # It held the lease: the next one waits until it ends.
    with open_store(own, create=True) as store, closing(store.archive(1)) as archive:
        add(archive, update(b"a\n"))


# ── what goes wrong ──


@pytest.mark.parametrize(
    ("database", "code"),
    [
        ("postgresql://host/name?nonsense=1", "postgres-misnamed"),
        ("postgresql://u:my secret@host/name", "postgres-misnamed"),
        ("postgresql://u:%zzsecret@host/name", "postgres-misnamed"),
        ("postgresql://u:secret@127.0.0.1:1/x", "database-gone"),
    ],
)
def test_a_database_that_cannot_be_opened(database: str, code: str) -> None:
    with pytest.raises(ArchiveTrouble) as trouble:
        open_store(database)
    assert code_of(trouble) == code and "secret" not in str(trouble.value)
    assert "Is the server running" not in str(trouble.value)


def test_what_is_no_archive_of_ours_is_said(
    own: str, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ArchiveTrouble) as trouble:
        open_store(postgres.address("nowhere"))
    assert code_of(trouble) == "database-missing"
    with pytest.raises(ArchiveTrouble) as trouble:
        open_archive(own)
    assert code_of(trouble) == "database-without-owner"
    with pytest.raises(ArchiveTrouble) as trouble:
        open_archive(f"{own}#owner=1")
    assert code_of(trouble) == "database-unprepared"
    with open_store(own, create=True):
        postgres.execute("UPDATE schema_step SET number = 99", name_of(own))
    with pytest.raises(ArchiveTrouble) as trouble:
        open_store(own, create=True)
    assert code_of(trouble) == "database-newer"
    monkeypatch.setattr(migrate, "OLDEST", 990000)
    with pytest.raises(ArchiveTrouble) as trouble:
        open_store(own)
    assert code_of(trouble) == "database-too-old"


def test_who_may_not_is_told(own: str, postgres: PostgresServer) -> None:
    with open_store(own, create=True):
        postgres.execute("CREATE ROLE stranger LOGIN", name_of(own))
    address = postgres.address(name_of(own), "stranger")
    with pytest.raises(ArchiveTrouble) as trouble:
        open_store(address)
    assert code_of(trouble) == "database-forbidden"
    postgres.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO stranger", name_of(own))
    with open_store(address) as store, closing(store.archive(1)) as archive:
        assert archive.count() == 0
        with pytest.raises(ArchiveTrouble) as trouble:
            add(archive, update(b"a\n"))
    assert code_of(trouble) == "database-forbidden"


@pytest.mark.parametrize(
    ("state", "code"), [("53100", "database-full"), ("57014", "database-busy")]
)
def test_what_could_not_be_kept_leaves_nothing_and_comes_again(
    state: str, code: str, own: str, laptop: Archive, postgres: PostgresServer
) -> None:
    with open_store(own, create=True) as store, closing(store.archive(1)) as archive:
        postgres.execute(TROUBLE.format(times=1, state=state), name_of(own))
        with pytest.raises(ArchiveTrouble) as trouble:
            push(laptop, archive)
        assert code_of(trouble) == code
        assert archive.stream(laptop.identity(), "laptop").reached == 0
        assert list(archive.groups()) == []
        push(laptop, archive)
        assert [s.document() for s in archive.strands("pad", "one")] == [b"a\n"]


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_a_transaction_that_was_taken_back_is_done_again(
    state: str, own: str, laptop: Archive, postgres: PostgresServer
) -> None:
    with open_store(own, create=True) as store, closing(store.archive(1)) as archive:
        postgres.execute(TROUBLE.format(times=3, state=state), name_of(own))
        assert len(push(laptop, archive)) == 1
        assert [s.document() for s in archive.strands("pad", "one")] == [b"a\n"]


def test_what_was_refused_spoils_nothing_for_others(store: TeamStore) -> None:
    archive = store.archive(7)
    # More than an index can hold, however it is compressed.
    long = "".join(chr(0x4E00 + n * 7919 % 20_000) for n in range(20_000))
    for n in range(8):
        with pytest.raises(ArchiveTrouble) as trouble:
            add(archive, update(b"a\n", conversation=long, key=f"long {n}"))
        assert code_of(trouble) == "database-too-long"
        # The statements that stood behind it were never prepared there.
        add(archive, update(b"a\n", conversation=f"{n}", key=f"{n}"))
        add(store.archive(8), update(b"a\n", conversation=f"{n}", key=f"{n}"))


def test_a_server_that_is_back_is_used_again(own: str, postgres: PostgresServer) -> None:
    with open_store(own, create=True) as store, closing(store.archive(1)) as archive:
        add(archive, update(b"a\n"))
        name = name_of(own)
        end = f"""SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                   WHERE datname = '{name}' AND pid <> pg_backend_pid()"""
        postgres.execute(end)
        # Its connections have ended meanwhile, and nobody notices.
        add(archive, update(b"b\n", cursor=2), before=1)
        with pytest.raises(ArchiveTrouble) as trouble, archive.writing():
            archive.number()
            postgres.execute(end)
            archive.number()
            archive.find("nothing")
        assert code_of(trouble) == "database-gone"
        assert [s.document() for s in archive.strands("pad", "one")] == [b"a\nb\n"]


def test_what_is_forgotten_is_taken_off_the_pages(
    own: str, laptop: Archive, postgres: PostgresServer
) -> None:
    add(laptop, update(tail=b"the word is quokkaflux", cursor=2), before=1)
    with open_store(own, create=True) as store, closing(store.archive(1)) as archive:
        push(laptop, archive)
        project(archive, one=[reading("pad/one")])
        assert lies_on_pages(postgres, own, b"quokkaflux")
        forget(archive, [archive.find("pad/one")])
        assert not lies_on_pages(postgres, own, b"quokkaflux")


def lies_on_pages(server: PostgresServer, database: str, word: bytes) -> bool:
    """Whether a word is in any file of the tables; the log of the server is another thing."""
    server.execute("CHECKPOINT")
    ((folder,),) = server.execute(
        "SELECT oid FROM pg_database WHERE datname = current_database()", name_of(database)
    )
    files = (server.data / "base" / str(folder)).glob("*")
    return any(word in _bytes(path) for path in files)


def _bytes(path: Path) -> bytes:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


def test_of_one_owner_who_cannot_be_reached_it_is_said_and_the_others_are_served(
    store: TeamStore, laptop: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Stands in for a cluster of which one worker is down.
    within, run = PostgresRows._within, PostgresRows._run
    down = 900_060

    def refused(work: Callable[..., Any]) -> Callable[..., Any]:
        def asked(self: PostgresRows, *values: Any) -> Any:
            if self.owner == down:
                with explained(self.name):
                    raise psycopg.OperationalError("connection to the worker failed")
            return work(self, *values)

        return asked

    add(store.archive(down), update(b"before\n"))
    with monkeypatch.context() as patched:
        patched.setattr(PostgresRows, "_within", refused(within))
        patched.setattr(PostgresRows, "_run", refused(run))
        gone, there = (Receiver(store.archive(owner)) for owner in (down, down + 1))
        answer = gone.open(StreamOpening(archive="laptop", epoch=1, machine=""))
        assert isinstance(answer, Unkept) and "the worker failed" in answer.why
        with pytest.raises(ArchiveTrouble) as trouble:
            list(store.archive(down).conversations())
        assert code_of(trouble) == "database-gone"
        with pytest.raises(RirekiError, match="the worker failed"):
            Sender(Outbox(laptop, LAPTOP), gone, "acme").push()
        assert Sender(Outbox(laptop, LAPTOP), there, "acme").push().batches == 1
        assert [s.document() for s in there.archive.strands("pad", "one")] == [b"a\n"]
    # When it is back, everything goes on.
    assert Sender(Outbox(laptop, LAPTOP), gone, "acme").push().batches == 1
