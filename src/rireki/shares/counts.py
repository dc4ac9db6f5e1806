"""A conversation in figures: when, how much, which models; without its words, its place or its name."""

from __future__ import annotations

import hmac
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

import msgspec

from rireki.archive.base import Archive, StoredConversation
from rireki.model.prices import KNOWN, PriceList, read_prices
from rireki.shares.plan import GroupName, SharedGroup

__all__ = ["CountedConversation", "ModelCount", "counted_of"]

#: Anything that our own list of prices does not have: it may be what somebody called it.
OTHER = "other"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


class ModelCount(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    answers: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


class CountedConversation(msgspec.Struct, frozen=True, kw_only=True):
    #: By which the same conversation is known again, and by nobody else.
    key: str
    source: str
    started_at: str | None = None
    updated_at: str | None = None
    messages: int = 0
    turns: int = 0
    tool_calls: int = 0
    models: list[ModelCount] = []


def counted_of(
    archive: Archive, shared: Mapping[GroupName, SharedGroup], key: bytes
) -> Iterator[tuple[CountedConversation, SharedGroup]]:
    """The figures of these groups; `key` is the archive's own, and goes nowhere."""
    for (family, grouping), group in shared.items():
        for id, stored in archive.kept_as(family, grouping).items():
            yield _counted(_key(key, id), stored), group


def _key(key: bytes, id: str) -> str:
    return hmac.digest(key, f"counted {id}".encode(), "sha256")[:16].hex()


def _counted(key: str, stored: StoredConversation) -> CountedConversation:
    about = stored.conversation
    return CountedConversation(
        key=key,
        source=about.source,
        started_at=_time(about.started_at),
        updated_at=_time(about.updated_at),
        messages=about.messages,
        turns=about.turns,
        tool_calls=about.tool_calls,
        models=_models(stored),
    )


def _models(stored: StoredConversation) -> list[ModelCount]:
    sums: dict[str, ModelCount] = defaultdict(lambda: ModelCount(model=""))
    for answer in stored.answers:
        model, usage = _model(answer.model), answer.usage
        before = sums[model]
        sums[model] = ModelCount(
            model=model,
            answers=before.answers + 1,
            input_tokens=before.input_tokens + usage.input_tokens,
            output_tokens=before.output_tokens + usage.output_tokens,
            cache_read_tokens=before.cache_read_tokens + usage.cache_read_tokens,
            cache_write_tokens=before.cache_write_tokens + usage.cache_write_tokens,
        )
    return [sums[model] for model in sorted(sums)]


def _model(name: str) -> str:
    return _known_models().name_of(name) or OTHER


@cache
def _known_models() -> PriceList:
    return read_prices(KNOWN.read_bytes())


def _time(stamp: str | None) -> str | None:
    return stamp if stamp and _TIME.fullmatch(stamp) else None
