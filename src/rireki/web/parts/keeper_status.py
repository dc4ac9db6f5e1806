"""What is looked at on this machine, what lies there, and how the keeper of the archive is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from rireki.intake.survey import Surveyed, survey, survey_unread
from rireki.sources.unread import Unread
from rireki.web.archive_reader import ArchiveReader
from rireki.web.parts.frame import archive_reader_of, number_of, page, told

if TYPE_CHECKING:
    from rireki.live.keeper import KeeperStatus

__all__ = ["STATES", "WatchStatus", "is_first_visit", "show_sources", "watched"]


#: The keeper's states in the words of the page.
STATES = {
    "starting": "starting up",
    "importing": "taking in what is there",
    "keeping": "watching",
    "following": "another process is watching",
    "stopped": "stopped",
    "failed": "stopped by an error",
}


class WatchStatus(NamedTuple):
    sources: list[Surveyed]
    #: How the keeper is doing, where this server keeps the archive.
    keeper: KeeperStatus | None
    #: Stores that lie there and that no reader understands yet.
    unread: list[Unread]

    @property
    def state(self) -> str:
        return STATES[self.keeper.state] if self.keeper else ""


@told
async def show_sources(request: Request) -> Response:
    """`/sources`: where was looked, what was found, what could not be read."""
    number = await number_of(request)
    seen = await watched(archive_reader_of(request))
    return page(request, "sources.html", number=number, seen=seen)


async def watched(archive_reader: ArchiveReader) -> WatchStatus:
    sources = await archive_reader.read(lambda archive: survey(archive, archive_reader.places))
    unread = await archive_reader.read(lambda _: survey_unread(archive_reader.places))
    # What there is comes first; the others only say where they were looked for.
    sources.sort(key=lambda source: not source.is_seen)
    return WatchStatus(
        sources, archive_reader.keeper.status if archive_reader.keeper else None, unread
    )


def is_first_visit(archive_reader: ArchiveReader, empty: bool) -> bool:
    """While everything is being taken in for the first time, or when nothing was found."""
    if empty or archive_reader.keeper is None:
        return empty
    status = archive_reader.keeper.status
    return status.state == "importing" and status.total > 0
