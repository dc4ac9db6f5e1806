"""The agent's loop: think, act, observe, until the model answers without calling a tool.

All that is remembered is in the history: each answer and each result is kept before anything
follows from it. So a run that was killed is gone on with by `run()`, with this model or another.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

import msgspec

from rireki.agent.asking import ASK, CANCELLED, Ask, Later, ask_user
from rireki.agent.events import (
    Answered,
    Called,
    Done,
    Event,
    Failed,
    Question,
    Returned,
    Tell,
    TextDelta,
    ThinkingDelta,
)
from rireki.agent.threads import in_thread, looking_up
from rireki.agent.tools import Given, Output, Tool, gather_tools, output_of, tool
from rireki.errors import RirekiError
from rireki.history import AsyncMessageHistory, MessageHistory, Pending
from rireki.history.inputs import read_given
from rireki.providers import NeutralText, NeutralThinking, Request, decode, unwrap
from rireki.providers.kit import dumps

__all__ = ["LLM", "Agent"]

T = TypeVar("T")

_CUT_OFF = Output(
    "interrupted: it was stopped before it returned, and may have had effects", [], True
)
_NOT_RUN = Output("not run: the agent was stopped", [], True)
_NOT_WANTED = Output("not run: the user said something else before it began", [], True)
#: The note in the history that names calls which wait for the answer to a question.
_HELD = "agent.held"


class LLM(Protocol):
    """A model. `ask` may also be a coroutine function; what it blocks is a thread of its own."""

    @property
    def provider(self) -> str:
        """Whose messages it takes: anthropic, openai, responses, gemini, bedrock or ollama."""

    @property
    def model(self) -> str: ...

    def ask(self, request: Request, tools: Sequence[Tool], tell: Tell) -> Any:
        """The answer as the provider's package returns it; pieces of it are told as they come."""


