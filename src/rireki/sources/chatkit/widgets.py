"""A widget's tree as an outline in plain text: every component, with what it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rireki.sources.kit.fields import string, words

__all__ = ["outline", "said_in"]

#: What lies deeper or comes later is in the record, and not shown.
_DEEPEST = 40
_LINES = 2000
#: Fields of a widget whose text is seen.
_SHOWN = ("value", "label", "title", "text", "caption", "description", "placeholder", "alt")


def outline(tree: Any) -> str:
    lines: list[str] = []
    for line in _lines(tree, 0):
        if len(lines) == _LINES:
            lines.append("…")
            break
        lines.append(line)
    return "\n".join(lines)


def said_in(tree: Any, depth: int = 0) -> Iterator[str]:
    """The words of a widget that people see."""
    if depth > _DEEPEST:
        return
    for key, item in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if isinstance(item, dict | list):
            yield from said_in(item, depth + 1)
        elif isinstance(item, str) and key in _SHOWN:
            yield item


def _lines(value: Any, depth: int, name: str = "") -> Iterator[str]:
    indent = "  " * depth
    head = f"{name}: " if name else ""
    if depth > _DEEPEST:
        yield f"{indent}{head}…"
    elif isinstance(value, dict):
        inner = {key: item for key, item in value.items() if isinstance(item, dict | list)}
        plain = [
            words(item) if key == "value" else f"{key}={words(item)}"
            for key, item in value.items()
            if key not in inner and key != "type" and item is not None
        ]
        yield indent + head + " ".join(filter(None, [string(value, "type"), *plain]))
        for key, item in inner.items():
            yield from _lines(item, depth + 1, "" if key == "children" else key)
    elif isinstance(value, list):
        for item in value:
            yield from _lines(item, depth, name)
    else:
        yield f"{indent}{head}{words(value)}"
