"""Who reads, and what he may see: every page and every answer gets its archive from here, and nowhere else.

On a machine of one's own there is one scope, of whoever has the machine. A team's server has one
for each person who is signed in. Knows neither how somebody is known nor what the rights follow from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec
from starlette.requests import Request

from rireki.web.archive_reader import ArchiveReader
from rireki.web.broadcaster import Broadcaster
from rireki.web.driving import Driving
from rireki.web.lan.entrance import LanEntrance
from rireki.web.notices.notices import Notices

__all__ = ["ReaderScope", "ScopeOf", "scope_of"]


class ReaderScope(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What one person sees of everything there is."""

    #: What he may read: nothing else can be reached by it.
    archive_reader: ArchiveReader
    #: Tells him what changes of that.
    broadcaster: Broadcaster
    #: The agents that work from here; None where driving is off.
    driving: Driving | None = None
    #: What the person is called; nobody else has this machine where it is empty.
    person: str = ""
    #: The way in for devices of the local network; None where there is none.
    lan: LanEntrance | None = None
    #: What is told elsewhere when an agent waits; None where agents are not driven.
    notices: Notices | None = None
    #: Whether it is asked from a device that was let in to read, and no more.
    read_only: bool = False

    @property
    def may_add(self) -> bool:
        """Whether titles, tags, notes and the like may be added from here."""
        return not self.person and not self.read_only


#: Whose request it is. Raises RirekiError where that is nobody's.
ScopeOf: TypeAlias = Callable[[Request], ReaderScope]


def scope_of(request: Request) -> ReaderScope:
    """The scope a request is answered in."""
    find: ScopeOf = request.app.state.scope_of
    return find(request)
