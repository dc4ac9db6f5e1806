"""`rireki secrets`: which keys and passwords stand in conversations, without saying any."""

from __future__ import annotations

from collections.abc import Iterator

import click

from rireki.cli.archive import library
from rireki.cli.options import archive_option, json_option, source_option
from rireki.cli.output import StandardOutput, progress
from rireki.errors import NotFound
from rireki.intake.progress import Silent
from rireki.library import Library
from rireki.masking.exposed import ExposedSecret, Exposure, Exposures
from rireki.show.catalogue import say
from rireki.show.safe import one_line
from rireki.show.times import moment
from rireki.show.transcript import short_message
from rireki.show.words import count

__all__ = ["command"]

#: Places of each secret that are told without --json.
_PLACES = 5


@click.command("secrets")
@source_option(False, "Only this source.", archived=True)
@json_option
@archive_option
def command(source: str | None, as_json: bool) -> None:
    """List the keys, tokens and passwords that stand in conversations: kinds, where, and when.

    None is printed. Equal ones have one number, which only this archive gives: it tells nobody
    what the secret is. The newest come first; what is listed should be replaced where it opens
    something.

    \b
    Examples:
      rireki secrets
      rireki secrets --json
    """
    screen = StandardOutput()
    with library() as kept:
        found = list(_exposures(kept, source).secrets())
    screen.give(as_json, found, _told(found, screen))


def _exposures(kept: Library, source: str | None) -> Exposures:
    exposures = Exposures(kept.masker())
    shown = progress() or Silent()
    shown.start("looking for secrets", kept.ask(lambda archive: archive.count()))
    for about in kept.conversations(source=source, hidden=True, subagents=True):
        try:
            story = kept.read(about.id, everything=True)
        except NotFound:
            # Forgotten in this very moment.
            continue
        exposures.note(story.conversation, story.messages)
        shown.advance(1)
    shown.finish()
    return exposures


def _told(found: list[ExposedSecret], screen: StandardOutput) -> Iterator[str]:
    if not found:
        yield say("No secrets were found.")
        return
    for secret in found:
        yield screen.style.bold(f"{secret.kind} #{secret.number}") + "  " + _times(secret)
        for place in secret.places[:_PLACES]:
            yield "  " + _place(place)
        more = len(secret.places) - _PLACES
        if more > 0:
            yield "  " + say(f"… and {count(more, 'more place')}")
    yield ""
    yield say(f"{count(len(found), 'secret')} in all; none is shown.")


def _times(secret: ExposedSecret) -> str:
    places = count(len(secret.places), "place")
    if not secret.first:
        return say(places)
    return say(f"{places}, from {moment(secret.first)} to {moment(secret.last)}")


def _place(place: Exposure) -> str:
    name = place.conversation + (f"#{short_message(place.message)}" if place.message else "")
    at = moment(place.at) if place.at else ""
    where = say(", ").join(say(kind.replace("_", " ")) for kind in place.where)
    return one_line("  ".join(filter(None, [name, at, where])))
