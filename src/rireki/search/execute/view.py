"""What a search relies on at one moment: which conversations the index has, and which it has not.

The index is looked at first and its notes afterwards. So the notes may be ahead of
it, never behind: what they say came later than the commit at hand is not believed,
and read from the archive instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from rireki.archive.base import Archive, Heading, PendingGroup
from rireki.search.index.index import Index
from rireki.search.index.words import WordReader
from rireki.search.language.match import ConversationFacts, Doc
from rireki.search.language.query import FilterNode

__all__ = [
    "IndexView",
    "SearchView",
    "USUAL",
    "look",
    "look_without_index",
    "noted",
    "refresh",
    "titles",
]

#: Filters whose answers are kept.
MOST_ASKED = 40
#: The average length of messages where the index does not know it.
USUAL = 1000.0


class SearchView(Protocol):
    """What a query is run on; numbers are those of conversations in the index."""

    reader: WordReader | None
    #: Numbers whose documents are not to be believed.
    stale: list[int]
    #: Conversations to be read from the archive.
    direct: list[Heading]
    #: Groups whose records changed and were not interpreted yet.
    pending: list[PendingGroup]
    #: How many characters messages have on average.
    usual: float

    @property
    def until(self) -> str | None:
        """The time of the newest message."""
        ...

    @property
    def count(self) -> int:
        """How many conversations there are."""
        ...

    @property
    def within(self) -> Sequence[Sequence[str]]:
        """Facts of what may be found: a document has one of each."""
        ...

    def headings_of(self, numbers: Collection[int]) -> Mapping[int, Heading]:
        """Those of the conversations that the index has as they are."""
        ...

    def ids_of(self, numbers: Collection[int]) -> Mapping[int, str]:
        """The same, where an id is enough."""
        ...

    def numbers_of(self, ids: Iterable[str]) -> Mapping[str, int]:
        """The numbers of those that the index has as they are."""
        ...

    def numbers(
        self, node: FilterNode, test: Callable[[ConversationFacts], bool]
    ) -> tuple[list[int], list[int] | None]:
        """The conversations that pass the test of a filter, and the others where they are known."""
        ...

    def heading(self, id: str) -> Heading | None: ...

    def added(self) -> Iterable[Heading]:
        """At least the conversations to which people added something."""
        ...

    def more_conversations_than(self, messages: int) -> int:
        """So many conversations, however large, do not hold that many messages."""
        ...


class IndexView(msgspec.Struct):
    """All of one archive: every heading is at hand.

    `within` is empty: everything may be found.
    """

    #: The archive's number, and the generation of the index's notes, when this was made.
    number: int
    generation: int
    reader: WordReader | None
    headings: dict[str, Heading]
    #: The conversations the index has as they are, by their numbers in it.
    covered: dict[int, Heading]
    #: The same the other way round.
    number_of: dict[str, int]
    stale: list[int]
    direct: list[Heading]
    pending: list[PendingGroup]
    until: str | None
    usual: float = USUAL
    #: What was asked about conversations, and the answer, as long as both stay the same.
    asked: dict[FilterNode, tuple[list[int], list[int]]] = msgspec.field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.headings)

    @property
    def within(self) -> Sequence[Sequence[str]]:
        return ()

    def headings_of(self, numbers: Collection[int]) -> Mapping[int, Heading]:
        return self.covered

    def ids_of(self, numbers: Collection[int]) -> Mapping[int, str]:
        return {number: self.covered[number].id for number in numbers if number in self.covered}

    def numbers_of(self, ids: Iterable[str]) -> Mapping[str, int]:
        return self.number_of

    def heading(self, id: str) -> Heading | None:
        return self.headings.get(id)

    def added(self) -> Iterable[Heading]:
        return self.headings.values()

    def more_conversations_than(self, messages: int) -> int:
        return self.reader.more_conversations_than(messages) if self.reader else 0

    def numbers(
        self, node: FilterNode, test: Callable[[ConversationFacts], bool]
    ) -> tuple[list[int], list[int] | None]:
        found = self.asked.get(node)
        if found is None:
            found = [], []
            for number, heading in self.covered.items():
                found[not test(heading)].append(number)
            if len(self.asked) >= MOST_ASKED:
                self.asked.clear()
            self.asked[node] = found
        return found


def look(archive: Archive, index: Index, finished: bool = False) -> IndexView:
    reader = index.reader()
    generation, kept = index.store.talks()
    view = look_without_index(archive, finished)
    changing = {group[:2] for group in view.pending}
    for each in kept:
        heading = view.headings.get(each.id)
        if (
            heading is not None
            and each.changed == heading.changed
            and each.generation <= reader.generation
            and (heading.family, heading.grouping) not in changing
        ):
            view.covered[each.number] = heading
        else:
            view.stale.append(each.number)
    view.number_of = {heading.id: number for number, heading in view.covered.items()}
    view.direct = [heading for id, heading in view.headings.items() if id not in view.number_of]
    view.reader, view.generation = reader, generation
    view.usual = index.store.get("letters", 0) / max(index.store.get("added", 0), 1) or USUAL
    index.seen = generation
    return view


def refresh(archive: Archive, view: IndexView) -> bool:
    """Bring a view up to the archive as long as the index is the same; False when it takes a new look."""
    with archive.reading():
        number, pending, count = archive.number(), list(archive.pending()), archive.count()
        changed = list(archive.headings(after=view.number))
    fresh = [heading for heading in changed if heading.id not in view.headings]
    if pending or view.pending or count != len(view.headings) + len(fresh):
        return False
    view.asked.clear()
    for heading in changed:
        view.headings[heading.id] = heading
        known = view.number_of.pop(heading.id, None)
        if known is not None:
            del view.covered[known]
            view.stale.append(known)
    news = {heading.id for heading in changed}
    view.direct = [each for each in view.direct if each.id not in news] + changed
    times = [heading.updated_at for heading in changed if heading.updated_at]
    view.until = max([*times, *([view.until] if view.until else [])], default=None)
    view.number = number
    return True


def titles(heading: Heading) -> list[Doc]:
    """What a conversation is called and where it took place, as queries see it."""
    docs = [Doc(None, heading.updated_at, [], [("title", heading.title)])]
    if heading.project:
        docs.append(Doc(None, heading.updated_at, [], [("project", heading.project)]))
    return docs


def noted(heading: Heading) -> list[Doc]:
    """What people noted on a conversation and its messages, as queries see it."""
    return [Doc(message or None, at, [], [("note", text)]) for message, text, at in heading.notes]


def look_without_index(archive: Archive, finished: bool = False) -> IndexView:
    """Everything is read from the archive."""
    with archive.reading():
        number, pending = archive.number(), list(archive.pending())
        headings = {heading.id: heading for heading in archive.headings(finished)}
    return IndexView(
        number=number,
        generation=0,
        reader=None,
        headings=headings,
        covered={},
        number_of={},
        stale=[],
        direct=list(headings.values()),
        pending=pending,
        until=max((h.updated_at for h in headings.values() if h.updated_at), default=None),
    )
