"""What every page shares: templates, the reader's language, errors told as pages.

Everything that a template prints passes `safe` and autoescaping, so that a
transcript stays text wherever it is shown.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timezone
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response

from rireki.errors import Ambiguous, ArchiveTrouble, NotFound, RirekiError
from rireki.errors.catalogues import reworded
from rireki.model.activity import Activity
from rireki.show.html import page as renderer
from rireki.show.safe import one_line_for_browsers, safe, safe_for_browsers
from rireki.show.words import folder, model_name, size, source_name
from rireki.web.archive_reader import ArchiveReader
from rireki.web.locale import dates
from rireki.web.locale.words import (
    COOKIE,
    LOCALES,
    asked_for,
    counted,
    locale_of,
    say,
    script_words,
)
from rireki.web.parts import urls
from rireki.web.scope import scope_of

__all__ = [
    "answer",
    "archive_reader_of",
    "conversation_css",
    "doing_now",
    "is_on",
    "number_of",
    "page",
    "piece",
    "templates",
    "told",
]

Endpoint = Callable[[Request], Awaitable[Response]]

WEB = Path(__file__).parents[1]
CONVERSATION_CSS = Path(renderer.__file__).with_name("talk.css")
THEMES = ("light", "dark")
YEAR = 365 * 86400
_log = logging.getLogger("rireki.web")


def archive_reader_of(request: Request) -> ArchiveReader:
    return scope_of(request).archive_reader


async def number_of(request: Request) -> int:
    """The number a page is made at. Asked before anything else: what comes later is then told."""
    return await archive_reader_of(request).read(lambda archive: archive.number())


def is_on(request: Request, name: str) -> bool:
    """Whether a switch stands in the address."""
    return request.query_params.get(name, "") not in ("", "0")


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A whole page; the language it was asked for in is remembered."""
    html = piece(request, template, **values)
    # What cannot be written in UTF-8 was made visible before; this is for what nobody thought of.
    response = HTMLResponse(html.encode(errors="replace"), status)
    if locale := asked_for(request):
        response.set_cookie(COOKIE, locale, max_age=YEAR, samesite="strict")
    return response


def piece(request: Request, template: str, **values: Any) -> Markup:
    """A template with its values, as HTML."""
    made = templates().get_template(template).render({**_shared(request), **values})
    return Markup(made)


def answer(value: Any, status: int = 200) -> JSONResponse:
    return JSONResponse(value, status)


def told(endpoint: Endpoint) -> Endpoint:
    """What a person can do something about becomes a page, or JSON where a script asked."""

    @wraps(endpoint)
    async def wrapped(request: Request) -> Response:
        try:
            return await endpoint(request)
        except RirekiError as error:
            return _trouble(request, error)

    return wrapped


_CODES = ((NotFound, 404), (Ambiguous, 409), (ArchiveTrouble, 503))


def _trouble(request: Request, error: RirekiError) -> Response:
    status = next((code for kind, code in _CODES if isinstance(error, kind)), 400)
    if status == 503:
        # Scripts ask again; whoever runs the server has to know why.
        _log.error("%s cannot be shown: %s. %s", request.url.path, error.message, error.hint)
    locale = locale_of(request)
    message, hint = error.lines(locale)
    if request.url.path.startswith("/fragments/") or is_on(request, "fragment"):
        return answer({"error": safe(message), "hint": safe(hint)}, status)
    return page(request, "trouble.html", status=status, message=message, hint=hint, code=status)


def _shared(request: Request) -> dict[str, Any]:
    locale = locale_of(request)
    scope = scope_of(request)
    now = datetime.now(timezone.utc)
    theme = request.cookies.get("rireki_theme", "")
    return {
        "request": request,
        "locale": locale,
        "locales": LOCALES,
        "theme": theme if theme in THEMES else "",
        "demo": scope.archive_reader.demo,
        "damaged": scope.archive_reader.damaged,
        "driving": scope.driving,
        "person": scope.person,
        "t": partial(say, locale),
        "reworded": partial(reworded, language=locale),
        "counted": partial(counted, locale),
        "moment": partial(dates.moment, locale),
        "second": partial(dates.second, locale),
        "span": partial(dates.span, locale),
        "clock": dates.clock,
        "ago": lambda stamp: dates.ago(locale, stamp, now),
        "day": lambda date: dates.day(locale, date, now),
        "source_name": lambda source: say(locale, source_name(source)),
        "here": partial(urls.with_query, request),
        "script_words": partial(script_words, locale),
        "today": now.astimezone().date().isoformat(),
    }


@cache
def templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(WEB / "templates"),
        autoescape=True,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(
        {name: getattr(urls, name) for name in urls.__all__ if name != "with_query"},
        static=static,
        conversation_css=lambda: f"/talk.css?v={_hash(CONVERSATION_CSS)}",
        folder=folder,
        size=size,
    )
    made.filters["line"] = one_line_for_browsers
    made.filters["model_name"] = lambda name: one_line_for_browsers(model_name(name))
    return made


def _harmless(value: Any) -> Any:
    return (
        safe_for_browsers(value)
        if isinstance(value, str) and not isinstance(value, Markup)
        else value
    )


@cache
def static(name: str) -> str:
    """The address of a static file; it changes with the file, so browsers may keep what they have."""
    return f"/static/{name}?v={_hash(WEB / 'static' / name)}"


@cache
def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]


async def conversation_css(request: Request) -> Response:
    """`/talk.css`: how messages look, as the renderer that makes them says it."""
    kept = {"cache-control": "private, max-age=31536000, immutable"}
    named = request.query_params.get("v") == _hash(CONVERSATION_CSS)
    return FileResponse(CONVERSATION_CSS, media_type="text/css", headers=kept if named else {})


async def doing_now(request: Request) -> Mapping[str, Activity]:
    """The activities by the conversation's id.

    Asked anew each time, and of what the hub asks: a page that was just told of
    another state must not be answered with the one before.
    """
    scope = scope_of(request)
    ask = scope.broadcaster.activities
    if ask is None:
        return {}
    found: Mapping[str, Activity] = await scope.archive_reader.read(ask)
    return found
