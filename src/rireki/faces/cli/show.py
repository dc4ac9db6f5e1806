"""`rireki show`: one conversation, told in full."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from rireki.errors import NotFound
from rireki.faces.cli.options import (
    archive_option,
    conversation_argument,
    json_option,
    no_pager_option,
    opened,
    time_of,
)

if TYPE_CHECKING:
    from rireki.archive.base import Archive, Found
    from rireki.faces.cli.output import Screen
    from rireki.show.story import Story

__all__ = ["command"]


@click.command("show", short_help="Read one conversation.")
@conversation_argument
@click.option(
    "--all", "everything", is_flag=True, help="Also hidden messages and earlier versions."
)
@click.option("--upstream", is_flag=True, help="Only what the source still holds.")
@click.option("--as-of", metavar="TIME", help="As the source held it then: 3d, a date, a time.")
@click.option("--full", is_flag=True, help="Shorten nothing: whole results, arguments, summaries.")
@click.option("--nested", is_flag=True, help="Tell sub-agents where they were started.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    help="How to write it; text unless said otherwise.",
)
@click.option("--raw", is_flag=True, help="The very bytes the agent wrote; --all: every version.")
@no_pager_option
@json_option
@archive_option
def command(
    name: str,
    everything: bool,
    upstream: bool,
    as_of: str | None,
    full: bool,
    nested: bool,
    form: str,
    raw: bool,
    no_pager: bool,
    as_json: bool,
) -> None:
    """Tell a conversation from its beginning, with what its source no longer has.

    ID is any beginning of an id that means one conversation only. ID#MESSAGE
    opens at that message.

    \b
    Examples:
      rireki show 5471a680
      rireki show 5471a680 --as-of yesterday --full
      rireki show 5471a680 --format markdown > talk.md
      rireki show 5471a680 --raw | head -1
    """
    from rireki.faces.cli.output import Screen

    screen = Screen()
    name, _, place = name.partition("#")
    moment = time_of(as_of, end_of_day=True)
    with opened() as archive:
        found = archive.find(name)
        if raw:
            _raw(archive, found, moment, everything, screen.terminal)
            return
        teller = _Reading(archive, moment, everything, upstream, nested)
        story = teller.story(found)
    at = _message_named(story, place) if place else None
    if as_json or form == "json":
        screen.json([_as_json(story, at, nested)])
    elif form == "markdown":
        from rireki.show.markdown import markdown

        screen.page(markdown(story, full), pager=not no_pager)
    else:
        _tell(story, screen, full, nested, at, pager=not no_pager)


class _Reading:
    """Brings a conversation and the sub-agents it started out of the archive."""

    def __init__(
        self, archive: Archive, as_of: str | None, everything: bool, upstream: bool, nested: bool
    ) -> None:
        self.archive = archive
        self.as_of = as_of
        self.everything = everything
        self.upstream = upstream
        self.nested = nested
        self.seen: set[str] = set()

    def story(self, found: Found) -> Story:
        from rireki.intake.understand import read_conversation
        from rireki.show.story import Story, choose

        self.seen.add(found.conversation.id)
        reading = read_conversation(self.archive, found, self.as_of)
        messages = choose(reading.messages(), self.everything, self.upstream)
        return Story(reading.conversation, messages, list(self._children(found)))

    def _children(self, found: Found) -> Iterator[Story]:
        from rireki.show.story import Story

        for link in found.conversation.links:
            if link.kind != "subagent" or link.side != "child" or link.id in self.seen:
                continue
            child = self.archive.find(link.id)
            if self.as_of and (child.conversation.started_at or "") > self.as_of:
                continue
            yield self.story(child) if self.nested else Story(child.conversation, [])


def _message_named(story: Story, name: str) -> str:
    ids = [message.id for message in story.messages]
    fitting = [id for id in ids if id == name] or [id for id in ids if id.startswith(name)]
    if not fitting:
        raise NotFound(
            f"{story.conversation.id} has no message {name!r} to show",
            "It may be a hidden one: add --all. 'rireki show --json' lists the ids.",
        )
    return fitting[0]


def _as_json(story: Story, at: str | None, nested: bool) -> dict[str, object]:
    value: dict[str, object] = {"conversation": story.conversation, "messages": story.messages}
    if at is not None:
        value["at"] = at
    if nested:
        value["subagents"] = [_as_json(child, None, nested) for child in story.children]
    return value


def _tell(
    story: Story, screen: Screen, full: bool, nested: bool, at: str | None, pager: bool
) -> None:
    from rireki.show.text import View, tell_story

    blocks = tell_story(story, View(screen.columns, screen.style, full, nested))
    if at is None:
        screen.page((line for block in blocks for line in block.lines), pager)
        return
    told = list(blocks)
    first = next(place for place, block in enumerate(told) if block.message == at)
    if screen.terminal and pager:
        above = sum(len(block.lines) for block in told[:first])
        screen.page((line for block in told for line in block.lines), pager, at=above)
    else:
        screen.say(line for block in told[first:] for line in block.lines)


def _raw(
    archive: Archive, found: Found, as_of: str | None, everything: bool, terminal: bool
) -> None:
    """The bytes as they are; a terminal gets them without what could steer it."""
    from rireki.show.safe import safe

    for strand in archive.strands(found.family, found.grouping, as_of):
        lanes = dict.fromkeys(run.lane for state in strand.states for run in state.runs)
        if everything:
            records = [record.data for lane in lanes for record in strand.story(lane)]
        else:
            records = [strand.document()]
        for record in records:
            ended = record if record.endswith(b"\n") or not everything else record + b"\n"
            if terminal:
                click.echo(safe(ended.decode(errors="replace")))
            else:
                sys.stdout.buffer.write(ended)
