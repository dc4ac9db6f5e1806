"""Which of Cursor's forms the strands of a conversation have: rows of the editor, a chat, a transcript."""

from __future__ import annotations

from collections.abc import Sequence

from rireki.model.conversation import Reading
from rireki.model.strand import Strand
from rireki.sources.cursor.chats import read_chat_messages
from rireki.sources.cursor.composers import read_composer, read_panel
from rireki.sources.cursor.roles import PANEL, TRANSCRIPTS
from rireki.sources.cursor.transcripts import read_transcript

__all__ = ["interpret"]


def interpret(source: str, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
    if any(strand.role == PANEL for strand in strands):
        return read_panel(conversation, strands)
    written = [strand for strand in strands if strand.role in TRANSCRIPTS]
    return (
        read_composer(conversation, strands)
        or read_chat_messages(conversation, strands)
        or (read_transcript(conversation, written) if written else [])
    )
