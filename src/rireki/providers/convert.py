"""From what was stored for one provider to what another one accepts: the doors of this package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import Any

from rireki.providers.codec import Codec
from rireki.providers.detect import unwrap
from rireki.providers.encoder import Encoder
from rireki.providers.kit import NOBODY
from rireki.providers.neutral import Note, Opaque, Problem, Request, Turn
from rireki.providers.notes import CODES, Notes
from rireki.providers.plain import plain
from rireki.providers.registry import provider_named
from rireki.providers.repair import open_calls

__all__ = ["decode", "encode", "encoder_for", "problems"]


def decode(provider: str | None, messages: str | Iterable[Any], system: Any = None) -> list[Turn]:
    """Stored messages of a provider as turns, one for each; nothing that was there is lost.

    Without a provider each message is told by its shape, and what could be anybody's is read in
    Anthropic's way, which is also that of small agents' histories.
    """
    turns: list[Turn] = []
    if system is not None and system != "" and system != []:
        turns.append(provider_named(provider or "anthropic").codec.decode_system(plain(system)))
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    if provider is not None:
        codec = provider_named(provider).codec
        turns += [_read(codec, plain(message)) for message in messages]
        return turns
    for message in messages:
        found, inner = unwrap(message)
        codec = provider_named(found or "anthropic").codec
        for one in inner:
            turns.append(_read(codec, one))
    return turns


#: What says nothing by itself.
_FRAME = frozenset({"role", "type", "id", "status"})


def _read(codec: Codec, message: Any) -> Turn:
    """The turn of a message; one that says something, but nothing that is known, is opaque."""
    turn = codec.decode(message)
    if turn.parts or turn.raw is not None or not isinstance(message, dict):
        return turn
    says = any(value for name, value in message.items() if name not in _FRAME)
    return Turn(turn.role, [Opaque(NOBODY, message)]) if says else turn


def encode(
    provider: str,
    turns: Sequence[Turn],
    model: str | None = None,
    report: list[Note] | None = None,
    *,
    nudge: str | None = None,
) -> Request:
    """The request as the provider's own package takes it, repaired on the copy.

    A turn that the provider itself wrote goes back as it was. What cannot be carried over is
    noted in `report`. Where the user must have the last word and has not, `nudge` says it.
    """
    encoder = encoder_for(provider, model, report)
    lead = encoder.lead(turns)
    # The places of what follows stay what they were.
    fitted = [Turn("system", [])] * lead + encoder.fit(turns[lead:], lead)
    messages = encoder.spell(encoder.shape(fitted, nudge))
    return provider_named(provider).request(messages, encoder.system(turns[:lead]))


def encoder_for(
    provider: str, model: str | None = None, report: list[Note] | None = None
) -> Encoder:
    return Encoder(provider, model, Notes(report))


def problems(
    provider: str,
    turns: Sequence[Turn],
    model: str | None = None,
    pending: Container[str | None] = frozenset(),
) -> list[Problem]:
    """What the provider would not take, or not understand, in the order of the turns.

    Calls whose id is in `pending` wait for a person and are no problem.
    """
    report: list[Note] = []
    encode(provider, turns, model, report)
    waiting = Counter(spot[0] for spot, call in open_calls(turns) if call.id in pending)
    found: list[Problem] = []
    for note in report:
        if note.code == "call-interrupted" and waiting[note.place]:
            waiting[note.place] -= 1
        else:
            found.append(Problem(note.code, note.place, note.message, CODES[note.code]))
    return sorted(found, key=lambda problem: problem.place)
