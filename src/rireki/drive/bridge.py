"""All driven conversations of one process: starting, finding, listening, and waking up after a crash.

Knows where journals lie and who may work where. What happens in a conversation is its session's.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from rireki.drive.agents import AgentProgram
from rireki.drive.checks import checked_name, checked_project
from rireki.drive.driver import AgentGone, AgentTask, Maker, driver_of, warm_up, warnings_of
from rireki.drive.events import Event, Fan
from rireki.drive.journal import Counter, ended
from rireki.drive.reduce import SessionLog, SessionOrigin
from rireki.drive.session import Session
from rireki.drive.session_state import Book
from rireki.errors import NotFound, RirekiError, Wording
from rireki.home import Home
from rireki.journals.session_entry import parse
from rireki.sources.kit.places import Places

__all__ = ["Bridge", "Settings"]

#: The conversations that exist only in journals of ours.
OWN = "bridge/"
#: What no agent is told.
SECRETS = ("RIREKI_TOKEN",)
#: Seconds between two looks for agents that have nothing to do.
ROUND = 30.0


class Settings(msgspec.Struct, frozen=True):
    archive: Path
    places: Places
    #: Agents work only in directories under these.
    roots: tuple[Path, ...]
    agents: tuple[AgentProgram, ...]
    #: Seconds after which an agent that has nothing to do is ended; a prompt starts it again.
    idle_after: float = 1800.0


class Bridge:
    """Lives in one asyncio loop."""

    def __init__(self, settings: Settings, maker: Maker = driver_of) -> None:
        self.settings = settings
        self._maker = maker
        self._counter = Counter()
        self._fan = Fan()
        self._sessions: dict[str, Session] = {}
        self._rounds: asyncio.Task[None] | None = None
        self._warm: asyncio.Future[None] | None = None

    async def open(self, *, recover: bool = True) -> None:
        """Take up what a crash left behind; `recover=False` leaves all of it alone."""
        if recover:
            for path in await asyncio.to_thread(self._unfinished):
                self._recover(path)
        self._rounds = asyncio.create_task(self._make_rounds(), name="rireki.drive rounds")
        if any(agent.protocol == "acp" and agent.found for agent in self.settings.agents):
            # The first agent, and whoever sends a prompt meanwhile, need not wait for it.
            self._warm = asyncio.get_running_loop().run_in_executor(None, warm_up)

    async def close(self) -> None:
        """End all agents, politely, then firmly."""
        if self._rounds is not None:
            self._rounds.cancel()
            with suppress(asyncio.CancelledError):
                await self._rounds
        await asyncio.gather(*(session.close() for session in self._sessions.values()))
        self._fan.close()
        if self._warm is not None:
            await self._warm

    # ── finding ──

    def sessions(self) -> list[Session]:
        """Those that run or ran lately, the latest to begin first."""
        return sorted(self._sessions.values(), key=lambda s: s.origin.at, reverse=True)

    def session(self, id: str) -> Session:
        """By drive id or conversation id; raises NotFound."""
        drive = id.removeprefix(OWN)
        if "/" not in drive:
            session = self._sessions.get(drive) or self._load(drive)
            session.refresh()
            return session
        for session in self.sessions():
            if session.conversation == id:
                session.refresh()
                return session
        for path in self._journals():
            if path.stem not in self._sessions and _conversation_of(path) == id:
                return self._load(path.stem)
        raise NotFound("not-driven-here", id=id)

    def listen(self, after: int | None) -> AsyncIterator[Event]:
        """What happens in all sessions; at first what came with or after the event `after`."""
        return self._fan.listen(after).events()

    # ── starting ──

    async def start(
        self,
        id: str,
        project: str,
        agent: str,
        *,
        model: str | None = None,
        continues: str | None = None,
        by: str,
    ) -> Session:
        """Begin a conversation; the same id again gives the same session.

        `continues` is the id of an archived conversation of the agent's source.
        """
        path = Home(self.settings.archive).session(id)
        with suppress(NotFound):
            return self._same(self.session(id), project, agent)
        directory = checked_project(project, self.settings.roots)
        found = self._agent(agent)
        native = self._continued(continues, found) if continues else None
        if model is not None:
            checked_name(model, "bad-model-name")
        book = Book(id, path, self._counter, self._fan)
        more = {"model": model, "continues": native}
        book.write(
            "start",
            agent=found.name,
            source=found.source,
            project=str(directory),
            **{name: value for name, value in more.items() if value},
            by=by,
        )
        session = self._add(book)
        if session.work is not None and native is None:
            session.warnings = await asyncio.to_thread(warnings_of, session.work)
        session.wake(start=True)
        await book.settle()
        return session

    def _same(self, session: Session, project: str, agent: str) -> Session:
        origin = session.origin
        if origin.agent == agent and Path(origin.project) == Path(project).resolve():
            return session
        raise RirekiError(
            "session-exists", id=session.id, agent=origin.agent, project=origin.project
        )

    def _agent(self, name: str) -> AgentProgram:
        agent = next((a for a in self.settings.agents if a.name == name), None)
        if agent is None:
            raise NotFound("no-agent", name=name, names=[a.name for a in self.settings.agents])
        if not agent.found:
            raise RirekiError("agent-unavailable", hint=agent.reason, agent=agent.title)
        return agent

    def _continued(self, conversation: str, agent: AgentProgram) -> str:
        """The agent's own id of an archived conversation that it can go on with."""
        source, _, native = conversation.partition("/")
        if conversation.startswith(OWN):
            raise RirekiError("driven-here", id=conversation)
        if agent.source != source:
            able = [a.name for a in self.settings.agents if a.source == source]
            other = Wording("choose-its-writer", names=able) if able else ""
            raise RirekiError("not-its-agent", hint=other, agent=agent.title, id=conversation)
        for session in self._sessions.values():
            if session.conversation == conversation and session.runs:
                raise RirekiError("driven-already", id=conversation, other=session.id)
        return checked_name(native, "bad-conversation-id")

    # ── sessions in memory ──

    def _add(self, book: Book) -> Session:
        origin = book.log.origin
        assert origin is not None
        agent = next((a for a in self.settings.agents if a.name == origin.agent), None)
        work, missing = None, AgentGone("agent-not-in-settings", name=origin.agent)
        if agent is not None and agent.found:
            work = self._work(book.id, agent, origin)
        elif agent is not None:
            missing = AgentGone("agent-missing", agent=agent.title, why=agent.reason)
        session = Session(book, self._maker, work, missing)
        self._sessions[session.id] = session
        self._fan.sessions[session.id] = session
        return session

    def _work(self, id: str, agent: AgentProgram, origin: SessionOrigin) -> AgentTask:
        environment = {k: v for k, v in os.environ.items() if k not in SECRETS}
        return AgentTask(
            id=id,
            agent=agent,
            project=Path(origin.project),
            model=origin.model,
            archive=self.settings.archive,
            places=self.settings.places,
            environment={**environment, **agent.environment},
            roots=self.settings.roots,
        )

    def _load(self, id: str) -> Session:
        book = Book(id, Home(self.settings.archive).session(id), self._counter, self._fan)
        book.peek()
        if book.log.origin is None:
            raise NotFound("never-driven", id=id)
        return self._add(book)

    def _journals(self) -> Iterator[Path]:
        """The latest first."""
        folder = Home(self.settings.archive).bridge
        files = [path for path in folder.glob("*.jsonl") if path.is_file()]
        return iter(sorted(files, key=lambda path: path.stat().st_mtime, reverse=True))

    def _unfinished(self) -> list[Path]:
        return [path for path in self._journals() if not ended(path)]

    def _recover(self, path: Path) -> None:
        if path.stem in self._sessions:
            return
        book = Book(path.stem, path, self._counter, self._fan)
        # Another process that drives it goes on with it; what is no journal, or cannot be opened, is
        # left alone: whoever wants to go on with it is told why.
        with suppress(RirekiError):
            book.open()
            if book.log.origin is None:
                book.close()
                return
            session = self._add(book)
            session.recover()
            if session.state == "failed" and not book.log.waiting:
                del self._sessions[session.id], self._fan.sessions[session.id]

    async def _make_rounds(self) -> None:
        """End agents that have had nothing to do for long, then forget what has ended."""
        after = self.settings.idle_after
        while True:
            await asyncio.sleep(min(ROUND, after / 2))
            for session in list(self._sessions.values()):
                if time.monotonic() - session.quiet_since < after:
                    continue
                if session.is_idle:
                    await session.rest()
                elif session.state == "ended":
                    del self._sessions[session.id]
                    session.book.close()
                    self._fan.gone(session.id, self._counter.next())


def _conversation_of(path: Path) -> str | None:
    """The conversation of the agent's that a journal belongs to; most of it is not looked at."""
    log = SessionLog()
    with path.open("rb") as file:
        for line in file:
            if b'"kind":"start"' in line or b'"kind":"session"' in line:
                entry = parse(line)
                if entry is not None:
                    log.add(entry)
    return log.conversation
