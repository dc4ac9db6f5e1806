"""Histories for the models of six providers: read, brought to a neutral form, written for another.

    decode(provider, messages)   what was stored → turns
    encode(provider, turns)      turns → what that provider accepts
    turns_of(messages)           an archived conversation → turns

Knows no archive and no network, and needs no provider's package.
"""

from __future__ import annotations

from rireki.model.providers import PROVIDERS, Provider
from rireki.providers.archived import turns_of
from rireki.providers.bedrock import with_bytes
from rireki.providers.convert import decode, encode, problems
from rireki.providers.detect import detect, is_item, unwrap
from rireki.providers.neutral import (
    Call,
    Media,
    NeutralText,
    NeutralThinking,
    Note,
    Opaque,
    Part,
    Problem,
    Request,
    Result,
    Turn,
    bare,
)
from rireki.providers.plain import plain
from rireki.providers.repair import INTERRUPTED, open_calls, repair

__all__ = [
    "INTERRUPTED",
    "PROVIDERS",
    "Call",
    "Media",
    "Note",
    "Opaque",
    "Part",
    "Problem",
    "Provider",
    "Request",
    "Result",
    "NeutralText",
    "NeutralThinking",
    "Turn",
    "bare",
    "decode",
    "detect",
    "encode",
    "is_item",
    "open_calls",
    "plain",
    "problems",
    "repair",
    "turns_of",
    "unwrap",
    "with_bytes",
]
