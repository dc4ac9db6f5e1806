"""Where the journals of `MessageHistory` lie: a file per conversation, beside the archive."""

from __future__ import annotations

from pathlib import Path

from rireki.home import HISTORIES
from rireki.journals.history_entry import parse
from rireki.model.conversation import Conversation
from rireki.sources.kit.files import origin_at
from rireki.sources.kit.journals import ENDING, JOURNAL, JournalReader
from rireki.sources.reader import Origin

__all__ = ["NAME", "READER", "origin_of"]

NAME = "rireki"


#: Which rule decided, in words: those of the kinds of entries, and of a person's answers in them.
REASONS = {
    "assistant": "answer of the model",
    "branch": "went back to an earlier point",
    "clear": "history was cleared",
    "decision": "a person answered a question",
    "repair": "repaired, so that a provider takes it",
    "summary": "summary of a compacted context",
    "system": "context for the model",
    "tool": "result of a tool",
    "torn": "torn line",
    "trim": "history was trimmed",
    "user": "message in the user's name",
}


class Native(JournalReader):
    name = NAME
    family = NAME
    meaning = "rireki.sources.native.messages"
    folder = HISTORIES
    reasons = REASONS

    def is_entry(self, line: bytes) -> bool:
        entry = parse(line)
        # The journals of driven agents look much the same, but for the number each entry has there.
        return entry is not None and "n" not in entry.more

    def revive(self, conversation: Conversation) -> str | None:
        file = f"{conversation.native_id}{ENDING}"
        return (
            f"(put DIR/{file} into the folder 'histories' beside the archive; "
            f"MessageHistory.open('{conversation.native_id}') goes on with it)"
        )


def origin_of(file: Path) -> Origin | None:
    """A journal as `discover` finds it; None when it is not there, or no plain file."""
    return origin_at(NAME, str(file), file.parent, JOURNAL) if file.suffix == ENDING else None


READER = Native()
