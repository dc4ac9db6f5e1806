"""Every row that a thread ever held, in order, each with what became of it.

The same thread may lie in several databases (a copy, a backup, a file that was
moved): its rows are told once, as the copy that changed last has them. What a
row says is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rireki.model.strand import Ref, Strand, weave
from rireki.sources.chatkit.records import DecodedRecord, identity_of, is_deleted, open_record
from rireki.sources.chatkit.rows import INNER

__all__ = ["ItemVersion", "ranked", "rows_of"]

#: What agents without ids of their own call every answer: the same name, but not the same answer.
PLACEHOLDERS = ("__fake_id__",)


class ItemVersion(NamedTuple):
    """One version of one row."""

    #: What the messages made of it are called.
    name: str
    row: DecodedRecord
    refs: list[Ref]
    present: bool
    #: The name of the version that took its place.
    replaced_by: str | None


@dataclass(slots=True)
class _Seen:
    row: DecodedRecord
    identity: bytes
    refs: list[Ref] = field(default_factory=list)
    #: The best copy that holds it still; 0 is the leading one.
    rank: int | None = None

    @property
    def id(self) -> str:
        return self.row.text("id") or f"row-{self.identity.hex()[:8]}"


def ranked(strands: Sequence[Strand]) -> list[Strand]:
    """The copies of a thread: those that are there before those that are gone, the newest first."""
    return sorted(
        strands, key=lambda one: (one.present, one.states[-1].number, one.id), reverse=True
    )


def rows_of(copies: Sequence[Strand], lane: str) -> list[ItemVersion]:
    """The rows of a table, told from copies of which the leading one comes first."""
    seen: dict[bytes, _Seen] = {}
    orders: list[list[tuple[bytes, bool]]] = []
    for rank, strand in enumerate(copies):
        order: list[tuple[bytes, bool]] = []
        for record in strand.story(lane):
            identity = identity_of(record.data)
            if identity not in seen:
                seen[identity] = _Seen(open_record(record.data, INNER[lane]), identity)
            one = seen[identity]
            deleted = is_deleted(record.data)
            if deleted:
                one.row = open_record(record.data, INNER[lane])
            present = record.present and not deleted
            one.refs.append(Ref(strand.id, lane, record.ordinal))
            if present and one.rank is None:
                one.rank = rank
            order.append((identity, present))
        orders.append(order)
    return _versions([seen[identity] for identity in _order(orders)])


def _order(orders: Sequence[Sequence[tuple[bytes, bool]]]) -> Iterable[bytes]:
    """Each row once: where the leading copy has it now, else where it first stood."""
    places = orders[0] if len(orders) == 1 else _woven(orders)
    held = {identity for identity, present in places if present}
    return dict.fromkeys(
        identity for identity, present in places if present or identity not in held
    )


def _woven(orders: Sequence[Sequence[tuple[bytes, bool]]]) -> list[tuple[bytes, bool]]:
    numbers: dict[bytes, int] = {}
    for order in orders:
        for identity, _ in order:
            numbers.setdefault(identity, len(numbers))
    lists = [[[numbers[identity] for identity, _ in order]] for order in reversed(orders)]
    identities = list(numbers)
    return [(identities[number], present) for number, present, _ in weave(lists)]


def _versions(story: Sequence[_Seen]) -> list[ItemVersion]:
    """A row that the app saved again: the older versions step aside, right where they stood."""
    by_id: dict[str, list[_Seen]] = {}
    for one in story:
        by_id.setdefault(one.id, []).append(one)
    told: dict[bytes, ItemVersion] = {}
    for name, versions in by_id.items():
        current = versions if name in PLACEHOLDERS else _current(versions)
        # What a row held before it broke was not replaced by anything.
        successor = None if all(one.row.wrong for one in current) else name
        old = [one for one in versions if one not in current]
        for number, one in enumerate(current, 1):
            own = name if number == 1 else f"{name}.{number}"
            told[one.identity] = ItemVersion(own, one.row, one.refs, one.rank is not None, None)
        for number, one in enumerate(old, 1):
            told[one.identity] = ItemVersion(
                f"{name}~{number}", one.row, one.refs, False, successor
            )
    return [told[one.identity] for one in story]


def _current(versions: Sequence[_Seen]) -> list[_Seen]:
    """What the leading copy holds under one id; what was seen last where none holds it any more."""
    ranks = [one.rank for one in versions if one.rank is not None]
    return [one for one in versions if one.rank == min(ranks)] if ranks else [versions[-1]]
