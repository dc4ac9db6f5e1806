"""A process that adds items to four threads of one store until it is killed, several at a time."""

from __future__ import annotations

import asyncio
import os
import sys
from itertools import count
from pathlib import Path

from rireki.chatkit import RirekiStore
from rireki.chatkit.conformance.samples import reply, thread
from tests.chatkit.stores import Context, ours

ALICE = {"user_id": "alice"}
THREADS = [f"thr_0000000{number}" for number in range(4)]


async def main(store: RirekiStore[Context], who: str) -> None:
    for id in THREADS:
        await store.save_thread(thread(id), ALICE)
    numbers = count()

    async def add() -> None:
        for number in numbers:
            id = f"msg_{who}{number:07x}"
            place = THREADS[number % 4]
            await store.add_thread_item(place, reply(0, id=id, thread_id=place), ALICE)
            os.write(1, f"{place} {id}\n".encode())

    await asyncio.gather(*(add() for _ in range(4)))


if __name__ == "__main__":
    asyncio.run(main(ours(Path(sys.argv[1])), sys.argv[2]))
