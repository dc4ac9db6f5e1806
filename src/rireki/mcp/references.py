"""References that agents pass on: `5471a680#ab12cd34`, with `@N` behind it to go on from there."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

from rireki.errors import NotFound

__all__ = ["Reference", "parse_reference", "uri_of"]

SCHEME = "rireki://"
_CURSOR = re.compile(r"(.*)@(\d{1,9})", re.DOTALL)


class Reference(NamedTuple):
    conversation: str
    message: str = ""
    #: Where to go on: a turn of a conversation, a character of a message.
    at: int = 0


def parse_reference(given: str) -> Reference:
    """Of what an agent wrote: an id, an id and a message, a resource's address."""
    text = given.strip().strip("`<>")
    if text.startswith(SCHEME):
        text = unquote(text.removeprefix(SCHEME))
    at = 0
    if found := _CURSOR.fullmatch(text):
        text, at = found[1], int(found[2])
    conversation, _, message = text.partition("#")
    if not conversation:
        raise NotFound("no-reference", ref=given[:200])
    return Reference(conversation, message, at)


def uri_of(conversation: str, message: str = "") -> str:
    """The address of the same as a resource."""
    behind = f"#{quote(message, safe='-._~:')}" if message else ""
    return SCHEME + quote(conversation, safe="-._~/:") + behind
