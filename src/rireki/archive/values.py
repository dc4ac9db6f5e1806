"""What goes into an archive's verbs and comes out of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from rireki.model.conversation import Answer, Conversation, Curation, LinkToken

__all__ = [
    "Change",
    "FactKind",
    "Filter",
    "Found",
    "Group",
    "Heading",
    "KnownOrigin",
    "PendingGroup",
    "PersonFact",
    "Sighting",
    "Stale",
    "StoredConversation",
    "StoredReading",
    "Stream",
    "StreamFacts",
    "ArchiveTally",
    "ArchiveTallyCell",
]

#: A family and a conversation's own id in it: strands of one group are interpreted together.
Group: TypeAlias = tuple[str, str | None]


FactKind: TypeAlias = Literal["title", "tag", "star", "note", "hidden", "forget", "search"]


class Stale(Exception):
    """What this goes on from is not there any more, others were faster: read it again."""


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
    #: Of a file, if it was asked for; None where many conversations share it.
    conversation: str | None = None


class PendingGroup(NamedTuple):
    """A conversation whose records changed since it was interpreted, and the number of the change."""

    family: str
    conversation: str
    number: int = 0


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

    #: Only these.
    ids: Sequence[str] | None = None
    source: str | None = None
    project: str | None = None
    #: Also the directories below that one.
    below: bool = True
    #: Only what had begun by then.
    begun: str | None = None
    since: str | None = None
    before: str | None = None
    title: str | None = None
    upstream: str | None = None
    #: Only what has all of these tags; what is starred.
    tags: Sequence[str] = ()
    starred: bool = False
    #: Only what has records of these streams.
    streams: Sequence[int] | None = None
    #: Only what is hidden, or what is not; None: both, and what is about to be forgotten.
    hidden: bool | None = None
    #: Sub-agents and notes are listed only when asked for.
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


class PersonFact(msgspec.Struct, frozen=True):
    """Something that a person added to a conversation or a message, or took back."""

    family: str
    #: The conversation's own id; empty, as the family is, for a saved search.
    conversation: str
    #: A message of it, or empty.
    message: str
    #: One of FactKind; a later version may have more.
    kind: str
    #: Which tag, which saved search; empty for what there is one of.
    name: str
    #: The words of a title or a note, the query of a search; empty for a mark; None: taken back.
    value: str | None
    author: str = ""
    at: str = ""
    #: The identity of the archive it was said in.
    machine: str = ""


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
    #: What a person added to it.
    added: Curation = Curation()
    #: Their notes, each with the message it is on, or none, and when it was written.
    notes: tuple[tuple[str, str, str], ...] = ()
    #: The machines it was read on, by name, where there are several.
    machines: tuple[str, ...] = ()


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


class Stream(NamedTuple):
    """Another archive whose facts are taken, and up to which of its numbers they are here."""

    id: int
    reached: int


class StreamFacts(NamedTuple):
    """A stream, with whose it is: the other archive's name, which of its lives, its machine."""

    id: int
    archive: str
    epoch: int
    machine: str
    reached: int


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """When a conversation was seen in a directory."""

    conversation: Conversation
    directory: str
    first_seen: str
    last_seen: str
    #: True for what the source holds for this directory now.
    current: bool


class ArchiveTallyCell(NamedTuple):
    """How many conversations have all of this in common."""

    project: str | None
    source: str
    #: Whether they are listed only where it is asked for.
    aside: bool
    finished: bool
    number: int
    newest: str | None


class ArchiveTally(NamedTuple):
    """What an archive comes to, where that is kept at hand."""

    cells: Sequence[ArchiveTallyCell] = ()
    #: Turns by local day.
    days: Mapping[str, int] = {}
    #: Conversations, and the tokens of these, of the last seven days and of the seven before.
    weeks: Sequence[tuple[int, int]] = ((0, 0), (0, 0))
    #: Projects that are not told apart in the cells, where there are too many.
    others: int = 0
    #: So many conversations are listed at once, the newest: whatever goes through them sees no more.
    most: int = 0

    @property
    def beyond(self) -> int:
        """How many those are, where there are more."""
        return self.most if 0 < self.most < self.number else 0

    @property
    def number(self) -> int:
        """Of all conversations."""
        return sum(cell.number for cell in self.cells)
