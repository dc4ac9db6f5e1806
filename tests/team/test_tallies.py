"""What is counted of everybody's is told apart: each is told of what he may see, and not of what went."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from rireki.archive.base import ArchiveTally, ArchiveTallyCell
from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from rireki.team.store import Narrowed
from rireki.team.tallies import PROJECTS, Tallies, _newest_projects
from tests.support.two_people import IDS, write_session
from tests.team.conftest import Office, rule
from tests.web.conftest import until

SHARED, DIARY = "/home/ann/work", "/home/ann/diary"


@pytest.fixture
def laptop(office: Office, tmp_path: Path) -> Path:
    """Ann's: one conversation is shared with acme, one with nobody."""
    home, path = tmp_path / "home", tmp_path / "archive.sqlite3"
    write_session(home, IDS["ann"], SHARED, "quokkaflux")
    write_session(home, IDS["bob"], DIARY, "privatissimum")
    with closing(open_archive(path, create=True)) as archive:
        import_history(archive, places=Places.at(home))
        office.push(archive, [rule("/")])
    office.team.tables.ask("DELETE FROM team_audience WHERE grouping = %s", IDS["bob"])
    return path


def tally_of(office: Office, person: str, narrowed: Narrowed = Narrowed()) -> ArchiveTally:  # noqa: B008
    member = office.team.people.admit(office.tokens[person])
    assert member is not None
    # Made for this: nothing is kept from before.
    return Tallies(office.team.tables, office.team._across).of(office.team.sight(member, narrowed))


def projects(tally: ArchiveTally) -> set[str | None]:
    return {cell.project for cell in tally.cells}


def test_each_is_told_of_what_he_may_see(office: Office, laptop: Path) -> None:
    assert projects(tally_of(office, "ann")) == {SHARED, DIARY}
    assert projects(tally_of(office, "ann", Narrowed(team="acme"))) == {SHARED}
    assert projects(tally_of(office, "bob")) == {SHARED}
    assert projects(tally_of(office, "eve")) == set()
    assert tally_of(office, "bob").days == {"2026-01-01": 1}
    assert tally_of(office, "bob").number == 1


def test_pages_count_by_it(office: Office, laptop: Path) -> None:
    for person, there, missing in (("bob", SHARED, DIARY), ("eve", "Filters", SHARED)):
        side = office.get(person, "/").text
        assert there in side and missing not in side
    assert office.get("bob", "/stats").status_code == 200
    assert office.get("bob", "/usage?period=all").status_code == 200
    assert office.get("bob", "/?sort=cost").status_code == 200
    assert office.get("bob", "/?day=2026-01-01").text.count('class="row') >= 1


def test_what_is_taken_back_is_counted_no_more_from_that_moment_on(
    office: Office, laptop: Path
) -> None:
    kept = office.team.tallies
    member = office.team.people.admit(office.tokens["bob"])
    assert member is not None
    sight = office.team.sight(member, Narrowed())
    until(lambda: projects(kept.of(sight)) == {SHARED})
    with closing(open_archive(laptop)) as archive:
        office.push(archive, [])
    assert projects(kept.of(sight)) == set()


def test_of_many_projects_the_newest_are_told_apart() -> None:
    cells = [
        ArchiveTallyCell(f"/p{place:04}", "codex", False, True, 1, f"2026-{place:04}")
        for place in range(1000)
    ]
    told, others = _newest_projects(cells)
    assert (len(told), others) == (PROJECTS + 1, 1000 - PROJECTS)
    assert sum(cell.number for cell in told) == 1000
    assert (told[0].project, told[-1].project) == ("/p0999", None)
