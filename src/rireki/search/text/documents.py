"""What of a conversation is searched: every message people can see, as texts and facts.

Left out are the messages no face shows: system prompts, tool lists, the copies
of a prompt that a program keeps for itself.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from rireki.model.colours import without_colours
from rireki.model.message import Message
from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from rireki.search.language.match import Doc
from rireki.search.results import Where
from rireki.search.text.tokens import fold

__all__ = ["TOO_LONG", "docs_in_turn", "docs_of", "project_in", "conversation_facts"]

#: An argument of this many characters stands by itself: it is a file or a script.
LONG_ARGUMENT = 400
#: Values nested deeper than this are not walked; readers give out hardly any.
DEEPEST = 400
#: Stands for a project whose path is longer than a fact can be.
TOO_LONG = "\x01"
_LONGEST = 1000
_SPACE = re.compile(r"\s")
#: A key of this form is the name of a field; any other is something the agent said.
_FIELD = re.compile("[A-Za-z0-9_]*")
_PARTING = re.compile(r"[\s%]")
_PARTED = re.compile("%([0-9a-f]{6})")
#: A message, and the id of the one that took its place.
_Told: TypeAlias = tuple[Doc, str | None]


def docs_of(messages: Iterable[Message], at: str | None = None) -> list[Doc]:
    """The messages of a conversation as queries see them, in order.

    `at` is the time of the conversation: its messages have that where none of them has one.
    """
    told = list(_timed(_docs(messages), at))
    successors = {successor for _, successor in told if successor}
    return list(_news(told, successors)) if successors else [doc for doc, _ in told]


def docs_in_turn(messages: Iterable[Message], at: str | None = None) -> Iterator[Doc]:
    """The same, of messages that are not held all at once."""
    return _news(_timed(_docs(messages), at), None)


def _docs(messages: Iterable[Message]) -> Iterator[_Told]:
    tools: dict[str, str] = {}
    for message in messages:
        if message.display != "hidden":
            parts = [
                (where, without_colours(text))
                for part in message.parts
                for where, text in _texts(part)
                if text
            ]
            if message.label:
                parts += _named(message.label, parts)
            doc = Doc(message.id, message.at, _facts(message, tools), parts)
            yield doc, message.replaced_by


def _timed(told: Iterable[_Told], at: str | None) -> Iterator[_Told]:
    """What has no time of its own was said after the message before it, or before the one behind."""
    last: str | None = None
    early: list[_Told] = []
    for each in told:
        doc = each[0]
        last = doc.at = doc.at or last
        if last is None:
            early.append(each)
            continue
        yield from _at(early, last)
        early = []
        yield each
    yield from _at(early, at)


def _at(told: list[_Told], at: str | None) -> list[_Told]:
    for doc, _ in told:
        doc.at = at
    return told


def _news(told: Iterable[_Told], successors: set[str] | None) -> Iterator[Doc]:
    """An earlier version counts only where it said something else than its successor, which may come
    later. `successors` are those there are, where that is known."""
    said: dict[str | None, int] = {}
    waiting: deque[_Told] = deque()
    for each in told:
        doc, successor = each
        if not successor and (successors is None or doc.message in successors):
            said[doc.message] = hash(tuple(doc.parts))
        waiting.append(each)
        while waiting and (not waiting[0][1] or waiting[0][1] in said):
            yield from _if_news(*waiting.popleft(), said)
    for doc, successor in waiting:
        yield from _if_news(doc, successor, said)


def _if_news(doc: Doc, successor: str | None, said: dict[str | None, int]) -> list[Doc]:
    same = successor and said.get(successor) == hash(tuple(doc.parts))
    return [] if same else [doc]


def _named(label: str, parts: list[tuple[Where, str]]) -> list[tuple[Where, str]]:
    """What a message is about, where that stands nowhere else: the `notes.txt` of `file: notes.txt`."""
    name = label.partition(": ")[2]
    return [("notice", name)] if name and not any(name in text for _, text in parts) else []


def _texts(part: Part) -> Iterator[tuple[Where, str]]:
    if isinstance(part, Text):
        yield "text", part.text
    elif isinstance(part, ToolResult):
        yield "result", part.output
    elif isinstance(part, ToolCall):
        yield from _call(part)
    elif isinstance(part, Thinking):
        yield "thinking", part.text
    elif isinstance(part, Notice):
        yield "notice", part.text
    elif isinstance(part, Attachment):
        yield "attachment", part.name
    elif isinstance(part, Unknown):
        yield "unknown", "\n".join([part.what, *_strings(part.raw)])


def _call(call: ToolCall) -> Iterator[tuple[Where, str]]:
    short: list[str] = [call.name]
    for text in _strings(call.arguments):
        if len(text) >= LONG_ARGUMENT:
            yield "call", text
        else:
            short.append(text)
    yield "call", "\n".join(short)


def _strings(value: Any, depth: int = 0, *, named: bool = False) -> Iterator[str]:
    """Every text and number in a JSON value; true, false and null say nothing by themselves.

    Nor do the names of fields, as a tool's parameters and the entries of a list have them. In
    an object within an object, as `env` is one, the agent chose the names (`named`).
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and depth < DEEPEST:
        for key, item in value.items():
            if named or not _FIELD.fullmatch(key):
                yield key
            yield from _strings(item, depth + 1, named=isinstance(item, dict))
    elif isinstance(value, list) and depth < DEEPEST:
        for item in value:
            yield from _strings(item, depth + 1)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)


def _facts(message: Message, tools: dict[str, str]) -> list[str]:
    """What filters ask about one message; `tools` gathers the tool behind each call."""
    facts = {f"author:{message.author}": None}
    if message.model:
        facts[f"model:{message.model}"] = None
    for part in message.parts:
        for fact in _facts_of(part, tools):
            facts[fact] = None
    if message.upstream == "gone":
        facts["is:gone"] = None
    if message.abandoned:
        facts["is:abandoned"] = None
    # A space would end the fact where the index is concerned.
    parted = " ".join(facts).split()
    return parted if len(parted) == len(facts) else [_SPACE.sub("_", fact) for fact in facts]


def _facts_of(part: Part, tools: dict[str, str]) -> Iterator[str]:
    if isinstance(part, ToolCall):
        tools[part.call_id] = part.name
        yield from ("has:call", f"tool:{part.name}")
    elif isinstance(part, ToolResult):
        if part.call_id in tools:
            yield f"tool:{tools[part.call_id]}"
        if part.status == "error":
            yield "has:error"
    elif isinstance(part, Thinking):
        yield "has:thinking"
    elif isinstance(part, Attachment):
        yield "has:attachment"
    elif isinstance(part, Notice) and part.level == "error":
        yield "has:error"


def conversation_facts(source: str, nature: str, project: str | None) -> list[str]:
    """What filters ask about a whole conversation, folded, said of each of its messages."""
    folded = fold(project or "").encode("utf-8", "replace").decode()
    path = _PARTING.sub(lambda found: f"%{ord(found[0]):06x}", folded)
    if len(path) > _LONGEST:
        path = TOO_LONG
    return [f"source:{source}", f"nature:{nature}", f"project:{path}"]


def project_in(fact: str) -> str:
    """The path in a fact, folded."""
    path = fact.removeprefix("project:")
    return _PARTED.sub(lambda found: chr(int(found[1], 16)), path)
