"""The library of one person of a team: searches ask the shelves of whomever he may read.

Ranks of several shelves are comparable: each has people by chance, and knows how rare a word is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain, islice
from typing import TypeAlias

import msgspec

from rireki.library import Library
from rireki.masking import Masker
from rireki.search.execute.facets import Facet, added_up
from rireki.search.execute.suggestions import OFFERED
from rireki.search.results import Results, Scope, SearchOptions
from rireki.team.read_only import OwnedConversation
from rireki.team.seen import SeenArchive
from rireki.team.shelf_search import ShelfArchive, ShelfSearch, ShelfSearches
from rireki.team.shelf_view import ShelfReader
from rireki.team.shelves import Shelf

__all__ = ["TeamLibrary"]

#: Told of the conversations that a search has found.
Found: TypeAlias = Callable[[Sequence[OwnedConversation]], None]


class TeamLibrary(Library):
    def __init__(
        self,
        opener: Callable[[], SeenArchive],
        searched: Callable[[], SeenArchive],
        searches: ShelfSearches,
        reader: ShelfReader,
        people: Mapping[int, str],
        found: Found,
    ) -> None:
        """`searched` opens what is searched: reading it there is no reading of the person's. `people` are
        the names of whomever he may read."""
        super().__init__(opener)
        self._searched = searched
        self._searches = searches
        self._reader = reader
        self._people = people
        self._note_found = found
        self._seen: SeenArchive | None = None

    def _found(self, query: str, options: SearchOptions, masker: Masker | None) -> Results:
        with ExitStack() as borrowed:
            searches = [
                borrowed.enter_context(self._searches.borrow(shelf, self._archive()))
                for shelf in self._shelves()
            ]
            for search in searches:
                search.masker = masker
            if len(searches) == 1:
                found = searches[0].find(query, options)
            else:
                found = _found_in(searches, query, options)
        told = (talk.conversation for talk in found.talks)
        self._note_found([each for each in told if isinstance(each, OwnedConversation)])
        return found

    def facets(self, query: str) -> list[Facet]:
        told = []
        with self._search_lock:
            for shelf in self._shelves():
                with self._searches.borrow(shelf, self._archive()) as search:
                    told.append(search.facets(query))
        return told[0] if len(told) == 1 else added_up(told)

    def _shelves(self) -> Sequence[Shelf]:
        shelves = self._searches.shelves
        return [shelves.of(self._reader.only)] if self._reader.only else shelves.shelves

    def _archive(self) -> ShelfArchive:
        if self._seen is None:
            self._seen = self._searched()
        return ShelfArchive(self._seen, self._reader, self._people)

    def _end_search(self) -> None:
        if self._seen is not None:
            self._seen.close()
            self._seen = None
        super()._end_search()


def _found_in(searches: Sequence[ShelfSearch], query: str, options: SearchOptions) -> Results:
    """The page of all together: what answers best comes first, wherever it is."""
    started = time.perf_counter()
    most = msgspec.structs.replace(options, limit=options.offset + options.limit, offset=0)
    gathered = [search.gather(query, most) for search in searches]
    # What answers only in different messages counts where nothing answers in one.
    whole = [each for each in gathered if each.groups and not each.apart]
    ranked = [
        (group.rank, place, group)
        for place, each in enumerate(gathered)
        if not (whole and each.apart)
        for group in each.groups
    ]
    ranked.sort(key=lambda each: -each[0])
    chosen = ranked[options.offset : options.offset + options.limit]
    told = [
        search.tell(each, [group for _, at, group in chosen if at == place])
        for place, (search, each) in enumerate(zip(searches, gathered, strict=True))
    ]
    counted = [each for each in told if not (whole and each.apart)]
    # Each tells its own in order.
    own = [iter(each.talks) for each in told]
    talks = [talk for _, place, _ in chosen for talk in islice(own[place], 1)]
    near = dict.fromkeys(chain.from_iterable(each.near for each in told))
    return Results(
        query=told[0].query,
        talks=talks,
        messages=sum(each.messages for each in counted),
        conversations=sum(each.conversations for each in counted),
        exact=all(each.exact for each in counted),
        more_conversations=any(each.more_conversations for each in counted),
        apart=bool(ranked) and not whole,
        more=len(ranked) > options.offset + options.limit,
        scope=_whole_scope([each.scope for each in told]),
        near=list(islice(near, OFFERED)) if not ranked else [],
        milliseconds=round((time.perf_counter() - started) * 1000, 2),
    )


def _whole_scope(scopes: Sequence[Scope]) -> Scope:
    return Scope(
        conversations=sum(scope.conversations for scope in scopes),
        until=max((scope.until for scope in scopes if scope.until), default=None),
        direct=sum(scope.direct for scope in scopes),
        slower=next((scope.slower for scope in scopes if scope.slower), ""),
        hidden=sum(scope.hidden for scope in scopes),
    )
