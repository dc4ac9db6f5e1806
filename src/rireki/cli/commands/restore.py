"""`rireki restore`: the agent's own files back, as they were."""

from __future__ import annotations

from pathlib import Path

import click

from rireki.cli.archive import conversation_argument, library
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput
from rireki.show.safe import one_line

__all__ = ["command"]


@click.command("restore")
@conversation_argument
@click.option(
    "--to",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder to write to; made if it is not there.",
)
@click.option("--as-of", metavar="TIME", help="As the source held it then: 3d, a date, a time.")
@json_option
@archive_option
def command(name: str, to: Path, as_of: str | None, as_json: bool) -> None:
    """Write the files of a conversation back, byte for byte, below a folder of your choice.

    What was a row of a database becomes a file that the agent's own load command
    takes. Nothing that is there already is overwritten.

    \b
    Examples:
      rireki restore 5471a680 --to ./back
      rireki restore 5471a680 --to ./monday --as-of 2026-11-16
    """
    with library() as kept:
        conversation = kept.find(name)
        names = [str(file) for file in kept.restore(conversation.id, to, as_of)]
    StandardOutput().give(as_json, [{"id": conversation.id, "files": names}], map(one_line, names))
