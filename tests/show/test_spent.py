"""What a turn took stands once, behind its last message."""

from __future__ import annotations

from rireki.model.conversation import Answer
from rireki.model.message import Message, Usage
from rireki.model.prices import Prices, read_prices
from rireki.show.html.page import RenderOptions
from rireki.show.spent import Spent, spent_by_answers
from tests.show.made import message
from tests.show.test_html import tell

PRICES = Prices(
    read_prices(
        b'{"date": "2026-01-01", "unit": "US dollars per million tokens", "sources": {"t": "test"},'
        b' "models": {"m": {"maker": "M", "input": 1, "output": 2, "source": "t"}}}'
    )
)


def turn(number: int, **more: object) -> list[Message]:
    at = f"2026-11-16T0{number}:00:0{{}}.000Z"
    return [
        message(f"p{number}", "person", "do", at=at.format(0), turn=number),
        message(f"a{number}", "agent", "first", at=at.format(2), turn=number, **more),
        message(f"b{number}", "agent", "second", at=at.format(4), turn=number, **more),
    ]


def answer(key: str, at: str | None, out: int, model: str = "m") -> Answer:
    return Answer(key, model, Usage(1_000_000, out), at)


def told(messages: list[Message], **look: object) -> list[str | None]:
    articles = tell(messages, look=RenderOptions(**look))  # type: ignore[arg-type]
    return [next((e.text for e in iter(a.find(kind="usage"))), None) for a in articles]


def test_it_stands_once_and_sums_its_answers() -> None:
    messages = [*turn(1, usage=Usage(5, 10)), *turn(2, usage=Usage(5, 20))]
    assert told(messages) == [None, None, "20 tokens out", None, None, "40 tokens out"]


def test_answers_belong_to_the_turn_that_had_begun() -> None:
    messages = [*turn(1), *turn(2)]
    answers = [
        answer("x", "2026-11-16T01:00:01.000Z", 500_000),
        answer("y", "2026-11-16T01:59:59.000Z", 500_000),
        answer("z", "2026-11-16T02:00:03.000Z", 0, "unheard of"),
        answer("w", None, 7),
    ]
    spent = spent_by_answers(messages, answers, PRICES)
    assert spent[1] == Spent(Usage(2_000_000, 1_000_000), 4.0)
    assert spent[2].cost is None
    assert told(messages, spent=spent)[2] == "1,000,000 tokens out · $4.00"
    assert spent_by_answers(messages, answers, None)[1].cost is None


def test_a_cost_that_leaves_something_out_says_so() -> None:
    answers = [
        answer("x", "2026-11-16T01:00:01.000Z", 500_000),
        answer("y", "2026-11-16T01:00:02.000Z", 1, "unheard of"),
    ]
    spent = spent_by_answers(turn(1), answers, PRICES)
    assert told(turn(1), spent=spent)[2] == "500,001 tokens out · ≥ $2.00"
