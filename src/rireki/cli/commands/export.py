"""`rireki export`: conversations as files that other programs and people read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from rireki.cli.archive import complete_ids, library
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput, progress, time_of
from rireki.cli.terminal import say_aside
from rireki.errors import RirekiError
from rireki.export.documents import Wish
from rireki.export.files import exporter
from rireki.show.catalogue import language, say
from rireki.show.formats import FORMATS
from rireki.show.safe import one_line
from rireki.show.words import count

if TYPE_CHECKING:
    from rireki.export.files import Exported
    from rireki.library import Library

__all__ = ["command"]

#: Kinds of what could not be carried that are named; of the others there are only so many more.
_NAMED = 10
_COUNTED = re.compile(r"(.*) \((\d+)\)")
#: Conversations that a search may find: all there are.
_MOST = 1_000_000


@click.command("export")
@click.argument("name", metavar="[ID]", required=False, shell_complete=complete_ids)
@click.option("--query", metavar="WORDS", help="Every conversation that a search finds.")
@click.option("--all", "all_of_them", is_flag=True, help="Every conversation there is.")
@click.option(
    "--format",
    "form",
    type=click.Choice([*FORMATS]),
    required=True,
    help="How to write it; 'native' are the agent's own files.",
)
@click.option(
    "--to",
    required=True,
    metavar="PATH",
    help="A file for ID, else a folder; for otlp also the address of a collector.",
)
@click.option("--mask", is_flag=True, help="With marks in place of keys, tokens and passwords.")
@click.option("--hidden", is_flag=True, help="Also hidden messages.")
@click.option("--full", is_flag=True, help="Shorten nothing: whole results, arguments, summaries.")
@click.option("--nested", is_flag=True, help="With the messages of sub-agents.")
@click.option("--as-of", metavar="TIME", help="As the source held it then: 3d, a date, a time.")
@click.option("--model", metavar="NAME", help="The model that a provider's form is for.")
@json_option
@archive_option
def command(
    name: str | None,
    query: str | None,
    all_of_them: bool,
    form: str,
    to: str,
    mask: bool,
    hidden: bool,
    full: bool,
    nested: bool,
    as_of: str | None,
    model: str | None,
    as_json: bool,
) -> None:
    """Write conversations in a format that others read.

    One goes into a file, or into a folder if PATH is one or ends with a slash; a
    search, or --all, into a folder. What is there and unchanged is not written again:
    an export that was interrupted goes on where it was.

    \b
    Examples:
      rireki export 5471a680 --format atif --to run.atif.json
      rireki export --query "deploy project:/src/app" --format markdown --to notes/
      rireki export --all --format json --to everything/
      rireki export --all --format otlp --to http://127.0.0.1:4318
    """
    if [name is not None, query is not None, all_of_them].count(True) != 1:
        raise RirekiError("export-what")
    moment = time_of(as_of, end_of_day=True)
    wish = Wish(form, language(), moment, hidden, False, full, nested, model, masked=mask)
    tally = _Tally(StandardOutput(), as_json, single=name is not None)
    with library() as kept:
        ids = [kept.find(name).id] if name is not None else _ids(kept, query)
        with kept.archive() as archive:
            export = exporter(archive, to, wish, single=name is not None)
            for id in _with_progress(ids, wanted=name is None):
                try:
                    tally.add(export(id))
                except RirekiError as error:
                    if name is not None:
                        raise
                    # One that cannot be written costs none of the others.
                    tally.fail(id, error)
    tally.tell()
    if tally.failed:
        click.get_current_context().exit(1)


def _ids(kept: Library, query: str | None) -> list[str]:
    if query is None:
        return [conversation.id for conversation in kept.conversations(hidden=True)]
    return [hits.conversation.id for hits in kept.search(query, limit=_MOST, hits=1).talks]


def _with_progress(ids: Sequence[str], wanted: bool) -> Iterator[str]:
    bar = progress() if wanted else None
    if bar is not None:
        bar.start("exporting", len(ids))
    for id in ids:
        yield id
        if bar is not None:
            bar.advance(1)
    if bar is not None:
        bar.finish()


class _Tally:
    """What became of the conversations: told one by one to programs, in the end to people."""

    def __init__(self, screen: StandardOutput, as_json: bool, single: bool) -> None:
        self.screen = screen
        self.as_json = as_json
        #: Only one was asked for: its files are named.
        self.single = single
        self.written = self.there = self.failed = 0
        self.files: list[str] = []
        #: Remarks; of those that end with a number, the sum over all conversations.
        self.notes: Counter[str] = Counter()

    def add(self, done: Exported) -> None:
        self.written += not done.was_there
        self.there += done.was_there
        if self.as_json:
            files = [str(file) for file in done.files]
            value = {"id": done.id, "files": files, "was_there": done.was_there}
            self.screen.json([{**value, "notes": done.notes}])
            return
        if self.single:
            self.files += map(str, done.files)
        for note in done.notes:
            found = _COUNTED.fullmatch(note)
            self.notes[found[1] if found else note] += int(found[2]) if found else 0

    def fail(self, id: str, error: RirekiError) -> None:
        self.failed += 1
        message, hint = error.lines(language())
        say_aside("error:", f"{id}: {message}", hint)

    def tell(self) -> None:
        if self.as_json:
            return
        for note, number in list(self.notes.items())[:_NAMED]:
            told = say(f"{note} ({number})" if number else note)
            click.echo(f"! {one_line(told)}", err=True)
        if len(self.notes) > _NAMED:
            more = count(len(self.notes) - _NAMED, "more remark")
            click.echo(say(f"! {more}; --json tells them all"), err=True)
        if self.files:
            self.screen.say(map(one_line, self.files))
            return
        told = say(f"{count(self.written, 'conversation')} written")
        if self.there:
            told += say(", ") + say(f"{self.there:,} unchanged")
        if self.failed:
            told += say(", ") + say(f"{self.failed:,} could not be written")
        self.screen.say([told])
