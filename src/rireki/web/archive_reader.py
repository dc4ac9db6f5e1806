"""What every page and every answer of the API works with: the archive, read beside the event loop.

A `Library` answers in the thread that asks, so each kind of question has threads of its own and
the loop never waits for one of them.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

import msgspec

from rireki.archive.base import Archive, Found, Heading
from rireki.archive.open import open_archive
from rireki.errors import NotFound
from rireki.intake.curate import notes_of
from rireki.intake.interpret import losses, read_conversation
from rireki.library import DAMAGED, Library
from rireki.live.readings import Readings
from rireki.model.conversation import Answer, Conversation
from rireki.model.message import Message
from rireki.search.last_words import LastWords, last_words, last_words_of
from rireki.search.results import Results, SearchOptions
from rireki.web.driving import JournalPosition, journal_of
from rireki.web.parts.turn_days import TurnDays

if TYPE_CHECKING:
    from rireki.live.keeper import Keeper
    from rireki.masking import Masker
    from rireki.search.execute.facets import Facet
    from rireki.sources.kit.places import Places

__all__ = ["ArchiveReader", "OpenConversation", "ReaderThreads", "Recent"]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
Attachments: TypeAlias = Callable[[str], bytes | None]

#: Threads that read the archive.
READERS = 4
#: Conversations that are kept as they were last read; a page asks for the same one many times.
KEPT = 12
#: Figures that are kept until something changes, and conversations whose changed files are.
FIGURES, EDITED = 8, 2000
#: Conversations whose last words are kept that the index does not have yet; how long one answer reads
#: for them, in seconds, and of how many messages each may be.
SAID, PATIENCE, READABLE = 500, 0.1, 2000
#: Conversations whose attachments are at hand: a page asks for all of its pictures at once.
PICTURED = 2


class Recent(Generic[K, V]):
    """What was made last, by name: what was not asked for the longest is dropped. For any thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def known(self, name: K) -> V | None:
        with self._lock:
            if name in self._known:
                self._known.move_to_end(name)
            return self._known.get(name)

    def get(self, name: K, make: Callable[[], V]) -> V:
        known = self.known(name)
        if known is not None:
            return known
        # Nobody waits for what somebody else makes: two may make it, and one is kept.
        made = make()
        with self._lock:
            self._known[name] = made
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return made

    def clear(self) -> None:
        with self._lock:
            self._known.clear()


class ReaderThreads(NamedTuple):
    """What reads an archive, and what searches it, beside the event loop."""

    readers: Executor
    searchers: Executor

    @classmethod
    def made(cls, readers: int, searchers: int) -> ReaderThreads:
        return cls(ThreadPoolExecutor(readers, "reader"), ThreadPoolExecutor(searchers, "search"))


class OpenConversation(msgspec.Struct, frozen=True, eq=False):
    """One conversation with all its messages, as it was read at some change."""

    conversation: Conversation
    #: The same, as its agent has it on this machine.
    here: Conversation
    family: str
    grouping: str
    #: Every message, hidden ones and earlier versions too.
    messages: list[Message]
    #: The number of the change it was read at.
    changed: int
    #: The sub-agents it started.
    children: list[Conversation]
    #: What the person noted on it, under "", and on its messages.
    notes: Mapping[str, str] = {}
    #: What models answered in it, each answer once.
    answers: Sequence[Answer] = ()
    #: How far the bridge's journals of it were read, where agents are driven.
    journal: JournalPosition = JournalPosition()

    def masked(self, masker: Masker) -> OpenConversation:
        """The same without the secrets in it."""
        return msgspec.structs.replace(
            self,
            conversation=masker.conversation(self.conversation),
            messages=[masker.message(message) for message in self.messages],
            children=[masker.conversation(child) for child in self.children],
            notes={message: masker.text(text) for message, text in self.notes.items()},
        )


