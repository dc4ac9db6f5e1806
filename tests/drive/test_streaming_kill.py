"""What was on a screen when the server was killed in the middle of an answer is there afterwards."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from rireki.archive.open import open_archive
from rireki.drive.bridge import Bridge
from rireki.drive.values import Prompt
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.parts import Text
from tests.drive.conftest import Desk, run

ROOT = Path(__file__).parents[2]
#: A page is told at once; the journal has it this much later, at the latest.
LATEST = 0.5


async def main(folder: Path) -> None:
    """Tells what a page would show, as it would."""
    archive_reader = Desk(folder)
    bridge = Bridge(archive_reader.settings())
    await bridge.open()
    listening = bridge.listen(None)
    session = await archive_reader.start(bridge)
    await session.send(Prompt("p1", "stream 400 0.02"), "web")
    async for event in listening:
        if event.kind == "delta":
            line = json.dumps([time.monotonic(), event.more["text"]])
            os.write(1, line.encode() + b"\n")


def shown_and_killed(archive_reader: Desk) -> tuple[float, list[tuple[float, str]]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.drive.test_streaming_kill", str(archive_reader.folder)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    begun = json.loads(lines[0])[0]
    while time.monotonic() < begun + 2:
        lines.append(process.stdout.readline())
    process.kill()
    killed = time.monotonic()
    rest = process.stdout.read().splitlines(keepends=True)
    process.wait()
    process.stdout.close()
    told = [json.loads(line) for line in [*lines, *rest] if line.endswith(b"\n")]
    return killed, [(at, text) for at, text in told]


def texts_of(archive_reader: Desk) -> list[str]:
    """What the archive shows of the agent's words."""
    archive = open_archive(archive_reader.archive, create=True)
    import_history(archive, places=archive_reader.settings().places, sources=["bridge"])
    (found,) = [archive.find(id) for id in {each.id for each in archive.headings()}]
    messages = read_conversation(archive, found).messages()
    archive.close()
    return [
        part.text
        for message in messages
        if message.author == "agent"
        for part in message.parts
        if isinstance(part, Text)
    ]


def test_text_that_was_on_the_screen_survives_a_kill_in_the_middle_of_it(
    archive_reader: Desk,
) -> None:
    killed, told = shown_and_killed(archive_reader)
    shown = "".join(text for at, text in told if at <= killed - LATEST)
    assert shown.count("piece") > 10
    kept = archive_reader.said()
    assert kept.startswith(shown), "what was shown is in the journal, each piece once"
    assert len(archive_reader.kinds("text")) > 3, "in pieces, and all of one block"
    assert len({entry["block"] for entry in archive_reader.kinds("text")}) == 1
    assert texts_of(archive_reader) == [kept]

    async def restart() -> None:
        bridge = Bridge(archive_reader.settings())
        await bridge.open()
        await bridge.close()

    run(restart())
    assert archive_reader.said() == kept
    assert texts_of(archive_reader) == [kept], "one text, once, also after the restart"


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
