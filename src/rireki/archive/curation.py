"""What people add to conversations: titles, tags, stars, notes, hiding; and saved searches.

Each is a fact with its author, machine and time. Of what two machines say of the same thing the
later word counts, whichever came first; what was taken back is a word too. What the facts of a
conversation come to is a projection of them. Nothing here knows what a tag is for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from rireki.archive.links import note_change
from rireki.archive.rows import Row, Rows, decoded
from rireki.archive.values import PersonFact
from rireki.model.conversation import Curation

if TYPE_CHECKING:
    from rireki.archive.batch import Batch

__all__ = [
    "FACT",
    "curation_of",
    "drop_facts",
    "facts_of",
    "facts_of_kind",
    "move_facts",
    "put_fact",
    "replaces",
    "retell_facts",
    "settle",
    "subjects",
    "title_of",
]

FACT = "family, conversation, message, kind, name, value, author, at, machine"


class _Titled(msgspec.Struct):
    title: str = ""


_TAGS = msgspec.json.Decoder(tuple[str, ...])
_TITLED = msgspec.json.Decoder(_Titled)
_COLUMNS = "title, tags, starred, hidden, notes"
#: What stands in the column `hidden` of what is about to be forgotten.
LEAVING = 2
#: Where a bad value was found.
_TABLE = "table curation"


# ── words, and which one counts ──


def put_fact(batch: Batch, fact: PersonFact, *, told: bool = False) -> bool:
    """Keep what was said, unless something was said later; `told` by another machine.

    What is said here counts from now on, whatever clock the word before it had.
    """
    if fact.conversation and batch.projection.is_forgotten(fact.family, fact.conversation):
        return False
    if told and not _after(fact.at):
        # No word of ours could come after it.
        return False
    known = _known(batch.rows, fact)
    if not told and known:
        fact = msgspec.structs.replace(fact, at=max(fact.at, _after(known.at)))
    if known and _rank(known) >= _rank(fact):
        return False
    # That something is about to be forgotten is nobody else's matter before it is.
    number = 0 if told or fact.kind == "forget" else batch.number
    batch.rows.put("fact", f"{FACT}, number", (*msgspec.structs.astuple(fact), number))
    if fact.conversation:
        batch.curated.add((fact.family, fact.conversation))
    return True


def replaces(rows: Rows, facts: Iterable[PersonFact]) -> bool:
    """Whether words that were written before go with these: they are to go from the disk, too."""
    known = (_known(rows, fact) for fact in facts)
    return any(before.value for before in known if before)


def _known(rows: Rows, fact: PersonFact) -> PersonFact | None:
    found = rows.get(
        "fact",
        FACT,
        family=fact.family,
        conversation=fact.conversation,
        message=fact.message,
        kind=fact.kind,
        name=fact.name,
    )
    return PersonFact(*found[0]) if found else None


def _rank(fact: PersonFact) -> tuple[str, str, bool, str]:
    """The later time counts, then the machine, then the words: everywhere the same."""
    return fact.at, fact.machine, fact.value is not None, fact.value or ""


def _after(at: str) -> str:
    """A millisecond later."""
    try:
        moment = datetime.fromisoformat(at) + timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        return ""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


# ── whose they are ──


def facts_of(rows: Rows, family: str, names: Iterable[str]) -> list[PersonFact]:
    """All that counts now of the conversation of these names; what was taken back does not."""
    found: dict[tuple[str, str, str], PersonFact] = {}
    for name in names:
        for row in rows.get("fact", FACT, family=family, conversation=name):
            fact = PersonFact(*row)
            known = found.get(key := (fact.message, fact.kind, fact.name))
            if known is None or _rank(known) < _rank(fact):
                found[key] = fact
    return [found[key] for key in sorted(found) if found[key].value is not None]


def facts_of_kind(rows: Rows, kind: str) -> list[PersonFact]:
    """What was said of this kind, of whatever conversation, and not taken back."""
    found = (PersonFact(*row) for row in rows.get("fact", FACT, kind=kind))
    return [fact for fact in found if fact.value is not None]


def subjects(rows: Rows, number: int, family: str, native_id: str) -> list[str]:
    """The names that facts of a conversation may stand under: its own, and those it had before."""
    found = rows.get("tie", "token", conversation=number, kind="alias", role="offer")
    aliases = dict.fromkeys(token for (token,) in found)
    taken = [a for a in aliases if rows.get("conversation", "id", family=family, native_id=a)]
    return [native_id, *(alias for alias in aliases if alias not in taken)]


def move_facts(batch: Batch, left: tuple[str, str], group: tuple[str, str]) -> None:
    """What was said of a conversation that turned out to be another one is said of that."""
    for row in batch.rows.get("fact", f"{FACT}, number", family=left[0], conversation=left[1]):
        *said, number = row
        fact = PersonFact(group[0], group[1], *said[2:])
        put_fact(batch, fact, told=not number)
    batch.rows.remove("fact", family=left[0], conversation=left[1])


def retell_facts(rows: Rows, family: str, name: str, number: int) -> None:
    """What was said here of a conversation counts as said in this change: who had no part of it is told."""
    keys = ("message", "kind", "name")
    for *key, before in rows.get(
        "fact", "message, kind, name, number", family=family, conversation=name
    ):
        if before:
            named = {"family": family, "conversation": name, **dict(zip(keys, key, strict=True))}
            rows.change("fact", named, number=number)


def drop_facts(rows: Rows, family: str, name: str) -> None:
    """Of what is forgotten, also what people said of it."""
    columns = "number, family, native_id"
    found = [
        *rows.get("conversation", columns, family=family, native_id=name),
        *rows.get("conversation", columns, family=family, grouping=name),
    ]
    known_as = [each for row in found for each in subjects(rows, *row)]
    for each in dict.fromkeys([name, *known_as]):
        rows.remove("fact", family=family, conversation=each)


# ── what they come to ──


def settle(
    rows: Rows, projected: Sequence[int], said: Collection[tuple[str, str]], change: int
) -> None:
    """Work out what the facts of conversations that were stored, or of which something was said,
    come to. `change` is the number of this change, noted with conversations that differ by it."""
    if not (said or (projected and rows.get("fact", "kind", limit=1))):
        return
    numbers = dict.fromkeys(projected)
    for family, name in said:
        of_name = rows.get("conversation", "number", family=family, native_id=name)
        numbers |= dict.fromkeys(number for (number,) in of_name or rows.aliased(name, False))
    for number in numbers:
        _settle(rows, number, change)


def _settle(rows: Rows, number: int, change: int) -> None:
    for family, native_id in rows.get("conversation", "family, native_id", number=number):
        facts = facts_of(rows, family, subjects(rows, number, family, native_id))
        before = rows.get("curation", _COLUMNS, conversation=number)
        if facts or before:
            _put_curation(rows, number, _curation(facts), bool(facts), before, change)


def _put_curation(
    rows: Rows, number: int, told: Curation, is_any: bool, before: list[Row], change: int
) -> None:
    after = [_row(told)] if is_any else []
    ((title, data),) = rows.get("conversation", "title, data", number=number)
    wanted = title_of(rows, number, data, told)
    if before != after:
        rows.remove("curation", conversation=number)
        rows.put("curation", f"conversation, {_COLUMNS}", *((number, *row) for row in after))
    if before != after or wanted != title:
        rows.change("conversation", {"number": number}, title=wanted, changed=change)
        note_change(rows, number, change)


def _curation(facts: Sequence[PersonFact]) -> Curation:
    whole = [fact for fact in facts if not fact.message]
    kinds = {fact.kind for fact in whole}
    return Curation(
        title=next((fact.value for fact in whole if fact.kind == "title"), None),
        tags=tuple(sorted((f.name for f in whole if f.kind == "tag"), key=_spelling)),
        starred="star" in kinds,
        hidden="hidden" in kinds,
        leaving="forget" in kinds,
        notes=sum(fact.kind == "note" for fact in facts),
    )


def _spelling(tag: str) -> tuple[str, str]:
    return tag.casefold(), tag


def _row(told: Curation) -> Row:
    tags = msgspec.json.encode(told.tags).decode()
    hidden = LEAVING if told.leaving else int(told.hidden)
    return told.title, tags, int(told.starred), hidden, told.notes


def curation_of(row: Sequence[Any]) -> Curation:
    """What stands in columns of `curation`."""
    title, tags, starred, hidden, notes = row
    known = decoded(_TAGS, tags, _TABLE)
    return Curation(title, known, bool(starred), hidden == 1, notes, hidden == LEAVING)


def title_of(rows: Rows, number: int, data: str, told: Curation) -> str:
    """A person's title, else the one that stands in another file, else its own."""
    if told.title is not None:
        return told.title
    elsewhere = rows.title_elsewhere(number)
    if elsewhere is not None:
        return elsewhere
    return decoded(_TITLED, data, "table conversation").title
