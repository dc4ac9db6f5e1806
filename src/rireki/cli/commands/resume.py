"""`rireki resume`: the command that goes on with a conversation."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from rireki.cli.archive import conversation_argument, opened
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput
from rireki.errors import RirekiError, Wording
from rireki.show.catalogue import say
from rireki.sources import registry

if TYPE_CHECKING:
    from rireki.model.conversation import Conversation

__all__ = ["command"]


@click.command("resume")
@conversation_argument
@json_option
@archive_option
def command(name: str, as_json: bool) -> None:
    """Print the exact command that continues a conversation with its own agent, in its directory.

    \b
    Examples:
      rireki resume 5471a680
      eval "$(rireki resume 5471a680)"
    """
    with opened() as archive:
        conversation = archive.here(archive.find(name))
    reader = registry.reader(conversation.source)
    shell = reader.resume(conversation)
    after = reader.revive(conversation) if conversation.upstream == "gone" else None
    if as_json:
        StandardOutput().json([_as_json(conversation, shell, after)])
        return
    _refuse_if_lost(conversation, shell, after)
    _refuse_if_moved(conversation)
    if conversation.upstream == "changed":
        lost = say(f"{conversation.source} no longer has all of it; 'rireki show' does.")
        click.echo(say(f"note: {lost}"), err=True)
    # Not through click: in a pipe it leaves out what looks like a colour, also from a path.
    StandardOutput().say([shell] if shell else [])


def _restore(conversation: Conversation) -> str:
    return f"rireki restore {conversation.id} --to DIR"


def _as_json(conversation: Conversation, shell: str | None, after: str | None) -> dict[str, object]:
    return {
        "id": conversation.id,
        "command": shell if conversation.upstream != "gone" else None,
        "upstream": conversation.upstream,
        "directory": conversation.project,
        "directory_exists": is_directory(conversation.project) if conversation.project else None,
        "restore": _restore(conversation),
        "after_restore": after,
    }


def _refuse_if_lost(conversation: Conversation, shell: str | None, after: str | None) -> None:
    restore = _restore(conversation)
    if conversation.upstream == "gone":
        how = Wording("run-this", command=restore)
        if after:
            how = Wording("run-and-then", command=restore, after=after)
        raise RirekiError("gone-from-source", hint=how, source=conversation.source)
    if shell is None:
        raise RirekiError("no-resume-command", source=conversation.source, id=conversation.id)


def is_directory(path: str) -> bool:
    """Whether it is there; one that may not be looked at is none that can be entered either."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def _refuse_if_moved(conversation: Conversation) -> None:
    """The agent keeps conversations by directory: the command would end at its first step."""
    project = conversation.project
    if not project or is_directory(project):
        return
    raise RirekiError("project-gone", path=project, link=quote(project), id=conversation.id)
