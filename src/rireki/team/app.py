"""A team's app: the pages and answers of the web app that fit many people, and its own addresses.

What is about one machine (its sources, agents that work there) is not among them. A route that is
not named here is not there: whoever adds one decides whether a team has it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial

from starlette.routing import Mount, Route

from rireki.archive.base import Archive
from rireki.mcp.http import RecallEndpoint
from rireki.sources.kit.places import Places
from rireki.sync.routes import Admission, push_routes
from rireki.team.guard import TeamGuard
from rireki.team.logs import AccessLog
from rireki.team.pages import Signing, team_routes
from rireki.team.people import SHARES
from rireki.team.scopes import Scopes, member_scope
from rireki.team.signed import SignedHeader
from rireki.team.store import Team
from rireki.team.worker import ProjectWorker
from rireki.web import api, pages
from rireki.web.app import WebApp, static_files
from rireki.web.guard import RECALL, GuardSettings

__all__ = ["SHOWN", "create_team_app"]

API = "/api/v1"
#: Of the web app's addresses those that a team has.
SHOWN = frozenset(
    {
        *("/", "/c/{id:path}", "/versions/{id:path}", "/explain/{id:path}", "/raw/{id:path}"),
        *(
            "/export/{id:path}",
            "/files/{id:path}",
            "/share/{id:path}",
            "/fragments/home",
            "/fragments/{id:path}",
        ),
        *("/search", "/stats", "/usage", "/project", "/help", "/talk.css"),
        *(f"{API}/health", f"{API}/stats", f"{API}/search", f"{API}/conversations"),
        *(f"{API}/conversations/{{rest:path}}", f"{API}/events", f"{API}/openapi.json"),
        f"{API}/{{rest:path}}",
    }
)


def create_team_app(
    team: Team,
    scopes: Scopes,
    worker: ProjectWorker,
    settings: GuardSettings,
    log: AccessLog,
    signed: SignedHeader | None = None,
) -> tuple[WebApp, RecallEndpoint]:
    recall = RecallEndpoint(
        lambda request: member_scope(request).archive_reader.library,
        Places.at(team.folder / "nowhere"),
    )
    signing = Signing()

    def guarded(app: WebApp) -> TeamGuard:
        signing.guard = TeamGuard(app.inner, settings, team, scopes, log, signed)
        return signing.guard

    shown = [route for route in (*api.ROUTES, *pages.ROUTES) if _is_shown(route)]
    routes: list[Route | Mount] = [
        *team_routes(team, worker, log, signing),
        *push_routes(partial(_admission, team, worker)),
        Route(RECALL, recall, methods=["POST"]),
        Mount("/static", static_files()),
        *shown,
    ]
    app = WebApp(routes, guarded, member_scope)
    app.state.team = team
    return app, recall


def _is_shown(route: Route | Mount) -> bool:
    return route.path in SHOWN


def _admission(team: Team, worker: ProjectWorker, token: str) -> Admission | None:
    """What a token lets push: its person's own archive, and nothing is told in return."""
    member = team.people.admit(token)
    if member is None or not member.teams(SHARES):
        return None

    def archive() -> AbstractContextManager[Archive]:
        return team.archive(member.id)

    return Admission(archive=archive, kind="team", taken=worker.kick)
