"""What an archive can do: the verbs everything above it speaks.

One archive is an SQLite file; a team's server may stand behind the same verbs
later. It keeps records and facts, and the projection that was made from them;
it knows neither the readers nor what a record means.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from rireki.model.conversation import Answer, Conversation, LinkToken, Reading, Trouble

if TYPE_CHECKING:
    from rireki.archive.pack import Chunk
    from rireki.home import Home
    from rireki.model.record import Origin, Update
    from rireki.model.strand import State, Strand, StrandBytes

__all__ = [
    "Archive",
    "Batch",
    "Change",
    "Filter",
    "Found",
    "Heading",
    "KnownOrigin",
    "Neighbours",
    "PendingGroup",
    "Sighting",
    "Stale",
    "StoredConversation",
    "StoredReading",
]


class Stale(Exception):
    """Another process took this origin in meanwhile: read it again."""


class KnownOrigin(msgspec.Struct, frozen=True):
    """An origin as the archive remembers it."""

    id: int
    source: str
    place: str
    root: str
    form: str
    role: str
    stamp: str
    first_seen: str
    vanished_at: str | None


class PendingGroup(NamedTuple):
    """A conversation whose records changed since it was interpreted, and the number of the change."""

    family: str
    conversation: str
    number: int


class Change(NamedTuple):
    """A conversation that was read anew, once or more often, since a number."""

    #: The number of the last time.
    number: int
    conversation: str
    #: Up to which number its records had been read before; 0 when it was not there.
    before: int
    #: Up to which number they are read now; 0 when it is not there any more.
    reached: int


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which conversations to list; an empty filter means all, newest first."""

    source: str | None = None
    project: str | None = None
    #: Also the directories below that one.
    below: bool = True
    since: str | None = None
    before: str | None = None
    title: str | None = None
    upstream: str | None = None
    #: Sub-agents are listed only when asked for.
    subagents: bool = False
    limit: int | None = None
    #: Only what stands behind this one in the list: its `updated_at` and id.
    after: tuple[str | None, str] | None = None


class Found(NamedTuple):
    """A conversation and the group of strands it was read from."""

    conversation: Conversation
    family: str
    grouping: str
    #: The number of the change that was last interpreted.
    changed: int = 0


class Heading(NamedTuple):
    """A conversation in the fewest words: what a search has to know of every one."""

    id: str
    family: str
    grouping: str
    source: str
    nature: str
    project: str | None
    title: str
    updated_at: str | None
    #: The number of the change that was last interpreted.
    changed: int
    #: False if it was asked for and the conversation is unfinished.
    finished: bool = True


class StoredConversation(NamedTuple):
    """A conversation as it is stored, without its links, and what was noted with it."""

    conversation: Conversation
    answers: list[Answer]
    link_tokens: list[LinkToken]
    #: Whether the copies for filtering are those of the conversation.
    copies: bool


class StoredReading(NamedTuple):
    """A conversation that was stored, and whether the archive did not have it before."""

    conversation: Conversation
    is_new: bool


class Neighbours(NamedTuple):
    """What stands beside an agent's own id in the order of all of them."""

    before: str | None
    #: The next one that does not begin with it.
    after: str | None
    #: How many conversations have this very id.
    same: int


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """When a conversation was seen in a directory."""

    conversation: Conversation
    directory: str
    first_seen: str
    last_seen: str
    #: True for what the source holds for this directory now.
    current: bool


class Batch(Protocol):
    """One transaction: all of it is kept, or nothing."""

    @property
    def number(self) -> int:
        """The number of this change."""
        ...

    def add(
        self,
        origin: Origin,
        family: str,
        update: Update,
        before: Any,
        packed: Sequence[Chunk] | None = None,
    ) -> int:
        """Keep an update; returns how many bytes were new. Raises Stale when the cursor is not `before`."""
        ...

    def finish(self, origin: Origin, keys: Sequence[str] | None = None) -> None:
        """The origin was read to its end, and nothing is wrong with it as a whole: an equal stamp
        need not be opened again. Strands of it that are not in `keys` have vanished."""
        ...

    def fail(self, origin: Origin, trouble: Trouble) -> None:
        """The origin as a whole could not be read."""
        ...

    def vanish(self, origin: KnownOrigin) -> None: ...

    def move(self, known: KnownOrigin, origin: Origin) -> None:
        """The file lies elsewhere now."""
        ...

    def project(self, pending: PendingGroup, readings: Sequence[Reading]) -> list[StoredReading]:
        """Store what the records of a conversation mean, unless they changed meanwhile.

        Tokens that it shares with others become links when the transaction ends.
        """
        ...

    def project_fresh(
        self, family: str, conversation: str, strands: int, readings: Sequence[Reading]
    ) -> list[StoredReading]:
        """The same for a new conversation, if it consists of just the strands that were read."""
        ...


