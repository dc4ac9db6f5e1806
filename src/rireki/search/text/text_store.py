"""The texts of messages, wherever they are: beside the index, or read from the archive."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import zstandard
from msgspec import Raw

from rireki.archive.base import Archive, Heading
from rireki.model.conversation import Conversation, Reading
from rireki.search.index.index import Index
from rireki.search.index.notes import Damaged
from rireki.search.language.match import Doc
from rireki.search.text.blocks import MOST, open_block, open_entry
from rireki.search.text.documents import docs_of

__all__ = ["TextStore", "Read"]

#: Blocks (of 40 KB mostly) and conversations that are kept at hand.
BLOCKS, TALKS = 600, 32
#: A block with more bytes than this is opened whenever it is asked for.
LARGE = 1 << 20
#: So many messages are fetched by one statement; their blocks must find room.
TOGETHER = 64


class Read(NamedTuple):
    conversation: Conversation
    docs: list[Doc]


class TextStore:
    #: Blocks that are kept at hand.
    most_blocks = BLOCKS

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.use(None)
        self._talks: OrderedDict[tuple[str, int], dict[str, Read]] = OrderedDict()

    def use(self, index: Index | None) -> None:
        self.index = index
        self._blocks: OrderedDict[int, list[Raw]] = OrderedDict()

    # ── by the index ──

    def docs_at(self, places: Sequence[int]) -> list[Doc]:
        """The messages behind documents of the index; together they are fetched faster than singly.

        Raises Damaged when one is not as it was written.
        """
        found: list[Doc] = []
        for at in range(0, len(places), TOGETHER):
            batch = places[at : at + TOGETHER]
            blocks = self._opened({place // MOST for place in batch})
            found += [_doc(blocks, place) for place in batch]
        return found

    def _opened(self, numbers: set[int]) -> dict[int, list[Raw]]:
        assert self.index is not None
        found = {number: self._blocks.pop(number) for number in numbers & self._blocks.keys()}
        large: dict[int, list[Raw]] = {}
        for number, data in self.index.store.pick(list(numbers - found.keys())):
            try:
                opened = open_block(data)
            except (ValueError, zstandard.ZstdError) as error:
                raise Damaged(f"block {number} is damaged: {error}") from error
            (large if sum(map(len, opened)) > LARGE else found)[number] = opened
        self._blocks.update(found)
        while len(self._blocks) > self.most_blocks:
            self._blocks.popitem(last=False)
        return found | large

    # ── by the conversation ──

    def docs(self, heading: Heading) -> list[Doc]:
        """All messages of a conversation in order, read from the archive."""
        group = (f"{heading.family}/{heading.grouping}", heading.changed)
        read = self._talks.pop(group, None) or self.group(heading.family, heading.grouping)
        self._talks[group] = read
        if len(self._talks) > TALKS:
            self._talks.popitem(last=False)
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


def _doc(blocks: dict[int, list[Raw]], place: int) -> Doc:
    try:
        entry = open_entry(blocks[place // MOST][place % MOST])
    except (KeyError, IndexError, ValueError) as error:
        raise Damaged(f"the text of document {place} is not where it was: {error}") from error
    return Doc(entry.message, entry.at, entry.facts, entry.parts)


def _read(reading: Reading) -> Read:
    about = reading.conversation
    return Read(about, docs_of(reading.messages(), about.updated_at))
