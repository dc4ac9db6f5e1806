"""Opening the person's browser at a page that wants a token, without showing the token to others.

The arguments of a process can be read by every user of a machine. So the browser is given the name
of a file that only its owner can read, and the file leads to the page with a ticket that is good
once, for a minute.
"""

from __future__ import annotations

import os
import webbrowser
from collections.abc import Callable
from html import escape
from pathlib import Path
from tempfile import mkstemp
from threading import Thread

from rireki.web.token import TICKET_SECONDS, Ticket

__all__ = ["SOON", "Opening"]

#: Seconds within which a browser comes that can read the file; those in a sandbox cannot.
SOON = 5.0


class Opening:
    """A browser on its way to the page, until it was there or its ticket is void."""

    def __init__(
        self, ticket: Ticket, address: str, late: Callable[[], None], *, by_file: bool = True
    ) -> None:
        """`late` is called when the browser has not come soon, from another thread."""
        self._ticket, self._address, self._late = ticket, address, late
        self._by_file = by_file
        self._file: Path | None = None

    def start(self) -> None:
        try:
            target = self._written().as_uri() if self._by_file else self._address
        except OSError:
            self._late()
            return
        # Some browsers only come back when they are closed.
        Thread(target=_open, args=[target], daemon=True).start()
        Thread(target=self._accompany, daemon=True).start()

    def close(self) -> None:
        """Leave nothing behind; may be called twice, and from any thread."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def _written(self) -> Path:
        # Made readable for its owner alone, under a name that nobody can foresee.
        file, name = mkstemp(prefix="rireki-", suffix=".html")
        self._file = Path(name)
        with os.fdopen(file, "w", encoding="utf-8") as opened:
            opened.write(_page(self._address))
        return self._file

    def _accompany(self) -> None:
        try:
            if not self._ticket.used.wait(SOON):
                self._late()
                self._ticket.used.wait(TICKET_SECONDS - SOON)
        finally:
            self.close()


def _open(target: str) -> None:
    webbrowser.open(target)


def _page(address: str) -> str:
    to = escape(address)
    return (
        '<!doctype html><html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0; url={to}">'
        f'<title>rireki</title><p><a href="{to}">rireki</a></p></html>\n'
    )
