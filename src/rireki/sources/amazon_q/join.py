"""One conversation from two stores: what a log adds to what is told already.

Copies are known by the ids of their answers; an export gives new ids to what a
person said, and to answers that had none. What only the log has is put where it
stood between the copies. Nothing here knows what a store is.
"""

from __future__ import annotations

from collections.abc import Sequence

from rireki.sources.amazon_q.draft import Draft

__all__ = ["join"]


def join(flow: list[Draft], drafts: Sequence[Draft]) -> list[Draft]:
    """Put into the flow what the drafts have beyond it; returns what was put in."""
    seam = _Seam(flow)
    for draft in drafts:
        seam.take(draft)
    added = [draft for _, kept in seam.pieces for draft in kept]
    waiting = {draft.witness for draft in added if draft.witness}
    flow[:] = [draft for draft in flow if not (draft.last and draft.witness in waiting)]
    for twin, kept in reversed(seam.pieces):
        place = _end(flow) if twin is None else _start_of(flow, twin)
        flow[place:place] = kept
    return added


class _Seam:
    """Walks through a copy, and cuts it at every message that the flow has too."""

    def __init__(self, flow: Sequence[Draft]) -> None:
        self._flow = flow
        self._known = {draft.message.id: draft for draft in flow}
        self._known |= {draft.answer: draft for draft in flow if draft.answer}
        self._unnamed = [one for one in flow if one.role == "assistant" and not one.answer]
        self._kept: list[Draft] = []
        #: User sides whose answer is still to come, and what stands between them and it.
        self._asking: list[Draft] = []
        #: What is new, each piece with the message before which it stands; the end is None.
        self._pieces: list[tuple[Draft | None, list[Draft]]] = []

    @property
    def pieces(self) -> list[tuple[Draft | None, list[Draft]]]:
        return [*self._pieces, (None, [*self._kept, *self._asking])]

    def take(self, draft: Draft) -> None:
        twin = self._known.get(draft.message.id) or self._unnamed_twin(draft)
        if twin is not None:
            self._cut(twin, draft)
        elif draft.role == "assistant" or draft.message.display == "divider":
            # Behind a divider, nobody answers what was asked before it.
            self._kept += [*self._asking, draft]
            self._asking = []
        else:
            self._asking.append(draft)

    def _cut(self, twin: Draft, copy: Draft) -> None:
        asked = self._asking
        if copy.role == "assistant":
            # What asked for an answer that we have is a copy too, under another id.
            asked = [draft for draft in asked if draft.role not in ("user", "context")]
        if self._kept or asked:
            self._pieces.append((twin, [*self._kept, *asked]))
        self._kept, self._asking = [], []
        if copy.message.upstream == "present":
            self._revive(twin)

    def _unnamed_twin(self, draft: Draft) -> Draft | None:
        """The client's own texts have no id in a row, and a new one in its export."""
        if draft.role != "assistant":
            return None
        for one in self._unnamed:
            if one.witness == draft.witness:
                self._unnamed.remove(one)
                return one
        return None

    def _revive(self, twin: Draft) -> None:
        """What one store has lost and the other still holds is not gone: an answer, and what it answers."""
        for draft in self._flow:
            same = draft is twin or (draft.group == twin.group and twin.role == "assistant")
            if same and draft.message.replaced_by is None:
                draft.message.upstream = "present"


def _start_of(flow: Sequence[Draft], twin: Draft) -> int:
    """Where the entry of a message begins."""
    place = next((place for place, draft in enumerate(flow) if draft is twin), len(flow))
    while place and twin.group and flow[place - 1].group == twin.group:
        place -= 1
    return place


def _end(flow: Sequence[Draft]) -> int:
    return next((place for place, draft in enumerate(flow) if draft.last), len(flow))
