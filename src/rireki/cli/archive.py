"""Opening the archive a command line means, and completing the ids of its conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rireki.archive import open as opening
from rireki.archive.base import Archive, Filter
from rireki.cli.errors import say_aside
from rireki.cli.options import chosen_archive, completion
from rireki.errors import ArchiveTrouble, RirekiError
from rireki.show.safe import one_line
from rireki.show.words import count

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["archive_path", "conversation_argument", "opened"]

F = TypeVar("F", bound=Callable[..., Any])
_MANY = 200
SALVAGE = (
    "'rireki verify' names what cannot be read; 'rireki verify --salvage NEW' saves all else into a"
    " new archive."
)


def archive_path() -> Path:
    return opening.archive_path(chosen_archive())


@contextmanager
def opened(create: bool = False, write: bool = False, checking: bool = False) -> Iterator[Archive]:
    """The archive the user means, for as long as a command needs it.

    Where it is damaged that is said afterwards, unless the command is there for `checking` it.
    """
    archive = opening.open_archive(archive_path(), create=create, write=write)
    told = checking
    try:
        yield archive
    except RirekiError as error:
        if archive.damage:
            # What is not found may be what cannot be read.
            error.hint, told = f"{archive.path} is damaged: {SALVAGE}", True
        raise
    except opening.StorageError as error:
        # Met while something was read bit by bit, and cannot be read elsewhere.
        told = True
        raise opening.explain(error, archive.path) from error
    finally:
        outdated = archive.is_outdated()
        archive.close()
        if archive.damage and not told:
            _tell_damage(archive)
        if outdated:
            raise ArchiveTrouble(
                f"{archive.path} was written while it was read", "Run the command again."
            )


def _tell_damage(archive: Archive) -> None:
    lost = count(len(archive.damage), "thing")
    say_aside(
        "damaged:",
        f"{archive.path}: {lost} in it cannot be read, all else is given",
        SALVAGE,
    )


def conversation_argument(function: F) -> F:
    return click.argument("name", metavar="ID", shell_complete=_complete_ids)(function)


def _complete_ids(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The newest conversations, told by their titles."""
    with ctx.scope(cleanup=False):
        if not archive_path().exists():
            return []
        with opened() as archive:
            # A shell shows them as they are: names with control characters are typed by hand.
            ids = sorted(id for id in archive.ids() if id.isprintable())
            if incomplete:
                return [
                    completion(name, "")
                    for id in ids
                    for name in (id, id.partition("/")[2])
                    if name.startswith(incomplete)
                ][:_MANY]
            newest = archive.conversations(Filter(limit=_MANY))
            return [
                completion(c.native_id, one_line(c.title))
                for c in newest
                if c.native_id.isprintable()
            ]
