"""Pushing and pulling between archives in one process, also over bad ways."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.errors import RirekiError
from rireki.sync.giver import Giver
from rireki.sync.machine import Machine
from rireki.sync.outbox import Outbox
from rireki.sync.receiver import Receiver
from rireki.sync.routes import Admission, push_routes
from rireki.sync.sender import Puller, PushTarget, Sender, Transferred
from rireki.sync.wire import KindOfRemote, PushAnswer, StreamOpening
from tests.support.pushing import understand

LAPTOP, DESKTOP = Machine("aa" * 8, "laptop"), Machine("bb" * 8, "desktop")
#: Small, so that there are many batches.
SMALL = 5000


def push(source: Archive, target: Archive, machine: Machine = LAPTOP) -> Transferred:
    done = Sender(Outbox(source, machine), Receiver(target), "other", limit=SMALL).push()
    understand(target)
    return done


def pull(
    source: Archive, target: Archive, machine: Machine = LAPTOP, limit: int = SMALL
) -> Transferred:
    giver = Giver(Outbox(source, machine))
    done = Puller(giver, Receiver(target), "other", limit=limit).pull()
    understand(target)
    return done


class BadWay:
    """To a receiver: of its answers, each `lost`-th does not arrive; `before` is told of each batch."""

    def __init__(
        self, target: PushTarget, lost: int = 0, before: Callable[[], None] = lambda: None
    ) -> None:
        self.target = target
        self.lost = lost
        self.before = before
        self.asked = 0
        self.bodies: list[bytes] = []

    def open(self, opening: StreamOpening) -> PushAnswer:
        self.asked += 1
        return self.target.open(opening)

    def held(self, stream: str, strands: Sequence[int]) -> PushAnswer:
        self.asked += 1
        return self.target.held(stream, strands)

    def take(self, stream: str, body: bytes) -> PushAnswer:
        self.asked += 1
        self.bodies.append(body)
        self.before()
        answer = self.target.take(stream, body)
        if self.lost and len(self.bodies) % self.lost == 0:
            raise RirekiError("remote-not-reached", url="somewhere", why="no answer")
        return answer


def persistently(sender: Sender) -> int:
    """Push until it is through; returns how often it was not."""
    for failures in range(1000):
        try:
            sender.push()
        except RirekiError as error:
            assert error.code == "remote-not-reached"
        else:
            return failures
    raise AssertionError("it never came to its end")


@contextmanager
def served(
    archive: Path, token: str = "secret-device", kind: KindOfRemote = "own", port: int = 0
) -> Iterator[str]:
    """An archive behind the push routes on a port of this machine; its URL."""

    @contextmanager
    def opened() -> Iterator[Archive]:
        with closing(open_archive(archive)) as one:
            yield one

    def admit(given: str) -> Admission | None:
        return Admission(opened, kind, machine=DESKTOP) if given == token else None

    server = uvicorn.Server(
        uvicorn.Config(
            Starlette(routes=list(push_routes(admit))),
            port=port,
            ws="none",
            lifespan="off",
            log_level="error",
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()
