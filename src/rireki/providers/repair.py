"""Calls that nothing answered: found, and answered with a marked result on a copy."""

from __future__ import annotations

from collections.abc import Container, Sequence

from rireki.providers.neutral import Call, NeutralText, Part, Result, Turn
from rireki.providers.pairing import Spot, pair

__all__ = ["INTERRUPTED", "interrupted", "open_calls", "repair"]

INTERRUPTED = "interrupted: no result was recorded"


def interrupted(call: Call) -> Result:
    """The result of a call that was cut off: a model must not take it for an answer."""
    return Result(call.id, call.name, [NeutralText(INTERRUPTED)], is_error=True)


def open_calls(turns: Sequence[Turn]) -> list[tuple[Spot, Call]]:
    """Calls without a result, and where they stand."""
    pairs = pair(turns)
    calls = ((spot, turns[spot[0]].parts[spot[1]]) for spot in pairs.calls)
    return [
        (spot, call) for spot, call in calls if spot not in pairs.answers and isinstance(call, Call)
    ]


def repair(turns: Sequence[Turn], pending: Container[str | None] = frozenset()) -> list[Turn]:
    """The turns with every interrupted call answered, after the results its step already has.

    Calls whose id is in `pending` wait for a person and are left alone.
    """
    ends = _ends(turns)
    missing: dict[int, list[Part]] = {}
    for (place, _), call in open_calls(turns):
        if call.id not in pending:
            missing.setdefault(ends[place], []).append(interrupted(call))
    repaired: list[Turn] = []
    for place, turn in enumerate(turns):
        repaired.append(turn)
        if place in missing:
            repaired.append(Turn("user", missing[place]))
    return repaired


def _ends(turns: Sequence[Turn]) -> list[int]:
    """For each turn the last one of its step, results included."""
    ends = list(range(len(turns)))
    for place in range(len(turns) - 2, -1, -1):
        after = turns[place + 1]
        if _only_results(after) or turns[place].role == after.role == "assistant":
            ends[place] = ends[place + 1]
    return ends


def _only_results(turn: Turn) -> bool:
    return bool(turn.parts) and all(isinstance(part, Result) for part in turn.parts)
