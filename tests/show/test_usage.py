"""What was used, counted once: worked out by hand, and equal to what stands in the fixtures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from rireki.archive.base import Archive, Filter
from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.model.conversation import Answer, Conversation, Link
from rireki.model.message import Usage
from rireki.model.prices import Price, PriceList, Prices
from rireki.show.usage import (
    Slot,
    Total,
    collect,
    grouped,
    of_source,
    period_of,
    slot_of,
    summed,
    told,
)
from rireki.sources.kit.places import Places
from tests.support.homes import TREES, lay_out
from tests.support.tokens import tally

PRICES = Prices(
    PriceList({"m": Price(input=1, output=10, cache_read=0.1, cache_write=2, cache_write_1h=4)})
)
NOON = "2026-11-16T12:00:00.000Z"


class Made:
    """Stands for an archive: conversations with their answers."""

    def __init__(self) -> None:
        self.told: dict[str, tuple[Conversation, list[Answer]]] = {}

    def add(self, id: str, *answers: Answer, **facts: Any) -> Conversation:
        values = {"updated_at": NOON, **facts}
        conversation = Conversation(id=id, source=id.partition("/")[0], native_id=id, **values)
        self.told[id] = (conversation, list(answers))
        return conversation

    def conversations(self, wanted: Filter) -> Iterator[Conversation]:
        for conversation, _ in self.told.values():
            if wanted.since is None or (conversation.updated_at or "") >= wanted.since:
                yield conversation

    def answers(self, source: str | None, since: str | None) -> Iterator[tuple[str, list[Answer]]]:
        yield from ((id, answers) for id, (_, answers) in self.told.items())

    @property
    def archive(self) -> Archive:
        return cast(Archive, self)


def answer(key: str, *tokens: int, at: str | None = NOON, **facts: Any) -> Answer:
    return Answer(key, facts.pop("model", "m"), tally(*tokens), at, **facts)


def test_tokens_turns_and_costs_are_summed() -> None:
    made = Made()
    made.add("a/1", answer("x", 100, 10, 1000, 40), turns=2, turns_at=[NOON, NOON])
    made.add(
        "a/2", answer("y", 5, 1, cache_write_1h=0), answer("z", 1, 1, 0, 10, cache_write_1h=10)
    )
    total = summed(collect(made.archive, PRICES))
    assert told(total, True) == {
        "conversations": 2,
        "turns": 2,
        "answers": 3,
        "input_tokens": 106,
        "output_tokens": 12,
        "cache_read_tokens": 1000,
        "cache_write_tokens": 50,
        "lower_bound": False,
        "cost_usd": round((106 + 120 + 100 + 40 * 2 + 10 * 4) / 1e6, 6),
        "answers_without_price": 0,
        "credits": {},
    }
    assert total.tokens == 1168 and total.prompt == 1156
    assert "cost_usd" not in told(total, False)


def test_an_answer_that_a_fork_repeats_counts_once_and_so_does_its_turn() -> None:
    made = Made()
    later = "2026-11-16T13:00:00.000Z"
    made.add("a/1", answer("x", 10, 5), turns=1, turns_at=[NOON])
    fork = [answer("x", 10, 5), answer("y", 20, 5, at=later)]
    made.add("a/fork", *fork, turns=2, turns_at=[NOON, later])
    # Somebody else who asked at the same moment asked all the same.
    made.add("a/other", answer("w", 1, 1), turns=1, turns_at=[NOON])
    total = summed(collect(made.archive, PRICES))
    assert (total.answers, total.input, total.turns) == (3, 31, 3)


def test_of_two_counts_of_an_answer_the_larger_is_the_whole_one() -> None:
    made = Made()
    made.add("a/1", answer("x", 10, 1))
    made.add("a/2", answer("x", 10, 7))
    made.add("a/3", answer("x", 10, 3))
    assert summed(collect(made.archive, None)).output == 7


def test_a_sub_agent_counts_with_whoever_started_it() -> None:
    made = Made()
    made.add("a/1", answer("x", 10, 1), project="/w/api", turns=1, turns_at=[NOON])
    up = [Link("subagent", "a/1", "parent")]
    made.add("a/1/agent", answer("y", 20, 1), project="/tmp", links=up, nature="subagent", turns=1)
    deep = [Link("subagent", "a/1/agent", "parent")]
    made.add("a/1/deep", answer("z", 40, 1), project="/tmp", links=deep, nature="subagent")
    used = collect(made.archive, PRICES)
    assert summed(used).conversations == {"a/1"}
    assert summed(used).turns == 1
    assert {name: total.input for name, total in grouped(used, "project").items()} == {"/w/api": 70}


def test_sub_agents_that_started_each_other_end_somewhere() -> None:
    made = Made()
    made.add("a/1", answer("x", 1, 1), links=[Link("subagent", "a/2", "parent")])
    made.add("a/2", answer("y", 1, 1), links=[Link("subagent", "a/1", "parent")])
    assert summed(collect(made.archive, PRICES)).answers == 2


def test_only_what_was_used_then_counts() -> None:
    made = Made()
    early, late = "2026-11-01T00:00:00.000Z", "2026-11-15T23:59:59.999Z"
    made.add(
        "a/1", answer("x", 1, 1, at=early), answer("y", 2, 1, at=late), answer("z", 4, 1),
        turns=3, turns_at=[early, late, NOON],
    )  # fmt: skip
    made.add("a/old", answer("o", 8, 1, at=early), updated_at=early)

    def used(**period: str) -> tuple[int, int]:
        total = summed(collect(made.archive, None, **period))
        return total.input, total.turns

    assert used() == (15, 3)
    assert used(since=late) == (6, 2)
    assert used(since=late, before=NOON) == (2, 1)
    assert used(before=late) == (9, 1)
    # It ended a little after its conversation's last word.
    made.add("a/end", answer("e", 16, 1), updated_at=late)
    assert used(since="2026-11-16T00:00:00.000Z") == (20, 1)


def test_without_a_price_there_is_no_cost_and_credits_are_their_own() -> None:
    made = Made()
    made.add("a/1", answer("x", 10, 1, model="unheard-of"))
    made.add("k/1", Answer("c", "", Usage(), NOON, unit="credit", amount=0.25))
    made.add("k/2", Answer("d", "", Usage(), NOON, unit="credit", amount=0.5))
    total = summed(collect(made.archive, PRICES))
    assert total.known_cost is None
    assert (total.unpriced, total.answers) == (1, 1)
    assert total.amounts == {"credit": 0.75}
    made.add("a/2", answer("y", 1_000_000, 0))
    total = summed(collect(made.archive, PRICES))
    assert (total.known_cost, total.unpriced) == (1, 1)


def test_an_agent_that_noted_the_cost_is_believed() -> None:
    made = Made()
    made.add("a/1", answer("x", 10, 1, model="unheard-of", cost=0.5), answer("y", 1_000_000, 0))
    assert summed(collect(made.archive, PRICES)).known_cost == 1.5


def test_without_prices_nothing_costs_anything() -> None:
    made = Made()
    made.add("a/1", answer("x", 10, 1, cost=0.5))
    assert summed(collect(made.archive, None)).known_cost is None


def test_days_are_those_of_the_machine(in_tokyo: None) -> None:
    made = Made()
    made.add("a/1", answer("x", 1, 1, at="2026-11-15T14:59:00.000Z"))
    made.add("a/2", answer("y", 2, 1, at="2026-11-15T15:00:00.000Z"))
    used = collect(made.archive, None)
    assert {day: t.input for day, t in grouped(used, "day").items()} == {
        "2026-11-15": 1,
        "2026-11-16": 2,
    }
    assert slot_of("2026-11-15T15:00:00.000Z") == Slot("2026-11-16", 0)


def test_hours_begin_where_the_zone_says(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    if not hasattr(time, "tzset"):
        pytest.skip("on Windows a process cannot choose its time zone")
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    time.tzset()
    try:
        made = Made()
        # A quarter of an hour before and at midnight there, within one hour of UTC.
        made.add("a/1", answer("x", 1, 1, at="2026-11-15T18:14:59.000Z"))
        made.add("a/2", answer("y", 2, 1, at="2026-11-15T18:15:00.000Z"))
        days = grouped(collect(made.archive, None), "day")
        assert {day: t.input for day, t in days.items()} == {"2026-11-15": 1, "2026-11-16": 2}
    finally:
        monkeypatch.undo()
        time.tzset()


def test_groups_have_names_and_an_order() -> None:
    made = Made()
    made.add("b/1", answer("x", 5, 0, model="small"), answer("y", 1, 0, model="m"), project="/p")
    made.add("a/1", answer("z", 50, 0, at=None, model="m"), updated_at=None, project=None, turns=2)
    used = collect(made.archive, None)
    assert list(grouped(used, "source")) == ["a", "b"]
    assert list(grouped(used, "project")) == ["", "/p"]
    assert {n: (t.input, t.turns) for n, t in grouped(used, "model").items()} == {
        "m": (51, 0),
        "small": (5, 0),
    }
    # No time is made up for what has none.
    assert list(grouped(used, "day")) == ["", "2026-11-16"]
    assert grouped(used, "day")[""].turns == 2
    assert summed(of_source(used, "b")).input == 6


@pytest.mark.parametrize(
    ("by", "name"), [("day", "2026-11-18"), ("week", "2026-11-16"), ("month", "2026-11")]
)
def test_periods(by: str, name: str) -> None:
    assert period_of("2026-11-18", by) == name


def test_merged_totals_are_the_totals_of_all() -> None:
    one, other = Total({"a"}, 1, 2, 3, 4, 5, 6, True, 0.5, 1, 0, {"credit": 1}), Total({"b"})
    other.merge(one)
    other.merge(one)
    assert other == Total({"a", "b"}, 2, 4, 6, 8, 10, 12, True, 1.0, 2, 0, {"credit": 2})


# ── the fixtures ──


def as_written(home: Path) -> dict[str, dict[str, int]]:
    """Per model, from the lines alone: each answer once, as its largest line says."""
    best: dict[str, tuple[str, dict[str, int]]] = {}
    for file in sorted((home / ".claude" / "projects").rglob("*.jsonl")):
        for line in file.read_bytes().split(b"\n"):
            try:
                message = json.loads(line).get("message")
            except (ValueError, AttributeError):
                continue
            usage = message.get("usage") if isinstance(message, dict) else None
            if not usage or message.get("model") == "<synthetic>":
                continue
            known = best.get(message["id"])
            if known is None or usage["output_tokens"] > known[1]["output_tokens"]:
                best[message["id"]] = (message["model"], usage)
    sums: dict[str, dict[str, int]] = {}
    for model, usage in best.values():
        total = sums.setdefault(model, {"answers": 0})
        total["answers"] += 1
        for name in ("input", "output", "cache_read_input", "cache_creation_input"):
            total[name] = total.get(name, 0) + usage[f"{name}_tokens"]
    return sums


@pytest.mark.parametrize("name", [name for name in TREES if name.startswith("claude-code")])
def test_sums_are_those_of_the_fixtures_own_records(name: str, tmp_path: Path) -> None:
    home = lay_out(name, tmp_path / "home")
    with closing(open_archive(tmp_path / "archive.sqlite3", create=True)) as archive:
        import_history(archive, places=Places.at(home))
        used = collect(archive, None, source="claude-code")
        found = {
            model: {
                "answers": total.answers,
                "input": total.input,
                "output": total.output,
                "cache_read_input": total.cache_read,
                "cache_creation_input": total.cache_write,
            }
            for model, total in grouped(used, "model").items()
        }
        assert found == as_written(home)
        for by in ("day", "week", "month", "project", "source"):
            parts = grouped(used, by).values()
            assert sum(part.tokens for part in parts) == summed(used).tokens


@pytest.mark.parametrize("name", list(TREES))
def test_whatever_the_source_failed_calls_and_times_of_turns_are_those_of_the_messages(
    name: str, tmp_path: Path
) -> None:
    from rireki.intake.interpret import read_conversation
    from rireki.model.parts import ToolCall, ToolResult

    home = lay_out(name, tmp_path / "home")
    with closing(open_archive(tmp_path / "archive.sqlite3", create=True)) as archive:
        import_history(archive, places=Places.at(home))
        for heading in archive.headings():
            reading = read_conversation(archive, archive.find(heading.id))
            told, messages = reading.conversation, reading.messages()
            parts = [part for message in messages for part in message.parts]
            calls = {p.call_id: p.name for p in parts if isinstance(p, ToolCall)}
            failed = {p.call_id for p in parts if isinstance(p, ToolResult) and p.status == "error"}
            expected: dict[str, int] = {}
            for call in failed & calls.keys():
                expected[calls[call]] = expected.get(calls[call], 0) + 1
            assert told.tool_errors == expected, heading.id
            assert len(told.turns_at) <= told.turns
            times = {message.at for message in messages}
            assert set(told.turns_at) <= times | {told.started_at}, heading.id
