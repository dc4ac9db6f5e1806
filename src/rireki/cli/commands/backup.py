"""`rireki backup`: a copy of everything, while others write."""

from __future__ import annotations

from pathlib import Path

import click

from rireki.cli.archive import archive_path
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput, trouble_lines
from rireki.intake.backup import backup
from rireki.show.catalogue import say
from rireki.show.words import count, size

__all__ = ["command"]


@click.command("backup")
@click.argument("to", metavar="TO", type=click.Path(path_type=Path))
@json_option
@archive_option
@click.pass_context
def command(ctx: click.Context, to: Path, as_json: bool) -> None:
    """Copy the archive, the journals of histories and driven agents, and ChatKit stores into the
    folder TO, as they are at one moment; others may write meanwhile.

    Tokens and settings stay behind, and the search index, which is made again. The copy is
    checked; to use it, name it with --archive, or put its files where the archive was.
    Exit code 1 when something in the archive is damaged.

    \b
    Examples:
      rireki backup /mnt/disk/rireki-monday
      rireki list --archive /mnt/disk/rireki-monday
    """
    done = backup(archive_path(), to.expanduser().absolute())
    screen = StandardOutput()
    if as_json:
        screen.json([done])
    else:
        copied = f"{count(done.conversations, 'conversation')}, {count(done.files, 'other file')}"
        screen.say(trouble_lines(done.troubles, screen))
        screen.say([say(f"{done.to}: {copied}, {size(done.bytes)}, checked.")])
    ctx.exit(1 if done.troubles else 0)
