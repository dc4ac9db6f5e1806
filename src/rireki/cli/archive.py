"""Opening the archive a command line means, and completing the ids of its conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rireki import home
from rireki.archive import open as opening
from rireki.archive.base import Archive, Filter
from rireki.cli.options import chosen_archive, completion
from rireki.cli.output import progress
from rireki.cli.terminal import say_aside
from rireki.errors import ArchiveTrouble, RirekiError
from rireki.library import Library
from rireki.show.safe import one_line
from rireki.show.words import count

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["archive_path", "complete_ids", "conversation_argument", "library", "opened"]

F = TypeVar("F", bound=Callable[..., Any])
_MANY = 200
SALVAGE = (
    "'rireki verify' names what cannot be read; 'rireki verify --salvage NEW' saves all else into a"
    " new archive."
)


def archive_path() -> Path:
    return home.archive_path(chosen_archive())


@contextmanager
def library(create: bool = False, write: bool = False, checking: bool = False) -> Iterator[Library]:
    """The archive the user means, for as long as a command needs it.

    Where it is damaged that is said afterwards, unless the command is there for `checking` it.
    """
    path = archive_path()
    opener = partial(opening.open_archive, path, create=create, write=write)
    told = checking
    with Library(opener, progress) as library:
        try:
            yield library
        except RirekiError as error:
            if library.damage:
                told = True
                if not isinstance(error, ArchiveTrouble):
                    # What is not found may be what cannot be read.
                    error.values["hint"] = f"{path} is damaged: {SALVAGE}"
            raise
        finally:
            if library.damage and not told:
                _tell_damage(path, len(library.damage))


@contextmanager
def opened(create: bool = False, write: bool = False, checking: bool = False) -> Iterator[Archive]:
    """The same, for commands that need verbs of the archive itself."""
    with library(create, write, checking) as kept, kept.archive() as archive:
        yield archive


def _tell_damage(path: Path, lost: int) -> None:
    said = f"{path}: {count(lost, 'thing')} in it cannot be read, all else is given"
    say_aside("damaged:", said, SALVAGE)


def conversation_argument(function: F) -> F:
    return click.argument("name", metavar="ID", shell_complete=complete_ids)(function)


def complete_ids(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The newest conversations, told by their titles."""
    with ctx.scope(cleanup=False):
        if not archive_path().exists():
            return []
        with opened() as archive:
            # A shell shows them as they are: names with control characters are typed by hand.
            if incomplete:
                names = (
                    name
                    for each in archive.headings(beginning=incomplete)
                    if each.id.isprintable()
                    for name in (each.id, each.id.partition("/")[2])
                    if name.startswith(incomplete)
                )
                return [completion(name, "") for name in islice(names, _MANY)]
            newest = archive.conversations(Filter(limit=_MANY))
            return [
                completion(c.native_id, one_line(c.title))
                for c in newest
                if c.native_id.isprintable()
            ]
