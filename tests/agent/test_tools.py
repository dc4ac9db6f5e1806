"""Functions as tools: what a model is told of them, and what they are given."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any, Literal, NotRequired, Optional, TypedDict

import pytest

from rireki.errors import RirekiError
from rireki.faces.agent import Agent, Scripted, Tool, tool


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


def test_a_tool_can_be_made_by_hand() -> None:
    async def run(arguments: dict[str, Any]) -> Any:
        return sorted(arguments)

    made = Tool("keys", "Names the arguments.", {"type": "object"}, run)
    assert asyncio.run(made.call({"b": 1, "a": 2})).text == '["a","b"]'
