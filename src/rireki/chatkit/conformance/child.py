"""A process that adds items to a store until it is killed, and tells of each that it may."""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from itertools import count

from rireki.chatkit.conformance.samples import reply

__all__ = ["NOT_IMPORTED", "READY", "main"]

#: The first line: the functions were found, or why not.
READY = b"ready\n"
NOT_IMPORTED = "not imported: "


def main() -> None:
    asyncio.run(_add_for_ever())


async def _add_for_ever() -> None:
    # Functions are found by their names, along the same path as in the process that asks.
    sys.path += pickle.load(sys.stdin.buffer)
    try:
        make_store, make_context, folder = pickle.load(sys.stdin.buffer)
    except Exception as error:  # noqa: BLE001 - whatever its module raises when it is imported
        os.write(1, f"{NOT_IMPORTED}{type(error).__name__}: {error}\n".encode())
        return
    os.write(1, READY)
    store, context = make_store(folder), make_context("alice")
    for number in count():
        item = reply(number)
        await store.add_thread_item("thr_0000000a", item, context)
        os.write(1, f"{item.id}\n".encode())
