"""Blocking work beside the event loop, in threads that nobody has to wait for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar

__all__ = ["in_thread", "looking_up"]

T = TypeVar("T")

#: Seconds for which the loop waits at most.
LOOK = 0.1


async def looking_up(work: Coroutine[Any, Any, T]) -> T:
    """Have the loop look for Ctrl-C while it waits for the work.

    A signal that comes just before the loop begins to wait does not wake it.
    """
    ticking = asyncio.ensure_future(_tick())
    try:
        return await work
    finally:
        ticking.cancel()


async def _tick() -> None:
    while True:
        await asyncio.sleep(LOOK)


async def in_thread(work: Callable[[], T]) -> T:
    """What the work returns or raises. Ctrl-C does not wait for it, nor does the program's end.

    That is why it is not `asyncio.to_thread`: its threads hold up the end of the loop.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def body() -> None:
        try:
            settle: Callable[[], None] = _returned(future, work())
        except BaseException as error:  # noqa: BLE001 - handed to the one who waits
            settle = _raised(future, error)
        # The loop may have ended meanwhile: then nobody waits any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle)

    context = copy_context()
    threading.Thread(target=context.run, args=(body,), name="rireki-work", daemon=True).start()
    return await future


def _returned(future: asyncio.Future[T], value: T) -> Callable[[], None]:
    return lambda: None if future.done() else future.set_result(value)


def _raised(future: asyncio.Future[T], error: BaseException) -> Callable[[], None]:
    if isinstance(error, StopIteration):
        # A future cannot carry it.
        error = RuntimeError(f"it raised {error!r}")
    return lambda: None if future.done() else future.set_exception(error)
