"""Stores of agents that no reader understands yet: where they lie, and how much is there.

So that `rireki sources` can say that it saw them. Names are counted, no file is opened. An agent
whose reader is installed is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import msgspec

from rireki.sources.kit.places import Places

__all__ = ["MOST", "Unread", "unread_stores"]

#: Files of one store that are counted.
MOST = 10_000

#: Files below an agent's own folder in the home, which a variable may name instead.
_IN_HOME = {
    "codex": ("CODEX_HOME", ".codex", "sessions", "*/*/*/rollout-*.jsonl"),
    "copilot-cli": ("COPILOT_HOME", ".copilot", "session-state", "*/events.jsonl"),
    "cursor-cli": ("CURSOR_CONFIG_DIR", ".cursor", "chats", "*/*/store.db"),
    "gemini": ("", ".gemini", "tmp", "*/chats/session-*.json*"),
    "qwen": ("", ".qwen", "projects", "*/chats/*.jsonl"),
    "cline": ("CLINE_DIR", ".cline", "data/sessions", "*/*.json"),
    "amazon-q-ide": ("", ".aws", "amazonq/history", "chat-history-*.json"),
}
#: Files below an application's data directory.
_IN_DATA = {
    "opencode": ("opencode", ("opencode*.db", "storage/session/*/*.json")),
    "goose": ("goose", ("sessions/sessions.db", "sessions/*.jsonl")),
    "amp": ("amp", ("threads/T-*.json",)),
    "zed": ("zed", ("threads/threads.db",)),
}
#: Files below an application's settings.
_IN_SETTINGS = {
    "cursor": ("Cursor", "User/globalStorage/state.vscdb"),
    "kiro-ide": ("Kiro", "User/globalStorage/kiro.kiroagent/workspace-sessions/*/*.json"),
    "copilot-chat": ("Code", "User/workspaceStorage/*/chatSessions/*.json*"),
    "cline-vscode": ("Code", "User/globalStorage/saoudrizwan.claude-dev/tasks/*/ui_messages.json"),
    "roo-code": ("Code", "User/globalStorage/rooveterinaryinc.roo-cline/tasks/*/ui_messages.json"),
    "llm": ("io.datasette.llm", "logs.db"),
}
#: What stands in a project's own directory.
_IN_PROJECT = {"aider": ".aider.chat.history.md"}


class Unread(msgspec.Struct, frozen=True):
    """A store that was seen."""

    source: str
    place: str
    files: int


def unread_stores(
    places: Places, projects: Iterable[str] = (), known: Iterable[str] = ()
) -> list[Unread]:
    """The stores of this home, and what lies in projects; `known` are the readers there are."""
    found = [*_home(places), *_data(places), *_settings(places), *_projects(places, projects)]
    passed = set(known)
    return sorted((one for one in found if one.source not in passed), key=lambda one: one.source)


def _home(places: Places) -> Iterator[Unread]:
    for source, (variable, folder, below, pattern) in _IN_HOME.items():
        root = (places.variable(variable) if variable else None) or places.home / folder
        yield from _seen(source, root / below, [pattern])


def _data(places: Places) -> Iterator[Unread]:
    for source, (application, patterns) in _IN_DATA.items():
        for root in places.data_directories(application):
            yield from _seen(source, root, patterns)


def _settings(places: Places) -> Iterator[Unread]:
    bases = [
        places.variable("XDG_CONFIG_HOME") or places.home / ".config",
        places.home / "Library" / "Application Support",
        places.variable("APPDATA") or places.home / "AppData" / "Roaming",
    ]
    for source, (application, pattern) in _IN_SETTINGS.items():
        for base in dict.fromkeys(bases):
            yield from _seen(source, base / application, [pattern])


def _projects(places: Places, projects: Iterable[str]) -> Iterator[Unread]:
    for source, name in _IN_PROJECT.items():
        for folder in dict.fromkeys([str(places.home), *projects]):
            yield from _seen(source, Path(folder), [name])


def _seen(source: str, root: Path, patterns: Iterable[str]) -> Iterator[Unread]:
    try:
        files = sum(1 for pattern in patterns for _ in islice(root.glob(pattern), MOST))
    except (OSError, ValueError):
        # A folder that may not be looked into, or a path that is none.
        return
    if files:
        yield Unread(source, str(root), files)
