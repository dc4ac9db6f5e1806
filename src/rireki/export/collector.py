"""Traces sent to a collector of OpenTelemetry that the user names: OTLP over HTTP, as JSON.

The one place that speaks to an address of the network, and only to the one that was typed. It follows
no redirection and asks no proxy. What a collector asks for besides stands where its own tools look for it:
OTEL_EXPORTER_OTLP_HEADERS.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from rireki import __version__
from rireki.errors import RirekiError

__all__ = ["send", "url_of"]

#: Seconds.
PATIENCE = 30


def url_of(to: str) -> str:
    """Where traces go: the address itself, or its usual path where it has none."""
    return to.rstrip("/") + "/v1/traces" if urlsplit(to).path in ("", "/") else to


class _Stays(HTTPRedirectHandler):
    """What was to go to one address goes to no other."""

    def redirect_request(self, *arguments: Any) -> None:
        return None


def send(to: str, bodies: Iterable[bytes]) -> int:
    """Send them all; returns how many spans the collector said it did not take."""
    # No proxy that the environment names: it would be another address.
    opener = build_opener(ProxyHandler({}), _Stays)
    url = url_of(to)
    return sum(_post(opener.open, url, body) for body in bodies)


def _post(ask: Any, url: str, body: bytes) -> int:
    headers = {
        "content-type": "application/json",
        "user-agent": f"rireki/{__version__}",
        **_headers(os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", "")),
    }
    try:
        with ask(Request(url, body, headers), timeout=PATIENCE) as answer:
            return _rejected(answer.read(1 << 20))
    except HTTPError as error:
        refused = f"{error.code} {error.reason}"
        raise RirekiError("collector-refused", url=url, why=refused) from error
    except (URLError, HTTPException, OSError, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise RirekiError("collector-not-reached", url=url, why=why) from error


def _headers(text: str) -> dict[str, str]:
    """`name=value,name=value`, as the specification of OpenTelemetry has it."""
    pairs = (pair.partition("=") for pair in text.split(",") if "=" in pair)
    return {name.strip().lower(): unquote(value.strip()) for name, _, value in pairs}


def _rejected(answer: bytes) -> int:
    with suppress(ValueError, TypeError, LookupError):
        return int(json.loads(answer)["partialSuccess"]["rejectedSpans"])
    return 0
