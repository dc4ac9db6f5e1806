"""One table put into, or taken out of, a TOML text that people write by hand; all else stays as it is."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["parse", "with_table", "without_table"]

_HEADER = re.compile(r"^[ \t]*\[")


def parse(text: str) -> dict[str, Any]:
    """What the text says. Raises ValueError where it is not TOML."""
    return tomllib.loads(text.lstrip("\ufeff"))


def with_table(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """The text with this table at `path`, in place of what stood there."""
    bare = without_table(text, path)
    table = [
        f"[{'.'.join(path)}]",
        *(f"{name} = {_written(value)}" for name, value in values.items()),
    ]
    gap = "\n" if bare.strip() else ""
    made = bare.rstrip("\n") + ("\n" if bare.strip() else "") + gap + "\n".join(table) + "\n"
    _ensure_same(bare, made, path, dict(values))
    return made


def without_table(text: str, path: Sequence[str]) -> str:
    """The text without the table and those below it."""
    before = parse(text)
    if _at(before, path) is None:
        return text
    lines = text.splitlines(keepends=True)
    headers = _headers(text, lines)
    kept: list[str] = []
    for number, line in enumerate(lines):
        here = next((names for at, names in reversed(headers) if at <= number), ())
        if tuple(here[: len(path)]) != tuple(path):
            kept.append(line)
    made = re.sub(r"\n{3,}\Z", "\n", "".join(kept))
    made = made.rstrip("\n") + "\n" if made.strip() else ""
    _ensure_same(text, made, path, None)
    return made


def _headers(text: str, lines: Sequence[str]) -> list[tuple[int, tuple[str, ...]]]:
    """The lines on which tables begin, with their names. What looks like one in a text of several
    lines is none: up to it the file would not be whole."""
    found: list[tuple[int, tuple[str, ...]]] = []
    above = ""
    for number, line in enumerate(lines):
        if _HEADER.match(line) and _is_whole(above):
            names = _names(line)
            if names:
                found.append((number, names))
        above += line
    return found


def _is_whole(text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _names(line: str) -> tuple[str, ...]:
    try:
        value: Any = tomllib.loads(line)
    except ValueError:
        return ()
    names: list[str] = []
    while isinstance(value, Mapping | list) and value:
        if isinstance(value, list):
            value = value[0]
            continue
        name, value = next(iter(value.items()))
        names.append(name)
    return tuple(names)


def _at(value: Any, path: Sequence[str]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _ensure_same(before: str, after: str, path: Sequence[str], entry: Any) -> None:
    """Nothing but our table may be another: else it stands there in a way that we do not write."""
    left, right = parse(before), parse(after)
    if _at(right, path) != entry or _without(left, path) != _without(right, path):
        raise ValueError(f"{'.'.join(path)} stands there in a way that cannot be changed safely")


def _without(value: Any, path: Sequence[str]) -> Any:
    """A copy without what stands at the path, and without tables that it leaves empty."""
    if not path or not isinstance(value, Mapping):
        return value
    copy = dict(value)
    if path[0] in copy:
        inner = None if len(path) == 1 else _without(copy[path[0]], path[1:])
        if inner:
            copy[path[0]] = inner
        else:
            del copy[path[0]]
    return copy


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    # A basic string of TOML takes what a string of JSON has, DEL apart.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
