"""A delta as a team may have it: without what no rule shares, and at the masked level without secrets.

What is left out here never reaches the code that sends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import structs

from rireki.archive.base import PersonFact
from rireki.archive.delta import Delta, OriginFacts, Part, StateFacts
from rireki.archive.pack import Chunk, pack, unpack
from rireki.intake.curate import for_team
from rireki.masking import Masker
from rireki.model.record import digest_of_bytes
from rireki.shares.plan import OF_ALL, GroupName, SharedGroup
from rireki.sync.outbox import OutgoingChanged

__all__ = ["OutgoingFilter"]


class OutgoingFilter:
    """Callable with a delta. `masker` is asked for when the first conversation is to be masked;
    `is_current` before each delta, which may be one of many: whether that is still what is shared."""

    def __init__(
        self,
        shared: Mapping[GroupName, SharedGroup],
        masker: Callable[[], Masker],
        is_current: Callable[[], bool] = lambda: True,
    ) -> None:
        self._shared = shared
        #: The same by the conversations' own ids.
        self._by_id = {
            (family, id.partition("/")[2]): group
            for (family, _), group in shared.items()
            for id in group.ids
        }
        self._is_current = is_current
        self._ask = masker
        self._masker: Masker | None = None

    def __call__(self, delta: Delta) -> Delta:
        if not self._is_current():
            raise OutgoingChanged
        parts = [part for part in delta.parts if self._group(part) is not None]
        masked = {part.strand.origin for part in parts if self._is_masked(part)}
        needed = {part.strand.origin for part in parts}
        origins = [
            self._masked_origin(origin) if origin.id in masked else origin
            for origin in delta.origins
            if origin.id in needed
        ]
        told = [self._masked_part(part) if self._is_masked(part) else part for part in parts]
        # Named one by one: what nobody thought of stays here. By name, what was forgotten or goes on
        # elsewhere would be told of what was never shared; the numbers of strands that went tell
        # nothing, and are enough.
        return Delta(
            after=delta.after,
            upto=delta.upto,
            origins=origins,
            parts=told,
            removed=delta.removed,
            forgotten=[],
            successions=[],
            facts=[told for fact in delta.facts for told in self._facts(fact)],
        )

    def wants(self, family: str, conversation: str | None) -> bool:
        return self._shared_as(family, conversation) is not None

    def _group(self, part: Part) -> SharedGroup | None:
        return self._shared_as(part.strand.family, part.strand.conversation)

    def _shared_as(self, family: str, name: str | None) -> SharedGroup | None:
        if name is None or name.startswith(OF_ALL):
            return None
        found = self._shared.get((family, name))
        return found if found is not None and found.level != "counts" else None

    def _is_masked(self, part: Part) -> bool:
        group = self._group(part)
        return group is None or group.level != "full"

    @property
    def masker(self) -> Masker:
        if self._masker is None:
            self._masker = self._ask()
        return self._masker

    def _facts(self, fact: PersonFact) -> Iterator[PersonFact]:
        """Titles and tags of what is shared; what its owner is called on his machine is left out."""
        group = self._by_id.get((fact.family, fact.conversation))
        if group is None or group.level not in ("masked", "full"):
            return
        text = self.masker.text if group.level == "masked" else str
        for told in for_team([fact]):
            value = told.value and text(told.value)
            yield structs.replace(told, name=text(told.name), value=value, author="")

    # ── without secrets ──

    def _masked_origin(self, origin: OriginFacts) -> OriginFacts:
        text = self.masker.text
        return structs.replace(origin, place=text(origin.place), root=text(origin.root))

    def _masked_part(self, part: Part) -> Part:
        strand, text = part.strand, self.masker.text
        facts = structs.replace(
            strand,
            key=text(strand.key),
            project=strand.project and text(strand.project),
            cursor=self.masker.record(strand.cursor.encode()).decode(),
        )
        chunks = [each for chunk in part.chunks for each in self._masked_chunk(chunk)]
        states = [self._masked_state(state) for state in part.states]
        return structs.replace(part, strand=facts, chunks=chunks, states=states)

    def _masked_state(self, state: StateFacts) -> StateFacts:
        return structs.replace(state, tail=self.masker.record(state.tail))

    def _masked_chunk(self, chunk: Chunk) -> list[Chunk]:
        records = unpack(chunk.data, chunk.size, chunk.lengths, f"lane {chunk.lane}")
        masked = self.masker.records(records)
        if masked == records:
            return [chunk]
        # Not those of what was there: a digest tells whether a guess at it is right.
        digests = [digest_of_bytes(record) for record in masked] if chunk.digests else []
        return pack(chunk.lane, chunk.first, masked, digests)
