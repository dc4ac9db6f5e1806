"""The kit: all properties of a store, checked one by one, each with a store of its own."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Collection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from chatkit.store import Store

from rireki.chatkit.conformance import keeping, order, scenarios, speed
from rireki.chatkit.conformance.case import (
    ConformanceCase,
    FactoryNotImportable,
    MakeContext,
    MakeStore,
    Property,
    user_id,
)

__all__ = [
    "PROPERTIES",
    "FactoryNotImportable",
    "CheckOutcome",
    "StoreConformance",
    "StoreFailed",
    "check_store",
    "run_store_conformance",
]

PROPERTIES: tuple[Property, ...] = (
    *order.PROPERTIES,
    *keeping.PROPERTIES,
    *scenarios.PROPERTIES,
    *speed.PROPERTIES,
)


class CheckOutcome(NamedTuple):
    number: str
    name: str
    #: What went wrong; None when the store has the property.
    error: BaseException | None

    @property
    def checked(self) -> bool:
        """Whether the store was put to the test; False when its factory could not be imported."""
        return not isinstance(self.error, FactoryNotImportable)


class StoreFailed(AssertionError):
    """A store that lacks some properties; `failed` has each with its reason."""

    def __init__(self, failed: list[CheckOutcome]) -> None:
        wrong = [one for one in failed if one.checked]
        lines = [f"  {one.number:>4}  {one.name}: {_reason(one.error)}" for one in wrong]
        if wrong:
            lines = [f"the store fails at {len(wrong)} points:", *lines]
        # What could not be checked says nothing of the store.
        lines += [f"{one.number} ({one.name}): {one.error}" for one in failed if not one.checked]
        super().__init__("\n".join(lines))
        self.failed = failed


async def check_store(
    make_store: MakeStore,
    make_context: MakeContext = user_id,
    *,
    only: Collection[str] | None = None,
) -> list[CheckOutcome]:
    """How a store does at each property, or at those whose numbers are named."""
    outcomes: list[CheckOutcome] = []
    for one in PROPERTIES:
        if only is None or one.number in only:
            with TemporaryDirectory(
                prefix="rireki-conformance-", ignore_cleanup_errors=True
            ) as name:
                error = await _check(one, make_store, make_context, Path(name))
            outcomes.append(CheckOutcome(one.number, one.name, error))
    return outcomes


async def run_store_conformance(
    make_store: MakeStore,
    make_context: MakeContext = user_id,
    *,
    only: Collection[str] | None = None,
) -> None:
    """Raises `StoreFailed`, with all that is wrong, unless the store has every property."""
    outcomes = await check_store(make_store, make_context, only=only)
    failed = [one for one in outcomes if one.error is not None]
    if failed:
        raise StoreFailed(failed)


async def _check(
    one: Property, make_store: MakeStore, make_context: MakeContext, folder: Path
) -> BaseException | None:
    with warnings.catch_warnings():
        # ChatKit deprecates its widgets; a store has to keep them all the same.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            case = ConformanceCase(make_store, make_context, folder)
            try:
                await one.check(case)
            finally:
                await case.close()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is reported
            return error
    return None


def _reason(error: BaseException | None) -> str:
    told = str(error)
    return told if isinstance(error, AssertionError) else f"{type(error).__name__}: {told}"


class StoreConformance:
    """A test per property, for pytest: derive from it and say how your store is made.

    `make_store` must be found by its name, because one property opens the store in a process
    of its own: a function of a module, as `staticmethod`.
    """

    @staticmethod
    def make_store(folder: Path) -> Store[Any]:
        raise NotImplementedError("say how your store is made: make_store = staticmethod(…)")

    @staticmethod
    def make_context(user: str) -> Any:
        return user_id(user)


def _test(one: Property) -> Callable[[StoreConformance, Path], None]:
    def test(self: StoreConformance, tmp_path: Path) -> None:
        error = asyncio.run(_check(one, type(self).make_store, type(self).make_context, tmp_path))
        if error is not None:
            raise error

    test.__doc__ = f"{one.number}. {one.name}"
    return test


for _one in PROPERTIES:
    _number = "_".join(part.zfill(2) for part in _one.number.split("."))
    setattr(StoreConformance, f"test_{_number}_{_one.check.__name__}", _test(_one))
