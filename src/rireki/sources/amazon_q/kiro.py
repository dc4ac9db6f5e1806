"""Kiro CLI: its database, the event logs of its second engine, the folders of its third.

Where to look, and nothing else: the rest is shared with Amazon Q."""

from __future__ import annotations

from rireki.sources.amazon_q import files
from rireki.sources.amazon_q.files import agent_of, session_of
from rireki.sources.amazon_q.reader import Family, databases_of
from rireki.sources.kit.files import ANYTHING, FileKind, FilesBelow, stem_of
from rireki.sources.kit.places import Places

__all__ = ["READER"]


def _agent(path: str) -> str:
    return agent_of(session_of(path), stem_of(path))


#: `sess_…`, or the bare id of a session that the editor, or the CLI, brought along.
_THIRD = "sessions/*/*"
_SESSIONS = (
    # The second engine; `.lock` only says that the session is open.
    FileKind("sessions/cli/*.jsonl", "lines", files.LOG),
    FileKind("sessions/cli/*.json", "document", files.SESSION),
    FileKind("sessions/cli/*.history", "lines", files.TYPED),
    FileKind(f"{_THIRD}/messages.jsonl", "lines", files.V3_LOG, session_of),
    FileKind(f"{_THIRD}/session.json", "document", files.V3_SESSION, session_of),
    FileKind(f"{_THIRD}/sub-executions/*.jsonl", "lines", files.V3_SUB, _agent),
    FileKind(f"{_THIRD}/*", "document", files.SIDE, session_of),
    FileKind(f"{_THIRD}/*/{ANYTHING}", "document", files.SIDE, session_of),
)


class Kiro(Family):
    name = "kiro"
    kiro = True

    def below(self, places: Places) -> list[FilesBelow]:
        homes = dict.fromkeys(filter(None, [places.variable("KIRO_HOME"), places.home / ".kiro"]))
        sessions = [FilesBelow(home, _SESSIONS, "{n} files in sessions") for home in homes]
        return [*databases_of(places, "kiro-cli"), *sessions]


READER = Kiro()
