"""JSON that is rewritten whole, cut into pieces: a second save costs what is new in it.

The pieces joined are the value, byte for byte. What a piece says is not known here.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from itertools import pairwise
from typing import NamedTuple

import msgspec

from rireki.sources.kit.decode import mended
from rireki.sources.kit.digests import digest_of_bytes, digest_of_json
from rireki.sources.reader import Content, Piece

__all__ = ["HEAD", "WHOLE", "Cuts", "split", "whole"]

#: The lane of what stands between the pieces: joined, it is the value with its lists empty.
HEAD = "head"
#: The lane of a value that could not be cut.
WHOLE = "whole"
#: A field longer than this is a piece of its own.
_LONG = 200


class Cuts(NamedTuple):
    """Which fields of a value are cut out, and into which lanes."""

    #: Lists, a piece per element; "" is the value itself, where it is a list.
    lists: Mapping[str, str]
    #: Other values, a piece each.
    values: Mapping[str, str] = {}
    #: Objects, or lists of objects, that such fields may stand in.
    inside: Container[str] = ()


def split(value: bytes, cuts: Cuts) -> list[Content]:
    """The value in pieces, or as one piece where it is not the JSON we know how to cut."""
    try:
        return _cut(value, value, cuts)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, _Astray):
        pass
    try:
        # It may be half a character alone that is in the way.
        return _cut(value, mended(value), cuts)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, _Astray):
        return whole(value)


def _cut(value: bytes, readable: bytes, cuts: Cuts) -> list[Content]:
    """`readable` is the value, or as long and cut at the same places."""
    cutter = _Cutter(value, readable, cuts)
    if "" in cuts.lists:
        items = msgspec.json.decode(readable, type=list[msgspec.Raw])
        cutter.cut_list(cuts.lists[""], readable.index(b"["), items)
    else:
        cutter.cut_fields(msgspec.json.decode(readable, type=dict[str, msgspec.Raw]))
    return cutter.finish()


def whole(value: bytes) -> list[Content]:
    return [Content(WHOLE, [Piece(value, digest_of_bytes(value))])]


class _Astray(Exception):
    """A piece is not where it should follow: keys occur twice."""


class _Cutter:
    """Walks over the value from left to right; what no piece takes is head."""

    def __init__(self, value: bytes, readable: bytes, cuts: Cuts) -> None:
        self.value = value
        self.readable = readable
        self.cuts = cuts
        #: Where the search for the next piece begins, and where the last piece ended.
        self.position = 0
        self.taken = 0
        self.contents: list[Content] = []

    def cut_fields(self, fields: dict[str, msgspec.Raw]) -> None:
        for name, raw in fields.items():
            start, length = self.find(raw), len(memoryview(raw))
            first = self.value[start : start + 1]
            if first == b"[" and (lane := self.cuts.lists.get(name)):
                self.cut_list(lane, start, msgspec.json.decode(raw, type=list[msgspec.Raw]))
            elif first != b"n" and (lane := self.cuts.values.get(name)):
                self.cut(lane, start, length)
            elif first == b"{" and name in self.cuts.inside:
                self.position = start
                self.cut_fields(msgspec.json.decode(raw, type=dict[str, msgspec.Raw]))
            elif first == b"[" and name in self.cuts.inside:
                self.position = start
                for item in msgspec.json.decode(raw, type=list[dict[str, msgspec.Raw]]):
                    self.cut_fields(item)
            elif length > _LONG:
                self.cut(HEAD, start, length)
            else:
                self.position = start + length

    def find(self, raw: msgspec.Raw) -> int:
        start = self.readable.find(raw, self.position)
        if start < 0:
            raise _Astray
        return start

    def cut(self, lane: str, start: int, length: int) -> None:
        self._leave(start)
        data = self.value[start : start + length]
        self._add(lane, Piece(data, digest_of_json(data)))
        self.taken = self.position = start + length

    def cut_list(self, lane: str, start: int, items: list[msgspec.Raw]) -> None:
        self.position = start + 1
        spans = []
        for item in items:
            begin = self.find(item)
            self.position = begin + len(memoryview(item))
            spans.append((begin, self.position))
        self._leave(spans[0][0] if spans else start + 1)
        gaps = {self.value[left[1] : right[0]] for left, right in pairwise(spans)}
        if len(gaps) > 1:
            for begin, end in spans:
                self.cut(lane, begin, end - begin)
            return
        data = [self.value[begin:end] for begin, end in spans]
        pieces = [Piece(item, digest_of_json(item)) for item in data]
        self.contents.append(Content(lane, pieces, gaps.pop().decode() if gaps else ","))
        self.taken = self.position = spans[-1][1] if spans else start + 1

    def finish(self) -> list[Content]:
        self._leave(len(self.value))
        return self.contents

    def _leave(self, end: int) -> None:
        """What lies between the last piece and the next one goes to the head as it stands."""
        if end > self.taken:
            data = self.value[self.taken : end]
            self._add(HEAD, Piece(data, digest_of_bytes(data)))
            self.taken = end

    def _add(self, lane: str, piece: Piece) -> None:
        last = self.contents[-1] if self.contents else None
        if lane == HEAD and last is not None and last.lane == HEAD:
            last.pieces.append(piece)
        else:
            self.contents.append(Content(lane, [piece]))
