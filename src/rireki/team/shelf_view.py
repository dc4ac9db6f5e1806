"""What one reader may find in one shelf at one moment.

Headings are fetched of what was found, and with them the rights: what the index has of a conversation is
believed only where the database says the same of it. Facts of the documents narrow what is looked
through; they are there for speed, and for numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from rireki.archive.base import Heading, PendingGroup
from rireki.intake.curate import told_to_teams
from rireki.search.execute.plan import Plan, Planner
from rireki.search.execute.view import USUAL
from rireki.search.index.index import Index
from rireki.search.index.notes import UNSETTLED
from rireki.search.index.words import WordReader
from rireki.search.language.match import ConversationFacts
from rireki.search.language.query import FilterNode
from rireki.search.text.documents import TOO_LONG
from rireki.team.shelf_name import UNFINISHED, GroupOfOwner, ShelfName, owner_fact, team_fact
from rireki.team.shelf_rows import OwnedHeading, ShelfRows

__all__ = ["MOST_DIRECT", "ShelfOverview", "ShelfReader", "ShelfState", "ShelfView"]

#: Conversations that are read directly, at most: while a shelf is being made it has next to none.
MOST_DIRECT = 20
#: So many of what an owner has are looked at for that while the index has nothing of his.
MOST_FRESH = 500


class ShelfReader(NamedTuple):
    """Who asks, and to what he keeps."""

    person: int
    #: The teams of which he sees what is shared.
    teams: frozenset[int]
    #: Whether he also sees all that is his own.
    own: bool = True
    #: Whose conversations alone he wants, or 0.
    only: int = 0

    def may(self, name: ShelfName) -> bool:
        if self.only not in (0, name.owner):
            return False
        return (self.own and name.owner == self.person) or not self.teams.isdisjoint(name.teams)

    @property
    def within(self) -> list[list[str]]:
        """Facts of which each document that he may find has one each."""
        shared = [team_fact(team) for team in sorted(self.teams)]
        if self.only:
            one = [owner_fact(self.only)]
            return [one] if self.own and self.only == self.person else [one, shared]
        return [[owner_fact(self.person), *shared] if self.own else shared]


class ShelfState(msgspec.Struct, frozen=True):
    """A commit of a shelf's index, and up to which number of each owner it is at least."""

    index: Index
    reader: WordReader
    generation: int
    reached: Mapping[int, int]
    usual: float


class ShelfOverview(msgspec.Struct, frozen=True):
    """How many conversations of a commit may be found, the newest of them, and whether that is all."""

    count: int
    newest: int | None
    is_all: bool


