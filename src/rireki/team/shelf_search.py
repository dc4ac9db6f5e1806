"""A shelf's index, opened for searches: for one reader after the other, by one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from rireki.model.conversation import Conversation
from rireki.model.strand import Strand
from rireki.search.execute.view import USUAL, SearchView
from rireki.search.index.index import open_existing
from rireki.search.index.notes import Damaged
from rireki.search.language.query import Query
from rireki.search.search import Search, T
from rireki.search.text.text_store import Read, TextStore
from rireki.team.read_only import OwnedConversation, OwnedName, ReadOnlyArchive
from rireki.team.seen import SeenArchive
from rireki.team.shelf_name import GroupOfOwner, ShelfName
from rireki.team.shelf_rows import ShelfRows
from rireki.team.shelf_view import ShelfOverview, ShelfReader, ShelfState, ShelfView
from rireki.team.shelves import Shelf, Shelves, reached_of

__all__ = ["ShelfArchive", "ShelfSearch", "ShelfSearches"]

BEHIND = "the search index is being made: of what it lacks only the newest was searched"


class ShelfArchive(ReadOnlyArchive):
    """What one reader sees, called as in a shelf; every text of it passes his rights once more."""

    def __init__(self, seen: SeenArchive, reader: ShelfReader, people: Mapping[int, str]) -> None:
        """`people` are the names of whoever he may see."""
        self.seen = seen
        self.reader = reader
        self.people = people
        self.name, self.address, self.home = seen.name, seen.address, seen.home
        self.clock = seen.clock

    def number(self) -> int:
        return 0

    def strands(
        self, family: str, conversation: str, as_of: str | None = None, number: int | None = None
    ) -> list[Strand]:
        return self.seen.strands(_owned(family), conversation, as_of, number)

    def pick(self, ids: Sequence[str]) -> dict[str, Conversation]:
        names = {id: ShelfName.of(id) for id in ids}
        found = self.seen.owned([(name.owner, name.id) for name in names.values()])
        keys = {id: (name.owner, name.id) for id, name in names.items()}
        return {id: found[key] for id, key in keys.items() if key in found}

    def owned(self, id: str, conversation: Conversation) -> Conversation:
        """One that was read just now, and is not stored as it is."""
        values = {**msgspec.structs.asdict(conversation), "machines": msgspec.UNSET, "links": []}
        return OwnedConversation(**values, owner=self.people.get(ShelfName.of(id).owner, ""))


def _owned(family: str) -> OwnedName:
    owner, name = GroupOfOwner.of(family)
    return OwnedName.of(name, owner)


class _Texts(TextStore):
    """Texts of a shelf; what it lacks is read for one reader, and kept under names that tell whose it is."""

    archive: ShelfArchive
    # There is one of these for each thread and shelf.
    most_blocks = 100

    def __init__(self, archive: ShelfArchive, rows: ShelfRows) -> None:
        super().__init__(archive)
        self.rows = rows

    def group(self, family: str, grouping: str) -> dict[str, Read]:
        owner, name = GroupOfOwner.of(family)
        teams = self.rows.teams(owner, name, grouping)
        if not self.archive.reader.may(ShelfName(owner, "", teams)):
            return {}
        read = TextStore(self.archive.seen).group(_owned(family), grouping)
        named = {str(ShelfName(owner, id, teams)): each for id, each in read.items()}
        return {
            id: Read(self.archive.owned(id, each.conversation), each.docs)
            for id, each in named.items()
        }


class ShelfSearch(Search):
    archive: ShelfArchive
    library: _Texts

    def __init__(self, shelves: Shelves, shelf: Shelf, archive: ShelfArchive) -> None:
        super().__init__(archive)
        self.shelves = shelves
        self.shelf = shelf
        self.library = _Texts(archive, shelves.rows)
        self._version = -1
        self._state: ShelfState | None = None
        self._overviews: dict[Sequence[Sequence[str]], ShelfOverview] = {}

    def ask(self, archive: ShelfArchive) -> None:
        """From now on for this reader."""
        self.archive = self.library.archive = archive

    def _look(self, query: Query) -> ShelfView:
        if self.index is None or self._version != self.shelf.version:
            self._open()
        finished = any(f.name == "is" and f.value == "unfinished" for f in query.filters())
        rows = ShelfRows(self.shelves.team.tables, finished=finished)
        state = self._current_state()
        view = ShelfView(rows, self.archive.reader, self._has, state, self._overviews)
        self.slower = BEHIND if view.lacks_some else ""
        return view

    def _has(self, owner: int) -> bool:
        return self.shelves.of(owner) is self.shelf

    def _open(self) -> None:
        self._drop_index()
        self._version = self.shelf.version
        self.index = open_existing(self.shelf)
        self.library.use(self.index)

    def _drop_index(self) -> None:
        super()._drop_index()
        self._state = None

    def _current_state(self) -> ShelfState | None:
        """The last commit. How far it is is asked first: maybe more of it is there by then."""
        if self.index is None:
            return None
        store = self.index.store
        generation = store.get("generation", 0)
        if self._state is None or self._state.generation != generation:
            reached = reached_of(store)
            usual = store.get("letters", 0) / max(store.get("added", 0), 1)
            reader = self.index.reader()
            self._state = ShelfState(
                index=self.index,
                reader=reader,
                generation=generation,
                reached=reached,
                usual=usual or USUAL,
            )
            self._overviews = {}
        return self._state

    def _why_slower(self, view: SearchView) -> str:
        return self.slower

    def _try_again(self, query: Query, answer: Callable[[SearchView], T]) -> T:
        """Something was not where the index had it: another one is in its place, or it is damaged."""
        if self.index is not None and self._version == self.shelf.version:
            self.shelf.condemn(self.index)
        self._drop_index()
        try:
            return self._try(query, answer)
        except Damaged:
            # Until there is another one, the newest is read directly.
            self._drop_index()
            return answer(self._without_index())

    def _without_index(self) -> ShelfView:
        self.slower = BEHIND
        return ShelfView(self.shelves.rows, self.archive.reader, self._has, None, {})


class ShelfSearches:
    """Those that are kept open, for whoever searches next."""

    def __init__(self, shelves: Shelves) -> None:
        self.shelves = shelves
        self._idle: dict[Shelf, list[ShelfSearch]] = {shelf: [] for shelf in shelves.shelves}
        self._lock = threading.Lock()

    @contextmanager
    def borrow(self, shelf: Shelf, archive: ShelfArchive) -> Iterator[ShelfSearch]:
        with self._lock:
            search = self._idle[shelf].pop() if self._idle[shelf] else None
        if search is None:
            search = ShelfSearch(self.shelves, shelf, archive)
        search.ask(archive)
        try:
            yield search
        finally:
            with self._lock:
                self._idle[shelf].append(search)

    def close(self) -> None:
        with self._lock:
            for searches in self._idle.values():
                for search in searches:
                    search.close()
                searches.clear()
