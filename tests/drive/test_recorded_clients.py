"""What the real clients said over the protocol, said again: the journal says the same as it did then."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from rireki.drive.agents import AgentProgram, agents
from rireki.drive.session import Session
from rireki.drive.values import AskAnswer, Prompt
from rireki.journals.session_entry import BridgeEntry, parse
from tests.drive.conftest import Desk, asked, run, until
from tests.support.recorded import RECORDED

PROGRAM = Path(__file__).parents[1] / "support" / "replayed_agent.py"
#: Of which process, when and by whom it was written.
SILENT = ("process", "state", "start", "prompt")


def recorded_agent(name: str) -> AgentProgram:
    known = agents(Path("/nowhere"), {})
    (agent,) = (agent for agent in known if agent.name == name.partition("-")[0])
    command = (sys.executable, str(PROGRAM), str(RECORDED[name] / "wire.jsonl"))
    return AgentProgram(agent.name, agent.title, command, source=agent.source, found=True)


def entries(path: Path) -> list[BridgeEntry]:
    return [entry for line in path.read_bytes().splitlines() if (entry := parse(line))]


def told(journal: list[BridgeEntry]) -> list[tuple[str, dict[str, Any]]]:
    """All that people are shown of it, in order: stretches of text in one piece."""
    found: list[tuple[str, dict[str, Any]]] = []
    block = ""
    for entry in journal:
        more = {key: value for key, value in entry.more.items() if key not in ("by", "block")}
        if entry.kind in ("ask", "answer"):
            del more["id"]
        if entry.kind in SILENT:
            continue
        if entry.kind in ("text", "thought") and entry.text("block") == block:
            found[-1][1]["text"] += more["text"]
        else:
            found.append((entry.kind, more))
        block = entry.text("block")
    return found


async def tell_again(session: Session, journal: list[BridgeEntry]) -> None:
    """Send what was sent, answer what was asked as it was answered."""

    def rests() -> bool:
        return not session.log.waiting and session.log.turn is None

    for entry in journal:
        if entry.kind == "prompt":
            await until(rests)
            await session.send(Prompt(entry.text("id"), entry.text("text")), "web")
        elif entry.kind == "answer":
            ask = await asked(session)
            await session.answer(ask.id, AskAnswer(option=entry.text("option")), "web")
    await until(rests)


@pytest.mark.parametrize("name", RECORDED)
def test_what_a_real_client_said_comes_to_the_same(name: str, archive_reader: Desk) -> None:
    home = RECORDED[name] / "home" / ".local" / "share" / "rireki" / "bridge"
    agent = recorded_agent(name)

    async def story() -> None:
        continues = None
        for id in ("drive-1", "drive-2"):
            journal = entries(home / f"{id}.jsonl")
            async with archive_reader.bridge(agent) as bridge:
                project = str(archive_reader.project)
                session = await bridge.start(id, project, agent.name, continues=continues, by="web")
                await tell_again(session, journal)
                continues = session.conversation
            mine = entries(archive_reader.archive.parent / "bridge" / f"{id}.jsonl")
            assert told(mine) == told(journal)

    run(story())
