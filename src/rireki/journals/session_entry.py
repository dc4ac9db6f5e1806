"""One line of a bridge's journal: something the person sent, the agent did, or the bridge decided.

Knows the spelling only. What the entries mean for people stands in `sources/bridge/`; what they
mean for the bridge, in its own log.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

__all__ = ["SILENT", "BridgeEntry", "fits", "parse", "spell"]

VERSION = 1
#: Kinds in which the bridge speaks to itself.
SILENT = frozenset({"session", "process", "proceed", "stop"})
#: What an entry of each kind cannot do without.
_NAMED = {
    **dict.fromkeys(("prompt", "edit", "withdraw", "given", "ask", "answer"), "id"),
    **dict.fromkeys(("text", "thought"), "block"),
    **dict.fromkeys(("call", "result"), "call"),
}
#: Fields that are text and lists wherever they are.
_TEXTS = ("text", "level", "state")
_LISTS = ("images", "diffs", "entries")


class BridgeEntry(msgspec.Struct, frozen=True):
    """`more` has the fields of its kind; what nobody knows stays in it, too."""

    #: Its number among the bridge's events; always greater than the one before.
    number: int
    at: str
    kind: str
    more: dict[str, Any]

    def text(self, name: str) -> str:
        """A field that is text; empty when it is not there or something else."""
        value = self.more.get(name)
        return value if isinstance(value, str) else ""


def fits(entry: BridgeEntry) -> bool:
    """Whether its values are of the sort that its kind has."""
    name = _NAMED.get(entry.kind)
    more = entry.more
    return (
        (name is None or bool(entry.text(name)))
        and all(isinstance(more.get(text, ""), str | None) for text in _TEXTS)
        and all(isinstance(more.get(some, []), list | None) for some in _LISTS)
    )


def spell(entry: BridgeEntry) -> bytes:
    """The entry as a line of JSON, its newline included."""
    value = {"v": VERSION, "n": entry.number, "at": entry.at, "kind": entry.kind, **entry.more}
    try:
        return msgspec.json.encode(value) + b"\n"
    except (UnicodeEncodeError, OverflowError):
        # Half a surrogate pair, or a number beyond 64 bits.
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def parse(line: bytes) -> BridgeEntry | None:
    """The entry of a line; None when it is none."""
    value = _decode(line)
    if not isinstance(value, dict) or value.pop("v", None) != VERSION:
        return None
    number, at, kind = value.pop("n", None), value.pop("at", None), value.pop("kind", None)
    if type(number) is not int or not isinstance(at, str) or not isinstance(kind, str):
        return None
    return BridgeEntry(number, at, kind, value)


def _decode(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            return None
