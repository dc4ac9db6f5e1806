"""Everything an archive holds that must not depend on when and how often it was imported."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

from rireki.archive.base import Archive, Filter
from rireki.model.conversation import Conversation


def dump(archive: Archive) -> dict[str, Any]:
    """Comparable with `==`: strands with their content and story, conversations with their links."""
    return {
        "strands": sorted(_strands(archive)),
        "conversations": {
            conversation.id: _timeless(conversation)
            for conversation in archive.conversations(Filter(subagents=True))
        },
        "answers": dict(archive.answers()),
        "troubles": archive.troubles(),
        "waiting": list(archive.pending()),
    }


def _timeless(conversation: Conversation) -> Any:
    if conversation.times_from == "rireki":
        conversation.started_at = conversation.updated_at = "when it was seen"
    return msgspec.to_builtins(conversation)


def _strands(archive: Archive) -> list[tuple[Any, ...]]:
    found = []
    for group in archive.groups():
        for strand in archive.strands(group.family, group.conversation):
            lanes = sorted({run.lane for state in strand.states for run in state.runs})
            story = [
                [(sha256(o.data).hexdigest(), o.present) for o in strand.story(lane)]
                for lane in lanes
            ]
            content = sha256(strand.document()).hexdigest()
            found.append(
                (strand.source, strand.place, strand.key, strand.role, content, str(story))
            )
    return found
