"""A bridge in a process of its own, to be killed: it sends prompts, answers asks, and tells of it.

    python bridge_program.py FOLDER RUN SEED

Prints `ack ID` and `answered ID` right after the bridge acknowledged them. RUN `end` sends nothing:
it takes up what earlier runs left, lets it come to an end, and prints `done`.
"""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

from rireki.drive.bridge import Bridge
from rireki.drive.session import Session
from rireki.drive.values import AskAnswer, Prompt
from rireki.errors import RirekiError
from tests.drive.conftest import Desk

SESSIONS = ["one", "two", "three"]
PROMPTS = [
    "echo {id}",
    "stream 30 0.005 {id}",
    "permission {id}",
    "tool 0.05 {id}",
    "slow 0.1 {id}",
]


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def answering(bridge: Bridge, chance: random.Random) -> None:
    while True:
        await asyncio.sleep(0.01)
        for session in bridge.sessions():
            for ask in list(session.log.asks.values()):
                option = chance.choice(["allow", "reject"])
                try:
                    await session.answer(ask.id, AskAnswer(option=option), "web")
                except RirekiError:
                    continue
                tell(f"answered {ask.id}")


async def sending(session: Session, run: str, chance: random.Random) -> None:
    for count in range(1000):
        id = f"{run}.{session.id}.{count}"
        text = chance.choice(PROMPTS).format(id=id)
        await session.send(Prompt(id, text), "web")
        tell(f"ack {id}")
        # Sent twice, as by a page that lost the connection before the answer came.
        if chance.random() < 0.2:
            assert (await session.send(Prompt(id, text), "web")).known
        await asyncio.sleep(chance.random() * 0.2)


async def ending(bridge: Bridge) -> None:
    async with asyncio.timeout(120):
        while any(s.status.queue or s.state not in ("idle", "ended") for s in bridge.sessions()):
            await asyncio.sleep(0.02)


async def main(folder: Path, run: str, seed: int) -> None:
    chance = random.Random(seed)
    archive_reader = Desk(folder)
    bridge = Bridge(archive_reader.settings())
    await bridge.open()
    # What an earlier run left waits for the person, who says yes to all of it.
    for session in bridge.sessions():
        await session.proceed()
    answers = asyncio.create_task(answering(bridge, chance))
    if run == "end":
        await ending(bridge)
        answers.cancel()
        await bridge.close()
        tell("done")
    else:
        sessions = [await archive_reader.start(bridge, id) for id in SESSIONS]
        await asyncio.gather(*(sending(session, run, chance) for session in sessions))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
