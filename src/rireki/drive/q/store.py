"""The row in which Amazon Q keeps a directory's conversation: looked at, and archived before it goes.

A plain `q chat` replaces the row of its directory with its first answer. Nothing is written
here but rireki's own archive.
"""

from __future__ import annotations

import os
from contextlib import closing
from typing import Any

from rireki.archive.open import open_archive
from rireki.drive.driver import AgentGone, AgentTask
from rireki.errors import SourceTrouble, Wording
from rireki.intake.known_origins import KnownOrigins
from rireki.intake.sweep import take_some
from rireki.model.record import Origin
from rireki.sources import registry
from rireki.sources.amazon_q.tables import OLD, HeldRow, held, mark_of

__all__ = ["QStore"]


class QStore:
    def __init__(self, work: AgentTask) -> None:
        self._work = work
        self._source = work.agent.source or "amazon-q"
        #: As the agent notes it: what the system calls the directory it works in.
        self._directory = os.path.realpath(work.project)

    def mark(self) -> tuple[str, tuple[Any, ...]] | None:
        """Another one whenever the directory's row was saved."""
        for origin in self._databases():
            found = _look(mark_of, origin.place, self._directory)
            if found is not None:
                return origin.place, found
        return None

    def held(self) -> HeldRow | None:
        """What the directory holds now."""
        for origin in self._databases():
            found: HeldRow | None = _look(held, origin.place, self._directory)
            if found is not None:
                return found
        return None

    def holds(self, conversation: str) -> bool:
        found = self.held()
        return found is not None and found.conversation == conversation

    def warning(self) -> str | None:
        """What a new conversation in this directory will do to the one it holds."""
        found = self.held()
        if found is None or found.mark[0] != OLD:
            return None
        return (
            f"{self._work.agent.title} keeps one conversation per directory: the first answer of this"
            f" one replaces {self._source}/{found.conversation} there. It stays in rireki's archive."
        )

    def keep(self) -> list[str]:
        """Archive what a new conversation will replace; says so."""
        warning = self.warning()
        if warning is None:
            return []
        with closing(open_archive(self._work.archive, create=True)) as archive:
            swept = take_some(archive, self._databases(), KnownOrigins(archive))
        if swept.failed:
            _, trouble = swept.failed[0]
            why = Wording(trouble.message)
            raise AgentGone(
                "replaced-not-archived", hint=trouble.hint, path=self._directory, why=why
            )
        return [warning]

    def _databases(self) -> list[Origin]:
        reader = registry.reader(self._source)
        origins = reader.discover(self._work.places).origins
        return [origin for origin in origins if origin.form == "database"]


def _look(at: Any, place: str, directory: str) -> Any:
    """None also as long as the database cannot be read: who asks, asks again."""
    try:
        return at(place, directory)
    except SourceTrouble:
        return None
