"""Call ids that a provider takes: kept where they can be, else made from where the call stands."""

from __future__ import annotations

from collections.abc import Sequence

from rireki.providers.neutral import Call, Turn
from rireki.providers.notes import Notes
from rireki.providers.pairing import Pairs, Spot
from rireki.providers.rules import Rules

__all__ = ["new_ids"]


def new_ids(
    turns: Sequence[Turn],
    pairs: Pairs,
    rules: Rules,
    notes: Notes,
    start: int = 0,
    used: set[str] | None = None,
) -> dict[Spot, str]:
    """The calls that need another id, with it. The first turn has the place `start`.

    `used` are the ids of calls before these turns; their own are added.

    What is made depends on the turns up to the call alone: a history that grows keeps its ids, and
    so the provider's cache of it.
    """
    changed: dict[Spot, str] = {}
    if rules.call_id is None:
        return changed
    used = set() if used is None else used
    step = -1
    for spot in pairs.calls:
        if rules.id_repeats and pairs.step_of[spot] != step:
            step = pairs.step_of[spot]
            used.clear()
        call = turns[spot[0]].parts[spot[1]]
        assert isinstance(call, Call)
        if call.id is None and rules.id_optional:
            continue
        identity = call.id
        if identity is None or identity in used or not rules.call_id.fullmatch(identity):
            identity = changed[spot] = _made((spot[0] + start, spot[1]), used)
            if call.id is not None:
                notes.add("id-changed", spot[0], f"the call {call.id[:80]!r} is {identity!r} here")
        used.add(identity)
    return changed


def _made(spot: Spot, used: set[str]) -> str:
    place, index = spot
    made = f"call_{place}_{index}"
    again = 2
    while made in used:
        made = f"call_{place}_{index}_{again}"
        again += 1
    return made
