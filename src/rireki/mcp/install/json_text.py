"""One member put into, or taken out of, a JSON text that people write by hand.

Comments, trailing commas, order and spacing of everything else stay as they are: the text is never
parsed and written again, only its members are found in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = ["parse", "with_member", "without_member"]

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SCALAR = re.compile(r"[^\s,\]}/\"]+")
#: Objects within objects; settings have few.
DEEPEST = 200
_INDENT = "  "


class JsonMember(NamedTuple):
    """A member of an object: where its name begins, and where its value does and ends."""

    name: str
    start: int
    value: int
    end: int


class Members(NamedTuple):
    """An object: where its inside begins and ends, and what is in it."""

    start: int
    end: int
    members: list[JsonMember]


def parse(text: str) -> Any:
    """What the text says. Raises ValueError where it is not JSON, comments apart."""
    if not text.strip().lstrip("\ufeff"):
        return {}
    return _Reader(text).whole()


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """The text with `value` at `path`, whatever stood there."""
    if not text.strip().lstrip("\ufeff"):
        text = "{}\n"
    reader = _Reader(text)
    reader.whole()
    place = reader.members_at(0)
    for depth, name in enumerate(path):
        found = next((each for each in place.members if each.name == name), None)
        if found is None:
            rest: Any = value
            for inner in reversed(path[depth + 1 :]):
                rest = {inner: rest}
            return _inserted(text, place, name, rest)
        if depth == len(path) - 1:
            written = _written(value, _indent_before(text, found.start))
            return text[: found.value] + written + text[found.end :]
        place = reader.members_at(found.value)
    raise ValueError("no path")


def without_member(text: str, path: Sequence[str]) -> str:
    """The text without what stands at `path`; the object around it stays."""
    if not text.strip():
        return text
    reader = _Reader(text)
    reader.whole()
    place = reader.members_at(0)
    for name in path[:-1]:
        found = next((each for each in place.members if each.name == name), None)
        if found is None:
            return text
        place = reader.members_at(found.value)
    at = next((n for n, each in enumerate(place.members) if each.name == path[-1]), None)
    if at is None:
        return text
    return _removed(text, place, at)


def _removed(text: str, place: Members, at: int) -> str:
    """With the comma that parts it from its neighbour, and the line it leaves empty."""
    member = place.members[at]
    start, end = member.start, member.end
    blank = _BLANK.match(text, end)
    comma = blank.end() if blank else end
    if text[comma : comma + 1] == ",":
        end = comma + 1
    elif at:
        before = place.members[at - 1].end
        comma = text.index(",", before) if "," in text[before:start] else start
        text = text[:comma] + text[comma + 1 :] if comma < start else text
        shift = 1 if comma < start else 0
        start, end = start - shift, end - shift
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip():
        after = re.compile(r"[ \t]*\n?").match(text, end)
        end = after.end() if after else end
        start = line
        if not text[end:].lstrip(" \t").startswith("}") or text[end - 1 : end] == "\n":
            return text[:start] + text[end:]
    return text[:start] + text[end:]


def _inserted(text: str, place: Members, name: str, value: Any) -> str:
    """As the last member, laid out like those before it."""
    own = _indent_before(text, place.start - 1)
    indent = _indent_before(text, place.members[0].start) if place.members else own + _INDENT
    if len(indent) <= len(own):
        indent = own + _INDENT
    line = f"{indent}{json.dumps(name)}: {_written(value, indent)}"
    if not place.members:
        inside = text[place.start : place.end]
        if inside.strip():
            # Only comments: they stay above.
            return text[: place.end].rstrip() + f"\n{line}\n{own}" + text[place.end :]
        return text[: place.start] + f"\n{line}\n{own}" + text[place.end :]
    last = place.members[-1].end
    blank = _BLANK.match(text, last)
    behind = blank.end() if blank else last
    has_comma = text[behind : behind + 1] == ","
    if has_comma:
        behind += 1
        return text[:behind] + f"\n{line}" + _closing(text, behind, place.end, own)
    return text[:last] + f",\n{line}".replace("\n", "\n", 1) + _closing(text, last, place.end, own)


def _closing(text: str, behind: int, end: int, own: str) -> str:
    """What stood between the last member and the brace, on a line of its own."""
    rest = text[behind:end]
    return (rest if "\n" in rest else rest.rstrip() + f"\n{own}") + text[end:]


def _written(value: Any, indent: str) -> str:
    lines = json.dumps(value, indent=2, ensure_ascii=False).split("\n")
    return f"\n{indent}".join(lines)


def _indent_before(text: str, at: int) -> str:
    """The white space at the beginning of the line of a place."""
    line = text.rfind("\n", 0, at) + 1
    return text[line : len(text[:at]) - len(text[line:at].lstrip(" \t"))] if at > line else ""


class _Reader:
    """Goes over a text once, and remembers where the members of each object stand."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0
        self.objects: dict[int, Members] = {}

    def whole(self) -> Any:
        self.blank()
        value = self.value(0)
        self.blank()
        if self.at != len(self.text):
            raise self.wrong()
        if not isinstance(value, dict):
            raise ValueError("it is not an object")
        return value

    def members_at(self, start: int) -> Members:
        """Those of the object that begins there, or first of all behind it."""
        known = [at for at in self.objects if at >= start]
        if not known or (start and start not in self.objects):
            raise ValueError("a setting that should be an object is none")
        return self.objects[start if start in self.objects else min(known)]

    def wrong(self) -> ValueError:
        line = self.text.count("\n", 0, self.at) + 1
        return ValueError(f"line {line} is not JSON")

    def blank(self) -> None:
        found = _BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def value(self, depth: int) -> Any:
        if depth > DEEPEST:
            raise ValueError("it is nested too deep")
        sign = self.text[self.at : self.at + 1]
        if sign == "{":
            return self.object(depth)
        if sign == "[":
            return self.array(depth)
        pattern = _STRING if sign == '"' else _SCALAR
        found = pattern.match(self.text, self.at)
        if found is None:
            raise self.wrong()
        try:
            value = json.loads(found[0])
        except ValueError:
            raise self.wrong() from None
        self.at = found.end()
        return value

    def object(self, depth: int) -> dict[str, Any]:
        start = self.at
        self.at += 1
        found: dict[str, Any] = {}
        members: list[JsonMember] = []
        while True:
            self.blank()
            if self.text[self.at : self.at + 1] == "}":
                self.objects[start] = Members(start + 1, self.at, members)
                self.at += 1
                return found
            begins = self.at
            name = _STRING.match(self.text, self.at)
            if name is None:
                raise self.wrong()
            self.at = name.end()
            self.blank()
            self.sign(":")
            self.blank()
            value_at = self.at
            key = json.loads(name[0])
            if key in found:
                raise ValueError(f"{key!r} stands there twice")
            found[key] = self.value(depth + 1)
            members.append(JsonMember(key, begins, value_at, self.at))
            self.blank()
            if self.text[self.at : self.at + 1] != "}":
                self.sign(",")

    def array(self, depth: int) -> list[Any]:
        self.at += 1
        found: list[Any] = []
        while True:
            self.blank()
            if self.text[self.at : self.at + 1] == "]":
                self.at += 1
                return found
            found.append(self.value(depth + 1))
            self.blank()
            if self.text[self.at : self.at + 1] != "]":
                self.sign(",")

    def sign(self, sign: str) -> None:
        if self.text[self.at : self.at + 1] != sign:
            raise self.wrong()
        self.at += 1