class Agent:
    """A model with tools and a memory. One run at a time."""

    def __init__(
        self,
        llm: LLM,
        tools: Iterable[Given] = (),
        history: MessageHistory | AsyncMessageHistory | None = None,
        *,
        ask: Ask | None = None,
        max_steps: int = 50,
        instructions: str = "",
        run_beside_questions: bool = False,
    ) -> None:
        """`ask` answers the model's questions; without it the model cannot ask any.

        `instructions` begin a history that is empty. Calls that come together with a question
        wait for its answer, unless they are to `run_beside_questions`.
        """
        self.llm = llm
        self.history = MessageHistory() if history is None else history
        self.ask = ask
        self.max_steps = max_steps
        self.instructions = instructions
        self.run_beside_questions = run_beside_questions
        self.tools = gather_tools([*tools, *([tool(ask_user)] if ask else [])])
        self._running = False
        self._stopping = False
        #: Id and name of the calls that wait for the answer to a question.
        self._held_now: list[tuple[Any, ...]] = []

    # ── running ──

    async def run(self, text: str | None = None, *, tell: Tell | None = None) -> Done:
        """Let the model work on what the user says, or, without a text, go on where it stopped.

        Open questions are asked again when it goes on; when the user says something else instead,
        they count as declined.
        """
        if self._running:
            raise RirekiError("agent-runs-already")
        self._running, self._stopping = True, False
        tell = tell or _ignore
        try:
            await self._begin(text)
            done = await self._go(tell)
            tell(done)
            return done
        except Exception as error:
            tell(Failed(f"{type(error).__name__}: {error}"))
            raise
        finally:
            self._running = False

    def run_sync(self, text: str | None = None, *, tell: Tell | None = None) -> Done:
        """The same for programs without an event loop. Ctrl-C raises KeyboardInterrupt."""
        return asyncio.run(looking_up(self.run(text, tell=tell)))

    async def stream(self, text: str | None = None) -> AsyncIterator[Event]:
        """Run, and give each event as it happens; leaving the iteration ends the run."""
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        task = asyncio.ensure_future(self.run(text, tell=events.put_nowait))
        task.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            await task
        finally:
            task.cancel()
            await asyncio.wait([task])
            if not task.cancelled():
                # Whoever left after `Failed` knows already.
                task.exception()

    def stop(self) -> None:
        """End the run before its next step. Tools that run are waited for."""
        self._stopping = True

    async def answer(self, call_id: str, text: str | None) -> None:
        """Answer a question that is open in the history (None declines); then `run()` goes on.

        Of questions with the same id, or without one (models of Gemini and Ollama), it is the first.
        """
        if self._running:
            raise RirekiError("question-is-asked", id=call_id)
        found = (await self._waiting()).get(call_id)
        given = [_result(found, Output(CANCELLED if text is None else text))] if found else []

        def keep(history: MessageHistory) -> bool:
            # Another worker may have answered it by now.
            with history.transaction():
                is_open = found in history.pending_calls()
                history.add_tool_results(given if is_open else [])
            return is_open

        if found is None or not await self._work(keep):
            raise RirekiError("no-open-question", id=call_id, history=self.history.id or "")

    async def questions(self) -> list[Question]:
        """The questions that wait for an answer; of those with the same id, or without one, the first.

        The next one comes up when it has been answered: results without an id go by their order.
        """
        listed = [_listed(call) for call in (await self._waiting()).values()]
        return [question for question in listed if question is not None]

    async def _waiting(self) -> dict[str, Pending]:
        """The calls that a person can answer now, by id."""
        held, _ = await self._held()
        calls: list[Pending] = await self._do("pending_calls")
        found: dict[str, Pending] = {}
        for place, call in enumerate(calls):
            if call.waiting and call not in held and not _is_behind(call, calls[:place]):
                found.setdefault(call.id or "", call)
        return found

    # ── the steps ──

    async def _begin(self, text: str | None) -> None:
        held, begun = await self._held()
        await self._keep([(call, _CUT_OFF) for call in begun])
        if text is not None:
            await self._keep([(call, _NOT_WANTED) for call in held])
            await self._hold([])
        await self._do("repair")
        if text is None:
            await self._check_unfinished()
            return
        if self.instructions and not self.history.messages:
            await self._do("add_system_message", self.instructions)
        declined = [call for call in await self._do("pending_calls") if call.waiting]
        await self._keep([(call, Output(CANCELLED)) for call in declined])
        await self._do("add_user_message", text)

    async def _check_unfinished(self) -> None:
        messages = self.history.messages
        last = messages[-1] if messages else None
        spoke = not isinstance(last, dict) or last.get("role") in ("assistant", "model", "system")
        if spoke and not await self._do("pending_calls"):
            raise RirekiError("nothing-to-go-on", history=self.history.id or "")

    async def _go(self, tell: Tell) -> Done:
        said, steps = "", 0
        calls: list[Pending] = await self._do("pending_calls")
        while True:
            if not await self._act(calls, tell):
                return Done(said, "waiting", steps)
            if self._stopping:
                return Done(said, "stopped", steps)
            if steps == self.max_steps:
                return Done(said, "limit", steps)
            steps += 1
            said = await self._think(tell)
            calls = await self._do("pending_calls")
            if not calls:
                return Done(said, "answer", steps)

    async def _think(self, tell: Tell) -> str:
        """Ask the model and keep its answer; returns what it said."""
        self._held_now = []
        llm = self.llm
        request = await self._do("render", llm.provider, llm.model)
        pieces = _Pieces(tell)
        tools = list(self.tools.values())
        if inspect.iscoroutinefunction(llm.ask):
            answer = await llm.ask(request, tools, pieces.tell)
        else:
            tell_here = pieces.from_thread(asyncio.get_running_loop())
            try:
                answer = await in_thread(lambda: llm.ask(request, tools, tell_here))
            finally:
                pieces.over = True
        await self._do("add_raw_message", answer, provider=llm.provider)
        said = [m for given in read_given(answer, llm.provider) for m in unwrap(given.raw)[1]]
        parts = [p for turn in decode(llm.provider, said) for p in turn.parts]
        for part in parts if not pieces.told else ():
            if isinstance(part, NeutralText | NeutralThinking) and part.text:
                tell(
                    TextDelta(part.text)
                    if isinstance(part, NeutralText)
                    else ThinkingDelta(part.text)
                )
        return "".join(part.text for part in parts if isinstance(part, NeutralText))

    async def _act(self, calls: list[Pending], tell: Tell) -> bool:
        """Answer the calls; False if a question stays open."""
        asked = [call for call in calls if self._needs_person(call)]
        if asked and len(asked) < len(calls) and not self.run_beside_questions:
            return await self._ask_first(calls, asked, tell)
        await self._hold([])
        if asked:
            return await self._act_at_once(calls, tell)
        await self._run_tools(calls, tell)
        return True

    async def _ask_first(self, calls: list[Pending], asked: list[Pending], tell: Tell) -> bool:
        """The others wait for the answers: these may be about whether they should run at all."""
        # A result goes to the first call of its id: what stands before a question of the same id, or
        # of the same name without one, cannot wait for it.
        at_once: list[Pending] = []
        held: list[Pending] = []
        for place, call in enumerate(calls):
            if not self._needs_person(call):
                later = [one for one in calls[place:] if self._needs_person(one)]
                (at_once if any(_is_behind(one, [call]) for one in later) else held).append(call)
        await self._run_tools(at_once, tell)
        await self._hold(held)
        if not await self._act_at_once(asked, tell):
            return False
        # Before they begin: after a kill nothing is run twice.
        await self._hold([])
        await self._run_tools(held, tell)
        return True

    async def _act_at_once(self, calls: list[Pending], tell: Tell) -> bool:
        first: list[Pending] = []
        rest: list[Pending] = []
        for call in calls:
            is_first = not self._needs_person(call) and not _is_behind(call, rest)
            (first if is_first else rest).append(call)
        await self._run_tools(first, tell)
        # What the tools returned is kept by now: a person may take days.
        left: list[Pending] = []
        for call in rest:
            if _is_behind(call, left) or not await self._answer(call, tell):
                left.append(call)
        return not left

    def _needs_person(self, call: Pending) -> bool:
        """Whether it is a question, or was marked as waiting in the history."""
        if (call.id, call.name) in self._held_now:
            return False
        return self.ask is not None if call.name == ASK else call.waiting

    async def _answer(self, call: Pending, tell: Tell) -> bool:
        """Answer a call that needs a person, or stood behind one; False if it stays open."""
        if not self._needs_person(call):
            await self._run_tools([call], tell)
            return True
        # What was marked is answered with `answer()`: here it is nobody's to run.
        return call.name == ASK and await self._ask(call, tell)

    async def _run_tools(self, calls: list[Pending], tell: Tell) -> None:
        """All at once; the results are kept together, in the order of the calls."""
        outputs = [_CUT_OFF] * len(calls)

        async def run(place: int, call: Pending) -> None:
            outputs[place] = await self._run_tool(call, tell)
            if outputs[place] is not _NOT_RUN:
                tell(_returned(call, outputs[place]))

        tasks = [asyncio.ensure_future(run(place, call)) for place, call in enumerate(calls)]
        try:
            await asyncio.gather(*tasks)
        finally:
            # Also when the run is cancelled, or whoever listens fails: what did return is known,
            # and nothing runs on.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._keep(list(zip(calls, outputs, strict=True)))

    async def _run_tool(self, call: Pending, tell: Tell) -> Output:
        if self._stopping:
            return _NOT_RUN
        tell(Called(call.id or "", call.name, call.arguments))
        found = self.tools.get(call.name)
        if found is None:
            known = ", ".join(self.tools) or "none"
            return Output(f"Error: there is no tool {call.name!r}; there are: {known}", [], True)
        return await found.call(call.arguments)

    async def _ask(self, call: Pending, tell: Tell) -> bool:
        """Ask the person, and keep the answer; False if it is to come later."""
        assert self.ask is not None
        try:
            question = _question(call)
        except msgspec.ValidationError as error:
            wrong = Output(f"Error: wrong arguments for {ASK}: {error}", [], True)
            await self._keep([(call, wrong)])
            return True
        if not call.waiting and call.id:
            # This history does not take `ask_user` for a question by itself.
            await self._do("waiting", call.id)
        tell(question)
        try:
            said = self.ask(question)
            said = await said if inspect.isawaitable(said) else said
        except Later:
            return False
        except (EOFError, KeyboardInterrupt):
            said = None
        output = output_of(CANCELLED if said is None else said)
        await self._keep([(call, output)])
        tell(Answered(question.id, output.text))
        return True

    # ── the history ──

    async def _hold(self, calls: list[Pending]) -> None:
        """Note which calls wait for an answer; the latest note counts. No repair takes them for cut off."""
        named = [[call.id, call.name] for call in calls]
        self._held_now += [(call.id, call.name) for call in calls]
        notes = await self._do("notes", _HELD)
        if named == (notes[-1].value if notes else []):
            return
        await self._do("add_note", _HELD, named)
        for call in calls:
            if call.id and not call.waiting:
                await self._do("waiting", call.id)

    async def _held(self) -> tuple[list[Pending], list[Pending]]:
        """Open calls that were held back: those that still are, and those that had begun."""
        notes = await self._do("notes", _HELD)
        now = [tuple(one) for one in notes[-1].value] if notes else []
        ever = {tuple(one) for noted in notes for one in noted.value}
        self._held_now = now
        found = [call for call in await self._do("pending_calls") if (call.id, call.name) in ever]
        held = [call for call in found if (call.id, call.name) in now]
        return held, [call for call in found if call not in held]

    async def _keep(self, results: list[tuple[Pending, Output]]) -> None:
        await self._do("add_tool_results", [_result(*result) for result in results])

    async def _do(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call the history, which may be the one for event loops."""
        result = getattr(self.history, method)(*args, **kwargs)
        return await result if inspect.isawaitable(result) else result

    async def _work(self, work: Callable[[MessageHistory], T]) -> T:
        """Several calls of the history as one."""
        history = self.history
        return (
            await history.run(work) if isinstance(history, AsyncMessageHistory) else work(history)
        )


def _result(call: Pending, output: Output) -> dict[str, Any]:
    return {
        "tool_use_id": call.id or "",
        "result": output.text,
        "tool_name": call.name,
        "is_error": output.is_error,
        "images": output.images,
    }


class _Pieces:
    """Passes on what a model says while it says it, from whichever thread."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self.told = False
        self.over = False

    def tell(self, event: Event) -> None:
        self.told = True
        if not self.over:
            self._tell(event)

    def from_thread(self, loop: asyncio.AbstractEventLoop) -> Tell:
        def tell(event: Event) -> None:
            if self.over:
                # Breaks off the answer that nobody waits for any more.
                raise RirekiError("run-ended")
            self.told = True
            loop.call_soon_threadsafe(self.tell, event)

        return tell


class _Asked(msgspec.Struct):
    question: str
    options: list[str] | None = None


def _question(call: Pending) -> Question:
    read = msgspec.convert(call.arguments, _Asked, strict=False)
    return Question(call.id or "", read.question, read.options or [])


def _listed(call: Pending) -> Question | None:
    """What a person is shown of a call that waits; None if the next run answers it with an error."""
    try:
        return _question(call)
    except msgspec.ValidationError:
        if call.name == ASK:
            return None
        return Question(call.id or "", f"{call.name} {dumps(call.arguments)}")


def _is_behind(call: Pending, others: Iterable[Pending]) -> bool:
    """Whether a result of the call would be taken for that of an earlier one, which is still open.

    Of calls with the same id the first one gets it; without an id, the first one of the name.
    """
    if call.id is None:
        return any(other.name == call.name for other in others)
    return any(other.id == call.id for other in others)


def _returned(call: Pending, output: Output) -> Returned:
    return Returned(call.id or "", call.name, output.text, output.is_error)


def _ignore(event: Event) -> None:
    """For those who only want the answer."""
