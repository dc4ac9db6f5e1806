"""What the readers of Amazon Q and Kiro have in common: everything but where they look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rireki.model.conversation import Conversation, Reading
from rireki.model.strand import Strand
from rireki.sources.amazon_q.resume import resume_command
from rireki.sources.amazon_q.roles import V3_PREFIX
from rireki.sources.amazon_q.rows import read_database
from rireki.sources.kit.document import read_document
from rireki.sources.kit.jsonl import read_lines
from rireki.sources.reader import Known, Origin, Roll, Update

__all__ = ["Family"]


class Family:
    family = "amazon-q"

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        if origin.form == "database":
            return read_database(origin, known)
        return read_lines(origin, known) if origin.form == "lines" else read_document(origin, known)

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        # Imported late: discovering and reading need none of it.
        from rireki.sources.amazon_q import fold

        return fold.interpret(conversation, strands)

    def grouping(self, native_id: str) -> str:
        """What the records of a conversation are filed under, given the agent's name for it."""
        return native_id.removeprefix(V3_PREFIX)

    def resume(self, conversation: Conversation) -> str | None:
        return resume_command(conversation)
