"""One driven conversation, as people see it: what it shows, and what can be done with it.

Whatever a person does is in the journal before anything follows from it; how it stands is worked
out from the journal (`log.py`) and from its agent (`runner.py`). Knows no protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rireki.drive.blocks import Blocks
from rireki.drive.checks import checked_prompt, outcome_of
from rireki.drive.driver import AgentGone, AgentTask, Maker, Reply
from rireki.drive.recovered import GIVE, is_recovered, recovered_ask
from rireki.drive.reduce import SessionLog, SessionOrigin
from rireki.drive.runner import Runner
from rireki.drive.session_state import Book
from rireki.drive.values import Ask, AskAnswer, Prompt, PromptReceipt, RunningCall, State, Status
from rireki.errors import NotFound, RirekiError

__all__ = ["Session"]


class Session:
    """`work` is what its agent is started for; None when that agent is not to be had (`missing`)."""

    def __init__(
        self, book: Book, maker: Maker, work: AgentTask | None, missing: AgentGone | None = None
    ) -> None:
        self.id = book.id
        self.book = book
        #: What the person should know about its start.
        self.warnings: list[str] = []
        self._runner = Runner(book, maker, work, missing)

    # ── what is shown ──

    @property
    def log(self) -> SessionLog:
        return self.book.log

    @property
    def origin(self) -> SessionOrigin:
        assert self.log.origin is not None
        return self.log.origin

    @property
    def work(self) -> AgentTask | None:
        return self._runner.work

    @property
    def touched(self) -> int:
        return self.book.touched

    @property
    def blocks(self) -> Blocks:
        return self.book.blocks

    @property
    def calls(self) -> Mapping[str, RunningCall]:
        return self.book.calls

    @property
    def conversation(self) -> str:
        """The id under which the archive shows it."""
        return self.log.conversation or f"bridge/{self.id}"

    @property
    def runs(self) -> bool:
        """Whether an agent's process belongs to it, or is being started."""
        return self._runner.driver is not None

    @property
    def state(self) -> State:
        return self._runner.state

    @property
    def is_idle(self) -> bool:
        """Whether its agent is there and has nothing to do."""
        resting = self.log.turn is None and not self.log.asks
        return self.runs and resting and not self._runner.busy

    @property
    def quiet_since(self) -> float:
        """When something was last done, on the clock of time.monotonic()."""
        return self._runner.quiet_since

    @property
    def status(self) -> Status:
        log, origin, offer = self.log, self.origin, self._runner.offer
        recovered = self.book.recovered
        return Status(
            id=self.id,
            conversation=self.conversation,
            agent=origin.agent,
            project=origin.project,
            state=self.state,
            detail=self.book.journal.trouble or self._runner.detail or log.detail,
            number=self.touched,
            model=offer.model or origin.model,
            title=origin.title,
            queue=log.queue,
            held=log.held or bool(recovered),
            recovered=[queued.id for queued in recovered],
            asks=self._asks(),
            blocks=self.book.growing(),
            calls=list(log.calls.values()),
            prompt=log.turn,
            started_at=origin.at,
            models=offer.models,
            modes=offer.modes,
            mode=offer.mode,
            images=log.images,
            can_continue=log.resumable,
            usage=offer.usage,
        )

    def _asks(self) -> list[Ask]:
        asks = list(self.log.asks.values())
        if recovered := self.book.recovered:
            asks.append(recovered_ask(self.id, recovered))
        return asks

    # ── what the person does ──

    async def send(self, prompt: Prompt, by: str) -> PromptReceipt:
        """Store a prompt, and give it to the agent when its turn comes. The same id runs once."""
        with self._writing():
            more: dict[str, Any] = {}
            if prompt.id not in self.log.prompts:
                more = checked_prompt(prompt, self.origin.project)
                if prompt.images:
                    await self._check_images()
            # Looked at again: it may have come a second time meanwhile.
            known = prompt.id in self.log.prompts
            if not known:
                self.book.write("prompt", id=prompt.id, text=prompt.text, **more, by=by)
            await self.book.settle()
            self._runner.wake()
            return PromptReceipt(self.log.prompts[prompt.id], known)

    async def edit(self, id: str, text: str, by: str = "") -> PromptReceipt:
        """Change a prompt that was not given to the agent yet."""
        with self._writing():
            images = self._waiting(id).images
            checked_prompt(Prompt(id, text, images), self.origin.project)
            entry = self.book.write("edit", id=id, text=text, by=by)
            await self.book.settle()
            return PromptReceipt(entry.number, False)

    async def withdraw(self, id: str, by: str = "") -> PromptReceipt:
        """Take back a prompt that was not given to the agent yet."""
        with self._writing():
            self._waiting(id)
            entry = self.book.write("withdraw", id=id, by=by)
            await self.book.settle()
            return PromptReceipt(entry.number, False)

    async def answer(self, ask: str, answer: AskAnswer, by: str) -> PromptReceipt:
        """Answer what the agent asked; the answer is stored before the agent gets it."""
        with self._writing():
            if is_recovered(self.id, ask):
                return await self._answer_recovered(ask, answer, by)
            asked = self.log.asks.get(ask)
            if asked is None:
                return self._answered_before(ask, answer)
            outcome, more = outcome_of(asked, answer)
            entry = self.book.write("answer", id=ask, outcome=outcome, **more, by=by)
            driver = self._runner.driver
            if outcome == "refused" and answer.reason and not (driver and driver.takes_reasons):
                # The protocol has no place for it: so it is what the agent hears next.
                self.book.write("prompt", id=f"{ask}-reason", text=answer.reason, first=True, by=by)
            await self.book.settle()
            # With the option that was recorded: a plain refusal names none.
            said = AskAnswer(more.get("option"), answer.reason, answer.values)
            self._runner.reply(ask, Reply(outcome, said))
            return PromptReceipt(entry.number, False)

    async def proceed(self, by: str = "") -> None:
        """Go on with a queue that was held, or that an earlier process left."""
        with self._writing():
            if self.log.held or self.book.recovered:
                self.book.write("proceed", **({"by": by} if by else {}))
                self.book.confirm()
            self._runner.wake()
            self.book.changed()

    async def stop(self, by: str = "") -> None:
        """Ask the agent to end its turn. What is queued then waits for the person."""
        if self.state == "starting":
            await self.kill(by)
        else:
            await self._runner.stop(by)

    async def kill(self, by: str = "") -> None:
        """End the agent and all it started, at once. What is queued waits for the person."""
        async with self._runner.alone():
            if self.runs or self._runner.busy:
                detail = f"killed by {by}" if by else "killed"
                await self._runner.end("cancelled", "ended", detail, firmly=True)
        self._runner.wake()

    async def restart(self, by: str = "") -> None:
        """A new process that goes on with the conversation, and with what is queued."""
        async with self._runner.alone():
            self.book.open()
            await self._runner.end("cancelled", None, "", firmly=False)
            self.book.keep("state", state="starting", **({"by": by} if by else {}))
        self._runner.wake(start=True)

    # ── what the bridge does ──

    def wake(self, *, start: bool = False) -> None:
        """Have the queue worked off; `start`: have the agent there, also if nothing is queued."""
        self._runner.wake(start=start)

    def refresh(self) -> None:
        """Take in what another process may have written."""
        if not self.book.journal.is_open:
            self.book.peek()

    def recover(self) -> None:
        """Take up what a crash of the bridge left behind; it has to be open."""
        self._runner.end_before()
        if self.log.state not in ("ended", "failed"):
            self._runner.tell_end("ended", "the bridge was restarted")
        self.book.close()

    async def close(self) -> None:
        """The bridge ends: what is queued waits for the person when it comes back."""
        async with self._runner.alone():
            if self.runs or self._runner.busy:
                await self._runner.end(
                    "interrupted", "ended", "the bridge was closed", firmly=False
                )
            self.book.close()

    async def rest(self) -> None:
        """End an agent that has had nothing to do for long; a prompt starts it again."""
        async with self._runner.alone():
            if self.is_idle:
                detail = "it had nothing to do"
                await self._runner.end("interrupted", "ended", detail, firmly=False)
        self._runner.wake()

    # ── small things ──

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """As its only writer; without an agent, others may become that afterwards."""
        self.book.open()
        try:
            yield
        finally:
            if not self.runs and not self._runner.busy:
                self.book.close()

    def _waiting(self, id: str) -> Prompt:
        if id in self.log.waiting:
            return self.log.waiting[id][0]
        if id not in self.log.prompts:
            raise NotFound("no-such-prompt", prompt=id, id=self.id)
        raise RirekiError("prompt-given-already", id=id)

    async def _answer_recovered(self, ask: str, answer: AskAnswer, by: str) -> PromptReceipt:
        recovered = self.book.recovered
        if not recovered:
            raise NotFound("nothing-asked", ask=ask, id=self.id)
        asked = recovered_ask(self.id, recovered)
        if asked.id != ask:
            raise RirekiError("prompts-changed")
        # An answer that names neither option is told which there are.
        checked = outcome_of(asked, AskAnswer(option=answer.option or "no option"))[1]
        if checked["option"] == GIVE:
            await self.proceed(by)
        else:
            for queued in recovered:
                self.book.write("withdraw", id=queued.id, by=by)
            self._runner.wake()
        await self.book.settle()
        return PromptReceipt(self.log.number, False)

    def _answered_before(self, ask: str, answer: AskAnswer) -> PromptReceipt:
        ended = self.log.answers.get(ask)
        if ended is None:
            raise NotFound("nothing-asked", ask=ask, id=self.id)
        same = (ended.get("option") or None, ended.get("values")) == (answer.option, answer.values)
        if same and ended["outcome"] in ("selected", "answered", "refused"):
            return PromptReceipt(ended["number"], True)
        by = ended.get("by") or "somebody"
        how = ended.get("name") or ended["outcome"]
        raise RirekiError("ask-settled", how=how, by=by, at=ended["at"])

    async def _check_images(self) -> None:
        """Wait until it is known whether the agent takes images; an error says that it does not."""
        if self.log.images is None:
            await self._runner.begun()
            self.book.open()
        if self.log.images is None:
            agent, detail = self.origin.agent, self.log.detail
            raise RirekiError("images-not-known", hint=detail, agent=agent)
        if not self.log.images:
            raise RirekiError("images-not-taken", agent=self.origin.agent)
