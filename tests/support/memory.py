"""An archive in a dictionary: what intake does with updates, told in sixty lines.

Readers are tested against it without SQLite, and the real archive against it as a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rireki.model.conversation import Reading
from rireki.model.record import digest_of_bytes
from rireki.model.strand import Run, State, Strand, expand, shorten
from rireki.sources.kit.places import Places
from rireki.sources.reader import Known, Origin, Reader, Roll, Update


class Memory:
    """Takes what a reader reads, as often as you like, and lets it interpret what was kept."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.lanes: dict[tuple[str, str, str], list[bytes]] = {}
        self.digests: dict[tuple[str, str, str], dict[bytes, list[int]]] = {}
        self.strands: dict[tuple[str, str], Strand] = {}
        self.cursors: dict[str, dict[str, object]] = {}
        self.clock = 0

    def import_home(self, home: Path) -> None:
        for origin in self.reader.discover(Places.at(home)).origins:
            self.take(origin)

    def take(self, origin: Origin) -> None:
        self.clock += 1
        cursors = self.cursors.setdefault(origin.place, {})
        for item in self.reader.read(origin, Known(cursors)):
            if isinstance(item, Roll):
                for (place, key), strand in self.strands.items():
                    if place == origin.place:
                        strand.vanished_at = None if key in item.keys else self.now
            else:
                self.apply(origin, item)
                cursors[item.key] = item.cursor

    @property
    def now(self) -> str:
        return f"2026-01-01T00:00:{self.clock:02d}.000Z"

    def apply(self, origin: Origin, update: Update) -> None:
        name = (origin.place, update.key)
        strand = self.strands.get(name)
        if strand is None:
            strand = self.strands[name] = Strand(
                id=len(self.strands) + 1,
                source=origin.source,
                role=update.role,
                place=origin.place,
                key=update.key,
                conversation=update.conversation,
                project=update.project,
                first_seen=self.now,
                states=[],
                fetch=lambda lane, ordinals: [self.lanes[(*name, lane)][n] for n in ordinals],
            )
        strand.vanished_at, strand.last_seen = None, self.now
        strand.cursor = update.cursor
        runs = []
        for content in update.contents:
            lane = self.lanes.setdefault((*name, content.lane), [])
            known = self.digests.setdefault((*name, content.lane), {})
            ordinals = []
            if update.grows and strand.states:
                for run in strand.states[-1].runs:
                    ordinals += expand(run.records) if run.lane == content.lane else []
            ordinal = -1
            for piece in content.pieces:
                digest = piece.digest or digest_of_bytes(piece.data)
                same = known.setdefault(digest, [])
                if update.grows or not same:
                    same.append(len(lane))
                    lane.append(piece.data)
                    ordinal = same[-1]
                else:
                    # As the archive does: of equal records the one that follows its neighbour.
                    ordinal = next((each for each in same if each > ordinal), same[-1])
                ordinals.append(ordinal)
            runs.append(Run(content.lane, shorten(ordinals), content.separator))
        strand.states.append(State(len(strand.states) + 1, self.now, tuple(runs), update.tail))

    def readings(self) -> dict[str, Reading]:
        """Every conversation, by id."""
        groups: dict[str, list[Strand]] = {}
        for strand in self.strands.values():
            if strand.conversation is not None:
                groups.setdefault(strand.conversation, []).append(strand)
        found: dict[str, Reading] = {}
        for conversation, strands in groups.items():
            for reading in self._interpret(conversation, strands):
                found[reading.conversation.id] = reading
        return found

    def _interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        return self.reader.interpret(conversation, strands)
