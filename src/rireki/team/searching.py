"""The library of one person of a team: searches ask each archive he may see, and are merged.

Each archive has an index of its own, which a worker keeps up; what it does not have yet is read
directly. What others' indexes know beyond what they share is neither found nor suggested.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, zip_longest

import msgspec

from rireki.library import Library
from rireki.masking import Masker
from rireki.search.results import ConversationHits, Results, Scope, SearchOptions
from rireki.search.search import Search
from rireki.team.owner_view import OwnerView
from rireki.team.read_only import OwnedConversation
from rireki.team.seen import SeenArchive

__all__ = ["TeamLibrary"]

#: Told of a conversation of another one that a search has found: its id, and whose it is.
Found = Callable[[str, str], None]


class TeamLibrary(Library):
    def __init__(
        self,
        opener: Callable[[], SeenArchive],
        views: Callable[[], Sequence[OwnerView]],
        found: Found,
    ) -> None:
        """`views` opens what is searched: reading it there is no reading of the person's."""
        super().__init__(opener)
        self._views = views
        self._note_found = found
        self._searches: list[tuple[OwnerView, Search]] | None = None

    def _found(self, query: str, options: SearchOptions, masker: Masker | None) -> Results:
        if self._searches is None:
            self._searches = [(view, Search(view)) for view in self._views()]
        most = options.offset + options.limit
        wanted = msgspec.structs.replace(options, limit=most, offset=0)
        told = []
        for view, search in self._searches:
            search.masker = masker
            found = search.find(query, wanted)
            # The index of another one has words of what he shares with nobody, too.
            told.append(found if view.is_own else msgspec.structs.replace(found, near=[]))
        merged = _merged(told, options)
        for talk in merged.talks:
            about = talk.conversation
            if isinstance(about, OwnedConversation):
                self._note_found(about.id, about.owner)
        return merged

    def _end_search(self) -> None:
        for view, search in self._searches or ():
            search.close()
            view.close()
        self._searches = None
        super()._end_search()


def _merged(told: Sequence[Results], options: SearchOptions) -> Results:
    """The best of each in turn, or the newest: what ranks are of different indexes says little."""
    talks = _in_turn(told) if not options.newest else _by_time(told)
    until = max((each.scope.until for each in told if each.scope.until), default=None)
    page = talks[options.offset : options.offset + options.limit]
    scope = Scope(
        conversations=sum(each.scope.conversations for each in told),
        until=until,
        direct=sum(each.scope.direct for each in told),
        slower=next((each.scope.slower for each in told if each.scope.slower), ""),
    )
    found = [each for each in told if each.talks]
    return Results(
        query=next((each.query for each in chain(found, told)), ""),
        talks=page,
        messages=sum(each.messages for each in told),
        conversations=sum(each.conversations for each in told),
        exact=all(each.exact for each in told),
        more_conversations=any(each.more_conversations for each in told),
        apart=bool(found) and all(each.apart for each in found),
        more=len(talks) > options.offset + options.limit or any(each.more for each in told),
        scope=scope,
        near=next((each.near for each in told if each.near), []) if not page else [],
        milliseconds=round(sum(each.milliseconds for each in told), 2),
    )


def _in_turn(told: Sequence[Results]) -> list[ConversationHits]:
    # What answers only in different messages stands behind what answers in one.
    whole = zip_longest(*(each.talks for each in told if not each.apart))
    apart = zip_longest(*(each.talks for each in told if each.apart))
    return [talk for talk in chain(*whole, *apart) if talk is not None]


def _by_time(told: Sequence[Results]) -> list[ConversationHits]:
    every = [talk for each in told for talk in each.talks]
    return sorted(every, key=lambda talk: talk.conversation.updated_at or "", reverse=True)
