"""What listeners are told: every listener gets what it does not have yet, whenever it can take it.

Nothing is queued per listener: a slow one gets one larger event instead of many small ones, and
one that was away gets what there is now. Knows sessions by what they show (`Shown`), not how
they work.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, Protocol, TypeAlias
from weakref import WeakSet

import msgspec

from rireki.drive.blocks import Blocks, Growing, length
from rireki.drive.values import RunningCall, Status

__all__ = ["COALESCE", "Event", "Fan", "Kind", "EventListener", "SessionView"]

Kind: TypeAlias = Literal["status", "delta", "settled", "call", "gone"]

#: Seconds between two rounds of events for one listener.
COALESCE = 0.04


class Event(msgspec.Struct, frozen=True):
    """`n` never falls; whoever comes back with it gets all that came with it or later.

    status   {status}                     the Status without its blocks, and its calls without arguments
    delta    {block, kind, at, text}      `at` counts UTF-16 units, like the length of a string in a browser
    settled  {block}                      the block is in the journal now, whole
    call     {call}                       a running Call, for the first time or with more known of it
    gone     {}                           the session is not kept in memory any more
    """

    n: int
    session: str
    kind: Kind
    more: dict[str, Any]

    def data(self) -> dict[str, Any]:
        """What goes over the wire as the event's data."""
        return {"n": self.n, "session": self.session, **self.more}


class SessionView(Protocol):
    """What a listener needs of a session."""

    id: str

    @property
    def touched(self) -> int:
        """The number of the latest change of anything that is shown."""

    @property
    def blocks(self) -> Blocks: ...

    @property
    def status(self) -> Status: ...

    @property
    def calls(self) -> Mapping[str, RunningCall]: ...


class Fan:
    """Tells all listeners which session changed; what changed they find out themselves."""

    def __init__(self) -> None:
        self.sessions: dict[str, SessionView] = {}
        self._listeners: WeakSet[EventListener] = WeakSet()
        self._closed = False

    def changed(self, session: str, *, status: bool = False, call: str | None = None) -> None:
        for listener in self._listeners:
            listener.mark(session, status=status, call=call)

    def gone(self, session: str, number: int) -> None:
        self.sessions.pop(session, None)
        for listener in self._listeners:
            listener.forget(session, number)

    def listen(self, after: int | None) -> EventListener:
        listener = EventListener(self, after)
        if self._closed:
            listener.close()
        self._listeners.add(listener)
        return listener

    def close(self) -> None:
        self._closed = True
        for listener in self._listeners:
            listener.close()


class _Marks(msgspec.Struct):
    """What of a session a listener has not been told yet."""

    status: bool = False
    calls: set[str] = msgspec.field(default_factory=set)


class EventListener:
    """One page, or one terminal."""

    def __init__(self, fan: Fan, after: int | None) -> None:
        self._fan = fan
        self._wake = asyncio.Event()
        self._closed = False
        self._marks: dict[str, _Marks] = {}
        #: How much of each growing block was sent: characters, and units of UTF-16.
        self._sent: dict[str, tuple[int, int]] = {}
        #: Up to which number blocks were told to be settled, per session.
        self._settled: dict[str, int] = {}
        self._gone: list[Event] = []
        for session in fan.sessions.values():
            if after is not None and session.touched >= after:
                self.mark(session.id, status=True)
                self._marks[session.id].calls.update(session.calls)
                self._settled[session.id] = after - 1
            else:
                self._settled[session.id] = session.touched

    def mark(self, session: str, *, status: bool, call: str | None = None) -> None:
        marks = self._marks.setdefault(session, _Marks())
        marks.status = marks.status or status
        if call is not None:
            marks.calls.add(call)
        self._wake.set()

    def forget(self, session: str, number: int) -> None:
        self._marks.pop(session, None)
        self._settled.pop(session, None)
        self._gone.append(Event(number, session, "gone", {}))
        self._wake.set()

    def close(self) -> None:
        self._closed = True
        self._wake.set()

    async def events(self) -> AsyncIterator[Event]:
        """Until the bridge is closed."""
        while not self._closed:
            await self._wake.wait()
            self._wake.clear()
            for event in self.collect():
                yield event
            # What comes meanwhile goes out together.
            await asyncio.sleep(COALESCE)

    def collect(self) -> list[Event]:
        """All that this listener does not know yet. Sorted by number: wherever the connection
        breaks, the last number that arrived tells what did not."""
        marked, self._marks = self._marks, {}
        gone, self._gone = self._gone, []
        events = list(gone)
        for id, marks in marked.items():
            session = self._fan.sessions.get(id)
            if session is not None:
                events += self._of(session, marks)
        return sorted(events, key=lambda event: event.n)

    def _of(self, session: SessionView, marks: _Marks) -> list[Event]:
        # The texts first: mostly they are what came before a call.
        events = self._texts(session)
        events += [
            self._event(session, "call", {"call": msgspec.to_builtins(call)})
            for id in marks.calls
            if (call := session.calls.get(id)) is not None
        ]
        if marks.status:
            events.append(self._event(session, "status", {"status": _light(session.status)}))
        return events

    def _texts(self, session: SessionView) -> list[Event]:
        events: list[Event] = []
        since = self._settled.get(session.id, 0)
        lately = {block.id: block for block in session.blocks.lately}
        for number, id in session.blocks.settled:
            if number <= since:
                continue
            # With the number of its own: whoever got only some of these is told the others again.
            if id in lately:
                events += self._delta(session, lately[id], number)
            events.append(Event(number, session.id, "settled", {"block": id}))
            self._sent.pop(id, None)
            self._settled[session.id] = number
        if session.blocks.growing is not None:
            events += self._delta(session, session.blocks.growing, session.touched)
        return events

    def _delta(self, session: SessionView, block: Growing, number: int) -> list[Event]:
        have, units = self._sent.get(block.id, (0, 0))
        text = block.text[have:]
        if not text:
            return []
        self._sent[block.id] = (have + len(text), units + length(text))
        more = {"block": block.id, "kind": block.kind, "at": units, "text": text}
        if block.provisional:
            more["provisional"] = True
        return [Event(number, session.id, "delta", more)]

    def _event(self, session: SessionView, kind: Kind, more: dict[str, Any]) -> Event:
        return Event(session.touched, session.id, kind, more)


def _light(status: Status) -> dict[str, Any]:
    value: dict[str, Any] = msgspec.to_builtins(status)
    del value["blocks"]
    for call in value["calls"]:
        del call["arguments"], call["diffs"]
    return value
