"""Options that several commands share, and opening the archive they name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rireki.errors import ArchiveTrouble, NotFound, RirekiError
from rireki.model.names import directory_of
from rireki.model.spelling import nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from rireki.archive.base import Archive
    from rireki.model.activity import Activity
    from rireki.sources.kit.places import Places

__all__ = [
    "archive_option",
    "archive_path",
    "conversation_argument",
    "directory_of",
    "ensure_known",
    "home_option",
    "json_option",
    "no_pager_option",
    "opened",
    "places_of",
    "source_option",
    "tell_ignored",
    "time_of",
    "waiting_now",
]

F = TypeVar("F", bound=Callable[..., Any])
_CHOSEN = "rireki.archive"
_MANY = 200
SALVAGE = (
    "'rireki verify' names what cannot be read; 'rireki verify --salvage NEW' saves all else into a"
    " new archive."
)


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
    """`archived`: a source without a reader may be meant, see `ensure_known`."""

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
    if not value:
        return value
    from rireki.sources.registry import names

    for name in value if isinstance(value, tuple) else [value]:
        _ensure_among(name, names())
    return value


def ensure_known(source: str | None, archive: Archive) -> None:
    """Raise NotFound for a source that neither a reader nor the archive knows.

    What a plug-in read is still there when the plug-in is not.
    """
    if source is None:
        return
    from rireki.sources.registry import names

    if source not in names():
        kept = {heading.source for heading in archive.headings()}
        _ensure_among(source, sorted({*names(), *kept}))


def _ensure_among(name: str, known: Sequence[str]) -> None:
    if name not in known:
        near = nearest(name, known)
        meant = f"Did you mean {near}? " if near else ""
        raise NotFound(f"there is no source {name!r}", f"{meant}Known sources: {', '.join(known)}.")


def conversation_argument(function: F) -> F:
    return click.argument("name", metavar="ID", shell_complete=_complete_ids)(function)


def archive_path() -> Path:
    from rireki.archive.open import archive_path

    return archive_path(click.get_current_context().meta.get(_CHOSEN))


def places_of(home: Path | None) -> Places:
    """Where history is looked for: below a home that was named, or on this machine; and beside
    the archive, where programs keep their own."""
    from rireki.sources.kit.places import Places

    places = Places.at(home.absolute()) if home else Places.here()
    return places.beside(archive_path())


def waiting_now() -> dict[str, Activity]:
    """The conversations that wait for the person at this moment, by their ids."""
    found = _recovered()
    if _something_runs():
        from rireki.live.activity import stated_activities

        stated = stated_activities(places_of(None))
        found |= {id: activity for id, activity in stated.items() if activity.waits}
    return found


def _recovered() -> dict[str, Activity]:
    """Those with prompts of an earlier process. Most journals have ended, as their last lines say."""
    journals = sorted((archive_path().parent / "bridge").glob("*.jsonl"))
    if not journals:
        return {}
    from rireki.drive.journal import ended
    from rireki.live.driven import recovered_activities

    def is_open(path: Path) -> bool:
        try:
            return path.is_file() and not ended(path)
        except OSError:
            # What cannot be read is told of by `rireki import`.
            return False

    return {each.conversation: each for each in recovered_activities(filter(is_open, journals))}


def tell_ignored(archive: Path, places: Places) -> None:
    """Name settings for driving agents that came with somebody's data: they count for nothing."""
    from rireki.cli.drive_options import config_file, ignored_settings
    from rireki.show.catalogue import say
    from rireki.show.safe import one_line

    for file in ignored_settings(archive, places):
        yours = one_line(str(config_file()))
        told = f"Ignored: the agents and [drive] of {one_line(str(file))}; yours belong in {yours}."
        click.echo(say(told), err=True)


def _something_runs() -> bool:
    """Whether an agent left a note that it runs: most often none did, and no reader is imported."""
    import os

    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    notes = (archive_path().parent / "bridge").glob("*.lock"), (claude / "sessions").glob("*.json")
    return any(next(found, None) is not None for found in notes)


@contextmanager
def opened(create: bool = False, write: bool = False, checking: bool = False) -> Iterator[Archive]:
    """The archive the user means, for as long as a command needs it.

    Where it is damaged that is said afterwards, unless the command is there for `checking` it.
    """
    from rireki.archive.open import StorageError, explain, open_archive

    archive = open_archive(archive_path(), create=create, write=write)
    told = checking
    try:
        yield archive
    except RirekiError as error:
        if archive.damage:
            # What is not found may be what cannot be read.
            error.hint, told = f"{archive.path} is damaged: {SALVAGE}", True
        raise
    except StorageError as error:
        # Met while something was read bit by bit, and cannot be read elsewhere.
        told = True
        raise explain(error, archive.path) from error
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
    from rireki.cli.output import say_aside
    from rireki.show.words import count

    lost = count(len(archive.damage), "thing")
    say_aside(
        "damaged:",
        f"{archive.path}: {lost} in it cannot be read, all else is given",
        SALVAGE,
    )


def time_of(text: str | None, end_of_day: bool = False) -> str | None:
    """A time as it was typed, in the archive's spelling."""
    if text is None:
        return None
    from rireki.cli.output import now
    from rireki.model.when import when

    return when(text, now(), end_of_day)


# ── Shell completion ──


def _complete_sources(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from rireki.sources.registry import names

    return [CompletionItem(name) for name in names() if name.startswith(incomplete)]


def _complete_ids(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The newest conversations, told by their titles."""
    from click.shell_completion import CompletionItem

    from rireki.show.safe import one_line

    with ctx.scope(cleanup=False):
        if not archive_path().exists():
            return []
        with opened() as archive:
            # A shell shows them as they are: names with control characters are typed by hand.
            ids = sorted(id for id in archive.ids() if id.isprintable())
            if incomplete:
                return [
                    CompletionItem(name)
                    for id in ids
                    for name in (id, id.partition("/")[2])
                    if name.startswith(incomplete)
                ][:_MANY]
            from rireki.archive.base import Filter

            newest = archive.conversations(Filter(limit=_MANY))
            return [
                CompletionItem(c.native_id, help=one_line(c.title))
                for c in newest
                if c.native_id.isprintable()
            ]
