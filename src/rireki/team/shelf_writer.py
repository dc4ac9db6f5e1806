"""Writing one owner's conversations after the other's into an index of many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import zstandard

from rireki.archive.base import Archive, Heading
from rireki.intake.progress import Silent
from rireki.search.index.index import Index, Indexed
from rireki.search.index.notes import Damaged, IndexedConversation
from rireki.search.index.update import write
from rireki.search.index.writer import IndexWriter
from rireki.search.language.match import Doc
from rireki.search.text.blocks import MOST, Digest, digest_docs, open_block, open_entry
from rireki.shares.plan import GroupName
from rireki.team.shelf_name import UNFINISHED, ShelfName
from rireki.team.shelf_rows import ShelfRows

__all__ = ["REACHED", "SOILED", "ShelfWriter"]

#: Facts of an index: up to which number of an owner it is; and that it has words of what went.
REACHED, SOILED = "reached ", "soiled"
#: The teams that may read each group of an owner.
Teams = Mapping[GroupName, tuple[int, ...]]


class ShelfWriter(IndexWriter):
    def __init__(self, index: Index, shelf: Indexed, rows: ShelfRows) -> None:
        super().__init__(index, shelf)
        self.rows = rows
        #: What is written just now: names by id, and the ids of what was put.
        self._names: dict[str, str] = {}
        self._put: set[str] = set()

    def name_of(self, id: str) -> str:
        return self._names[id]

    def facts_of(self, name: str) -> str:
        return " ".join(ShelfName.of(name).facts)

    def head_facts_of(self, name: str, heading: Heading) -> str:
        facts = self.facts_of(name)
        return facts if heading.finished else f"{facts} {UNFINISHED}"

    def put_parts(
        self,
        parts: Iterable[Digest],
        heading: Heading,
        marks: dict[str, tuple[int, int]] | None = None,
    ) -> None:
        super().put_parts(parts, heading, marks)
        self._put.add(heading.id)

    # ── an owner's ──

    def bring_up(self, archive: Archive, owner: int) -> int:
        """Write what is new; returns the number up to which the index is then."""
        number, reached = archive.number(), int(self.store.get(f"{REACHED}{owner}", 0))
        teams = self.rows.audience(owner)
        if reached:
            ids = [change.conversation for change in archive.changes(reached, number)]
            beginnings = [ShelfName.beginning(owner, id) for id in ids]
            headings = list(archive.headings(True, ids=ids))
        else:
            beginnings = [ShelfName.beginning(owner)]
            headings = list(archive.headings(True))
        known = [kept for beginning in beginnings for kept in self.store.talks_of(beginning)]
        self.turn_to(owner, headings, teams)
        self._drop_others(headings, known)
        changed = {kept.id: kept.changed for kept in known}
        waiting = [h for h in headings if changed.get(self.name_of(h.id)) != h.changed]
        if known and self.rows.went(owner, reached):
            # Maybe it came again: what was said of it before still lies in the files.
            self.note(SOILED, 1)
        return self._finish(archive, owner, waiting, number)

    def copy(self, archive: Archive, owner: int, old: Index | None) -> int:
        """Write everything, with the texts that another index has; returns the same."""
        number = archive.number()
        headings = list(archive.headings(True))
        self.turn_to(owner, headings, self.rows.audience(owner))
        waiting = [heading for heading in headings if not (old and self._copied(heading, old))]
        return self._finish(archive, owner, waiting, number)

    def _copied(self, heading: Heading, old: Index) -> bool:
        kept = old.store.talk(self.name_of(heading.id))
        if kept is None or kept.changed != heading.changed:
            return False
        try:
            docs = list(_docs(old, kept))
        except Damaged:
            return False
        self.begin([heading.id])
        self.put(digest_docs(heading, docs), heading)
        return True

    def turn_to(self, owner: int, headings: Sequence[Heading], teams: Teams) -> None:
        self._put = set()
        self._names = {
            heading.id: str(
                ShelfName(owner, heading.id, teams.get((heading.family, heading.grouping), ()))
            )
            for heading in headings
        }

    def _drop_others(
        self, headings: Sequence[Heading], known: Sequence[IndexedConversation]
    ) -> None:
        """What is not there any more, or is shared with others than it was."""
        names = {self.name_of(heading.id) for heading in headings}
        gone = [kept.number for kept in known if kept.id not in names]
        if gone:
            self.drop(gone)

    def _finish(self, archive: Archive, owner: int, waiting: Sequence[Heading], number: int) -> int:
        write(archive, self, waiting, Silent())
        if all(heading.id in self._put for heading in waiting):
            self.note(f"{REACHED}{owner}", number)
        return number


def _docs(index: Index, kept: IndexedConversation) -> Iterator[Doc]:
    """The messages of a conversation as an index has them."""
    try:
        for block, data in index.store.blocks(kept.number):
            for place, packed in enumerate(open_block(data), block * MOST):
                if place not in kept.dead:
                    entry = open_entry(packed)
                    yield Doc(entry.message, entry.at, entry.facts, entry.parts)
    except (ValueError, zstandard.ZstdError) as error:
        raise Damaged(f"a block of texts is damaged: {error}") from error
