"""One archive as a program sees it: list, read, search, follow and restore conversations.

`rireki.open` returns a `Library`; the commands and the web app use the same class. It knows
neither the terminal nor HTTP, and nothing of how a conversation is laid out.

Threads may share a `Library`. Every verb takes a connection of its own out of a pool for as
long as it lasts, so no connection is ever used by two threads at once. Searches wait for each
other: the next one is answered from the index that the last one has opened.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

from rireki.archive.base import Archive, Filter, Found
from rireki.archive.open import StorageError, explain, open_archive
from rireki.errors import ArchiveTrouble, NotFound, RirekiError, Wording
from rireki.home import archive_path
from rireki.late import LateModule
from rireki.model.conversation import Conversation, Reading, Trouble
from rireki.model.message import Message
from rireki.model.names import directory_of
from rireki.model.spelling import ensure_among
from rireki.model.when import when
from rireki.search.results import Results, SearchOptions
from rireki.show.transcript import Transcript, choose, is_over, mask_transcript

# What reads records and what searches is imported by the verbs that need it: a list needs neither.
if TYPE_CHECKING:
    from rireki import masking
    from rireki.intake import interpret
    from rireki.intake import restore as restoring
    from rireki.intake.progress import Progress
    from rireki.live import feed
    from rireki.live.feed import News
    from rireki.masking import Masker
    from rireki.search import search as searches
    from rireki.search.execute.facets import Facet
    from rireki.search.search import Search
    from rireki.sources import registry
else:
    feed = LateModule("rireki.live.feed")
    interpret = LateModule("rireki.intake.interpret")
    masking = LateModule("rireki.masking")
    registry = LateModule("rireki.sources.registry")
    restoring = LateModule("rireki.intake.restore")
    searches = LateModule("rireki.search.search")

__all__ = ["DAMAGED", "Library", "TranscriptReader", "ensure_source", "open", "streams_of"]

T = TypeVar("T")

#: What to do about an archive that is damaged.
DAMAGED = Wording("salvage")
#: Conversations that are fetched at once.
PAGE = 500
#: Connections that are kept open for the next verb; more are open while more verbs run.
IDLE = 8


class ArchiveOutdated(ArchiveTrouble):
    """An archive that could only be read, without locks, was written by its owner meanwhile."""

    def __init__(self, name: str) -> None:
        super().__init__("archive-changed", path=name)


def open(path: str | os.PathLike[str] | None = None) -> Library:
    """The archive at `path`; without one that of RIREKI_ARCHIVE, or the user's own.

    Raises NotFound where there is none, ArchiveTrouble where it cannot be read.
    """
    library = Library(partial(open_archive, archive_path(path)))
    # What is wrong with the archive is said here, not by whichever verb comes first.
    library.ask(lambda archive: None)
    return library


class Library:
    """An open archive. Ids may be shortened to a beginning that means one conversation only.

    Every error is a `RirekiError`: NotFound, Ambiguous, ArchiveTrouble, QueryError.
    """

    def __init__(
        self, opener: Callable[[], Archive], progress: Callable[[], Progress | None] | None = None
    ) -> None:
        self._opener = opener
        #: Asked when a search has to bring the index up, which may take a while.
        self._progress = progress
        #: What of the archive cannot be read, as far as a verb has met it.
        self.damage: list[Trouble] = []
        self._idle: list[Archive] = []
        self._closed = False
        self._lock = threading.Lock()
        self._search: Search | None = None
        self._search_lock = threading.Lock()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    # ── what there is ──

    def conversations(
        self,
        *,
        source: str | None = None,
        project: str | os.PathLike[str] | None = None,
        below: bool = True,
        since: str | datetime | None = None,
        before: str | datetime | None = None,
        title: str | None = None,
        upstream: Literal["present", "changed", "gone"] | None = None,
        tags: Sequence[str] = (),
        starred: bool = False,
        machine: str | None = None,
        hidden: bool = False,
        subagents: bool = False,
        limit: int | None = None,
        after: Conversation | None = None,
    ) -> Iterator[Conversation]:
        """Conversations, newest first, fetched a page at a time as they are asked for.

        `tags`: with all of these; `machine`: read on this one of several; `hidden`: also what a
        person hid. `after` is the last conversation of an earlier list: what comes behind it. Raises
        NotFound for a source, or a machine, that nobody knows.
        """
        _ensure_counts(0, limit=limit)
        self.ask(lambda archive: ensure_source(source, archive))
        wanted = Filter(
            source=source,
            project=directory_of(os.fspath(project)) if project is not None else None,
            below=below,
            since=_moment(since),
            before=_moment(before),
            title=title,
            upstream=upstream,
            tags=list(tags),
            starred=starred,
            streams=self.ask(lambda archive: streams_of(archive, machine)),
            hidden=None if hidden else False,
            subagents=subagents,
            limit=limit,
            after=(after.updated_at, after.id) if after is not None else None,
        )
        return self._pages(wanted)

    def _pages(self, wanted: Filter) -> Iterator[Conversation]:
        left = wanted.limit
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            page = self._page(msgspec.structs.replace(wanted, limit=size))
            yield from page
            if len(page) < size:
                return
            left = left - size if left is not None else None
            last = page[-1].updated_at, page[-1].id
            wanted = msgspec.structs.replace(wanted, after=last)

    def _page(self, wanted: Filter) -> list[Conversation]:
        return self.ask(lambda archive: list(archive.conversations(wanted)))[: wanted.limit]

    def find(self, id: str) -> Conversation:
        """One conversation, without its messages."""
        return self.ask(lambda archive: archive.find(id)).conversation

    def read(
        self,
        id: str,
        as_of: str | datetime | None = None,
        *,
        everything: bool = False,
        nested: bool = False,
        masked: bool = False,
    ) -> Transcript:
        """A conversation with its messages, as its source held it at a time or holds it now.

        `everything`: also hidden messages and earlier versions of rewritten ones. The sub-agents it
        started are `children`, `nested` with their messages. `masked`: without the secrets in it.
        """
        moment = _moment(as_of, end_of_day=True)

        def work(archive: Archive) -> Transcript:
            reader = TranscriptReader(archive, moment, everything=everything, nested=nested)
            return reader.read(archive.find(id))

        story = self.ask(work)
        return mask_transcript(story, self.masker()) if masked else story

    def masker(self) -> Masker:
        """Takes secrets out of what is given away; `found` of it says which those were."""
        return self.ask(lambda archive: masking.Masker.for_home(archive.home))

    def attachment(self, id: str, digest: str) -> bytes | None:
        """The bytes of an attachment, by the digest in its part; None if they were never kept."""
        return self.ask(
            lambda archive: interpret.read_conversation(archive, archive.find(id)).attachment(
                digest
            )
        )

    # ── finding ──

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        offset: int = 0,
        newest: bool = False,
        context: int = 0,
        hits: int = 2,
        without: Collection[str] = (),
        hidden: bool = False,
        masked: bool = False,
    ) -> Results:
        """Conversations with their best hits, in the query language of `rireki search`.

        `without`: conversations that are left out, by their whole ids; `hidden`: also what a person
        hid. `masked`: without secrets, nor what only they would answer. Brings the index beside the
        archive up to date where much is missing.
        Raises QueryError for a query that cannot be understood.
        """
        _ensure_counts(1, limit=limit, hits=hits)
        _ensure_counts(0, offset=offset, context=context)
        options = SearchOptions(
            limit=limit,
            offset=offset,
            newest=newest,
            context=context,
            hits=hits,
            without=frozenset(without),
            hidden=hidden,
        )
        masker = self.masker() if masked else None
        with self._search_lock:
            try:
                return self._found(query, options, masker)
            except ArchiveOutdated:
                return self._found(query, options, masker)

    def facets(self, query: str) -> list[Facet]:
        """By what the answers to a query can be narrowed down: source, project, who speaks, tool, model,
        time, each value with how many messages it leaves. None where only reading could tell."""
        with self._search_lock, self._searching() as search:
            return search.facets(query)

    def _found(self, query: str, options: SearchOptions, masker: Masker | None) -> Results:
        with self._searching() as search:
            search.masker = masker
            return search.find(query, options)

    @contextmanager
    def _searching(self) -> Iterator[Search]:
        if self._search is None:
            self._search = searches.Search(
                self._take(), self._progress() if self._progress else None
            )
        archive = self._search.archive
        try:
            with _explained(archive):
                yield self._search
        finally:
            self._note_damage(archive)
            if archive.is_outdated():
                self._end_search()
                raise ArchiveOutdated(archive.name)

    # ── following ──

    def number(self) -> int:
        """The number of the last change: equal numbers mean that nothing changed."""
        return self.ask(lambda archive: archive.number())

    def changes(self, after: int) -> News:
        """Which conversations and messages changed after a number; `number` of it is the next `after`.

        Raises RirekiError if the archive has not come so far: an older copy of it was put back.
        """
        news = self.ask(lambda archive: feed.Feed(archive).since(after))
        if news.number < after:
            raise RirekiError("older-copy", number=news.number, after=after)
        return news

    # ── giving back ──

    def restore(
        self, id: str, to: str | os.PathLike[str], as_of: str | datetime | None = None
    ) -> list[Path]:
        """Write the agent's own files of a conversation below a folder, and return where they are.

        Nothing that is there already is overwritten.
        """
        moment = _moment(as_of, end_of_day=True)
        try:
            return self.ask(
                lambda archive: restoring.restore(archive, archive.find(id), Path(to), moment)
            )
        except OSError as error:
            raise RirekiError(
                "folder-not-writable", path=error.filename or to, why=error.strerror
            ) from error

    # ── the archive itself ──

    def ask(self, work: Callable[[Archive], T]) -> T:
        """What `work` makes of the archive; asked once more if that was written meanwhile without
        a lock that would have told."""
        try:
            with self.archive() as archive:
                return work(archive)
        except ArchiveOutdated:
            with self.archive() as archive:
                return work(archive)

    @contextmanager
    def archive(self) -> Iterator[Archive]:
        """The archive, for one thread at a time; whatever the storage raises is explained."""
        archive = self._take()
        try:
            with _explained(archive):
                yield archive
        finally:
            self._note_damage(archive)
            if archive.is_outdated():
                archive.close()
                raise ArchiveOutdated(archive.name)
            self._give_back(archive)

    def _take(self) -> Archive:
        with self._lock:
            if self._closed:
                raise RirekiError("library-closed")
            idle = self._idle.pop() if self._idle else None
        return idle or self._opener()

    def _give_back(self, archive: Archive) -> None:
        with self._lock:
            keep = not self._closed and len(self._idle) < IDLE
            if keep:
                self._idle.append(archive)
        if not keep:
            archive.close()

    def _note_damage(self, archive: Archive) -> None:
        if archive.damage:
            self.damage = archive.damage

    def _end_search(self) -> None:
        if self._search is not None:
            self._search.close()
            self._search.archive.close()
            self._search = None

    def close(self) -> None:
        """Close the archive; verbs that run in other threads end first or close theirs behind them."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for archive in idle:
            archive.close()
        with self._search_lock:
            self._end_search()