class ArchiveReader:
    """Made once for an app; `close` ends its threads."""

    def __init__(
        self,
        archive: Path,
        places: Places,
        keeper: Keeper | None = None,
        readings: Readings | None = None,
        library: Library | None = None,
        threads: ReaderThreads | None = None,
    ) -> None:
        """A `library` is read in place of the file; `threads` are those of several readers."""
        self.readings = readings or Readings()
        self.path = archive
        self._library = library or _library(archive)
        #: Those it has turned away from; a question may still be with one.
        self._left: list[Library] = []
        self.places = places
        self.keeper = keeper
        #: Whether what it shows is invented, because this machine has no history yet.
        self.demo = False
        #: Whether agents are driven from here, so that pages have to know how far a journal was read.
        self.drives = False
        self._shares_threads = threads is not None
        self._readers, self._searcher = threads or ReaderThreads.made(READERS, 1)
        self._talks: Recent[tuple[str, int, str | None], OpenConversation] = Recent(KEPT)
        self._said: Recent[tuple[str, int], LastWords | None] = Recent(SAID)
        self._pictured: Recent[tuple[str, int], Attachments] = Recent(PICTURED)
        self._lock = threading.Lock()
        #: Figures of the archive, by what they are of and the number they were made at.
        self.figures: Recent[tuple[Any, ...], Any] = Recent(FIGURES)
        self.turn_days = TurnDays()
        #: How often each file was changed, by the conversation and the number it was read at.
        self.edited: Recent[tuple[str, int], Mapping[str, int]] = Recent(EDITED)

    async def read(self, work: Callable[[Archive], T]) -> T:
        """Let `work` read the archive in another thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, lambda: self._library.ask(work))

    async def talk(self, name: str, as_of: str | None = None) -> OpenConversation:
        """A conversation by its id or an unambiguous beginning. Raises NotFound or Ambiguous."""
        return await self.read(lambda archive: self._talk(archive, archive.find(name), as_of))

    async def attachment(self, name: str, digest: str) -> bytes | None:
        """The bytes of an attachment, if the conversation has it. Raises NotFound or Ambiguous."""
        return await self.read(lambda archive: self._pictures(archive, archive.find(name))(digest))

    async def last_words(self, ids: Sequence[str]) -> dict[str, LastWords]:
        """What was said last in each of these conversations, by id."""
        return await self.read(lambda archive: self._last_words(archive, ids))

    @property
    def library(self) -> Library:
        """The archive that is shown now, for who asks it in threads of their own."""
        return self._library

    async def search(self, text: str, wish: SearchOptions) -> Results:
        """One search at a time: the next one is answered from what the last one has opened."""
        loop = asyncio.get_running_loop()
        options = msgspec.structs.asdict(wish)
        return await loop.run_in_executor(
            self._searcher, lambda: self._library.search(text, **options)
        )

    async def facets(self, text: str) -> list[Facet]:
        """By what the answers to a query can be narrowed down."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._searcher, lambda: self._library.facets(text))

    def turn_to(self, archive: Path, demo: bool = False) -> None:
        """Show another archive from the next question on."""
        with self._lock:
            self.path, self.demo = archive, demo
            self._left.append(self._library)
            self._library = _library(archive)
            self._talks.clear()
            self.readings.clear()
            self._said.clear()
            self._pictured.clear()
            self.figures.clear()
            self.edited.clear()
            self.turn_days.clear()

    def close(self) -> None:
        if not self._shares_threads:
            self._readers.shutdown()
            self._searcher.shutdown()
        for library in (self._library, *self._left):
            library.close()

    @property
    def damaged(self) -> bool:
        """Whether something in the archive cannot be read, as far as anybody came upon it."""
        return bool(self._library.damage)

    # ── in the threads ──

    def _talk(self, archive: Archive, found: Found, as_of: str | None) -> OpenConversation:
        heading = _heading(archive, found)
        return self._talks.get(
            (heading.id, heading.changed, as_of),
            lambda: self._read(archive, found, heading.changed, as_of),
        )

    def _last_words(self, archive: Archive, ids: Sequence[str]) -> dict[str, LastWords]:
        changed = {heading.id: heading.changed for heading in archive.headings(ids=ids)}
        found = last_words(archive, changed)
        # The index is brought up only when enough has come together: what lacks is read, and kept.
        lacking = [(id, changed[id]) for id in ids if id in changed and id not in found]
        end = time.monotonic() + PATIENCE
        for name in lacking:
            if self._said.known(name) or time.monotonic() < end:
                said = self._said.get(name, partial(self._read_last_words, archive, name[0]))
                found |= {name[0]: said} if said else {}
        return found

    def _read_last_words(self, archive: Archive, id: str) -> LastWords | None:
        try:
            found = archive.find(id)
        except NotFound:
            # Forgotten in this very moment.
            return None
        if found.conversation.messages > READABLE:
            return None
        return last_words_of(self._told(archive, found, None)[1])

    def _pictures(self, archive: Archive, found: Found) -> Attachments:
        heading = _heading(archive, found)
        return self._pictured.get(
            (heading.id, heading.changed), lambda: read_conversation(archive, found).attachment
        )

    def _read(
        self, archive: Archive, found: Found, changed: int, as_of: str | None
    ) -> OpenConversation:
        # First: what comes between the two is then told twice rather than not at all.
        journal = journal_of(archive, found) if self.drives and as_of is None else JournalPosition()
        conversation, messages = self._told(archive, found, as_of)
        children = [
            link.id
            for link in found.conversation.links
            if link.kind == "subagent" and link.side == "child"
        ]
        known = archive.pick(children)
        return OpenConversation(
            journal=journal,
            conversation=conversation,
            here=archive.here(found),
            family=found.family,
            grouping=found.grouping,
            messages=messages,
            answers=archive.answers_of([conversation.id]).get(conversation.id, []),
            changed=changed,
            notes={note.message: note.text for note in notes_of(archive, found)},
            children=[known[id] for id in children if id in known],
        )

    def _told(
        self, archive: Archive, found: Found, as_of: str | None
    ) -> tuple[Conversation, list[Message]]:
        if as_of is None:
            # As it was stored, not as its records are by now: the feed goes by that too.
            told = self.readings.at(archive, found, archive.reached(found.conversation.id))
            if told is not None:
                # Stored when all of its records could still be read.
                found.conversation.troubles += losses(told[0])
                return found.conversation, told[1]
        reading = read_conversation(archive, found, as_of)
        return reading.conversation, reading.messages()


def _library(archive: Path) -> Library:
    """Where nothing was taken in yet, there is something to look at all the same: nothing."""
    return Library(lambda: open_archive(archive, create=not archive.exists()))


def _heading(archive: Archive, found: Found) -> Heading:
    for heading in archive.headings(ids=[found.conversation.id]):
        return heading
    raise NotFound("no-conversation", id=found.conversation.id, hint=DAMAGED)
