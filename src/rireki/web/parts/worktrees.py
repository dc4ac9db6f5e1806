"""Which directories are one project: a repository, and the worktrees that were made of it.

Told by what their names say, and, on a machine of one's own, by the small file that git leaves in a worktree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

__all__ = ["root_of", "siblings_of"]

#: Where agents and people put worktrees of a repository inside of it.
_INSIDE = re.compile(r"(?P<root>.+?)/\.(?:claude/|kiro/|cursor/)?worktrees/[^/]+")
#: What the file says that stands for the folder `.git` in a worktree.
_GITDIR = re.compile(r"gitdir: (?P<root>.+)/\.git/worktrees/[^/]+\s*\Z")
#: Bytes of that file: nobody's is longer.
LARGEST = 4096


def root_of(directory: str, look: bool) -> str:
    """The repository that a directory is a worktree of; itself, where it is none. `look` on the disk."""
    inside = _INSIDE.match(directory.replace("\\", "/"))
    if inside:
        return inside["root"]
    return (_noted(directory) if look else None) or directory


def _noted(directory: str) -> str | None:
    try:
        file = Path(directory) / ".git"
        if not file.is_file():
            return None
        with file.open("rb") as opened:
            told = opened.read(LARGEST).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
    found = _GITDIR.match(told)
    return found["root"] if found else None


def siblings_of(directory: str, known: Iterable[str], look: bool) -> list[str]:
    """The other directories of the same project, of those that are known."""
    root = root_of(directory, look)
    return [each for each in known if each != directory and root_of(each, look) == root]
