"""MessageHistory: what a model is shown of a conversation, and everything that led to it.

The same in memory and on disk: every method adds an entry to a log, and the messages are what
the log comes to. Providers' spellings and rules are left to `rireki.providers`, which is not
imported before it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4
from weakref import finalize

from rireki.errors import RirekiError
from rireki.history import late
from rireki.history.core import HistoryNote
from rireki.history.inputs import (
    checked_provider,
    copied,
    kind_of,
    mended_block,
    read_given,
    read_result,
    result_block,
    with_images,
)
from rireki.history.rendering import Rendering
from rireki.history.results import checked_result, told_result
from rireki.journals.history_entry import JournalEntry
from rireki.journals.history_log import Edit, Item

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from rireki.history.journal import Sync
    from rireki.history.sharing import Lease
    from rireki.history.window import Counter, Window
    from rireki.providers import Problem, Provider, Turn
    from rireki.search.results import Hit

__all__ = ["HistoryNote", "MessageHistory", "Pending"]

#: Tools whose open calls wait for a person.
QUESTIONS = ("ask_user",)


class Pending(NamedTuple):
    """A call without a result; `waiting` when it is a person who has to give it."""

    id: str | None
    name: str
    arguments: Any
    waiting: bool


class MessageHistory(Rendering):
    """The messages of a conversation; in memory, or on disk with `MessageHistory.open`."""

    def __init__(self, *, questions: Sequence[str] = QUESTIONS) -> None:
        super().__init__()
        self._questions = frozenset(questions)

    @classmethod
    def open(
        cls,
        conversation: str | None = None,
        project: str | Path | None = None,
        title: str | None = None,
        archive: str | Path | None = None,
        read_only: bool = False,
        *,
        store: str | None = None,
        sync: Sync = "os",
        questions: Sequence[str] = QUESTIONS,
        wait: float = 0,
    ) -> Self:
        """A history on disk, new or gone on with: what a method added survives the process.

        It lies beside the archive, which is the one `rireki` uses unless another is named. A new
        one belongs to the current directory unless a `project` is named. `sync="full"` also waits
        for the disk, so that entries survive a power cut.

        Handles of one process on the same history share it. While another process writes it, `wait`
        so many seconds before `HistoryConflict` is raised.

        `store` is the address of a PostgreSQL database ("postgresql://…") to keep it in instead:
        any number of processes may write it then.
        """
        name = conversation or str(uuid4())
        slot, opened = late.store.place_of(name, archive, store, read_only, sync)
        # Who only reads sees what is there now, and holds nothing.
        if read_only:
            return cls._over(late.sharing.Lease("", opened()), questions, project, title)
        return cls._over(late.sharing.lease(slot, opened, wait, sync), questions, project, title)

    @classmethod
    def from_conversation(
        cls,
        name: str,
        conversation: str | None = None,
        archive: str | Path | None = None,
        *,
        store: str | None = None,
        as_of: str | None = None,
        everything: bool = False,
        sync: Sync = "os",
        questions: Sequence[str] = QUESTIONS,
    ) -> Self:
        """A new history on disk, or in a `store`, that begins with a conversation of the archive.

        `name` is its id, such as "claude-code/5471a680", or a beginning of one. What a model would
        be shown of it comes along: after a compaction the summary and what followed, or with
        `everything` all that was ever said. `as_of` is a time: as it was then. The conversation
        itself stays as it is; a history of rireki that is still there is forked.
        """
        path = late.home.archive_path(archive)
        about, messages = late.archived.read_archived(path, name, as_of, everything)
        own = about.source == "rireki" and not (store or as_of or everything)
        if own and late.home.Home(path).history(about.native_id).exists():
            with cls.open(about.native_id, archive=path, read_only=True) as before:
                made = before.fork(conversation)
                made._questions = frozenset(questions)
                return made
        history = cls.open(
            conversation,
            about.project,
            about.title,
            path,
            store=store,
            sync=sync,
            questions=questions,
        )
        if len(history):
            history.close()
            raise RirekiError("history-exists", id=history.id)
        with history.transaction():
            history.add_note("continued from", about.id)
            for message in messages:
                history.add_raw_message(message)
        return history

    @classmethod
    def _over(
        cls,
        lease: Lease,
        questions: Sequence[str],
        project: str | Path | None = None,
        title: str | None = None,
    ) -> Self:
        history = cls(questions=questions)
        store = lease.store
        history._store, history._lease = store, lease
        history._log, history._lock = store.log, store.lock
        # A history that nobody closes is closed when it is forgotten, or the program ends.
        finalize(history, lease.forget)
        with store.lock:
            store.introduce(project, title)
        return history

    # ── the five methods that everybody knows ──

    def add_user_message(self, content: Any, *, images: Iterable[Any] = ()) -> None:
        """What the user said; `images` are bytes, (media type, bytes) or image blocks."""
        self._add("user", {"role": "user", "content": with_images(content, images)})

    def add_raw_message(self, message: Any, *, provider: Provider | None = None) -> None:
        """A message as it is, or the answer of a provider's package, as that returned it.

        Whose it is, is told by its shape; where that does not tell, name the `provider`.
        A list of messages is kept as so many, all of them or none.
        """
        checked_provider(provider)
        entries = []
        for given in read_given(message, provider):
            more = {"answer": True} if given.answer else None
            entries.append(self._entry(kind_of(given), given.raw, provider or given.provider, more))
        self._record(entries)

    def add_tool_result(
        self,
        tool_use_id: str,
        result: Any,
        tool_name: str = "unknown",
        *,
        is_error: bool = False,
        images: Iterable[Any] = (),
    ) -> None:
        """What a tool returned for one call: a text, a list of blocks, or JSON."""
        block = result_block(tool_use_id, told_result(result), tool_name, is_error, images)
        self._add("tool", {"role": "user", "content": [block]})

    def get_messages(self) -> list[Any]:
        """A copy of the messages in which nothing is shared with the history."""
        with self._lock:
            self._refresh()
            return [copied(message) for message in self._log.view.messages]

    def clear(self) -> None:
        """Start afresh; on disk, what was stays in the archive."""
        with self._alone():
            self._add("clear")

    # ── more that can be added ──

    def add_system_message(self, content: Any) -> None:
        """Instructions, at the top or in the middle."""
        self._add("system", {"role": "system", "content": content})

    def add_tool_results(self, results: Iterable[Mapping[str, Any] | Sequence[Any]]) -> None:
        """The results of several calls, in one message.

        Each is (tool_use_id, result[, tool_name]), or a mapping with the names of the arguments
        of `add_tool_result`.
        """
        blocks = [read_result(checked_result(result)) for result in results]
        if blocks:
            self._add("tool", {"role": "user", "content": blocks})

    def waiting(self, tool_use_id: str) -> None:
        """A call waits for a person: it is not taken for one that was cut off."""
        with self._alone():
            if all(call.id != tool_use_id for call in self.pending_calls()):
                raise RirekiError("no-open-call", id=tool_use_id, name=self._name)
            self._add("waiting", more={"call": tool_use_id})

    # ── what it holds ──

    @property
    def messages(self) -> list[Any]:
        """The messages. In memory it is the list itself; on disk, changing it changes nothing."""
        messages = self._log.view.messages
        # Without the lock: an event loop that looks at them must not wait for a disk.
        return messages if self._store is None else copied(list(messages))

    @messages.setter
    def messages(self, messages: list[Any]) -> None:
        with self._lock:
            if self._store is not None:
                raise RirekiError("messages-kept", name=self._name)
            self._log.view.messages[:] = messages
            self._settle()

    @property
    def title(self) -> str | None:
        said = [entry.text("title") for entry in self._log.entries.values()]
        return next((title for title in reversed(said) if title), None)

    @title.setter
    def title(self, title: str) -> None:
        self._add("title", more={"title": title})

    @property
    def troubles(self) -> list[str]:
        """What could not be read when it was opened, or not be archived since."""
        return list(self._store.troubles) if self._store else []

    def __len__(self) -> int:
        return len(self._log.view.messages)

    def turns(self) -> list[list[Any]]:
        """The messages by turn: from what the user said to the next thing the user said."""
        with self._lock:
            window = self._window()
            edges = sorted({0, *window.starts(), len(window.items)})
            pieces = pairwise(edges)
            return [[copied(m) for _, m in window.items[a:b]] for a, b in pieces]

    def pending_calls(self) -> list[Pending]:
        """Calls without a result: to be run, cut off, or waiting for a person."""
        with self._lock:
            window = self._window()
            ends = self._marked(window)
            found: list[Pending] = []
            # Of open calls with one id, a result cannot tell which it is for: they wait together.
            waits: set[str] = set()
            for (turn, _), call in late.providers.open_calls(window.turns):
                if call.id is not None and window.owners[turn] <= ends.get(call.id, -1):
                    waits.add(call.id)
                waiting = call.id in waits or call.name in self._questions
                found.append(Pending(call.id, call.name, call.arguments, waiting))
            return found

    # ── forking, making it shorter ──

    def fork(self, conversation: str | None = None, title: str | None = None) -> Self:
        """Another history that begins with everything this one holds."""
        with self._lock:
            self._settle()
            questions = tuple(self._questions)
            chain = [e for e in self._log.chain(self._log.head) if e.kind != "branch"]
            if self._store is not None:
                store, head = self._store, self._log.head
                name = conversation or str(uuid4())
                slot = store.slot(name)
                held = late.sharing.lease(slot, lambda: store.fork(name, chain, head), fresh=True)
                return type(self)._over(held, questions, None, title)
            other = type(self)(questions=questions)
            known: dict[int, JournalEntry] = {}
            for entry in chain:
                other._log.add(_again(entry, known))
            return other

    def compact(self, summary: str, keep_turns: int = 0) -> int:
        """Put a summary in place of what was said; returns how many messages it hides.

        The last `keep_turns` turns stay, and so does a call without a result with what follows.
        """
        if not isinstance(summary, str):
            raise RirekiError("bad-summary", kind=type(summary).__name__)
        with self._alone():
            window = self._window()
            first = window.last_turns(keep_turns, len(self._log.view.lead()))
            return self._hide("summary", summary, window, first)

    def trim(
        self,
        max_tokens: int | None = None,
        turns: int | None = None,
        counter: Counter | None = None,
    ) -> int:
        """Hide the oldest turns; returns how many messages that are.

        Keeps the last `turns`, or as many as fit into `max_tokens` by the `counter` of a message
        (an estimate unless given), one at least; instructions and a summary at the top stay. A
        call is never cut from its result.
        """
        if (max_tokens is None) == (turns is None):
            raise RirekiError("trim-to-what")
        with self._alone():
            window = self._window()
            lead = len(self._log.view.lead())
            if turns is not None:
                first = window.last_turns(max(turns, 1), lead)
            else:
                first = window.fitting(max_tokens or 0, counter or late.window.estimate, lead)
            return self._hide("trim", None, window, first) if first > lead else 0

    # ── for a provider ──

    def validate(self, provider: Provider, model: str | None = None) -> list[Problem]:
        """What the provider would not take as it stands; calls that wait for a person are fine."""
        with self._lock:
            return late.providers.problems(provider, self._turns(), model, self._waiting())

    def repair(self) -> list[Pending]:
        """Answer every call that was cut off with a marked result; returns those calls.

        Once is enough: the next time there is nothing to do. Calls that wait for a person stay.
        """
        with self._alone():
            broken = [call for call in self.pending_calls() if not call.waiting]
            window = self._window()
            mended = late.providers.repair(window.turns, self._waiting())
            self._record(list(self._repairs(window, mended)))
            return broken

    def search(self, query: str, limit: int = 20) -> list[Hit]:
        """Messages of this history that answer a query, hidden ones included, the best first."""
        with self._lock:
            if self._store is not None:
                self._refresh()
                return self._store.search(query, limit)
            if not query.strip():
                return []
            return late.store.search_in_memory(self._ever(), query, limit)

    # ── the end ──

    def close(self) -> None:
        """Let go of the file and bring what is in it into the archive."""
        with self._lock:
            if self._lease is not None:
                self._lease.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ── inside ──

    def _marked(self, window: Window) -> dict[str, int]:
        """The ids of calls that were marked as waiting, and the last message that was there then."""
        marked = self._log.view.waiting
        places = (
            {entry.id: place for place, (entry, _) in enumerate(window.items)} if marked else {}
        )
        # Where that message is gone, nothing tells an earlier call from a later one.
        return {call: places.get(last, len(window.items)) for call, last in marked.items()}

    def _waiting(self) -> set[str | None]:
        """Ids of the open calls that wait for a person; None if all without an id do."""
        found = self.pending_calls()
        broken = {call.id for call in found if not call.waiting}
        return {call.id for call in found if call.waiting} - (broken & {None})

    def _hide(self, kind: str, raw: Any, window: Window, first: int) -> int:
        keep = window.items[first][0].id if first < len(window.items) else None
        self._record([self._entry(kind, raw, None, {"keep": keep})])
        shown = {id(message) for message in self._log.view.messages}
        return sum(id(message) not in shown for _, message in window.items)

    def _repairs(self, window: Window, mended: Sequence[Turn]) -> Iterator[JournalEntry]:
        """An entry for every turn that a repair put between those of the history."""
        place = -1
        for turn in mended:
            if place + 1 < len(window.turns) and turn is window.turns[place + 1]:
                place += 1
                continue
            results = [part for part in turn.parts if isinstance(part, late.providers.Result)]
            # Calls without an id cannot be named as waiting: those of questions are left out here.
            broken = [r for r in results if r.id or r.name not in self._questions]
            after = window.items[window.owners[place]][0].id
            message = {"role": "user", "content": [mended_block(result) for result in broken]}
            if broken:
                yield self._entry("repair", message, None, {"after": after})


def _again(entry: JournalEntry, known: dict[int, JournalEntry]) -> JournalEntry:
    """The entry for another log, sharing nothing that changes; `known` are those that were made."""
    if isinstance(entry, Edit):
        return Edit(entry.id, [_item_again(item, known) for item in entry.items])
    made = JournalEntry(entry.id, entry.kind, copied(entry.raw), entry.provider, dict(entry.more))
    known[id(entry)] = made
    return made


def _item_again(item: Item, known: dict[int, JournalEntry]) -> Item:
    """The same message of the same entry as they are in the other log."""
    entry, message = item
    made = known.get(id(entry)) or _again(entry, known)
    place = next(place for place, one in enumerate(entry.messages) if one is message)
    return made, made.messages[place]
