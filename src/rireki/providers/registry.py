"""The providers there are, by name."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from rireki.errors import RirekiError
from rireki.model.providers import PROVIDERS
from rireki.providers import anthropic, bedrock, gemini, ollama, openai, responses
from rireki.providers.codec import Codec, ModelProvider
from rireki.providers.rules import Rules

__all__ = ["CODECS", "provider_named", "rules_for"]

_KNOWN = (anthropic, openai, responses, gemini, bedrock, ollama)
_BY_NAME: dict[str, ModelProvider] = {
    module.PROVIDER.codec.name: module.PROVIDER for module in _KNOWN
}
CODECS: dict[str, Codec] = {name: provider.codec for name, provider in _BY_NAME.items()}


def provider_named(name: str) -> ModelProvider:
    provider = _BY_NAME.get(name)
    if provider is None:
        raise RirekiError("no-provider", name=name, names=list(PROVIDERS))
    return provider


@lru_cache(maxsize=256)
def rules_for(name: str, model: str | None = None) -> Rules:
    """The rules of a provider, or of one of its model families."""
    provider = provider_named(name)
    for pattern, changes in provider.families if model else ():
        if re.search(pattern, (model or "").lower()):
            return replace(provider.rules, **changes)
    return provider.rules
