"""Why each user-role entry of a conversation is shown as it is."""

from __future__ import annotations

from collections import Counter

from starlette.requests import Request
from starlette.responses import Response

from rireki.faces.web.pages.frame import desk_of, number_of, page, told
from rireki.show.decisions import decisions

__all__ = ["show_explain"]


@told
async def show_explain(request: Request) -> Response:
    """`/explain/ID`: the classification, entry by entry."""
    number = await number_of(request)
    talk = await desk_of(request).talk(request.path_params["id"])
    rows = list(decisions(talk.messages))
    return page(
        request,
        "explain.html",
        number=number,
        about=talk.conversation,
        rows=rows,
        authors=Counter(row.author for row in rows).most_common(),
    )
