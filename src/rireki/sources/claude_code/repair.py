"""Damaged JSON: half characters, NUL blocks, and objects glued onto one line.

Knows what a line of this source looks like only as far as telling a line from
a piece of one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

__all__ = ["is_line", "loads", "objects_in"]

#: Where a line may begin inside a damaged one. Key order is not fixed, but these come first.
_BEGIN = re.compile(
    r'\{"(?:parentUuid|logicalParentUuid|type|uuid|isSidechain|sessionId|message|timestamp|cwd'
    r'|summary|leafUuid|attachment|agentId|userType|version|slug|promptId|requestId)"'
)
#: More starting points than this are not tried: a hostile line must not cost quadratic time.
TRIES = 200
#: What is nested deeper is not handed out: whoever walks through it needs a stack as deep.
DEEPEST = 400
_MARKS = ("sessionId", "uuid", "leafUuid", "messageId")
_SURROGATES = re.compile("[\ud800-\udfff]")
_decode = msgspec.json.Decoder().decode


def loads(data: bytes | Raw) -> Any:
    """The JSON value; None when there is none, or when it is nested too deeply to be walked.

    Its text can be written out: half a surrogate becomes U+FFFD.
    """
    try:
        value = _decode(data)
    except (ValueError, RecursionError):
        return _loads_patiently(bytes(data))
    if type(value) is str:
        return value
    return None if _has_many_brackets(bytes(data)) and _is_deep(value) else value


def _loads_patiently(data: bytes) -> Any:
    """What the standard library makes of it. Only here half surrogates get in: msgspec refuses them."""
    try:
        return _clean(json.loads(data.decode("utf-8", "replace"), strict=False))
    except (ValueError, RecursionError):
        return None


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value


def _has_many_brackets(data: bytes) -> bool:
    """Whether it could be nested deeply at all: nearly nothing can, so nearly nothing is walked."""
    return data.count(b"{") + data.count(b"[") > DEEPEST


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        inside = (one.values() if isinstance(one, dict) else one for one in level)
        level = [item for items in inside for item in items if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def is_line(value: Any) -> bool:
    """Whether a JSON value is a line of a transcript rather than something inside one."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("type"), str)
        and any(mark in value for mark in _MARKS)
    )


def objects_in(data: bytes) -> Iterator[bytes]:
    """The pieces of a damaged line in order: whole objects, and what lies between them."""
    text = data.replace(b"\0", b"").decode("utf-8", "replace").strip()
    decoder = json.JSONDecoder(strict=False)
    position = lost = 0
    for _ in range(TRIES):
        start = _BEGIN.search(text, position)
        if start is None:
            break
        try:
            value, end = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.end()
            continue
        if not is_line(value):
            position = start.end()
            continue
        if between := text[lost : start.start()].strip():
            yield between.encode("utf-8", "replace")
        yield text[start.start() : end].encode("utf-8", "replace")
        position = lost = end
    if rest := text[lost:].strip():
        yield rest.encode("utf-8", "replace")
