"""A real Chromium for the tests, wherever the machine has one."""

from __future__ import annotations

import os
import shutil

from playwright.sync_api import Browser, Playwright

__all__ = ["launch"]

NAMES = ("chromium", "chromium-browser", "google-chrome")
#: Nothing but our own pages: no updates, no sync, no phoning home.
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
]


def launch(play: Playwright) -> Browser:
    named = [os.environ.get("RIREKI_CHROMIUM", ""), *NAMES]
    path = next((found for name in named if name and (found := shutil.which(name))), None)
    if path is None:
        raise RuntimeError("there is no Chromium for the browser tests: run 'sh tools/browser'")
    return play.chromium.launch(executable_path=path, args=QUIET)
