"""`rireki forget`: the only command that removes anything."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from rireki.archive.forgetting import remember
from rireki.cli.archive import conversation_argument, opened
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput, progress
from rireki.cli.sharing import take_back_now
from rireki.errors import ArchiveTrouble, NotFound, RirekiError
from rireki.intake.forget import forget
from rireki.search.index.index import index_folder
from rireki.search.index.update import erase
from rireki.show.catalogue import say
from rireki.show.heading import facts
from rireki.show.safe import one_line
from rireki.show.words import size

if TYPE_CHECKING:
    from rireki.archive.base import Archive
    from rireki.model.conversation import Conversation

__all__ = ["command"]


@click.command("forget")
@conversation_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--undo", is_flag=True, help="Let the next import take it in again.")
@json_option
@archive_option
def command(name: str, yes: bool, undo: bool, as_json: bool) -> None:
    """Remove a conversation and its records from the archive, for good, after asking.

    The agent's own files are not touched, and the conversation is not taken in
    again. With --undo (and its whole id) the next import may bring it back, if
    the agent still has it.

    \b
    Examples:
      rireki forget 5471a680
      rireki forget 5471a680-e1f8-4608-bfd3-e4e3daa5e1f3 --undo
    """
    screen = StandardOutput()
    trouble = None
    with opened(write=True) as archive:
        if undo:
            _remember(archive, name)
            said: Mapping[str, object] = {"id": name, "forgotten": False}
            words = say(f"The next import may take {name} in again.")
        else:
            found = archive.find(name)
            if not yes:
                _ask(found.conversation, as_json)
            id, removed = found.conversation.id, forget(archive, found)
            trouble = _erase(archive)
            take_back_now(archive)
            said = {"id": id, "forgotten": True, "removed_bytes": removed}
            words = say(f"Forgot {id}: {size(removed)} of records removed.")
    screen.give(as_json, [said], [words])
    if trouble is not None:
        # It is gone from the archive: that is said first, and all the same not the whole of it.
        raise trouble


def _erase(archive: Archive) -> ArchiveTrouble | None:
    """What keeps its words in the index, if anything does."""
    try:
        erase(archive, progress())
    except ArchiveTrouble as trouble:
        return ArchiveTrouble(
            "words-still-in-index", why=trouble.message, path=index_folder(archive)
        )
    return None


def _remember(archive: Archive, name: str) -> None:
    """Sub-agents were forgotten together with it, and come back with it."""
    if not (remember(archive, name.partition("/")[2] or name) or remember(archive, name)):
        raise NotFound("nothing-forgotten", id=name)


def _ask(conversation: Conversation, as_json: bool) -> None:
    if as_json or not sys.stdin.isatty():
        raise RirekiError("forget-unasked")
    title = one_line(conversation.title) or say("(no title)")
    click.echo(f"{title}\n{conversation.id}\n{' · '.join(map(say, facts(conversation)))}", err=True)
    if conversation.upstream == "gone":
        click.echo(say("The source no longer has it: this is the only copy."), err=True)
    click.confirm(say("Remove it from the archive for good?"), abort=True, err=True)
