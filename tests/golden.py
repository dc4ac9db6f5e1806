"""Golden files: what readers make of the fixtures, beside the fixtures.

`python -m tests.golden` writes them anew; look at the difference before you keep it.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from rireki.archive.open import open_archive
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.conversation import Reading
from rireki.model.message import Message
from rireki.model.parts import Part, ToolCall, ToolResult
from rireki.sources import registry
from rireki.sources.kit.places import Places
from tests.sources.test_amazon_q_golden import STORES, golden_file, golden_of
from tests.support import homes
from tests.support.memory import Memory

FIXTURES = Path(__file__).parent / "fixtures"
#: Homes with a golden file of their own, and the source to read there.
HOMES = {
    path: source
    for source in homes.HOMES
    for path in sorted((FIXTURES / source).iterdir())
    if path.is_dir()
}
#: A home in which agents were driven.
DRIVEN = FIXTURES / "bridge"


def golden(home: Path, source: str) -> list[dict[str, Any]]:
    """Every conversation of a home, with a line per message."""
    memory = Memory(registry.reader(source))
    memory.import_home(home)
    readings = sorted(memory.readings().values(), key=lambda reading: reading.conversation.id)
    return [_told(reading, str(home)) for reading in readings]


def joined(home: Path) -> list[dict[str, Any]]:
    """Every conversation of a home in which agents were driven: all sources, as the archive has them."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "archive.sqlite3"
        archive = open_archive(path, create=True, clock=lambda: "2026-01-01T00:00:00.000Z")
        with closing(archive):
            import_history(archive, places=Places.at(home))
            ids = sorted(each.id for each in archive.headings())
            return [_told(read_conversation(archive, archive.find(id)), str(home)) for id in ids]


def _told(reading: Reading, home: str) -> dict[str, Any]:
    conversation = msgspec.to_builtins(reading.conversation)
    if home in conversation["native_id"]:
        # Aider's sessions are named by where they are.
        conversation["native_id"] = conversation["native_id"].replace(home, "~")
        conversation["id"] = f"{conversation['source']}/{conversation['native_id']}"
    # The project of a store that lies in it is where the fixtures are.
    conversation["project"] = (conversation["project"] or "").replace(home, "~") or None
    for trouble in conversation["troubles"]:
        trouble["place"] = trouble["place"].replace(home, "~")
    return {"conversation": conversation, "messages": [_line(m) for m in reading.messages()]}


def _line(message: Message) -> str:
    rule = message.entry.rule if message.entry else ""
    marks = [message.id, message.author, message.display, rule, f"turn {message.turn}"]
    marks += ["abandoned"] if message.abandoned else []
    marks += [message.upstream] if message.upstream != "present" else []
    marks += [f"[{message.label}]"] if message.label else []
    words = " | ".join(_words(part) for part in message.parts).replace("\n", " ")
    return f"{' · '.join(marks)} · {words[:60]}"


def _words(part: Part) -> str:
    if isinstance(part, ToolCall):
        return f"{part.name}({part.call_id})"
    if isinstance(part, ToolResult):
        return f"{part.status}: {part.output}"
    return str(getattr(part, "text", None) or getattr(part, "digest", None) or type(part).__name__)


def expected(home: Path) -> Path:
    return home / "expected.json"


def main() -> None:
    for home, source in HOMES.items():
        text = json.dumps(golden(home, source), ensure_ascii=False, indent=1)
        expected(home).write_text(text + "\n", encoding="utf-8")
        print(f"wrote {expected(home)}")
    text = json.dumps(joined(DRIVEN), ensure_ascii=False, indent=1)
    expected(DRIVEN).write_text(text + "\n", encoding="utf-8")
    print(f"wrote {expected(DRIVEN)}")
    for store in STORES:
        golden_file(store).write_text(golden_of(store), encoding="utf-8")
        print(f"wrote {golden_file(store)}")


if __name__ == "__main__":
    main()
