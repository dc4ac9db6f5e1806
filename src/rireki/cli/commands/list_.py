"""`rireki list`: what is in the archive, newest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import click
import msgspec

from rireki.archive.base import Filter
from rireki.cli.archive import opened
from rireki.cli.options import archive_option, json_option, no_pager_option, source_option
from rireki.cli.output import StandardOutput, now, time_of, waiting_line
from rireki.cli.waiting import waiting_now
from rireki.intake.curate import hidden_count, known_tags
from rireki.library import ensure_source, streams_of
from rireki.machine import known_machine
from rireki.model.names import directory_of
from rireki.show.catalogue import say
from rireki.show.safe import one_line
from rireki.show.times import ago
from rireki.show.width import pad, truncate, width
from rireki.show.words import count, folder

if TYPE_CHECKING:
    from datetime import datetime

    from rireki.archive.base import Archive
    from rireki.model.activity import Activity
    from rireki.model.conversation import Conversation

__all__ = ["command", "marks"]

#: From this width on there is room for the project beside the title.
ROOMY = 110
#: Columns that most ids need less than.
LONG = 16
LEGEND = {"✗": "gone from its source", "~": "rewritten in its source", "…": "unfinished"}


@click.command("list")
@source_option(False, "Only this source, such as claude-code.", archived=True)
@click.option("--project", metavar="DIR", help="Only this directory and what lies below it.")
@click.option("--since", metavar="TIME", help="Active since then: 3h, 7d, 2w, a date, a time.")
@click.option("--before", metavar="TIME", help="Last active before then.")
@click.option("--title", metavar="WORDS", help="With all of these words in the title.")
@click.option(
    "--upstream",
    type=click.Choice(["present", "changed", "gone"]),
    help="By what the source still holds of it.",
)
@click.option(
    "--tag", "tags", metavar="TAG", multiple=True, help="With this tag; with all of several."
)
@click.option("--machine", metavar="NAME", help="Only what was read on this machine of yours.")
@click.option("--starred", is_flag=True, help="Only what is starred.")
@click.option("--hidden", is_flag=True, help="Also what you hid.")
@click.option("--subagents", is_flag=True, help="Also the sub-agents that agents started.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the newest N.")
@no_pager_option
@json_option
@archive_option
def command(
    source: str | None,
    project: str | None,
    since: str | None,
    before: str | None,
    title: str | None,
    upstream: str | None,
    tags: tuple[str, ...],
    machine: str | None,
    starred: bool,
    hidden: bool,
    subagents: bool,
    limit: int | None,
    no_pager: bool,
    as_json: bool,
) -> None:
    """List conversations, newest first.

    The id in front is as short as it can be; every command takes it.

    \b
    Examples:
      rireki list --since 7d --project .
      rireki list --title "設定 config" --upstream gone
      rireki list --json | jq -r .id
    """
    wanted = Filter(
        source=source,
        project=directory_of(project) if project else None,
        since=time_of(since),
        before=time_of(before),
        title=title,
        upstream=upstream,
        starred=starred,
        hidden=None if hidden or as_json else False,
        # Programs get everything and see the nature of each; people first see what they said.
        subagents=subagents or as_json,
        limit=limit,
    )
    screen = StandardOutput()
    with opened() as archive:
        ensure_source(source, archive)
        streams = streams_of(archive, machine)
        wanted = msgspec.structs.replace(wanted, tags=known_tags(archive, tags), streams=streams)
        if as_json:
            waiting = waiting_now()
            screen.json(_with_waits(each, waiting) for each in archive.conversations(wanted))
            _tell_lacking(_lacking(archive))
            return
        # A rebuild that begins between these looks drops everything.
        with archive.reading():
            found = list(archive.conversations(wanted))
            known, names = archive.count() > 0, archive.short_ids([each.id for each in found])
            lacking = _lacking(archive)
            left_out = 0 if hidden else hidden_count(archive, wanted)
    _tell_lacking(lacking)
    if found:
        table = _table(found, names, waiting_now(), screen, now())
        if left_out and screen.terminal:
            table = chain(table, [screen.style.dim(_left_out(left_out))])
        screen.page(table, pager=not no_pager)
    elif left_out:
        click.echo(_left_out(left_out), err=True)
    elif known or not lacking:
        click.echo(_why_nothing(known), err=True)


def _left_out(number: int) -> str:
    return say(f"{count(number, 'hidden conversation')} left out: --hidden shows them too")


def _with_waits(conversation: Conversation, waiting: dict[str, Activity]) -> Any:
    """With the state in which it waits for the person, if it does."""
    if conversation.id not in waiting:
        return conversation
    return {**msgspec.to_builtins(conversation), "waits": waiting[conversation.id].state}


def _tell_lacking(lacking: int) -> None:
    if lacking:
        click.echo(waiting_line(lacking), err=True)


def _lacking(archive: Archive) -> int:
    """How many conversations are kept and cannot be listed before they are read again."""
    lacking = archive.count(waiting=True)
    # Of a damaged archive more is said than that.
    return 0 if archive.damage else lacking


def _why_nothing(known: bool) -> str:
    if known:
        return say("Nothing in the archive fits. Leave an option out to see more.")
    return say("The archive is empty. Run 'rireki import' to take in what is on this machine.")


def marks(conversation: Conversation) -> str:
    """One sign per conversation: what matters most about it."""
    if conversation.upstream == "gone":
        return "✗"
    if conversation.upstream == "changed":
        return "~"
    return "…" if conversation.unfinished else " "


def added_tags(conversation: Conversation) -> str:
    return " ".join(f"#{one_line(tag)}" for tag in conversation.added.tags)


def _here() -> str:
    known = known_machine()
    return known.name if known else ""


def _elsewhere(conversation: Conversation, here: str) -> str:
    """The machines that it was read on, if this is none of them."""
    machines = conversation.machines or []
    return "" if here in machines else " ".join(f"@{one_line(name)}" for name in machines)


def _when(conversation: Conversation, now: datetime) -> str:
    """When it was active last, or, where its source keeps no times, was seen to be."""
    told = ago(conversation.updated_at, now)
    return say(f"seen {told}") if conversation.times_from == "rireki" else told


def _table(
    found: Sequence[Conversation],
    names: dict[str, str],
    waiting: dict[str, Activity],
    screen: StandardOutput,
    now: datetime,
) -> Iterator[str]:
    style = screen.style
    here = _here() if any(c.machines for c in found) else ""
    # A name that is much longer than the others moves its own row alone.
    ids = max(min(max(len(names[c.id]) for c in found), LONG), 2)
    sources = max(max(len(c.source) for c in found), width(say("SOURCE")))
    turns = max(max(len(str(c.turns)) for c in found), 5)
    homes = {c.id: folder(c.project) for c in found}
    times = {c.id: _when(c, now) for c in found}
    when = max(10, *map(width, times.values()))
    home = min(max(max(map(width, homes.values())), 7), 16) if screen.columns >= ROOMY else 0
    room = screen.columns - ids - sources - turns - when - 2 * 5 - 1 - (home + 2 if home else 0)
    if screen.terminal:
        head = [pad("ID", ids), pad(say("WHEN"), when, right=True)]
        head += [pad(say("SOURCE"), sources), pad(say("TURNS"), turns, right=True)]
        head += [pad(say("PROJECT"), home)] if home else []
        yield style.dim("  ".join([*head, say("  TITLE")]))
    for c in found:
        row = [
            style.cyan(pad(one_line(names[c.id]), max(ids, len(names[c.id])))),
            pad(times[c.id], when, right=True),
            style.dim(pad(c.source, sources)),
            pad(str(c.turns), turns, right=True),
        ]
        if home:
            row.append(style.dim(pad(homes[c.id], home)))
        waits = f"{say(waiting[c.id].words)} · " if c.id in waiting else ""
        left = room - max(len(names[c.id]) - ids, 0) - 1 - width(waits)
        star, tags = "★ " if c.added.starred else "", added_tags(c)
        tags = " ".join(filter(None, [_elsewhere(c, here), tags]))
        tags = truncate(tags, max(left // 3, 0)) if tags else ""
        left -= width(star) + (width(tags) + 2 if tags else 0)
        title = truncate(one_line(c.title) or say("(no title)"), max(left, 10))
        mark = marks(c)
        told = style.dim(title) if mark == "✗" or c.added.hidden else title
        told = f"{style.yellow(star)}{told}" + (f"  {style.cyan(tags)}" if tags else "")
        row.append(f"{style.yellow(mark)} {style.bold(style.yellow(waits))}{told}")
        yield "  ".join(row).rstrip()
    if screen.terminal:
        used = {marks(c) for c in found}
        legend = [f"{sign} {say(words)}" for sign, words in LEGEND.items() if sign in used]
        yield style.dim("   ".join([say(count(len(found), "conversation")), *legend]))
