"""A tool call as one line that opens: the tool, what it was asked, what came of it, what came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rireki.model.parts import ToolCall, ToolResult
from rireki.show.html.code import code_block
from rireki.show.html.markup import EMPTY, Markup, join, tag
from rireki.show.html.page import Page
from rireki.show.html.shapes import Asked, asked, output
from rireki.show.parts import pretty, tell, tool_name
from rireki.show.safe import one_line
from rireki.show.width import truncate

__all__ = ["Came", "raw_value", "render_call", "render_result"]

#: Columns of the line that opens a call.
_LINE = 160


class Came(NamedTuple):
    """What came back from a call, with what is to be said about the message it came in."""

    result: ToolResult
    marks: Markup = EMPTY
    #: Pictures that came with it, ready to be shown.
    pictures: Markup = EMPTY


def render_call(
    call: ToolCall, came: Sequence[Came], children: Markup, page: Page, finished: bool
) -> Markup:
    """`finished` says that nothing will come any more; `children` are the sub-agents it started."""
    arguments = _plain(call.arguments)
    results = [one.result for one in came]
    shape = asked(arguments, results, page) if isinstance(arguments, Mapping) else None
    shown = shape or Asked()
    body = [*_arguments(arguments, shape, page), *(_came(one, shown, page) for one in came)]
    head = _summary(call, results, shown, page, finished)
    inside = tag("div", join(body), class_="inside")
    told = tag("details", head, inside, class_="call", open=shown.open)
    # A sub-agent's work is part of the story: it must not take two steps to find.
    return told + tag("div", children, class_="started") if children else told


def render_result(came: Came, page: Page) -> Markup:
    """A result whose call is not told."""
    status = came.result.status
    head = tag(
        "summary",
        tag("span", page.say("result without a call"), class_="subject"),
        " ",
        tag("span", page.say(status), class_=f"outcome {status}"),
    )
    inside = tag("div", _came(came, Asked(), page), class_="inside")
    return tag("details", head, inside, class_="call")


def raw_value(value: Any, page: Page) -> Markup:
    """A value that has no better form: as JSON."""
    shown = page.cut(pretty(value))
    return code_block(shown.text, "" if isinstance(value, str) else "json", page) + page.more(shown)


def _plain(arguments: Any) -> Any:
    """Without what a program adds for itself."""
    if not isinstance(arguments, dict):
        return arguments
    return {key: value for key, value in arguments.items() if not key.startswith("__")}


def _summary(
    call: ToolCall, results: Sequence[ToolResult], shape: Asked, page: Page, finished: bool
) -> Markup:
    name = one_line(tool_name(call.name))
    subject = tell(call, page.say_reading).removeprefix(name).strip()
    server, _, tool = name.rpartition(": ") if name != one_line(call.name) else ("", "", name)
    pieces = [
        tag("span", server, class_="server") if server else EMPTY,
        tag("span", tool or "?", class_="tool"),
        tag("span", truncate(subject, _LINE), class_="subject") if subject else EMPTY,
        shape.note,
        _outcome(results, shape, page, finished),
    ]
    return tag("summary", join((piece for piece in pieces if piece), " "))


def _outcome(results: Sequence[ToolResult], shape: Asked, page: Page, finished: bool) -> Markup:
    if not results:
        words, kind = ("no result", "none") if finished else ("no result yet", "waiting")
    else:
        words = kind = results[-1].status
        if shape.outcomes:
            words = shape.outcomes[0 if kind == "ok" else 1]
    return tag("span", page.say(words), class_=f"outcome {kind}")


def _arguments(arguments: Any, shape: Asked | None, page: Page) -> list[Markup]:
    if not arguments:
        return []
    if shape is None:
        return [raw_value(arguments, page)]
    rest = {key: value for key, value in arguments.items() if key not in shape.used}
    return [_listed(rest, page) if rest else EMPTY, shape.body]


def _listed(arguments: Mapping[str, Any], page: Page) -> Markup:
    """Arguments that need no form of their own, name by name."""
    told = []
    for name, value in arguments.items():
        shown = page.cut(pretty(value))
        told += [tag("dt", name), tag("dd", shown.text, page.more(shown))]
    return tag("dl", join(told), class_="arguments")


def _came(came: Came, shape: Asked, page: Page) -> Markup:
    result = came.result
    if shape.answers and result.status == "ok":
        return came.marks + came.pictures
    plain = result.status == "ok" or shape.manner == "terminal"
    shown = output(result.output, shape if plain else Asked(), page)
    kind = f"result {result.status}"
    return tag("div", came.marks, shown, came.pictures, class_=kind)
