"""Where the journals of `MessageHistory` lie: a file per conversation, beside the archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rireki.home import HISTORIES
from rireki.model.conversation import Conversation, Reading
from rireki.model.strand import Strand
from rireki.sources.kit import journals
from rireki.sources.kit.journals import ENDING
from rireki.sources.kit.jsonl import read_lines
from rireki.sources.kit.places import Places
from rireki.sources.native.entry import parse
from rireki.sources.reader import Discovery, Known, Origin, Roll, Update, Watched

__all__ = ["ENDING", "NAME", "READER", "origin_of"]

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


class Native:
    name = NAME
    family = NAME
    reasons = REASONS

    def discover(self, places: Places) -> Discovery:
        return journals.discover(NAME, places.history_folders())

    def recognise(self, path: Path) -> list[Origin]:
        folders = [path / HISTORIES, *Places.at(path).history_folders()]
        return journals.recognise(NAME, path, folders, _is_entry)

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        yield from read_lines(origin, known)

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        # Imported late: most runs find journals that did not change.
        from rireki.sources.native.messages import read_journals

        return read_journals(conversation, strands)

    def watched(self, places: Places) -> list[Watched]:
        return [Watched(str(folder)) for folder in places.history_folders()]

    def locate(self, places: Places, path: str) -> list[Origin]:
        return journals.locate(NAME, places.history_folders(), path)

    def resume(self, conversation: Conversation) -> str | None:
        """The program that writes it goes on with it; which one that is, is not known."""
        return None

    def revive(self, conversation: Conversation) -> str | None:
        file = f"{conversation.native_id}{ENDING}"
        return (
            f"(put DIR/{file} into the folder 'histories' beside the archive; "
            f"MessageHistory.open('{conversation.native_id}') goes on with it)"
        )


def origin_of(file: Path) -> Origin | None:
    """A journal as `discover` finds it; None when it is not there, or no plain file."""
    return next(iter(journals.origins(NAME, [file], file.parent)), None)


def _is_entry(line: bytes) -> bool:
    entry = parse(line)
    # The journals of driven agents look much the same, but for the number each entry has there.
    return entry is not None and "n" not in entry.more


READER = Native()
