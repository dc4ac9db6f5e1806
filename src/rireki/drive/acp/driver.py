"""Agents that speak the Agent Client Protocol, over the pipes of a process of their own.

The protocol's package keeps requests and their answers together; what the agent streams goes
past it, since most of the traffic is short pieces of text. Nothing an agent prints can end the
bridge: what is not the protocol is shown as what it printed. Knows no journal.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime, timezone
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rireki.drive.acp import asks, updates
from rireki.drive.acp.quirks import asking_mode, seconds_until_safe
from rireki.drive.acp.wire import Wire
from rireki.drive.driver import (
    AgentError,
    AgentGone,
    AgentTask,
    Reason,
    Sink,
    TurnEnd,
    gone_by_itself,
)
from rireki.drive.process import end_group
from rireki.drive.values import Prompt
from rireki.errors import Wording
from rireki.late import LateModule

# Optional, and a second of work: `_import` does it, beside the start of the agent.
if TYPE_CHECKING:
    import acp
    from acp import connection, meta
else:
    acp, connection, meta = map(LateModule, ("acp", "acp.connection", "acp.meta"))

__all__ = ["AcpDriver"]

#: Seconds an agent has to begin (the first start of one may download it), and to load a conversation.
BEGIN = 120.0
#: Seconds without a word after which it has repeated all of a conversation.
QUIET = 0.25
#: Seconds it has to end by itself, at each step.
END = 2.0
#: Bytes of what it printed on stderr that are kept.
PRINTED = 65_536
_AUTHENTICATE = -32000
_REASONS: dict[str, Reason] = {
    "end_turn": "end_turn",
    "cancelled": "cancelled",
    "max_tokens": "max_tokens",
    "max_turn_requests": "max_turn_requests",
    "refusal": "refusal",
}


class AcpDriver:
    takes_reasons = False

    def __init__(self, work: AgentTask, sink: Sink) -> None:
        self._work = work
        self._sink = sink
        self._process: asyncio.subprocess.Process | None = None
        self._connection: Any = None
        self._tasks: list[asyncio.Task[None]] = []
        self._printed = bytearray()
        self._updates = updates.Updates(sink)
        self._session = ""
        self._takes_images = False
        self._killed = False
        self._ended = asyncio.Event()

    # ── what a session wants ──

    async def start(self, continues: str | None) -> str | None:
        await asyncio.to_thread(_import)
        await self._spawn()
        try:
            async with asyncio.timeout(BEGIN):
                can = await self._initialize()
                native = await self._begin(can, continues)
                await self._have_it_ask()
                await self._choose_model()
        except TimeoutError:
            raise AgentGone(
                "agent-too-slow", hint=self._last_words(), agent=self._name, n=BEGIN
            ) from None
        return native

    async def prompt(self, prompt: Prompt) -> TurnEnd:
        if prompt.images and not self._takes_images:
            raise AgentError("agent-without-images", agent=self._name)
        said = await self._request(
            "session_prompt",
            {"sessionId": self._session, "prompt": _content(prompt, self._work.project)},
        )
        reason = _REASONS.get(str(said.get("stopReason")), "end_turn")
        usage = said.get("usage")
        return TurnEnd(reason, usage if isinstance(usage, dict) else None)

    async def cancel(self) -> None:
        if self._connection is not None:
            with suppress(ConnectionError):
                await self._connection.send_notification(
                    meta.AGENT_METHODS["session_cancel"], {"sessionId": self._session}
                )

    async def close(self) -> None:
        self._killed = True
        if self._process is not None:
            await self._end(self._process)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._connection is not None:
            with suppress(ConnectionError):
                await self._connection.close()
        if self._process is not None:
            await _let_go(self._process)

    def kill(self) -> None:
        self._killed = True
        if self._process is not None and self._process.returncode is None:
            end_group(self._process.pid, firmly=True)

    # ── the process ──

    @property
    def _name(self) -> str:
        return self._work.agent.title

    async def _spawn(self) -> None:
        command = self._work.agent.command
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=self._work.project,
                env=self._work.environment,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                # A group of its own: it ends with all it started, and not by our Ctrl-C.
                start_new_session=True,
            )
        except OSError as error:
            raise AgentGone(
                "agent-not-started",
                agent=self._name,
                command=command[0],
                why=error.strerror or error,
            ) from error
        self._process = process
        assert process.stdin and process.stdout and process.stderr
        self._sink.process(process.pid)
        wire = Wire(process.stdout, process.stdin, self._updates.take, self._garbage)
        self._connection = connection.Connection(self._requested, wire)
        self._tasks.append(asyncio.create_task(self._listen(process.stderr)))
        self._tasks.append(asyncio.create_task(self._watch(process, wire)))

    async def _listen(self, stderr: asyncio.StreamReader) -> None:
        while data := await stderr.read(PRINTED):
            self._print(data)

    def _print(self, data: bytes) -> None:
        self._printed += data
        del self._printed[:-PRINTED]

    def _garbage(self, line: bytes) -> None:
        self._print(line + b"\n")

    async def _watch(self, process: asyncio.subprocess.Process, wire: Wire) -> None:
        """Notice its end, also when something it started keeps its pipes open."""
        await process.wait()
        with suppress(TimeoutError):
            await asyncio.wait_for(wire.finished.wait(), END)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._tasks[0]), END / 4)
        self._ended.set()
        await self._connection.close()
        if not self._killed:
            self._sink.gone(process.returncode, self._last_words())

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        """Politely, then firmly."""
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.close()
        if not await self._ends():
            end_group(process.pid, firmly=False)
            if not await self._ends():
                end_group(process.pid, firmly=True)
                await process.wait()
        # Those that it started and left behind.
        end_group(process.pid, firmly=True)

    async def _ends(self) -> bool:
        """Whether it ends by itself, soon."""
        assert self._process is not None
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), END)
        return self._process.returncode is not None

    def _last_words(self) -> str:
        return bytes(self._printed).decode("utf-8", "replace").strip()

    async def _gone(self) -> AgentGone:
        """Why the connection is not there any more."""
        process = self._process
        assert process is not None
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), END)
        if process.returncode is None:
            return AgentGone("agent-closed", hint=self._last_words(), agent=self._name)
        return gone_by_itself(process.returncode, self._last_words())

    # ── the conversation ──

    async def _initialize(self) -> dict[str, Any]:
        said = await self._request(
            "initialize",
            {
                "protocolVersion": acp.PROTOCOL_VERSION,
                "clientCapabilities": {
                    # Agents have hands of their own: files and terminals are not offered.
                    "fs": {"readTextFile": False, "writeTextFile": False},
                    "terminal": False,
                    "elicitation": {"form": {}},
                },
                "clientInfo": {"name": "rireki", "title": "rireki", "version": version("rireki")},
            },
        )
        can = said.get("agentCapabilities")
        return can if isinstance(can, dict) else {}

    async def _begin(self, can: dict[str, Any], continues: str | None) -> str:
        prompts = can.get("promptCapabilities")
        self._takes_images = isinstance(prompts, dict) and prompts.get("image") is True
        more = can.get("sessionCapabilities")
        # Going on without being told everything again is better, where it is offered.
        resume = isinstance(more, dict) and more.get("resume") is not None
        load = can.get("loadSession") is True
        where = {"cwd": str(self._work.project), "mcpServers": []}
        if continues is None:
            said = await self._request("session_new", where)
            self._session = str(said.get("sessionId") or "")
        elif resume or load:
            self._session = continues
            await self._wait_to_load(continues)
            self._updates.replaying = True
            method = "session_resume" if resume else "session_load"
            try:
                said = await self._request(method, {**where, "sessionId": continues})
                if not resume:
                    await self._hear_out()
            finally:
                self._updates.replaying = False
        else:
            raise AgentError("agent-never-goes-on", agent=self._name)
        if not self._session:
            raise AgentGone("agent-began-nothing", hint=self._last_words(), agent=self._name)
        self._updates.offered(said)
        self._sink.session(self._session, resumable=resume or load, images=self._takes_images)
        return self._session

    async def _wait_to_load(self, id: str) -> None:
        work = self._work
        now = datetime.now(timezone.utc)
        seconds = seconds_until_safe(work.agent.source, id, work.environment, now)
        if seconds:
            self._sink.note(
                f"{self._name} would lose a conversation that it loads in the minute in which it "
                f"began: it goes on in {seconds:.0f} seconds."
            )
            await asyncio.sleep(seconds)

    async def _hear_out(self) -> None:
        """Gemini CLI answers first, and repeats the conversation then."""
        heard = -1
        while heard != self._updates.heard:
            heard = self._updates.heard
            await asyncio.sleep(QUIET)

    async def _have_it_ask(self) -> None:
        work, offer = self._work, self._updates
        offered = [mode.id for mode in offer.modes]
        mode = asking_mode(work.agent.source, work.environment, offered, offer.mode)
        if mode is not None:
            await self._request("session_set_mode", {"sessionId": self._session, "modeId": mode})
            offer.mode_chosen(mode)

    async def _choose_model(self) -> None:
        model = self._work.model
        if model is None or model == self._updates.model:
            return
        how = self._updates.choosing(self._session, model)
        if how is None:
            self._sink.note(
                f"{self._name} does not let its model be chosen: it uses its own.", "warning"
            )
            return
        try:
            said = await self._request_raw(*how)
        except AgentError as error:
            offered = ", ".join(m.id for m in self._updates.models)
            self._sink.note(
                f"{self._name} does not take the model {model} ({error.message}); it offers: {offered}.",
                "warning",
            )
        else:
            self._updates.chosen(said, model)

    async def _request(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        return await self._request_raw(meta.AGENT_METHODS[name], params)

    async def _request_raw(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        try:
            said = await self._connection.send_request(method, params)
        except ConnectionError as error:
            raise await self._gone() from error
        except acp.RequestError as error:
            raise self._refused(error.code, str(error), error.data) from error
        return said if isinstance(said, dict) else {}

    def _refused(self, code: int, message: str, data: Any) -> AgentError:
        details = data.get("details") if isinstance(data, dict) else data
        told = f"{message}: {details}" if isinstance(details, str) and details else message
        hint = Wording("sign-in-first") if code == _AUTHENTICATE else ""
        return AgentError("agent-says", hint=hint, agent=self._name, what=told)

    async def _requested(self, method: str, params: Any, notification: bool) -> Any:
        """What the agent wants from us: permissions and answers, nothing else."""
        params = params if isinstance(params, dict) else {}
        if method == meta.CLIENT_METHODS["session_request_permission"]:
            self._updates.call(asks.tool_call(params))
            reply = await self._sink.ask(asks.permission(params))
            return asks.permission_reply(params, reply)
        if (
            method == meta.CLIENT_METHODS["elicitation_create"]
            and params.get("mode", "form") == "form"
        ):
            reply = await self._sink.ask(asks.question(params))
            return asks.question_reply(params, reply)
        if notification:
            return None
        raise acp.RequestError.method_not_found(method)


async def _let_go(process: asyncio.subprocess.Process) -> None:
    """Close its pipes now: something that it started may keep the other ends open for ever."""
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()
    # The loop closes them in its next rounds.
    for _ in range(3):
        await asyncio.sleep(0)


def _content(prompt: Prompt, project: Path) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if prompt.text:
        blocks.append({"type": "text", "text": prompt.text})
    for name in prompt.mentions:
        uri = (project / name).as_uri()
        blocks.append({"type": "resource_link", "name": name, "uri": uri})
    images = prompt.images
    return blocks + [
        {"type": "image", "mimeType": image.media_type, "data": image.data} for image in images
    ]


def _import() -> None:
    """The package takes a second to import: not in the loop, and not before it is needed."""
    try:
        import_module("acp")
    except ImportError as error:
        raise AgentGone("drive-not-installed") from error
