"""Who listens to the feed, and how far each of them has heard.

One thread looks at the archive and tells every listener what came after the
number it has reached. A listener's backlog is that number and nothing else: one
that is slow gets everything since then at once when it is ready again, so
nothing queues up. Knows nothing of HTTP but the shape of an event.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.errors import NotFound, RirekiError
from rireki.intake.interpret import with_subagents
from rireki.live.feed import Feed, News
from rireki.live.readings import Readings
from rireki.show.json import line

__all__ = ["Activities", "Broadcaster", "Subscriber", "event"]

#: What is being done in which conversation just now, by its id.
Activities: TypeAlias = Callable[[Archive], Mapping[str, Any]]

#: How often the archive is looked at, in seconds: it may be written by another process.
ATTENTIVE, IDLE = 0.025, 0.5
#: How often it is asked what agents are doing.
ACTIVITY = 1.0
#: After an archive that could not be read.
PATIENCE = 0.5

_log = logging.getLogger("rireki.web")


def event(kind: str, value: Any, number: int | None = None) -> bytes:
    """One event as it goes over the wire; with a number, that is where a listener goes on from."""
    id = f"id: {number}\n" if number is not None else ""
    # JSON has no line breaks of its own, so one line of data holds it.
    return f"event: {kind}\n{id}data: {line(value)}\n\n".encode()


class Subscriber:
    """One open connection. Made and used in the event loop; the hub's thread fills it."""

    def __init__(
        self, broadcaster: Broadcaster, after: int | None, conversation: str | None
    ) -> None:
        self.broadcaster = broadcaster
        #: Everything up to this number was handed over; None until the hub has first looked.
        self.position = after
        self.conversation = conversation
        self.greeted = False
        #: The activities it was last told of.
        self.activities: Mapping[str, Any] | None = None
        self.loop = asyncio.get_running_loop()
        #: Waits for what comes next; None while the last was not sent yet.
        self.waiting: asyncio.Future[bytes | None] | None = None
        #: Set here when something may be handed over, taken back by the hub when it does.
        self.ready = False

    async def next(self, timeout: float) -> bytes | None:
        """What came since the last time; b"" when nothing did, None when the hub has closed."""
        if self.broadcaster.closed:
            return None
        if self.waiting is None:
            self.waiting = self.loop.create_future()
            self.ready = True
            self.broadcaster.kick()
        done, _ = await asyncio.wait([self.waiting], timeout=timeout)
        if not done:
            return b""
        heard = self.waiting.result()
        self.waiting = None
        return heard

    def reached(self) -> int | None:
        """The number it has heard everything up to; None while something is on its way to it."""
        with self.broadcaster.lock:
            return self.position if self.ready else None

    def hear(self, data: bytes | None) -> None:
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_result(data)


