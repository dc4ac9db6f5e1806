"""`rireki share`: one conversation as a file for other people, with its secrets masked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rireki.cli.archive import conversation_argument, library
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput, time_of
from rireki.export.files import write_whole_bytes
from rireki.export.sharing import ENDINGS, share, turns_of_range
from rireki.show.catalogue import language, say
from rireki.show.safe import one_line
from rireki.show.words import count

if TYPE_CHECKING:
    from rireki.masking import Mark

__all__ = ["command"]


@click.command("share")
@conversation_argument
@click.option("--turns", metavar="A-B", help="These turns alone, as `show` numbers them.")
@click.option(
    "--to",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="FILE.html (also readable by `rireki import`), FILE.md or FILE.zip; else one is named here.",
)
@click.option("--as-of", metavar="TIME", help="As the source held it then: 3d, a date, a time.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@archive_option
def command(
    name: str, turns: str | None, to: Path | None, as_of: str | None, yes: bool, as_json: bool
) -> None:
    """Write one conversation for other people: keys, tokens and passwords are masked.

    What was masked is told before anything is written; on a terminal you are asked.
    Read it before you send it: only what looks like a secret is found.

    \b
    Examples:
      rireki share 5471a680
      rireki share 5471a680 --turns 2-5 --to question.html
    """
    screen = StandardOutput()
    wanted = turns_of_range(turns) if turns is not None else None
    with library() as kept:
        id, moment = kept.find(name).id, time_of(as_of, end_of_day=True)
        shared = kept.ask(lambda archive: share(archive, id, wanted, language(), moment))
        path = to or Path(f"{shared.name}{ENDINGS[0]}")
        content = shared.content(path.suffix.lower())
    if not as_json:
        for words in _told(shared.masked):
            click.echo(words, err=True)
        if screen.terminal and not yes:
            click.confirm(say(f"Write {one_line(str(path))}?"), default=True, abort=True, err=True)
    write_whole_bytes(path, [content])
    marks = [
        {"kind": mark.kind, "number": mark.number, "count": n}
        for mark, n in sorted(shared.masked.items())
    ]
    value = {"id": id, "file": str(path), "masked": marks, "digest": shared.digest}
    screen.give(as_json, [value], [one_line(str(path))])


def _told(found: Counter[Mark]) -> Iterator[str]:
    if not found:
        yield say("Nothing in it looks like a secret.")
        return
    yield say(f"Masked: {count(len(found), 'secret')} in {count(sum(found.values()), 'place')}")
    for mark, n in sorted(found.items()):
        yield f"  {mark} × {n:,}"
