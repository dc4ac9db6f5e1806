"""A source made up for tests: `notes/<id>.jsonl`, one `{"id", "who", "text", "at"?, "project"?}` per line.

It is the smallest complete reader, and what CONTRIBUTING.md shows to people who write one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from rireki.model.conversation import Conversation, Reading, Trouble
from rireki.model.message import Message
from rireki.model.parts import Text
from rireki.model.strand import Strand
from rireki.sources.kit.jsonl import LANE, read_lines
from rireki.sources.kit.pending import PendingMessage, conversation_of, count, upstream_of
from rireki.sources.kit.places import Places
from rireki.sources.kit.stamps import file_stamp
from rireki.sources.reader import Discovery, Known, Origin, Roll, Scanned, Update


class Plain:
    name = "plain"
    family = "plain"

    def discover(self, places: Places) -> Discovery:
        folder = places.home / "notes"
        origins = self.recognise(folder) if folder.is_dir() else []
        return Discovery(origins, [Scanned(self.name, str(folder), bool(origins))])

    def recognise(self, path: Path) -> list[Origin]:
        files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
        return [self._origin(file, path) for file in files if file.suffix == ".jsonl"]

    def _origin(self, file: Path, root: Path) -> Origin:
        status = file.stat()
        return Origin(
            source=self.name,
            place=str(file),
            root=str(root if root.is_dir() else root.parent),
            form="lines",
            role="main",
            conversation=file.stem,
            stamp=file_stamp(status),
            size=status.st_size,
        )

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        yield from read_lines(origin, known)

    def resume(self, conversation: Conversation) -> str | None:
        return None

    def revive(self, conversation: Conversation) -> str | None:
        return None

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        flow: dict[str, PendingMessage] = {}
        troubles = []
        project = None
        for strand in strands:
            for occurrence in strand.story(LANE):
                try:
                    line = json.loads(occurrence.data)
                    note = _pending(line, occurrence.present)
                    project = project or line.get("project")
                except (ValueError, KeyError, TypeError):
                    place = f"{strand.place}: line {occurrence.ordinal + 1}"
                    troubles.append(Trouble(place, "not a note"))
                    continue
                _replace(flow, note)
        messages = [note.message for note in flow.values()]
        found = conversation_of(
            "plain",
            conversation,
            count(list(flow.values()), entries=0),
            times=[],
            project=project,
            troubles=troubles,
            upstream=upstream_of(any(strand.present for strand in strands), messages),
        )
        return [Reading(conversation=found, messages=lambda: messages)]


def _pending(line: dict[str, str], present: bool) -> PendingMessage:
    mine = line["who"] == "me"
    message = Message(
        id=line["id"],
        author="person" if mine else "agent",
        display="bubble",
        at=line.get("at"),
        upstream="present" if present else "gone",
        parts=[Text(line["text"])],
    )
    return PendingMessage(message, typed=mine, ends=not mine)


def _replace(flow: dict[str, PendingMessage], note: PendingMessage) -> None:
    """A second version of a message: the older one steps aside."""
    name = note.message.id
    if older := flow.get(name):
        older.message.replaced_by, older.message.id = name, f"{name}~{len(flow)}"
        flow[older.message.id] = older
    flow[name] = note


READER = Plain()
