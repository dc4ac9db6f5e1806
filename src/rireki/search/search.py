"""Searching an archive: a query in, conversations with their best hits out."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from rireki.archive.base import Archive
from rireki.errors import ArchiveTrouble
from rireki.intake.progress import Progress
from rireki.late import LateModule
from rireki.search.execute.pages import page_of
from rireki.search.execute.run import Counts, Group, Hunt
from rireki.search.execute.view import IndexView, SearchView, look, look_without_index, refresh
from rireki.search.index.index import Index, open_existing
from rireki.search.index.notes import Damaged
from rireki.search.index.words import panics_are_damage
from rireki.search.language.parse import parse
from rireki.search.language.patterns import TooSlow
from rireki.search.language.query import Query, QueryError
from rireki.search.results import Results, Scope, SearchOptions
from rireki.search.text.text_store import TextStore

if TYPE_CHECKING:
    from rireki.masking import Masker
    from rireki.search.execute import across_messages, facets, suggestions
    from rireki.search.execute.facets import Facet
    from rireki.search.index import update
    from rireki.sources import registry
else:
    across_messages = LateModule("rireki.search.execute.across_messages")
    facets = LateModule("rireki.search.execute.facets")
    registry = LateModule("rireki.sources.registry")
    suggestions = LateModule("rireki.search.execute.suggestions")
    update = LateModule("rireki.search.index.update")

__all__ = ["FoundGroups", "Search", "too_slow"]

T = TypeVar("T")

SLOWER = "the search index is being made by another process: this search read the archive itself"
SHUT = (
    "there is no up-to-date search index, and none can be made where the archive can only be "
    "read: this search read the archive itself"
)
REBUILT = (
    "many conversations wait to be read again (another process is at it, or was interrupted: "
    "'rireki import' finishes it): this search read them from their records"
)
#: So many that it can be felt.
MANY_PENDING = 20


@contextmanager
def _without_collecting() -> Iterator[None]:
    """A query makes thousands of small values and no cycles: looking for some is a fifth of its time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class FoundGroups(NamedTuple):
    """The conversations that answer a query, in order, with what is needed to tell of them."""

    query: Query
    wish: SearchOptions
    view: SearchView
    hunt: Hunt
    groups: list[Group]
    #: Whether they answer only in different messages.
    apart: bool
    hidden: int


