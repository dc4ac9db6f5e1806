"""Searches of a team: the same as on the laptop for whom it is, nothing for whom it is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from rireki.archive.base import Archive
from rireki.archive.open import copy_database, open_archive
from rireki.intake.sweep import import_history
from rireki.search.execute.facets import Facet
from rireki.search.index.update import catch_up
from rireki.search.results import Results
from rireki.search.search import Search
from rireki.shares.pushing import GroupFor, ShareChange
from rireki.sources.kit.places import Places
from rireki.team.read_only import OwnedConversation
from rireki.team.shelves import Shelves
from rireki.team.store import Narrowed, Team
from rireki.team.worker import ProjectWorker, ShelfKeeper
from tests.support import homes
from tests.support.postgres import PostgresServer
from tests.support.searching import ALL
from tests.support.two_people import a_history, asked_of
from tests.team.conftest import Office, office_at, opened, rule
from tests.web.conftest import until

#: What is asked, one of every kind.
QUERIES = (
    *("file", "the file", '"the file"', "fil*", "=Read", "/[a-z]{4}_[a-z]+/", "履歴", "の", "一覧"),
    *("read OR write", "file -read", "(hello OR list) file", "fille", "zzzyyyxxx"),
    *("author:person", "author:agent file", "tool:*", "tool:bash", "model:claude", "has:error"),
    *("has:call", "has:thinking", "is:gone", "is:abandoned", "is:subagent", "-is:subagent file"),
    *("is:unfinished", "is:unfinished file", "-is:unfinished =e", "source:codex", "-source:codex"),
    *("project:home", "project:/home", "-project:home", "since:2025-01-01", "before:2025-06-01"),
    *("id:claude", "-id:claude file", "id:codex =e", "is:starred", "-is:starred", "tag:x", ""),
    *("machine:nowhere", "list the files in this directory please and tell", "title", "has:note"),
)
#: Files of all projects together, which are never sent.
OF_ALL = ("history.jsonl", "session_index.jsonl")
FIXTURES = ("claude-code", "codex", "opencode", "cline")


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """Fixtures of several sources."""
    folder = tmp_path_factory.mktemp("laptop")
    with closing(open_archive(folder / "archive.sqlite3", create=True)) as archive:
        for name in homes.NAMES:
            if name.startswith(FIXTURES):
                home = homes.lay_out(name, folder / name)
                for path in [each for each in home.rglob("*") if each.name in OF_ALL]:
                    path.unlink()
                import_history(archive, places=Places.at(home))
        shared = [each for each in archive.groups() if not each.conversation.startswith("@")]
        assert shared == list(archive.groups()), "some of it is never sent"
        catch_up(archive)
        yield archive


@pytest.fixture(scope="module", params=[1, 4], ids=["together", "apart"])
def pushed(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    postgres: PostgresServer,
    laptop: Archive,
) -> Iterator[Office]:
    """Ann shares all of that with acme; Eve has something of her own elsewhere: in the same shelf, or in
    another one."""
    folder = tmp_path_factory.mktemp("pushed")
    copy_database(Path(laptop.address), folder / "archive.sqlite3")
    with office_at(folder, postgres, shelves=request.param) as office:
        with opened(folder / "archive.sqlite3") as archive:
            office.push(archive, [rule("/")])
        with opened(a_history("bob", folder)) as archive:
            office.push(archive, [rule("/", team="others")], "eve")
        yield office


def found_by(office: Office, person: str, query: str, narrowed: Narrowed = Narrowed()) -> Results:  # noqa: B008
    member = office.team.people.admit(office.tokens[person])
    assert member is not None
    return office.server.scopes.of(member, narrowed).archive_reader.library.search(
        query, limit=ALL.limit, hits=ALL.hits
    )


def facets_for(office: Office, person: str, query: str) -> list[Facet]:
    member = office.team.people.admit(office.tokens[person])
    assert member is not None
    return office.server.scopes.of(member, Narrowed()).archive_reader.library.facets(query)


def numbers_in(facets: list[Facet], told: list[Facet]) -> dict[str, dict[str, int]]:
    """The values that both tell: of names that equally many conversations have, some are left out."""
    others = {(name, value) for name, values in told for value, _ in values}
    return {
        name: {value: n for value, n in values if (name, value) in others}
        for name, values in facets
    }


def messages_in(results: Results) -> dict[str, set[str | None]]:
    return {talk.conversation.id: {hit.message for hit in talk.hits} for talk in results.talks}


def counts_of(results: Results) -> tuple[int, int, bool, bool]:
    return results.messages, results.conversations, results.exact, results.apart


@pytest.mark.parametrize("query", QUERIES)
def test_a_search_of_ones_own_finds_what_the_laptop_finds(
    pushed: Office, laptop: Archive, query: str
) -> None:
    with closing(Search(laptop)) as search:
        wanted, facets = search.find(query, ALL), search.facets(query)
    for person in ("ann", "bob"):
        found = found_by(pushed, person, query)
        assert messages_in(found) == messages_in(wanted), person
        assert counts_of(found) == counts_of(wanted), person
        assert found.scope.conversations == wanted.scope.conversations
        assert (found.scope.direct, found.scope.slower) == (0, "")
    seen = facets_for(pushed, "ann", query)
    assert numbers_in(seen, facets) == numbers_in(facets, seen)


@pytest.mark.parametrize("query", QUERIES)
def test_a_stranger_finds_nothing_and_learns_no_number(pushed: Office, query: str) -> None:
    own = pushed.ids("eve")
    found = found_by(pushed, "eve", query)
    assert messages_in(found).keys() <= own
    assert found.messages <= 4 and found.conversations <= len(own)
    assert found.scope.conversations == len(own)
    assert set(found.near) <= {"zebrafinchery"}
    told = {(f.name, v.value) for f in facets_for(pushed, "eve", query) for v in f.values}
    assert not {value for name, value in told if name == "source"} - {"claude-code"}


def test_most_queries_find_something(pushed: Office) -> None:
    without = [query for query in QUERIES if not found_by(pushed, "ann", query).talks]
    assert len(without) <= 15, without


def test_one_can_search_a_person_or_a_team_alone(pushed: Office) -> None:
    assert found_by(pushed, "bob", "file", Narrowed(person="ann")).talks
    assert found_by(pushed, "bob", "file", Narrowed(team="acme")).talks
    assert not found_by(pushed, "bob", "file", Narrowed(person="bob")).talks
    assert found_by(pushed, "ann", "file", Narrowed(person="ann")).talks


# ── what is new, and what is not any more ──


@pytest.fixture
def lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody brings the indexes up."""
    monkeypatch.setattr(ShelfKeeper, "work", lambda self: None)
    monkeypatch.setattr(Office, "settled", lambda self: until(lambda: not self.team.waiting()))


