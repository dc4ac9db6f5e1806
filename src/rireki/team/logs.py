"""What the server did, for whoever operates it: a line of JSON per request, and figures.

Neither has anything of a conversation, of a query, or of an address behind its first word: what is
counted and logged is which kind of address was asked for, how it went and how long it took.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from starlette.requests import Request
from starlette.types import Message, Send

__all__ = ["AccessLog", "RequestNote"]

#: Bounds of the histogram, in seconds.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class RequestNote:
    """One request, as it goes."""

    def __init__(self) -> None:
        self.status = 500
        self.name = ""

    def person(self, name: str) -> None:
        self.name = name

    def sending(self, send: Send) -> Send:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.status = message["status"]
            await send(message)

        return sent


class AccessLog:
    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file
        self._lock = threading.Lock()
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: Counter[tuple[str, float]] = Counter()
        self._sum: Counter[str] = Counter()
        self._spent: dict[str, float] = {}

    @contextmanager
    def of(self, request: Request) -> Iterator[RequestNote]:
        note, begun = RequestNote(), time.perf_counter()
        try:
            yield note
        finally:
            self._write(request, note, time.perf_counter() - begun)

    def _write(self, request: Request, note: RequestNote, seconds: float) -> None:
        kind = kind_of(request.scope["path"])
        # Whoever has no token may make up as many as he likes.
        method = request.method if request.method in METHODS else "OTHER"
        with self._lock:
            self.requests[method, kind, note.status] += 1
            self._spent[kind] = self._spent.get(kind, 0.0) + seconds
            self._sum[kind] += 1
            for bound in BOUNDS:
                self._seconds[kind, bound] += seconds <= bound
        if self._file is not None:
            line = {
                "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "event": "request",
                "method": method,
                "kind": kind,
                "status": note.status,
                "ms": round(seconds * 1000, 1),
                "person": note.name,
            }
            print(json.dumps(line), file=self._file, flush=True)

    def metrics(self) -> Iterator[str]:
        """In the text format of Prometheus."""
        yield "# TYPE rireki_requests_total counter"
        with self._lock:
            counted = sorted(self.requests.items())
            timed = [(kind, self._sum[kind], self._spent[kind]) for kind in sorted(self._sum)]
            buckets = dict(self._seconds)
        for (method, kind, status), n in counted:
            labels = f'method="{method}",kind="{kind}",status="{status}"'
            yield f"rireki_requests_total{{{labels}}} {n}"
        yield "# TYPE rireki_request_seconds histogram"
        for kind, count, spent in timed:
            for bound in BOUNDS:
                labels = f'kind="{kind}",le="{bound}"'
                yield f"rireki_request_seconds_bucket{{{labels}}} {buckets[kind, bound]}"
            yield f'rireki_request_seconds_bucket{{kind="{kind}",le="+Inf"}} {count}'
            yield f'rireki_request_seconds_sum{{kind="{kind}"}} {spent:.6f}'
            yield f'rireki_request_seconds_count{{kind="{kind}"}} {count}'


#: What is counted by its name.
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
#: The beginnings of addresses, each with what is said of it.
_KINDS = (
    ("/api/push/", "push"),
    ("/api/team/", "team"),
    ("/api/v1/conversations", "api conversation"),
    ("/api/v1/search", "api search"),
    ("/api/v1/events", "events"),
    ("/api/", "api"),
    ("/static/", "static"),
    ("/mcp", "mcp"),
    ("/search", "search"),
    ("/c/", "conversation"),
    ("/fragments/", "fragment"),
    ("/sign-", "sign in"),
    ("/health", "health"),
    ("/metrics", "metrics"),
)


def kind_of(path: str) -> str:
    if path == "/":
        return "home"
    return next((kind for start, kind in _KINDS if path.startswith(start)), "page")
