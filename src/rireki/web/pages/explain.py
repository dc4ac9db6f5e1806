"""Why each user-role entry of a conversation is shown as it is."""

from __future__ import annotations

from collections import Counter

from starlette.requests import Request
from starlette.responses import Response

from rireki.show.decisions import explained, may_be_typed
from rireki.web.parts.frame import archive_reader_of, is_on, number_of, page, told

__all__ = ["show_explain"]


@told
async def show_explain(request: Request) -> Response:
    """`/explain/ID`: the classification, entry by entry; `all` has results of tools as well."""
    number = await number_of(request)
    talk = await archive_reader_of(request).talk(request.path_params["id"])
    every = list(explained(talk.conversation, talk.messages))
    everything = is_on(request, "all")
    rows = every if everything else list(filter(may_be_typed, every))
    return page(
        request,
        "explain.html",
        number=number,
        about=talk.conversation,
        rows=rows,
        everything=everything,
        left_out=len(every) - len(rows),
        authors=Counter(row.author for row in rows).most_common(),
    )
