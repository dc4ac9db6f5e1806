"""Where Amp keeps its threads: a JSON document per thread, written whole."""

from __future__ import annotations

from rireki.model.conversation import Conversation
from rireki.sources.kit.files import FileKind, FileReader, FilesBelow
from rireki.sources.kit.pieces import Cuts
from rireki.sources.kit.places import Places, in_project

__all__ = ["MESSAGES", "NAME", "READER"]

NAME = "amp"
#: The lane of the messages of a thread.
MESSAGES = "messages"
#: Which rule decided, in words.
REASONS = {
    "answer": "answer of the model",
    "typed prompt": "typed by the person",
    "tool results": "result of a tool",
    "shell command": "command the person ran with !",
    "summary": "summary of a compacted context",
}


class ThreadReader(FileReader):
    name = NAME
    family = NAME
    meaning = "rireki.sources.amp.messages"
    reasons = REASONS
    cuts = {"main": Cuts({"messages": MESSAGES})}  # noqa: RUF012

    def below(self, places: Places) -> list[FilesBelow]:
        # Its folder also has secrets.json, which no pattern names.
        kinds = [FileKind("threads/T-*.json", "document")]
        return [FilesBelow(root, kinds, "{n} threads") for root in places.data_directories(NAME)]

    def resume(self, conversation: Conversation) -> str | None:
        return in_project(conversation, "amp threads continue", with_id=True)

    def revive(self, conversation: Conversation) -> str | None:
        """The file goes back to where threads lie."""
        return f"cp -r DIR/threads ~/.local/share/amp/ && {self.resume(conversation)}"


READER = ThreadReader()
