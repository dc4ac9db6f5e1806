"""What a tool call asks for, told by the shape of its arguments.

Agents rename their tools more often than what they hand to them, so names of
arguments decide: an edit is an edit in every agent. What has no known shape is
told as JSON by the caller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from rireki.model.parts import ToolResult
from rireki.show.edits import NEW, OLD, PATCHES, PATHS, WHOLE, is_patch
from rireki.show.html.code import code_block, highlight_lines, language_of
from rireki.show.html.diff import Diff, TextChange, diff, patch
from rireki.show.html.markup import EMPTY, Markup, exact, join, tag
from rireki.show.html.page import Page
from rireki.show.html.prose import prose
from rireki.show.html.terminal import is_coloured, paint, settled
from rireki.show.safe import safe

__all__ = ["Asked", "asked", "output", "terminal"]

Arguments: TypeAlias = Mapping[str, Any]
Manner: TypeAlias = Literal["plain", "terminal", "file", "said"]

_COMMANDS = ("command", "cmd", "script")
_TODOS = ("todos", "tasks", "plan", "items")
_TODO_WORDS = ("content", "task_description", "step", "task", "title", "subject", "text", "name")
_TODO_STATES = ("status", "state", "completed", "done")
_DONE = {"completed", "complete", "done", "finished", "true"}
_DOING = {"in_progress", "in-progress", "inprogress", "doing", "active", "started"}
#: What may stand beside the path of a file that is read.
_READING = {*PATHS, "offset", "limit", "start_line", "end_line", "view_range", "mode", "pages"}
_NUMBERED = re.compile(r"^( *\d+)(?:→|\t|│ ?|\| ?)(.*)$")


class Asked(NamedTuple):
    """What the call is about, and how what came back is to be read."""

    body: Markup = EMPTY
    #: The arguments told in the body; the others are told beside it.
    used: frozenset[str] = frozenset()
    #: A few words for the line that opens it.
    note: Markup = EMPTY
    manner: Manner = "plain"
    #: By which a file that came back is coloured.
    language: str = ""
    #: Words for an outcome that differs from "ok" and "error".
    outcomes: tuple[str, str] | None = None
    #: Whether it matters enough to a reader to stand open.
    open: bool = False
    #: Whether the body tells what came back.
    answers: bool = False


def asked(arguments: Arguments, results: Sequence[ToolResult], page: Page) -> Asked | None:
    """The first shape that fits; None where none does."""
    for shape in _SHAPES:
        if found := shape(arguments, results, page):
            return found
    return None


# ── Edits ──


def _edit(arguments: Arguments, results: Sequence[ToolResult], page: Page) -> Asked | None:
    changes, used = _changes(arguments, page)
    if not changes:
        return None
    path = _string(arguments, PATHS)
    used |= {key for key in PATHS if arguments.get(key) == path and path}
    return _edited(diff(changes, page), used)


def _edited(found: Diff, used: set[str]) -> Asked:
    added = tag("span", f"+{found.added:,}", class_="added")
    removed = tag("span", f"−{found.removed:,}", class_="removed")
    return Asked(found.shown, frozenset(used), tag("span", added, " ", removed, class_="stat"))


def _changes(arguments: Arguments, page: Page) -> tuple[list[TextChange], set[str]]:
    edits = arguments.get("edits")
    if isinstance(edits, list) and edits and all(isinstance(edit, dict) for edit in edits):
        changes = [change for edit in edits if (change := _change(edit, page)[0])]
        # An edit that is not understood must not vanish among those that are.
        return (changes, {"edits"}) if len(changes) == len(edits) else ([], set())
    change, used = _change(arguments, page)
    return ([change] if change else []), used


def _change(arguments: Arguments, page: Page) -> tuple[TextChange | None, set[str]]:
    old, new = _key(arguments, OLD), _key(arguments, NEW)
    used = {key for key in (old, new) if key}
    line = arguments.get("insert_line")
    place = page.say("at line {n}", n=line) if isinstance(line, int) else ""
    if old or new:
        used |= {"command", "insert_line"} if _string(arguments, PATHS) else set()
        return TextChange(arguments.get(old or "", ""), arguments.get(new or "", ""), place), used
    whole = _key(arguments, WHOLE)
    if whole and _string(arguments, PATHS):
        return TextChange("", arguments[whole]), {whole, "command"}
    return None, set()


def _patch(arguments: Arguments, results: Sequence[ToolResult], page: Page) -> Asked | None:
    key = _key(arguments, PATCHES)
    words = arguments[key] if key else ""
    if not is_patch(words):
        return None
    return _edited(patch(words, page), {key} if key else set())


# ── Commands ──


def _command(arguments: Arguments, results: Sequence[ToolResult], page: Page) -> Asked | None:
    key = next((key for key in _COMMANDS if arguments.get(key)), None)
    command = arguments.get(key or "")
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        command = " ".join(command)
    # With a path beside it, `command` is the verb of an editor.
    if not key or not isinstance(command, str) or _string(arguments, PATHS):
        return None
    shown = page.cut(command)
    block = code_block(shown.text, "bash", page) + page.more(shown)
    return Asked(tag("div", block, class_="command"), frozenset([key]), manner="terminal")


# ── Lists and questions ──


def _todos(arguments: Arguments, results: Sequence[ToolResult], page: Page) -> Asked | None:
    for key in _TODOS:
        items = arguments.get(key)
        if isinstance(items, list) and items and all(_is_todo(item) for item in items):
            body = tag("ul", join(_todo(item, page) for item in items), class_="todos")
            return Asked(body, frozenset([key]), open=True)
    return None


def _is_todo(item: object) -> bool:
    return isinstance(item, dict) and _string(item, _TODO_WORDS) != ""


def _todo(item: Arguments, page: Page) -> Markup:
    given = next((item[key] for key in _TODO_STATES if key in item), "")
    state = str(given).lower()
    kind, name = ("todo", "to do")
    if state in _DONE:
        kind, name = "done", "done"
    elif state in _DOING:
        kind, name = "doing", "in progress"
    words = tag("span", _string(item, _TODO_WORDS), class_="what")
    sign = tag("span", page.say(name), class_="state")
    return tag("li", sign, " ", words, class_=kind)


def _plan(arguments: Arguments, results: Sequence[ToolResult], page: Page) -> Asked | None:
    plan = arguments.get("plan")
    if not isinstance(plan, str) or not plan.strip():
        return None
    body = tag("div", prose(plan, page), class_="plan")
    return Asked(
        body, frozenset(["plan"]), manner="said", outcomes=("approved", "rejected"), open=True
    )


def _questions(arguments: Arguments, results: Sequence[ToolResult], page: Page) -> Asked | None:
    questions = arguments.get("questions")
    if not isinstance(questions, list) or not questions:
        return None
    if not all(isinstance(q, dict) and isinstance(q.get("question"), str) for q in questions):
        return None
    said = "\n".join(result.output for result in results)
    answers = [_answer(question["question"], said) for question in questions]
    told = [
        _question(question, answer, page)
        for question, answer in zip(questions, answers, strict=True)
    ]
    return Asked(
        join(told),
        frozenset(["questions"]),
        outcomes=("answered", "rejected"),
        open=True,
        answers=None not in answers,
        manner="said",
    )


def _question(question: Arguments, answer: str | None, page: Page) -> Markup:
    options = [option for option in _list(question.get("options")) if _label(option)]
    labels = {_label(option) for option in options}
    chosen = _chosen(answer or "", labels)
    rows = [_option(option, _label(option) in chosen, page) for option in options]
    head = tag("p", _string(question, ("question",)), class_="question")
    own = EMPTY
    if answer and not chosen:
        own = tag("p", f"{page.say('Your answer')}: ", tag("strong", answer), class_="answer")
    return tag("div", head, tag("ul", join(rows), class_="options"), own, class_="asked")


def _option(option: object, chosen: bool, page: Page) -> Markup:
    about = _string(option, ("description",)) if isinstance(option, dict) else ""
    return tag(
        "li",
        tag("span", page.say("chosen" if chosen else "not chosen"), class_="state"),
        " ",
        tag("span", _label(option), class_="what"),
        tag("span", f" {about}", class_="about") if about else EMPTY,
        class_="chosen" if chosen else None,
    )


def _label(option: object) -> str:
    if isinstance(option, str):
        return option
    return _string(option, ("label", "value", "title")) if isinstance(option, dict) else ""


def _answer(question: str, said: str) -> str | None:
    """What was answered, out of `"the question"="the answer", "the next"=…`."""
    _, found, rest = said.partition(f'"{question}"="')
    if not found:
        return None
    end = re.search(r'"(?:, "|\.? You can|\.|\s*$)', rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def _chosen(answer: str, labels: set[str]) -> set[str]:
    if answer in labels:
        return {answer}
    parts = set(answer.split(", "))
    return parts if parts <= labels else set()


# ── Files and sub-agents ──


def _read(arguments: Arguments, results: Sequence[ToolResult], page: Page) -> Asked | None:
    operations = _list(arguments.get("operations"))
    asked_for = operations if operations else [arguments]
    paths = [_string(one, PATHS) for one in asked_for if isinstance(one, dict)]
    if not all(paths) or len(paths) != len(asked_for):
        return None
    if not operations and not arguments.keys() <= _READING:
        return None
    language = language_of(paths[0]) if len(paths) == 1 else ""
    # One path is what the line above says already.
    told = PATHS if len(paths) == 1 and not operations else ()
    return Asked(used=frozenset(told), manner="file", language=language)


def _prompt(arguments: Arguments, results: Sequence[ToolResult], page: Page) -> Asked | None:
    words = arguments.get("prompt")
    if not isinstance(words, str) or not words.strip():
        return None
    shown = page.cut(words)
    return Asked(prose(shown.text, page) + page.more(shown), frozenset(["prompt"]), manner="said")


_SHAPES: tuple[Callable[[Arguments, Sequence[ToolResult], Page], Asked | None], ...] = (
    _edit,
    _patch,
    _todos,
    _plan,
    _questions,
    _command,
    _read,
    _prompt,
)


# ── What came back ──


def output(words: str, shape: Asked, page: Page) -> Markup:
    """The output of a call, in the manner of what was asked for."""
    if not words.strip():
        return tag("p", page.say("(no output)"), class_="none")
    if shape.manner == "said" and not is_coloured(words):
        shown = page.cut(words)
        return prose(shown.text, page) + page.more(shown)
    if shape.manner == "terminal" or is_coloured(words):
        return terminal(words, page)
    shown = page.cut(words.strip("\n"))
    told = _listing(shown.text, shape.language) if shape.manner == "file" else exact(shown.text)
    if shape.manner == "plain" and _is_json(shown.text):
        return code_block(shown.text, "json", page) + page.more(shown)
    return _pre(told, "output", page) + page.more(shown)


def terminal(words: str, page: Page) -> Markup:
    """What a command printed."""
    shown = page.cut(settled(words).strip("\n"))
    return _pre(paint(shown.text), "terminal", page) + page.more(shown)


def _pre(told: Markup, kind: str, page: Page) -> Markup:
    name = page.block()
    block = tag("pre", told, id=name, class_=kind, tabindex=0)
    return tag("div", page.copy(name), block, class_="came")


def _listing(words: str, language: str) -> Markup:
    """A file: the numbers of its lines beside them, where the agent was given numbers."""
    lines = safe(words).split("\n")
    found = [_NUMBERED.match(line) for line in lines]
    numbered = next((i for i, line in enumerate(found) if line is None), len(lines))
    if not numbered:
        return join(highlight_lines(words, language), "\n")
    code = "\n".join(line[2] for line in found[:numbered] if line)
    rows = [
        tag("span", line[1], class_="ln") + coloured
        for line, coloured in zip(found, highlight_lines(code, language), strict=False)
        if line
    ]
    return join([*rows, *lines[numbered:]], "\n")


def _is_json(words: str) -> bool:
    if words[:1] not in ("{", "["):
        return False
    try:
        json.loads(words)
    except (ValueError, RecursionError):
        return False
    return True


# ── Small things ──


def _key(arguments: Arguments, names: Sequence[str]) -> str | None:
    """The first of these names under which a text stands."""
    return next((name for name in names if isinstance(arguments.get(name), str)), None)


def _string(arguments: Arguments, names: Sequence[str]) -> str:
    return next((v for name in names if isinstance(v := arguments.get(name), str) and v), "")


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
