"""Options that several commands share.

Every command imports this module, also those that need no archive: nothing heavy belongs here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rireki.model.spelling import ensure_among

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = [
    "archive_option",
    "chosen_archive",
    "completion",
    "home_option",
    "json_option",
    "no_pager_option",
    "source_option",
]

F = TypeVar("F", bound=Callable[..., Any])
_CHOSEN = "rireki.archive"


def _choose_archive(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    # The one nearer to the command wins: `rireki --archive A list --archive B`.
    if value is not None:
        ctx.meta[_CHOSEN] = value


def archive_option(function: F) -> F:
    return click.option(
        "--archive",
        metavar="PATH",
        expose_value=False,
        callback=_choose_archive,
        help="The archive to use, instead of RIREKI_ARCHIVE or your data directory.",
    )(function)


def chosen_archive() -> str | None:
    """The archive that the command line names, if it does."""
    chosen: str | None = click.get_current_context().meta.get(_CHOSEN)
    return chosen


def json_option(function: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")(
        function
    )


def no_pager_option(function: F) -> F:
    return click.option("--no-pager", is_flag=True, help="Print at once, without a pager.")(
        function
    )


def home_option(function: F) -> F:
    return click.option(
        "--home",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="Look below this home (another machine's backup), not at this machine.",
    )(function)


def source_option(multiple: bool, text: str, archived: bool = False) -> Callable[[F], F]:
    """`archived`: a source without a reader may be meant, see `library.ensure_source`."""

    def decorate(function: F) -> F:
        return click.option(
            "--source",
            "sources" if multiple else "source",
            metavar="NAME",
            multiple=multiple,
            callback=None if archived else _known_sources,
            shell_complete=_complete_sources,
            help=text,
        )(function)

    return decorate


def _known_sources(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """What was named, if there are readers for it: a misspelt source must not look like an empty one."""
    for name in value if isinstance(value, tuple) else [value] if value else []:
        ensure_among(name, _source_names())
    return value


def _source_names() -> list[str]:
    # Imported late: the readers, which a list needs only when it is asked for one of them.
    from rireki.sources.registry import names

    return names()


def completion(name: str, line: str) -> CompletionItem:
    """A name that a shell may complete, with a line about it."""
    # Imported late: only a shell that completes needs it.
    from click.shell_completion import CompletionItem

    return CompletionItem(name, help=line)


def _complete_sources(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in _source_names() if name.startswith(incomplete)]
