"""The agent of one driven conversation: started when there is something to do, given one prompt
at a time, ended with nothing left open.

Every end goes the same way: first the journal tells it, then it is done. Knows no person; what
people do comes through the session.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal

from rireki.drive.checks import checked_start
from rireki.drive.driver import (
    AgentError,
    AgentGone,
    AgentTask,
    Driver,
    Maker,
    Reason,
    Reply,
    TurnEnd,
    gone_by_itself,
)
from rireki.drive.leftover import end_leftover, forget_process
from rireki.drive.session_state import Book
from rireki.drive.sink import Offer, Reports
from rireki.drive.values import AskAnswer, Prompt, State
from rireki.errors import RirekiError

__all__ = ["PATIENCE", "Runner"]

#: Seconds after which it is told that an agent does not stop.
PATIENCE = 10.0
#: Who acts when nobody does.
BRIDGE = "bridge"
_FORGETFUL = "This agent cannot go on with a conversation: it does not know what was said before."


class Runner:
    """`work` is what the agent is started for; None when it is not to be had (`missing`)."""

    def __init__(
        self, book: Book, maker: Maker, work: AgentTask | None, missing: AgentGone | None
    ) -> None:
        self.work = work
        self.driver: Driver | None = None
        self.stopping = False
        #: For people: what has no entry of its own.
        self.detail = ""
        self.quiet_since = time.monotonic()
        self._book = book
        self._maker = maker
        #: Held while the agent is ended: nothing may start another one meanwhile.
        self._ending = asyncio.Lock()
        self._missing = missing
        self._reports: Reports | None = None
        #: Starts the agent, gives it prompts, or notices its end; there is at most one.
        self._task: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._late: asyncio.TimerHandle | None = None
        #: The journal could not be written: nothing goes on until the person does something.
        self._blocked = False
        self._failing = False
        #: The process ended by itself while something else was being done.
        self._lost: tuple[int | None, str] | None = None

    # ── how it stands ──

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def state(self) -> State:
        log = self._book.log
        if self.stopping:
            return "stopping"
        if log.asks:
            return next(iter(log.asks.values())).state
        if log.turn is not None:
            return "working"
        if self.driver is not None and not self._ready.is_set():
            return "starting"
        if self._book.recovered:
            # A yes to prompts is asked for like one to a command.
            return "permission"
        if self.driver is not None:
            return "idle"
        if log.state == "failed":
            return "failed"
        return "starting" if self.busy else "ended"

    @property
    def offer(self) -> Offer:
        return self._reports.offer if self._reports is not None else Offer()

    # ── what the session wants ──

    def wake(self, *, start: bool = False) -> None:
        """Have the queue worked off, by an agent that is started if there is none."""
        self._blocked = False
        self._go(start)

    async def begun(self) -> None:
        """Wait until an agent is there, or could not be had."""
        self.wake(start=True)
        if self._task is not None and not self._ready.is_set():
            ready = asyncio.create_task(self._ready.wait())
            await asyncio.wait([self._task, ready], return_when=asyncio.FIRST_COMPLETED)
            ready.cancel()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Nothing is started meanwhile, and a failure that is being told has been told."""
        async with self._ending:
            if self._failing and self._task is not None:
                await asyncio.wait([self._task])
            yield

    def reply(self, ask: str, reply: Reply) -> None:
        if self._reports is not None:
            self._reports.reply(ask, reply)

    async def stop(self, by: str) -> None:
        """Ask the agent to end its turn."""
        if self._book.log.turn is None or self.driver is None or self.stopping:
            return
        self.stopping = True
        self._late = asyncio.get_running_loop().call_later(PATIENCE, self._tell_late)
        self._book.keep("stop", by=by)
        self._close_asks("cancelled", by)
        with suppress(AgentGone, AgentError):
            await self.driver.cancel()

    async def end(self, reason: Reason, state: State | None, detail: str, *, firmly: bool) -> None:
        """Give the agent up, whatever it does. `state` None: it will be started again."""
        task, self._task = self._task, None
        driver = self._forget()
        if task is not None and task is not asyncio.current_task():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self.close_turn(reason)
        if state is not None:
            self.tell_end(state, detail)
        self.detail = ""
        if driver is not None:
            if firmly:
                driver.kill()
            await driver.close()
            forget_process(self._book.journal.path)
        self.quiet_since = time.monotonic()
        self._book.changed()
        if state is not None:
            self._book.close()

    def tell_end(self, state: State, detail: str) -> None:
        """A later process sees by the last line alone whether something still waits."""
        waiting = {"waiting": len(self._book.log.waiting)} if self._book.log.waiting else {}
        self._book.keep("state", state=state, detail=detail, **waiting)

    def end_before(self) -> None:
        """Nothing that an earlier process left open goes on: neither its agent nor its turn."""
        # Whoever else may write it has an agent that works.
        self._book.open()
        end_leftover(self._book.journal.path, self._book.log.process)
        self.close_turn("interrupted")

    def close_turn(self, reason: Reason, usage: dict[str, Any] | None = None) -> None:
        """Nothing of the turn is open after this."""
        self._book.settle_text()
        self._close_asks("cancelled" if self.stopping else "expired", BRIDGE)
        for call in list(self._book.log.calls):
            self._book.keep("result", call=call, status="cancelled", output="")
        if self._book.log.turn is not None:
            more = {"usage": usage} if usage else {}
            self._book.keep("turn_end", prompt=self._book.log.turn, reason=reason, **more)
        self.stopping = False
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _close_asks(self, outcome: Literal["expired", "cancelled"], by: str) -> None:
        for ask in list(self._book.log.asks):
            self._book.keep("answer", id=ask, outcome=outcome, by=by)
            self.reply(ask, Reply(outcome, AskAnswer()))

    # ── working the queue off ──

    def _go(self, start: bool = False) -> None:
        if self.busy or self._ending.locked() or self._blocked:
            return
        if self._book.next is not None or (start and self.driver is None):
            self.quiet_since = time.monotonic()
            self._run(self._work(start))
            self._book.changed()

    def _run(self, doing: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.create_task(doing, name=f"rireki.drive {self._book.id}")
        self._task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        """Whatever came meanwhile is taken up now."""
        if task.cancelled() or task is not self._task:
            return
        self.quiet_since = time.monotonic()
        error = task.exception()
        if error is not None:
            self._mistake(error)
        elif self._lost is not None and self.driver is not None:
            self._on_gone(*self._lost)
        else:
            # How it stands also depends on whether something is being done.
            self._book.changed()
            self._go()

    def _mistake(self, error: BaseException) -> None:
        """A bug keeps its traceback, and does not leave a conversation that seems to work."""
        what = {"message": f"the agent of {self._book.id}", "exception": error}
        asyncio.get_running_loop().call_exception_handler(what)
        if self.driver is not None or self._book.log.turn is not None:
            mistake = AgentGone("our-mistake", kind=type(error).__name__, why=error)
            self._run(self._fail(mistake))

    async def _work(self, start: bool) -> None:
        try:
            while start or self._book.next is not None:
                if self.driver is None:
                    await self._start()
                start = False
                prompt = self._book.next
                if prompt is not None:
                    await self._turn(prompt)
        except AgentGone as gone:
            await self._fail(gone)
        except RirekiError as error:
            # The journal cannot be written: the queue waits, and the person is told.
            self._blocked = True
            self._tell(error.message)

    async def _start(self) -> None:
        log = self._book.log
        if self.work is None:
            assert self._missing is not None
            raise self._missing
        self._check(self.work)
        if self._reports is None:
            self.end_before()
        if log.state != "starting" or log.held:
            self._book.write("state", state="starting")
        self.detail = ""
        continues = self._resumed()
        driver = self._make(self.work)
        try:
            native = await driver.start(continues)
        except AgentError as error:
            assert log.origin is not None
            if log.remembered or continues == log.origin.continues:
                raise AgentGone(error.code, **error.values) from error
            # It crashed before it had saved anything: there is nothing to go on with.
            await driver.close()
            driver = self._make(self.work)
            native = await driver.start(None)
        if native is not None and native != log.native and self._reports is not None:
            self._reports.session(native)
        self._ready.set()
        self._book.changed()

    def _check(self, work: AgentTask) -> None:
        try:
            checked_start(work.project, work.roots)
        except RirekiError as error:
            raise AgentGone(error.code, **error.values) from error

    def _make(self, work: AgentTask) -> Driver:
        self._forget()
        self._reports = Reports(self._book, work.agent.source, self._on_gone)
        self.driver = self._maker(work, self._reports)
        return self.driver

    def _resumed(self) -> str | None:
        """The conversation to go on with, as the agent calls it."""
        log = self._book.log
        if log.native is None:
            return log.origin.continues if log.origin is not None else None
        if log.resumable:
            return log.native
        if log.remembered:
            self._book.keep("note", text=_FORGETFUL, level="warning")
        return None

    async def _turn(self, prompt: Prompt) -> None:
        assert self.driver is not None
        # Before it is handed over: a prompt may be told as interrupted, but is never given twice.
        self._book.write("given", id=prompt.id)
        self.detail = ""
        try:
            end = await self.driver.prompt(prompt)
        except AgentError as error:
            self._book.settle_text()
            text = f"{error.message}\n{error.hint}".strip()
            self._book.keep("note", text=text, level="error")
            self.detail = error.message
            end = TurnEnd("failed")
        self.close_turn("cancelled" if self.stopping else end.reason, end.usage)

    # ── ends that nobody asked for ──

    async def _fail(self, gone: AgentGone) -> None:
        """The agent is gone, or never came: told with what it printed last."""
        driver = self._forget()
        self.close_turn("cancelled" if self.stopping else "failed")
        detail = f"{gone.message}\n{gone.hint}".strip()
        self._book.keep("state", state="failed", detail=detail)
        self.detail = ""
        if driver is not None:
            self._failing = True
            driver.kill()
            await driver.close()
            forget_process(self._book.journal.path)
            self._failing = False
        if self._book.next is None:
            self._book.close()

    def _on_gone(self, code: int | None, printed: str) -> None:
        """The process ended by itself. In a turn, the turn tells; else nobody waited for it."""
        self._lost = (code, printed)
        if self.busy or self.driver is None:
            return
        if code == 0:
            self._run(self._leave("the agent ended by itself"))
        else:
            self._run(self._fail(gone_by_itself(code, printed)))

    async def _leave(self, detail: str) -> None:
        async with self._ending:
            await self.end("interrupted", "ended", detail, firmly=True)
        self._go()

    def _forget(self) -> Driver | None:
        driver, self.driver = self.driver, None
        if self._reports is not None:
            self._reports.detach()
        self._ready.clear()
        self._lost = None
        return driver

    def _tell(self, detail: str) -> None:
        self.detail = detail
        self._book.changed()

    def _tell_late(self) -> None:
        self._tell(f"The agent has not stopped for {PATIENCE:.0f} seconds; it can be killed.")
