"""The command that goes on with a conversation, for the agent that still has it."""

from __future__ import annotations

from shlex import quote

from rireki.model.conversation import Conversation
from rireki.sources.amazon_q.roles import V3_PREFIX

__all__ = ["resume_command"]


def resume_command(conversation: Conversation) -> str | None:
    """None where no agent has it: it was overwritten, or known from a saved file only."""
    if conversation.nature != "conversation":
        return None
    place = f"cd {quote(conversation.project)} && " if conversation.project else ""
    if "amazon-q" in conversation.held_by:
        # The client takes no id: it goes on with whatever its directory holds.
        return f"{place}q chat --resume" if place else None
    if "kiro" in conversation.held_by:
        # By id, in its directory, because Kiro lists sessions per directory.
        engine = "--v3" if conversation.native_id.startswith(V3_PREFIX) else "chat"
        return f"{place}kiro-cli {engine} --resume-id {quote(conversation.native_id)}"
    return None
