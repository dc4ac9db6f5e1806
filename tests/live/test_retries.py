"""What failed is tried again less and less often."""

from __future__ import annotations

from rireki.live.retries import LONGEST, Retries, pause
from rireki.model.conversation import Trouble

TROUBLE = Trouble("/a", "is locked")


def test_the_pauses_grow_up_to_a_limit() -> None:
    assert [pause(times) for times in (1, 2, 3, 4)] == [1.0, 2.0, 4.0, 8.0]
    assert pause(7) == pause(10_000) == LONGEST


def test_a_place_rests_is_due_and_rests_longer() -> None:
    retries = Retries()
    assert retries.next == float("inf")
    retries.fail("/a", TROUBLE, at=100.0)
    assert retries.resting(100.5) == {"/a"} and retries.take_due(100.5) == set()
    assert retries.next == 101.0 and retries.take_due(101.0) == {"/a"}
    assert retries.take_due(101.0) == set(), "it is tried once"
    retries.fail("/a", TROUBLE, at=101.0)
    assert retries.next == 103.0 and retries.troubles == [TROUBLE]
    retries.succeed("/a")
    assert retries.troubles == [] and retries.next == float("inf")
