"""What a property is checked with: stores in a folder of their own, and two users."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from inspect import isawaitable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from chatkit.store import NotFoundError, Store
from chatkit.types import ThreadItem

__all__ = [
    "ConformanceCase",
    "Check",
    "FactoryNotImportable",
    "MakeContext",
    "MakeStore",
    "Property",
    "collect",
    "expect",
    "missing",
    "refused",
    "user_id",
]

#: Opens the store in a folder: called again with the same one, it opens the same data.
MakeStore: TypeAlias = Callable[[Path], Store[Any]]
#: The context of a user, as the app would make it.
MakeContext: TypeAlias = Callable[[str], Any]

#: A walk that goes on for longer than this goes round in circles.
PAGES = 1000


class FactoryNotImportable(Exception):
    """Not the store's fault: another process could not find the function that makes it."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"not checked: your factory cannot be imported in another process ({why}); "
            "make it a function of a module that can be imported by its name"
        )


def user_id(user: str) -> dict[str, str]:
    return {"user_id": user}


class ConformanceCase:
    """One check's stores, users and folder."""

    def __init__(self, make_store: MakeStore, make_context: MakeContext, folder: Path) -> None:
        self.make_store = make_store
        self.make_context = make_context
        self.folder = folder
        self._opened: list[Store[Any]] = []
        self.alice = make_context("alice")
        self.bob = make_context("bob")
        self.store = self.open()

    def open(self, within: str = "") -> Store[Any]:
        """The store in this case's folder, or another one in a folder of that."""
        folder = self.folder / within
        folder.mkdir(exist_ok=True)
        store = self.make_store(folder)
        self._opened.append(store)
        return store

    async def close(self) -> None:
        """Stores that can be closed are."""
        for store in self._opened:
            for name in ("aclose", "close"):
                if callable(close := getattr(store, name, None)):
                    done = close()
                    if isawaitable(done):
                        await done
                    break

    async def add(self, *items: ThreadItem, thread: str = "thr_0000000a") -> None:
        for item in items:
            await self.store.add_thread_item(thread, item, self.alice)

    async def walk(
        self, order: str = "asc", limit: int = 3, thread: str = "thr_0000000a"
    ) -> list[ThreadItem]:
        """All items, page by page."""
        found: list[ThreadItem] = []
        after: str | None = None
        for _ in range(PAGES):
            page = await self.store.load_thread_items(thread, after, limit, order, self.alice)
            found += page.data
            if not page.has_more:
                return found
            expect(bool(page.after), "a page says that there is more, but not after what")
            after = page.after
        raise AssertionError(f"the pages do not end ({len(found)} items so far)")

    async def ids(self, order: str = "asc", limit: int = 3) -> list[str]:
        return [item.id for item in await self.walk(order, limit)]


Check: TypeAlias = Callable[[ConformanceCase], Awaitable[None]]


class Property(NamedTuple):
    #: As in docs/chatkit.md, which tells of each why it matters.
    number: str
    name: str
    check: Check


def collect(into: list[Property], number: str) -> Callable[[Check], Check]:
    """Note a check as a property; its first line of documentation is the name."""

    def note(check: Check) -> Check:
        into.append(Property(number, (check.__doc__ or "").strip().splitlines()[0], check))
        return check

    return note


def expect(condition: bool, otherwise: str) -> None:
    """Like `assert`, also where Python was told to leave those out."""
    if not condition:
        raise AssertionError(otherwise)


async def missing(asked: Awaitable[Any], what: str) -> None:
    """What is not there, or not for this user, must be said so."""
    with suppress(NotFoundError):
        found = await asked
        raise AssertionError(f"{what} gave {str(found)[:200]!r} in place of NotFoundError")


async def refused(asked: Awaitable[Any], what: str) -> None:
    """Any error will do, as long as there is one."""
    try:
        await asked
    except Exception:  # noqa: BLE001 - whatever the store calls it
        return
    raise AssertionError(f"{what} was accepted")
