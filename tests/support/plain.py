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
from rireki.model.tally import Tally
from rireki.sources.kit.jsonl import LANE, read_lines
from rireki.sources.kit.places import Places
from rireki.sources.kit.stamps import file_stamp
from rireki.sources.reader import Discovery, Known, Looked, Origin, Roll, Update


class Plain:
    name = "plain"
    family = "plain"

    def discover(self, places: Places) -> Discovery:
        folder = places.home / "notes"
        origins = self.recognise(folder) if folder.is_dir() else []
        return Discovery(origins, [Looked(self.name, str(folder), bool(origins))])

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
        tally = Tally()
        messages: dict[str, Message] = {}
        troubles = []
        project = None
        for strand in strands:
            for occurrence in strand.story(LANE):
                try:
                    line = json.loads(occurrence.data)
                    message = _message(line, occurrence.present)
                    project = project or line.get("project")
                except (ValueError, KeyError, TypeError):
                    place = f"{strand.place}: line {occurrence.ordinal + 1}"
                    troubles.append(Trouble(place, "not a note"))
                    continue
                _replace(messages, message)
        for message in messages.values():
            tally.messages += message.replaced_by is None
            if message.author == "person":
                tally.typed()
            else:
                tally.answered()
        gone = [message for message in messages.values() if message.upstream == "gone"]
        found = Conversation(
            id=f"plain/{conversation}",
            source="plain",
            native_id=conversation,
            project=project,
            troubles=troubles,
        )
        tally.fill(found)
        if not any(strand.present for strand in strands):
            found.upstream = "gone"
        elif gone:
            found.upstream = "changed"
        return [Reading(conversation=found, messages=lambda: list(messages.values()))]


def _message(line: dict[str, str], present: bool) -> Message:
    return Message(
        id=line["id"],
        author="person" if line["who"] == "me" else "agent",
        display="bubble",
        at=line.get("at"),
        upstream="present" if present else "gone",
        parts=[Text(line["text"])],
    )


def _replace(messages: dict[str, Message], message: Message) -> None:
    """A second version of a message: the older one steps aside."""
    older = messages.get(message.id)
    if older is not None:
        older.replaced_by = message.id
        older.id = f"{message.id}~{len(messages)}"
        messages[older.id] = older
    messages[message.id] = message


READER = Plain()
