"""The server of one agent: it speaks over our standard input and output, and ends with them."""

from __future__ import annotations

import asyncio
import os
import signal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rireki.archive.open import open_archive
from rireki.errors import RirekiError
from rireki.late import LateModule
from rireki.library import Library
from rireki.live.keeper import Keeper
from rireki.mcp.coverage import told_of
from rireki.sources.kit.places import Places

if TYPE_CHECKING:
    from rireki.archive.base import Archive
    from rireki.mcp import server
else:
    # The SDK may not be installed.
    server = LateModule("rireki.mcp.server")

__all__ = ["serve"]

#: Seconds that a question waits for what was written before it, while that is taken in.
PATIENCE = 1.0


def serve(archive: Path, places: Places, *, keep: bool, parent: int) -> None:
    """Until the agent ends it. Raises RirekiError where the SDK is not installed."""
    keeper = Keeper(archive, places) if keep else None
    library = Library(partial(_opened, archive, keeper))
    try:
        recall = server.RecallServer(
            lambda _: library,
            places,
            environment=os.environ,
            parent=parent,
            directory=str(Path.cwd()),
            coverage=partial(_coverage, keeper),
        )
    except ImportError as error:
        raise RirekiError("mcp-not-installed", name=error.name or "mcp") from error
    if keeper is not None:
        keeper.start()
    # The agent ends us by closing our input, or by a signal: either is a good end. A thread may still
    # wait for input then, and what the keeper has begun is begun anew the next time.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    try:
        asyncio.run(recall.run_stdio())
    finally:
        if keeper is not None:
            keeper.stop()
        library.close()


def _opened(path: Path, keeper: Keeper | None) -> Archive:
    """The archive; a first one may be in the making."""
    if keeper is not None and not path.exists():
        keeper.wait(PATIENCE)
    return open_archive(path)


def _coverage(keeper: Keeper | None) -> str:
    """What has to be known of an archive that is not up to date; empty when it is."""
    if keeper is None:
        return ""
    keeper.wait(PATIENCE)
    return told_of(keeper.status)
