"""An invented source whose lines are messages of our own model: interfaces are tested without readers.

The first line of `HOME/.toy/<id>.jsonl` tells about the conversation.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rireki.model.conversation import Answer, Conversation, LinkToken, Reading, Tally, Trouble
from rireki.model.message import Message, Usage
from rireki.model.parts import ToolCall, ToolResult
from rireki.model.strand import Strand
from rireki.sources.kit.jsonl import read_lines
from rireki.sources.kit.places import Places
from rireki.sources.kit.stamps import file_stamp
from rireki.sources.reader import Discovery, Known, Origin, Roll, Scanned, Update


class Toy:
    name = "toy"
    family = "toy"

    def discover(self, places: Places) -> Discovery:
        root = places.home / ".toy"
        found = Discovery(looked=[Scanned("toy", str(root), root.is_dir())])
        if root.is_dir():
            found.origins = [_origin(path, root) for path in sorted(root.glob("*.jsonl"))]
        return found

    def recognise(self, path: Path) -> list[Origin]:
        return [_origin(path, path.parent)] if path.suffix == ".jsonl" else []

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        yield from read_lines(origin, known)

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        return [_reading(conversation, strands[0])]

    def resume(self, conversation: Conversation) -> str | None:
        where = shlex.quote(conversation.project or "/")
        return f"cd {where} && toy --resume {conversation.native_id}"

    def revive(self, conversation: Conversation) -> str | None:
        return f"toy --load DIR/{conversation.native_id}.jsonl"


READER = Toy()


def _origin(path: Path, root: Path) -> Origin:
    status = path.stat()
    return Origin(
        source="toy",
        place=str(path),
        root=str(root),
        form="lines",
        role="main",
        conversation=path.stem,
        stamp=file_stamp(status),
        size=status.st_size,
    )


def _reading(native_id: str, strand: Strand) -> Reading:
    head: dict[str, Any] = {}
    messages: list[Message] = []
    troubles: list[Trouble] = []
    for occurrence in strand.story("lines"):
        value = msgspec.json.decode(occurrence.data)
        if "about" in value:
            head = value["about"]
        elif "bad" in value:
            troubles.append(Trouble(f"line {occurrence.ordinal + 1}", "not understood", "Look."))
        else:
            message = msgspec.convert(value, Message)
            message.upstream = "present" if occurrence.present else "gone"
            messages.append(message)
    gone = [message for message in messages if message.upstream == "gone"]
    upstream = "changed" if gone else "present"
    conversation = Conversation(
        id=f"toy/{native_id}",
        source="toy",
        native_id=native_id,
        project=head.get("project"),
        title=head.get("title", ""),
        started_at=messages[0].at if messages else None,
        updated_at=messages[-1].at if messages else None,
        upstream="gone" if not strand.present else upstream,  # type: ignore[arg-type]
        troubles=troubles,
        nature=head.get("nature", "conversation"),
        flags=head.get("flags", {}),
    )
    _count(conversation, messages)
    tokens = [("want", token) for token in head.get("wants", [])]
    tokens += [("offer", token) for token in head.get("offers", [])]
    return Reading(
        conversation=conversation,
        messages=lambda: messages,
        answers=[
            Answer(key, model, Usage(10, output, lower_bound=bound))
            for key, model, output, bound in head.get("answers", [])
        ],
        link_tokens=[LinkToken("subagent", role, token) for role, token in tokens],  # type: ignore[arg-type]
    )


def _count(conversation: Conversation, messages: list[Message]) -> None:
    tally = Tally()
    for message in messages:
        tally.messages += 1
        tally.entries += 1
        if message.author == "person":
            tally.typed()
        if message.author == "agent":
            tally.answered()
        for part in message.parts:
            if isinstance(part, ToolCall):
                tally.asked(part.call_id, part.name)
            elif isinstance(part, ToolResult):
                tally.resulted(part.call_id)
    tally.fill(conversation)
