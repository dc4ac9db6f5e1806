"""Our store has every property; the sample's design lacks exactly those that it is known to lack."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from rireki.chatkit import RirekiStore
from rireki.chatkit.testing import (
    PROPERTIES,
    StoreConformance,
    StoreFailed,
    check_store,
    run_store_conformance,
)
from tests.chatkit.stores import ours, sample

#: What docs of the sample's faults list: ties, clocks, re-adding, saving, cursors, orders,
#: users, what deleting leaves, missing threads, unknown items, the server's scenarios, speed.
FAULTS = {
    *("3", "4", "5", "6", "7", "8", "11", "12", "13", "14", "15", "16"),
    *("21.1", "21.5", "22", "23"),
}


class TestOurs(StoreConformance):
    make_store = staticmethod(ours)


@pytest.fixture
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", logger="chatkit")


@pytest.mark.usefixtures("_quiet")
def test_the_sample_fails_at_exactly_its_known_faults() -> None:
    outcomes = asyncio.run(check_store(sample))
    assert {one.number for one in outcomes if one.error} == FAULTS


def test_there_are_23_properties_and_each_has_a_test() -> None:
    assert {int(one.number.partition(".")[0]) for one in PROPERTIES} == set(range(1, 24))
    tests = [name for name in vars(StoreConformance) if name.startswith("test_")]
    assert len(tests) == len(PROPERTIES)


def test_one_call_tells_everything_that_is_wrong() -> None:
    with pytest.raises(StoreFailed) as told:
        asyncio.run(run_store_conformance(sample, only={"1", "7", "8"}))
    assert [one.number for one in told.value.failed] == ["7", "8"]
    assert "fails at 2 points" in str(told.value)
    asyncio.run(run_store_conformance(ours, only={"1", "7", "8"}))


def test_a_store_that_cannot_be_made_fails_everywhere() -> None:
    outcomes = asyncio.run(check_store(_broken, only={"1", "2"}))
    assert [type(one.error) for one in outcomes] == [ZeroDivisionError, ZeroDivisionError]


def _broken(folder: Path) -> RirekiStore[dict[str, str]]:
    raise ZeroDivisionError
