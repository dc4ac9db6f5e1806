"""One database with the archives of many owners."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from rireki.archive.base import Archive
from rireki.archive.postgres.connections import Connections
from rireki.archive.postgres.migrate import ensure_newest
from rireki.archive.postgres.rows import PostgresRows
from rireki.archive.postgres.trouble import explained
from rireki.home import Home, data_directory

__all__ = ["TeamStore"]

#: In the data directory: what belongs to the archives of a database and lies beside no file.
TEAM = "team"


class TeamStore:
    """Its archives are cheap to open: each thread opens its own. They share the connections."""

    def __init__(
        self,
        database: str,
        *,
        create: bool = False,
        folder: Path | None = None,
        clock: Callable[[], str],
        **settings: Any,
    ) -> None:
        self._connections = Connections(database, **settings)
        self.name = self._connections.name
        #: Where the files that belong to the archives lie.
        self.folder = folder or data_directory() / TEAM
        self._clock = clock
        try:
            with explained(self.name), self._connections.borrow() as connection:
                ensure_newest(connection, self.name, create)
        except BaseException:
            self.close()
            raise

    def archive(self, owner: int) -> Archive:
        """The archive of an owner, empty at first."""
        return self._archive(owner, None)

    def only_archive(self, owner: int) -> Archive:
        """The same; the store is closed with it."""
        return self._archive(owner, self.close)

    def _archive(self, owner: int, close: Callable[[], None] | None) -> Archive:
        home = Home(self.folder / f"owner-{owner}")
        return Archive(PostgresRows(self._connections, owner, home, close), self._clock)

    def close(self) -> None:
        self._connections.close()

    def __enter__(self) -> TeamStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()
