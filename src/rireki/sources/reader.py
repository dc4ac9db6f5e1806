"""The whole contract between a source and the rest of rireki.

A reader has three verbs. `discover` says where history lies, `read` brings the
bytes that are new and understands nothing, `interpret` understands and touches
no disk. Readers do not know each other, nor the archive. How to write one is
told in CONTRIBUTING.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from rireki.model.conversation import Reading, Trouble
from rireki.model.strand import Strand
from rireki.sources.kit.places import Places

__all__ = [
    "Content",
    "Discovery",
    "Form",
    "Known",
    "Looked",
    "Origin",
    "Piece",
    "Reader",
    "Roll",
    "Update",
]

Form: TypeAlias = Literal["lines", "document", "database"]


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


class Looked(msgspec.Struct, frozen=True):
    """One place a reader looked at, and what came of it (for `rireki sources`)."""

    source: str
    place: str
    found: bool
    note: str = ""


class Discovery(msgspec.Struct):
    origins: list[Origin] = msgspec.field(default_factory=list)
    looked: list[Looked] = msgspec.field(default_factory=list)
    troubles: list[Trouble] = msgspec.field(default_factory=list)


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
    contents: list[Content]
    grows: bool = False
    #: Bytes after the last complete record.
    tail: bytes = b""
    #: Whatever the reader wants back next time, as plain JSON values.
    cursor: Any = None
    #: The directory a row belongs to, where the source says so outside the value.
    project: str | None = None
    troubles: list[Trouble] = msgspec.field(default_factory=list)


class Roll(msgspec.Struct):
    """The keys of every strand an origin still holds: those we know beyond them have vanished."""

    keys: list[str]


class Known(msgspec.Struct):
    """What the archive knows of an origin: the cursor of each of its strands, by key."""

    cursors: Mapping[str, Any] = msgspec.field(default_factory=dict)


class Reader(Protocol):
    #: The source's name: `claude-code`.
    name: str
    #: Sources of one family share conversation ids; a conversation found in several appears once.
    family: str

    def discover(self, places: Places) -> Discovery:
        """Every origin below the home that `places` describes."""
        ...

    def recognise(self, path: Path) -> list[Origin]:
        """The origins in a file or folder the user named; empty when it is not this source's."""
        ...

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        """What is new in an origin. Raises SourceTrouble when it cannot be read just now."""
        ...

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        """What the records mean. Pure: no disk, no clock; the same strands give the same readings."""
        ...
