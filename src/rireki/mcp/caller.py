"""Which conversation is calling, as far as its host says so.

What hosts give, as of November 2026: Codex puts `threadId` into the `_meta` of each call, and nothing
into the environment; OpenCode `ai.opencode/sessionID`, Antigravity `antigravity.google/conversation_id`.
Claude Code notes the session of each of its processes in `sessions/PID.json`, also after `/clear`, and
sets CLAUDE_CODE_SESSION_ID for the servers it starts, which stays what it was then. Others say nothing:
then nobody is left out, and the answer says that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from rireki.errors import Ambiguous, NotFound
from rireki.library import Library

__all__ = ["Caller", "HostSession", "host_session"]

#: Keys in the `_meta` of a call, each with the source whose conversations it names.
_IN_CALLS = {
    "threadId": "codex",
    "ai.opencode/sessionID": "opencode",
}
#: Keys in an object that Codex keeps in `_meta`.
_CODEX = "x-codex-turn-metadata"
#: Variables that hosts set for the servers they start; first those that are hardly inherited.
_VARIABLES = {
    "CODEX_THREAD_ID": "codex",
    "OPENCODE_SESSION_ID": "opencode",
    "GEMINI_SESSION_ID": "gemini-cli",
    "CLAUDE_CODE_SESSION_ID": "claude-code",
    "CLAUDE_SESSION_ID": "claude-code",
}
#: Names of hosts, as they introduce themselves, whose sessions a variable may mean.
_HOSTS = {"codex": "codex", "opencode": "opencode", "gemini": "gemini-cli", "claude": "claude-code"}
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{3,199}")
#: Processes between us and the host: a shell, a launcher.
_ANCESTORS = 4
_LARGEST = 100_000


class HostSession(NamedTuple):
    """A session as its host names it."""

    source: str
    native_id: str


class Caller(NamedTuple):
    """The conversation that asks: its id in the archive, whether it is there, or why nobody knows."""

    id: str | None
    archived: bool = False

    @classmethod
    def of(cls, session: HostSession | None, library: Library) -> Caller:
        if session is None:
            return cls(None)
        named = f"{session.source}/{session.native_id}"
        with suppress(NotFound, Ambiguous):
            found = library.find(named)
            # A beginning is not enough: another conversation would be left out.
            if found.id == named or found.native_id == session.native_id:
                return cls(found.id, True)
        return cls(named)

    @property
    def left_out(self) -> str:
        """Said at the end of every answer."""
        if self.id is None:
            return "left out: nothing (your host does not say which session is calling)"
        if not self.archived:
            return f"left out: this session ({self.id}; not in the archive yet)"
        return f"left out: this session ({self.id})"


def host_session(
    meta: Mapping[str, Any] | None,
    client: str = "",
    environment: Mapping[str, str] | None = None,
    parent: int | None = None,
) -> HostSession | None:
    """What the host says, the surest first: of the call, of its process, of what it set for us.

    `client` is the name by which it introduced itself. Without an `environment` (over HTTP) only the
    call counts.
    """
    by_call = _of_call(meta or {})
    if by_call is not None or environment is None:
        return by_call
    host = next((source for name, source in _HOSTS.items() if name in client.lower()), None)
    if host in (None, "claude-code") and parent is not None:
        noted = _of_process(environment, parent)
        if noted is not None:
            return noted
    for name, source in _VARIABLES.items():
        # A host that was started from another one's shell has the other one's variables as well.
        if host in (None, source) and (session := _session(source, environment.get(name))):
            return session
    return None


def _of_call(meta: Mapping[str, Any]) -> HostSession | None:
    for key, source in _IN_CALLS.items():
        if session := _session(source, meta.get(key)):
            return session
    turn = meta.get(_CODEX)
    if isinstance(turn, str):
        with suppress(ValueError, RecursionError):
            turn = json.loads(turn[:_LARGEST])
    if isinstance(turn, dict):
        return _session("codex", turn.get("thread_id") or turn.get("session_id"))
    return None


def _session(source: str, given: object) -> HostSession | None:
    return HostSession(source, given) if isinstance(given, str) and _ID.fullmatch(given) else None


def _of_process(environment: Mapping[str, str], parent: int) -> HostSession | None:
    """The session that Claude Code notes for the process that started us."""
    home = environment.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude"
    for pid in _ancestors(parent):
        try:
            note = Path(home, "sessions", f"{pid}.json")
            if not note.is_file() or note.stat().st_size > _LARGEST:
                continue
            value = json.loads(note.read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(value, dict) and value.get("pid") == pid:
            return _session("claude-code", value.get("sessionId"))
    return None


def _ancestors(parent: int) -> Iterator[int]:
    for _ in range(_ANCESTORS):
        if parent <= 1:
            return
        yield parent
        try:
            status = Path(f"/proc/{parent}/stat").read_text(encoding="utf-8", errors="replace")
            parent = int(status.rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return
