"""Kiro CLI: its database, the event logs of its second engine, the folders of its third.

Where to look, and nothing else: the rest is shared with Amazon Q."""

from __future__ import annotations

import re
from pathlib import PurePath

from rireki.sources.amazon_q import files
from rireki.sources.amazon_q.reader import Family, databases_of
from rireki.sources.kit.files import ANYTHING, FileKind, FilesBelow, stem_of
from rireki.sources.kit.places import Places

__all__ = ["READER"]


def _session(path: str) -> str:
    """The folder of the third engine that a file lies in, however deep."""
    # The outermost below `sessions`: what lies in it may be called anything.
    parts = PurePath(path).parts
    at = max(n for n, part in enumerate(parts[:-2]) if part == "sessions")
    return parts[at + 2].removeprefix(files.V3_PREFIX)


def _agent(path: str) -> str:
    """A sub-agent of the third engine: by its own id, or where that is none, by its session's as well."""
    own = stem_of(path)
    return own if _UUID.search(own) else f"{_session(path)}.{own}"


_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")
#: `sess_…`, or the bare id of a session that the editor, or the CLI, brought along.
_THIRD = "sessions/*/*"
_SESSIONS = (
    # The second engine; `.lock` only says that the session is open.
    FileKind("sessions/cli/*.jsonl", "lines", files.LOG),
    FileKind("sessions/cli/*.json", "document", files.SESSION),
    FileKind("sessions/cli/*.history", "lines", files.TYPED),
    FileKind(f"{_THIRD}/messages.jsonl", "lines", files.V3_LOG, _session),
    FileKind(f"{_THIRD}/session.json", "document", files.V3_SESSION, _session),
    FileKind(f"{_THIRD}/sub-executions/*.jsonl", "lines", files.V3_SUB, _agent),
    FileKind(f"{_THIRD}/*", "document", files.SIDE, _session),
    FileKind(f"{_THIRD}/*/{ANYTHING}", "document", files.SIDE, _session),
)


class Kiro(Family):
    name = "kiro"
    kiro = True

    def below(self, places: Places) -> list[FilesBelow]:
        homes = dict.fromkeys(filter(None, [places.variable("KIRO_HOME"), places.home / ".kiro"]))
        sessions = [FilesBelow(home, _SESSIONS, "{n} files in sessions") for home in homes]
        return [*databases_of(places, "kiro-cli"), *sessions]


READER = Kiro()
