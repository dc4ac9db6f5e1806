"""Hundreds of damaged archives through every reading command, and into a new archive each (a few of
them without --campaign). RIREKI_SEED chooses others."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from tests.support.damaged import (
    Twin,
    build,
    campaign_seed,
    cases,
    read_in_every_way,
    run,
    salvage,
    swap_tables,
    visit,
)

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


def test_the_web_app_shows_what_can_be_read_of_a_damaged_archive(
    twin: Twin, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    wanted = CAMPAIGN if pytestconfig.getoption("campaign") else SAMPLE // 2
    for damaged in cases(twin, tmp_path, campaign_seed() + 2, wanted):
        assert visit(twin, damaged, random.Random(damaged.name)) == []
