"""Whether a file or folder that a user names is Claude Code's: its first readable line decides.

Looks at names and a few first lines only. What is not surely ours is left to
other readers.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from rireki.sources.claude_code.naming import first_value, session_of
from rireki.sources.claude_code.walk import Walk
from rireki.sources.reader import Origin

__all__ = ["recognise"]

#: How many files of a folder are looked at.
SAMPLE = 20
_MARKS = ("sessionId", "uuid", "leafUuid", "messageId")
#: Types that other tools' transcripts use as well: these need our envelope.
_ENVELOPE = ("parentUuid", "isSidechain", "userType", "leafUuid", "messageId", "version")


def recognise(path: Path) -> list[Origin]:
    try:
        path = path.absolute()
        return _folder(path) if path.is_dir() else _file(path)
    except OSError:
        return []


def _folder(path: Path) -> list[Origin]:
    for root in (path, path / ".claude"):
        if _is_root(root):
            walk = Walk(root)
            walk.config_root()
            return walk.origins
    if path.name == "projects" and _is_root(path.parent):
        return _folder(path.parent)
    walk = Walk(_root_of(path))
    if _any_transcript(path.glob("*.jsonl")):
        walk.project(str(path))
    elif _any_transcript(path.glob("subagents/**/*.jsonl")):
        walk.session_folder(str(path), path.name)
    return walk.origins


def _file(path: Path) -> list[Origin]:
    if path.suffix != ".jsonl":
        return []
    first = first_value(path)
    if _is_typed_prompt(first):
        walk = Walk(path.parent)
        walk.history(str(path))
        return walk.origins
    if not _is_line(first):
        return []
    walk = Walk(_root_of(path.parent))
    conversation = session_of(path.stem, str(path))
    walk.transcript(str(path), conversation)
    if path.stem.startswith("agent-"):
        walk.agent_meta(str(path.with_suffix(".meta.json")), conversation)
    elif path.with_suffix("").is_dir():
        walk.session_folder(str(path.with_suffix("")), conversation)
    return walk.origins


def _root_of(folder: Path) -> Path:
    """The config root above a project folder, or the folder itself when it lies alone."""
    for above in folder.parents:
        if above.name == "projects":
            return above.parent
    return folder


def _is_root(path: Path) -> bool:
    if (path / "projects").is_dir() and _any_transcript(path.glob("projects/*/*.jsonl")):
        return True
    history = path / "history.jsonl"
    return history.is_file() and _is_typed_prompt(first_value(history))


def _any_transcript(paths: Any) -> bool:
    return any(_is_line(first_value(path)) for path in islice(paths, SAMPLE))


def _is_line(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    if value["type"] in ("user", "assistant", "system"):
        return any(mark in value for mark in _ENVELOPE)
    return any(mark in value for mark in _MARKS)


def _is_typed_prompt(value: Any) -> bool:
    return isinstance(value, dict) and "display" in value and "pastedContents" in value
