"""Records on their way in: where they were found, and what an origin holds now.

These are the values a reader hands to the archive. Neither knows the other.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from rireki.model.conversation import Trouble

__all__ = [
    "DIGEST_SIZE",
    "Content",
    "Form",
    "Origin",
    "Piece",
    "Roll",
    "Update",
    "digest_of_bytes",
]

Form: TypeAlias = Literal["lines", "document", "database"]
DIGEST_SIZE = 16


def digest_of_bytes(data: bytes) -> bytes:
    """How a record is recognised by its bytes alone."""
    return sha256(data).digest()[:DIGEST_SIZE]


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """One file or database of a source, as `discover` found it."""

    source: str
    place: str
    #: The folder `discover` started from; `restore` lays files out relative to it.
    root: str
    form: Form
    #: What this file is to its conversation; each reader has its own few words for it.
    role: str
    #: The conversation's own id, where the path tells it; None for databases and shared files.
    conversation: str | None = None
    #: Changes whenever the content may have changed; an equal stamp means: do not open.
    stamp: str = ""
    size: int = 0
    #: The directory it belongs to, where that is known from elsewhere; the stamp tells that it changed.
    project: str | None = None


class Piece(NamedTuple):
    """A record's bytes, and the digest by which it is recognised when the source writes it again."""

    data: bytes
    digest: bytes


class Content(msgspec.Struct):
    """Records of one lane that follow each other."""

    lane: str
    pieces: list[Piece]
    separator: str = ""


class Update(msgspec.Struct, kw_only=True):
    """What one strand holds now, or, with `grows`, what came after what we know of it."""

    #: Names the strand inside its origin: empty for a file, the row's name in a database.
    key: str = ""
    role: str
    conversation: str | None
    #: The family whose conversation that is, where it is not the reader's own.
    family: str | None = None
    contents: list[Content]
    grows: bool = False
    #: With `grows`: how many bytes of what we know of it still stand before this; None for all.
    keeps: int | None = None
    #: The same reading goes on: what it found so far was no version of its own.
    continues: bool = False
    #: Bytes after the last complete record.
    tail: bytes = b""
    #: Whatever the reader wants back next time, as plain JSON values.
    cursor: Any = None
    #: The directory a row belongs to, where the source says so outside the value.
    project: str | None = None
    #: Key of the strand whose place this one took: a new chat that overwrote the old one.
    replaces: str | None = None
    troubles: list[Trouble] = msgspec.field(default_factory=list)


class Roll(msgspec.Struct):
    """The keys of every strand an origin still holds: those we know beyond them have vanished."""

    keys: list[str]