class Broadcaster:
    """Made once for an app. `kick` may be called from any thread."""

    def __init__(
        self,
        archive: Path,
        activities: Activities | None = None,
        readings: Readings | None = None,
        opener: Callable[[Path], Archive] | None = None,
        pace: float = ATTENTIVE,
    ) -> None:
        """`opener` opens what is told of; `pace` is how often that is looked at while somebody listens."""
        self.path = archive
        self._opener = opener or _opened
        self._pace = pace
        self.activities = activities
        self.readings = readings
        self._listeners: set[Subscriber] = set()
        self.lock = threading.Lock()
        self._kicked = threading.Event()
        self._closed = False
        #: What last went wrong.
        self._trouble = ""
        self._thread = threading.Thread(target=self._run, name="broadcaster", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def kick(self, number: int = 0) -> None:
        """Look at the archive now."""
        self._kicked.set()

    def turn_to(self, archive: Path) -> None:
        """Tell of another archive from now on; whoever listens has to begin anew."""
        self.path = archive
        self.kick()

    def close(self) -> None:
        """End every stream and the thread, with its next look. May be called from a signal handler."""
        # Nothing but this: whatever takes a lock here may have been interrupted holding it.
        self._closed = True

    def wait(self) -> None:
        """Until the thread has ended."""
        self.kick()
        if self._thread.ident is not None:
            self._thread.join()

    @property
    def closed(self) -> bool:
        return self._closed

    # ── in the event loop ──

    def listen(self, after: int | None = None, conversation: str | None = None) -> Subscriber:
        """From a number on, or from now on; of every conversation, or of one and its sub-agents."""
        listener = Subscriber(self, after, conversation)
        with self.lock:
            self._listeners.add(listener)
        self._note_whether_wanted()
        return listener

    def leave(self, listener: Subscriber) -> None:
        with self.lock:
            self._listeners.discard(listener)
        self._note_whether_wanted()

    def _note_whether_wanted(self) -> None:
        if self.readings is not None:
            self.readings.wanted = bool(self._listeners)

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    # ── in the thread ──

    def _run(self) -> None:
        try:
            while not self._closed:
                self._watch(self.path)
        finally:
            for listener in self._all():
                _call(listener.loop, listener.hear, None)

    def _watch(self, path: Path) -> None:
        """Until the hub is closed or turned to another archive, or this one has to be opened anew."""
        try:
            with closing(self._opener(path)) as archive:
                teller = _Teller(archive, self.activities, self.readings)
                while not self._closed and self.path == path and not archive.is_outdated():
                    self._kicked.wait(self._pace if self._listeners else IDLE)
                    self._kicked.clear()
                    self._tell(teller)
        except Exception as error:  # noqa: BLE001 - the feed goes on whatever happened to it
            # Listeners keep their numbers: when it can be read again, they are told everything.
            self._say(path, error)
            time.sleep(PATIENCE)
        if self.path != path:
            self._begin_anew()

    def _say(self, path: Path, error: Exception) -> None:
        """Once, however often it is tried again."""
        if str(error) == self._trouble:
            return
        self._trouble = str(error)
        if isinstance(error, RirekiError):
            _log.error("the feed waits: %s. %s", error.message, error.hint)
        else:
            _log.error("the feed of %s stopped for a moment", path, exc_info=error)

    def _begin_anew(self) -> None:
        """A number of one archive means nothing in another."""
        for listener in self._all():
            listener.position = _ELSEWHERE

    def _all(self) -> list[Subscriber]:
        with self.lock:
            return list(self._listeners)

    def _tell(self, teller: _Teller) -> None:
        """Hand everyone who is ready what is new to them."""
        ready = [listener for listener in self._all() if listener.ready]
        if not ready:
            return
        teller.look()
        told: dict[asyncio.AbstractEventLoop, list[tuple[Subscriber, bytes]]] = defaultdict(list)
        try:
            for listener in ready:
                data, number = teller.new_to(listener)
                with self.lock:
                    # Both at once: a number is never said before what led to it.
                    listener.position, listener.ready = number, not data
                if data:
                    told[listener.loop].append((listener, data))
        finally:
            # Also when one of them could not be told: the others have been moved on.
            for loop, some in told.items():
                _call(loop, _pass_on, some)
        # Afterwards: what was said must not wait for what is being done.
        if teller.ask_what_is_done():
            self.kick()


#: The position of one who knows another archive: greater than any number.
_ELSEWHERE = 2**62


class _Teller:
    """What is new to each listener; worked out once for all that are at the same number."""

    def __init__(
        self, archive: Archive, activities: Activities | None, readings: Readings | None
    ) -> None:
        self.archive = archive
        self.feed = Feed(archive, readings)
        self.number = self.feed.number()
        self._news: dict[int, News] = {}
        self._events: dict[tuple[int, str | None], bytes] = {}
        self._activities = activities
        self._asked = 0.0
        self._doing: Mapping[str, Any] | None = None

    def look(self) -> None:
        """Once per round, before anybody is told anything."""
        number = self.feed.number()
        if number != self.number:
            self._news.clear()
            self._events.clear()
            self.number = number

    def ask_what_is_done(self) -> bool:
        """Now and then; whether there is something new to tell of it."""
        if self._activities is None or time.monotonic() - self._asked < ACTIVITY:
            return False
        doing = self._activities(self.archive)
        self._asked = time.monotonic()
        if doing == self._doing:
            return False
        self._doing = doing
        return True

    def new_to(self, listener: Subscriber) -> tuple[bytes, int]:
        """What to say, if anything, and the number that is reached with it."""
        said = []
        position = self.number if listener.position is None else listener.position
        if not listener.greeted:
            start = min(position, self.number)
            said.append(event("hello", {"number": self.number, "after": start}, start))
        if position > self.number:
            # It knows a later archive than this one: an older copy was put back.
            said.append(event("reset", {"number": self.number}, self.number))
            position = self.number
        elif position < self.number:
            news = self._since(position)
            said.append(self._told(news, listener.conversation))
            position = news.number
        # From here on nothing can go wrong: it is only noted now that it was said.
        listener.greeted = True
        # By identity: it changes whenever what it says does.
        if self._doing is not None and listener.activities is not self._doing:
            listener.activities = self._doing
            said.append(event("activity", {"activities": self._doing}))
        return b"".join(said), position

    def _since(self, position: int) -> News:
        news = self._news.get(position)
        if news is None:
            news = self._news[position] = self.feed.since(position)
        return news

    def _told(self, news: News, conversation: str | None) -> bytes:
        """All of it as one event, so that a connection never breaks in the middle of it."""
        name = (news.after, conversation)
        if name not in self._events:
            changes = news.changes
            if conversation is not None and changes:
                family = self._family(conversation)
                changes = [touched for touched in changes if touched.conversation in family]
            value = {"after": news.after, "number": news.number, "changes": changes}
            self._events[name] = event("change", value, news.number) if changes else b""
        return self._events[name]

    def _family(self, conversation: str) -> set[str]:
        """A conversation and the sub-agents that work for it, and theirs."""
        try:
            found = self.archive.find(conversation)
        except NotFound:
            # Not there yet, or not any more: either would be told under its own name.
            return {conversation}
        return {each.conversation.id for each in with_subagents(self.archive, found)}


def _opened(path: Path) -> Archive:
    return open_archive(path, create=not path.exists())


def _pass_on(told: list[tuple[Subscriber, bytes]]) -> None:
    """In the loop again: one call for all, however many they are."""
    for listener, data in told:
        listener.hear(data)


def _call(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *values: Any) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(function, *values)
