"""Functions as tools: what a model is told of them, and what they are given."""

from __future__ import annotations

import asyncio
import dataclasses
from functools import lru_cache, partial
from typing import Any, Literal, NotRequired, Optional, TypedDict

import pytest

from rireki.agent import Agent, Output, Scripted, Tool, tool
from rireki.errors import RirekiError


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0


class Label(TypedDict):
    title: str
    color: NotRequired[str]


def draw(
    name: str,
    at: Point,
    labels: list[Label],
    width: int = 3,
    style: Literal["solid", "dotted"] = "solid",
    note: Optional[str] = None,  # noqa: UP045 - people write it so
    extra: dict[str, Any] = {},  # noqa: B006 - and this
    filled: bool = False,
) -> str:
    """Draw something.

    It is drawn at once.

    Args:
        name: What it is called.
        at (Point): Where,
            from the top left.
        width: How wide.

    Returns:
        name: not a parameter.
    """
    return f"{name} {at} {labels} {width} {style} {note} {extra} {filled}"


def test_the_schema_tells_types_defaults_and_descriptions() -> None:
    made = tool(draw)
    assert made.name == "draw"
    assert made.description == "Draw something.\n\nIt is drawn at once."
    assert made.schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "What it is called."},
            "at": {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "number", "default": 0.0}},
                "required": ["x"],
                "description": "Where, from the top left.",
            },
            "labels": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"color": {"type": "string"}, "title": {"type": "string"}},
                    "required": ["title"],
                },
            },
            "width": {"type": "integer", "default": 3, "description": "How wide."},
            "style": {"type": "string", "enum": ["dotted", "solid"], "default": "solid"},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "extra": {"type": "object"},
            "filled": {"type": "boolean", "default": False},
        },
        "required": ["name", "at", "labels"],
        "additionalProperties": False,
    }


def test_a_function_gets_the_types_it_asked_for() -> None:
    given = {"name": "a", "at": {"x": 1}, "labels": [{"title": "t"}], "width": "4"}
    output = asyncio.run(tool(draw).call(given))
    assert output.text == "a Point(x=1, y=0.0) [{'title': 't'}] 4 solid None {} False"
    assert not output.is_error


def test_defaults_are_not_shared_between_calls() -> None:
    def collect(into: list[int] = []) -> int:  # noqa: B006 - the point of it
        into.append(1)
        return len(into)

    made = tool(collect)
    assert [asyncio.run(made.call({})).text for _ in range(3)] == ["1", "1", "1"]


def test_param_lines_and_parameters_without_types() -> None:
    def find(what, where="here"):  # type: ignore[no-untyped-def]
        """Find it.

        :param what: The thing.
        """

    made = tool(find)
    assert made.description == "Find it."
    assert made.schema["properties"]["what"] == {"description": "The thing."}
    assert made.schema["required"] == ["what"]


def test_what_cannot_be_told_to_a_model_is_refused_by_name() -> None:
    def many(*names: str) -> None: ...

    def odd(what: threading_lock) -> None: ...

    with pytest.raises(RirekiError, match=r"many has a parameter \*names"):
        tool(many)
    with pytest.raises(RirekiError, match="parameters of the tool odd"):
        tool(odd)
    with pytest.raises(RirekiError, match="hold a Node within a Node"):
        tool(nested)
    with pytest.raises(RirekiError, match="<lambda>"):
        tool(lambda: None)
    with pytest.raises(RirekiError, match="Two tools are called draw"):
        Agent(Scripted([]), [draw, tool(draw)])


class threading_lock:
    def __init__(self, owner: int) -> None: ...


@dataclasses.dataclass
class Node:
    inner: list[Node]


def nested(node: Node) -> None: ...


def scaled(value: int, factor: int, plus: int = 0) -> int:
    """Scale a number.

    Args:
        value: The number.
    """
    return value * factor + plus


class Doubler:
    def __call__(self, value: int) -> int:
        """Double a number."""
        return 2 * value


class Later:
    async def __call__(self, value: int) -> int:
        """Double a number, some day."""
        return 2 * value


def doubled(value: int) -> int:
    """Double a number again."""
    return 2 * value


def by_a_coroutine(value: int) -> Any:
    """Double a number in a roundabout way."""
    return Later()(value)


@pytest.mark.parametrize(
    ("function", "name", "description"),
    [
        (partial(scaled, factor=2), "scaled", "Scale a number."),
        (partial(partial(scaled, plus=0), factor=2), "scaled", "Scale a number."),
        (Doubler(), "Doubler", "Double a number."),
        (Later(), "Later", "Double a number, some day."),
        (lru_cache(doubled), "doubled", "Double a number again."),
        (by_a_coroutine, "by_a_coroutine", "Double a number in a roundabout way."),
    ],
)
def test_what_can_be_called_is_a_tool(function: Any, name: str, description: str) -> None:
    made = tool(function)
    assert (made.name, made.description) == (name, description)
    assert made.schema["properties"]["value"]["type"] == "integer"
    assert made.schema["required"] == ["value"]
    assert asyncio.run(made.call({"value": "3"})) == Output("6")


@pytest.mark.parametrize("what", [5, partial(int)])
def test_what_cannot_be_called_by_name_is_refused(what: Any) -> None:
    with pytest.raises(RirekiError, match="int cannot be a tool"):
        tool(what)


def test_a_tool_can_be_made_by_hand() -> None:
    async def run(arguments: dict[str, Any]) -> Any:
        return sorted(arguments)

    made = Tool("keys", "Names the arguments.", {"type": "object"}, run)
    assert asyncio.run(made.call({"b": 1, "a": 2})).text == '["a","b"]'
