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
from rireki.team.read_only import OwnedName
from rireki.team.searching import TeamLibrary
from rireki.team.seen import WHOSE, SeenArchive
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
    def __init__(self, team: Team, hub: TeamHub) -> None:
        self.team = team
        self.hub = hub
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

        def named(conversation: str, owner: str) -> None:
            self._note_found(member, everything, conversation, owner)

        library = TeamLibrary(seen, lambda: team.views(member, narrowed), named)
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

    # ── who read what ──

    def _note(self, member: Member, what: str, person: int, group: GroupName, team: str) -> None:
        name, now = (member.id, member.device, what, person, group), time.monotonic()
        if now - self._noted.get(name, -ONCE) < ONCE:
            return
        self.team.audience.note(member, what, person, group, team)
        if len(self._noted) > 10_000:
            self._noted.clear()
        self._noted[name] = now

    def _note_found(self, member: Member, sight: Sight, conversation: str, owner: str) -> None:
        if owner == member.name:
            return
        archive = self.team.seen(sight)
        for heading in archive.headings(ids=[f"{conversation}{WHOSE}{owner}"]):
            if isinstance(heading.family, OwnedName):
                person, group = heading.family.person, (str(heading.family), heading.grouping)
                teams = archive.visible.audience(person, *group) or [""]
                self._note(member, "found", person, group, teams[0])

    def dismiss(self) -> None:
        """End the streams of whoever listens. May be called from a signal handler."""
        self.hub.close()

    def close(self) -> None:
        with self._lock:
            for scope in self._made.values():
                _end(scope)
            self._made.clear()
        self._threads.readers.shutdown(cancel_futures=True)
        self._threads.searchers.shutdown(cancel_futures=True)


def _end(scope: MemberScope) -> None:
    scope.broadcaster.close()
    scope.archive_reader.close()
