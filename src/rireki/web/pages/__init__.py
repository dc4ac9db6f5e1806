"""The pages of the web app: made on the server, brought to life by the scripts in `static`."""

from __future__ import annotations

from starlette.routing import Route

from rireki.web.lan.pairing import PAIR
from rireki.web.pages.conversation import show_conversation
from rireki.web.pages.curate import (
    change_conversation,
    forget_conversation,
    keep_searches,
    show_curate,
    show_forget,
)
from rireki.web.pages.devices import change_devices, pair_device, show_devices, show_pair
from rireki.web.pages.digest import show_digest
from rireki.web.pages.drive import asks_piece, show_inbox, show_new
from rireki.web.pages.explain import show_explain
from rireki.web.pages.export import export_conversation
from rireki.web.pages.files import show_files
from rireki.web.pages.fragments import conversation_fragments
from rireki.web.pages.help import show_help
from rireki.web.pages.home import home_rows, show_home, status_piece
from rireki.web.pages.install import show_manifest, show_offline, show_worker
from rireki.web.pages.project import show_project
from rireki.web.pages.raw import show_raw
from rireki.web.pages.search import show_search
from rireki.web.pages.share import show_share
from rireki.web.pages.stats import show_stats
from rireki.web.pages.usage import show_usage
from rireki.web.pages.versions import show_versions
from rireki.web.parts.frame import conversation_css
from rireki.web.parts.keeper_status import show_sources

__all__ = ["ROUTES"]

ROUTES = [
    Route("/", show_home),
    Route("/c/{id:path}", show_conversation),
    Route("/versions/{id:path}", show_versions),
    Route("/explain/{id:path}", show_explain),
    Route("/files/{id:path}", show_files),
    Route("/raw/{id:path}", show_raw),
    Route("/export/{id:path}", export_conversation),
    Route("/share/{id:path}", show_share),
    Route("/curate/{id:path}", show_curate),
    Route("/curate/{id:path}", change_conversation, methods=["POST"]),
    Route("/forget/{id:path}", show_forget),
    Route("/forget/{id:path}", forget_conversation, methods=["POST"]),
    Route("/searches", keep_searches, methods=["POST"]),
    Route("/devices", show_devices),
    Route("/devices", change_devices, methods=["POST"]),
    Route(PAIR, show_pair),
    Route(PAIR, pair_device, methods=["POST"]),
    Route("/manifest.webmanifest", show_manifest),
    Route("/sw.js", show_worker),
    Route("/offline", show_offline),
    Route("/new", show_new),
    Route("/inbox", show_inbox),
    # No id is without a slash, so these never stand for a conversation.
    Route("/fragments/asks", asks_piece),
    Route("/fragments/home", home_rows),
    Route("/fragments/status", status_piece),
    Route("/fragments/{id:path}", conversation_fragments),
    Route("/search", show_search),
    Route("/sources", show_sources),
    Route("/stats", show_stats),
    Route("/digest", show_digest),
    Route("/usage", show_usage),
    Route("/project", show_project),
    Route("/help", show_help),
    Route("/talk.css", conversation_css),
]
