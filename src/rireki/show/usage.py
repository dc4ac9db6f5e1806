"""Tokens, money and turns counted: by day, week, month, model, project and source.

Every answer counts once, however many conversations repeat it: forks and resumed sessions hold copies.
What a sub-agent used counts with the conversation that started it. Days are those of this machine's
time zone. What was not written down stays unknown: no time is made up, and no price.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rireki.archive.base import Filter
from rireki.model.conversation import Answer, Conversation
from rireki.model.message import Usage
from rireki.model.times import from_iso, to_datetime
from rireki.show.times import local_time

if TYPE_CHECKING:
    from rireki.archive.base import Archive
    from rireki.model.prices import Price, Prices

__all__ = [
    "GROUPS",
    "ModelUse",
    "Conversations",
    "Slot",
    "Total",
    "Used",
    "collect",
    "collect_of",
    "grouped",
    "namer",
    "of_source",
    "period_of",
    "slot_of",
    "summed",
    "told",
]

#: What usage can be told by.
GROUPS = ("day", "week", "month", "model", "project", "source")
NOTHING = ""


class Slot(NamedTuple):
    """A local day, `2026-11-18`, and an hour of it."""

    day: str
    hour: int


class ModelUse(NamedTuple):
    """What one model did for one conversation within an hour."""

    conversation: str
    model: str
    slot: Slot | None
    total: Total


class CountedTurn(NamedTuple):
    conversation: str
    slot: Slot | None
    #: More than one where their times are not known.
    number: int


@dataclass(slots=True)
class Total:
    """Sums of some answers and turns."""

    #: Those that had an answer or a turn; a sub-agent's are its spawner's.
    conversations: set[str] = field(default_factory=set)
    turns: int = 0
    answers: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    #: Some answers were noted only when they began: there were more tokens.
    lower_bound: bool = False
    #: US dollars of the answers whose cost is known, and how many answers have none that is.
    cost: float = 0.0
    priced: int = 0
    unpriced: int = 0
    #: What providers count besides tokens: credits, premium requests.
    amounts: dict[str, float] = field(default_factory=dict)
    #: Of the tokens that went into the cache, those for an hour; and what each answer of these sums is
    #: paid by, until they are complete.
    hour: int = 0
    price: Price | None = None

    @property
    def tokens(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write

    @property
    def prompt(self) -> int:
        """All that models were given to read."""
        return self.input + self.cache_read + self.cache_write

    @property
    def known_cost(self) -> float | None:
        """None where nobody knows what any of it cost."""
        return self.cost if self.priced else None

    def add(self, answer: Answer) -> None:
        if answer.unit:
            self.amounts[answer.unit] = self.amounts.get(answer.unit, 0.0) + answer.amount
            if not answer.has_tokens:
                return
        usage = answer.usage
        self.answers += 1
        self.input += usage.input_tokens
        self.output += usage.output_tokens
        self.cache_read += usage.cache_read_tokens
        self.cache_write += usage.cache_write_tokens
        self.hour += answer.cache_write_1h
        if usage.lower_bound:
            self.lower_bound = True

    def pay(self, answer: Answer, cost: float | None) -> None:
        """What an answer cost; credits are what it cost where there are some."""
        if cost is not None:
            self.cost += cost
            self.priced += 1
        elif not answer.unit:
            self.unpriced += 1

    def settle(self) -> None:
        """What all of it costs, where all has one flat price."""
        if self.price is not None:
            tokens = Usage(self.input, self.output, self.cache_read, self.cache_write)
            self.cost = self.price.of(tokens, self.hour) or 0.0
            self.priced, self.price = self.answers, None

    def merge(self, other: Total) -> None:
        self.conversations |= other.conversations
        self.turns += other.turns
        self.answers += other.answers
        self.input += other.input
        self.output += other.output
        self.cache_read += other.cache_read
        self.cache_write += other.cache_write
        self.hour += other.hour
        self.lower_bound = self.lower_bound or other.lower_bound
        self.cost += other.cost
        self.priced += other.priced
        self.unpriced += other.unpriced
        for unit, amount in other.amounts.items():
            self.amounts[unit] = self.amounts.get(unit, 0.0) + amount


Conversations: TypeAlias = dict[str, Conversation]


@dataclass(slots=True)
class Used:
    """All that was used in a period."""

    cells: list[ModelUse]
    turns: list[CountedTurn]
    conversations: Conversations
    #: The conversation that each one counts with: itself, or the one that started it.
    owners: dict[str, str]


def collect(
    archive: Archive,
    prices: Prices | None,
    *,
    source: str | None = None,
    since: str | None = None,
    before: str | None = None,
) -> Used:
    """What was used from one time to before another; no costs without prices.

    Whatever holds an answer of the period was updated since it began: nothing else is read.
    """
    updated = _a_day_before(since)
    wanted = Filter(source=source, since=updated, subagents=True)
    found = {one.id: one for one in archive.conversations(wanted)}
    # A fork that was updated later may hold answers of one that was not, which tell the same.
    return _used(found, archive.answers(source, updated), prices, since, before)


def collect_of(
    archive: Archive, prices: Prices | None, conversations: Iterable[Conversation]
) -> Used:
    """All that was ever used for these conversations, and for the sub-agents they started."""
    found = {one.id: one for one in conversations}
    links = [link for one in found.values() for link in one.links]
    started = [link.id for link in links if link.kind == "subagent" and link.side == "child"]
    found |= archive.pick([id for id in started if id not in found])
    return _used(found, archive.answers_of(list(found)).items(), prices, None, None)


def _used(
    found: Conversations,
    held: Iterable[tuple[str, Sequence[Answer]]],
    prices: Prices | None,
    since: str | None,
    before: str | None,
) -> Used:
    best, kin = _once((id, answers) for id, answers in held if id in found)
    owners = _owners(found)
    slots: dict[str, Slot | None] = {}
    cells: dict[tuple[str, str, Slot | None, bool], Total] = {}
    for id, answer in best:
        at = answer.at or found[id].updated_at
        if _within(at, since, before):
            price = prices.flat(answer) if prices is not None else None
            key = (id, answer.model, _slot(at, slots), price is not None)
            total = cells.get(key)
            if total is None:
                total = cells[key] = Total({owners[id]}, price=price)
            total.add(answer)
            if price is None and answer.has_tokens:
                total.pay(answer, prices.cost(answer) if prices is not None else None)
    turns = list(_turns(found.values(), kin, slots, since, before))
    for total in cells.values():
        total.settle()
    return Used([ModelUse(*key[:3], total) for key, total in cells.items()], turns, found, owners)


def _a_day_before(since: str | None) -> str | None:
    """Some sources note the end of an answer a little after the last of its words."""
    moment = to_datetime(since) if since else None
    return from_iso((moment - timedelta(days=1)).isoformat()) if moment else since


def of_source(used: Used, source: str) -> Used:
    """What was used in conversations of one source."""
    ids = {id for id, one in used.conversations.items() if one.source == source}
    return Used(
        [cell for cell in used.cells if cell.conversation in ids],
        [turn for turn in used.turns if turn.conversation in ids],
        {id: used.conversations[id] for id in ids},
        {id: used.owners[id] for id in ids},
    )


def _within(at: str | None, since: str | None, before: str | None) -> bool:
    if at is None:
        return since is None and before is None
    return (since is None or at >= since) and (before is None or at < before)


def _once(
    found: Iterable[tuple[str, Sequence[Answer]]],
) -> tuple[Iterable[tuple[str, Answer]], dict[str, str]]:
    """Each answer once, with the conversation that counts most of it; and who shares answers with whom."""
    # Two dictionaries, not one of pairs: tens of thousands of pairs keep the garbage collector busy.
    best: dict[str, Answer] = {}
    where: dict[str, str] = {}
    kin: dict[str, str] = {}
    for conversation, answers in found:
        for answer in answers:
            key = answer.key
            known = best.get(key)
            if known is None:
                best[key], where[key] = answer, conversation
                continue
            if where[key] != conversation:
                kin[_root(kin, conversation)] = _root(kin, where[key])
            if answer.usage.output_tokens > known.usage.output_tokens:
                best[key], where[key] = answer, conversation
    return zip(where.values(), best.values(), strict=True), {id: _root(kin, id) for id in kin}


def _root(kin: dict[str, str], id: str) -> str:
    while (next_ := kin.get(id, id)) != id:
        id = next_
    return id


def _owners(found: Conversations) -> dict[str, str]:
    """Who started whom, up to the conversation that a person began."""
    parents = {
        id: next(
            (one.id for one in told.links if one.side == "parent" and one.kind == "subagent"), id
        )
        for id, told in found.items()
    }
    owners = {}
    for id in found:
        owner, seen = id, {id}
        # A chain that bites its own tail ends where it began to.
        while (parent := parents.get(owner, owner)) not in seen:
            seen.add(parent)
            owner = parent
        owners[id] = owner
    return owners


def _turns(
    found: Iterable[Conversation],
    kin: dict[str, str],
    slots: dict[str, Slot | None],
    since: str | None,
    before: str | None,
) -> Iterator[CountedTurn]:
    seen: dict[tuple[str, str], str] = {}
    for told in found:
        if told.nature != "conversation":
            continue
        family = kin.get(told.id, told.id)
        for at in told.turns_at:
            if seen.setdefault((family, at), told.id) != told.id:
                # Copied from the conversation it was forked off, which has it too.
                continue
            if _within(at, since, before):
                yield CountedTurn(told.id, _slot(at, slots), 1)
        undated = told.turns - len(told.turns_at)
        if undated > 0 and _within(told.updated_at, since, before):
            yield CountedTurn(told.id, _slot(told.updated_at, slots), undated)


def slot_of(at: str | None) -> Slot | None:
    local = local_time(at)
    return Slot(local.date().isoformat(), local.hour) if local else None


def _slot(at: str | None, known: dict[str, Slot | None]) -> Slot | None:
    """The same, asked once for each hour; for each time where the zone's hours begin at other minutes."""
    if at is None:
        return None
    hour = at[:13]
    if hour in known:
        return known[hour]
    local = local_time(at)
    slot = Slot(local.date().isoformat(), local.hour) if local else None
    if local and at[14:16] == f"{local.minute:02}":
        known[hour] = slot
    return slot


