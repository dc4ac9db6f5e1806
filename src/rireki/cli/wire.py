"""A conversation as a request to a provider, for `rireki show --format`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import click

from rireki.model.message import Message
from rireki.providers import Note, encode, turns_of
from rireki.providers.notes import CODES
from rireki.providers.registry import provider_named
from rireki.show.catalogue import say
from rireki.show.safe import escaped

__all__ = ["make_request", "spell_request"]


def make_request(
    provider: str,
    model: str | None,
    messages: Sequence[Message],
    bytes_with: Callable[[str], bytes | None],
) -> dict[str, Any]:
    """What a provider accepts, under its own names; what it lacks goes to standard error."""
    report: list[Note] = []
    turns = turns_of(messages, bytes_with, report)
    request = encode(provider, turns, model, report).as_json()
    name, system = provider_named(provider).wire
    value = {name: request.messages}
    if system and request.system is not None:
        value = {system: request.system, **value}
    _say_notes(report, provider)
    return value


def spell_request(request: dict[str, Any], terminal: bool) -> list[str]:
    """For people; what could steer a terminal is spelled as an escape there."""
    lines = json.dumps(request, ensure_ascii=False, indent=2).split("\n")
    return [escaped(line) for line in lines] if terminal else lines


def _say_notes(report: Sequence[Note], provider: str) -> None:
    """A line per kind of change: long conversations have hundreds of one kind."""
    kinds: dict[str, list[Note]] = {}
    for note in report:
        kinds.setdefault(note.code, []).append(note)
    for code, notes in kinds.items():
        places = ", ".join(str(note.place + 1) for note in notes[:3])
        more = f" and {len(notes) - 3} more" if len(notes) > 3 else ""
        click.echo(say(f"{provider}: {code} (message {places}{more}): {CODES[code]}"), err=True)
