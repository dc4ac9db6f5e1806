"""Twenty agents at once, all in bursts (a few, without --campaign): every word arrives, once, everywhere."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from rireki.archive.open import open_archive
from rireki.drive.bridge import Bridge
from rireki.drive.events import Event
from rireki.drive.session import Session
from rireki.drive.values import AskAnswer, Prompt
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.parts import Text
from tests.support.bridge_server import settings

#: Pieces of a burst: as fast as a process can write.
BURST = 1500


class Page:
    """Listens like a page does: loses its connection now and then, comes back, merges by id."""

    def __init__(self, bridge: Bridge, seed: int) -> None:
        self.bridge, self.chance = bridge, random.Random(seed)
        self.texts: dict[str, str] = {}
        self.last: int | None = 0

    async def listen(self) -> None:
        while True:
            patience = self.chance.uniform(0.05, 1.0)
            listening = self.bridge.listen(self.last)
            try:
                async with asyncio.timeout(patience):
                    await self._read(listening)
                return
            except TimeoutError:
                continue

    async def _read(self, listening: AsyncIterator[Event]) -> None:
        async for event in listening:
            if event.kind == "delta":
                block, at = event.more["block"], event.more["at"]
                known = self.texts.get(block, "")
                assert at <= len(known), "nothing is left out"
                self.texts[block] = known[:at] + event.more["text"]
            self.last = event.n


async def work(session: Session, chance: random.Random, turns: int) -> None:
    for turn in range(turns):
        word = chance.choice([f"stream {BURST}", f"stream {BURST}", "tool", "permission"])
        await session.send(Prompt(id=f"{session.id}-{turn}", text=f"{word}"), "test")
    while session.status.queue or session.status.prompt:
        assert session.state != "failed", session.status.detail
        for ask in session.status.asks:
            await session.answer(ask.id, AskAnswer(option="allow"), "test")
        await asyncio.sleep(0.02)


async def campaign(folder: Path, sessions: int, turns: int) -> list[Page]:
    bridge = Bridge(settings(folder))
    await bridge.open()
    pages = [Page(bridge, seed) for seed in range(3)]
    listening = [asyncio.create_task(page.listen()) for page in pages]
    project = str(folder / "project")
    started = [
        await bridge.start(f"s{number}", project, "scripted", by="test")
        for number in range(sessions)
    ]
    chance = random.Random(3)
    seeds = [random.Random(chance.randrange(1 << 30)) for _ in started]
    await asyncio.gather(
        *(work(session, seed, turns) for session, seed in zip(started, seeds, strict=True))
    )
    # The pages have the rest of it within a moment: they are told what they lack.
    for page in pages:
        async with asyncio.timeout(30):
            while not all(_is_whole(page, text) for text in _texts(folder).values()):
                await asyncio.sleep(0.1)
    await bridge.close()
    for task in listening:
        task.cancel()
    await asyncio.gather(*listening, return_exceptions=True)
    return pages


def _is_whole(page: Page, blocks: dict[str, str]) -> bool:
    return all(page.texts.get(block) == text for block, text in blocks.items())


def _texts(folder: Path) -> dict[str, dict[str, str]]:
    """The texts of the journals: of each session, by block."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted((settings(folder).archive.parent / "bridge").glob("*.jsonl")):
        blocks: dict[str, str] = {}
        for line in path.read_bytes().splitlines():
            entry = json.loads(line)
            if entry["kind"] == "text":
                blocks[entry["block"]] = blocks.get(entry["block"], "") + entry["text"]
        found[path.stem] = blocks
    return found


def test_every_word_arrives_once_everywhere(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    sessions, turns = (20, 10) if pytestconfig.getoption("campaign") else (5, 3)
    (tmp_path / "project").mkdir()
    (tmp_path / "home").mkdir()
    limit = 600 if pytestconfig.getoption("campaign") else 180
    asyncio.run(asyncio.wait_for(campaign(tmp_path, sessions, turns), limit))

    burst = "".join(f"piece {number} " for number in range(BURST))
    place = settings(tmp_path)
    with closing(open_archive(place.archive, create=True)) as archive:
        import_history(archive, places=place.places)
        assert archive.count() == sessions
        for number in range(sessions):
            found = archive.find(f"bridge/s{number}")
            messages = list(read_conversation(archive, found).messages())
            texts = ["".join(p.text for p in m.parts if isinstance(p, Text)) for m in messages]
            # What a person allowed is theirs as well, and no prompt.
            prompts = [
                text
                for message, text in zip(messages, texts, strict=True)
                if message.author == "person" and not message.label
            ]
            wanted = sum(text.startswith("stream") for text in prompts)
            assert len(prompts) == turns
            assert sum(text.strip() == burst.strip() for text in texts) == wanted
            assert sum("piece 7 " in text for text in texts) == wanted, "and no part of one"
