"""`rireki latest`: the newest thing an agent said in a directory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from rireki.cli.archive import opened
from rireki.cli.commands.path import sightings_of
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput
from rireki.errors import NotFound
from rireki.intake.interpret import read_conversation
from rireki.show.safe import one_line, safe
from rireki.show.times import moment
from rireki.show.transcript import choose, plain_text
from rireki.show.width import wrap

if TYPE_CHECKING:
    from rireki.archive.base import Archive
    from rireki.model.conversation import Conversation
    from rireki.model.message import Message

__all__ = ["command"]


@click.command("latest")
@click.argument("directory", metavar="[DIR]", default=".", type=click.Path(file_okay=False))
@click.option("--below", is_flag=True, help="Also the directories below it.")
@json_option
@archive_option
def command(directory: str, below: bool, as_json: bool) -> None:
    """Print the last answer of the newest conversation in a directory (the current one unless named).

    \b
    Examples:
      rireki latest
      rireki latest ~/dev/api --json
    """
    screen = StandardOutput()
    with opened() as archive:
        seen = sightings_of(archive, directory, below)
        newest = sorted(
            {s.conversation.id: s.conversation for s in seen}.values(),
            key=lambda conversation: conversation.updated_at or "",
            reverse=True,
        )
        conversation, message = _last_words(archive, newest, directory)
    if as_json:
        screen.json([{"conversation": conversation, "message": message}])
    else:
        screen.say(_told(conversation, message, screen))


def _last_words(
    archive: Archive, newest: list[Conversation], directory: str
) -> tuple[Conversation, Message]:
    """From the newest conversation in which the agent said anything at all."""
    for conversation in newest:
        messages = choose(read_conversation(archive, archive.find(conversation.id)).messages())
        for message in reversed(messages):
            if message.author == "agent" and plain_text(message).strip():
                return conversation, message
    raise NotFound("no-answer-there", path=directory)


def _told(conversation: Conversation, message: Message, screen: StandardOutput) -> Iterator[str]:
    if screen.terminal:
        where = f"{conversation.id} · {moment(message.at or conversation.updated_at)}"
        yield screen.style.dim(one_line(where))
    for line in safe(plain_text(message)).strip("\n").split("\n"):
        yield from wrap(line, screen.columns)
