"""Tells everybody who listens to a team's server what changed of what he may see.

One thread for all of them. Whoever looks at a conversation hears at once which of its messages are
new; whoever looks at lists hears once a second which conversations changed. A listener's position is
the number in the feed of all archives: it means the same on every server of the team.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from bisect import bisect_right
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

from rireki.archive.base import Change
from rireki.errors import NotFound, RirekiError
from rireki.intake.interpret import with_subagents
from rireki.live.feed import Feed, Touched, kind_of
from rireki.team.seen import SeenArchive
from rireki.team.store import FeedEntry, Team
from rireki.team.visible import Sight
from rireki.web.broadcaster import Broadcaster, Subscriber, event

__all__ = ["MemberBroadcaster", "TeamHub"]

#: How often the feed is looked at where nobody said that there is something new, and at most, in seconds.
LOOK, LEAST = 0.5, 0.02
#: Between two events of a list.
LIST_PACE = 1.0
#: After a database that could not be asked.
PATIENCE = 0.5
#: Entries of the feed that are kept at hand; who is farther behind is told from the database.
KEPT = 5000
#: Archives of which it is remembered how their conversations were last told.
FEEDS = 64

_log = logging.getLogger("rireki.team")


class MemberBroadcaster(Broadcaster):
    """Who listens in one scope; the hub tells them."""

    def __init__(self, hub: TeamHub, team: Team, sight: Sight) -> None:
        super().__init__(team.home.archive)
        self.hub = hub
        self.sight = sight
        self.archive: SeenArchive = team.seen(sight)
        self.lock = hub.lock

    def listen(self, after: int | None = None, conversation: str | None = None) -> Subscriber:
        listener = TeamSubscriber(self, after, conversation)
        with self.lock:
            self._listeners.add(listener)
        self.hub.add(listener)
        return listener

    def leave(self, listener: Subscriber) -> None:
        super().leave(listener)
        self.hub.remove(listener)

    def kick(self, number: int = 0) -> None:
        self.hub.kick()

    @property
    def closed(self) -> bool:
        return super().closed or self.hub.closed


class TeamSubscriber(Subscriber):
    def __init__(
        self, broadcaster: MemberBroadcaster, after: int | None, conversation: str | None
    ) -> None:
        super().__init__(broadcaster, after, conversation)
        self.sight = broadcaster.sight
        self.archive = broadcaster.archive
        #: Whose conversation it listens to, once that is known.
        self.whose = 0
        #: Until when nothing is told of lists.
        self.quiet_until = 0.0


class _Told(NamedTuple):
    """What is to be said, if anything, and the position that is reached with it."""

    data: bytes
    position: int


class TeamHub:
    """`kick` may be called from any thread."""

    def __init__(self, team: Team) -> None:
        self.team = team
        self.lock = threading.Lock()
        #: The number of everybody's rights, as it was before anything was told.
        self.rights = -1
        self._listeners: set[Subscriber] = set()
        self._kicked = threading.Event()
        self._closed = False
        self._trouble = ""
        self._number = -1
        #: What came last, in its order; complete behind `_first`.
        self._recent: list[FeedEntry] = []
        self._first = 0
        #: Of these ids several people have a conversation.
        self._twins: set[str] = set()
        self._feeds: OrderedDict[int, Feed] = OrderedDict()
        self._thread = threading.Thread(target=self._run, name="team hub", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def kick(self) -> None:
        self._kicked.set()

    def close(self) -> None:
        """Ends with its next look. May be called from a signal handler."""
        self._closed = True

    @property
    def closed(self) -> bool:
        return self._closed

    def wait(self) -> None:
        self.close()
        self.kick()
        if self._thread.ident is not None:
            self._thread.join()

    def add(self, listener: Subscriber) -> None:
        with self.lock:
            self._listeners.add(listener)
        self.kick()

    def remove(self, listener: Subscriber) -> None:
        with self.lock:
            self._listeners.discard(listener)

    # ── in the thread ──

    def _run(self) -> None:
        wait = LOOK
        while not self._closed:
            self._kicked.wait(wait)
            self._kicked.clear()
            try:
                wait = self._round()
                self._trouble = ""
                # What comes in the meantime is told together.
                time.sleep(LEAST)
            except Exception as error:  # noqa: BLE001 - listeners keep their positions, and are told then
                self._say(error)
                time.sleep(PATIENCE)
        for listener in self._all():
            _call(listener.loop, listener.hear, None)

    def _say(self, error: Exception) -> None:
        if str(error) == self._trouble:
            return
        self._trouble = str(error)
        if isinstance(error, RirekiError):
            _log.error("the feed waits: %s. %s", error.message, error.hint)
        else:
            _log.error("the feed stopped for a moment", exc_info=error)

    def _all(self) -> list[TeamSubscriber]:
        with self.lock:
            return [each for each in self._listeners if isinstance(each, TeamSubscriber)]

    def _round(self) -> float:
        """Tell whoever is ready; returns in how many seconds somebody's list is due at the latest."""
        listeners = self._all()
        for listener in [each for each in listeners if each.broadcaster.closed]:
            self.remove(listener)
            _call(listener.loop, listener.hear, None)
        ready = [each for each in listeners if each.ready and not each.broadcaster.closed]
        if not ready:
            return LOOK
        self._look()
        now, due = time.monotonic(), LOOK
        told: dict[asyncio.AbstractEventLoop, list[tuple[Subscriber, bytes]]] = defaultdict(list)
        try:
            for listener in ready:
                behind = listener.position is not None and listener.position < self._number
                if listener.greeted and behind and listener.quiet_until > now:
                    due = min(due, listener.quiet_until - now)
                    continue
                said = self._new_to(listener)
                with self.lock:
                    listener.position, listener.ready = said.position, not said.data
                if said.data:
                    told[listener.loop].append((listener, said.data))
        finally:
            for loop, some in told.items():
                _call(loop, _pass_on, some)
        return due

    def _look(self) -> None:
        number, self.rights = self.team.fed_and_rights()
        if self._number < 0 or number < self._number:
            self._recent, self._first = [], number
        elif number > self._number:
            fresh = self.team.entries(max(self._number, number - KEPT), number)
            if number - self._number > KEPT:
                self._recent, self._first = [], number - KEPT
            self._recent += fresh
            self._twins = self.team.twins({each.conversation for each in self._recent})
            if len(self._recent) > 2 * KEPT:
                self._first = self._recent[-KEPT - 1].seq
                self._recent = self._recent[-KEPT:]
        self._number = number

    # ── what is new to one ──

    def _new_to(self, listener: TeamSubscriber) -> _Told:
        position = self._number if listener.position is None else listener.position
        said = []
        if not listener.greeted:
            start = min(position, self._number)
            said.append(event("hello", {"number": self._number, "after": start}, start))
        if position > self._number:
            # It knows a later database than this one: a backup was put back.
            said.append(event("reset", {"number": self._number}, self._number))
        elif position < self._number:
            changes = self._changes(listener, position)
            if changes:
                value = {"after": position, "number": self._number, "changes": changes}
                said.append(event("change", value, self._number))
                if listener.conversation is None:
                    listener.quiet_until = time.monotonic() + LIST_PACE
        listener.greeted = True
        return _Told(b"".join(said), self._number)

    def _changes(self, listener: TeamSubscriber, position: int) -> list[Touched]:
        found = self._seen_since(listener, position)
        if listener.conversation is None:
            return [Touched(name, kind_of(change), None) for _, name, change in found]
        # Sub-agents are of the same person: of others' nothing has to be asked.
        if not listener.whose:
            listener.whose = listener.archive.owner_of(listener.conversation)
        if listener.whose:
            found = [each for each in found if each[0] in (0, listener.whose)]
        family = {listener.conversation}
        if any(name not in family for _, name, _ in found):
            family = self._family(listener.archive, listener.conversation)
        return [
            self._named(person, name, change) for person, name, change in found if name in family
        ]

    def _seen_since(self, listener: TeamSubscriber, position: int) -> list[tuple[int, str, Change]]:
        """Each conversation that changed once: whose, as the listener knows it, and what changed."""
        if position < self._first:
            return [
                (0, change.conversation, change)
                for change in listener.archive.changes(position, self._number)
            ]
        found: dict[tuple[int, str], Change] = {}
        begin = bisect_right(self._recent, position, key=lambda entry: entry.seq)
        for entry in islice(self._recent, begin, None):
            if not _may(listener.sight, entry):
                continue
            key = (entry.person, entry.conversation)
            before = found.pop(key, None)
            first = before.before if before else entry.earlier
            found[key] = Change(entry.seq, entry.conversation, first, entry.reached)
        named = [id for _, id in found if id in self._twins]
        owners = listener.archive.visible.owners(named) if named else {}
        return [
            (person, listener.archive.called(id, person, owners), change)
            for (person, id), change in found.items()
        ]

    def _family(self, archive: SeenArchive, conversation: str) -> set[str]:
        """A conversation and the sub-agents that work for it, and theirs."""
        try:
            found = archive.find(conversation)
        except NotFound:
            # Not there yet, or not any more: either would be told under its own name.
            return {conversation}
        return {each.conversation.id for each in with_subagents(archive, found)}

    def _named(self, person: int, name: str, change: Change) -> Touched:
        """With the messages that differ; worked out once for everybody who listens to it."""
        if not person:
            return Touched(name, kind_of(change), None)
        feed = self._feeds.pop(person, None) or Feed(self.team.store.archive(person))
        self._feeds[person] = feed
        while len(self._feeds) > FEEDS:
            self._feeds.popitem(last=False)
        touched = feed.touched(change)
        return Touched(name, touched.kind, touched.messages, touched.removed)


def _may(sight: Sight, entry: FeedEntry) -> bool:
    if entry.person == sight.own:
        return True
    # Of what is gone nobody knows any more who might see it.
    return entry.person in sight.people and not sight.teams.isdisjoint(entry.teams)


def _pass_on(told: list[tuple[Subscriber, bytes]]) -> None:
    for listener, data in told:
        listener.hear(data)


def _call(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *values: object) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(function, *values)
