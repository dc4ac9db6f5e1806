"""The search indexes of a server: several people's conversations in each, so that a search of all asks few.

    shelves-2/
    ├── server             names this server's indexes in the notes of the database
    └── shelf-0.search/    an index as it lies beside an archive

Each knows up to which number of every owner it is; what came later is read directly by searches. A shelf
is a projection: whatever is wrong with it, a new one is made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from rireki.errors import ArchiveTrouble
from rireki.home import Home
from rireki.search.index.index import (
    Index,
    adopt,
    make,
    make_aside,
    noted,
    open_existing,
    sweep,
)
from rireki.search.index.notes import Damaged, IndexStore, cannot_write
from rireki.search.index.words import WriteFailed
from rireki.team.shelf_rows import ShelfRows
from rireki.team.shelf_writer import REACHED, SOILED, ShelfWriter
from rireki.team.store import Team

__all__ = ["SHELVES", "Shelf", "Shelves", "reached_of"]

#: Into how many a server puts all people.
SHELVES = 2


class Shelf:
    """One index: what its notes in the database are called, and which version of it is in use."""

    def __init__(self, team: Team, folder: Path, number: int) -> None:
        self.team = team
        self.number = number
        self.home = Home(folder / f"shelf-{number}")
        self.name = str(self.home.index)
        self._notes = f"{_server(folder)}/{folder.name}/{number}"
        #: Grows when another index takes the place of the one in use.
        self.version = 0

    def identity(self) -> str:
        with self.team.archive(0) as archive:
            return f"{archive.identity()}.{self._notes}"

    def note_of(self, name: str) -> str | None:
        with self.team.archive(0) as archive:
            return archive.note_of(f"{name} {self._notes}")

    def set_note(self, name: str, value: str) -> None:
        with self.team.archive(0) as archive:
            archive.set_note(f"{name} {self._notes}", value)

    def ensured(self) -> Index:
        """The index in use; made, empty, where there is none that can be used."""
        with suppress(Damaged):
            if index := open_existing(self):
                return index
        self.version += 1
        return make(self)

    def condemn(self, index: Index) -> None:
        """It is damaged: another is made by whoever comes next."""
        index.condemn()
        self.version += 1


def _server(folder: Path) -> str:
    path = folder / "server"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(os.urandom(6).hex(), encoding="ascii")
    return path.read_text(encoding="ascii")


class Shelves:
    def __init__(self, team: Team, count: int = SHELVES) -> None:
        self.team = team
        folder = team.folder / "team" / f"shelves-{count}"
        self.shelves = [Shelf(team, folder, number) for number in range(count)]
        self.rows = ShelfRows(team.tables)

    def of(self, owner: int) -> Shelf:
        return self.shelves[owner % len(self.shelves)]

    def reached(self, shelf: Shelf) -> dict[int, int]:
        """Up to which number of each owner a shelf is."""
        with suppress(Damaged), noted(shelf) as store:
            return reached_of(store) if store is not None else {}
        return {}

    def bring_up(self, shelf: Shelf, owners: Sequence[int]) -> dict[int, int]:
        """What is new of these owners goes into their shelf; returns up to which number that is.

        Raises IndexBusy where another process writes it.
        """
        with suppress(ArchiveTrouble):
            sweep(shelf)
        index = shelf.ensured()
        try:
            return self._written(ShelfWriter(index, shelf, self.rows), owners)
        except Damaged as error:
            shelf.condemn(index)
            raise cannot_write(index.folder, error) from error
        except WriteFailed as error:
            _ensure_sound(shelf, index)
            raise cannot_write(index.folder, error) from error
        finally:
            index.close()

    def is_soiled(self, shelf: Shelf) -> bool:
        """Whether it has words of what went: they are found no more, but lie in its files."""
        with suppress(Damaged), noted(shelf) as store:
            return store is not None and bool(store.get(SOILED, 0))
        return False

    def renew(self, shelf: Shelf, owners: Sequence[int]) -> dict[int, int]:
        """Make a shelf of what there still is, beside the one in use, which it then replaces; returns
        what `bring_up` does.

        Texts are taken from the old one: nothing has to be read from records again.
        """
        new = make_aside(shelf)
        try:
            with _opened(shelf) as old:
                writer = ShelfWriter(new, _Aside(shelf), self.rows)
                reached = self._written(writer, owners, old, copying=True)
            adopt(shelf, new)
        except WriteFailed as error:
            raise cannot_write(new.folder, error) from error
        finally:
            new.close()
            # It is swept away unless it is the one in use by now.
            with suppress(ArchiveTrouble):
                sweep(shelf)
        shelf.version += 1
        return reached

    def _written(
        self,
        writer: ShelfWriter,
        owners: Sequence[int],
        old: Index | None = None,
        *,
        copying: bool = False,
    ) -> dict[int, int]:
        reached = {}
        try:
            for owner in owners:
                with self.team.archive(owner) as archive:
                    reached[owner] = (
                        writer.copy(archive, owner, old)
                        if copying
                        else writer.bring_up(archive, owner)
                    )
            writer.commit()
        finally:
            writer.close()
        return reached


class _Aside:
    """Whose index is not in use yet: nothing is noted of it."""

    def __init__(self, shelf: Shelf) -> None:
        self.name, self.home, self.identity = shelf.name, shelf.home, shelf.identity

    def note_of(self, name: str) -> str | None:
        return None

    def set_note(self, name: str, value: str) -> None:
        return


def _ensure_sound(shelf: Shelf, index: Index) -> None:
    """Why it could not be written nobody said: maybe it is damaged."""
    try:
        index.verify()
    except Damaged:
        shelf.condemn(index)


@contextmanager
def _opened(shelf: Shelf) -> Iterator[Index | None]:
    """None where there is none that can be used."""
    index = None
    with suppress(Damaged):
        index = open_existing(shelf)
    try:
        yield index
    finally:
        if index is not None:
            index.close()


def reached_of(store: IndexStore) -> dict[int, int]:
    """Up to which number of each owner an index is."""
    facts = store.facts().items()
    return {int(key[len(REACHED) :]): value for key, value in facts if key.startswith(REACHED)}
