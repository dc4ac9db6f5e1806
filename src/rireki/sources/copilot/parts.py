"""Attachments, results and tokens as both clients write them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from typing import Any

from rireki.model.message import Usage
from rireki.model.parts import Attachment, Part, ResultStatus, Text, ToolResult, Unknown
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pictures import Pictures

__all__ = ["attachments_of", "decoded", "number", "result_of", "tokens"]

#: How the shell tool ends its output: what `success` says is only that the tool worked.
_EXIT = re.compile(r"<[^<>]*\bexit code (-?\d+)>\s*$")
_REFUSED = ("denied", "rejected", "cancelled", "canceled", "aborted")


def number(value: Any) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 < value < 1 << 53 else 0


def tokens(usage: Any) -> Usage:
    """The tokens of one or more calls of a model. What was cached is part of their input."""
    read, written, cached, stored = (
        number(get(usage, f"{name}Tokens"))
        for name in ("input", "output", "cacheRead", "cacheWrite")
    )
    return Usage(max(0, read - cached - stored), written, cached, stored)


def decoded(text: str) -> bytes | None:
    """What stands in base64."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def attachments_of(given: Sequence[Any], pictures: Pictures) -> Iterator[Part]:
    """What a person attached to a prompt: files and folders by their paths, selections with their text."""
    for one in given:
        kind = string(one, "type")
        name = string(one, "displayName") or string(one, "path") or string(one, "filePath")
        media = string(one, "mimeType")
        data = decoded(string(one, "data")) if string(one, "data") else None
        if data is not None:
            yield pictures.add(data, media, name)
        elif kind in ("file", "directory", "blob"):
            folder = "inode/directory" if kind == "directory" else "application/octet-stream"
            yield Attachment(media or folder, name=string(one, "path") or name)
        elif kind == "selection":
            yield Text(f"{name}\n{string(one, 'text')}")
        else:
            yield Unknown(f"attachment: {kind}" if kind else "attachment", one)


def result_of(call: str, data: Any, pictures: Pictures) -> tuple[ToolResult, list[Part]]:
    """What a tool gave back, and the pictures in it."""
    result = get(data, "result")
    text = result if isinstance(result, str) else string(result, "content")
    text = text or string(result, "detailedContent") or words(get(data, "error", "message"))
    found: list[Part] = []
    for block in items(result, "contents"):
        picture = decoded(string(block, "data")) if string(block, "type") == "image" else None
        if picture is not None:
            found.append(pictures.add(picture, string(block, "mimeType")))
        elif string(block, "text") and string(block, "text") not in text:
            text = f"{text}\n{string(block, 'text')}" if text else string(block, "text")
        elif not string(block, "text"):
            text = f"{text}\n{words(block)}".lstrip("\n")
    return ToolResult(call, _status(data, text), text), found


def _status(data: Any, text: str) -> ResultStatus:
    """How the command ended. A command that fails still counts as a success of the tool that ran it."""
    if get(data, "success") is False:
        return "cancelled" if string(get(data, "error"), "code") in _REFUSED else "error"
    code = get(data, "shellExecution", "exitCode")
    if not isinstance(code, int):
        found = _EXIT.search(text[-200:])
        code = int(found[1]) if found else 0
    return "error" if code else "ok"
