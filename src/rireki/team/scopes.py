"""A scope for each person who is signed in: made anew whenever anybody's rights change."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence

from starlette.requests import Request

from rireki.search.last_words import LastWords
from rireki.shares.plan import GroupName
from rireki.sources.kit.places import Places
from rireki.team.hub import MemberBroadcaster, TeamHub
from rireki.team.people import Member
from rireki.team.read_only import OwnedConversation, OwnedName
from rireki.team.searching import TeamLibrary
from rireki.team.seen import SeenArchive
from rireki.team.shelf_search import ShelfSearches
from rireki.team.shelf_view import ShelfReader
from rireki.team.shelves import Shelves
from rireki.team.store import Narrowed, Team
from rireki.team.visible import Sight
from rireki.web.archive_reader import ArchiveReader, ReaderThreads
from rireki.web.scope import ReaderScope

__all__ = ["SCOPE", "MemberScope", "Scopes", "member_scope"]

#: Where the guard puts the scope of a request.
SCOPE = "rireki.scope"

#: Scopes that are kept at hand.
KEPT = 100
#: Threads that read, and that search, for everybody together.
READERS, SEARCHERS = 12, 4
#: Seconds for which one reading of a conversation is noted once.
ONCE = 60.0


class MemberScope(ReaderScope, frozen=True, eq=False, kw_only=True):
    """What one member sees, and by whom and what it can be narrowed down."""

    member: Member
    narrowed: Narrowed
    #: Whose conversations he may see, himself included.
    people: tuple[str, ...]


def member_scope(request: Request) -> MemberScope:
    """Of whoever was let in; the guard has put it there."""
    scope: MemberScope = request.scope[SCOPE]
    return scope


class _MemberReader(ArchiveReader):
    """Lists say nothing of what is in a conversation: whoever opens one is noted."""

    async def last_words(self, ids: Sequence[str]) -> dict[str, LastWords]:
        return {}


class Scopes:
    def __init__(self, team: Team, hub: TeamHub, shelves: Shelves) -> None:
        self.team = team
        self.hub = hub
        self.searches = ShelfSearches(shelves)
        self._threads = ReaderThreads.made(READERS, SEARCHERS)
        self._nowhere = Places.at(team.folder / "nowhere")
        self._made: OrderedDict[tuple[object, ...], MemberScope] = OrderedDict()
        self._lock = threading.Lock()
        self._noted: dict[tuple[object, ...], float] = {}

    def of(self, member: Member, narrowed: Narrowed) -> MemberScope:
        """Asks the database where somebody's rights are not known yet: not for the event loop."""
        name = (member.id, member.device, member.rights, narrowed)
        with self._lock:
            known = self._made.get(name)
            if known is None:
                known = self._made[name] = self._make(member, narrowed)
            self._made.move_to_end(name)
            left = [self._made.pop(old) for old in self._outdated(member)]
            # Somebody may be reading or listening in one: it goes when nobody holds it any more.
            while len(self._made) > KEPT:
                self._made.popitem(last=False)
        for scope in left:
            _end(scope)
        return known

    def _outdated(self, member: Member) -> list[tuple[object, ...]]:
        """Those of the same person with other rights."""
        own = (member.id, member.device)
        return [name for name in self._made if name[:2] == own and name[2] != member.rights]

    def _make(self, member: Member, narrowed: Narrowed) -> MemberScope:
        team = self.team
        everything, sight = team.sight(member, Narrowed()), team.sight(member, narrowed)

        def seen() -> SeenArchive:
            return team.seen(sight, lambda p, g, t: self._note(member, "read", p, g, t))

        def named(found: Sequence[OwnedConversation]) -> None:
            self._note_found(member, sight, found)

        asks = self._reader_of(member, narrowed, sight)
        library = TeamLibrary(
            seen, lambda: team.seen(sight), self.searches, asks, everything.people, named
        )
        place = team.home.archive
        reader = _MemberReader(place, self._nowhere, library=library, threads=self._threads)
        # Naming changes reads what was said; nobody has been given it by that.
        listener = MemberBroadcaster(self.hub, team, sight)
        return MemberScope(
            archive_reader=reader,
            broadcaster=listener,
            person=member.name,
            member=member,
            narrowed=narrowed,
            people=tuple(sorted(everything.people.values())),
        )

    def _reader_of(self, member: Member, narrowed: Narrowed, sight: Sight) -> ShelfReader:
        known = self.team.people.teams()
        teams = frozenset({sight.team} if sight.team else (known[name] for name in member.teams()))
        only = next(iter(sight.people)) if narrowed.person else 0
        return ShelfReader(member.id, teams, own=bool(sight.own), only=only)

    # ── who read what ──

    def _note(self, member: Member, what: str, person: int, group: GroupName, team: str) -> None:
        if self._is_new(member, what, person, group):
            self.team.audience.note(member, what, person, group, team)

    def _is_new(self, member: Member, *named: object) -> bool:
        """Whether that was not noted just now."""
        name, now = (member.id, member.device, *named), time.monotonic()
        if now - self._noted.get(name, -ONCE) < ONCE:
            return False
        if len(self._noted) > 10_000:
            self._noted.clear()
        self._noted[name] = now
        return True

    def _note_found(self, member: Member, sight: Sight, found: Sequence[OwnedConversation]) -> None:
        teams = {
            each.id: next(iter(each.teams), "")
            for each in found
            if each.owner != member.name and self._is_new(member, "found", each.owner, each.id)
        }
        for heading in self.team.seen(sight).headings(ids=[*teams]) if teams else ():
            if isinstance(heading.family, OwnedName):
                group = (str(heading.family), heading.grouping)
                self._note(member, "found", heading.family.person, group, teams[heading.id])

    def dismiss(self) -> None:
        """End the streams of whoever listens. May be called from a signal handler."""
        self.hub.close()

    def close(self) -> None:
        with self._lock:
            for scope in self._made.values():
                _end(scope)
            self._made.clear()
        self.searches.close()
        self._threads.readers.shutdown(cancel_futures=True)
        self._threads.searchers.shutdown(cancel_futures=True)


def _end(scope: MemberScope) -> None:
    scope.broadcaster.close()
    scope.archive_reader.close()
