"""Which language a reader wants the interface in. What was said in a conversation is not translated."""

from __future__ import annotations

from starlette.requests import Request

__all__ = ["COOKIE", "LOCALES", "asked_for", "locale_of"]

LOCALES = ("en", "ja")
COOKIE = "rireki_lang"


def asked_for(request: Request) -> str | None:
    """The language this very address asks for, if it does."""
    wanted = request.query_params.get("lang")
    return wanted if wanted in LOCALES else None


def locale_of(request: Request) -> str:
    """What was asked for, now or earlier; else the best of what the browser says."""
    if wanted := asked_for(request):
        return wanted
    remembered = request.cookies.get(COOKIE)
    if remembered in LOCALES:
        return remembered
    return _preferred(request.headers.get("accept-language", ""))


def _preferred(header: str) -> str:
    best, weight = "en", 0.0
    for choice in header.split(","):
        name, _, quality = choice.partition(";")
        locale = name.strip().lower().partition("-")[0]
        value = _quality(quality)
        if locale in LOCALES and value > weight:
            best, weight = locale, value
    return best


def _quality(text: str) -> float:
    name, _, value = text.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
