"""Searching: results as one types, and a page of them."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response

from rireki.intake.curate import saved_searches
from rireki.search.language.match import Matcher
from rireki.search.language.parse import parse
from rireki.search.language.query import QueryError
from rireki.search.language.vocabulary import quote
from rireki.search.results import ConversationHits, Hit, Results, SearchOptions, Snippet
from rireki.show.hits import is_gone, quoted
from rireki.show.safe import one_line
from rireki.show.width import Marked, marked, moved, painted
from rireki.show.words import AUTHORS, folder
from rireki.sources import registry
from rireki.web.locale.words import locale_of, say
from rireki.web.parts.frame import answer, archive_reader_of, is_on, number_of, page, piece, told
from rireki.web.scope import scope_of

__all__ = [
    "NAMES",
    "PERIODS",
    "begun",
    "chosen",
    "instead",
    "lines_of",
    "narrowed",
    "show_search",
    "understood",
]

#: Conversations of one page, and as one types.
PAGE, QUICK = 20, 8
#: Hits of one conversation.
HITS = 3
#: What is told in the lines it has.
CODE = ("call", "result")
#: Places that are marked in the name of a project.
MARKS = 6
#: What facets are called, and their periods.
NAMES = {
    "source": "Sources",
    "project": "Projects",
    "author": "Who",
    "tool": "Tools",
    "model": "Model",
    "since": "Time",
}
PERIODS = {
    "1d": "Last 24 hours",
    "7d": "Last 7 days",
    "30d": "Last 30 days",
    "365d": "Last 12 months",
}
#: So many things may be unfinished at the end of one query.
UNFINISHED = 20


class Fault(NamedTuple):
    """A query that cannot be read: what stands before, at and after the place, and what to do."""

    before: str
    at: str
    after: str
    message: str
    hint: str


class SearchOutcome(NamedTuple):
    """One search, whatever came of it."""

    query: str
    results: Results | None = None
    fault: Fault | None = None
    #: What of it was searched for, where its end is not typed yet.
    part: str | None = None


@told
async def show_search(request: Request) -> Response:
    """`/search?q=`; with `fragment` only the results, for a box that is being typed into."""
    number = await number_of(request)
    quick = is_on(request, "fragment")
    offset = _offset(request)
    limit = QUICK if quick and not is_on(request, "page") else PAGE
    newest = is_on(request, "newest")
    wish = SearchOptions(limit=limit, offset=offset, newest=newest, hits=HITS)
    found = await _find(request, wish, typing=quick)
    if is_on(request, "facets"):
        return answer({"query": found.query, "side": await _side(request, found)})
    matcher = _matcher(found.results)
    values: dict[str, Any] = {
        "found": found,
        "offset": offset,
        "limit": limit,
        "newest": newest,
        "title_of": _title,
        "place_of": lambda talk: _place(talk, matcher),
        "instead": instead,
        "snippet_of": _snippet,
        "who": lambda hit: _who(locale_of(request), hit),
        "is_gone": is_gone,
        "quick": quick and limit == QUICK,
        "chosen": chosen(found.query),
    }
    title = f"{one_line(found.query) or say(locale_of(request), 'Search')} · rireki"
    if quick:
        html = piece(request, "_results.html", **values)
        return answer({"query": found.query, "title": title, "html": html})
    values["saved"] = await archive_reader_of(request).read(saved_searches)
    values["own"] = scope_of(request).may_add
    side = await _side(request, found)
    return page(request, "search.html", number=number, title=title, side=side, **values)


async def _side(request: Request, found: SearchOutcome) -> Markup:
    """By what the results can be narrowed down; of a query that can be read, and found something."""
    whole = found.part is None and found.results is not None and found.results.talks
    facets = await archive_reader_of(request).facets(found.query) if whole else []
    return piece(
        request,
        "_facets.html",
        facets=facets,
        names=NAMES,
        periods=PERIODS,
        authors=AUTHORS,
        narrowed=lambda name, value: narrowed(found.query, name, value),
    )


def _offset(request: Request) -> int:
    given = request.query_params.get("offset", "0")
    return min(int(given), 10_000) if given.isdecimal() and len(given) < 6 else 0


async def _find(request: Request, wish: SearchOptions, typing: bool) -> SearchOutcome:
    """What a query finds; while it is being typed, what can be understood of it already."""
    query = request.query_params.get("q", "")
    found, part = SearchOutcome(query), query
    for _ in range(UNFINISHED):
        if not part.strip():
            break
        try:
            return found._replace(results=await _search(request, part, query, wish))
        except QueryError as error:
            fault = found.fault or _fault(query, error, locale_of(request))
            rest = understood(part, error) if typing else None
            if rest is None:
                return SearchOutcome(query, fault=fault)
            part = rest
            found = SearchOutcome(query, fault=fault, part=part)
    return found


async def _search(request: Request, part: str, typed: str, wish: SearchOptions) -> Results:
    results = await archive_reader_of(request).search(part, wish)
    half = begun(part, typed)
    if results.talks or half is None:
        return results
    # The last word may not be typed to its end yet.
    more = await archive_reader_of(request).search(half, wish)
    return more if more.talks else results


def _matcher(results: Results | None) -> Matcher | None:
    if results is None:
        return None
    return Matcher(parse(results.query, datetime.now(timezone.utc), registry.names()))


def _fault(query: str, error: QueryError, locale: str) -> Fault:
    start = min(error.position, len(query))
    end = min(start + max(error.length, 1), len(query))
    message, hint = error.lines(locale)
    return Fault(query[:start], query[start:end], query[end:], message, hint)


def _title(talk: ConversationHits, unnamed: str) -> Markup:
    title = marked(talk.conversation.title, talk.title_marks)
    return _marks(title if title.text else Marked(unnamed))


def _place(talk: ConversationHits, matcher: Matcher | None) -> Markup:
    """The last name of its directory; all of it, where that is why the conversation was found."""
    project = talk.conversation.project or ""
    by_message = any(hit.message for hit in talk.hits)
    marks = [] if by_message or matcher is None else matcher.spans(project, MARKS)
    if not marks:
        return Markup("{}").format(folder(project))
    return Markup('<span class="why">{}</span>').format(_marks(marked(project, marks)))


def _snippet(hit: Hit) -> Markup:
    if hit.where not in CODE:
        return _marks(quoted(hit.snippet))
    return Markup("\n").join(map(_marks, lines_of(hit.snippet)))


def lines_of(snippet: Snippet) -> list[Marked]:
    """A snippet in the lines it was written in: of a program, an order is lost without them."""
    whole = snippet.text
    starts = [(0, 0), *((place + 1, indent) for place, indent in snippet.breaks)]
    ends = [place for place, _ in snippet.breaks] + [len(whole)]
    lines = []
    for (start, indent), end in zip(starts, ends, strict=True):
        marks = [
            (max(a, start) - start, min(b, end) - start)
            for a, b in snippet.marks
            if a < end and b > start
        ]
        first, last = not start and snippet.cut_before, end == len(whole) and snippet.cut_after
        told = quoted(Snippet(whole[start:end], marks, first, last))
        lines.append(moved(Marked(" " * indent + told.text, told.marks), indent))
    return lines


def _marks(line: Marked) -> Markup:
    return Markup(
        painted(line, lambda text: f"<mark>{escape(text)}</mark>", lambda text: str(escape(text)))
    )


def _who(locale: str, hit: Hit) -> str:
    """Who said it, and with which tool; or what of the conversation it is."""
    if hit.author is None:
        return say(locale, hit.where)
    name = say(locale, AUTHORS[hit.author])
    place = f" · {say(locale, hit.where)}" if hit.where in ("thinking", "attachment") else ""
    tools = f" ▸ {', '.join(hit.tools)}" if hit.tools else ""
    return one_line(name + tools + place)


# ── Narrowing a query down, in its own words ──

#: A filter that stands by itself, and its value; one that leaves out is none of these.
_CHOSEN = re.compile(
    r"(?<!\S)(?P<name>source|project|author|tool|model|since|before|tag|is|has)"
    r':(?P<value>"(?:[^"\\]|\\.)*"|[^\s"()]+)(?!\S)'
)
_PLAIN = re.compile(r"[^\s\"'()|,*?\\:：-][^\s\"'()|*?\\]*\Z")


class ChosenFilter(NamedTuple):
    """A filter of a query, and the query without it."""

    text: str
    without: str


def narrowed(query: str, name: str, value: str) -> str:
    """The query with one filter more."""
    spelled = value if _PLAIN.match(value) else quote(value)
    return f"{query.strip()} {name}:{spelled}".strip()


def chosen(query: str) -> list[ChosenFilter]:
    """The filters that can be taken away again. Where a query combines, that is left to who typed it."""
    if re.search(r"(?<!\S)OR(?!\S)|[()/]", re.sub(r'"[^"]*"', "", _CHOSEN.sub("", query))):
        return []
    return [
        ChosenFilter(
            found["name"] + ":" + found["value"].strip('"'),
            f"{query[: found.start()].rstrip()} {query[found.end() :].lstrip()}".strip(),
        )
        for found in _CHOSEN.finditer(query)
    ]


# ── Queries that are still being typed: goes by what was typed alone, and does not search ──

#: A word at the end of a query that may go on: no filter, no pattern, nothing in quotes or unwanted.
_HALF_WORD = re.compile(r"(?:^|\s)(?:[^\W_][\w./-]+|[/._~](?=\S*[^\W_])[\w./-]*[\w.-])$")
#: A phrase at the end, and its last word, which may go on.
_HALF_PHRASE = re.compile(r'(?:^|(?<=\s))"(?P<before>[^"]*\s)?(?P<last>[^\W_][\w./-]*)"$')
#: What closes a phrase, by what opens it.
_QUOTES = {'"': '"', "“": "”", "”": "”", "＂": "＂"}
_FILTER = re.compile(r"[-(]*[A-Za-z]+[:：]")
_WORD = re.compile(r"\w{3,}")


def understood(query: str, error: QueryError) -> str | None:
    """The query with its end closed or left out; None where the fault does not lie at the end."""
    if re.search(r"\s\S", query[error.position + error.length :]):
        return None
    typed, sign = query.rstrip(), query[error.position : error.position + 1]
    inside = typed[error.position + 1 :].strip()
    if sign in _QUOTES and inside and not inside.endswith(_QUOTES[sign]):
        return typed + _QUOTES[sign]
    if sign == "(" and inside.strip("()- "):
        return typed + ")"
    *_, run = re.split(r"\s", query[: error.position])
    return query[: error.position - len(run)]


def begun(query: str, typed: str) -> str | None:
    """The query with its last word as the beginning of one; None where it has no such word."""
    if query.count('"') % 2 == 0 and _HALF_WORD.search(query):
        return f"{query}*"
    phrase = _HALF_PHRASE.search(query)
    # A phrase that the person closed themselves is as they want it.
    if phrase is None or typed.rstrip().endswith('"'):
        return None
    before = f'"{phrase["before"].strip()}" ' if (phrase["before"] or "").strip() else ""
    return f"{query[: phrase.start()]}{before}{phrase['last']}*"


def instead(query: str, word: str) -> str:
    """The query with this word in the place of the one it is most like."""
    places = [
        piece
        for run in re.finditer(r"\S+", query)
        if not _FILTER.match(run[0])
        for piece in _WORD.finditer(query, run.start(), run.end())
        if piece[0].lower() != word
    ]
    if not places:
        return word
    best = max(places, key=lambda piece: _likeness(piece[0].lower(), word))
    return query[: best.start()] + word + query[best.end() :]


def _likeness(typed: str, word: str) -> float:
    return 1.0 if word.startswith(typed) else SequenceMatcher(None, typed, word).ratio()
