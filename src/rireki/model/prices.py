"""What tokens cost, as data: prices of models, by class of token, and what an answer comes to.

The prices are in `prices.json` beside this, with the day they were read and where; `tools/prices.py`
writes it. What nobody knows the price of has no cost: that is not the same as costing nothing. Which
file of the user's counts besides is decided by whoever reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from rireki.model.conversation import Answer
from rireki.model.message import Usage

__all__ = ["KNOWN", "Price", "PriceList", "Prices", "Rates", "read_prices"]

#: The prices that come with rireki.
KNOWN = Path(__file__).with_name("prices.json")
_MILLION = 1e6
#: The day a model was made, at the end of its name, and how Bedrock and Vertex spell it.
_DATED = re.compile(r"(?:-\d{8}|-\d{4}-\d\d-\d\d|@\d{8})?(?:-v\d+(?::\d+)?)?$")
#: What stands before a name where somebody passes it on: `us.anthropic.claude-…`.
_PASSED_ON = re.compile(r"^(?:[a-z]{2,6}\.)?[a-z]+\.(?=[a-z])")


class Rates(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """US dollars for a million tokens of each class; None: not known."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    #: What is kept in the cache for an hour.
    cache_write_1h: float | None = None

    def classes(self) -> tuple[float | None, ...]:
        return (
            *(self.input, self.output, self.cache_read, self.cache_write),
            self.cache_write_1h,
        )

    def of(self, usage: Usage, hour: int) -> float | None:
        """What tokens cost, `hour` of those that went into the cache for an hour; None where the rate
        of a class that there are tokens of is not known."""
        total = 0.0
        for count, rate in (
            (usage.input_tokens, self.input),
            (usage.output_tokens, self.output),
            (usage.cache_read_tokens, self.cache_read),
            (usage.cache_write_tokens - hour, self.cache_write),
            (hour, self.cache_write_1h),
        ):
            if count:
                if rate is None:
                    return None
                total += count * rate
        return total / _MILLION


class Price(Rates, frozen=True, kw_only=True, omit_defaults=True):
    maker: str = ""
    #: A key of `PriceList.sources`, or words of the user's.
    source: str = ""
    date: str = ""
    #: Other rates for prompts of more tokens than these.
    above: dict[int, Rates] = {}
    #: By what an answer's terms ("fast", "us") multiply all of it.
    terms: dict[str, float] = {}

    def rates(self, prompt: int) -> Rates:
        """Those for a prompt of so many tokens."""
        size = max((size for size in self.above if prompt > size), default=None)
        return self if size is None else self.above[size]


class PriceList(msgspec.Struct, frozen=True):
    """A file of prices."""

    models: dict[str, Price]
    date: str = ""
    unit: str = ""
    #: What the models' `source` stands for.
    sources: dict[str, str] = {}

    def name_of(self, model: str) -> str | None:
        """What a model is called here, however its name is spelled where it was used."""
        return next((name for name in _spellings(model) if name in self.models), None)


def read_prices(data: bytes) -> PriceList:
    """Raises msgspec.MsgspecError for what is no list of prices, or has one below zero."""
    found = msgspec.json.decode(data, type=PriceList)
    for name, price in found.models.items():
        every = [price, *price.above.values()]
        rates = [rate for one in every for rate in one.classes()]
        if any(rate is not None and rate < 0 for rate in [*rates, *price.terms.values()]):
            raise msgspec.ValidationError(f"a price below zero - at `$.models.{name}`")
    return found


class Prices:
    """Price lists, the user's own before ours, and what answers cost by them."""

    def __init__(self, known: PriceList, own: PriceList | None = None) -> None:
        self.known = known
        self.own = own
        self._found: dict[str, Price | None] = {}
        self._flat: dict[str, Price | None] = {}

    def models(self) -> Mapping[str, Price]:
        return self.known.models | (self.own.models if self.own else {})

    def is_own(self, name: str) -> bool:
        return self.own is not None and name in self.own.models

    def find(self, model: str) -> Price | None:
        """The price of a model, however its name is spelled where it was used."""
        if model not in self._found:
            self._found[model] = next(
                (
                    listed.models[name]
                    for listed in (self.own, self.known)
                    if listed is not None and (name := listed.name_of(model)) is not None
                ),
                None,
            )
        return self._found[model]

    def cost(self, answer: Answer) -> float | None:
        """US dollars: as the user's own prices say, else as the agent noted, else as ours say."""
        if answer.cost is not None and not (self.own and self._is_priced_by_user(answer.model)):
            return answer.cost
        if not answer.has_tokens:
            return None
        price = self.find(answer.model)
        return None if price is None else _cost(price, answer)

    def flat(self, answer: Answer) -> Price | None:
        """The price, where what many such answers cost is what their sums cost: every class has one
        rate that is known, and nothing else decides."""
        if answer.model not in self._flat:
            price = self.find(answer.model)
            known = price is not None and None not in price.classes() and not price.above
            self._flat[answer.model] = price if known else None
        plain = answer.cost is None and not answer.terms and not answer.unit
        return self._flat[answer.model] if plain else None

    def _is_priced_by_user(self, model: str) -> bool:
        return any(self.is_own(name) for name in _spellings(model))


def _spellings(model: str) -> list[str]:
    """A name as it is, without who passed it on, and without its date; the nearest first."""
    name = model.strip()
    last = name.rpartition("/")[2].lower().removesuffix("[1m]")
    bare = _PASSED_ON.sub("", last)
    found = [name, last, bare, *(_DATED.sub("", one) for one in (last, bare))]
    # OpenRouter and others write Anthropic's versions with a dot.
    found += [one.replace(".", "-") for one in found if one.startswith("claude-")]
    return list(dict.fromkeys(found))


def _cost(price: Price, answer: Answer) -> float | None:
    usage = answer.usage
    prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    cost = price.rates(prompt).of(usage, answer.cache_write_1h)
    for term in answer.terms:
        if cost is None or term not in price.terms:
            return None
        cost *= price.terms[term]
    return cost