class ShelfView:
    def __init__(
        self,
        rows: ShelfRows,
        asker: ShelfReader,
        has: Callable[[int], bool],
        state: ShelfState | None,
        overviews: dict[Sequence[Sequence[str]], ShelfOverview],
    ) -> None:
        """`has` tells whether an owner's are in this shelf; `overviews` are kept with the state."""
        self.rows = rows
        self.asker = asker
        self.state = state
        self.reader = state.reader if state else None
        self.usual = state.usual if state else USUAL
        self._overviews = overviews
        self._headings: dict[int, Heading | None] = {}
        self._by_id: dict[str, Heading] = {}
        reached = state.reached if state else {}
        numbers = rows.numbers(asker.only)
        self._owners = [owner for owner in numbers if has(owner)]
        behind = {o: reached.get(o, 0) for o in self._owners if numbers[o] != reached.get(o, 0)}
        found = rows.pending(asker.person, asker.teams, MOST_DIRECT)
        self.pending = [group for group, teams in found if self._may(group, teams, has)]
        self._changing = {(group.family, group.conversation) for group in self.pending}
        changed = self._changed(behind)
        news = [each.heading for each in self._seen(rows.headings(changed))]
        news.sort(key=lambda heading: heading.updated_at or "", reverse=True)
        self._news = len(news)
        self.direct = news[:MOST_DIRECT]
        waiting = self._seen(rows.headings_in([self._group(each) for each in self.pending]))
        self.stale = self._numbered(
            [*changed, *((each.name.owner, each.name.id) for each in waiting)]
        )

    def _may(self, group: PendingGroup, teams: tuple[int, ...], has: Callable[[int], bool]) -> bool:
        owner = GroupOfOwner.of(group.family).owner
        return has(owner) and self.asker.may(ShelfName(owner, "", teams))

    def _group(self, group: PendingGroup) -> tuple[int, str, str]:
        return (*GroupOfOwner.of(group.family), group.conversation)

    def _changed(self, behind: Mapping[int, int]) -> list[tuple[int, str]]:
        known = {owner: number for owner, number in behind.items() if number}
        # Of whom the index has nothing, nothing in it can be wrong.
        fresh = {owner: 0 for owner, number in behind.items() if not number}
        return self.rows.changed(known) + self.rows.changed(fresh, MOST_FRESH)

    def _seen(self, found: Iterable[OwnedHeading]) -> list[OwnedHeading]:
        """What the reader may see of it, as he may."""
        seen = []
        for name, heading in found:
            if self.asker.may(name):
                if name.owner != self.asker.person or not self.asker.own:
                    heading = heading._replace(added=told_to_teams(heading.added))
                self._by_id[heading.id] = heading
                seen.append(OwnedHeading(name, heading))
        return seen

    def _numbered(self, conversations: Iterable[tuple[int, str]]) -> list[int]:
        """What the index has of conversations, with whomever they were shared."""
        if self.state is None:
            return []
        store = self.state.index.store
        return [
            kept.number
            for owner, id in dict.fromkeys(conversations)
            for kept in store.talks_of(ShelfName.beginning(owner, id))
        ]

    # ── conversations of the index ──

    def headings_of(self, numbers: Collection[int]) -> Mapping[int, Heading]:
        self._look_up([number for number in numbers if number not in self._headings])
        found = ((number, self._headings[number]) for number in numbers)
        return {number: heading for number, heading in found if heading is not None}

    def _look_up(self, numbers: Collection[int]) -> None:
        if self.state is None or not numbers:
            return
        self._headings |= dict.fromkeys(numbers)
        last = self.state.reader.generation
        known = {
            kept.id: kept
            for kept in self.state.index.store.numbered(numbers)
            if kept.changed != UNSETTLED and kept.generation <= last
        }
        names = map(ShelfName.of, known)
        for name, heading in self._seen(self.rows.headings([name[:2] for name in names])):
            # Under another name it is shared otherwise than the index has it.
            kept = known.get(str(name))
            changing = (heading.family, heading.grouping) in self._changing
            if kept is not None and kept.changed == heading.changed and not changing:
                self._headings[kept.number] = heading

    def ids_of(self, numbers: Collection[int]) -> Mapping[int, str]:
        if self.state is None:
            return {}
        return {kept.number: kept.id for kept in self.state.index.store.numbered(numbers)}

    def numbers_of(self, ids: Iterable[str]) -> Mapping[str, int]:
        if self.state is None:
            return {}
        found = map(self.state.index.store.talk, ids)
        return {kept.id: kept.number for kept in found if kept is not None}

    def heading(self, id: str) -> Heading | None:
        return self._by_id.get(id)

    def added(self) -> Iterable[Heading]:
        """Only a person's own: what others hide or note is theirs."""
        return self._own_added

    @cached_property
    def _own_added(self) -> list[Heading]:
        asker = self.asker
        if not asker.own or asker.only not in (0, asker.person):
            return []
        return [each.heading for each in self._seen(self.rows.curated([asker.person]))]

    # ── filters ──

    def numbers(
        self, node: FilterNode, test: Callable[[ConversationFacts], bool]
    ) -> tuple[list[int], list[int] | None]:
        passing = [heading.id for heading in self._likely(node) if test(heading)]
        return [*self.numbers_of(passing).values()], None

    def _likely(self, node: FilterNode) -> Iterable[Heading]:
        """At least those that pass a filter, as far as facts of the documents do not tell it."""
        if node.name == "machine":
            # Laptops do not say what they are called.
            return []
        if node.name == "project":
            return self._with(f"project:{TOO_LONG}")
        if (node.name, node.value) == ("is", "unfinished"):
            return [heading._replace(finished=False) for heading in self._with(UNFINISHED)]
        if node.name == "id":
            found = self.rows.beginning(self._owners, node.value)
        else:
            found = self.rows.curated(self._owners)
        return [each.heading for each in self._seen(found)]

    def _with(self, fact: str) -> Iterable[Heading]:
        """The conversations whose title has a fact."""
        if self.reader is None:
            return []
        planner = Planner(self.reader, self.numbers)
        plan = planner.within(Plan(None, True), [*self.asker.within, [fact]])
        totals = self.reader.per_conversation(planner.headings(plan))
        return self.headings_of(totals).values()

    # ── as a whole ──

    @property
    def lacks_some(self) -> bool:
        """Whether something is neither in the index nor read directly."""
        return self._news > len(self.direct) or len(self.pending) == MOST_DIRECT

    @property
    def within(self) -> Sequence[Sequence[str]]:
        # A query for one word alone is answered many times faster than one with conditions.
        return () if self._overview.is_all else self.asker.within

    @property
    def count(self) -> int:
        if self.reader is None or not self.stale:
            return self._overview.count + self._news
        return self._found(self.reader, self.asker.within, self.stale)[0] + self._news

    @property
    def until(self) -> str | None:
        newest = self._overview.newest
        known = self.headings_of([newest]).values() if newest is not None else ()
        times = (heading.updated_at for heading in (*known, *self.direct))
        return max((at for at in times if at), default=None)

    def more_conversations_than(self, messages: int) -> int:
        """Not known: how large the largest are would tell of what others have."""
        return 0

    @property
    def _overview(self) -> ShelfOverview:
        if self.reader is None:
            return ShelfOverview(count=0, newest=None, is_all=False)
        name = tuple(map(tuple, self.asker.within))
        if name not in self._overviews:
            count, newest = self._found(self.reader, self.asker.within)
            # One is the commit's own.
            every = self._found(self.reader, ())[0] - 1
            self._overviews[name] = ShelfOverview(count=count, newest=newest, is_all=count == every)
        return self._overviews[name]

    def _found(
        self, reader: WordReader, within: Sequence[Sequence[str]], stale: Sequence[int] = ()
    ) -> tuple[int, int | None]:
        """How many titles there are, and whose is the newest."""
        planner = Planner(reader, self.numbers)
        plan = planner.without(planner.within(Plan(None, True), within), stale)
        found: Any = reader.searcher.search(
            planner.headings(plan), limit=1, count=True, order_by_field="at"
        )
        newest = reader.searcher.fast_field_values("talk", [at for _, at in found.hits])
        return int(found.count or 0), int(newest[0] or 0) if newest else None
