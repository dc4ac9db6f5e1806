"""The real histories that cases are made of: fixtures and the invented home, by reader."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from rireki.intake.demo import make_demo_home
from rireki.model.strand import Strand
from rireki.sources import registry
from tests.support.homes import FIXTURES, NAMES, lay_out
from tests.support.memory import Memory

__all__ = ["READERS", "Corpus", "Group", "Kept", "corpus"]

EXPORTS = {
    "chatgpt-export": "chatgpt.json",
    "claude-ai-export": "claude-ai.json",
    "open-webui": "open-webui.json",
    "atif": "atif-1.8.json",
    "shared": "shared.html",
}
READERS = tuple(registry.names())


class Kept(NamedTuple):
    """A strand, and the records of its lanes."""

    strand: Strand
    lanes: dict[str, list[bytes]]


class Group(NamedTuple):
    """What one conversation is interpreted from."""

    conversation: str
    kept: list[Kept]
    #: The source's own strands beside our journals, where an agent was driven.
    own: list[Kept]


class Corpus(NamedTuple):
    groups: list[Group]
    #: Values of records, to mix into others.
    values: list[Any]


@cache
def corpus(source: str) -> Corpus:
    with TemporaryDirectory() as folder:
        memories = [memory for home in _homes(Path(folder)) for memory in _memories(source, home)]
    groups = [group for memory in memories for group in _groups(memory)]
    if source == "bridge":
        driven = corpus("claude-code").groups
        groups += [
            Group(g.conversation, g.kept, driven[n % len(driven)].kept)
            for n, g in enumerate(groups)
        ]
    assert groups, source
    return Corpus(groups, _values(groups))


def _homes(folder: Path) -> list[Path]:
    homes = [lay_out(name, folder / name) for name in NAMES]
    make_demo_home(folder / "demo")
    _write_third_engine(folder / "demo" / ".kiro" / "sessions" / "abc" / "sess_s3")
    shutil.copyfile(
        FIXTURES / "opencode" / "1.2.27" / ".local" / "share" / "opencode" / "opencode.db",
        folder / "demo" / ".local" / "share" / "kilo" / "kilo-next.db",
    )
    return [*homes, folder / "demo"]


def _write_third_engine(folder: Path) -> None:
    """A session of Kiro's third engine: there is no fixture of one."""
    said: list[dict[str, Any]] = [
        {"type": "session_start"},
        {"type": "user", "content": "hello"},
        {"type": "turn_start"},
        {"type": "assistant", "operationType": "Say", "content": "Hi."},
        {"type": "assistant", "operationType": "Reasoning", "content": "hm"},
        {"type": "tool_call", "toolName": "ls", "toolCallId": "t", "args": {"path": "."}},
        {"type": "tool_result", "toolCallId": "t", "content": "a b", "success": True},
        {"type": "future", "x": 1},
        {"type": "turn_end", "stopReason": "end_turn"},
    ]
    lines = [
        {"id": f"i{n}", "timestamp": f"2026-06-01T00:00:0{n}Z", "payload": p}
        for n, p in enumerate(said)
    ]
    folder.mkdir(parents=True)
    (folder / "messages.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    session = {"id": "sess_s3", "title": "third", "workspacePaths": ["/w"], "modelId": "opus"}
    (folder / "session.json").write_text(json.dumps(session))


def _memories(source: str, home: Path) -> list[Memory]:
    memory = Memory(registry.reader(source))
    memory.import_home(home)
    if source == "chatkit" and home.name == "demo":
        for database in sorted((FIXTURES / "chatkit").glob("*.sqlite3")):
            for origin in memory.reader.recognise(database):
                memory.take(origin)
    if source in EXPORTS and home.name == "demo":
        for origin in memory.reader.recognise(FIXTURES / "exports" / EXPORTS[source]):
            memory.take(origin)
    return [memory]


def _groups(memory: Memory) -> list[Group]:
    found: dict[str, list[Kept]] = {}
    for (place, key), strand in memory.strands.items():
        if strand.conversation is None:
            continue
        lanes = {
            lane: data for (p, k, lane), data in memory.lanes.items() if (p, k) == (place, key)
        }
        found.setdefault(strand.conversation, []).append(Kept(strand, lanes))
    return [Group(conversation, kept, []) for conversation, kept in found.items()]


def _values(groups: Sequence[Group]) -> list[Any]:
    records = [data for g in groups for k in g.kept for lane in k.lanes.values() for data in lane]
    values = []
    for data in records[:: max(1, len(records) // 300)]:
        with suppress(ValueError):
            if len(data) < 5000:
                values.append(json.loads(data))
    return values
