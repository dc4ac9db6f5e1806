"""From what was stored for one provider to what another one accepts: the doors of this package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import Any

import msgspec

from rireki.errors import RirekiError
from rireki.providers import anthropic, bedrock, gemini, ollama, openai, responses
from rireki.providers.codec import Codec
from rireki.providers.detect import unwrap
from rireki.providers.fit import Fitter
from rireki.providers.kit import NOBODY
from rireki.providers.neutral import Note, Opaque, Problem, Request, Turn
from rireki.providers.notes import CODES, Notes
from rireki.providers.plain import plain
from rireki.providers.repair import open_calls
from rireki.providers.rules import rules_for
from rireki.providers.shape import shape

__all__ = ["PROVIDERS", "decode", "encode", "problems"]

_CODECS: dict[str, Codec] = {
    codec.name: codec
    for codec in (
        anthropic.CODEC,
        openai.CODEC,
        responses.CODEC,
        gemini.CODEC,
        bedrock.CODEC,
        ollama.CODEC,
    )
}
PROVIDERS = tuple(_CODECS)


def decode(provider: str | None, messages: str | Iterable[Any], system: Any = None) -> list[Turn]:
    """Stored messages of a provider as turns, one for each; nothing that was there is lost.

    Without a provider each message is told by its shape, and what could be anybody's is read in
    Anthropic's way, which is also that of small agents' histories.
    """
    turns: list[Turn] = []
    if system is not None and system != "" and system != []:
        turns.append(_codec(provider or "anthropic").decode_system(plain(system)))
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    if provider is not None:
        codec = _codec(provider)
        turns += [_read(codec, plain(message)) for message in messages]
        return turns
    for message in messages:
        found, inner = unwrap(message)
        codec = _codec(found or "anthropic")
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
    codec = _codec(provider)
    rules = rules_for(provider, model)
    notes = Notes(report)
    fitter = Fitter(provider, rules, _CODECS, notes)
    lead = _lead(turns, provider, rules.system)
    # The places of what follows stay what they were.
    fitted = [Turn("system", [])] * lead
    fitted += [fitter.fit(place, turns[place]) for place in range(lead, len(turns))]
    if codec.prune is not None:
        fitted = codec.prune(fitted, notes)
    messages: list[Any] = []
    for turn in shape(fitted, rules, notes, nudge):
        if turn.raw is not None:
            messages.append(turn.raw)
        else:
            messages += codec.encode(turn)
    if codec.settle is not None:
        messages = codec.settle(messages)
    system = _system(codec, fitter, turns[:lead]) if lead else None
    messages, system = _sendable(messages, notes), _sendable(system, notes)
    if codec.for_package is not None:
        messages = [codec.for_package(message) for message in messages]
        system = codec.for_package(system)
    return Request(messages, system)


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


def _codec(provider: str) -> Codec:
    codec = _CODECS.get(provider)
    if codec is None:
        raise RirekiError(
            f"There is no provider called {provider!r}", f"Choose one of {', '.join(PROVIDERS)}."
        )
    return codec


def _lead(turns: Sequence[Turn], provider: str, system: str) -> int:
    """How many turns at the start go outside of the messages."""
    lead = 0
    for turn in turns:
        own = turn.provider == provider and turn.raw is not None
        if system == "outside":
            goes = turn.role in ("instructions", "system")
        else:
            goes = turn.role == "instructions" and own
        if not goes:
            break
        lead += 1
    return lead


def _system(codec: Codec, fitter: Fitter, turns: Sequence[Turn]) -> Any:
    only = turns[0]
    own = only.provider == codec.name and only.raw is not None
    if len(turns) == 1 and own and only.role == "instructions":
        return only.raw
    fitted = [fitter.fit(place, turn, on_top=True) for place, turn in enumerate(turns)]
    spoken = [turn for turn in fitted if turn.parts]
    return codec.encode_system(spoken) if codec.encode_system and spoken else None


def _sendable(value: Any, notes: Notes) -> Any:
    """JSON in UTF-8 cannot say half a surrogate pair."""
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError:
        notes.add("broken-characters", 0, "a text holds half a character")
        return _mended(value)
    return value


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(one) for one in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(one) for key, one in value.items()}
    return value
