"""The names of the providers of models; what is known of each stands in `rireki.providers`."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

__all__ = ["PROVIDERS", "Provider"]

Provider: TypeAlias = Literal["anthropic", "openai", "responses", "gemini", "bedrock", "ollama"]
PROVIDERS: tuple[Provider, ...] = get_args(Provider)
