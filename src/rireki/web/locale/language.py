"""Which language a reader wants the interface in. What was said in a conversation is not translated."""

from __future__ import annotations

from starlette.requests import Request

__all__ = ["COOKIE", "TONGUES", "asked_for", "tongue_of"]

TONGUES = ("en", "ja")
COOKIE = "rireki_lang"


def asked_for(request: Request) -> str | None:
    """The language this very address asks for, if it does."""
    wanted = request.query_params.get("lang")
    return wanted if wanted in TONGUES else None


def tongue_of(request: Request) -> str:
    """What was asked for, now or earlier; else the best of what the browser says."""
    if wanted := asked_for(request):
        return wanted
    remembered = request.cookies.get(COOKIE)
    if remembered in TONGUES:
        return remembered
    return _preferred(request.headers.get("accept-language", ""))


def _preferred(header: str) -> str:
    best, weight = "en", 0.0
    for choice in header.split(","):
        name, _, quality = choice.partition(";")
        tongue = name.strip().lower().partition("-")[0]
        value = _quality(quality)
        if tongue in TONGUES and value > weight:
            best, weight = tongue, value
    return best


def _quality(text: str) -> float:
    name, _, value = text.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
