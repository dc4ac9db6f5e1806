"""The agents that work from this server: the bridge in the server's own loop, and what ends with it.

Knows nothing of HTTP. While driving is off, there is none of this.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rireki.archive.base import Archive, Found
from rireki.drive.bridge import Bridge
from rireki.errors import NotFound, RirekiError
from rireki.journals.session_entry import parse
from rireki.model.activity import Activity
from rireki.sources.kit.jsonl import LANE

if TYPE_CHECKING:
    from rireki.drive.bridge import Settings
    from rireki.drive.session import Session

__all__ = ["OFF", "PREFIX", "Driving", "JournalPosition", "journal_of"]

#: A conversation of the bridge, before its agent gives it an id of its own, or where none does.
PREFIX = "bridge/"

#: What is said where agents cannot be driven.
OFF = "driving-is-off"


class Driving:
    """Made before there is a loop; `open` and `close` are called in it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._bridge: Bridge | None = None
        self._ending: asyncio.Event | None = None

    @property
    def roots(self) -> tuple[Path, ...]:
        return self.settings.roots

    @property
    def bridge(self) -> Bridge:
        if self._bridge is None:
            raise NotFound("agents-not-ready")
        return self._bridge

    @property
    def ending(self) -> asyncio.Event:
        """Set when whoever listens has to go."""
        if self._ending is None:
            self._ending = asyncio.Event()
        return self._ending

    async def open(self) -> None:
        self._bridge = Bridge(self.settings)
        await self._bridge.open()

    def dismiss(self) -> None:
        """End the streams of whoever listens."""
        self.ending.set()

    async def close(self) -> None:
        self.dismiss()
        if self._bridge is not None:
            await self._bridge.close()

    @property
    def waiting(self) -> int:
        """How many things wait for the person."""
        return sum(len(session.status.asks) for session in self.bridge.sessions())

    def activities(self) -> list[Activity]:
        """Conversations whose agents are not there, and yet wait for the person: with prompts of an
        earlier process. Asked from other threads, too."""
        sessions = self._bridge.sessions() if self._bridge is not None else []
        return [
            Activity(id.partition("/")[0], id, "permission", "", status.queue[0].at)
            for status in [session.status for session in sessions]
            if status.recovered and status.queue
            for id in dict.fromkeys((PREFIX + status.id, status.conversation))
        ]

    def session_of(self, conversation: str, last: str = "") -> Session | None:
        """The session that drives a conversation, or drove it `last`; None when none ever did."""
        for session in self.bridge.sessions():
            if conversation in (session.conversation, PREFIX + session.id):
                return session
        own = conversation.removeprefix(PREFIX) if conversation.startswith(PREFIX) else ""
        try:
            return self.bridge.session(own or last) if own or last else None
        except RirekiError:
            return None


class JournalPosition(NamedTuple):
    """How far the journals of a conversation were read, and the session that wrote last."""

    number: int = 0
    session: str = ""


def journal_of(archive: Archive, found: Found) -> JournalPosition:
    """As it was when the conversation was last stored."""
    reached = archive.reached(found.conversation.id)
    last = JournalPosition()
    for strand in archive.strands(found.family, found.grouping, number=reached):
        if strand.source != "bridge" or strand.stream or not strand.states:
            continue
        held = [records for records in strand.states[-1].ordinals(LANE) if records]
        if held and (entry := parse(strand.fetch(LANE, [held[-1][-1]])[0])):
            last = max(last, JournalPosition(entry.number, Path(strand.place).stem))
    return last
