"""Texts, messages, conversations and raw records with their secrets masked, and what that was.

Knows what is made of what; where secrets stand is `find`'s.
"""

from __future__ import annotations

import hmac
import json
import os
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from operator import is_
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from rireki.home import SETTINGS, Home, data_directory
from rireki.masking.find import Finder, FoundSecret, finder
from rireki.masking.key import ensure_key
from rireki.masking.known import known_values
from rireki.model.conversation import Conversation, Trouble
from rireki.model.message import Message
from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)

__all__ = ["Mark", "Masker"]


#: Nothing shorter is a secret, nor a name with one.
SHORTEST = 8
#: Where the text of a part is.
_TEXTS: dict[type, str] = {
    Text: "text",
    Thinking: "text",
    Notice: "text",
    ToolResult: "output",
    Attachment: "name",
}
_to_json = json.JSONEncoder(ensure_ascii=False).encode


class Mark(NamedTuple):
    """What stands where a secret was; equal secrets have equal numbers."""

    kind: str
    number: str

    def __str__(self) -> str:
        return f"[masked: {self.kind} #{self.number}]"


class Masker:
    """Masks what it is given, and counts in `found` what that was."""

    def __init__(self, key: bytes, finder: Finder) -> None:
        self._key = key
        self._finder = finder
        #: How often each secret was masked.
        self.found: Counter[Mark] = Counter()

    @classmethod
    def for_home(cls, home: Home) -> Masker:
        """With the key of the archive, and the values of this environment and the user's settings."""
        values = known_values(os.environ, data_directory() / SETTINGS)
        return cls(ensure_key(home), finder(tuple(values.items())))

    def text(self, text: str) -> str:
        if len(text) < SHORTEST:
            return text
        data = text.encode("utf-8", "surrogatepass")
        findings = self._finder.find(data)
        return self._masked(data, findings).decode("utf-8", "surrogatepass") if findings else text

    def record(self, data: bytes) -> bytes:
        """A raw record: what was JSON still is."""
        masked = self._bytes(data)
        if masked is data or not _is_json(data) or _is_json(masked):
            return masked
        # A finding that reached over the end of a string: value by value, none can.
        value = self._walked(json.loads(data))
        return _to_json(value).encode("utf-8", "surrogatepass")

    def records(self, records: Sequence[bytes]) -> list[bytes]:
        """Records that follow each other, also where a secret goes on from one to the next."""
        masked = [self.record(record) for record in records]
        ends = list(accumulate(map(len, masked)))
        whole = b"".join(masked)
        for finding in reversed(self._finder.find(whole)):
            first = bisect_right(ends, finding.start)
            # A line of JSON ends what stands in it.
            if finding.end > ends[first] and not _is_json(masked[first]):
                self._take_out(masked, ends, finding)
        return masked

    def _take_out(self, records: list[bytes], ends: list[int], finding: FoundSecret) -> None:
        """The mark stands in the first of them."""
        mark = Mark(finding.kind, self._number(finding.secret))
        self.found[mark] += 1
        first = bisect_right(ends, finding.start)
        for place in range(first, bisect_left(ends, finding.end) + 1):
            begin = ends[place - 1] if place else 0
            left = records[place][: max(finding.start - begin, 0)]
            right = records[place][finding.end - begin :] if finding.end > begin else b""
            if place < len(ends) - 1 and ends[place] <= finding.end:
                # What ends a line still does.
                right = b"\n" if records[place].endswith(b"\n") else b""
            records[place] = left + (str(mark).encode() if place == first else b"") + right

    def _walked(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case list():
                return [self._walked(each) for each in value]
            case dict():
                return {key: self._walked(each) for key, each in value.items()}
        return value

    def file(self, data: bytes) -> bytes:
        """The bytes of an attachment; those of a picture, or of anything that is no text, as they are."""
        try:
            data.decode()
        except UnicodeDecodeError:
            return data
        return self.record(data)

    def message(self, message: Message) -> Message:
        """The very same one where there is nothing to mask, as most are."""
        label = message.label and self.text(message.label)
        parts = [self.part(part) for part in message.parts]
        if label is message.label and all(map(is_, parts, message.parts)):
            return message
        return replace(message, label=label, parts=parts)

    def conversation(self, conversation: Conversation) -> Conversation:
        project = conversation.project and self.text(conversation.project)
        return replace(
            conversation,
            title=self.text(conversation.title),
            project=project,
            trail=[self.text(folder) for folder in conversation.trail],
            troubles=[self._trouble(trouble) for trouble in conversation.troubles],
        )

    def _trouble(self, trouble: Trouble) -> Trouble:
        return Trouble(
            self.text(trouble.place), self.text(trouble.message), self.text(trouble.hint)
        )

    def part(self, part: Part) -> Part:
        """The very same one where there is nothing to mask."""
        field = _TEXTS.get(type(part))
        if field is not None:
            text = getattr(part, field)
            masked = self.text(text)
            return part if masked is text else replace(part, **{field: masked})
        match part:
            case ToolCall(arguments=arguments):
                value = self._value(arguments)
                return part if value is arguments else replace(part, arguments=value)
            case Unknown():
                return replace(part, what=self.text(part.what), raw=self._value(part.raw))
        raise TypeError(part)

    def _value(self, value: Any) -> Any:
        """A value of JSON, with what its keys say about their values."""
        if value is None:
            return None
        if isinstance(value, str):
            return self.text(value)
        try:
            if not self._finder.find(msgspec.json.encode(value)):
                return value
            data = _to_json(value).encode("utf-8", "surrogatepass")
        except (TypeError, ValueError, RecursionError):
            # No JSON, or nested deeper than it can be written.
            return self._walked(value)
        return json.loads(self.record(data).decode("utf-8", "surrogatepass"))

    def _bytes(self, data: bytes) -> bytes:
        """The very same object where there is nothing to mask."""
        findings = self._finder.find(data)
        return self._masked(data, findings) if findings else data

    def _masked(self, data: bytes, findings: list[FoundSecret]) -> bytes:
        pieces: list[bytes] = []
        end = 0
        for finding in findings:
            mark = Mark(finding.kind, self._number(finding.secret))
            self.found[mark] += 1
            pieces += [data[end : finding.start], str(mark).encode()]
            end = finding.end
        return b"".join([*pieces, data[end:]])

    def _number(self, secret: bytes) -> str:
        return hmac.digest(self._key, secret, "sha256")[:2].hex()


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True
