"""Cuts a saved conversation into the pieces that change and those that do not.

The agent rewrites the whole value on every answer. Cut into one piece per
history entry and transcript line, with everything between them as the head, a
re-saved value costs what is new in it. The pieces joined are the value, byte
for byte. Nothing here knows what an entry means.
"""

from __future__ import annotations

from itertools import pairwise

import msgspec

from rireki.sources.kit.digests import digest_of_bytes, digest_of_json
from rireki.sources.reader import Content, Piece

__all__ = ["HEAD", "HISTORY", "LISTS", "SUMMARY", "TRANSCRIPT", "WHOLE", "split", "whole"]

HEAD = "head"
HISTORY = "history"
TRANSCRIPT = "transcript"
SUMMARY = "summary"
WHOLE = "whole"

#: Lists that are cut into one piece per element, wherever they stand, and their lanes.
LISTS = {
    "history": HISTORY,
    "main_history": HISTORY,
    "history_snapshot": HISTORY,
    "transcript": TRANSCRIPT,
    "main_transcript": TRANSCRIPT,
}
_SUMMARIES = ("latest_summary", "main_latest_summary")
_INSIDE = ("tangent_state", "checkpoint_manager")
#: A field longer than this is a piece of its own: tools, file tracker, context manager.
_LONG = 200


def split(value: bytes) -> list[Content]:
    """The value in pieces, or as one piece where it is not the JSON we know how to cut."""
    try:
        fields = msgspec.json.decode(value, type=dict[str, msgspec.Raw])
        cutter = _Cutter(value)
        _cut(cutter, fields)
        return cutter.finish()
    except (msgspec.MsgspecError, UnicodeError, RecursionError, _Astray):
        return whole(value)


def whole(value: bytes) -> list[Content]:
    return [Content(WHOLE, [Piece(value, digest_of_bytes(value))])]


class _Astray(Exception):
    """A piece is not where it should follow: keys occur twice."""


def _cut(cutter: _Cutter, fields: dict[str, msgspec.Raw]) -> None:
    for name, raw in fields.items():
        start = cutter.find(raw)
        first = cutter.value[start : start + 1]
        if name in LISTS and first == b"[":
            cutter.cut_list(LISTS[name], start, msgspec.json.decode(raw, type=list[msgspec.Raw]))
        elif name in _SUMMARIES and first != b"n":
            cutter.cut(SUMMARY, start, len(memoryview(raw)))
        elif name in _INSIDE and first == b"{":
            cutter.position = start
            _cut(cutter, msgspec.json.decode(raw, type=dict[str, msgspec.Raw]))
        elif name == "checkpoints" and first == b"[":
            cutter.position = start
            for checkpoint in msgspec.json.decode(raw, type=list[dict[str, msgspec.Raw]]):
                _cut(cutter, checkpoint)
        elif len(memoryview(raw)) > _LONG:
            cutter.cut(HEAD, start, len(memoryview(raw)))
        else:
            cutter.position = start + len(memoryview(raw))


class _Cutter:
    """Walks over the value from left to right; what no piece takes is head."""

    def __init__(self, value: bytes) -> None:
        self.value = value
        #: Where the search for the next piece begins, and where the last piece ended.
        self.position = 0
        self.taken = 0
        self.contents: list[Content] = []

    def find(self, raw: msgspec.Raw) -> int:
        start = self.value.find(raw, self.position)
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