class TranscriptReader:
    """Reads a conversation, and the sub-agents it started, out of an archive."""

    def __init__(
        self,
        archive: Archive,
        as_of: str | None = None,
        *,
        everything: bool = False,
        upstream: bool = False,
        nested: bool = False,
    ) -> None:
        self.archive = archive
        self.as_of = as_of
        self.everything = everything
        self.upstream = upstream
        self.nested = nested
        self._seen: set[str] = set()

    def read(self, found: Found) -> Transcript:
        self._seen.add(found.conversation.id)
        reading = interpret.read_conversation(self.archive, found, self.as_of)
        messages = self.choose(reading)
        over = is_over(reading.conversation, datetime.now(timezone.utc))
        return Transcript(reading.conversation, messages, list(self._children(found)), over)

    def choose(self, reading: Reading) -> list[Message]:
        """Which of its messages to give."""
        return choose(reading.messages(), self.everything, self.upstream)

    def _children(self, found: Found) -> Iterator[Transcript]:
        for link in found.conversation.links:
            if link.kind != "subagent" or link.side != "child" or link.id in self._seen:
                continue
            child = self.archive.find(link.id)
            if self.as_of and (child.conversation.started_at or "") > self.as_of:
                continue
            yield self.read(child) if self.nested else Transcript(child.conversation, [])


