"""What every tool works with: the archive, who asks, what may leave it, and the time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from time import perf_counter
from typing import NamedTuple

from rireki.intake.interpret import read_conversation
from rireki.library import Library
from rireki.mcp.answers import clip, minute
from rireki.mcp.caller import Caller
from rireki.model.conversation import Conversation, Reading
from rireki.model.message import Message
from rireki.search.results import Scope
from rireki.show.transcript import choose, short_message
from rireki.show.words import count, folder
from rireki.sources.kit.places import Places

__all__ = ["Memory", "Patience", "Recall", "Remembered", "reference"]

#: Conversations that are kept as they were read: an agent that found one asks for more of it.
KEPT = 8
#: Of those that the index proposes; and seconds for which it goes on.
READ_ANYHOW, READ_AT_MOST, QUICK = 4, 12, 0.04


class Remembered(NamedTuple):
    """A conversation as it was read."""

    reading: Reading
    #: Those that people see, in order; of rewritten ones the last version.
    messages: Sequence[Message]

    @property
    def conversation(self) -> Conversation:
        return self.reading.conversation

    def all(self) -> Iterator[Message]:
        """Earlier versions as well, which are found but not told; made only when one is meant."""
        yield from self.messages
        yield from self.reading.messages()


class Patience:
    """How many conversations are read for one answer: some in any case, more while it is quick."""

    def __init__(self) -> None:
        self.read = 0
        self._begun = perf_counter()

    def lasts(self) -> bool:
        return self.read < READ_ANYHOW or (
            self.read < READ_AT_MOST and perf_counter() - self._begun < QUICK
        )


class Memory:
    """Conversations that were read last, for any thread."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, int], Remembered] = OrderedDict()
        self._lock = threading.Lock()

    def known(self, key: tuple[str, int]) -> Remembered | None:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def keep(self, key: tuple[str, int], read: Remembered) -> None:
        with self._lock:
            self._known[key] = read
            while len(self._known) > KEPT:
                self._known.popitem(last=False)


class Recall:
    """One call of a tool."""

    def __init__(
        self,
        library: Library,
        caller: Caller,
        places: Places,
        now: datetime,
        memory: Memory | None = None,
        directory: str | None = None,
        coverage: str = "",
    ) -> None:
        self.library = library
        self.caller = caller
        self.places = places
        self.masker = library.masker()
        self.now = now
        self.memory = memory or Memory()
        #: Where the calling agent works, if it is on this machine and said so.
        self.directory = directory
        #: What has to be known of an archive that is not up to date.
        self.coverage = coverage

    @property
    def without(self) -> frozenset[str]:
        """Ids of conversations that are left out: the calling one."""
        return frozenset(filter(None, [self.caller.id]))

    def names(self, ids: Iterable[str]) -> dict[str, str]:
        """What to write for each of these conversations."""
        wanted = list(dict.fromkeys(ids))
        return self.library.ask(lambda archive: archive.short_ids(wanted)) if wanted else {}

    def read(self, id: str) -> Remembered:
        """A conversation with all of its messages that people see."""
        number = self.library.number()
        conversation = self.library.find(id)
        key = (conversation.id, number)
        known = self.memory.known(key)
        if known is None:
            reading = self.library.ask(
                lambda archive: read_conversation(archive, archive.find(conversation.id))
            )
            known = Remembered(reading, choose(reading.messages()))
            self.memory.keep(key, known)
        return known

    # ── words ──

    def mask(self, text: str) -> str:
        """What of a text may leave the archive; ask before anything is cut."""
        return self.masker.text(text)

    def masked(self, message: Message) -> Message:
        return self.masker.message(message)

    def line(self, text: str, most: int) -> str:
        """What a conversation says, in one line: masked first, then cut."""
        return clip(self.mask(text), most)

    def title(self, conversation: Conversation) -> str:
        return self.line(conversation.title, 90) or "(no title)"

    def place(self, conversation: Conversation) -> str:
        return self.line(folder(conversation.project), 40) or "no project"

    def covered(self, scope: Scope) -> str:
        """How much was searched, what was left out, and what else has to be known of it."""
        reach = f" up to {minute(scope.until)}" if scope.until else ""
        notes = [f"note: {clip(note, 250)}" for note in (scope.slower, self.coverage) if note]
        first = (
            f"searched {count(self.searched(scope), 'conversation')}{reach}; {self.caller.left_out}"
        )
        return "\n".join([first, *notes])

    def searched(self, scope: Scope) -> int:
        return scope.conversations - self.caller.archived


def reference(name: str, message: Message | str | None) -> str:
    """What leads back to a message, or to the whole conversation."""
    if message is None:
        return name
    return f"{name}#{short_message(message if isinstance(message, str) else message.id)}"
