"""What holds for histories in memory and on disk holds in PostgreSQL: the same tests once more."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature

import pytest

from rireki import MessageHistory
from tests.history import test_contract, test_transactions


@pytest.fixture
def history(database: str) -> Iterator[MessageHistory]:
    with MessageHistory.open(store=database) as made:
        yield made


#: Whatever asks for a history gets this one.
SAME = {
    name: test
    for module in (test_contract, test_transactions)
    for name, test in vars(module).items()
    if name.startswith("test_") and "history" in signature(test).parameters
}
globals().update(SAME)


def test_there_are_tests_to_repeat() -> None:
    assert len(SAME) > 15
