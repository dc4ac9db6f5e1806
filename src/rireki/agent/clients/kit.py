"""What the clients share: a package that may be missing, and calls put together from pieces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

from rireki.agent.tools import Tool
from rireki.errors import RirekiError

__all__ = ["Client", "function_tools", "package"]


class Client:
    """A model of one provider, and the package's own client, made when it is first needed."""

    provider = ""

    def __init__(self, model: str, *, client: Any = None, **options: Any) -> None:
        self.model = model
        self.options = options
        if client is not None:
            self.sdk = client

    @cached_property
    def sdk(self) -> Any:
        return self.make()

    def make(self) -> Any:
        raise NotImplementedError


def package(name: str, extra: str) -> Any:
    """A provider's package; if it is not there, how to get it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        raise RirekiError("provider-not-installed", extra=extra, name=name) from error


def function_tools(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """In OpenAI's way, which Ollama shares."""
    return [
        {
            "type": "function",
            "function": {"name": t.name, "description": t.description, "parameters": t.schema},
        }
        for t in tools
    ]
