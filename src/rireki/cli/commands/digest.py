"""`rireki digest`: one day, project by project."""

from __future__ import annotations

from collections.abc import Iterator

import click

from rireki.cli.archive import opened
from rireki.cli.options import archive_option, json_option, no_pager_option
from rireki.cli.output import StandardOutput, now
from rireki.model.names import directory_of
from rireki.show.catalogue import say
from rireki.show.digest import DayDigest, DigestConversation, digest_of
from rireki.show.hits import left_out
from rireki.show.safe import one_line
from rireki.show.times import clock
from rireki.show.transcript import short_message
from rireki.show.width import truncate, wrap
from rireki.show.words import count

__all__ = ["command"]

#: Files that are named; of more the number is told.
FILES = 8


@click.command("digest")
@click.argument("day", default="yesterday")
@click.option("--project", metavar="DIR", help="Only this directory and what lies below it.")
@no_pager_option
@json_option
@archive_option
def command(day: str, project: str | None, no_pager: bool, as_json: bool) -> None:
    """What was asked on a day, what came of it, what was left unfinished; project by project.

    DAY is yesterday unless it is named: today, a date.

    \b
    Examples:
      rireki digest
      rireki digest today --project .
      rireki digest 2026-11-15 --json
    """
    screen = StandardOutput()
    with opened() as archive:
        digest = digest_of(archive, day, now(), directory_of(project) if project else None)
    if as_json:
        screen.json([digest])
    else:
        screen.page(_lines(digest, screen), pager=not no_pager)


def _lines(digest: DayDigest, screen: StandardOutput) -> Iterator[str]:
    style = screen.style
    yield style.bold(digest.day)
    if not digest.projects:
        yield say("Nothing was said on that day.")
    for each in digest.projects:
        yield ""
        name = one_line(each.project) if each.project else say("(no project)")
        yield style.bold(style.cyan(truncate(name, screen.columns)))
        for about in each.conversations:
            yield from _conversation(about, screen)
    if digest.hidden:
        yield style.dim(left_out(digest.hidden))


def _conversation(about: DigestConversation, screen: StandardOutput) -> Iterator[str]:
    style, room = screen.style, screen.columns - 4
    star = "★ " if about.starred else ""
    title = one_line(about.title) or say("(no title)")
    yield f"  {style.yellow(star)}{style.bold(truncate(title, room))}"
    yield f"    {style.dim(one_line(about.id))}"
    for asked in about.asked:
        place = style.dim(f" #{short_message(asked.message)}")
        words = truncate(one_line(asked.text), max(room - 30, 20))
        yield f"    {style.green(clock(asked.at) or '–')}  {words}{place}"
    for number, line in enumerate(wrap(one_line(about.answer), room - 4) if about.answer else ()):
        yield f"    {'→ ' if not number else '  '}{line}"
    if about.files:
        more = len(about.files) - FILES
        named = ", ".join(map(one_line, about.files[:FILES]))
        said = say(f"changed: {named}") + (say(f" and {more} more") if more > 0 else "")
        yield f"    {style.dim(truncate(said, room))}"
    elif about.tool_calls:
        yield f"    {style.dim(say(count(about.tool_calls, 'tool call')))}"
    if about.unfinished:
        yield f"    {style.yellow(say('left unfinished'))}"
