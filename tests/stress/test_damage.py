"""Hundreds of damaged archives through every reading command, and into a new archive each (a few of
them without --campaign). RIREKI_SEED chooses others."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.support.damaged import (
    EMPTY_INDEX,
    Damaged,
    Twin,
    build,
    campaign_seed,
    cases,
    pages_of,
    read_in_every_way,
    run,
    salvage,
    spoiled,
    swap_tables,
    visit,
    wipe,
)
from tests.web.conftest import client_of, serving

CAMPAIGN, SAMPLE = 320, 10


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Twin:
    return build(tmp_path_factory.mktemp("twin"))


def test_every_command_reads_what_can_be_read_of_a_damaged_archive(
    twin: Twin, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    wanted = CAMPAIGN if pytestconfig.getoption("campaign") else SAMPLE
    for damaged in cases(twin, tmp_path, campaign_seed(), wanted):
        assert read_in_every_way(twin, damaged, random.Random(damaged.name)) == []


def test_every_command_reads_on_past_a_value_that_its_column_cannot_hold(
    twin: Twin, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    wanted = None if pytestconfig.getoption("campaign") else SAMPLE
    for damaged in spoiled(twin, tmp_path, wanted):
        assert read_in_every_way(twin, damaged, random.Random(damaged.name)) == []


def test_nothing_is_written_where_other_rows_lie_in_place_of_the_archives_notes(
    twin: Twin, tmp_path: Path
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(twin.folder, folder)
    path = folder / "archive.sqlite3"
    swap_tables(path, "meta", "state")
    before = path.read_bytes()
    for command in (["verify"], ["search", "the"], ["list"]):
        done = run(*command, "--archive", str(path))
        assert done.code is not None, done.err
        assert path.read_bytes() == before, command


def test_what_can_be_read_of_a_damaged_archive_is_saved_into_a_new_one(
    twin: Twin, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    wanted = CAMPAIGN if pytestconfig.getoption("campaign") else SAMPLE // 2
    for damaged in cases(twin, tmp_path, campaign_seed() + 1, wanted):
        assert salvage(twin, damaged) == []


def test_conversations_are_saved_although_what_is_known_of_their_files_is_lost(
    twin: Twin, tmp_path: Path
) -> None:
    for page in pages_of(twin.folder / "archive.sqlite3", "strand"):
        path = tmp_path / str(page) / "archive.sqlite3"
        shutil.copytree(twin.folder, path.parent)
        wipe(path, [page])
        assert salvage(twin, Damaged(f"page {page} of strand", path, {page})) == []


def test_a_conversation_that_its_index_does_not_lead_to_is_answered(
    twin: Twin, tmp_path: Path
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(twin.folder, folder)
    path = folder / "archive.sqlite3"
    wipe(path, pages_of(path, "sqlite_autoindex_conversation_1"), EMPTY_INDEX)
    id = sorted(twin.messages)[0]
    with serving(path, twin.home) as server, client_of(server) as client:
        answer = client.get(f"/api/v1/conversations/{quote(id)}")
        assert answer.status_code == 200, answer.text


def test_the_web_app_shows_what_can_be_read_of_a_damaged_archive(
    twin: Twin, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    wanted = CAMPAIGN if pytestconfig.getoption("campaign") else SAMPLE // 2
    for damaged in cases(twin, tmp_path, campaign_seed() + 2, wanted):
        assert visit(twin, damaged, random.Random(damaged.name)) == []
