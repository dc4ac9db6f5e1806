"""`rireki search`: find what was said, by whom and where; without a query, as one types."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import quote

import click
import msgspec

from rireki.cli.archive import library
from rireki.cli.commands.list_ import LEGEND, marks
from rireki.cli.options import archive_option, json_option, no_pager_option
from rireki.cli.output import StandardOutput, now
from rireki.errors import RirekiError
from rireki.model.spelling import distance
from rireki.search.language.query import QueryError
from rireki.search.results import SearchOptions
from rireki.show.catalogue import say
from rireki.show.hits import HitsView, counted, html_results, notes, nothing, render_results
from rireki.show.safe import one_line, safe
from rireki.show.transcript import short_message
from rireki.show.width import clusters, truncate, width, wrap
from rireki.show.words import count

if TYPE_CHECKING:
    from rireki.archive.base import Archive
    from rireki.library import Library
    from rireki.search.results import Results

__all__ = ["command", "names_of", "pointed"]

NOTHING = 1
#: A mistyped option is at most this many letters away from one of ours.
_NEAR = 2


class _Searching(click.Command):
    """A query may begin with a minus: only what is an option, or nearly one, is taken for one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options = args[: args.index("--")] if "--" in args else args
        if "-h" in options:
            return super().parse_args(ctx, ["--help"])
        known = {name for param in self.params for name in param.opts} | {"--help"}
        for typed in (arg.partition("=")[0] for arg in options if arg.startswith("--")):
            near = sorted(name for name in known if distance(typed, name) <= _NEAR)
            if typed not in known and near:
                meant = f"Did you mean {' or '.join(near)}?"
                quoted = f"To search for it, write '\"{typed}\"'."
                raise click.UsageError(f"No such option {typed}. {meant} {quoted}", ctx)
        return super().parse_args(ctx, args)


@click.command(
    "search",
    cls=_Searching,
    # `-h` would swallow `-hello`, which leaves out a word.
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
)
@click.argument("words", metavar="[QUERY]...", nargs=-1, type=click.UNPROCESSED)
@click.option("--newest", is_flag=True, help="The newest first, instead of the best.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=10,
    metavar="N",
    help="So many conversations; 10 unless said otherwise.",
)
@click.option(
    "--offset",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Pass over the first N conversations.",
)
@click.option(
    "--context",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Also N messages before and after each hit.",
)
@click.option(
    "--hits",
    type=click.IntRange(1),
    default=2,
    metavar="N",
    help="So many hits per conversation; 2 unless said otherwise.",
)
@click.option("--hidden", is_flag=True, help="Also in conversations that you hid.")
@click.option("--html", "as_html", is_flag=True, help="Print an HTML fragment with <mark>.")
@no_pager_option
@json_option
@archive_option
@click.pass_context
def command(
    ctx: click.Context,
    words: tuple[str, ...],
    newest: bool,
    limit: int,
    offset: int,
    context: int,
    hits: int,
    hidden: bool,
    as_html: bool,
    no_pager: bool,
    as_json: bool,
) -> None:
    """Find messages with all of these words. On a terminal without QUERY, search as you type.

    \b
    Examples:
      rireki search database migration
      rireki search 会話 履歴 author:me since:7d
      rireki search '"out of memory"' -redis
      rireki search '/timeout=\\d+s/' source:claude --newest

    Quotes are for the query, so they need quotes of the shell around them. What
    looks like an option goes behind `--`. Exit code 1 when nothing was found.
    """
    # Bytes that are no text cannot be asked for, but must not trip us either.
    query = re.sub("[\ud800-\udfff]", "\ufffd", " ".join(words))
    if not query.strip():
        _open_finder(newest, as_json or as_html)
        return
    wish = SearchOptions(
        limit=limit, offset=offset, newest=newest, context=context, hits=hits, hidden=hidden
    )
    screen = StandardOutput()
    with library() as kept:
        results = _find(kept, query, wish, None if as_json else screen)
        told = {} if as_json or as_html else kept.ask(lambda archive: names_of(results, archive))
    if as_json:
        screen.json([results])
    elif as_html:
        screen.say([html_results(results, _address)])
    elif results.talks:
        screen.page(_told(results, told, wish, screen), pager=not no_pager)
    else:
        click.echo("\n".join(_why_nothing(results, wish)), err=True)
        ctx.exit(NOTHING)


