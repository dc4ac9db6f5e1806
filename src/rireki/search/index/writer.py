"""Writing to the index: many conversations to a commit, and a kill at any moment loses nothing.

Only the process that holds Tantivy's own lock writes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from rireki.archive.base import Heading
from rireki.search.index.index import NOTE, Index, Indexed, entries
from rireki.search.index.notes import UNSETTLED, Damaged, IndexedConversation, cannot_write
from rireki.search.index.words import WordWriter, stamps
from rireki.search.text.blocks import MOST, Digest, heading_rows

__all__ = ["IndexWriter"]

#: Documents per commit: bounds what a kill costs, and the texts that wait in memory.
BATCH = 150_000
#: A conversation in more blocks than this, or with more dead documents than live ones, is
#: written anew.
MANY_BLOCKS = 40


class IndexWriter:
    """Brings conversations into the index, many to a commit. Raises Busy when another process writes."""

    def __init__(self, index: Index, archive: Indexed) -> None:
        if index.read_only:
            raise cannot_write(index.folder, "it can only be read")
        self.index = index
        self.store = index.store
        self.archive = archive
        self.words = WordWriter(index.words)
        try:
            self._begin(self._agreed())
            #: What the index had of the conversations that were begun.
            self._known: dict[str, IndexedConversation] = {}
        except BaseException:
            self.words.close()
            raise

    def _agreed(self) -> int:
        """The last commit, as words and notes have it.

        Notes are not forced to the disk: after a power cut they may lack the last commits,
        and what they say then no longer fits the words.
        """
        generation = self.index.reader().generation
        facts = self.store.facts()
        if generation not in (facts.get("generation"), facts.get("coming")):
            raise Damaged(f"{self.index.folder} was written further than its notes know")
        return generation

    def _begin(self, generation: int) -> None:
        self.generation = generation + 1
        self.name = os.urandom(6).hex()
        self.next_block = self.store.next_block()
        self._settling: list[IndexedConversation] = []
        self._blocks: list[tuple[int, int, bytes]] = []
        self._cleared: list[int] = []
        self._dropped: list[int] = []
        self._facts: dict[str, int] = {}
        #: Headings to be written, by the numbers of their conversations: many are cut faster together.
        self._heads: dict[int, tuple[str, Heading]] = {}
        self.documents = 0
        self._letters = 0

    def name_of(self, id: str) -> str:
        """What a conversation is called in the index."""
        return id

    def facts_of(self, name: str) -> str:
        """What each document tells besides, of a conversation that is called so in the index."""
        return ""

    def head_facts_of(self, name: str, heading: Heading) -> str:
        """The same of the document of its title."""
        return self.facts_of(name)

    def knows(self, id: str) -> bool:
        """Whether the index has something of a conversation, or had before it was begun."""
        name = self.name_of(id)
        return name in self._known or self.store.talk(name) is not None

    def marks(self, id: str) -> dict[str, tuple[int, int]]:
        """Mark and place of each document of a conversation; empty when it has to be written anew."""
        kept = self.store.talk(self.name_of(id))
        if kept is None or kept.changed == UNSETTLED:
            return {}
        blocks = self.store.blocks(kept.number)
        if len(blocks) > MANY_BLOCKS:
            return {}
        marks: dict[str, tuple[int, int]] = {}
        total = 0
        for number, data in blocks:
            for place, (message, mark) in enumerate(entries(data), number * MOST):
                total += 1
                if place not in kept.dead:
                    marks[message] = (mark, place)
        return marks if total < 2 * len(marks) + 8 else {}

    def begin(self, ids: list[str]) -> None:
        """Say which conversations are about to be written: nobody relies on them until then."""
        with self.store.writing():
            for name in map(self.name_of, ids):
                known = self.store.talk(name)
                if known is not None:
                    self._known.setdefault(name, known)
                self.store.begin(name, self.generation)

    def put(
        self,
        digest: Digest,
        heading: Heading,
        marks: dict[str, tuple[int, int]] | None = None,
    ) -> None:
        """Write a conversation; `marks` is what the index has of it, where that is to be kept."""
        self.put_parts([digest], heading, marks)

    def put_parts(
        self,
        parts: Iterable[Digest],
        heading: Heading,
        marks: dict[str, tuple[int, int]] | None = None,
    ) -> None:
        """The same for one that comes in parts."""
        kept = self.store.talk(self.name_of(heading.id))
        assert kept is not None, "begin was not called"
        if not marks and kept.id in self._known:
            self.words.remove_conversation(kept.number)
            self._cleared.append(kept.number)
        now: dict[str, int] = {}
        for digest in parts:
            self._add(kept, digest)
            if marks:
                now.update(digest.marks)
        dead = self._bury(kept, marks, now) if marks else frozenset[int]()
        self._heads[kept.number] = (kept.id, heading)
        self._settling.append(
            IndexedConversation(kept.number, kept.id, heading.changed, self.generation, dead)
        )
        if self.documents >= BATCH:
            self.commit()

    def _add(self, kept: IndexedConversation, digest: Digest) -> None:
        facts = self.facts_of(kept.id)
        for block in digest.blocks:
            self.words.add(kept.number, self.next_block * MOST, block.rows, facts)
            self._blocks.append((self.next_block, kept.number, block.data))
            self.documents += len(block.rows)
            self.next_block += 1
        self._letters += digest.letters

    def _bury(
        self, kept: IndexedConversation, marks: dict[str, tuple[int, int]], now: dict[str, int]
    ) -> frozenset[int]:
        """Take out what is no longer said like that; returns all places that are dead by now."""
        gone = {place for message, (mark, place) in marks.items() if now.get(message) != mark}
        self.words.remove(gone)
        self.words.remove_head(kept.number)
        return self._known[kept.id].dead | gone

    def carry_over(self, heading: Heading, *, renamed: bool) -> None:
        """What was written of a conversation holds at a later change too, maybe but for its title."""
        if renamed:
            self.begin([heading.id])
        kept = self.store.talk(self.name_of(heading.id))
        assert kept is not None, "it was never written"
        if renamed:
            self.words.remove_head(kept.number)
            self._heads[kept.number] = (kept.id, heading)
        self._settling.append(kept._replace(changed=heading.changed, generation=self.generation))

    def drop(self, numbers: list[int]) -> None:
        """Forget conversations that the archive no longer has."""
        for number in numbers:
            self.words.remove_conversation(number)
        self._dropped += numbers

    def note(self, key: str, value: int) -> None:
        """Keep a fact about the whole with the next commit."""
        self._facts[key] = value

    def commit(self) -> None:
        with self.store.writing():
            # Tells a kill between the two commits from notes that were lost.
            self.store.put("coming", self.generation)
            self.store.put("coming name", self.name)
        self.archive.set_note(NOTE, f"{self.index.folder.name}/{self.name}")
        rows = heading_rows([heading for _, heading in self._heads.values()])
        for (number, named), row in zip(self._heads.items(), rows, strict=True):
            self.words.head(number, row, self.head_facts_of(*named))
        self.words.commit(self.generation)
        with self.store.writing():
            self._note()
        self.index.seen = self.generation
        self._begin(self.generation)

    def _note(self) -> None:
        self.store.drop(self._dropped)
        for number in self._cleared:
            self.store.drop_blocks(number)
        for block in self._blocks:
            self.store.add_block(*block)
        for kept in self._settling:
            self.store.settle(kept)
            if kept.id in self._known:
                self._known[kept.id] = kept
        for key, value in self._facts.items():
            self.store.put(key, value)
        self.store.put("generation", self.generation)
        self.store.put("name", self.name)
        self.store.put("documents", self.index.reader().documents)
        # What was ever added, for an average.
        self.store.put("letters", self.store.get("letters", 0) + self._letters)
        self.store.put("added", self.store.get("added", 0) + self.documents)
        self.store.put("stamps", json.dumps(stamps(self.index.words_folder)))

    def close(self) -> None:
        try:
            if self._settling:
                self.commit()
        finally:
            self.words.close()
        with self.store.writing():
            self.store.put("stamps", json.dumps(stamps(self.index.words_folder)))
