"""One transaction: what an origin holds now, which records of it are new, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from rireki.archive.curation import move_facts
from rireki.archive.pack import Chunk
from rireki.archive.projection import Projection
from rireki.archive.records import Digests, HeldBytes, LastState, Records, decoded_cursor
from rireki.archive.rows import Rows
from rireki.archive.values import Group, KnownOrigin, PendingGroup, Stale, StoredReading
from rireki.model.conversation import Reading, Trouble
from rireki.model.record import Content, Origin, Update
from rireki.model.strand import Run, expand, extended, shorten

__all__ = ["Batch"]


class Batch:
    """All of it is kept, or nothing."""

    def __init__(self, rows: Rows, records: Records, projection: Projection, now: str) -> None:
        self.rows = rows
        self.records = records
        self.projection = projection
        self.now = now
        #: The number of this change.
        self.number = rows.next_number()
        #: The conversations that were stored, whose links may be others now.
        self.projected: list[int] = []
        #: Conversations of which a person said something, by family and their own id.
        self.curated: set[tuple[str, str]] = set()
        self._origins: dict[tuple[str, str], int] = {}

    # ── origins ──

    def finish(self, origin: Origin, keys: Sequence[str] | None = None) -> None:
        """The origin was read to its end, and nothing is wrong with it as a whole: an equal stamp
        need not be opened again. Strands of it that are not in `keys` have vanished."""
        number = self._origin(origin)
        if keys is not None:
            self._roll(number, set(keys))
        self._note(number, "*", [])
        self.rows.change("origin", {"id": number}, stamp=origin.stamp)

    def _roll(self, number: int, keys: set[str]) -> None:
        for strand, key, gone, group in self._held(number):
            if (key in keys) != gone:
                continue
            if gone:
                self._revive(strand)
            else:
                self._vanish(strand)
                self._note(number, key, [])
            self.projection.mark_stale(*group, self.number)

    def fail(self, origin: Origin, trouble: Trouble) -> None:
        """The origin as a whole could not be read."""
        self._note(self._origin(origin), "*", [trouble])

    def vanish(self, origin: KnownOrigin) -> None:
        self.rows.change("origin", {"id": origin.id}, vanished_at=self.now, stamp="")
        self.rows.change("strand", {"origin": origin.id}, number=self.number)
        for strand, _, gone, group in self._held(origin.id):
            if not gone:
                self._vanish(strand)
                self.projection.mark_stale(*group, self.number)

    def move(self, known: KnownOrigin, origin: Origin) -> None:
        """The file lies elsewhere now."""
        values = {"place": origin.place, "root": origin.root, "stamp": "", "vanished_at": None}
        self.rows.change("origin", {"id": known.id}, **values)
        self.rows.change("strand", {"origin": known.id}, number=self.number)
        for _, _, _, group in self._held(known.id):
            self.projection.mark_stale(*group, self.number)

    def _origin(self, origin: Origin) -> int:
        name = (origin.source, origin.place)
        if name not in self._origins:
            self._origins[name] = self._known_origin(origin)
        return self._origins[name]

    def _known_origin(self, origin: Origin) -> int:
        known = self.records.origin(origin.source, origin.place, "id, vanished_at")
        for number, vanished_at in known:
            if vanished_at is not None:
                self.rows.change("origin", {"id": number}, vanished_at=None)
            return int(number)
        return self.rows.add(
            "origin",
            source=origin.source,
            place=origin.place,
            root=origin.root,
            form=origin.form,
            role=origin.role,
            first_seen=self.now,
        )

    def _held(self, origin: int) -> list[tuple[int, str, bool, Group]]:
        """Strand, key, whether it vanished and the group, of everything an origin ever held."""
        rows = self.rows.get("strand", "id, key, vanished_at, family, conversation", origin=origin)
        return [
            (id, key, vanished_at is not None, (family, conversation))
            for id, key, vanished_at, family, conversation in rows
        ]

    def _vanish(self, strand: int) -> None:
        now = self._moment(self.records.last_state(strand))
        self.rows.change("strand", {"id": strand}, vanished_at=now, number=self.number)
        self._put_state(strand, now, "", b"")

    def _revive(self, strand: int) -> None:
        """The source holds it again, as it was."""
        last = self.records.last_state(strand)
        self.rows.change("strand", {"id": strand}, vanished_at=None, number=self.number)
        if last is not None:
            self._put_state(strand, self._moment(last), _encoded(last.held), last.held_tail)

    def _note(self, origin: int, key: str, troubles: Sequence[Trouble]) -> None:
        """Replace what is known to be wrong with a strand (or, with key "*", the whole origin)."""
        self.rows.remove("trouble", origin=origin, key=key)
        told = ((origin, key, t.place, t.message, t.hint, self.now) for t in troubles)
        self.rows.put("trouble", "origin, key, place, message, hint, at", *told)

    # ── strands ──

    def add(
        self,
        origin: Origin,
        family: str,
        update: Update,
        before: Any,
        packed: Sequence[Chunk] | None = None,
    ) -> int:
        """Keep an update; returns how many bytes were new. Raises Stale when the cursor is not `before`."""
        number = self._origin(origin)
        family = update.family or family
        if update.conversation and self.projection.is_forgotten(family, update.conversation):
            # Forgotten since it was read: what was read then must not come back.
            return 0
        columns = "id, cursor, vanished_at, family, conversation, project"
        known = self.rows.get("strand", columns, origin=number, key=update.key)
        if (decoded_cursor(known[0][1]) if known else None) != before:
            raise Stale(update.key)
        if known:
            size = self._add_to(family, update, before, packed, known[0])
        else:
            size = self._add_new(number, family, update, packed)
        if known or update.troubles:
            self._note(number, update.key, update.troubles)
        if update.replaces is not None:
            self._note_succession(number, family, update)
        return size

    def _add_new(
        self, origin: int, family: str, update: Update, packed: Sequence[Chunk] | None
    ) -> int:
        strand = self.rows.add(
            "strand",
            origin=origin,
            key=update.key,
            family=family,
            conversation=update.conversation,
            role=update.role,
            project=update.project,
            cursor=_encoded(update.cursor),
            first_seen=self.now,
            last_seen=self.now,
            number=self.number,
        )
        runs, size = self._keep(strand, update, packed, None)
        self._keep_state(strand, runs, update, None)
        self.projection.mark_stale(family, update.conversation, self.number)
        return size

    def _add_to(
        self,
        family: str,
        update: Update,
        before: Any,
        packed: Sequence[Chunk] | None,
        known: Sequence[Any],
    ) -> int:
        strand, cursor, vanished_at, *rest, project = known
        last = self.records.last_state(strand)
        runs, size = self._keep(strand, update, packed, last)
        changed = self._keep_state(strand, runs, update, last)
        left, group = tuple(rest), (family, update.conversation)
        found = update.project not in (None, project)
        values: dict[str, Any] = {"cursor": _encoded(update.cursor)}
        if changed or found or left != group or vanished_at is not None or before is None:
            values |= {"family": family, "conversation": update.conversation, "role": update.role}
            values |= {"project": update.project if found else project}
            values |= {"last_seen": self._moment(last), "vanished_at": None}
            self.projection.mark_stale(*group, self.number)
        if values != {"cursor": cursor}:
            self.rows.change("strand", {"id": strand}, **values, number=self.number)
        if left != group:
            self.leave(left, group)
        return size

    def leave(self, left: Group, group: Group) -> None:
        """A strand belongs to another conversation now: both are to be read anew."""
        self.projection.mark_stale(*left, self.number)
        if None not in (*left, *group) and not self._strands(*left):
            # What it was read as so far is found until it is read as what it turned out to be.
            old = {"family": left[0], "grouping": left[1]}
            self.rows.change("conversation", old, family=group[0], grouping=group[1])
            move_facts(self, (left[0], str(left[1])), (group[0], str(group[1])))

    def _strands(self, family: str, conversation: str | None) -> list[int]:
        found = self.rows.get("strand", "id", family=family, conversation=conversation)
        return [id for (id,) in found]

    def _note_succession(self, origin: int, family: str, update: Update) -> None:
        found = self.rows.get("strand", "conversation", origin=origin, key=update.replaces)
        for (parent,) in found:
            if parent not in (None, update.conversation):
                # Chats that overwrite each other in turn do so again and again: the last time counts.
                told = (family, update.conversation, parent, self.now, self.number)
                self.rows.put("succession", "family, child, parent, at, number", told)

    # ── which records are new ──

    def _keep(
        self, strand: int, update: Update, packed: Sequence[Chunk] | None, last: LastState | None
    ) -> tuple[list[Run], int]:
        """Store the records that are new; returns the runs of the new state and the new bytes."""
        if update.grows or packed is not None:
            return self._keep_growth(strand, update, packed, last)
        size = 0
        runs = []
        known: dict[str, Digests] = {}
        for content in update.contents:
            lane = content.lane
            if lane not in known:
                known[lane] = self.records.chunks.digests(strand, lane) if last else {}
            ordinals, new = self._keep_content(strand, content, known[lane])
            size += new
            runs.append(Run(lane, shorten(ordinals), content.separator))
        return runs, size

    def _keep_growth(
        self, strand: int, update: Update, packed: Sequence[Chunk] | None, last: LastState | None
    ) -> tuple[list[Run], int]:
        """What follows the records the strand held last; perhaps packed by another process."""
        (content,) = update.contents
        chunks = self.records.chunks
        runs = last.held if last else ()
        if update.keeps is not None:
            runs = HeldBytes(self.rows, strand, runs).until(update.keeps)
        if packed is not None:
            first = chunks.count(strand, content.lane) if last else 0
            chunks.insert(strand, packed)
            count, size = sum(c.count for c in packed), sum(c.size for c in packed)
            ordinals = list(range(first, first + count))
        elif any(piece.digest for piece in content.pieces):
            before = runs[-1].records if runs and runs[-1].lane == content.lane else ""
            known = chunks.digests(strand, content.lane)
            after = (expand(before) or [-1])[-1]
            ordinals, size = self._keep_content(strand, content, known, after)
        else:
            ordinals, size = self._append(strand, content)
        return list(extended(runs, content.lane, ordinals)), size

    def _append(self, strand: int, content: Content) -> tuple[list[int], int]:
        """Records that are new for certain."""
        records = [piece.data for piece in content.pieces]
        if not records:
            return [], 0
        first = self.records.chunks.count(strand, content.lane)
        self.records.chunks.append(strand, content.lane, records, ())
        return list(range(first, first + len(records))), sum(map(len, records))

    def _keep_content(
        self, strand: int, content: Content, known: Digests, after: int = -1
    ) -> tuple[list[int], int]:
        ordinals: list[int] = []
        records: list[bytes] = []
        digests: list[bytes] = []
        following = self.records.chunks.count(strand, content.lane)
        ordinal = after
        for piece in content.pieces:
            same = known.get(piece.digest)
            if same is None:
                ordinal = following + len(records)
                known[piece.digest] = [ordinal]
                records.append(piece.data)
                digests.append(piece.digest)
            else:
                # Of equal records, the one that follows its neighbour keeps the story in order.
                ordinal = next((each for each in same if each > ordinal), same[-1])
            ordinals.append(ordinal)
        if records:
            self.records.chunks.append(strand, content.lane, records, digests)
        return ordinals, sum(map(len, records))

    # ── states ──

    def _keep_state(
        self, strand: int, runs: Sequence[Run], update: Update, last: LastState | None
    ) -> bool:
        """Note what the strand holds now, if that is not what it held before."""
        encoded = _encoded(runs)
        if last and (last.runs, last.tail) == (encoded, update.tail):
            return False
        if last and last.runs and update.continues:
            self.rows.remove("state", strand=strand, number=last.number)
        self._put_state(strand, self._moment(last), encoded, update.tail)
        return True

    def _put_state(self, strand: int, at: str, runs: str, tail: bytes) -> None:
        columns = "strand, number, at, runs, tail"
        self.rows.put("state", columns, (strand, self.number, at, runs, tail))

    def _moment(self, last: LastState | None) -> str:
        """Not before the last change of the strand: a clock may be set back, what was seen was seen."""
        return max(self.now, last.at) if last else self.now

    # ── meaning ──

    def project(
        self, pending: PendingGroup, readings: Sequence[Reading], strands: int | None = None
    ) -> list[StoredReading]:
        """Store what the records of a conversation mean, unless they changed meanwhile.

        Of a new one nobody knows the number of its change: then it is to consist of just so many
        `strands`, those that were read. Tokens that it shares with others become links when the
        transaction ends.
        """
        number = self.projection.waiting(*pending[:2])
        if strands is not None:
            if number is None or len(self._strands(*pending[:2])) != strands:
                return []
            pending = pending._replace(number=number)
        elif number != pending.number:
            return []
        self.projection.clean(pending)
        stored = self.projection.store(pending, readings, self.number)
        self.projected += stored
        if any(reading.conversation.nature == "titles" for reading in readings):
            self.projected += self.rows.named_by(*pending[:2])
        return list(stored.values())


def _encoded(value: Any) -> str:
    return msgspec.json.encode(value).decode()
