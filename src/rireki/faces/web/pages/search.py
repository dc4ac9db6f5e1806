"""Searching: results as one types, and a page of them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response

from rireki.faces.web.pages.errors import in_tongue
from rireki.faces.web.pages.frame import answer, desk_of, is_on, number_of, page, piece, told
from rireki.faces.web.pages.tongue import tongue_of
from rireki.faces.web.pages.words import say
from rireki.search.query import QueryError
from rireki.search.results import Hit, Results, Talk, Wish
from rireki.show.hits import Marked, is_gone, marked, painted, quoted
from rireki.show.safe import one_line

__all__ = ["show_search"]

#: Conversations of one page, and as one types.
PAGE, QUICK = 20, 8
#: Hits of one conversation.
HITS = 3
#: A word at the end of a query that may go on: no filter, nothing in quotes, nothing unwanted.
_HALF_WORD = re.compile(r"(?:^|\s)[^\W_][\w.-]+$")


class Fault(NamedTuple):
    """A query that cannot be read: what stands before, at and after the place, and what to do."""

    before: str
    at: str
    after: str
    message: str
    hint: str


class Found(NamedTuple):
    """One search, whatever came of it."""

    query: str
    results: Results | None = None
    fault: Fault | None = None


@told
async def show_search(request: Request) -> Response:
    """`/search?q=`; with `fragment` only the results, for a box that is being typed into."""
    number = await number_of(request)
    quick = is_on(request, "fragment")
    offset = _offset(request)
    limit = QUICK if quick and not is_on(request, "page") else PAGE
    newest = is_on(request, "newest")
    found = await _find(request, Wish(limit=limit, offset=offset, newest=newest, hits=HITS))
    values: dict[str, Any] = {
        "found": found,
        "offset": offset,
        "limit": limit,
        "newest": newest,
        "title_of": _title,
        "snippet_of": _snippet,
        "who": lambda hit: _who(tongue_of(request), hit),
        "is_gone": is_gone,
        "quick": quick and limit == QUICK,
    }
    title = f"{one_line(found.query) or say(tongue_of(request), 'Search')} · rireki"
    if quick:
        html = piece(request, "_results.html", **values)
        return answer({"query": found.query, "title": title, "html": html})
    return page(request, "search.html", number=number, title=title, **values)


def _offset(request: Request) -> int:
    given = request.query_params.get("offset", "0")
    return min(int(given), 10_000) if given.isdecimal() and len(given) < 6 else 0


async def _find(request: Request, wish: Wish) -> Found:
    query = request.query_params.get("q", "")
    if not query.strip():
        return Found(query)
    try:
        results = await desk_of(request).search(query, wish)
        if not results.talks and query.count('"') % 2 == 0 and _HALF_WORD.search(query):
            # The last word may not be typed to its end yet.
            begun = await desk_of(request).search(f"{query}*", wish)
            results = begun if begun.talks else results
        return Found(query, results)
    except QueryError as error:
        return Found(query, fault=_fault(query, error, tongue_of(request)))


def _fault(query: str, error: QueryError, tongue: str) -> Fault:
    start = min(error.position, len(query))
    end = min(start + max(error.length, 1), len(query))
    message, hint = in_tongue(tongue, error.message), in_tongue(tongue, error.hint)
    return Fault(query[:start], query[start:end], query[end:], message, hint)


def _title(talk: Talk, unnamed: str) -> Markup:
    title = marked(talk.conversation.title, talk.title_marks)
    return _marks(title if title.text else Marked(unnamed))


def _snippet(hit: Hit) -> Markup:
    return _marks(quoted(hit.snippet))


def _marks(line: Marked) -> Markup:
    return Markup(
        painted(line, lambda text: f"<mark>{escape(text)}</mark>", lambda text: str(escape(text)))
    )


_AUTHORS = {"person": "you", "agent": "agent", "tool": "tool", "harness": "program"}


def _who(tongue: str, hit: Hit) -> str:
    """Who said it, and with which tool; or what of the conversation it is."""
    if hit.author is None:
        return say(tongue, hit.where)
    name = say(tongue, _AUTHORS[hit.author])
    place = f" · {say(tongue, hit.where)}" if hit.where in ("thinking", "attachment") else ""
    tools = f" ▸ {', '.join(hit.tools)}" if hit.tools else ""
    return one_line(name + tools + place)
