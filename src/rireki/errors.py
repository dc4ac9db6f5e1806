"""Errors meant for people.

    RirekiError            something the user can act on: a message and a hint, exit code 1
    ├── NotFound           no conversation, file or archive of that name
    ├── Ambiguous          the name fits several conversations; the hint lists them
    ├── ArchiveTrouble     the archive is damaged, locked or from a newer rireki
    ├── SourceTrouble      a file or database of an agent cannot be read just now
    └── QueryError         a search query that cannot be understood (search/language/query.py); says where

Anything else that is raised is a bug and keeps its traceback.
"""

from __future__ import annotations

__all__ = ["Ambiguous", "ArchiveTrouble", "NotFound", "RirekiError", "SourceTrouble"]


class RirekiError(Exception):
    """What went wrong, in one line, and what to do about it, in another."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NotFound(RirekiError):
    pass


class Ambiguous(RirekiError):
    pass


class ArchiveTrouble(RirekiError):
    pass


class SourceTrouble(RirekiError):
    pass
