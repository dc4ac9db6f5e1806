"""Help: the query language, the keys, and what the marks mean."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from rireki.web.parts.frame import number_of, page, told

__all__ = ["show_help"]


@told
async def show_help(request: Request) -> Response:
    """`/help`"""
    return page(request, "help.html", number=await number_of(request))
