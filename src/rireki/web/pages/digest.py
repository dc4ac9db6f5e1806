"""`/digest`: one day, project by project, to read in the morning or to print."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

from starlette.requests import Request
from starlette.responses import Response

from rireki.archive.base import Archive
from rireki.errors import RirekiError
from rireki.show.digest import DayDigest, digest_of
from rireki.web.parts.frame import archive_reader_of, number_of, page, told

__all__ = ["show_digest"]

#: Files that are named of a conversation; of more the number is told.
FILES = 12
#: Days at the left, the newest first.
DAYS = 21


@told
async def show_digest(request: Request) -> Response:
    """`/digest?day=`: yesterday, unless another day is named."""
    reader = archive_reader_of(request)
    number = await number_of(request)
    now = datetime.now(timezone.utc)
    wanted = request.query_params.get("day", "") or "yesterday"

    def make(archive: Archive) -> DayDigest:
        # A day that goes on changes with the clock too, its name does not.
        known: DayDigest = reader.figures.get(
            ("digest", number, wanted, now.astimezone().date()),
            lambda: digest_of(archive, wanted, now),
        )
        return known

    digest = await reader.read(make)
    days = await reader.read(lambda archive: reader.turn_days.of(archive))
    before, after = _around(digest.day)
    return page(
        request,
        "digest.html",
        number=number,
        digest=digest,
        before=before,
        after=after if after <= now.astimezone().date().isoformat() else "",
        most=FILES,
        days=sorted(days.items(), reverse=True)[:DAYS],
    )


def _around(day: str) -> tuple[str, str]:
    """The days before and after."""
    try:
        this = date.fromisoformat(day)
        return (this - timedelta(days=1)).isoformat(), (this + timedelta(days=1)).isoformat()
    except (ValueError, OverflowError) as error:
        raise RirekiError("bad-time", value=day) from error
