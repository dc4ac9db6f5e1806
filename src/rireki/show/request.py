"""A conversation as a request to a provider, so that another model can go on with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rireki.model.parts import Attachment
from rireki.providers import Note, encode, turns_of
from rireki.providers.notes import CODES
from rireki.providers.registry import provider_named
from rireki.show.json import line

if TYPE_CHECKING:
    from rireki.show.formats import FormatOptions
    from rireki.show.transcript import Transcript

__all__ = ["write"]


def write(transcript: Transcript, options: FormatOptions) -> Iterator[str]:
    """What a provider accepts, under its own names."""
    report: list[Note] = []
    turns = turns_of(transcript.messages, _bytes_with(options), report)
    request = encode(options.form, turns, options.model, report).as_json()
    name, system = provider_named(options.form).wire
    value = {name: request.messages}
    if system and request.system is not None:
        value = {system: request.system, **value}
    if options.note is not None:
        for sentence in _told(report, options.form):
            options.note(sentence)
    yield (
        line(value) if options.compact else json.dumps(value, ensure_ascii=False, indent=2)
    ) + "\n"


def _bytes_with(options: FormatOptions) -> Callable[[str], bytes | None]:
    ask = options.attachment_bytes
    return lambda digest: ask(Attachment("", digest)) if ask is not None else None


def _told(report: Sequence[Note], provider: str) -> Iterator[str]:
    """A line per kind of change: long conversations have hundreds of one kind."""
    kinds: dict[str, list[Note]] = {}
    for note in report:
        kinds.setdefault(note.code, []).append(note)
    for code, notes in kinds.items():
        places = ", ".join(str(note.place + 1) for note in notes[:3])
        more = f" and {len(notes) - 3} more" if len(notes) > 3 else ""
        yield f"{provider}: {code} (message {places}{more}): {CODES[code]}"
