"""What answers cost: worked out by hand, and nothing where nobody knows."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec
import pytest

from rireki.model.conversation import Answer
from rireki.model.prices import KNOWN, Price, PriceList, Prices, Rates, read_prices
from tests.support.tokens import tally

PLAIN = Price(input=3, output=15, cache_read=0.3, cache_write=3.75, cache_write_1h=6)
TIERED = Price(input=1, output=2, above={1000: Rates(input=2, output=4), 5000: Rates(input=8)})


def answer(model: str = "plain", *tokens: int, **facts: Any) -> Answer:
    return Answer("a", model, tally(*tokens), None, **facts)


def prices(
    own: dict[str, Price] | None = None, known: Mapping[str, Price] = MappingProxyType({})
) -> Prices:
    models = {"plain": PLAIN, "tiered": TIERED, **known}
    return Prices(PriceList(models), PriceList(own) if own is not None else None)


def test_each_class_has_its_own_rate() -> None:
    # 100 in, 10 out, 1000 from the cache, 200 into it, 50 of them for an hour.
    cost = prices().cost(answer("plain", 100, 10, 1000, 200, cache_write_1h=50))
    assert cost == pytest.approx((300 + 150 + 300 + 150 * 3.75 + 300) / 1e6)


def test_what_has_no_price_has_no_cost() -> None:
    assert prices().cost(answer("unheard-of", 100, 10)) is None
    # Of one class the rate is not known: that answer has no cost, one without such tokens has.
    assert prices().cost(answer("tiered", 100, 10, 5)) is None
    assert prices().cost(answer("tiered", 100, 10)) == pytest.approx(120 / 1e6)


def test_long_prompts_may_have_other_rates() -> None:
    assert prices().cost(answer("tiered", 1000, 1)) == pytest.approx(1002 / 1e6)
    assert prices().cost(answer("tiered", 1001, 1)) == pytest.approx((2002 + 4) / 1e6)
    assert prices().cost(answer("tiered", 5001)) == pytest.approx(8 * 5001 / 1e6)
    assert prices().cost(answer("tiered", 5001, 1)) is None


def test_terms_multiply_the_whole_answer() -> None:
    known = prices(known={"quick": Price(input=1, output=1, terms={"fast": 2, "us": 1.1})})
    assert known.cost(answer("quick", 100, terms=("fast",))) == pytest.approx(200 / 1e6)
    assert known.cost(answer("quick", 100, terms=("fast", "us"))) == pytest.approx(220 / 1e6)
    assert known.cost(answer("plain", 100, terms=("fast",))) is None


def test_the_user_comes_before_the_agent_and_the_agent_before_us() -> None:
    noted = answer("plain", 1_000_000, cost=0.5)
    assert prices().cost(noted) == 0.5
    assert prices({"other": PLAIN}).cost(noted) == 0.5
    assert prices({"plain": Price(input=7)}).cost(noted) == 7
    assert prices({"plain": Price(input=7)}).cost(answer("plain", 1_000_000)) == 7


def test_credits_are_no_money() -> None:
    assert prices().cost(answer("plain", unit="credit", amount=2.5)) is None
    assert prices().cost(answer("plain", 1_000_000, unit="credit", amount=2.5)) == 3


@pytest.mark.parametrize(
    "spelled",
    [
        "claude-x-4-5",
        "claude-x-4-5-20990101",
        "anthropic/claude-x-4.5",
        "us.anthropic.claude-x-4-5-20990101-v1:0",
        "claude-x-4-5@20990101",
        "Claude-X-4-5[1m]",
    ],
)
def test_a_model_is_known_however_it_is_spelled(spelled: str) -> None:
    price = Price(input=1)
    assert prices(known={"claude-x-4-5": price}).find(spelled) is price


def test_another_version_is_another_model() -> None:
    known = prices(known={"gpt-5.1": PLAIN, "gpt-5": TIERED})
    assert known.find("gpt-5.1-2025-11-13") is PLAIN
    assert known.find("gpt-5") is TIERED
    assert known.find("gpt-5.9") is None
    assert known.find("") is None


def test_sums_may_be_paid_only_where_one_flat_price_decides() -> None:
    known = prices()
    assert known.flat(answer("plain", 1)) is PLAIN
    assert known.flat(answer("tiered", 1)) is None
    assert known.flat(answer("plain", 1, terms=("us",))) is None
    assert known.flat(answer("plain", 1, cost=1.0)) is None
    assert known.flat(answer("unheard-of", 1)) is None


def test_our_own_list_can_be_read_and_says_where_it_is_from() -> None:
    known = read_prices(KNOWN.read_bytes())
    assert known.date and known.unit == "US dollars per million tokens"
    makers = {price.maker for price in known.models.values()}
    assert makers == {"Anthropic", "OpenAI", "Google", "xAI", "Qwen", "DeepSeek", "Mistral"}
    for name, price in known.models.items():
        assert price.source in known.sources, name
        assert price.input and price.output, name
        # Nobody asks more for what was read before than for what is new.
        assert (price.cache_read or 0) <= price.input, name
        if price.maker == "Anthropic":
            assert price.cache_write == pytest.approx(1.25 * price.input, rel=0.05), name
            assert price.cache_write_1h in (None, pytest.approx(2 * price.input)), name


def test_the_prices_of_today_are_those_of_the_makers() -> None:
    known = Prices(read_prices(KNOWN.read_bytes()))
    opus = known.find("claude-opus-4-5-20251101")
    assert opus is not None
    assert opus.classes() == (5, 25, 0.5, 6.25, 10)
    long = known.find("gpt-5.4")
    assert long is not None and long.rates(272_001).input == 2 * (long.input or 0)


@pytest.mark.parametrize("said", [b"[]", b'{"models": {"a": {"input": "1"}}}', b'{"models": 1}'])
def test_what_is_no_list_of_prices_is_refused(said: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        read_prices(said)


def test_a_price_below_zero_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"models\.a"):
        read_prices(b'{"models": {"a": {"input": 1, "above": {"10": {"output": -1}}}}}')
