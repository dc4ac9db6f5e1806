"""`rireki import`: take in whatever is new."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rireki.cli.archive import opened
from rireki.cli.options import archive_option, home_option, json_option, source_option
from rireki.cli.output import StandardOutput, progress, trouble_lines
from rireki.cli.places import places_of
from rireki.search.index.importing import take_in
from rireki.show.catalogue import say
from rireki.show.safe import one_line
from rireki.show.words import count, size

if TYPE_CHECKING:
    from rireki.intake.sweep import Report, SourceReport

__all__ = ["command", "report_lines"]

#: More troubles of one source than this are counted, not listed.
MANY = 10


@click.command("import")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@source_option(True, "Only this source; may be given several times.")
@home_option
@click.option("--no-index", is_flag=True, help="Leave the search index to the next search.")
@click.option("--check", is_flag=True, help="Compare everything, also what looks unchanged.")
@json_option
@archive_option
def command(
    paths: tuple[Path, ...],
    sources: tuple[str, ...],
    home: Path | None,
    no_index: bool,
    check: bool,
    as_json: bool,
) -> None:
    """Take in what your agents wrote since the last time.

    Without PATH everything on this machine is looked through. The agents' files
    are only read. Run it as often as you like: what is known is not read again,
    and what an agent deletes or overwrites later stays in the archive.

    \b
    Examples:
      rireki import
      rireki import --home /mnt/backup/home/ken --source claude-code
      rireki import saved-chat.json
    """
    with opened(create=True) as archive:
        report = take_in(
            archive,
            places_of(home),
            paths=paths,
            sources=sources,
            progress=progress(),
            index=not no_index,
            check=check,
        )
    screen = StandardOutput()
    screen.give(as_json, [report], report_lines(report, screen))


def report_lines(report: Report, screen: StandardOutput) -> Iterator[str]:
    """What was new, per source; where it looked when there was nothing."""
    found = [source for source in report.sources if _has_news(source)]
    if not found:
        yield from _nothing_found(report)
        return
    longest = max(len(source.source) for source in found)
    for source in found:
        yield f"{source.source:<{longest}}  {_told(source)}"
        yield from trouble_lines(source.troubles[:MANY], screen)
        if len(source.troubles) > MANY:
            yield screen.style.yellow(_more(len(source.troubles) - MANY))
    if report.index is not None:
        yield from trouble_lines([report.index], screen)
    yield screen.style.dim(f"{report.seconds:.1f} s")


def _has_news(source: SourceReport) -> bool:
    return bool(source.found or source.vanished or source.troubles)


def _told(source: SourceReport) -> str:
    words = [
        (source.new_conversations, count(source.new_conversations, "new conversation")),
        (source.new_subagents, count(source.new_subagents, "sub-agent")),
        (source.changed_conversations, say(f"{source.changed_conversations:,} changed")),
        (source.moved, count(source.moved, "file moved", "files moved")),
        (source.vanished, f"{source.vanished:,} gone from the source, kept here"),
        (source.forgotten, f"{source.forgotten:,} left out, as you said to forget them"),
        (source.new_bytes, say(f"{size(source.new_bytes)} added")),
        (source.compared, say(f"{count(source.compared, 'file')} compared")),
    ]
    said = [say(text) for number, text in words if number]
    return say(", ").join(said) or say(f"nothing new in {count(source.found, 'file')}")


def _more(number: int) -> str:
    return say(f"  ! {count(number, 'more trouble')}: 'rireki sources' lists them")


def _nothing_found(report: Report) -> Iterator[str]:
    yield say("No history found. rireki looked here:")
    for looked in report.looked:
        note = f" ({one_line(say(looked.note))})" if looked.note else ""
        yield f"  {looked.source:<12} {one_line(looked.place)}{note}"
    yield say("Name a file or folder: rireki import PATH. Or look around first: rireki demo.")