def _open_finder(newest: bool, for_programs: bool) -> None:
    if for_programs or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise RirekiError("nothing-to-search")
    if find_spec("termios") is None:
        raise RirekiError("no-unix-terminal")
    # Imported late: the finder needs a Unix terminal and half of the other commands.
    from rireki.cli.finder.finder import run_finder

    run_finder(newest)


def _find(kept: Library, query: str, wish: SearchOptions, screen: StandardOutput | None) -> Results:
    """Search; what is wrong with the query is pointed at on a screen, if there is one."""
    try:
        results = kept.search(query, **msgspec.structs.asdict(wish))
    except QueryError as error:
        if screen:
            columns = min(screen.columns, 120)
            lines = pointed(query, error.position, error.length, columns)
            click.echo("\n".join(lines), err=True)
        raise
    for note in notes(results):
        click.echo(say(f"note: {note}"), err=True)
    return results


def names_of(results: Results, archive: Archive) -> dict[str, str]:
    """What to type for the conversations that were found."""
    return archive.short_ids([talk.conversation.id for talk in results.talks])


def _address(conversation: str, message: str | None) -> str:
    """Where our own web page shows it."""
    return f"/c/{quote(conversation)}" + (f"#{quote(message)}" if message else "")


# ── For people ──


def _told(
    results: Results, names: dict[str, str], wish: SearchOptions, screen: StandardOutput
) -> Iterator[str]:
    view = HitsView(now(), screen.columns, screen.style, names, marks)
    yield from render_results(results, view)
    if screen.terminal:
        yield ""
        for text in _footer(results, view, wish):
            yield from map(screen.style.dim, wrap(text, screen.columns))


def _footer(results: Results, view: HitsView, wish: SearchOptions) -> Iterator[str]:
    talks = results.talks
    used = {view.sign(talk.conversation) for talk in talks}
    used |= {"✗" for talk in talks for hit in talk.hits if hit.upstream == "gone"}
    used |= {"↳" for talk in talks if talk.conversation.nature == "subagent"}
    legend = {**LEGEND, "↳": say("a sub-agent")}
    yield "   ".join([counted(results), *(f"{s} {say(legend[s])}" for s in legend if s in used)])
    more = [say(f"more: --offset {wish.offset + wish.limit}")] if results.more else []
    hit = next(((talk, hit) for talk in talks for hit in talk.hits if hit.message), None)
    id = (hit[0] if hit else talks[0]).conversation.id
    name = view.names.get(id, id)
    place = f"#{short_message(hit[1].message or '')}" if hit else ""
    find = f" --find {shlex.quote(results.query)}" if hit else ""
    yield "   ".join([*more, one_line(say(f"read: rireki show {name}{place}{find}"))])


def _why_nothing(results: Results, wish: SearchOptions) -> Iterator[str]:
    if results.conversations and wish.offset:
        found = count(results.conversations, "conversation")
        yield say(f"nothing more: {found} in all, and --offset {wish.offset} passes over them")
    else:
        yield from nothing(results)


def pointed(text: str, start: int, length: int, columns: int) -> list[str]:
    """The text on one line, carets under a part of it; of a long text what stands around them."""
    parts = text[:start], text[start : start + length], text[start + length :]
    before, inside, after = (re.sub(r"\s", " ", safe(part)) for part in parts)
    room = max(columns - 2, 10)
    if width(before) > room // 2 and width(before + inside + after) > room:
        kept = ""
        for cluster, _ in reversed(list(clusters(before))):
            if width(kept) >= room // 2:
                break
            kept = cluster + kept
        before = f"…{kept}"
    line = truncate(before + inside + after, room)
    carets = max(min(width(inside), width(line) - width(before)), 1)
    return [f"  {line}", f"  {' ' * width(before)}{'^' * carets}"]
