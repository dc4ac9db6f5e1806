"""The names queries know, what people type instead of them, and how a wrong one is told."""

from __future__ import annotations

from typing import get_args

from rireki.search.language.query import FilterName

__all__ = [
    "ELSEWHERE",
    "EXAMPLES",
    "NAMES",
    "SHOWN",
    "VALUES",
    "filter_like",
    "one_edit",
    "quote",
    "short",
]

#: What is longer than this is not shown in a message.
SHOWN = 200
NAMES: dict[str, FilterName] = {name: name for name in get_args(FilterName)}
#: What people who know other search engines type for our filters.
ELSEWHERE: dict[str, FilterName] = {
    "from": "author",
    "role": "author",
    "agent": "source",
    "dir": "project",
    "path": "project",
    "cwd": "project",
    "after": "since",
    "date": "since",
    "until": "before",
    "session": "id",
    "label": "tag",
    "host": "machine",
}
EXAMPLES: dict[FilterName, str] = {
    "source": "kiro",
    "project": ".",
    "author": "person",
    "tool": "Bash",
    "since": "7d",
    "before": "yesterday",
    "has": "error",
    "is": "gone",
    "model": "opus",
    "id": "5471a680",
    "tag": "work",
    "note": "later",
    "machine": "laptop",
}
#: The values of the filters that know only some, with what else people call them.
VALUES: dict[str, dict[str, str]] = {
    "author": {
        **{name: name for name in ("person", "agent", "tool", "harness")},
        **dict.fromkeys(("user", "me", "human"), "person"),
        **dict.fromkeys(("assistant", "ai"), "agent"),
    },
    "has": {name: name for name in ("error", "attachment", "thinking", "call", "note", "tag")},
    "is": {
        **{name: name for name in ("gone", "unfinished", "subagent", "abandoned")},
        **{name: name for name in ("starred", "hidden")},
        **dict.fromkeys(("star", "favorite", "favourite"), "starred"),
    },
}


def filter_like(name: str, value: str) -> FilterName | None:
    if len(name) < 3 or name in ELSEWHERE:
        return ELSEWHERE.get(name)
    for known in NAMES.values():
        # Short names have many neighbours that are none of ours: pid:1, uid:0, hash:ab12.
        if one_edit(name, known) and (len(known) > 3 or value.lower() in VALUES.get(known, ())):
            return known
    return None


def one_edit(one: str, other: str) -> bool:
    """Whether a letter more, less or other, or two that changed places, make the difference."""
    one, other = _unlike(*_unlike(one, other))
    return (len(one) < 2 and len(other) < 2) or (len(one) == 2 and one == other[::-1])


def _unlike(one: str, other: str) -> tuple[str, str]:
    """What is left of two words without the beginning they share, each turned around."""
    pairs = zip(one, other, strict=False)
    same = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
    return one[same:][::-1], other[same:][::-1]


def quote(text: str) -> str:
    escaped = text.replace('"', r"\"")
    # A backslash at the end would be taken for one before the quote.
    at_end = escaped[len(escaped.rstrip("\\")) :]
    return f'"{escaped}{at_end}"'


def short(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
