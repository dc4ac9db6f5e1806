"""Who may ask a team's server: whoever brings the token of a device that was not revoked.

A browser is signed in with such a token once, and then known by a cookie of its own. Where a proxy
in front signs who somebody is, that is believed. Hosts and origins are looked at as everywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from urllib.parse import parse_qsl, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rireki.errors import RirekiError
from rireki.team.logs import AccessLog
from rireki.team.people import BROWSER_DAYS, SHARES, Member
from rireki.team.scopes import SCOPE, MemberScope, Scopes
from rireki.team.signed import SignedHeader
from rireki.team.store import Narrowed, Team
from rireki.web.api.failures import told
from rireki.web.guard import (
    READING,
    RECALL,
    Guard,
    GuardSettings,
    Refusal,
    check_origin,
    is_from_elsewhere,
    led_on,
    refused,
)

__all__ = ["PUSHED", "SHARED", "SIGN_IN", "SIGN_OUT", "TeamGuard"]

#: Where laptops push, and say what they share.
PUSHED, SHARED = "/api/push/", "/api/team/v1/shares"
SIGN_IN, SIGN_OUT = "/sign-in", "/sign-out"
#: What is nobody's, or decides for itself who may ask.
OPEN = ("/health", "/metrics", "/talk.css", SIGN_IN)
STATIC = "/static/"
#: Bytes of what somebody signs in with; and of a change of what is shared.
MOST, MOST_SHARED = 4096, 20 << 20
#: For how long who listens is not asked for again while nobody's rights change, in seconds.
ASKED = 15.0
#: The same as a name in an address, and there for every page.
NARROWING = ("person", "team")


class TeamGuard(Guard):
    """ASGI middleware around the whole app."""

    def __init__(
        self,
        app: ASGIApp,
        settings: GuardSettings,
        team: Team,
        scopes: Scopes,
        log: AccessLog,
        signed: SignedHeader | None = None,
    ) -> None:
        super().__init__(app, settings)
        self.team = team
        self.scopes = scopes
        self.log = log
        self.signed = signed

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        with self.log.of(request) as noted:
            answering = noted.sending(send)
            try:
                self._check_host(request)
                self._check_method(request)
                check_origin(request)
                entrance = await self._let_in(request, noted.person)
            except Refusal as refusal:
                await refused(request, refusal)(scope, receive, answering)
                return
            except RirekiError as error:
                await told(request, error)(scope, receive, answering)
                return
            if entrance is not None:
                await entrance(scope, receive, answering)
            else:
                await self.app(scope, receive, self._while_known(request, answering))

    async def _let_in(self, request: Request, named: Callable[[str], None]) -> Response | None:
        path = request.scope["path"]
        if path in OPEN or path.startswith((STATIC, PUSHED)):
            # The last asks for a token itself, with every request.
            return None
        given = dict(parse_qsl(request.scope["query_string"].decode("latin-1")))
        if "token" in given and request.method == "GET":
            return await self._enter(request, given["token"])
        member = await run_in_threadpool(self._member, request)
        if member is None:
            return self._unknown(request)
        named(member.name)
        self._check_writing_of(request, member)
        narrowed = Narrowed(*(given.get(name, "") for name in NARROWING))
        request.scope[SCOPE] = await run_in_threadpool(self.scopes.of, member, narrowed)
        if path.startswith("/api/"):
            _leave_out(request.scope, NARROWING)
        return None

    # ── who it is ──

    def _member(self, request: Request) -> Member | None:
        kind, _, bearer = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self.team.people.admit(bearer.strip())
        if self.signed is not None and (name := self.signed.name_in(request.headers)):
            return self.team.people.admit_name(name, "proxy")
        for value in self._cookies(request):
            if member := self.team.people.admit_browser(value):
                return member
        return None

    def _unknown(self, request: Request) -> Response:
        path = request.scope["path"]
        is_page = request.method in READING and not path.startswith("/api/")
        if not is_page or "authorization" in request.headers:
            raise Refusal(401, "team-token-missing")
        if is_from_elsewhere(request):
            # Somebody followed a link: the browser has kept his cookie back, and sends it the next time.
            return led_on(request, _query_of(request.scope))
        return Response(status_code=303, headers={"Location": SIGN_IN})

    async def _enter(self, request: Request, token: str) -> Response:
        """By way of a cookie, and the address without the token."""
        member = await run_in_threadpool(self.team.people.admit, token)
        if member is None:
            raise Refusal(401, "wrong-token")
        query = [(name, value) for name, value in _query_of(request.scope) if name != "token"]
        return await self.signed_in(member, led_on(request, query), request)

    async def signed_in(self, member: Member, response: Response, request: Request) -> Response:
        until = datetime.now(timezone.utc) + timedelta(days=BROWSER_DAYS)
        stamp = until.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        value = await run_in_threadpool(self.team.people.sign_in, member, stamp)
        response.set_cookie(
            self.settings.cookie,
            value,
            max_age=BROWSER_DAYS * 86400,
            path="/",
            httponly=True,
            samesite="strict",
            secure=request.headers.get("x-forwarded-proto", "") == "https",
        )
        return response

    # ── what may be sent ──

    def _check_method(self, request: Request) -> None:
        path = request.scope["path"]
        posted = path in (RECALL, SHARED, SIGN_IN, SIGN_OUT) or path.startswith(PUSHED)
        taken = (*READING, "POST") if path == SIGN_IN else ("POST",) if posted else READING
        if path == PUSHED.rstrip("/") + "/v1":
            taken = READING
        if request.method not in taken:
            raise Refusal(405, "method-not-taken", method=request.method)

    def _check_writing_of(self, request: Request, member: Member) -> None:
        path = request.scope["path"]
        if path in (RECALL, SHARED) and "authorization" not in request.headers:
            raise Refusal(401, "bearer-missing")
        if path == SHARED and not member.teams(SHARES):
            raise Refusal(403, "auditors-share-nothing")
        size = request.headers.get("content-length", "0")
        if not size.isdecimal() or int(size) > MOST_SHARED:
            raise Refusal(413, "body-too-large", most=MOST_SHARED >> 20)

    def _while_known(self, request: Request, send: Send) -> Send:
        """A stream never ends by itself: it does when whoever opened it is known no more, or has
        other rights."""
        streams = ended = False
        scope = request.scope.get(SCOPE)
        asked = -ASKED

        async def sending(message: Message) -> None:
            nonlocal streams, ended, asked
            now = time.monotonic()
            if message["type"] == "http.response.start":
                kind = Headers(scope=message).get("content-type", "")
                streams = kind.startswith("text/event-stream")
            elif streams and not ended and scope is not None and not self._is_known(scope, asked):
                asked = now
                member = await run_in_threadpool(self._member, request)
                if member is None or member.rights != scope.member.rights:
                    ended = True
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
            if not ended:
                await send(message)

        return sending

    def _is_known(self, scope: MemberScope, asked: float) -> bool:
        """Whether nobody's rights have changed before what the hub tells, as it looked then; those who
        were signed in for some time are asked for again all the same."""
        recently = time.monotonic() - asked < ASKED
        return recently and self.scopes.hub.rights == scope.member.rights


def _query_of(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def _leave_out(scope: Scope, names: tuple[str, ...]) -> None:
    query = _query_of(scope)
    kept = [(name, value) for name, value in query if name not in names]
    if len(kept) != len(query):
        scope["query_string"] = urlencode(kept).encode("latin-1")
