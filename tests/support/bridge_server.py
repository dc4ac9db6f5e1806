"""A process with a bridge in it, and a client that says what was acknowledged: made to be killed.

`python -m tests.support.bridge_server FOLDER SEED work|finish OUTBOX` prints a line of JSON for
everything it tries and everything it was told is stored. `OUTBOX` are the prompts of an earlier
run that nobody acknowledged: they are sent again, with their ids.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from rireki.drive.agents import AgentProgram
from rireki.drive.bridge import Bridge, Settings
from rireki.drive.session import Session
from rireki.drive.values import Ask, AskAnswer, Prompt
from rireki.errors import RirekiError
from rireki.sources.kit.places import Places

PROGRAM = Path(__file__).with_name("acp_agent.py")
SESSIONS = ("one", "two", "three")
PROMPTS = (
    "echo {}",
    "echo {}",
    "stream 30 0.002 {}",
    "tool 0.02 {}",
    "permission {}",
    "question {}",
    "think {}",
    "slow 0.05 {}",
)


def settings(folder: Path) -> Settings:
    agent = AgentProgram(
        "scripted",
        "Scripted",
        (sys.executable, str(PROGRAM)),
        source="claude-code",
        environment={
            "SCRIPT_TRANSCRIPTS": str(folder / "home" / ".claude"),
            "SCRIPT_RECEIVED": str(folder / "received.jsonl"),
        },
        found=True,
    )
    archive = folder / "kept" / "archive.sqlite3"
    places = Places.at(folder / "home").beside(archive)
    return Settings(archive, places, (folder,), (agent,))


class Client:
    """Sends prompts to one session and answers what is asked, for as long as it lives."""

    def __init__(self, session: Session, chance: random.Random, outbox: list[Any]) -> None:
        self.session, self.chance = session, chance
        self.outbox = [each for each in outbox if each["session"] == session.id]

    async def work(self) -> None:
        await asyncio.gather(self.prompts(), self.answers())

    async def prompts(self) -> None:
        for each in self.outbox:
            await self.send(each["prompt"], each["text"])
        while True:
            id = f"p{self.chance.randrange(1 << 60):015x}"
            await self.send(id, self.chance.choice(PROMPTS).format(id))
            if self.chance.random() < 0.6:
                await self.calm()

    async def send(self, id: str, text: str) -> None:
        tell(session=self.session.id, prompt=id, text=text)
        await self.session.send(Prompt(id=id, text=text), "client")
        tell(stored=id)
        await asyncio.sleep(self.chance.uniform(0, 0.05))

    async def calm(self) -> None:
        """Until it is done, or wants something from the person."""
        while self.session.status.queue or self.session.status.prompt:
            await self.proceed()
            await asyncio.sleep(0.01)

    async def proceed(self) -> None:
        if self.session.status.held:
            await self.session.proceed()

    async def answers(self) -> None:
        while True:
            for ask in list(self.session.log.asks.values()):
                with suppress(RirekiError):
                    await self.session.answer(ask.id, self.answer(ask), "client")
                    tell(answered=ask.id)
            await asyncio.sleep(0.01)

    def answer(self, ask: Ask) -> AskAnswer:
        if ask.questions:
            return AskAnswer(values={q.id: [q.options[0].label] for q in ask.questions})
        allowed = self.chance.random() < 0.7
        kind = "allow_once" if allowed else "reject_once"
        return AskAnswer(option=next(option.id for option in ask.options if option.kind == kind))


def tell(**what: Any) -> None:
    os.write(1, json.dumps(what).encode() + b"\n")


async def main(folder: Path, seed: int, mode: str, outbox: list[Any]) -> None:
    bridge = Bridge(settings(folder))
    await bridge.open()
    chance = random.Random(seed)
    project = str(folder / "project")
    sessions = [await bridge.start(id, project, "scripted", by="client") for id in SESSIONS]
    clients = [
        Client(session, random.Random(chance.randrange(1 << 30)), outbox) for session in sessions
    ]
    tell(ready=True)
    if mode == "work":
        await asyncio.gather(*(client.work() for client in clients))
    for client in clients:
        for each in client.outbox:
            await client.send(each["prompt"], each["text"])
        answering = asyncio.create_task(client.answers())
        await client.calm()
        answering.cancel()
    await bridge.close()


if __name__ == "__main__":
    place, seed, mode, outbox = sys.argv[1:]
    asyncio.run(main(Path(place), int(seed), mode, json.loads(outbox)))
