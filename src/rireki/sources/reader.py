"""The whole contract between a source and the rest of rireki.

A reader has three verbs. `discover` says where history lies, `read` brings the
bytes that are new and understands nothing, `interpret` understands and touches
no disk. Readers do not know each other, nor the archive. How to write one is
told in CONTRIBUTING.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from rireki.model.activity import Activity
from rireki.model.conversation import Conversation, Reading, Trouble
from rireki.model.record import Content, Form, Origin, Piece, Roll, Update
from rireki.model.strand import Strand, StrandBytes
from rireki.sources.kit.places import Places

__all__ = [
    "LARGEST",
    "Content",
    "Discovery",
    "Form",
    "Known",
    "Lively",
    "Scanned",
    "Origin",
    "Piece",
    "Reader",
    "Roll",
    "Update",
    "Watched",
]


#: How long a line, a document or a value of a database may be and still be one record.
LARGEST = 256 << 20


class Scanned(msgspec.Struct, frozen=True):
    """One place a reader looked at, and what came of it (for `rireki sources`)."""

    source: str
    place: str
    found: bool
    note: str = ""


class Discovery(msgspec.Struct):
    origins: list[Origin] = msgspec.field(default_factory=list)
    looked: list[Scanned] = msgspec.field(default_factory=list)
    troubles: list[Trouble] = msgspec.field(default_factory=list)


class Known(msgspec.Struct):
    """What the archive knows of an origin: the cursor of each of its strands, by key."""

    cursors: Mapping[str, Any] = msgspec.field(default_factory=dict)
    #: The bytes the archive holds of a strand, by key, to compare with; None where there are none.
    held: Callable[[str], StrandBytes | None] = lambda key: None
    #: What is longer than this many bytes is kept in pieces, which nobody interprets.
    largest: int = LARGEST
    #: The stamp is the one it had when it was last read.
    unchanged: bool = False
    #: Everything is to be compared with what is there, whatever stamps and cursors say.
    thorough: bool = False


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

    def resume(self, conversation: Conversation) -> str | None:
        """The shell command that continues a conversation its source still has; None if there is none."""
        ...

    def revive(self, conversation: Conversation) -> str | None:
        """What `rireki restore --to DIR` is followed by, to go on with one the source has lost."""
        ...


class Watched(NamedTuple):
    """A folder in which origins appear and change, there or not; `deep`: or anywhere below it."""

    folder: str
    deep: bool = False


class Lively(Protocol):
    """Verbs a reader may have besides, to be kept up with as its agent writes.

    Each is looked for by its name. Without `watched`, the places that `discover` looked
    at are watched; without `locate`, a change there costs a `discover`; without
    `activity`, nothing is known of what the agent does right now. A reader whose origins
    may lie `anywhere` is asked about those again that the user once named. A reader of ours
    whose records tell of another's conversation has `join`.
    """

    anywhere: bool
    #: What the rules of its entries are called in words, where their names say nothing.
    reasons: Mapping[str, str]

    def watched(self, places: Places) -> list[Watched]:
        """The folders to watch, as few and as narrow as they can be."""
        ...

    def locate(self, places: Places, path: str) -> list[Origin]:
        """The origins that a change at `path` concerns, as `discover` would find them.

        The path is a file that was written, or a folder that appeared. What is nobody's
        is answered without a look at the disk.
        """
        ...

    def activity(self, places: Places) -> list[Activity]:
        """What the agent is doing now, where it says so itself."""
        ...

    def join(
        self, conversation: str, strands: Sequence[Strand], readings: Sequence[Reading]
    ) -> list[Reading]:
        """What other sources' records were read as, together with what these strands add to it."""
        ...
