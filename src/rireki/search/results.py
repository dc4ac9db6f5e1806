"""What a search gives back; the names are a JSON contract."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from rireki.model.conversation import Conversation
from rireki.model.message import Author, Upstream

__all__ = ["Hit", "Neighbour", "Results", "Scope", "Snippet", "ConversationHits", "SearchOptions"]

#: What of a message the words stand in. "title" and "project" belong to the conversation itself;
#: a "note" is a person's own.
Where: TypeAlias = Literal[
    "text",
    "thinking",
    "call",
    "result",
    "attachment",
    "notice",
    "unknown",
    "title",
    "project",
    "note",
]


class Snippet(msgspec.Struct, frozen=True):
    """A piece of the text around a match, on one line.

    `marks` are [start, end) pairs in characters of `text`, in order, not overlapping.
    """

    text: str
    marks: list[tuple[int, int]] = msgspec.field(default_factory=list)
    #: Whether the text goes on before and after.
    cut_before: bool = False
    cut_after: bool = False
    #: Where a new line began in the original: the place of the space that stands for it, and how far
    #: the line was indented.
    breaks: list[tuple[int, int]] = msgspec.field(default_factory=list)


class Neighbour(msgspec.Struct, frozen=True, kw_only=True):
    """A message before or after a hit."""

    message: str
    author: Author
    at: str | None
    text: str


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One message that matches. `rireki show CONVERSATION#MESSAGE` opens at it."""

    #: None when the words stand in the conversation's title or project.
    message: str | None
    author: Author | None
    at: str | None
    where: Where
    #: The tools it called or whose output it is.
    tools: list[str] = msgspec.field(default_factory=list)
    upstream: Upstream = "present"
    snippet: Snippet
    #: Neighbours, when they were asked for.
    before: list[Neighbour] = msgspec.field(default_factory=list)
    after: list[Neighbour] = msgspec.field(default_factory=list)


class ConversationHits(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation with its best hits."""

    conversation: Conversation
    hits: list[Hit]
    #: How many of its messages match; None when that was not counted.
    total: int | None = None
    #: Where the words stand in the title, as [start, end) pairs.
    title_marks: list[tuple[int, int]] = msgspec.field(default_factory=list)


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """What was searched, for an honest "nothing found"."""

    conversations: int
    #: The time of the newest message in the archive.
    until: str | None
    #: Conversations that were read directly, because the index did not have them yet.
    direct: int = 0
    #: Why it took longer than usual, in words for the user; empty when it did not.
    slower: str = ""
    #: Conversations that were left out because they are hidden.
    hidden: int = 0


class Results(msgspec.Struct, frozen=True, kw_only=True):
    query: str
    talks: list[ConversationHits]
    #: How many messages and conversations match; lower bounds unless `exact`.
    messages: int
    conversations: int
    exact: bool
    #: True when there are more conversations than were told apart, even if the messages are counted.
    more_conversations: bool = False
    #: True when no message answers by itself, and these conversations hold the words in different ones.
    apart: bool = False
    #: Whether a larger offset would give more.
    more: bool = False
    scope: Scope
    #: Words of the archive that look like the ones nothing was found for.
    near: list[str] = msgspec.field(default_factory=list)
    milliseconds: float = 0.0


class SearchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a search besides the query. Counts are of conversations."""

    limit: int = 10
    offset: int = 0
    newest: bool = False
    #: Neighbours of each hit to bring along.
    context: int = 0
    #: Hits per conversation to bring along.
    hits: int = 2
    #: Conversations that are left out, by their whole ids.
    without: frozenset[str] = frozenset()
    #: Also what is hidden; a query with `is:hidden` asks for that by itself.
    hidden: bool = False
