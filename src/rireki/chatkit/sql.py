"""What the statements of a store need of a connection, whichever engine is behind it.

The statements are those of `rows.py` and `files.py`, in the SQL that the engines share.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

__all__ = ["StoreSql", "StoreWork"]

T = TypeVar("T")


class StoreCursor(Protocol):
    def __iter__(self) -> Iterator[Any]: ...

    def fetchall(self) -> list[Any]: ...


class StoreSql(Protocol):
    """`?` stands for a value."""

    def execute(self, query: str, values: Sequence[Any] = (), /) -> StoreCursor: ...


class StoreWork(Protocol):
    """Where a store's work is done: never by the thread of an event loop."""

    is_closed: bool
    #: Set by a change that erases: what went is not to stay anywhere else either.
    scrub: bool

    def change(self, do: Callable[[StoreSql], T], user: str = "") -> Awaitable[T]:
        """Done in a transaction, after all earlier ones of the user."""
        ...

    def read(self, do: Callable[[StoreSql], T]) -> Awaitable[T]:
        """Sees everything that was acknowledged."""
        ...

    def aside(self, do: Callable[[], T]) -> Awaitable[T]:
        """Work with files."""
        ...

    def close(self) -> None: ...
