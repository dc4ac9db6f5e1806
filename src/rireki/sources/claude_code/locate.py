"""From a path that changed to the files it concerns, without a walk through all the others."""

# Strings instead of pathlib: every change of a file comes by here.
# ruff: noqa: PTH110, PTH112, PTH118, PTH120, PTH206

from __future__ import annotations

import os
from pathlib import Path

from rireki.sources.claude_code.naming import UUID, session_of
from rireki.sources.claude_code.walk import BESIDE, Walk
from rireki.sources.reader import Origin

__all__ = ["locate"]


def locate(root: Path, path: str) -> list[Origin]:
    """The origins at a path below the root, or in the folder it is: as a whole walk would find them."""
    walk = Walk(root)
    match os.path.relpath(path, root).split(os.sep):
        case ["history.jsonl"]:
            walk.history(path)
        case ["projects"]:
            walk.config_root()
        case ["projects", _]:
            walk.project(path)
        case ["projects", _, name] if name.endswith(".jsonl"):
            walk.transcript(path, session_of(name[:-6], path))
        case ["projects", project, session, *below]:
            if _is_session(os.path.join(root, "projects", project), session):
                _session(walk, path, session, bool(below))
        case [name, session, *below] if name in BESIDE and UUID.fullmatch(session):
            _session(walk, path, session, bool(below))
    return [o for o in walk.origins if o.place == path or o.place.startswith(path + os.sep)]


def _is_session(project: str, name: str) -> bool:
    """Other folders in a project, such as `memory`, hold no conversations."""
    return bool(UUID.fullmatch(name)) or os.path.exists(os.path.join(project, f"{name}.jsonl"))


def _session(walk: Walk, path: str, session: str, below: bool) -> None:
    if os.path.isdir(path):
        walk.session_folder(path, session)
    elif below:
        walk.session_folder(os.path.dirname(path), session)