def words_found(office: Office, word: str) -> dict[str, int]:
    return {person: found_by(office, person, word).messages for person in ("ann", "bob", "eve")}


def test_what_no_index_has_is_found_at_once(office: Office, tmp_path: Path, lazy: None) -> None:
    path = a_history("ann", tmp_path)
    asked = asked_of("ann", path)
    with opened(path) as archive:
        office.push(archive, [rule("/")])
    found = words_found(office, asked.word)
    assert found["ann"] == found["bob"] > 0 == found["eve"]
    assert found_by(office, "bob", asked.word).scope.direct == 1


def test_what_is_not_interpreted_yet_is_found_at_once(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ProjectWorker, "work", lambda self: None)
    monkeypatch.setattr(Office, "settled", lambda self: None)
    path = a_history("ann", tmp_path)
    asked = asked_of("ann", path)
    with opened(path) as archive:
        office.push(archive, [rule("/")])
    found = words_found(office, asked.word)
    assert found["ann"] == found["bob"] > 0 == found["eve"]
    (talk,) = found_by(office, "bob", asked.word).talks
    assert isinstance(talk.conversation, OwnedConversation)
    assert (talk.conversation.id, talk.conversation.owner) == (asked.id, "ann")


@pytest.mark.parametrize("indexed", [False, True])
def test_with_whom_it_is_shared_counts_at_once(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, indexed: bool
) -> None:
    office.team.people.add("ann", "others")
    path = a_history("ann", tmp_path)
    asked = asked_of("ann", path)
    with opened(path) as archive:
        office.push(archive, [rule("/")])
        ((family, grouping),) = {(h.family, h.grouping) for h in archive.headings()}
    before = words_found(office, asked.word)
    assert before["bob"] > 0
    if not indexed:
        monkeypatch.setattr(office.server.keeper, "work", lambda: None)
    group = GroupFor(family=family, grouping=grouping, teams=("others",))
    office.change_shares(ShareChange(shared=[group]))
    if indexed:
        office.settled()
    assert words_found(office, asked.word) == {"ann": before["ann"], "bob": 0, "eve": before["ann"]}
    near = {who: found_by(office, who, asked.word[:-2] + "xx").near for who in ("bob", "eve")}
    assert near["bob"] == []
    assert found_by(office, "bob", asked.word).scope.conversations == 0


def test_words_of_what_went_leave_the_files_and_other_conversations_stay(
    office: Office, tmp_path: Path
) -> None:
    path = a_history("ann", tmp_path)
    asked = asked_of("ann", path)
    with opened(path) as archive:
        office.push(archive, [rule("/")])
        with opened(a_history("bob", tmp_path)) as others:
            office.push(others, [rule("/", team="others")], "eve")
        kept = words_found(office, "zebrafinchery")
        office.push(archive, [])
    files = [f for f in (tmp_path / "server").rglob("*") if f.is_file()]
    assert files and asked.word.encode() not in b"".join(f.read_bytes() for f in files)
    assert words_found(office, asked.word) == {"ann": 0, "bob": 0, "eve": 0}
    assert words_found(office, "zebrafinchery") == kept and kept["eve"] > 0


def test_a_damaged_shelf_is_made_anew(office: Office, tmp_path: Path) -> None:
    path = a_history("ann", tmp_path)
    asked = asked_of("ann", path)
    with opened(path) as archive:
        office.push(archive, [rule("/")])
    before = messages_in(found_by(office, "bob", asked.word))
    for store in (tmp_path / "server").rglob("texts.sqlite3"):
        with closing(apsw.Connection(str(store))) as texts:
            texts.execute("UPDATE block SET data = x'00'")
    office.server.scopes.searches.close()
    assert messages_in(found_by(office, "bob", asked.word)) == before
    until(lambda: found_by(office, "bob", asked.word).scope.direct == 0)
    assert before and messages_in(found_by(office, "bob", asked.word)) == before


def test_a_server_that_starts_again_reads_nothing_twice(
    tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = a_history("ann", tmp_path)
    asked = asked_of("ann", path)
    with office_at(tmp_path, postgres) as office:
        with opened(path) as archive:
            office.push(archive, [rule("/")])
        wanted = words_found(office, asked.word)
        address, tokens = office.address, office.tokens
    with closing(Team(address, tmp_path / "server")) as team:
        shelves = Shelves(team)
        keeper = ShelfKeeper(shelves)
        monkeypatch.setattr(Shelves, "bring_up", None)
        keeper.work()
        assert keeper.indexed == team.numbers() and keeper.indexed
    assert wanted["bob"] > 0 and tokens
