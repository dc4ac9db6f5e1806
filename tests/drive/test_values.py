"""What a decision is called, and what an agent's own words add to it."""

from __future__ import annotations

import pytest

from rireki.drive.values import Option, OptionKind


@pytest.mark.parametrize(
    ("kind", "name", "more"),
    [
        ("allow_once", "Allow", ""),
        ("allow_once", "Yes", ""),
        ("allow_once", "Allow this time", ""),
        ("allow_always", "Allow Always", ""),
        ("reject_once", "Reject", ""),
        ("reject_once", "No, and tell it what to do", "No, and tell it what to do"),
        ("allow_always", "Always allow npm test", "Always allow npm test"),
        ("allow_once", "はい", "はい"),
        ("choice", "Allow", ""),
    ],
)
def test_the_same_is_not_said_twice(kind: OptionKind, name: str, more: str) -> None:
    assert Option("x", name, kind).more == more


def test_a_choice_of_the_agent_has_its_own_name_alone() -> None:
    option = Option("x", "Use the staging cluster", "choice")
    assert (option.label, option.more) == ("Use the staging cluster", "")
