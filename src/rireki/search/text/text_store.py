"""The texts of messages, wherever they are: beside the index, in the archive, or read anew."""

from __future__ import annotations

import json
from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

import zstandard
from msgspec import Raw

from rireki.archive.base import Archive, Heading
from rireki.archive.pack import OpenChunk
from rireki.model.conversation import Conversation, Reading
from rireki.search.index.index import Index
from rireki.search.index.notes import Damaged
from rireki.search.language.match import Doc
from rireki.search.text.blocks import (
    MOST,
    IndexedMessage,
    TextPlace,
    open_block,
    open_entry,
    text_of,
)
from rireki.search.text.documents import docs_of

__all__ = ["TextStore", "Read"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
#: Blocks (of 18 KB mostly), chunks of the archive (of 64 KB) and conversations that are kept at hand.
BLOCKS, CHUNKS, TALKS = 1200, 200, 32
#: So many messages are fetched at once, by two statements; their chunks must find room on the shelf.
TOGETHER = 64


class _Shelf(Generic[K, V]):
    """The last few things that were fetched."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.things: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        found = self.things.get(key)
        if found is not None:
            self.things.move_to_end(key)
        return found

    def put(self, key: K, thing: V) -> V:
        self.things[key] = thing
        if len(self.things) > self.size:
            self.things.popitem(last=False)
        return thing


class Read(NamedTuple):
    conversation: Conversation
    docs: list[Doc]


class TextStore:
    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.index: Index | None = None
        self._blocks: _Shelf[int, tuple[list[int], list[Raw]]] = _Shelf(BLOCKS)
        self._chunks: _Shelf[tuple[int, str, int], OpenChunk] = _Shelf(CHUNKS)
        #: The first records of chunks that were met, in order, by strand and lane.
        self._firsts: dict[tuple[int, str], list[int]] = {}
        self._talks: _Shelf[tuple[str, int], dict[str, Read]] = _Shelf(TALKS)

    def use(self, index: Index | None) -> None:
        self.index = index
        self._blocks = _Shelf(BLOCKS)

    # ── by the index ──

    def docs_at(self, places: Sequence[int]) -> list[Doc]:
        """The messages behind documents of the index; together they are fetched faster than singly.

        Raises Damaged when one is not as it was written.
        """
        batches = [places[at : at + TOGETHER] for at in range(0, len(places), TOGETHER)]
        return [doc for batch in batches for doc in self._docs_at(batch)]

    def _docs_at(self, places: Sequence[int]) -> list[Doc]:
        self._bring_blocks({place // MOST for place in places})
        entries = [self._entry(place) for place in places]
        self._bring_chunks(
            {
                (strands[text.strand], text.lane, text.record)
                for entry, strands in entries
                for _, text in entry.parts
                if isinstance(text, TextPlace)
            }
        )
        return [self._full(place, *found) for place, found in zip(places, entries, strict=True)]

    def _bring_blocks(self, numbers: set[int]) -> None:
        assert self.index is not None
        missing = [number for number in numbers if self._blocks.get(number) is None]
        if missing:
            for number, strands, data in self.index.store.pick(missing):
                try:
                    self._blocks.put(number, (json.loads(strands), open_block(data)))
                except (ValueError, zstandard.ZstdError) as error:
                    raise Damaged(f"block {number} is damaged: {error}") from error

    def _entry(self, place: int) -> tuple[IndexedMessage, list[int]]:
        found = self._blocks.get(place // MOST)
        if found is None:
            raise Damaged(f"block {place // MOST} is missing")
        strands, entries = found
        try:
            return open_entry(entries[place % MOST]), strands
        except (IndexError, ValueError) as error:
            raise _not_there(place, error) from error

    def _full(self, place: int, entry: IndexedMessage, strands: Sequence[int]) -> Doc:
        try:
            parts = [(where, text_of(text, strands, self._fetch)) for where, text in entry.parts]
        except (IndexError, KeyError, ValueError) as error:
            raise _not_there(place, error) from error
        return Doc(entry.message, entry.at, entry.facts, parts)

    # ── records of the archive ──

    def _bring_chunks(self, records: set[tuple[int, str, int]]) -> None:
        missing = [record for record in records if self._chunk(*record) is None]
        if not missing:
            return
        for (strand, lane, first), chunk in self.archive.around(missing).items():
            self._chunks.put((strand, lane, first), chunk)
            firsts = self._firsts.setdefault((strand, lane), [])
            if first not in firsts:
                insort(firsts, first)

    def _chunk(self, strand: int, lane: str, record: int) -> tuple[OpenChunk, int] | None:
        """The chunk that holds a record, if it is at hand, and the record's place in it."""
        firsts = self._firsts.get((strand, lane), ())
        at = bisect_right(firsts, record)
        first = firsts[at - 1] if at else 0
        chunk = self._chunks.get((strand, lane, first))
        if chunk is None or record - first >= len(chunk.ends):
            return None
        return chunk, record - first

    def _fetch(self, strand: int, lane: str, record: int) -> bytes:
        found = self._chunk(strand, lane, record)
        if found is None:
            raise KeyError(record)
        chunk, place = found
        return chunk.record(place)

    # ── by the conversation ──

    def docs(self, heading: Heading) -> list[Doc]:
        """All messages of a conversation in order, read from the archive."""
        group = (f"{heading.family}/{heading.grouping}", heading.changed)
        read = self._talks.get(group)
        if read is None:
            read = self._talks.put(group, self.group(heading.family, heading.grouping))
        return read[heading.id].docs if heading.id in read else []

    def group(self, family: str, grouping: str) -> dict[str, Read]:
        """The conversations that a group of strands is, read anew."""
        # Imported late: most searches need no reader.
        from rireki.intake.interpret import interpret

        strands = self.archive.strands(family, grouping)
        return {
            reading.conversation.id: _read(reading)
            for reading in interpret(grouping, strands)
            if not self._is_outranked(reading.conversation, (family, grouping))
        }

    def _is_outranked(self, conversation: Conversation, group: tuple[str, str]) -> bool:
        """Prompts that survived count only where the archive has no transcript of them."""
        if conversation.nature != "prompts":
            return False
        return any(h[1:3] != group for h in self.archive.headings(ids=[conversation.id]))


def _read(reading: Reading) -> Read:
    about = reading.conversation
    return Read(about, docs_of(reading.messages(), about.updated_at))


def _not_there(place: int, error: Exception) -> Damaged:
    return Damaged(f"the text of document {place} is not where it was: {error}")
