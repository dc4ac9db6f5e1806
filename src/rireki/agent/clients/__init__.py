"""Clients of models over the providers' own packages, which are optional and imported late.

Each takes what `history.render` makes and gives back the answer as its package would return it
whole, though it is told in pieces as it comes.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rireki.agent.loop import LLM
from rireki.errors import RirekiError
from rireki.model.providers import PROVIDERS
from rireki.providers.registry import provider_named

__all__ = ["connect"]


def connect(name: str, **options: Any) -> LLM:
    """A model by "provider:model", such as "anthropic:claude-sonnet-4-5" or "ollama:qwen3".

    Keys and addresses come from where the provider's package looks for them, usually the
    environment; or give a `client` of that package. Other options go with every request.
    """
    provider, _, model = name.partition(":")
    if provider not in PROVIDERS or not model:
        known = ", ".join(f"{one}:MODEL" for one in PROVIDERS)
        raise RirekiError("no-model-named", name=name, names=known)
    module = import_module(f"{__name__}.{provider}")
    made: LLM = getattr(module, provider_named(provider).client)(model, **options)
    return made
