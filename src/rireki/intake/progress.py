"""How long work tells what it is doing; interfaces draw it, tests count it."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Progress", "Silent"]


class Progress(Protocol):
    def start(self, label: str, total: int) -> None: ...

    def advance(self, amount: int) -> None: ...

    def finish(self) -> None: ...


class Silent:
    def start(self, label: str, total: int) -> None:
        """Nothing to tell."""

    def advance(self, amount: int) -> None:
        """Nothing to tell."""

    def finish(self) -> None:
        """Nothing to tell."""