def streams_of(archive: Archive, machine: str | None) -> list[int] | None:
    """What a machine of that name read; raises NotFound for one that nobody knows."""
    if machine is None:
        return None
    known = archive.machines()
    if machine not in known:
        raise NotFound("no-machine", name=machine, known=sorted(filter(None, known)))
    return known[machine]


def ensure_source(source: str | None, archive: Archive) -> None:
    """Raise NotFound for a source that neither a reader nor the archive knows.

    What a plug-in read is still there when the plug-in is not.
    """
    if source is None:
        return
    if source not in registry.names():
        tally = archive.tally()
        kept = {each.source for each in (archive.headings() if tally is None else tally.cells)}
        ensure_among(source, sorted({*registry.names(), *kept}))


@contextmanager
def _explained(archive: Archive) -> Iterator[None]:
    try:
        yield
    except StorageError as error:
        raise explain(error, archive) from error
    except NotFound as error:
        if archive.damage:
            # What is not found may be what cannot be read.
            error.values["hint"] = DAMAGED
        raise


def _moment(given: str | datetime | None, end_of_day: bool = False) -> str | None:
    """A time in the archive's spelling."""
    if given is None:
        return None
    text = given.isoformat() if isinstance(given, datetime) else given
    return when(text, datetime.now(timezone.utc), end_of_day)


def _ensure_counts(least: int, **counts: int | None) -> None:
    for name, count in counts.items():
        if count is not None and count < least:
            raise RirekiError("bad-count", name=name, count=count, least=least)
