"""What is to be forgotten is forgotten when its time has come, also after a restart.

The archive itself says what that is and when. Nothing here is asked whether it should be.
"""

from __future__ import annotations

import logging
import threading
from datetime import datetime, timezone

from rireki.archive.base import Archive
from rireki.errors import RirekiError
from rireki.intake.forget import forget_due, leaving
from rireki.search.index.update import erase
from rireki.web.archive_reader import ArchiveReader

__all__ = ["schedule"]

_log = logging.getLogger("rireki.web")
#: Seconds behind a moment, so that it is over when somebody looks.
BEHIND = 0.05


def schedule(reader: ArchiveReader) -> None:
    """See to it as soon as the next one is due. A server that ends leaves it to the next one."""
    try:
        following = reader.library.ask(_next)
    except RirekiError as error:
        _log.error("what is to be forgotten cannot be read: %s. %s", error.message, error.hint)
        return
    if following is not None:
        wait = (following - datetime.now(timezone.utc)).total_seconds()
        timer = threading.Timer(max(wait, 0) + BEHIND, _forget, [reader])
        timer.daemon = True
        timer.start()


def _next(archive: Archive) -> datetime | None:
    return min((each.due for each in leaving(archive)), default=None)


def _forget(reader: ArchiveReader) -> None:
    try:
        reader.library.ask(_forget_now)
    except RirekiError as error:
        if error.code != "library-closed":
            _log.error("nothing could be forgotten: %s. %s", error.message, error.hint)
        return
    schedule(reader)


def _forget_now(archive: Archive) -> None:
    if forget_due(archive, datetime.now(timezone.utc)):
        erase(archive)
