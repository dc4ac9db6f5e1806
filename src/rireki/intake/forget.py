"""Forgetting a conversation for good: the only thing that ever removes bytes from an archive."""

from __future__ import annotations

from rireki.archive.base import Archive, Found
from rireki.errors import RirekiError

__all__ = ["forget", "with_subagents"]


def with_subagents(archive: Archive, found: Found) -> list[Found]:
    """A conversation and the sub-agents that worked for it, and theirs."""
    everything = {found.conversation.id: found}
    waiting = [found]
    while waiting:
        for link in waiting.pop().conversation.links:
            if link.kind == "subagent" and link.side == "child" and link.id not in everything:
                everything[link.id] = archive.find(link.id)
                waiting.append(everything[link.id])
    return list(everything.values())


def forget(archive: Archive, found: Found) -> int:
    """Remove a conversation and its sub-agents; returns how many bytes of records went."""
    conversation = found.conversation
    if conversation.nature == "subagent" and found.grouping != conversation.native_id:
        raise RirekiError(
            f"{conversation.id} is part of the file of {conversation.source}/{found.grouping}",
            f"Forget the whole: rireki forget {conversation.source}/{found.grouping}",
        )
    return sum(archive.forget(each) for each in with_subagents(archive, found))
