"""A real Chromium for the tests, wherever the machine has one, and what it was made to do.

Whatever Chromium wants from another machine goes to a `Trap` instead, and is noted
there: by name, whoever asked for it, a page, a worker or the browser itself.
"""

from __future__ import annotations

import os
import shutil
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, Request

__all__ = ["PATIENCE", "Trap", "Visit", "launch", "launch_like", "trapping"]

#: The first one is Chromium without the windows, tabs and menus around a page: half the work.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
#: Nothing but our own pages: no updates, no sync, no phoning home.
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    # As few processes as can be: each is started anew for every visit, and half of them for nothing.
    "--in-process-gpu",
    "--disable-site-isolation-trials",
    "--enable-features=NetworkServiceInProcess2",
    "--disable-features=SpareRendererForSitePerProcess",
]
#: Milliseconds a loaded machine may need; nothing takes that long on an idle one.
PATIENCE = 20_000.0
#: Whom Chromium asks of its own accord, whatever it is told not to do.
_MAKER = ("google.com", "googleapis.com", "gvt1.com")
#: Movement costs time and tells nothing.
_CALM = {"reduced_motion": "reduce"}
#: Schemes that ask nobody.
_INSIDE = ("data", "blob", "about")


class Trap(socketserver.ThreadingTCPServer):
    """Stands where the way out of the machine would be, and notes who wanted to leave."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Caught)
        self.caught: list[str] = []

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Caught(socketserver.StreamRequestHandler):
    """The first line of a request names where it was to go."""

    timeout = 5

    def handle(self) -> None:
        assert isinstance(self.server, Trap)
        wanted = self.rfile.readline(2000).decode(errors="replace").split()
        where = urlsplit(wanted[1]).hostname if wanted[0] != "CONNECT" else wanted[1].split(":")[0]
        if not (where or "").endswith(_MAKER):
            self.server.caught.append(" ".join(wanted))
        # Told plainly, or the browser would try again later, in the middle of another test.
        self.wfile.write(b"HTTP/1.1 200 Trapped\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


@contextmanager
def trapping() -> Iterator[Trap]:
    with Trap() as trap:
        thread = threading.Thread(target=trap.serve_forever, args=[0.05])
        thread.start()
        yield trap
        trap.shutdown()
        thread.join()


def launch(play: Playwright, trap: Trap | None = None) -> Browser:
    return play.chromium.launch(executable_path=_chromium(), args=_arguments(trap))


def launch_like(browser: Browser, trap: Trap, *more: str) -> Browser:
    """Another one, told something besides."""
    given = [*_arguments(trap), *more]
    return browser.browser_type.launch(executable_path=_chromium(), args=given)


def _chromium() -> str:
    named = [os.environ.get("RIREKI_CHROMIUM", ""), *NAMES]
    path = next((found for name in named if name and (found := shutil.which(name))), None)
    if path is None:
        raise RuntimeError("there is no Chromium for the browser tests: run 'sh tools/browser'")
    return path


def _arguments(trap: Trap | None) -> list[str]:
    # Chromium asks no proxy for this machine's own addresses.
    return [*QUIET, *([f"--proxy-server=127.0.0.1:{trap.port}"] if trap else [])]


class Visit:
    """Somebody at a browser: tabs that share their cookies, and everything that went wrong in them."""

    def __init__(self, browser: Browser, base: str, **options: Any) -> None:
        settings = {
            "viewport": {"width": 1280, "height": 800},
            "locale": "en-US",
            **_CALM,
            **options,
        }
        self.context: BrowserContext = browser.new_context(base_url=base, **settings)
        self.context.set_default_timeout(PATIENCE)
        self.base = base
        #: Dialogs, errors of scripts, complaints of the browser (a breach of the policy is one).
        self.faults: list[str] = []
        #: What was asked of anybody but the server.
        self.strays: list[str] = []
        self.context.on("page", self._watch)
        self.context.on("request", self._asked)

    def open(self, path: str = "/") -> Page:
        """A tab at an address."""
        page = self.context.new_page()
        page.goto(path)
        return page

    def _watch(self, page: Page) -> None:
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(f"{page.url}: {error}"))

        def refuse(dialog: Any) -> None:
            self.faults.append(f"{page.url}: a dialog said {dialog.message!r}")
            dialog.dismiss()

        page.on("dialog", refuse)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"{message.location.get('url')}: {message.text}")

    def _asked(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if f"{parts.scheme}://{parts.netloc}" != self.base and parts.scheme not in _INSIDE:
            self.strays.append(request.url)