class Search:
    """Searches one archive, for as long as it is kept open."""

    def __init__(self, archive: Archive, progress: Progress | None = None) -> None:
        self.archive = archive
        self.progress = progress
        self.library = TextStore(archive)
        self.index: Index | None = None
        self.view: IndexView | None = None
        self.slower = ""
        #: Takes the secrets out of what is shown; what only they would answer is not found then.
        self.masker: Masker | None = None

    def find(
        self,
        text: str,
        wish: SearchOptions = SearchOptions(),  # noqa: B008 - it is frozen
        now: datetime | None = None,
    ) -> Results:
        started = time.perf_counter()
        query = _parsed(text, now)
        try:
            results = self._surely(query, lambda view: self._answer(view, query, wish))
        except TooSlow as error:
            raise too_slow(text, str(error)) from error
        taken = round((time.perf_counter() - started) * 1000, 2)
        return msgspec.structs.replace(results, milliseconds=taken)

    def gather(self, text: str, wish: SearchOptions, now: datetime | None = None) -> FoundGroups:
        """What answers, in order, before anything of it is told: for a page out of several indexes."""
        query = _parsed(text, now)
        try:
            return self._surely(query, lambda view: self._gathered(view, query, wish))
        except TooSlow as error:
            raise too_slow(text, str(error)) from error

    def tell(self, gathered: FoundGroups, page: list[Group]) -> Results:
        """A page of what was gathered; if that is not there any more, of what is there now."""
        query, wish = gathered.query, gathered.wish
        try:
            return self._told(gathered, page)
        except Damaged:
            narrow = msgspec.structs.replace(wish, limit=len(page))
            return self._surely(query, lambda view: self._answer(view, query, narrow))

    def _surely(self, query: Query, answer: Callable[[SearchView], T]) -> T:
        """Of the index, or, whatever is wrong with that, of the archive."""
        try:
            return self._try(query, answer)
        except Damaged:
            return self._try_again(query, answer)

    def _try(self, query: Query, answer: Callable[[SearchView], T]) -> T:
        with panics_are_damage():
            return answer(self._look(query))

    def _try_again(self, query: Query, answer: Callable[[SearchView], T]) -> T:
        """Something was not where the index had it: maybe it was forgotten in this very moment."""
        if self.view is not None and self.view.number != self.archive.number():
            with suppress(Damaged):
                return self._try(query, answer)
        return self._try_anew(query, answer)

    def _try_anew(self, query: Query, answer: Callable[[SearchView], T]) -> T:
        """Whatever is wrong with the index, the archive is right: make another one."""
        if self.index is not None and not self.archive.read_only:
            self.index.condemn()
        self._drop_index()
        try:
            return self._try(query, answer)
        except Damaged as error:
            self._drop_index()
            self.slower = (
                f"the search index is damaged ({error}): this search read the archive itself"
            )
            self.view = look_without_index(self.archive)
            return answer(self.view)

    def facets(self, text: str, now: datetime | None = None) -> list[Facet]:
        """By what the answers to a query can be narrowed down, with how many messages each leaves."""
        now = now or datetime.now(timezone.utc)
        query = parse(text, now, _sources(text))
        if query.root is None:
            return []
        try:
            with panics_are_damage():
                view = self._look(query)
                without = _hidden(view, query, SearchOptions())
                hunt = Hunt(self.library, view, query, SearchOptions(without=without))
                return facets.facets_of(hunt, now)
        except (Damaged, TooSlow):
            # The search itself tells.
            return []

    def close(self) -> None:
        self._drop_index()

    def _drop_index(self) -> None:
        if self.index is not None:
            self.index.close()
        self.index = self.view = None
        self.library.use(None)

    # ── what there is to rely on ──

    def _look(self, query: Query) -> SearchView:
        finished = any(f.name == "is" and f.value == "unfinished" for f in query.filters())
        if self.view is None or finished or not self._is_up_to_date(self.view):
            self.view = self._view(finished)
        return self.view

    def _is_up_to_date(self, view: IndexView) -> bool:
        if self.index is None or view.generation != self.index.store.get("generation"):
            return False
        if view.number == self.archive.number():
            return True
        return refresh(self.archive, view) and not self._is_behind(view)

    def _view(self, finished: bool) -> IndexView:
        """The index as it is, brought up first if much is missing."""
        self.slower = ""
        if self.index is None:
            self._open_index()
        if self.index is not None:
            view = look(self.archive, self.index, finished)
            if not view.direct or not self._is_behind(view):
                return view
            if not self._catch_up():
                return view
            self._open_index()
        if self.index is not None:
            return look(self.archive, self.index, finished)
        return look_without_index(self.archive, finished)

    def _open_index(self) -> None:
        """Open what is there; when nothing that can be used is, make it."""
        self._drop_index()
        with suppress(Damaged):
            self.index = open_existing(self.archive)
        if self.index is None and self._catch_up():
            with suppress(Damaged):
                self.index = open_existing(self.archive)
        self.library.use(self.index)

    def _catch_up(self) -> bool:
        """Whether the index may be another than before."""
        if self.archive.read_only:
            self.slower = SHUT
            return False
        # Imported late: most searches find an index that has everything.
        from rireki.search.index.update import catch_up

        try:
            if not catch_up(self.archive, self.progress):
                self.slower = SLOWER
        except ArchiveTrouble as trouble:
            # A full disk or a folder nobody may write to is no reason for a "no".
            self.slower = f"{trouble.message}: this search read the archive itself"
        return True

    def _is_behind(self, view: IndexView) -> bool:
        return update.is_behind(self.archive, view.direct)

    # ── one query ──

    def _answer(self, view: SearchView, query: Query, wish: SearchOptions) -> Results:
        gathered = self._gathered(view, query, wish)
        return self._told(gathered, gathered.groups[wish.offset : wish.offset + wish.limit])

    @_without_collecting()
    def _gathered(self, view: SearchView, query: Query, wish: SearchOptions) -> FoundGroups:
        hidden = _hidden(view, query, wish)
        wish = msgspec.structs.replace(wish, without=wish.without | hidden)
        hunt = Hunt(self.library, view, query, wish)
        groups = hunt.gather()
        apart = None if groups else _apart(self.library, view, query, wish)
        if apart is not None:
            hunt, groups = apart
        return FoundGroups(query, wish, view, hunt, groups, apart is not None, len(hidden))

    @_without_collecting()
    def _told(self, gathered: FoundGroups, page: list[Group]) -> Results:
        query, wish, view, hunt, groups, apart, hidden = gathered
        hunt.masker = self.masker
        counted = None if apart else hunt.counts(page)
        talks = page_of(self.archive, hunt, page)
        found = counted or Counts(hunt.messages, len(groups), not hunt.exhausted)
        if hunt.withheld:
            # The numbers of all would tell whether a guess at what is masked is right.
            found = Counts(sum(len(talk.hits) for talk in talks), len(talks), False)
        return Results(
            query=query.text,
            talks=talks,
            messages=found.messages,
            conversations=found.conversations,
            exact=hunt.exhausted or counted is not None,
            more_conversations=found.more,
            apart=apart,
            more=len(groups) > wish.offset + wish.limit,
            scope=Scope(
                conversations=view.count + hunt.unknown - hidden,
                hidden=hidden,
                until=view.until,
                direct=len(view.direct),
                slower=self._why_slower(view),
            ),
            # A word of the archive may be a secret, and by itself does not look like one.
            near=_near(view, query) if not (groups or self.masker) and query.has_words else [],
        )

    def _why_slower(self, view: SearchView) -> str:
        if len(view.pending) > MANY_PENDING:
            return REBUILT
        return self.slower if view.direct else ""


def _parsed(text: str, now: datetime | None) -> Query:
    query = parse(text, now or datetime.now(timezone.utc), _sources(text))
    if query.root is None and text.strip():
        raise _only_minus(text)
    return query


def _hidden(view: SearchView, query: Query, wish: SearchOptions) -> frozenset[str]:
    """What is left out because a person hid it."""
    asked = any((node.name, node.value) == ("is", "hidden") for node in query.filters())
    every = not (wish.hidden or asked)
    added = ((heading.id, heading.added) for heading in view.added())
    return frozenset(id for id, each in added if each.leaving or (every and each.hidden))


def _only_minus(text: str) -> QueryError:
    """The one thing that is nothing: not everything, as no query at all may be."""
    return QueryError("query-lonely-minus", text.index("-"), 1)


def too_slow(text: str, pattern: str) -> QueryError:
    """What a query is told whose pattern was given up."""
    written = f"/{pattern}/"
    return QueryError("pattern-too-slow", max(text.find(written), 0), len(written), pattern=written)


def _sources(text: str) -> list[str]:
    """The names that `source:` may have, if the query may ask for one."""
    if "source" not in text.lower():
        return []
    return registry.names()


def _apart(
    library: TextStore, view: SearchView, query: Query, wish: SearchOptions
) -> tuple[Hunt, list[Group]] | None:
    return across_messages.hunt_apart(library, view, query, wish)


def _near(view: SearchView, query: Query) -> list[str]:
    return suggestions.near_words(view, query)
