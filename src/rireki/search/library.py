"""The texts of messages, wherever they are: beside the index, in the archive, or read anew."""

from __future__ import annotations

import json
from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

import zstandard
from msgspec import Raw

from rireki.archive.base import Archive, Heading
from rireki.model.conversation import Conversation
from rireki.search.blocks import MOST, Entry, open_block, open_entry, text_of
from rireki.search.index import Index
from rireki.search.match import Doc
from rireki.search.store import Damaged
from rireki.search.texts import docs_of

__all__ = ["Library", "Read"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
#: Blocks (of 18 KB mostly), chunks of the archive (of 64 KB) and conversations that are kept at hand.
BLOCKS, CHUNKS, TALKS = 1200, 200, 32


class _Shelf(Generic[K, V]):
    """The last few things that were fetched."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.things: OrderedDict[K, V] = OrderedDict()

    def peek(self, key: K) -> V | None:
        if key not in self.things:
            return None
        self.things.move_to_end(key)
        return self.things[key]

    def get(self, key: K, fetch: Callable[[], V]) -> V:
        if key in self.things:
            self.things.move_to_end(key)
            return self.things[key]
        found = self.things[key] = fetch()
        if len(self.things) > self.size:
            self.things.popitem(last=False)
        return found


class Read(NamedTuple):
    conversation: Conversation
    docs: list[Doc]


class Library:
    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.index: Index | None = None
        self._blocks: _Shelf[int, tuple[list[int], list[Raw]]] = _Shelf(BLOCKS)
        self._chunks: _Shelf[tuple[int, str, int], list[bytes]] = _Shelf(CHUNKS)
        #: The first records of chunks that were met, in order, by strand and lane.
        self._firsts: dict[tuple[int, str], list[int]] = {}
        self._talks: _Shelf[tuple[str, int], dict[str, Read]] = _Shelf(TALKS)

    def use(self, index: Index | None) -> None:
        self.index = index
        self._blocks = _Shelf(BLOCKS)

    # ── by the index ──

    def doc(self, place: int) -> Doc:
        """The message behind a document of the index. Raises Damaged when it is not as it was written."""
        try:
            strands, entries = self._blocks.get(place // MOST, lambda: self._open(place // MOST))
            return self._full(open_entry(entries[place % MOST]), strands)
        except (Damaged, IndexError, KeyError, ValueError, zstandard.ZstdError) as error:
            raise Damaged(f"the text of document {place} is not where it was: {error}") from error

    def _open(self, number: int) -> tuple[list[int], list[Raw]]:
        assert self.index is not None
        row = self.index.store.block(number)
        if row is None:
            raise Damaged(f"block {number} is missing")
        return json.loads(row[0]), open_block(row[1])

    def _full(self, entry: Entry, strands: Sequence[int]) -> Doc:
        parts = [(where, text_of(text, strands, self._fetch)) for where, text in entry.parts]
        return Doc(entry.message, entry.at, entry.facts, parts)

    def _fetch(self, strand: int, lane: str, record: int) -> bytes:
        firsts = self._firsts.setdefault((strand, lane), [])
        if at := bisect_right(firsts, record):
            known = self._chunks.peek((strand, lane, firsts[at - 1]))
            if known is not None and record - firsts[at - 1] < len(known):
                return known[record - firsts[at - 1]]
        first, records = self.archive.around(strand, lane, record)
        self._chunks.get((strand, lane, first), lambda: records)
        if first not in firsts:
            insort(firsts, first)
        return records[record - first]

    # ── by the conversation ──

    def docs(self, heading: Heading) -> list[Doc]:
        """All messages of a conversation in order, read from the archive."""
        group = (f"{heading.family}/{heading.grouping}", heading.changed)
        read = self._talks.get(group, lambda: self.group(heading.family, heading.grouping))
        return read[heading.id].docs if heading.id in read else []

    def group(self, family: str, grouping: str) -> dict[str, Read]:
        """The conversations that a group of strands is, read anew."""
        # Imported late: most searches need no reader.
        from rireki.intake.understand import interpret

        strands = self.archive.strands(family, grouping)
        return {
            reading.conversation.id: Read(reading.conversation, docs_of(reading.messages()))
            for reading in interpret(grouping, strands)
            if not self._is_outranked(reading.conversation, (family, grouping))
        }

    def _is_outranked(self, conversation: Conversation, group: tuple[str, str]) -> bool:
        """Prompts that survived count only where the archive has no transcript of them."""
        if conversation.nature != "prompts":
            return False
        return any(h[1:3] != group for h in self.archive.headings(ids=[conversation.id]))
