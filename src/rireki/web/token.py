"""The token that opens the web app: made once per archive, kept with the data of the user who serves it.

It stays the same over restarts, so that open pages find their server again. A server looks at the
file again and again: whoever changes it locks everybody out who has the old token.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import mkstemp
from typing import NamedTuple

from rireki.errors import RirekiError
from rireki.home import Home, make_folder_of

__all__ = [
    "SHORTEST",
    "TICKET_SECONDS",
    "Access",
    "Ticket",
    "checked",
    "cookie_value",
    "ensure_token",
    "new_token",
    "read_chosen",
    "read_own",
]

#: Fewer characters can be guessed.
SHORTEST = 16
#: How long a ticket can be used.
TICKET_SECONDS = 60.0


def ensure_token(archive: Path) -> str:
    """The archive's token; made when there is none, or none that can be used."""
    path = Home(archive).token
    for _ in range(2):
        known = read_own(path)
        if known is not None:
            return known
        _write(path, secrets.token_urlsafe(32))
    raise RirekiError("token-file-unusable", path=path)


def new_token(archive: Path) -> str:
    """Another token instead of the one there was, which opens nothing from now on."""
    token = secrets.token_urlsafe(32)
    _write(Home(archive).token, token)
    return token


def checked(token: str, place: str) -> str:
    """A token that somebody chose. Raises RirekiError, which says what is wrong with it."""
    token = token.strip()
    if len(token) < SHORTEST or not _is_plain(token):
        raise RirekiError("token-unusable", place=place, least=SHORTEST)
    return token


def _is_plain(token: str) -> bool:
    return token.isascii() and token.isprintable() and " " not in token


def read_own(path: Path) -> str | None:
    """A token that we made; None where there is none that can be used."""
    try:
        token = path.read_text(encoding="ascii").strip()
        others_may_read = os.name == "posix" and path.stat().st_mode & 0o077
    except (FileNotFoundError, UnicodeError):
        return None
    # What others may have read opens nothing any more.
    return token if _is_token(token) and not others_may_read else None


def read_chosen(path: Path) -> str | None:
    """A token that somebody chose and put into a file, readable for whom they like."""
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeError):
        return None
    return token if _is_token(token) else None


def _is_token(token: str) -> bool:
    return len(token) >= SHORTEST and _is_plain(token)


def _write(path: Path, token: str) -> None:
    """Whole or not at all; another process that was faster keeps its own."""
    make_folder_of(path)
    # Made under a name that nobody can have put a link at, readable for us alone.
    file, aside = mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(file, "w", encoding="ascii") as opened:
            opened.write(token + "\n")
        Path(aside).replace(path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


# ── letting in ──


class Ticket(NamedTuple):
    """Opens the page once, within a minute: for a browser that is started now."""

    value: str
    #: Set when it was used.
    used: threading.Event


class _Issued(NamedTuple):
    ticket: Ticket
    until: float
    #: A ticket is worth no more than the token it stands for.
    token: str


class Access:
    """What lets a request in: the token as its file has it now, and tickets that do so once."""

    def __init__(
        self,
        token: str,
        file: Path | None = None,
        read: Callable[[Path], str | None] = read_own,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without a `file` the token never changes."""
        self._token, self._file, self._read, self._clock = token, file, read, clock
        self._stamp: tuple[int, ...] | None = None
        #: By the digest of their value, so that looking one up tells nothing about others.
        self._issued: dict[bytes, _Issued] = {}

    @property
    def token(self) -> str:
        if self._file is not None:
            stamp = _stamp(self._file)
            if stamp != self._stamp:
                # With no token in the file nobody is let in, until there is one again.
                self._token = self._read_file(self._file) or secrets.token_urlsafe(32)
                self._stamp = stamp
        return self._token

    def _read_file(self, file: Path) -> str | None:
        try:
            return self._read(file)
        except OSError:
            return None

    def issue(self) -> Ticket:
        now = self._clock()
        self._issued = {key: one for key, one in self._issued.items() if one.until > now}
        ticket = Ticket(secrets.token_urlsafe(32), threading.Event())
        self._issued[_digest(ticket.value)] = _Issued(ticket, now + TICKET_SECONDS, self.token)
        return ticket

    def redeem(self, value: str) -> bool:
        """Whether this is a ticket that nobody has used; it is used now."""
        issued = self._issued.pop(_digest(value), None)
        if issued is None or issued.until <= self._clock() or issued.token != self.token:
            return False
        issued.ticket.used.set()
        return True


def cookie_value(token: str) -> str:
    """What a browser remembers: follows from the token, and does not give it away."""
    return hmac.new(token.encode(), b"rireki cookie", hashlib.sha256).hexdigest()


def _digest(value: str) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "replace")).digest()


def _stamp(file: Path) -> tuple[int, ...]:
    try:
        status = file.stat()
    except OSError:
        return ()
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
