"""`rireki note`: what one wants to remember of a conversation, or of one message."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from rireki.cli.archive import complete_ids, opened
from rireki.cli.curating import ensure_named, told_of
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput
from rireki.errors import RirekiError
from rireki.intake.curate import notes_of, set_note
from rireki.intake.interpret import read_conversation
from rireki.show import times
from rireki.show.catalogue import say
from rireki.show.safe import one_line, printable
from rireki.show.transcript import message_named, short_message

if TYPE_CHECKING:
    from rireki.archive.base import Archive, Found
    from rireki.intake.curate import NoteLine

__all__ = ["command"]


@click.command("note")
@click.argument("name", metavar="[ID]", required=False, shell_complete=complete_ids)
@click.argument("words", metavar="[WORDS]...", nargs=-1)
@click.option("--remove", is_flag=True, help="Take the note away.")
@click.option("--list", "listing", is_flag=True, help="Every note there is.")
@json_option
@archive_option
def command(
    name: str | None, words: tuple[str, ...], remove: bool, listing: bool, as_json: bool
) -> None:
    """Note something on a conversation, or on one message of it (ID#MESSAGE).

    Without WORDS its notes are printed; `-` reads them from standard input. There is one note on
    each: another one takes its place. Searches find what notes say, `note:WORD` nothing else.

    \b
    Examples:
      rireki note 5471a680 the fix is in the second half
      rireki note 5471a680#4f2c1a90 this is what went wrong
      git log -1 | rireki note 5471a680 -
      rireki note 5471a680 --remove
    """
    if remove and words:
        raise RirekiError("words-and-remove")
    if not listing:
        ensure_named([name] if name else [])
    with opened(write=bool(words or remove)) as archive:
        if name is None or listing:
            found = [archive.find(h.id) for h in archive.headings() if h.added.notes]
        else:
            id, _, place = name.partition("#")
            found = [archive.find(id)]
            message = _message(archive, found[0], place)
            if words or remove:
                set_note(archive, found[0], _text(words) if words else None, message)
        notes = [(each, note) for each in found for note in notes_of(archive, each)]
    screen = StandardOutput()
    lines = [line for each, note in notes for line in _lines(each, note, screen)]
    nothing = say("No note there.") if name else say("There are no notes yet.")
    screen.give(as_json, (_value(*each) for each in notes), lines or [nothing])


def _text(words: tuple[str, ...]) -> str:
    return sys.stdin.read() if words == ("-",) else " ".join(words)


def _message(archive: Archive, found: Found, place: str) -> str:
    """The whole id of the message that is meant."""
    if not place:
        return ""
    messages = read_conversation(archive, found).messages()
    return message_named(found.conversation.id, [message.id for message in messages], place)


def _value(found: Found, note: NoteLine) -> dict[str, Any]:
    return {
        "id": found.conversation.id,
        "message": note.message or None,
        "note": note.text,
        "author": note.author,
        "at": note.at,
    }


def _lines(found: Found, note: NoteLine, screen: StandardOutput) -> Iterator[str]:
    place = f"#{short_message(note.message)}" if note.message else ""
    where = f"{one_line(found.conversation.id)}{one_line(place)}"
    yield screen.style.bold(told_of(found.conversation))
    yield screen.style.dim(f"{where} · {times.moment(note.at)}")
    yield from (f"  {printable(line)}" for line in note.text.splitlines())
