"""Calls that were cut off: found, answered once, and left alone while a person thinks."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rireki.providers import (
    INTERRUPTED,
    PROVIDERS,
    Call,
    NeutralText,
    Result,
    Turn,
    decode,
    open_calls,
    repair,
)
from tests.providers.scripts import Script, scripts, spell


def turn(role: str, *parts: object) -> Turn:
    return Turn(role, list(parts))  # type: ignore[arg-type]


CALLS = turn("assistant", Call("a", "read"), Call("b", "ask_user"))
ANSWER = turn("user", Result("a", content=[NeutralText("ok")]))


def test_an_interrupted_call_is_answered_after_the_results_of_its_step() -> None:
    turns = [turn("user", NeutralText("go")), CALLS, ANSWER, turn("user", NeutralText("well?"))]
    repaired = repair(turns)
    assert repaired[:3] == turns[:3]
    assert repaired[3].parts == [Result("b", "ask_user", [NeutralText(INTERRUPTED)], is_error=True)]
    assert repaired[4:] == turns[3:]


def test_a_question_that_waits_for_a_person_is_left_alone() -> None:
    turns = [turn("user", NeutralText("go")), CALLS, ANSWER]
    assert repair(turns, pending={"b"}) == turns
    assert [(spot, call.id) for spot, call in open_calls(turns)] == [((1, 1), "b")]


def test_what_is_whole_is_not_touched() -> None:
    turns = [turn("user", NeutralText("go")), turn("assistant", Call("a", "read")), ANSWER]
    assert all(new is old for new, old in zip(repair(turns), turns, strict=True))


@settings(max_examples=40, deadline=None, database=None)
@given(scripts, st.sampled_from(PROVIDERS), st.randoms(use_true_random=False))
def test_repairing_twice_is_repairing_once(script: Script, provider: str, chance: Any) -> None:
    raw = spell(provider, script)
    del raw[chance.randrange(len(raw))]
    raw = raw[: chance.randrange(len(raw) + 1)]
    repaired = repair(decode(provider, raw))
    assert open_calls(repaired) == []
    assert repair(repaired) == repaired
