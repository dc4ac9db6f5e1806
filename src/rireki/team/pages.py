"""The addresses that only a team's server has: signing in, who reads what, figures, how it is doing."""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from rireki import __version__
from rireki.errors import NotFound, RirekiError
from rireki.shares.pushing import ShareChange
from rireki.team.audience import AuditEntry, TeamFigures
from rireki.team.guard import MOST, MOST_SHARED, SHARED, SIGN_IN, SIGN_OUT, TeamGuard
from rireki.team.logs import AccessLog
from rireki.team.people import Role
from rireki.team.scopes import member_scope
from rireki.team.store import Team
from rireki.team.worker import ProjectWorker
from rireki.web.api.failures import json_answer
from rireki.web.api.failures import told as told_to_programs
from rireki.web.api.parameters import BadRequest
from rireki.web.locale.words import locale_of, say
from rireki.web.parts.frame import page, templates, told

__all__ = ["METRICS_TOKEN", "Signing", "team_routes"]

PREFIX = "/api/team/v1"
#: Lets a collector of figures ask from another machine.
METRICS_TOKEN = "RIREKI_METRICS_TOKEN"


class Me(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    roles: dict[str, Role]
    #: Whose conversations can be seen.
    people: tuple[str, ...]


class AuditLog(msgspec.Struct, frozen=True):
    entries: list[AuditEntry]


class FiguresOfTeams(msgspec.Struct, frozen=True):
    teams: list[TeamFigures]


class Signing:
    """Signs a browser in; the guard, which knows how, is there once the app has been put together."""

    guard: TeamGuard | None = None


def team_routes(team: Team, worker: ProjectWorker, log: AccessLog, signing: Signing) -> list[Route]:
    addresses = _Addresses(team, worker, log, signing)
    return [
        Route(SIGN_IN, addresses.sign_in, methods=["GET", "POST"]),
        Route(SIGN_OUT, addresses.sign_out, methods=["POST"]),
        Route("/health", addresses.health),
        Route("/metrics", addresses.metrics),
        Route(SHARED, addresses.share, methods=["POST"]),
        Route(f"{PREFIX}/me", addresses.me),
        Route(f"{PREFIX}/audit", addresses.audit),
        Route(f"{PREFIX}/figures", addresses.figures),
        Route("/team", addresses.show_team),
    ]


class _Addresses:
    def __init__(self, team: Team, worker: ProjectWorker, log: AccessLog, signing: Signing) -> None:
        self.team = team
        self.worker = worker
        self.log = log
        self.signing = signing

    # ── signing in ──

    async def sign_in(self, request: Request) -> Response:
        guard = self.signing.guard
        wrong = False
        if request.method == "POST" and guard is not None:
            given = dict(parse_qsl((await _body(request, MOST)).decode("utf-8", "replace")))
            token = given.get("token", "").strip()
            member = await run_in_threadpool(self.team.people.admit, token)
            if member is not None:
                home = Response(status_code=303, headers={"Location": "/"})
                return await guard.signed_in(member, home, request)
            wrong = True
        html = templates().get_template("sign_in.html").render(_words(request, wrong))
        return HTMLResponse(html, 401 if wrong else 200)

    async def sign_out(self, request: Request) -> Response:
        scope = member_scope(request)
        if "authorization" not in request.headers:
            await run_in_threadpool(self._forget_browser, scope.member.device)
        response = Response(status_code=303, headers={"Location": SIGN_IN})
        if self.signing.guard is not None:
            response.delete_cookie(self.signing.guard.settings.cookie, path="/")
        return response

    def _forget_browser(self, device: str) -> None:
        try:
            self.team.people.revoke_device(device)
        except NotFound:
            return

    # ── what laptops say ──

    async def share(self, request: Request) -> Response:
        try:
            data = await _body(request, MOST_SHARED)
            try:
                change = msgspec.json.decode(data, type=ShareChange)
            except (msgspec.MsgspecError, UnicodeError) as error:
                raise BadRequest("bad-body", why=error) from error
            member = member_scope(request).member
            await run_in_threadpool(self.team.change, member, change)
            self.worker.kick()
        except Exception as error:  # noqa: BLE001 - whatever it is, a program gets JSON
            return told_to_programs(request, error)
        return JSONResponse({})

    # ── who, and how much ──

    async def me(self, request: Request) -> Response:
        scope = member_scope(request)
        return json_answer(
            Me(name=scope.member.name, roles=scope.member.roles, people=scope.people)
        )

    async def audit(self, request: Request) -> Response:
        member = member_scope(request).member
        return json_answer(AuditLog(await run_in_threadpool(self.team.audience.log, member)))

    async def figures(self, request: Request) -> Response:
        member = member_scope(request).member
        found = await run_in_threadpool(self.team.audience.figures, member)
        return json_answer(FiguresOfTeams(found))

    async def show_team(self, request: Request) -> Response:
        return await _show_team(request)

    # ── how it is doing ──

    async def health(self, request: Request) -> Response:
        try:
            number = await run_in_threadpool(self.team.fed)
        except RirekiError as error:
            return JSONResponse({"status": "failing", "error": error.code}, 503)
        return JSONResponse({"status": "ok", "version": __version__, "number": number})

    async def metrics(self, request: Request) -> Response:
        if not _may_count(request):
            return PlainTextResponse("", 404)
        lines = await run_in_threadpool(lambda: [*self._metrics()])
        text = "\n".join(lines) + "\n"
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    def _metrics(self) -> Iterator[str]:
        yield from self.log.metrics()
        waiting = self.team.waiting()
        ((people,),) = self.team.tables.ask(
            "SELECT count(*) FROM team_account WHERE revoked_at IS NULL"
        )
        for name, kind, value in (
            ("rireki_people", "gauge", people),
            ("rireki_archives_waiting", "gauge", len(waiting)),
            ("rireki_feed_number", "counter", self.team.fed()),
            ("rireki_interpreted_total", "counter", self.worker.interpreted),
        ):
            yield f"# TYPE {name} {kind}"
            yield f"{name} {value}"


def _may_count(request: Request) -> bool:
    """A collector on this machine, that no proxy stands in front of; or one that has the token."""
    token = os.environ.get(METRICS_TOKEN, "")
    if token:
        given = request.headers.get("authorization", "")
        return hmac.compare_digest(given.encode(), f"Bearer {token}".encode())
    host = request.client.host if request.client else ""
    forwarded = any(
        name.startswith("x-forwarded") or name == "forwarded" for name in request.headers
    )
    return not forwarded and _is_here(host)


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@told
async def _show_team(request: Request) -> Response:
    """`/team`: one's teams, what is counted of them, and who read what."""
    scope = member_scope(request)
    team: Team = request.app.state.team
    figures = await run_in_threadpool(team.audience.figures, scope.member)
    entries = await run_in_threadpool(team.audience.log, scope.member)
    return page(
        request,
        "team.html",
        member=scope.member,
        figures=figures,
        entries=entries,
        seen=scope.people,
    )


async def _body(request: Request, most: int) -> bytes:
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > most:
            raise BadRequest("body-too-large", most=most >> 20)
        pieces.append(piece)
    return b"".join(pieces)


def _words(request: Request, wrong: bool) -> dict[str, Any]:
    locale = locale_of(request)
    return {"locale": locale, "wrong": wrong, "t": lambda text, **v: say(locale, text, **v)}
