"""Searching beside the typing: a thread with its own archive, which works on what was asked last.

Knows what the finder wants to know, nothing about its screen.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rireki.archive.base import Filter
from rireki.archive.open import open_archive
from rireki.cli.commands.search import names_of
from rireki.cli.finder.state import FinderAnswer
from rireki.errors import RirekiError
from rireki.search.results import ConversationHits, Hit, Results, Scope, SearchOptions
from rireki.search.search import Search

if TYPE_CHECKING:
    from rireki.archive.base import Archive

__all__ = ["Close", "FinderQuery", "FinderWorker"]

#: Neighbours of the hit in the preview, and how many hits of a conversation are looked through for it.
CONTEXT, MANY = 3, 50
#: Seconds to wait for the end of a search, and of making the index, which stops at its next step.
PATIENCE, LONGER = 0.3, 3.0


class _Left(Exception):
    """Nobody waits any more."""


class FinderQuery(NamedTuple):
    """A query; with a `name` it is about one hit, as `show` calls it, and its neighbours."""

    ticket: int
    text: str
    wish: SearchOptions
    name: str = ""


class Close(NamedTuple):
    """A hit with its neighbours."""

    ticket: int
    name: str
    hit: Hit


class FinderWorker:
    """Takes questions and gives answers; `wake` is called whenever there is something new."""

    def __init__(self, path: Path, wake: Callable[[], None]) -> None:
        self.path = path
        self.wake = wake
        self.progress = ""
        self._done: list[FinderAnswer | Close] = []
        self._crash: BaseException | None = None
        self._wanted: FinderQuery | None = None
        self._ends = False
        self._change = threading.Condition()
        # A daemon: whoever quits need not wait for a slow search.
        self._thread = threading.Thread(target=self._run, name="search", daemon=True)

    def __enter__(self) -> FinderWorker:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._change:
            self._ends = True
            self._change.notify()
        self._thread.join(LONGER if self.progress else PATIENCE)

    def ask(self, question: FinderQuery) -> None:
        """What was asked before and not begun yet is not wanted any more."""
        with self._change:
            self._wanted = question
            self._change.notify()

    def answers(self) -> list[FinderAnswer | Close]:
        """What came out since the last time. A mistake of ours is raised here, where it is seen."""
        if self._crash is not None:
            raise self._crash
        with self._change:
            done, self._done = self._done, []
        return done

    # ── in the thread ──

    def _run(self) -> None:
        _leave_signals_to_the_main_thread()
        try:
            self._work()
        except _Left:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again in the main thread
            self._crash = error
            self.tell()

    def _work(self) -> None:
        archive = open_archive(self.path)
        search = Search(archive, _Told(self))
        try:
            while (question := self._next()) is not None:
                answer = _answer(archive, search, question)
                if answer is not None:
                    with self._change:
                        self._done.append(answer)
                    self.tell()
        finally:
            search.close()
            archive.close()

    def tell(self) -> None:
        """Wake the other side; once it has left, what it was woken with may belong to somebody else."""
        with self._change:
            if not self._ends:
                self.wake()

    def go_on(self) -> None:
        """To be asked now and then in long work."""
        if self._ends:
            raise _Left

    def _next(self) -> FinderQuery | None:
        with self._change:
            while self._wanted is None and not self._ends:
                self._change.wait()
            question, self._wanted = self._wanted, None
            return None if self._ends else question


class _Told:
    """Progress in words."""

    def __init__(self, worker: FinderWorker) -> None:
        self.worker = worker
        self.label = ""
        self.total = self.done = 0

    def start(self, label: str, total: int) -> None:
        self.worker.go_on()
        self.label, self.total, self.done = label, total, 0
        self._tell(f"{label} …")

    def advance(self, amount: int) -> None:
        self.worker.go_on()
        self.done += amount
        share = min(self.done / self.total, 1.0) if self.total else 1.0
        self._tell(f"{self.label} … {share:.0%}")

    def finish(self) -> None:
        self._tell("")

    def _tell(self, words: str) -> None:
        if words != self.worker.progress:
            self.worker.progress = words
            self.worker.tell()


def _leave_signals_to_the_main_thread() -> None:
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


def _answer(archive: Archive, search: Search, question: FinderQuery) -> FinderAnswer | Close | None:
    try:
        if question.name:
            return _close(search, question)
        results = _found(archive, search, question)
    except RirekiError as error:
        if question.name:
            # The hit is there without its neighbours.
            return None
        words = f"{error.message}. {error.hint}" if error.hint else error.message
        return FinderAnswer(question.ticket, None, {}, words)
    return FinderAnswer(question.ticket, results, names_of(results, archive))


def _found(archive: Archive, search: Search, question: FinderQuery) -> Results:
    if question.text.strip():
        return search.find(question.text, question.wish)
    limit = question.wish.limit
    newest = list(archive.conversations(Filter(hidden=False, limit=limit + 1)))
    known = archive.count()
    return Results(
        query=question.text,
        talks=[
            ConversationHits(conversation=conversation, hits=[]) for conversation in newest[:limit]
        ],
        messages=0,
        conversations=known,
        exact=True,
        more=len(newest) > limit,
        scope=Scope(conversations=known, until=newest[0].updated_at if newest else None),
    )


def _close(search: Search, question: FinderQuery) -> Close | None:
    """The same query once more, within one conversation: to read all for their neighbours is slow."""
    id, _, message = question.name.partition("#")
    wish = SearchOptions(limit=1, newest=question.wish.newest, context=CONTEXT, hits=MANY)
    results = search.find(f'{question.text} id:"{id}"', wish)
    for talk in results.talks:
        for hit in talk.hits:
            if hit.message == message:
                return Close(question.ticket, question.name, hit)
    return None
