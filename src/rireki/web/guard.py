"""Who may ask: everyone who has the token, from our own pages or from a program.

A web page elsewhere must not be able to read conversations through the browser
of the person at this machine, still less to let an agent work, so the host and the
origin of each request are looked at before the token is. Knows nothing of what lies
behind it but where something may be changed.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable
from html import escape
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlencode

import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rireki.errors import Wording
from rireki.sync.wire import PATH as PUSH
from rireki.web.api.body import LARGEST, TooLarge
from rireki.web.api.failures import failure
from rireki.web.driving import OFF
from rireki.web.ending import EndingAnswer
from rireki.web.lan.pairing import PAIR
from rireki.web.locale.words import locale_of
from rireki.web.token import Access, cookie_value

__all__ = [
    "CSP",
    "DRIVEN",
    "LARGEST_FORM",
    "READING",
    "RECALL",
    "REMEMBERED",
    "Guard",
    "GuardSettings",
    "Refusal",
    "check_form",
    "check_origin",
    "is_from_elsewhere",
    "is_push",
    "led_on",
    "refused",
]

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
#: On every answer, unless the answer has something stricter of its own.
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    # Not none at all: a browser would not say then that a form was sent from a page of ours.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
READING = ("GET", "HEAD")
WRITING = ("POST", "PUT", "DELETE")
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
#: Below this alone, something can be done and not only read.
DRIVEN = "/api/v1/drive"
#: Where agents ask; a question is posted, and changes nothing.
RECALL = "/mcp"
#: Below these, forms of our own pages say what a person adds, wants to be forgotten, or lets in.
CURATED = ("/curate/", "/forget/", "/searches", "/devices")
FORM = "application/x-www-form-urlencoded"
#: Bytes of such a form.
LARGEST_FORM = 256 * 1024
#: What lets in by standing in an address; taken out of it at once.
IN_ADDRESS = ("token", "ticket")
#: Seconds a browser remembers that it was let in.
REMEMBERED = 90 * 86400


class GuardSettings(msgspec.Struct, frozen=True, kw_only=True):
    token: str
    port: int
    #: Names we answer to, with our port behind them.
    hosts: tuple[str, ...] = LOOPBACK
    #: Names under which something in front of us passes requests on, with any port or none.
    allowed: tuple[str, ...] = ()
    #: Whether agents may be driven from here.
    drive: bool = False
    #: Whether other machines may push here; who they are is not asked by the guard.
    accept_push: bool = False

    @property
    def cookie(self) -> str:
        # Browsers keep one jar per host, whatever the port: each server has a name of its own.
        return f"rireki_{self.port}"

    @property
    def cookie_value(self) -> str:
        """What the cookie holds, as long as the token is the one the server began with."""
        return cookie_value(self.token)


class Refusal(Wording, Exception):
    def __init__(self, status: int, code: str, **values: object) -> None:
        super().__init__(code, **values)
        self.status = status


class Guard:
    """ASGI middleware around the whole app."""

    def __init__(self, app: ASGIApp, settings: GuardSettings, access: Access | None = None) -> None:
        self.app = app
        self.settings = settings
        self.access = access or Access(settings.token)
        self._names = {f"{name}:{settings.port}" for name in settings.hosts}
        if settings.port == 80:
            self._names |= set(settings.hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._http(scope, receive, _with_headers(send))

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        try:
            self._check_host(request)
            self._check_method(request)
            check_origin(request)
            entrance = self._admit(request)
        except Refusal as refusal:
            await refused(request, refusal)(scope, receive, send)
            return
        if entrance is not None:
            await entrance(scope, receive, send)
        else:
            watched = EndingAnswer(send, self._still_in(request))
            try:
                await self.app(scope, receive, watched.send)
            finally:
                watched.close()

    def _admit(self, request: Request) -> Response | None:
        """Raises a refusal, or gives the answer that lets somebody in; None: the app has to answer."""
        if is_push(request.scope["path"]):
            self._check_push(request)
            return None
        entrance = self._check_token(request)
        if request.method not in READING:
            self._check_writing(request)
        return entrance

    def _still_in(self, request: Request) -> Callable[[], bool]:
        token = self.access.token
        return lambda: self.access.token == token

    def _check_host(self, request: Request) -> None:
        """Another name for our address is how a foreign page gets past its own origin."""
        given = request.headers.getlist("host")
        host = given[0].lower() if len(given) == 1 else ""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        if host in self._names or name in self.settings.allowed or self._is_own(request, host):
            return
        raise Refusal(403, "foreign-host", host=host[:80])

    def _is_own(self, request: Request, host: str) -> bool:
        """The very address the connection came to; a number cannot be pointed elsewhere by DNS."""
        address, port = request.scope.get("server") or ("", 0)
        spelled = f"[{address}]" if ":" in address else address
        return bool(address) and host == f"{spelled}:{port}" and _is_number(address)

    def _check_method(self, request: Request) -> None:
        path = request.scope["path"]
        driven = path == DRIVEN or path.startswith(f"{DRIVEN}/")
        taken = ("POST",) if path == RECALL else (*READING, *(WRITING if driven else ()))
        if is_push(path):
            taken = ("GET", "POST")
        if _is_curated(request):
            taken = (*READING, "POST")
        if request.method not in taken:
            raise Refusal(405, "method-not-taken", method=request.method)

    def _check_writing(self, request: Request) -> None:
        """What changes something comes from our own page, or from a program that has the token; what
        asks for an agent, from such a program alone."""
        bearer = request.headers.get("authorization", "").lower().startswith("bearer ")
        if _is_curated(request):
            check_form(request, bearer)
            return
        if request.scope["path"] == RECALL:
            if not bearer:
                raise Refusal(401, "bearer-missing")
        elif not self.settings.drive:
            raise Refusal(404, OFF)
        elif not bearer and "origin" not in request.headers:
            raise Refusal(403, "origin-missing")
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refusal(415, "type-not-taken", type=kind[:80] or "nothing")
        size = request.headers.get("content-length", "0")
        if not size.isdecimal() or int(size) > LARGEST:
            large = TooLarge()
            raise Refusal(413, large.code, **large.values)

    def _check_push(self, request: Request) -> None:
        """Only programs push, with a token of their own, which is asked for behind this."""
        if not self.settings.accept_push:
            raise Refusal(404, "push-off")
        if "origin" in request.headers:
            raise Refusal(403, "bearer-missing")

    def _check_token(self, request: Request) -> Response | None:
        """Let in; with a token or a ticket in the address, by way of a cookie and the address without."""
        query = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if any(name in IN_ADDRESS for name, _ in query):
            self._check_address(request, query)
            return self._welcome(request, [(n, v) for n, v in query if n not in IN_ADDRESS])
        token = self.access.token
        kind, _, bearer = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            if not _same(bearer.strip(), token):
                raise Refusal(401, "wrong-bearer")
            return None
        if any(_same(value, cookie_value(token)) for value in self._cookies(request)):
            return None
        raise Refusal(401, "token-missing")

    def _check_address(self, request: Request, query: list[tuple[str, str]]) -> None:
        if request.method not in READING:
            raise Refusal(401, "token-only-opens")
        tokens = [value for name, value in query if name == "token"]
        if not all(_same(token, self.access.token) for token in tokens):
            raise Refusal(401, "wrong-token")
        tickets = [value for name, value in query if name == "ticket"]
        # Looking at the head of a page uses nothing up, and so it proves nothing.
        redeemed = request.method == "GET" and len(tickets) == 1 and self.access.redeem(tickets[0])
        if tickets and not redeemed:
            raise Refusal(401, "ticket-used")

    def _cookies(self, request: Request) -> Iterable[str]:
        for header in request.headers.getlist("cookie"):
            for pair in header.split(";"):
                name, _, value = pair.strip().partition("=")
                if name == self.settings.cookie:
                    yield value

    def _welcome(self, request: Request, query: list[tuple[str, str]]) -> Response:
        response = led_on(request, query)
        response.set_cookie(
            self.settings.cookie,
            cookie_value(self.access.token),
            max_age=REMEMBERED,
            path="/",
            httponly=True,
            samesite="strict",
        )
        return response


def is_push(path: str) -> bool:
    return path == PUSH or path.startswith(f"{PUSH}/")


def _is_curated(request: Request) -> bool:
    path: str = request.scope["path"]
    return any(path == one.rstrip("/") or path.startswith(one) for one in CURATED)


def check_form(request: Request, bearer: bool = False, most: int = LARGEST_FORM) -> None:
    """A form is sent by a page of ours, which the browser says, or by a program that has the token."""
    if not bearer and "origin" not in request.headers:
        raise Refusal(403, "origin-missing")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        raise Refusal(415, "no-form", type=kind[:80] or "nothing")
    size = request.headers.get("content-length", "")
    if not size.isdecimal() or int(size) > most:
        raise Refusal(413, "form-too-large", most=most // 1024)


def check_origin(request: Request) -> None:
    """What a page of another site asks for is refused, whatever cookie comes along with it."""
    headers = request.headers
    origin = headers.get("origin")
    scheme, _, site = (origin or "").lower().partition("://")
    ours = scheme in ("http", "https") and site == headers["host"].lower()
    if origin is not None and not ours:
        raise Refusal(403, "foreign-origin", origin=origin[:80])
    site = headers.get("sec-fetch-site", "none")
    if site in ("none", "same-origin") or _is_navigation(headers):
        return
    raise Refusal(403, "foreign-request", site=site[:20])


def led_on(request: Request, query: list[tuple[str, str]]) -> Response:
    """To the same page, with this query alone."""
    path = (request.scope.get("raw_path") or b"/").decode("latin-1").replace("\\", "%5C")
    # Two slashes at the beginning would be the name of another host.
    target = "/" + path.lstrip("/") + (f"?{urlencode(query)}" if query else "")
    if is_from_elsewhere(request):
        # A browser keeps its cookie back on a way that began elsewhere (also in a file); from a
        # page of ours it does not.
        return HTMLResponse(_onward(request, target))
    return Response(status_code=303, headers={"Location": target})


def is_from_elsewhere(request: Request) -> bool:
    return request.headers.get("sec-fetch-site") in ("cross-site", "same-site")


def _is_navigation(headers: Headers) -> bool:
    """Somebody followed a link: the page opens in a window of its own, where the other cannot look."""
    return (
        headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    )


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())


def _is_number(address: str) -> bool:
    try:
        ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return True


_CODES = {
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    413: "too_large",
    415: "media_type",
}


def refused(request: Request, refusal: Refusal) -> Response:
    if request.url.path.startswith("/api/"):
        code = _CODES.get(refusal.status, "method")
        response = failure(refusal.status, code, *refusal.lines(locale_of(request)))
    else:
        response = HTMLResponse(_page(request, refusal), refusal.status)
    if refusal.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    if refusal.status == 405:
        response.headers["Allow"] = "GET, HEAD"
    return response


def _page(request: Request, refusal: Refusal) -> str:
    locale = locale_of(request)
    message, hint = refusal.lines(locale)
    again = ""
    if refusal.status == 401 and is_from_elsewhere(request):
        # A browser keeps its cookie back when a link of another site leads here; from here it does not.
        path = (request.scope.get("raw_path") or b"/").decode("latin-1").lstrip("/")
        asked = request.scope["query_string"].decode("latin-1")
        target = escape("/" + path + (f"?{asked}" if asked else ""))
        link = f'<a href="{target}">{Wording("open-this-page").lines(locale)[0]}</a>'
        again = "<p>" + Wording("here-before", link=link).lines(locale)[0] + "</p>"
    if refusal.code == "device-unknown":
        words = Wording("pair-this-device").lines(locale)[0]
        again += f'<p><a href="{PAIR}">{words}</a></p>'
    return (
        f'<!doctype html><html lang="{locale}"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>rireki</title><h1>rireki</h1><p>{escape(message)}</p>"
        f"<p>{escape(hint)}</p>{again}</html>"
    )


def _onward(request: Request, target: str) -> str:
    """A page of ours that leads on at once."""
    locale, address = locale_of(request), escape(target)
    words = Wording("open-this-page").lines(locale)[0]
    return (
        f'<!doctype html><html lang="{locale}"><meta charset="utf-8">'
        f'<meta http-equiv="refresh" content="0; url={address}">'
        f'<title>rireki</title><p><a href="{address}">{words}</a></p>'
        "</html>"
    )


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
