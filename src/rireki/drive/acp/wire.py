"""The pipes of an agent as messages: one JSON object per line, whatever else is printed there.

What the agent streams (`session/update`) is handed on at once and in order, without a task and
a model for each piece; everything else goes to the package's connection.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

__all__ = ["LONGEST", "Wire"]

#: A line longer than this is no message.
LONGEST = 64 * 1024 * 1024
#: Bytes that are worked off in one go: about a millisecond, then it is the others' turn.
CHUNK = 1 << 15
#: How much of a line that is no message is worth showing.
WORTH = 2000
UPDATE = "session/update"


class Wire:
    """A transport for the package's connection."""

    def __init__(
        self,
        stdout: asyncio.StreamReader,
        stdin: asyncio.StreamWriter,
        on_update: Callable[[dict[str, Any]], None],
        on_garbage: Callable[[bytes], None],
    ) -> None:
        #: The agent will say nothing more.
        self.finished = asyncio.Event()
        self._stdout = stdout
        self._stdin = stdin
        self._on_update = on_update
        self._on_garbage = on_garbage
        self._messages: deque[dict[str, Any]] = deque()
        self._rest = bytearray()

    async def send(self, message: dict[str, Any]) -> None:
        if self._stdin.is_closing():
            raise ConnectionError("the agent's input is closed")
        self._stdin.write(_encode(message) + b"\n")
        await self._stdin.drain()

    async def receive(self) -> dict[str, Any] | None:
        while not self._messages:
            data = await self._stdout.read(CHUNK)
            if not data:
                self.finished.set()
                return None
            self._take(data)
            await asyncio.sleep(0)
        return self._messages.popleft()

    async def close(self) -> None:
        with suppress(OSError):
            self._stdin.close()

    def _take(self, data: bytes) -> None:
        first, newline, rest = data.partition(b"\n")
        self._rest += first
        if len(self._rest) > LONGEST:
            self._on_garbage(bytes(self._rest[:WORTH]))
            self._rest.clear()
        if not newline:
            return
        line, self._rest = bytes(self._rest), bytearray()
        self._line(line)
        *lines, last = rest.split(b"\n")
        for line in lines:
            self._line(line)
        self._rest += last

    def _line(self, line: bytes) -> None:
        line = line.strip()
        if not line:
            return
        message = _decode(line)
        if not isinstance(message, dict) or not _is_message(message):
            self._on_garbage(line[:WORTH])
        elif message.get("method") == UPDATE:
            params = message.get("params")
            if isinstance(params, dict) and isinstance(params.get("update"), dict):
                self._on_update(params["update"])
        else:
            self._messages.append(message)


def _is_message(message: dict[str, Any]) -> bool:
    """Whether the connection can take it: it trusts the kinds of these fields."""
    if not isinstance(message.get("id"), int | str | None):
        return False
    if "method" in message:
        return isinstance(message["method"], str)
    return "id" in message and isinstance(message.get("error"), dict | None)


def _encode(message: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(message)
    except (UnicodeEncodeError, OverflowError):
        return json.dumps(message, separators=(",", ":")).encode()


def _decode(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        try:
            return _whole(json.loads(line))
        except (ValueError, RecursionError):
            return None


def _whole(value: Any) -> Any:
    """Without halves of characters, which nothing after us could write down."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value
