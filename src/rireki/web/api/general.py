"""Answers about the archive as a whole: health, sources, figures, the list, search."""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from rireki import __version__
from rireki.archive.base import Archive, Filter
from rireki.intake.survey import survey
from rireki.live.status import KeeperStatus
from rireki.search.results import Results, SearchOptions
from rireki.show.figures import figures
from rireki.web.api.answers import ConversationsPage, Health, Sources
from rireki.web.api.call import ApiCall, operation
from rireki.web.api.parameters import (
    BadRequest,
    ConversationsAsked,
    Nothing,
    SearchAsked,
    StatsAsked,
    moment,
)
from rireki.web.archive_reader import ArchiveReader

__all__ = ["conversations", "health", "search", "sources", "stats"]

_CURSOR = msgspec.json.Decoder(tuple[str | None, str])


@operation("/health", "Whether all is well.")
async def health(call: ApiCall[Nothing]) -> Health:
    def look(archive: Archive) -> tuple[int, int]:
        return archive.number(), archive.count()

    number, count = await call.archive_reader.read(look)
    return Health(
        version=__version__,
        archive=str(call.archive_reader.path),
        number=number,
        conversations=count,
        listeners=call.broadcaster.listeners,
        demo=call.archive_reader.demo,
        damaged=call.archive_reader.damaged,
        keeper=_keeper(call.archive_reader),
    )


@operation("/sources", "Where each source is looked for, and what was found.")
async def sources(call: ApiCall[Nothing]) -> Sources:
    found = await call.archive_reader.read(
        lambda archive: survey(archive, call.archive_reader.places)
    )
    return Sources(found, _keeper(call.archive_reader))


def _keeper(archive_reader: ArchiveReader) -> KeeperStatus | None:
    return archive_reader.keeper.status if archive_reader.keeper else None


@operation("/stats", "Conversations counted.")
async def stats(call: ApiCall[StatsAsked]) -> dict[str, Any]:
    return await call.archive_reader.read(lambda archive: figures(archive, call.asked.source))


@operation("/search", "Find what was said.")
async def search(call: ApiCall[SearchAsked]) -> Results:
    asked = call.asked
    if not asked.q.strip():
        raise BadRequest("no-query")
    wish = SearchOptions(
        limit=asked.limit,
        offset=asked.offset,
        newest=asked.newest,
        context=asked.context,
        hits=asked.hits,
    )
    return await call.archive_reader.search(asked.q, wish)


@operation("/conversations", "The conversations, newest first.")
async def conversations(call: ApiCall[ConversationsAsked]) -> ConversationsPage:
    asked = call.asked
    wanted = Filter(
        source=asked.source,
        project=asked.project,
        below=asked.below,
        since=moment(asked.since),
        before=moment(asked.before),
        title=asked.title,
        upstream=asked.upstream,
        subagents=asked.subagents,
        # One more than asked for tells whether there is a next page.
        limit=asked.limit + 1,
        after=_place(asked.cursor),
    )
    found = await call.archive_reader.read(lambda archive: list(archive.conversations(wanted)))
    page = found[: asked.limit]
    return ConversationsPage(page, _cursor(page[-1]) if len(found) > asked.limit else None)


def _cursor(last: Any) -> str:
    """Where the next page begins: behind this conversation, wherever the newer ones have gone."""
    place = msgspec.json.encode((last.updated_at, last.id))
    return base64.urlsafe_b64encode(place).decode().rstrip("=")


def _place(cursor: str | None) -> tuple[str | None, str] | None:
    if cursor is None:
        return None
    try:
        padded = cursor.encode() + b"=" * (-len(cursor) % 4)
        return _CURSOR.decode(base64.b64decode(padded, altchars=b"-_", validate=True))
    except ValueError as error:
        raise BadRequest("bad-cursor") from error
