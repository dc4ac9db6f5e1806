"""JSON as agents really write it: typed where it fits, read all the same where it does not.

msgspec first; the standard library where msgspec refuses (half surrogates, NaN,
bytes that are no UTF-8). Text comes out clean: what is no Unicode becomes U+FFFD.
Nothing here raises for bad input but `NotReadable`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from rireki.errors import Wording

__all__ = [
    "TOO_DEEP",
    "NotReadable",
    "clean",
    "elements",
    "fit",
    "fit_loosely",
    "is_too_deep",
    "json_in",
    "load",
    "mended",
    "text_of",
]

T = TypeVar("T")
#: What lies deeper is not read: no decoder goes down without end.
DEEPEST = 200
TOO_DEEP = Wording("innermost-not-shown")
_INNERMOST = b'"(nested too deeply)"'
_BRACKETS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)


class NotReadable(Wording, Exception):
    """The bytes are no JSON that can be read; says why."""


def load(data: bytes) -> Any:
    """The JSON value of the bytes."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _load_patiently(data)


def json_in(value: Any) -> Any:
    """An object or a list that is spelled in a text, as arguments of tools are; anything else as it is:
    a script, a patch, what is still coming in."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return load(value.encode("utf-8", "replace"))
    except NotReadable:
        return value


#: A character in two halves, a half alone, any other escape.
_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)


def mended(data: bytes) -> bytes:
    """The same JSON, byte for byte as long, with U+FFFD for half a character.

    JavaScript writes one where it cut a text in the middle of it, and msgspec then refuses all of it.
    """
    return _ESCAPES.sub(lambda found: b"\\ufffd" if found[1] else found[0], data)


def elements(data: bytes) -> Iterator[bytes]:
    """The items of a list, each as it is written. Raises msgspec's error where it is no list."""
    try:
        found = msgspec.json.decode(data, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeError):
        readable = mended(data)
        found = msgspec.json.decode(readable, type=list[msgspec.Raw])
    else:
        readable = data
    end = 0
    for item in map(bytes, found):
        # Between two items there are only signs and white space.
        start = readable.index(item, end)
        end = start + len(item)
        yield data[start:end]


def _load_patiently(data: bytes) -> Any:
    """What the standard library makes of it."""
    try:
        return clean(json.loads(data.decode("utf-8", "replace")))
    except RecursionError:
        pruned = _prune(data)
        if pruned == data:
            raise NotReadable("json-too-deep") from None
        return load(pruned)
    except ValueError as error:
        raise NotReadable("broken-json", why=error) from None


def is_too_deep(data: bytes) -> bool:
    """Whether a decoder gave up on the JSON for its depth alone."""
    try:
        msgspec.json.decode(data)
    except RecursionError:
        return True
    except (msgspec.MsgspecError, UnicodeError):
        return False
    return False


def _prune(data: bytes) -> bytes:
    """The same JSON with a short text in place of whatever is nested too deeply to be decoded."""
    kept: list[bytes] = []
    depth = begin = 0
    for token in _BRACKETS.finditer(data):
        if token[0] in (b"[", b"{"):
            depth += 1
            if depth == DEEPEST + 1:
                kept += [data[begin : token.start()], _INNERMOST]
        elif token[0] in (b"]", b"}"):
            if depth == DEEPEST + 1:
                begin = token.end()
            depth -= 1
    return b"".join(kept) + (data[begin:] if depth <= DEEPEST else b"")


def fit(value: Any, kind: type[T]) -> T | None:
    """The value as one of our types, or None when it is something else."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.MsgspecError, RecursionError):
        return None


def fit_loosely(value: Any, kind: type[T]) -> tuple[T, dict[str, Any]]:
    """The value as one of our types (all fields optional), and the fields that would not fit."""
    fields = value if isinstance(value, dict) else {}
    whole = fit(fields, kind)
    if whole is not None:
        return whole, {}
    misfits = {name: item for name, item in fields.items() if fit({name: item}, kind) is None}
    rest = {name: item for name, item in fields.items() if name not in misfits}
    return msgspec.convert(rest, kind), misfits


def clean(value: Any) -> Any:
    """The same value with halves of surrogate pairs joined or replaced, so that it can be stored."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    return value


def text_of(value: Any) -> str:
    """A JSON value on one line, for what has no better form."""
    try:
        return msgspec.json.encode(value).decode()
    except RecursionError:
        return "nested too deeply"
    except (msgspec.MsgspecError, UnicodeError, TypeError):
        return ascii(value)
