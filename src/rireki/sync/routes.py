"""The addresses below /api/push/v1, for any Starlette app. Who may ask, and what archive that
opens, is said by whoever mounts them; the work is done beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rireki.archive.base import Archive
from rireki.errors import ArchiveTrouble
from rireki.sync.giver import Giver
from rireki.sync.machine import Machine
from rireki.sync.outbox import Outbox, Outgoing
from rireki.sync.receiver import LARGEST, Receiver
from rireki.sync.wire import (
    BATCH,
    MESSAGE,
    PATH,
    BadBatch,
    BatchTooLarge,
    DeltaWanted,
    HeldAsked,
    KindOfRemote,
    MalformedBatch,
    PushBatch,
    ServerGreeting,
    StreamOpening,
    Unkept,
    decode,
    encode,
    encode_batch,
)

__all__ = ["Admission", "push_routes"]

#: Bytes of a question: what is there of twenty thousand strands.
QUESTION = 4 << 20


class Admission(NamedTuple):
    """What a token opens."""

    #: The archive, for one thread at a time.
    archive: Callable[[], AbstractContextManager[Archive]]
    kind: KindOfRemote
    #: What this machine tells in its turn; None where it only takes.
    machine: Machine | None = None
    outgoing: Outgoing | None = None
    #: Called whenever there is something new to be interpreted.
    taken: Callable[[], None] = lambda: None
    largest: int = LARGEST


#: Asked with each request's token, beside the event loop; None lets nobody in.
Admit = Callable[[str], Admission | None]
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


def push_routes(admit: Admit) -> list[Route]:
    push = _Push(admit)
    return [
        Route(PATH, _answered(push.greet), methods=["GET"]),
        Route(f"{PATH}/streams", _answered(push.open), methods=["POST"]),
        Route(f"{PATH}/streams/{{stream}}/have", _answered(push.held), methods=["POST"]),
        Route(f"{PATH}/streams/{{stream}}/records", _answered(push.take), methods=["POST"]),
        Route(f"{PATH}/outgoing", _answered(push.outgoing), methods=["POST"]),
        Route(f"{PATH}/outgoing/next", _answered(push.next), methods=["POST"]),
    ]


def _answered(endpoint: Endpoint) -> Endpoint:
    """Where the archive, or the database that knows who may ask, is away: later, then."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except ArchiveTrouble as error:
            return _message(Unkept(error.message))

    return answered


class _Push:
    def __init__(self, admit: Admit) -> None:
        self.admit = admit

    async def greet(self, request: Request) -> Response:
        admission = await self._admission(request)
        machine = admission.machine.name if admission.machine else ""
        return _message(ServerGreeting(kind=admission.kind, machine=machine))

    async def open(self, request: Request) -> Response:
        admission = await self._admission(request)
        opening = await _question(request, StreamOpening)
        return await self._received(admission, lambda receiver: receiver.open(opening))

    async def held(self, request: Request) -> Response:
        admission = await self._admission(request)
        asked = await _question(request, HeldAsked)
        stream = request.path_params["stream"]
        return await self._received(admission, lambda r: r.held(stream, asked.strands))

    async def take(self, request: Request) -> Response:
        admission = await self._admission(request)
        body = await _body(request, admission.largest)
        if body is None:
            return _message(BatchTooLarge(admission.largest))
        stream = request.path_params["stream"]
        return await self._received(admission, lambda receiver: receiver.take(stream, body))

    async def outgoing(self, request: Request) -> Response:
        admission = await self._admission(request)
        return await self._given(admission, lambda giver: giver.outgoing())

    async def next(self, request: Request) -> Response:
        admission = await self._admission(request)
        wanted = await _question(request, DeltaWanted)
        return await self._given(admission, lambda giver: giver.next(wanted))

    async def _admission(self, request: Request) -> Admission:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        known = kind.lower() == "bearer" and token.strip()
        found = await asyncio.to_thread(self.admit, token.strip()) if known else None
        if found is None:
            raise HTTPException(401, "a device token is needed")
        return found

    async def _received(self, admission: Admission, ask: Callable[[Receiver], Any]) -> Response:
        def work() -> Response:
            with admission.archive() as archive:
                receiver = Receiver(archive, admission.kind, admission.largest, admission.taken)
                return _message(ask(receiver))

        return await asyncio.to_thread(work)

    async def _given(self, admission: Admission, ask: Callable[[Giver], Any]) -> Response:
        machine = admission.machine
        if machine is None:
            raise HTTPException(404, "nothing is told here")

        def work() -> Response:
            with admission.archive() as archive:
                outbox = Outbox(archive, machine, admission.kind, admission.outgoing)
                answer = ask(Giver(outbox))
                if isinstance(answer, PushBatch):
                    return Response(encode_batch(answer), media_type=BATCH)
                return _message(answer)

        return await asyncio.to_thread(work)


async def _question(request: Request, kind: Any) -> Any:
    body = await _body(request, QUESTION)
    if body is None:
        raise HTTPException(413, "the question is too large")
    try:
        return decode(body, kind)
    except BadBatch as error:
        raise HTTPException(MalformedBatch.status, str(error)) from error


async def _body(request: Request, most: int) -> bytes | None:
    """None where it is larger than that, whatever it says of its own size."""
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > most:
            return None
        pieces.append(piece)
    return b"".join(pieces)


def _message(answer: Any) -> Response:
    status = getattr(answer, "status", 200)
    return Response(encode(answer), status, media_type=MESSAGE)