class Archive(Protocol):
    #: What it is called in messages.
    name: str
    #: What another process opens it by.
    address: str
    #: Where the files that belong to it lie.
    home: Home
    #: What time it is: facts are noted with it.
    clock: Callable[[], str]
    #: Whether it lies where it can only be read, or is damaged.
    read_only: bool
    #: What cannot be read of it, as far as that was met; whatever can is given.
    damage: list[Trouble]

    def writing(self) -> AbstractContextManager[Batch]: ...

    def reading(self) -> AbstractContextManager[None]:
        """All that is read within is of one moment, whatever others write meanwhile.

        For a few looks: as long as it lasts, what is forgotten cannot be wiped off the disk.
        """
        ...

    # What can be much comes one after the other, read some at a time: take what you need.

    def origins(self) -> Iterator[KnownOrigin]: ...

    def owners(self) -> Iterator[tuple[int, str | None]]:
        """The id of each file's origin and its conversation; None where many share it."""
        ...

    def cursors(self, source: str, place: str) -> dict[str, Any]:
        """The cursor of each strand of an origin, by key."""
        ...

    def held_bytes(self, source: str, place: str, key: str = "") -> StrandBytes | None:
        """What a strand of an origin held when it was last seen; None when it is unknown."""
        ...

    def bytes_of(self, strand: Strand, state: State | None = None) -> StrandBytes:
        """The bytes of one version of a strand, the newest unless said otherwise."""
        ...

    def strands(
        self, family: str, conversation: str, as_of: str | None = None, number: int | None = None
    ) -> list[Strand]:
        """The strands of a group, as they are, as they were at a time or at a number."""
        ...

    def changes(self, after: int, until: int) -> list[Change]:
        """Every conversation that was read anew after a number, up to another; each once."""
        ...

    def reached(self, conversation: str, number: int | None = None) -> int:
        """Up to which number the records of a conversation had been read when it was last stored,
        or last stored up to a number."""
        ...

    def pending(self, family: str | None = None, conversation: str = "") -> Iterator[PendingGroup]:
        """The groups that wait to be interpreted, or the one that is named, if it does.

        Files that many conversations share come last: a transcript outranks them.
        """
        ...

    def lacking(self) -> int:
        """How many conversations wait that nothing is known of before they are interpreted."""
        ...

    def forgotten(self, names: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        """(family, conversation) of what the user said to forget; of all, or of these names."""
        ...

    def ids(self, beginning: str = "") -> Iterator[str]:
        """The ids that begin so, or whose agent's own id does; in order."""
        ...

    def missing(self, ids: Collection[str]) -> set[str]:
        """Which of these conversations are not there."""
        ...

    def neighbours(self, native_ids: Collection[str]) -> dict[str, Neighbours]:
        """What stands beside each of these ids, which agents gave: how much of one tells it apart."""
        ...

    def projects(self) -> Iterator[str]:
        """The directories conversations were held in, the one with the newest first."""
        ...

    def mark_stale(self, drop: bool = True) -> None:
        """Mark every conversation for a new interpretation; what is stored goes at once, or stays
        until then."""
        ...

    def conversations(self, wanted: Filter = ...) -> Iterator[Conversation]: ...

    def find(self, name: str) -> Found:
        """The conversation of this id or unambiguous prefix. Raises NotFound or Ambiguous."""
        ...

    def number(self) -> int:
        """The number of the last change; equal numbers mean that nothing changed."""
        ...

    def identity(self) -> str:
        """Tells this archive from every other; made up when it is first asked for.

        Empty where it cannot be noted down.
        """
        ...

    def note_of(self, name: str) -> str | None:
        """What was last noted under a name by something that is kept beside the archive."""
        ...

    def set_note(self, name: str, value: str) -> None:
        """Note something without counting it as a change. It goes back when the archive is put back."""
        ...

    def headings(
        self,
        finished: bool = False,
        ids: Sequence[str] | None = None,
        after: int = 0,
        since: str | None = None,
    ) -> Iterator[Heading]:
        """Every conversation, or these, or what changed after a number, or what was updated since
        a time; with `finished` also whether each is."""
        ...

    def count(self) -> int:
        """How many conversations there are, sub-agents included."""
        ...

    def pick(self, ids: Sequence[str]) -> dict[str, Conversation]:
        """These conversations, with their links, by id."""
        ...

    def weight(self, family: str, grouping: str) -> int:
        """How many bytes of records a group has."""
        ...

    def sightings(self, directory: str, below: bool = False) -> list[Sighting]: ...

    def answers(self, source: str | None = None) -> Iterator[tuple[str, list[Answer]]]:
        """The model answers of each conversation, by its id."""
        ...

    def troubles(self, source: str | None = None) -> list[tuple[str, str, Trouble]]:
        """(source, origin's place, trouble) of what could not be read and is no conversation's."""
        ...

    def forget(self, found: Sequence[Found]) -> int:
        """Remove a conversation, and those that go with it, for good; returns the bytes that went."""
        ...

    def remember(self, native_id: str) -> bool:
        """Take back that a conversation was to be forgotten; the next import may bring it again."""
        ...

    def groups(self) -> Iterator[PendingGroup]:
        """Every group of strands that makes up conversations."""
        ...

    def kept_as(self, family: str, grouping: str) -> dict[str, StoredConversation]:
        """What a group is stored as, by the ids of its conversations."""
        ...

    def check(self) -> list[Trouble]:
        """What is wrong with the file and its rows, each with the conversation or table that it
        concerns; empty when they are sound."""
        ...

    def settle(self) -> None:
        """Make sure that what was written is on the disk."""
        ...

    def is_outdated(self) -> bool:
        """Whether somebody wrote what could only be read here, and without locks: open it again."""
        ...

    def close(self) -> None: ...
