"""What could not be read is tried again: soon at first, then less and less often."""

from __future__ import annotations

from rireki.model.conversation import Trouble

__all__ = ["Retries"]

#: Seconds until the second attempt, and the longest time between two.
FIRST, LONGEST = 1.0, 60.0


class Retries:
    """Places that failed, what was wrong with them, and when they are tried again."""

    def __init__(self) -> None:
        self._failed: dict[str, tuple[int, float, Trouble]] = {}

    def fail(self, place: str, trouble: Trouble, at: float) -> None:
        times = self._failed[place][0] + 1 if place in self._failed else 1
        self._failed[place] = (times, at + pause(times), trouble)

    def succeed(self, place: str) -> None:
        self._failed.pop(place, None)

    def take_due(self, at: float) -> set[str]:
        """The places to be tried now. Of one that nothing comes of, nothing more is asked for long."""
        due = {place for place, (_, date, _) in self._failed.items() if date <= at}
        for place in due:
            times, _, trouble = self._failed[place]
            self._failed[place] = (times, at + LONGEST, trouble)
        return due

    def resting(self, at: float) -> set[str]:
        return {place for place, (_, due, _) in self._failed.items() if due > at}

    @property
    def next(self) -> float:
        """When the next attempt is due; never, if nothing failed."""
        return min((due for _, due, _ in self._failed.values()), default=float("inf"))

    @property
    def troubles(self) -> list[Trouble]:
        return [trouble for _, _, trouble in self._failed.values()]


def pause(times: int) -> float:
    """How long to wait after so many failures in a row."""
    return min(FIRST * 2.0 ** min(times - 1, 16), LONGEST)
