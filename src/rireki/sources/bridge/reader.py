"""Where the journals of driven agents lie, how they are read, and where they are filed.

A journal is filed under the conversation of the agent's own transcript as soon as it says which
one that is. Understands nothing else of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path

from rireki.home import BRIDGE
from rireki.model.conversation import Conversation, Reading
from rireki.model.strand import Strand
from rireki.sources.bridge.entry import parse
from rireki.sources.bridge.filing import Filed, note_line
from rireki.sources.kit import journals
from rireki.sources.kit.jsonl import BLOCK, read_lines
from rireki.sources.kit.places import Places
from rireki.sources.reader import Discovery, Known, Origin, Roll, Update, Watched

__all__ = ["NAME", "READER", "REASONS"]

NAME = BRIDGE
#: Which rule decided, in words: those of the kinds of entries.
REASONS = {
    "ask": "permission or answer that the agent waits for",
    "call": "call of a tool",
    "note": "notice of the program",
    "plan": "plan of the agent",
    "prompt": "typed prompt",
    "result": "result of a tool",
    "state": "the agent failed",
    "text": "answer of the model",
    "thought": "thinking of the model",
    "turn_end": "a turn ended",
}


class BridgeReader:
    name = NAME
    family = NAME
    reasons = REASONS

    def discover(self, places: Places) -> Discovery:
        return journals.discover(NAME, places.bridge_folders())

    def recognise(self, path: Path) -> list[Origin]:
        folders = [path / BRIDGE, *Places.at(path).bridge_folders()]
        return journals.recognise(NAME, path, folders, _is_entry)

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        cursor = known.cursors.get("") or {}
        filed = Filed(*cursor.get("filed", ()))
        final = _look_ahead(origin, cursor.get("offset", 0), filed)
        for update in read_lines(origin, known):
            for content in update.contents:
                for piece in content.pieces:
                    filed, final = note_line(filed, piece.data), note_line(final, piece.data)
            update.cursor["filed"] = list(filed)
            family = final.family
            if family is not None:
                update.family, update.conversation = family, final.group
            yield update

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        # Imported late: most runs find journals that did not change.
        from rireki.sources.bridge.readings import read_journals

        return read_journals(conversation, strands)

    def join(
        self, conversation: str, strands: Sequence[Strand], readings: Sequence[Reading]
    ) -> list[Reading]:
        """What the agent's own records were read as, together with its journals."""
        from rireki.sources.bridge.readings import join_readings

        return join_readings(conversation, strands, readings)

    def watched(self, places: Places) -> list[Watched]:
        return [Watched(str(folder)) for folder in places.bridge_folders()]

    def locate(self, places: Places, path: str) -> list[Origin]:
        return journals.locate(NAME, places.bridge_folders(), path)

    def resume(self, conversation: Conversation) -> str | None:
        """An agent that leaves no transcript of its own is gone on with by rireki alone."""
        return None

    def revive(self, conversation: Conversation) -> str | None:
        file = f"{conversation.native_id}{journals.ENDING}"
        return f"(put DIR/{file} into the folder '{BRIDGE}' beside the archive)"


def _look_ahead(origin: Origin, offset: int, filed: Filed) -> Filed:
    """Where a journal that is read in several updates will belong in the end.

    It must not be kept under its own name first: it may be one that is to be forgotten.
    """
    if origin.size - offset <= BLOCK:
        return filed
    try:
        with Path(origin.place).open("rb") as file:
            file.seek(offset)
            return reduce(note_line, file, filed)
    except OSError:
        # Whoever reads it next says what is wrong with it.
        return filed


def _is_entry(line: bytes) -> bool:
    return parse(line) is not None


READER = BridgeReader()
