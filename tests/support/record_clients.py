"""Records the real clients for the tests that replay them.

    RIREKI_CLIENTS=/opt/clients python -m tests.support.record_clients NAME HOME FOLDER

HOME is where it all happens, and stands in what is recorded: `/home/dev`, of a container, say.
Into FOLDER come `wire.jsonl`, all that went over the pipes, and `home/`, with the client's own
transcript and our journals. What the makers tell their models at length is left out, and of long
lists (commands, models) all but the first few.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from rireki.drive.bridge import Bridge, Settings
from rireki.drive.session import Session
from rireki.drive.values import AskAnswer, Prompt
from rireki.sources.kit.places import Places
from tests.support.model_endpoint import model_endpoint
from tests.support.real_clients import CLIENTS, end_daemons, script_of

#: What of a home is a transcript; of databases, what is in those tables.
KEPT = (
    ".gemini/tmp/*/chats/*",
    ".gemini/tmp/*/.project_root",
    ".gemini/projects.json",
    ".qwen/projects/*/chats/*",
    ".codex/sessions/*/*/*/*",
    ".copilot/session-state/*/events.jsonl",
    ".copilot/session-state/*/workspace.yaml",
    ".cline/data/sessions/*/*",
    ".local/share/rireki/bridge/*.jsonl",
)
DATABASE = ".local/share/opencode/opencode.db"
TABLES = ("project", "session", "message", "part")
#: Longer texts are the makers' own.
LONG = 1200
#: Lists of that which is offered.
OFFERS = ("availableCommands", "availableModels", "options")
MOST = 6
WAIT = 120.0
#: What is sent, and how what is asked is answered.
FIRST = (
    ("greet-me 日本語", ""),
    ("touch-it please", "allow_once"),
    ("refuse-it please", "reject_once"),
)
THEN = (("greet-me again", ""),)


def main() -> None:
    name, home, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    project = home / "proj"
    project.mkdir(parents=True)
    folder.mkdir(parents=True)
    client = next(each for each in CLIENTS if each.name == name)
    wire = folder / "wire.jsonl"
    tap = (sys.executable, str(Path(__file__).with_name("wire_tap.py")), str(wire))
    with model_endpoint(script_of(client)) as model:
        agent = client.program(home, model)
        agent = msgspec.structs.replace(agent, command=(*tap, *agent.command))
        archive = home / ".local" / "share" / "rireki" / "archive.sqlite3"
        settings = Settings(archive, Places.at(home).beside(archive), (home,), (agent,))
        continues = asyncio.run(converse(settings, project, name, "drive-1", None, FIRST))
        if name == "gemini":
            asyncio.run(asyncio.sleep(60))
        asyncio.run(converse(settings, project, name, "drive-2", continues, THEN))
    end_daemons(home)
    keep(home, folder / "home")
    wire.write_text(cleaned(wire.read_text("utf-8")), encoding="utf-8")


async def converse(
    settings: Settings,
    project: Path,
    name: str,
    id: str,
    continues: str | None,
    prompts: tuple[tuple[str, str], ...],
) -> str:
    bridge = Bridge(settings)
    await bridge.open()
    try:
        session = await bridge.start(id, str(project), name, continues=continues, by="web")
        await finished(session, "")
        for number, (text, answer) in enumerate(prompts, 1):
            await session.send(Prompt(f"{id}-p{number}", text), "web")
            await finished(session, answer)
        return session.conversation
    finally:
        await bridge.close()


async def finished(session: Session, answer: str) -> None:
    """Until the turn has ended; what is asked in it is answered."""
    async with asyncio.timeout(WAIT):
        while True:
            status = session.status
            assert status.state != "failed", status.detail
            for ask in status.asks:
                option = next(each for each in ask.options if each.kind == answer)
                await session.answer(ask.id, AskAnswer(option=option.id), "web")
            if status.state == "idle" and not status.queue and status.prompt is None:
                return
            await asyncio.sleep(0.02)


def keep(home: Path, folder: Path) -> None:
    for pattern in KEPT:
        for path in home.glob(pattern):
            target = folder / path.relative_to(home)
            if path.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                text = path.read_text("utf-8")
                is_ours = "rireki" in path.parts or "json" not in path.suffix
                target.write_text(text if is_ours else cleaned(text), "utf-8")
    if (home / DATABASE).exists():
        target = folder / f"{DATABASE}.sql"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(dumped(home / DATABASE), encoding="utf-8")


def cleaned(text: str) -> str:
    """JSON, in one piece or one to a line, without its long texts."""
    try:
        return json.dumps(_short(json.loads(text)), ensure_ascii=False, indent=1) + "\n"
    except ValueError:
        lines = [json.loads(line) for line in text.splitlines()]
        spelt = [json.dumps(_short(line), ensure_ascii=False) for line in lines]
        return "".join(line + "\n" for line in spelt)


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= LONG else f"<vendor text removed, {len(value)} chars>"
    if isinstance(value, list):
        return [_short(each) for each in value]
    if isinstance(value, dict):
        cut = {key: each[:MOST] for key, each in value.items() if key in OFFERS and _is_list(each)}
        return {key: _short(each) for key, each in {**value, **cut}.items()}
    return value


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def dumped(database: Path) -> str:
    """The tables that matter, as statements that make them again."""
    with closing(sqlite3.connect(database)) as sql:
        lines = list(sql.iterdump())
    wanted = re.compile(rf'(CREATE TABLE|INSERT INTO) [`"]?({"|".join(TABLES)})[`"]?\b')
    return "".join(line + "\n" for line in lines if wanted.match(line))


if __name__ == "__main__":
    shutil.rmtree(sys.argv[3], ignore_errors=True)
    main()
