"""A source made up for tests: `notes/…/<id>.jsonl`, one `{"id", "who", "text", "at"?, "project"?}` per line.

It is the smallest complete reader, and what CONTRIBUTING.md shows to people who write one.
"""

from __future__ import annotations

from collections.abc import Sequence

from rireki.model.conversation import Reading, Trouble
from rireki.model.parts import Text
from rireki.model.strand import Strand
from rireki.sources.kit.files import FileKind, FileReader, FilesBelow
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.places import Places
from rireki.sources.kit.records import records_of


class Plain(FileReader):
    name = "plain"
    family = "plain"

    def below(self, places: Places) -> list[FilesBelow]:
        return [FilesBelow(places.home / "notes", [FileKind("**/*.jsonl")])]

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        told = ConversationBuilder(self.name, conversation, strands, title="")
        for strand in strands:
            for line in records_of(strand, told.troubles):
                if not all(map(line.text, ("id", "who", "text"))):
                    place = f"{strand.place}: line {line.position}"
                    told.troubles.append(Trouble(place, "not a note"))
                    continue
                say = told.ask if line.text("who") == "me" else told.answer
                say(line, line.text("id"), [Text(line.text("text"))], at=line.text("at") or None)
                told.note_directory(line.text("project"))
        return [told.reading()]


READER = Plain()
