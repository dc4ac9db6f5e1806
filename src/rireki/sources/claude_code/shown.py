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
    before = [draft.id for draft in _kept_by(last, drafts[:at])]
    return [last.id, *before, *(draft.id for draft in drafts[at + 1 :])]


def _kept_by(divider: Draft, before: Sequence[Draft]) -> list[Draft]:
    """A compaction may spare the last few messages: they follow its summary as they were.

    It names all of them, or the first and the last.
    """
    kept: dict[str, Draft] = {}
    for line in divider.lines:
        metadata = _inside(loads(line.data), "compactMetadata")
        named = _inside(_inside(metadata, "preservedMessages"), "allUuids")
        listed = named if isinstance(named, list) else []
        uuids = {uuid for uuid in listed if isinstance(uuid, str)}
        found = [draft for draft in before if uuids & _uuids(draft)]
        segment = _inside(metadata, "preservedSegment")
        for draft in found or _between(before, segment):
            kept[draft.id] = draft
    return list(kept.values())


def _between(drafts: Sequence[Draft], segment: Any) -> Sequence[Draft]:
    ends = {str(_inside(segment, name)) for name in ("headUuid", "tailUuid")}
    places = [at for at, draft in enumerate(drafts) if _uuids(draft) & ends]
    return drafts[places[0] : places[-1] + 1] if places else []


def _uuids(draft: Draft) -> set[str]:
    return {line.look.uuid for line in draft.lines if line.look is not None and line.look.uuid}


def _inside(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
