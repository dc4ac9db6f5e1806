"""The interactive finder: results as one types.

Brings together keys, state, screen and the searching thread; each of them is in a file of its own.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from rireki.cli.archive import archive_path, opened
from rireki.cli.commands import resume
from rireki.cli.commands.list_ import marks
from rireki.cli.commands.show import open_at
from rireki.cli.finder.draw import draw
from rireki.cli.finder.keys import Keys
from rireki.cli.finder.screen import FinderTerminal
from rireki.cli.finder.state import FinderAnswer, Finding
from rireki.cli.finder.worker import FinderQuery, FinderWorker
from rireki.cli.output import StandardOutput, now
from rireki.cli.pager import opens_in_the_middle
from rireki.errors import RirekiError
from rireki.search.results import SearchOptions
from rireki.show.catalogue import say
from rireki.show.hits import HitsView

if TYPE_CHECKING:
    from rireki.cli.finder.state import Action

__all__ = ["run_finder"]

#: Seconds without a key before a search, and before the preview of a hit.
PAUSE, REST = 0.06, 0.15
#: A search that takes longer says so.
SLOW = 0.4


def run_finder(newest: bool = False) -> None:
    """Let a person search; ends when they leave, or with the command that goes on with what they chose."""
    _refuse_where_it_cannot_work()
    with opened():
        # An archive that cannot be opened is said before the screen is taken.
        pass
    with FinderTerminal() as terminal, FinderWorker(archive_path(), terminal.wake) as worker:
        loop = _Loop(terminal, worker, newest)
        try:
            end = loop.run()
        finally:
            # Before the search is waited for: nobody should look at a screen that is dead.
            terminal.leave()
    if end == "interrupt":
        raise KeyboardInterrupt
    if end == "resume" and loop.state.item:
        name = loop.state.item.talk.conversation.id
        click.get_current_context().invoke(resume.command, name=name, as_json=False)


def _refuse_where_it_cannot_work() -> None:
    if (os.environ.get("TERM") or "dumb") == "dumb":
        raise RirekiError("dumb-terminal")


class _Loop:
    """Waits for keys and answers, and does what they ask for."""

    def __init__(self, terminal: FinderTerminal, worker: FinderWorker, newest: bool) -> None:
        self.terminal = terminal
        self.worker = worker
        self.keys = Keys()
        self.state = Finding(newest)
        #: When to search, to fetch the preview, to give up waiting behind an escape, to say "slow".
        self.due: dict[str, float] = {"search": 0.0}

    def run(self) -> Action:
        """Until something ends it: "quit", "interrupt" or "resume"."""
        while True:
            self._draw()
            data = self.terminal.wait(self._until_next())
            if data is None:
                return "quit"
            for action in [*self._typed(data), *self._answered(), *self._on_time()]:
                if action in ("quit", "interrupt", "resume"):
                    return action
                self._do(action)

    # ── what happened ──

    def _typed(self, data: bytes) -> list[Action]:
        before = self.state.item
        keys = self.keys.feed(data)
        if data:
            self.due.pop("escape", None)
            if patience := self.keys.patience:
                self.due["escape"] = time.monotonic() + patience
        actions = [self.state.press(key) for key in keys]
        if self.state.item is not before:
            self._plan_preview()
        return actions

    def _answered(self) -> list[Action]:
        actions: list[Action] = []
        self.state.progress = self.worker.progress
        for answer in self.worker.answers():
            if isinstance(answer, FinderAnswer):
                actions.append(self.state.take(answer))
                self.due.pop("slow", None)
                self._plan_preview()
            elif answer.ticket == self.state.ticket:
                self.state.seen[answer.name] = answer.hit
        return actions

    def _on_time(self) -> list[Action]:
        moment = time.monotonic()
        actions: list[Action] = []
        for what in [what for what, due in self.due.items() if due <= moment]:
            del self.due[what]
            if what == "search":
                self._ask()
            elif what == "preview":
                self._ask_closer()
            elif what == "slow":
                self.state.is_slow = self.state.is_searching
            elif what == "escape":
                actions += [self.state.press(key) for key in self.keys.flush()]
        return actions

    def _until_next(self) -> float | None:
        if not self.due:
            return None
        return max(min(self.due.values()) - time.monotonic(), 0.0)

    # ── what to do ──

    def _do(self, action: Action) -> None:
        if action == "search":
            self.due["search"] = time.monotonic() + PAUSE
            self.due.pop("preview", None)
        elif action == "more":
            self._ask()
        elif action == "suspend":
            self.terminal.suspend()
        elif action == "show":
            self._show()

    def _ask(self) -> None:
        state = self.state
        wish = SearchOptions(limit=state.limit, newest=state.newest)
        self.worker.ask(FinderQuery(state.ticket, state.box.text, wish))
        self.due["slow"] = time.monotonic() + SLOW

    def _plan_preview(self) -> None:
        self.due["preview"] = time.monotonic() + REST

    def _ask_closer(self) -> None:
        state = self.state
        item = state.item
        if item is None or item.hit is None or not item.hit.message or item.name in state.seen:
            return
        if not state.is_searching and state.results and not state.trouble:
            wish = SearchOptions(newest=state.newest)
            self.worker.ask(FinderQuery(state.ticket, state.results.query, wish, item.name))

    def _show(self) -> None:
        """As `rireki show` does, and back."""
        item = self.state.item
        if item is None:
            return
        self.terminal.leave()
        try:
            results = self.state.results
            open_at(item.name, results.query if results else "")
            if not opens_in_the_middle():
                click.echo(say("── Enter goes back to the search ──"))
                os.read(self.terminal.keyboard, 4096)
        except RirekiError as error:
            self.state.note = error.message
        except KeyboardInterrupt:
            # Ctrl-C ends the reading, not the search.
            pass
        finally:
            self.terminal.enter()

    def _draw(self) -> None:
        columns, rows = self.terminal.size()
        view = HitsView(now(), columns, StandardOutput().style, {}, marks)
        frame = draw(self.state, columns, rows, view)
        self.state.page = max(frame.page - 1, 1)
        self.terminal.draw(frame.lines, frame.cursor)
