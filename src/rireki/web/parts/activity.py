"""What agents are doing in which conversation just now."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request

from rireki.model.activity import Activity
from rireki.web.parts.frame import archive_reader_of

__all__ = ["doing_now"]


async def doing_now(request: Request) -> Mapping[str, Activity]:
    """The activities by the conversation's id.

    Asked anew each time, and of what the hub asks: a page that was just told of
    another state must not be answered with the one before.
    """
    ask = getattr(getattr(request.app.state, "broadcaster", None), "activities", None)
    if ask is None:
        return {}
    found: Mapping[str, Activity] = await archive_reader_of(request).read(ask)
    return found
