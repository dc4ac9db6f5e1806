"""Which result answers which call.

A result belongs to the nearest call before it that has its id and no result yet: ids may come
again in later turns. Where ids are missing, it belongs to the first open call of its name in the
latest step. A step is a run of assistant turns.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TypeAlias

from rireki.providers.neutral import Call, Result, Turn

__all__ = ["Pairs", "Spot", "pair"]

#: (index of the turn, index of the part)
Spot: TypeAlias = tuple[int, int]
_Queues: TypeAlias = dict[tuple[str | None, bool], deque[Spot]]


class Pairs:
    def __init__(self) -> None:
        #: call → its result, and the other way round
        self.answers: dict[Spot, Spot] = {}
        self.asked: dict[Spot, Spot] = {}
        self.calls: list[Spot] = []
        self.orphans: list[Spot] = []
        self.step_of: dict[Spot, int] = {}
        #: Open calls by id, those of the latest step last.
        self._by_id: dict[str, list[tuple[int, deque[Spot]]]] = {}
        #: Calls of the latest step; the queues of those that were looked for by name.
        self._latest: list[tuple[Spot, Call]] = []
        self._queues: _Queues = {}
        self._step = 0

    def new_step(self) -> None:
        self._step += 1
        self._latest = []
        self._queues = {}

    def call(self, spot: Spot, call: Call) -> None:
        self.calls.append(spot)
        self.step_of[spot] = self._step
        self._latest.append((spot, call))
        if call.id is None:
            return
        steps = self._by_id.get(call.id)
        if steps is None:
            self._by_id[call.id] = [(self._step, deque((spot,)))]
        elif steps and steps[-1][0] == self._step:
            steps[-1][1].append(spot)
        else:
            steps.append((self._step, deque((spot,))))

    def result(self, spot: Spot, result: Result) -> None:
        call = self._of_id(result.id) if result.id is not None else None
        if call is None:
            call = self._of_step(result)
        if call is None:
            self.orphans.append(spot)
        else:
            self.answers[call] = spot
            self.asked[spot] = call

    def _of_id(self, identity: str) -> Spot | None:
        steps = self._by_id.get(identity, [])
        while steps:
            found = self._take(steps[-1][1])
            if found is not None:
                return found
            steps.pop()
        return None

    def _of_step(self, result: Result) -> Spot | None:
        """By name and order; a result with an id can only belong to a call without one."""
        for spot, call in self._latest:
            for name in (call.name, None):
                self._queues.setdefault((name, False), deque()).append(spot)
                if call.id is None:
                    self._queues.setdefault((name, True), deque()).append(spot)
        self._latest.clear()
        queue = self._queues.get((result.name, result.id is not None))
        return self._take(queue) if queue else None

    def _take(self, queue: deque[Spot]) -> Spot | None:
        while queue:
            spot = queue.popleft()
            if spot not in self.answers:
                return spot
        return None


def pair(turns: Sequence[Turn]) -> Pairs:
    pairs = Pairs()
    role = ""
    for place, turn in enumerate(turns):
        if not turn.parts:
            continue
        if turn.role == "assistant" and role != "assistant":
            pairs.new_step()
        role = turn.role
        for index, part in enumerate(turn.parts):
            if type(part) is Call:
                pairs.call((place, index), part)
            elif type(part) is Result:
                pairs.result((place, index), part)
    return pairs
