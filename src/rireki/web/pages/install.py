"""What makes the pages an app where browsers allow it: a manifest, a worker, a page for when we are away.

None of it holds anything of a conversation.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from rireki.web.parts.frame import WEB, page, static

__all__ = ["show_manifest", "show_offline", "show_worker"]

SIZES = (192, 512)


async def show_manifest(request: Request) -> Response:
    """`/manifest.webmanifest`"""
    icons = [
        {"src": static(f"icon-{n}.png"), "sizes": f"{n}x{n}", "type": "image/png", "purpose": use}
        for n in SIZES
        for use in ("any", "maskable")
    ]
    said = {
        "id": "/",
        "name": "rireki",
        "short_name": "rireki",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#ffffff",
        "theme_color": "#0a6c4d",
        "icons": icons,
    }
    return JSONResponse(said, media_type="application/manifest+json")


async def show_worker(request: Request) -> Response:
    """`/sw.js`: at the root, since it is for all pages."""
    return FileResponse(WEB / "static" / "sw.js", media_type="text/javascript")


async def show_offline(request: Request) -> Response:
    """`/offline`: what is shown while the server cannot be reached."""
    return page(request, "offline.html")
