"""Forgetting a conversation for good: the only thing that ever removes bytes from an archive."""

from __future__ import annotations

from rireki.archive import forgetting
from rireki.archive.base import Archive, Found
from rireki.errors import RirekiError
from rireki.intake.interpret import with_subagents

__all__ = ["forget"]


def forget(archive: Archive, found: Found) -> int:
    """Remove a conversation and its sub-agents; returns how many bytes of records went."""
    conversation = found.conversation
    if (
        conversation.nature == "subagent"
        and conversation.id != f"{conversation.source}/{found.grouping}"
    ):
        raise RirekiError(
            "part-of-a-file", id=conversation.id, source=conversation.source, whole=found.grouping
        )
    return forgetting.forget(archive, with_subagents(archive, found))
