"""What a model is shown when a session is gone on with: its last summary, and what came since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rireki.sources.claude_code.drafts import Draft
from rireki.sources.claude_code.repair import loads

__all__ = ["shown"]


def shown(drafts: Sequence[Draft]) -> list[str]:
    """Ids of messages in the order a model gets them; all of them without a compaction."""
    last = next((d for d in reversed(drafts) if d.what == "divider" and not d.abandoned), None)
    if last is None:
        return [draft.id for draft in drafts]
    at = drafts.index(last)
    kept = _kept_by(last)
    before = [draft.id for draft in drafts[:at] if kept & _uuids(draft)]
    return [last.id, *before, *(draft.id for draft in drafts[at + 1 :])]


def _kept_by(divider: Draft) -> set[str]:
    """A compaction may spare the last few messages: they follow its summary as they were."""
    kept: set[str] = set()
    for line in divider.lines:
        value = loads(line.data)
        metadata = _inside(value, "compactMetadata")
        uuids = _inside(_inside(metadata, "preservedMessages"), "allUuids")
        kept.update(uuid for uuid in uuids or () if isinstance(uuid, str))
    return kept


def _uuids(draft: Draft) -> set[str]:
    return {line.look.uuid for line in draft.lines if line.look is not None and line.look.uuid}


def _inside(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
