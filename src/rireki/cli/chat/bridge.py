"""The bridge in a thread of its own, for a person who has the main thread.

Everything of the bridge happens in its loop; here it is called from outside, one thing at a time.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import uuid
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rireki.drive.bridge import Bridge, Settings
from rireki.drive.values import AskAnswer, Prompt, PromptReceipt, Status
from rireki.errors import NotFound
from rireki.home import Home
from rireki.journals.session_entry import BridgeEntry, parse

if TYPE_CHECKING:
    from rireki.drive.events import Event
    from rireki.drive.session import Session
    from rireki.journals.session_entry import BridgeEntry

__all__ = ["Running", "Trail"]

T = TypeVar("T")
BY = "terminal"


class Running:
    """One conversation that is driven; made and ended by `with`."""

    def __init__(
        self, settings: Settings, project: str, agent: str, model: str | None, continues: str | None
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="rireki-bridge")
        self._bridge = Bridge(settings)
        self._wanted = (project, agent, model, continues)
        self._events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._listening: asyncio.Task[None] | None = None
        self._session: Session | None = None
        self._trail: Trail | None = None

    def __enter__(self) -> Running:
        self._thread.start()
        try:
            self._run(self._begin())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    @property
    def session(self) -> Session:
        assert self._session is not None
        return self._session

    def send(self, text: str) -> PromptReceipt:
        prompt = Prompt(id=str(uuid.uuid4()), text=text)
        return self._run(self.session.send(prompt, BY))

    def answer(self, ask: str, answer: AskAnswer) -> PromptReceipt:
        return self._run(self.session.answer(ask, answer, BY))

    def stop(self) -> None:
        self._run(self.session.stop(BY))

    def status(self) -> Status:
        return self._run(self._status())

    def wake(self) -> None:
        """Have the agent there, although nothing is to be given to it yet."""
        self._run(self._wake())

    def warnings(self) -> list[str]:
        return list(self.session.warnings)

    def events(self) -> Iterator[tuple[Event, list[BridgeEntry]]]:
        """What happens, as it does, with what the journal tells besides; until the bridge is closed."""
        assert self._trail is not None
        while (event := self._events.get()) is not None:
            if event.kind == "settled":
                self._trail.settled(event.more["block"])
            yield event, self._trail.entries()

    def leave(self) -> Status:
        """End the agent; how the conversation stands then."""
        self._run(self._bridge.close())
        return self._run(self._status())

    # ── in the loop ──

    async def _begin(self) -> None:
        project, agent, model, continues = self._wanted
        # What others left unfinished is not for a terminal to take up.
        await self._bridge.open(recover=False)
        self._listening = asyncio.create_task(self._listen())
        await asyncio.sleep(0)
        self._session = self._known()
        if self._session is None:
            id = str(uuid.uuid4())
            self._follow(id)
            self._session = await self._bridge.start(
                id, project, agent, model=model, continues=continues, by=BY
            )

    def _known(self) -> Session | None:
        """The session that drove the conversation before. Raises an error when another process does."""
        project, agent, model, continues = self._wanted
        if continues is None:
            return None
        try:
            session = self._bridge.session(continues)
        except NotFound:
            return None
        session.book.open()
        origin = session.origin
        elsewhere = project != origin.project and Path(project).resolve() != Path(origin.project)
        if origin.agent != agent or model not in (None, origin.model) or elsewhere:
            session.book.close()
            return None
        self._follow(session.id)
        return session

    def _follow(self, id: str) -> None:
        self._trail = Trail(Home(self._bridge.settings.archive).session(id))

    async def _listen(self) -> None:
        async for event in self._bridge.listen(None):
            self._events.put(event)
        self._events.put(None)

    async def _status(self) -> Status:
        return self.session.status

    async def _wake(self) -> None:
        self.session.wake(start=True)

    async def _close(self) -> None:
        await self._bridge.close()
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _end(self) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


class Trail:
    """The journal of a conversation, read on while it is written: what is told besides the text.

    Text is shown as it streams; everything else waits until the text before it was shown whole.
    """

    def __init__(self, path: Path) -> None:
        """What is in it already is not told again."""
        self._path = path
        self._place = path.stat().st_size if path.exists() else 0
        self._rest = b""
        self._waiting: list[BridgeEntry] = []
        self._shown: set[str] = set()

    def settled(self, block: str) -> None:
        """The text of a block was shown to its end."""
        self._shown.add(block)

    def entries(self) -> list[BridgeEntry]:
        """What may be told now, in order."""
        self._waiting += self._new()
        count = next(
            (n for n, entry in enumerate(self._waiting) if self._is_ahead(entry)),
            len(self._waiting),
        )
        told, self._waiting = self._waiting[:count], self._waiting[count:]
        return told

    def _is_ahead(self, entry: BridgeEntry) -> bool:
        return entry.kind in ("text", "thought") and entry.text("block") not in self._shown

    def _new(self) -> list[BridgeEntry]:
        try:
            with self._path.open("rb") as file:
                file.seek(self._place)
                data = file.read()
        except FileNotFoundError:
            return []
        self._place += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [entry for line in lines if (entry := parse(line)) is not None]
