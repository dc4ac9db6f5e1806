"""Where the journals of driven agents lie, how they are read, and where they are filed.

A journal is filed under the conversation of the agent's own transcript as soon as it says which
one that is. Understands nothing else of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from rireki.home import BRIDGE
from rireki.journals.session_entry import parse
from rireki.late import LateModule
from rireki.model.conversation import Conversation, Reading
from rireki.model.strand import Strand
from rireki.sources.bridge.filing import Filed, note_line
from rireki.sources.kit.journals import ENDING, JournalReader
from rireki.sources.kit.jsonl import BLOCK, read_lines
from rireki.sources.reader import Known, Origin, Roll, Update

if TYPE_CHECKING:
    from rireki.sources.bridge import readings as joining
else:
    joining = LateModule("rireki.sources.bridge.readings")

__all__ = ["READER", "REASONS"]

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


class BridgeReader(JournalReader):
    name = NAME
    family = NAME
    folder = BRIDGE
    meaning = "rireki.sources.bridge.readings"
    reasons = REASONS

    def is_entry(self, line: bytes) -> bool:
        return parse(line) is not None

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

    def join(
        self, conversation: str, strands: Sequence[Strand], readings: Sequence[Reading]
    ) -> list[Reading]:
        """What the agent's own records were read as, together with its journals."""
        return joining.join_readings(conversation, strands, readings)

    def revive(self, conversation: Conversation) -> str | None:
        file = f"{conversation.native_id}{ENDING}"
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


READER = BridgeReader()
