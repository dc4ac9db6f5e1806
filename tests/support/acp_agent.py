"""A scripted agent that speaks the Agent Client Protocol: what it does, the prompt's first word says.

    echo WORDS            repeats the words
    stream N [SECONDS]    N pieces of text, so many seconds apart
    think                 a thought, then an answer
    tool                  a tool call with its result
    helper                what a sub-agent of its own says and does, then its own answer
    permission [COMMAND]  asks before it runs a command, and says what it was told
    question              asks two questions, and says the answers
    plan                  a list of steps, then a plan to be approved
    slow SECONDS          half an answer, and much later the other half
    image                 says which images and files came with the prompt
    stderr                prints something on stderr
    error                 refuses the prompt with an error
    crash                 half an answer, last words, and out
    exit CODE             answers, then ends
    garbage               prints what is no message between what is
    flood BYTES           one line of so many bytes
    forever [deaf]        never ends; when deaf, it takes no hint that it should
    child                 starts a process that would outlive it

Only the standard library, so that it starts quickly. The environment decides the rest:
SCRIPT_TRANSCRIPTS is a folder where it keeps transcripts like Claude Code does (and finds those it
is to load), SCRIPT_RECEIVED a file with a line per prompt it got, SCRIPT_WIRE a file with every
message in both directions; SCRIPT_CANNOT lists what it says it cannot: load, resume, image;
SCRIPT_START is slow, crash, silent or auth.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Awaitable, Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

Json = dict[str, Any]
CANNOT = os.environ.get("SCRIPT_CANNOT", "").split()
MODELS = ["small", "large"]


class Refused(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Transcript:
    """The lines of one conversation, on disk when there is a folder for them."""

    def __init__(self, session: str, cwd: str) -> None:
        self.session = session
        self.cwd = cwd
        self._parent: str | None = None
        folder = os.environ.get("SCRIPT_TRANSCRIPTS")
        self.path: Path | None = None
        if folder:
            project = Path(folder) / "projects" / cwd.replace("/", "-").replace("_", "-")
            self.path = project / f"{session}.jsonl"
            if self.path.exists():
                self._parent = self.lines()[-1]["uuid"]

    def lines(self) -> list[Json]:
        assert self.path is not None
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def user(self, content: Any) -> None:
        self._write("user", {"role": "user", "content": content})

    def assistant(self, block: Json, message: str) -> None:
        usage = {"input_tokens": 10, "output_tokens": 5}
        self._write(
            "assistant",
            {
                "id": message,
                "type": "message",
                "role": "assistant",
                "model": "scripted-1",
                "content": [block],
                "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
                "usage": usage,
            },
        )

    def _write(self, kind: str, message: Json) -> None:
        if self.path is None:
            return
        line = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "type": kind,
            "message": message,
            "uuid": str(uuid.uuid4()),
            "timestamp": _now(),
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": "2.1.325",
        }
        self._parent = str(line["uuid"])
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Agent:
    def __init__(self) -> None:
        self._next = 1000
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._cancelled = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.session = ""
        self.transcript = Transcript("", "")
        self._message = ""
        self._saying = ""
        self._model = MODELS[0]
        self._deaf = False

    # ── the wire ──

    async def run(self) -> None:
        reader = asyncio.StreamReader(limit=1 << 28)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := await reader.readline():
            message = json.loads(line)
            _log("in", message)
            if "method" in message:
                task = asyncio.create_task(self._called(message))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            elif not (waiting := self._waiting.pop(message["id"])).done():
                # A turn that was stopped may have given up waiting for it.
                waiting.set_result(message)
        while self._deaf:
            await asyncio.sleep(3600)

    def put(self, message: Json) -> None:
        _log("out", message)
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    async def _called(self, message: Json) -> None:
        params = message.get("params") or {}
        if "id" not in message:
            if message["method"] == "session/cancel" and not self._deaf:
                self._cancelled.set()
            return
        answer: Json = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            if message["method"] not in METHODS:
                raise Refused(-32601, "Method not found")
            answer["result"] = await METHODS[message["method"]](self, params)
        except Refused as error:
            answer["error"] = {"code": error.code, "message": str(error)}
        except (LookupError, ValueError) as error:
            answer["error"] = {"code": -32603, "message": f"{type(error).__name__}: {error}"}
        self.put(answer)

    async def ask(self, method: str, params: Json) -> Json:
        self._next += 1
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[self._next] = future
        self.put({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
        said = await future
        result: Json = said["result"]
        return result

    def update(self, **update: Any) -> None:
        params = {"sessionId": self.session, "update": update}
        self.put({"jsonrpc": "2.0", "method": "session/update", "params": params})

    # ── requests ──

    async def initialize(self, params: Json) -> Json:
        start = os.environ.get("SCRIPT_START", "")
        if start == "crash":
            print("cannot find my own feet", file=sys.stderr, flush=True)
            os._exit(7)
        if start == "slow":
            await asyncio.sleep(1.0)
        if start == "silent":
            await asyncio.sleep(3600)
        session: Json = {} if "resume" in CANNOT else {"resume": {}}
        return {
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": "load" not in CANNOT,
                "promptCapabilities": {"image": "image" not in CANNOT},
                "sessionCapabilities": session,
            },
            "authMethods": [],
        }

    async def new(self, params: Json) -> Json:
        if os.environ.get("SCRIPT_START") == "auth":
            raise Refused(-32000, "Authentication required")
        self.session = str(uuid.uuid4())
        self.transcript = Transcript(self.session, params["cwd"])
        return {"sessionId": self.session, **self._offers()}

    async def resume(self, params: Json) -> Json:
        self.session = params["sessionId"]
        self.transcript = Transcript(self.session, params["cwd"])
        if self.transcript.path is None or not self.transcript.path.exists():
            raise Refused(-32002, "Resource not found")
        return self._offers()

    async def load(self, params: Json) -> Json:
        said = await self.resume(params)
        for line in self.transcript.lines():
            content = line["message"]["content"]
            kind = "user_message_chunk" if line["type"] == "user" else "agent_message_chunk"
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for block in blocks:
                if block["type"] == "text":
                    self.update(sessionUpdate=kind, content=block)
                elif block["type"] == "tool_use":
                    self.update(
                        sessionUpdate="tool_call",
                        toolCallId=block["id"],
                        title=block["name"],
                        status="completed",
                    )
        return said

    def _offers(self) -> Json:
        models = [{"value": name, "name": name.title()} for name in MODELS]
        option = {
            "id": "model",
            "name": "Model",
            "category": "model",
            "type": "select",
            "currentValue": self._model,
            "options": models,
        }
        modes = {
            "availableModes": [{"id": "default", "name": "Default"}],
            "currentModeId": "default",
        }
        return {"configOptions": [option], "modes": modes}

    async def set_option(self, params: Json) -> Json:
        if params["value"] not in MODELS:
            raise Refused(-32602, "Invalid params")
        self._model = params["value"]
        return {"configOptions": self._offers()["configOptions"]}

    async def prompt(self, params: Json) -> Json:
        self._cancelled.clear()
        text = next((b["text"] for b in params["prompt"] if b["type"] == "text"), "")
        _received(text)
        self.transcript.user(text)
        self._message, self._saying = f"msg_{uuid.uuid4().hex}", ""
        word, *rest = text.split(" ")
        act = ACTS.get(word, Agent.echo)
        reason = "end_turn"
        doing = asyncio.ensure_future(act(self, rest, params))
        stopped = asyncio.ensure_future(self._cancelled.wait())
        await asyncio.wait([doing, stopped], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not doing.done():
            doing.cancel()
            reason = "cancelled"
        else:
            doing.result()
        self._saved()
        return {"stopReason": reason}

    # ── what it can do ──

    def say(self, text: str) -> None:
        self._saying += text
        content = {"type": "text", "text": text}
        self.update(sessionUpdate="agent_message_chunk", content=content, messageId=self._message)

    def _saved(self) -> None:
        """What was said so far is a block of the transcript."""
        if self._saying:
            self.transcript.assistant({"type": "text", "text": self._saying}, self._message)
        self._message, self._saying = f"msg_{uuid.uuid4().hex}", ""

    def _call(self, name: str, title: str, kind: str, arguments: Json, **more: Any) -> str:
        self._saved()
        id = f"toolu_{uuid.uuid4().hex[:20]}"
        meta = {"claudeCode": {"toolName": name}}
        self.update(
            _meta=meta,
            sessionUpdate="tool_call",
            toolCallId=id,
            title=title,
            kind=kind,
            status="pending",
            rawInput={},
        )
        self.update(
            _meta=meta,
            sessionUpdate="tool_call_update",
            toolCallId=id,
            title=title,
            kind=kind,
            rawInput=arguments,
            **more,
        )
        block = {"type": "tool_use", "id": id, "name": name, "input": arguments}
        self.transcript.assistant(block, self._message)
        return id

    def _result(self, id: str, output: str, status: str = "completed") -> None:
        self.update(
            sessionUpdate="tool_call_update", toolCallId=id, status=status, rawOutput=output
        )
        failed = status == "failed"
        self.transcript.user(
            [{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}]
        )

    async def echo(self, words: list[str], params: Json) -> None:
        text = " ".join(words)
        half = len(text) // 2
        self.say(text[:half])
        self.say(text[half:])

    async def stream(self, words: list[str], params: Json) -> None:
        pause = float(words[1]) if len(words) > 1 else 0.0
        for number in range(int(words[0])):
            self.say(f"piece {number} ")
            await asyncio.sleep(pause)

    async def think(self, words: list[str], params: Json) -> None:
        content = {"type": "text", "text": "Let me see."}
        self.update(sessionUpdate="agent_thought_chunk", content=content, messageId=self._message)
        self.say("I see.")

    async def tool(self, words: list[str], params: Json) -> None:
        self.say("I will look.")
        arguments = {"file_path": f"{self.transcript.cwd}/notes.txt"}
        id = self._call("Read", "Read notes.txt", "read", arguments)
        await asyncio.sleep(float(words[0]) if words else 0.0)
        self._result(id, "1\tnothing to see here")
        self.say("There was nothing.")

    async def helper(self, words: list[str], params: Json) -> None:
        meta = {"claudeCode": {"parentToolUseId": "toolu_parent"}}
        content = {"type": "text", "text": "I am only a helper."}
        self.update(_meta=meta, sessionUpdate="agent_message_chunk", content=content)
        self.say("The helper is done.")

    async def permission(self, words: list[str], params: Json) -> None:
        command = " ".join(words) or "rm -rf build"
        arguments = {"command": command, "description": " ".join(words) or "Remove the build"}
        id = self._call("Bash", command, "execute", arguments)
        said = await self.ask(
            "session/request_permission",
            {
                "sessionId": self.session,
                "toolCall": {
                    "toolCallId": id,
                    "title": command,
                    "kind": "execute",
                    "rawInput": arguments,
                },
                "options": [
                    {
                        "optionId": "always",
                        "name": f"Always allow {' '.join(words) or 'rm'}",
                        "kind": "allow_always",
                    },
                    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
                    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
                ],
            },
        )
        outcome = said["outcome"]
        told = outcome.get("optionId", outcome["outcome"])
        allowed = told in ("allow", "always")
        self._result(id, "removed" if allowed else "refused", "completed" if allowed else "failed")
        self.say(f"I was told: {told}.")

    async def question(self, words: list[str], params: Json) -> None:
        colours = [
            {
                "const": "Blue",
                "title": "Blue — like the sky",
                "_meta": {"_claude/askUserQuestionOption": {"description": "like the sky"}},
            },
            {"const": "Red", "title": "Red"},
        ]
        own = {"type": "string", "title": "Other", "description": "Type your own answer."}
        said = await self.ask(
            "elicitation/create",
            {
                "mode": "form",
                "sessionId": self.session,
                "message": "Please answer the following questions.",
                "requestedSchema": {
                    "type": "object",
                    "properties": {
                        "question_0": {
                            "type": "string",
                            "title": "Colour",
                            "description": "Which colour?",
                            "oneOf": colours,
                        },
                        "question_0_custom": own,
                        "question_1": {
                            "type": "array",
                            "title": "Sizes",
                            "description": "Which sizes?",
                            "items": {
                                "anyOf": [
                                    {"const": "S", "title": "S"},
                                    {"const": "L", "title": "L"},
                                ]
                            },
                        },
                        "question_1_custom": own,
                    },
                },
            },
        )
        self.say(json.dumps(said, sort_keys=True))

    async def plan(self, words: list[str], params: Json) -> None:
        entries = [{"content": "Look around", "status": "completed", "priority": "high"}]
        self.update(sessionUpdate="plan", entries=entries)
        arguments = {"plan": "# Plan\n\n1. Look\n2. Leap"}
        id = self._call("ExitPlanMode", "Ready to code?", "switch_mode", arguments)
        said = await self.ask(
            "session/request_permission",
            {
                "sessionId": self.session,
                "toolCall": {
                    "toolCallId": id,
                    "title": "Ready to code?",
                    "kind": "switch_mode",
                    "rawInput": arguments,
                },
                "options": [
                    {"optionId": "default", "name": "Yes", "kind": "allow_once"},
                    {"optionId": "plan", "name": "No, keep planning", "kind": "reject_once"},
                ],
            },
        )
        told = said["outcome"].get("optionId", "cancelled")
        self._result(id, told, "completed" if told == "default" else "failed")
        self.say(f"Plan: {told}.")

    async def slow(self, words: list[str], params: Json) -> None:
        self.say("Half of it, ")
        await asyncio.sleep(float(words[0]))
        self.say("and the rest.")

    async def image(self, words: list[str], params: Json) -> None:
        kinds = [
            block.get("mimeType") if block["type"] == "image" else block["uri"]
            for block in params["prompt"]
            if block["type"] != "text"
        ]
        self.say(f"Seen: {', '.join(kinds)}")

    async def stderr(self, words: list[str], params: Json) -> None:
        print("a word on stderr", file=sys.stderr, flush=True)
        self.say("Said elsewhere.")

    async def error(self, words: list[str], params: Json) -> None:
        raise Refused(-32603, "the model is overloaded")

    async def crash(self, words: list[str], params: Json) -> None:
        self.say("I was about to")
        print("Segmentation fault of the soul", file=sys.stderr, flush=True)
        os._exit(3)

    async def exit(self, words: list[str], params: Json) -> None:
        self.say("Goodbye.")
        asyncio.get_running_loop().call_later(0.1, os._exit, int(words[0]))

    async def garbage(self, words: list[str], params: Json) -> None:
        self.say("before ")
        for line in (
            b"Traceback (most recent call last):",
            b"[1, 2, 3]",
            b"42",
            b'{"jsonrpc": "2.0", "id": [1], "result": {}}',
            b'{"jsonrpc": "2.0", "id": 77, "error": "bad"}',
            b'{"jsonrpc": "2.0", "id": 78, "result": {}}',
            b'{"jsonrpc": "2.0", "method": 5}',
            b'{"jsonrpc": "2.0", "method": "session/update", "params": {"update": 3}}',
            b'{"jsonrpc": "2.0", "method": "session/update", "params": {"update": {"sessionUpdate": []}}}',
            b'{"jsonrpc": "2.0", "id": 5000, "method": "fs/read_text_file", "params": {"path": "/etc/passwd"}}',
            b"\xff\xfe\x00\x01",
            b"",
            b'{"half": ',
        ):
            sys.stdout.flush()
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()
        self._waiting[5000] = asyncio.get_running_loop().create_future()
        self.say("after \ud83d")

    async def flood(self, words: list[str], params: Json) -> None:
        self.say("x" * int(words[0]))

    async def forever(self, words: list[str], params: Json) -> None:
        self._deaf = "deaf" in words
        if self._deaf:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            self.say("and ")
            await asyncio.sleep(0.05)

    async def child(self, words: list[str], params: Json) -> None:
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        self.say(f"child {process.pid}")


def _log(direction: str, message: Json) -> None:
    _append("SCRIPT_WIRE", json.dumps({"direction": direction, "message": message}))


def _received(text: str) -> None:
    _append("SCRIPT_RECEIVED", json.dumps(text))


def _append(variable: str, line: str) -> None:
    path = os.environ.get(variable)
    if path:
        with open(path, "a") as file:
            file.write(line + "\n")


METHODS: dict[str, Callable[[Agent, Json], Awaitable[Json]]] = {
    "initialize": Agent.initialize,
    "session/new": Agent.new,
    "session/load": Agent.load,
    "session/resume": Agent.resume,
    "session/set_config_option": Agent.set_option,
    "session/prompt": Agent.prompt,
}
ACTS: dict[str, Callable[[Agent, list[str], Json], Awaitable[None]]] = {
    "child": Agent.child,
    "crash": Agent.crash,
    "echo": Agent.echo,
    "error": Agent.error,
    "exit": Agent.exit,
    "flood": Agent.flood,
    "forever": Agent.forever,
    "garbage": Agent.garbage,
    "helper": Agent.helper,
    "image": Agent.image,
    "permission": Agent.permission,
    "plan": Agent.plan,
    "question": Agent.question,
    "slow": Agent.slow,
    "stderr": Agent.stderr,
    "stream": Agent.stream,
    "think": Agent.think,
    "tool": Agent.tool,
}


if __name__ == "__main__":
    asyncio.run(Agent().run())
