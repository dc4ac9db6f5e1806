"""One line of a journal: what was added to a history, or what was done to it.

Knows the spelling only. What an entry does to the messages that a model is shown stands in
`history_log.py`; what people are shown of it, in `sources/native/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rireki.late import LateModule

if TYPE_CHECKING:
    import json

    import msgspec

    from rireki import providers
    from rireki.providers import Turn
else:
    # A history in memory that only grows needs none of them.
    json, msgspec, providers = map(LateModule, ("json", "msgspec", "rireki.providers"))

__all__ = ["GOES_ON", "MESSAGES", "JournalEntry", "parse", "parse_all", "spell"]

VERSION = 1
#: Of entries that were kept together, every one but the last has this: more of them follow.
GOES_ON = "and"
#: Kinds whose `raw` is a message, or the answer of a provider's package that holds some.
MESSAGES = frozenset({"user", "assistant", "tool", "system", "repair"})


class JournalEntry:
    """`more` has what only some kinds need: `keep`, `after`, `call`, `title`, `answer` …"""

    __slots__ = (
        "_messages",
        "_turns",
        "at",
        "id",
        "kind",
        "more",
        "parent",
        "provider",
        "raw",
        "seen",
        "seq",
    )

    def __init__(
        self,
        id: str,
        kind: str,
        raw: Any = None,
        provider: str | None = None,
        more: dict[str, Any] | None = None,
        parent: str | None = None,
        seq: int = 0,
        at: str | None = None,
    ) -> None:
        self.id = id
        self.kind = kind
        self.raw = raw
        self.provider = provider
        self.more: dict[str, Any] = more or {}
        self.parent = parent
        self.seq = seq
        self.at = at
        #: The messages as they were when `turns` was read; only where they can change.
        self.seen: list[Any] | None = None
        self._messages: list[Any] | None = None
        self._turns: list[list[Turn]] | None = None

    def text(self, name: str) -> str | None:
        """A value of `more`, if it is there and is text."""
        value = self.more.get(name)
        return value if isinstance(value, str) else None

    @property
    def messages(self) -> list[Any]:
        """The messages it adds to the history: one, none, or the items of an answer."""
        if self._messages is None:
            self._messages = self._read_messages()
        return self._messages

    def _read_messages(self) -> list[Any]:
        if self.kind not in MESSAGES:
            return [_summary_message(str(self.raw or ""))] if self.kind == "summary" else []
        if not self.more.get("answer"):
            return [self.raw]
        return [message for message in providers.unwrap(self.raw)[1] if message is not None]

    @property
    def turns(self) -> list[list[Turn]]:
        """Each message in the neutral form; read once."""
        if self._turns is None:
            provider = self.provider if self.provider in providers.PROVIDERS else None
            self._turns = [providers.decode(provider, [message]) for message in self.messages]
        return self._turns

    def reread(self, seen: list[Any]) -> None:
        """The messages are no longer what they were: `turns` is to be read again."""
        self.seen, self._turns = seen, None


def _summary_message(summary: str) -> dict[str, Any]:
    """How a model is told what went before: the words of a program, and marked as such."""
    return {"role": "user", "content": f"[summary]\n{summary}"}


def spell(entry: JournalEntry) -> bytes:
    """The entry as a line of JSON, its newline included."""
    value: dict[str, Any] = {
        "v": VERSION,
        "id": entry.id,
        "parent": entry.parent,
        "seq": entry.seq,
        "at": entry.at,
        "kind": entry.kind,
        **entry.more,
    }
    if entry.provider is not None:
        value["provider"] = entry.provider
    if entry.raw is not None:
        value["raw"] = entry.raw
    return _encode(value) + b"\n"


def _encode(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError):
        # Half a surrogate pair, or a number beyond 64 bits.
        return json.dumps(value, separators=(",", ":")).encode()


def parse(line: bytes) -> JournalEntry | None:
    """The entry of a line; None when it is none."""
    return _made(_decode(line))


def parse_all(lines: Sequence[bytes]) -> list[JournalEntry | None]:
    """What `parse` says of each line, sooner."""
    try:
        values = msgspec.json.Decoder().decode_lines(b"".join(lines))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        values = []
    if len(values) != len(lines):
        return [parse(line) for line in lines]
    return [_made(value) for value in values]


def _made(value: Any) -> JournalEntry | None:
    if type(value) is not dict:
        return None
    take = value.pop
    id, kind = take("id", None), take("kind", None)
    if take("v", None) != VERSION or type(id) is not str or type(kind) is not str or not id:
        return None
    # Made by hand: a history of thousands is read when it is gone on with, and this is sooner.
    entry = JournalEntry.__new__(JournalEntry)
    entry.id, entry.kind, entry.raw = id, kind, take("raw", None)
    provider, parent = take("provider", None), take("parent", None)
    seq, at = take("seq", None), take("at", None)
    entry.provider = provider if type(provider) is str else None
    entry.parent = parent if type(parent) is str else None
    entry.seq = seq if type(seq) is int else 0
    entry.at = at if type(at) is str else None
    # An emptied dict keeps its room.
    entry.more = value or {}
    entry.seen = entry._messages = entry._turns = None
    return entry


def _decode(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            return None
