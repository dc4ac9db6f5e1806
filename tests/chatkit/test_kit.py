"""Our store has every property; the samples' designs lack exactly those that they are known to lack."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from rireki.chatkit import RirekiStore
from rireki.chatkit.conformance.case import MakeStore
from rireki.chatkit.conformance.speed import file_bytes
from rireki.chatkit.testing import (
    PROPERTIES,
    FactoryNotImportable,
    StoreConformance,
    StoreFailed,
    check_store,
    run_store_conformance,
)
from tests.chatkit.stores import in_memory, ours, sample

#: What is known of the sample's design: ties, clocks, re-adding, saving, cursors, orders, users,
#: what deleting leaves, missing threads, unknown items, the server's scenarios, the loop, speed.
FAULTS = {
    *("3", "4", "5", "6", "7", "8", "11", "12", "13", "14", "15", "16"),
    *("21.1", "21.5", "22", "23"),
}
#: Of lists in memory: ties backwards, clocks, doubles, cursors, orders, users, what deleting leaves,
#: missing threads, the app's own objects, doubles in scenarios, sorting for every page. And it is memory.
FAULTS_IN_MEMORY = {
    *("4", "6", "7", "10", "11", "12", "13", "14", "15", "17", "20"),
    *("21.1", "21.5", "23"),
}
#: Whose thread touches files is told by Linux alone; elsewhere only slow calls are found.
TOLD = FAULTS if file_bytes() is not None else FAULTS - {"22"}


class TestOurs(StoreConformance):
    make_store = staticmethod(ours)


@pytest.fixture
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", logger="chatkit")


@pytest.mark.usefixtures("_quiet")
@pytest.mark.parametrize(("store", "faults"), [(sample, TOLD), (in_memory, FAULTS_IN_MEMORY)])
def test_a_sample_fails_at_exactly_its_known_faults(store: MakeStore, faults: set[str]) -> None:
    outcomes = asyncio.run(check_store(store))
    assert {one.number for one in outcomes if one.error} == faults


def test_the_scenarios_reach_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def refuse(*address: object) -> None:
        asked.append(address)
        raise OSError("there is no network")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    scenarios = {one.number for one in PROPERTIES if one.number.startswith("21.")}
    outcomes = asyncio.run(check_store(ours, only=scenarios))
    assert len(outcomes) >= 4 and not any(one.error for one in outcomes)
    assert asked == []


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


def test_a_factory_that_cannot_be_imported_is_no_fault_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A function inside of a function, and one whose module is gone in the other process."""

    def inside(folder: Path) -> RirekiStore[dict[str, str]]:
        return ours(folder)

    (tmp_path / "their_store.py").write_text(
        "from tests.chatkit.stores import ours\n\n\ndef make_store(folder):\n    return ours(folder)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from their_store import make_store  # type: ignore[import-not-found]

    (tmp_path / "their_store.py").write_text("raise RuntimeError('no settings')\n")
    for factory, why in [(inside, "inside"), (make_store, "RuntimeError: no settings")]:
        (outcome,) = asyncio.run(check_store(factory, only={"20"}))
        assert isinstance(outcome.error, FactoryNotImportable) and not outcome.checked
        assert why in str(outcome.error)
        with pytest.raises(StoreFailed, match="your factory cannot be imported") as caught:
            asyncio.run(run_store_conformance(factory, only={"20"}))
        assert "the store fails" not in str(caught.value)