# ── grouped ──


def summed(used: Used) -> Total:
    total = Total()
    for cell in used.cells:
        total.merge(cell.total)
    for turn in used.turns:
        total.turns += turn.number
        total.conversations.add(turn.conversation)
    return total


def grouped(used: Used, by: str) -> dict[str, Total]:
    """Sums by one of GROUPS; days in their order, all else with the most tokens first.

    A name is empty where it is not known. Turns have no model, so none are counted by model.
    """
    totals: defaultdict[str, Total] = defaultdict(Total)
    name = namer(used, by)
    for cell in used.cells:
        totals[name(cell)].merge(cell.total)
    for turn in used.turns if by != "model" else ():
        total = totals[name(turn)]
        total.turns += turn.number
        total.conversations.add(turn.conversation)
    if by in ("day", "week", "month"):
        return dict(sorted(totals.items()))
    return dict(sorted(totals.items(), key=lambda each: (-each[1].tokens, each[0])))


def namer(used: Used, by: str) -> Callable[[ModelUse | CountedTurn], str]:
    """What a cell or a turn counts as, by one of GROUPS."""
    if by == "model":
        return lambda one: one.model if isinstance(one, ModelUse) else NOTHING
    if by in ("project", "source"):
        names = {id: _name_of(used, id, by) for id in used.conversations}
        return lambda one: names.get(one.conversation, NOTHING)
    periods: dict[str, str] = {}

    def period(one: ModelUse | CountedTurn) -> str:
        if one.slot is None:
            return NOTHING
        day = one.slot.day
        if day not in periods:
            periods[day] = period_of(day, by)
        return periods[day]

    return period


def _name_of(used: Used, id: str, by: str) -> str:
    """A sub-agent may work elsewhere: what it used is its spawner's."""
    owner = used.conversations.get(used.owners.get(id, id)) or used.conversations[id]
    return str(getattr(owner, by) or NOTHING)


def period_of(day: str, by: str) -> str:
    """The day, the Monday of its week, or its month."""
    if by == "month":
        return day[:7]
    if by == "week":
        known = date.fromisoformat(day)
        return (known - timedelta(days=known.weekday())).isoformat()
    return day


def told(total: Total, money: bool) -> dict[str, Any]:
    """A total, as programs read it."""
    values: dict[str, Any] = {
        "conversations": len(total.conversations),
        "turns": total.turns,
        "answers": total.answers,
        "input_tokens": total.input,
        "output_tokens": total.output,
        "cache_read_tokens": total.cache_read,
        "cache_write_tokens": total.cache_write,
        "lower_bound": total.lower_bound,
    }
    if money:
        cost = total.known_cost
        values["cost_usd"] = None if cost is None else round(cost, 6)
        values["answers_without_price"] = total.unpriced
    values["credits"] = {unit: round(much, 4) for unit, much in sorted(total.amounts.items())}
    return values
