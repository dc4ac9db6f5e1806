"""`rireki rebuild`: understand everything anew."""

from __future__ import annotations

import click

from rireki.cli.archive import opened
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput, progress
from rireki.intake.rebuild import rebuild
from rireki.search.index.update import rebuild as rebuild_index
from rireki.show.catalogue import say
from rireki.show.words import count

__all__ = ["command"]


@click.command("rebuild")
@json_option
@archive_option
def command(as_json: bool) -> None:
    """Make titles, counts, links and the search index anew from the kept records: after an
    update, or in doubt.

    The records themselves are not touched.

    \b
    Example:
      rireki rebuild
    """
    with opened(write=True) as archive:
        number = rebuild(archive, progress())
        rebuild_index(archive, progress())
    if as_json:
        StandardOutput().json([{"conversations": number}])
    else:
        StandardOutput().say([say(f"{count(number, 'conversation')} interpreted anew.")])
