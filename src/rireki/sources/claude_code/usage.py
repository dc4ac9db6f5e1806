"""Tokens of each answer, counted once although every line of an answer repeats them.

The line with the most output tokens of one `message.id` is right. Counts that
stayed at the value of the start of a stream are lower bounds.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Raw, Struct

from rireki.model.conversation import Answer
from rireki.model.message import Usage
from rireki.model.times import from_iso
from rireki.sources.claude_code.kinds import SYNTHETIC
from rireki.sources.claude_code.lines import TranscriptLine
from rireki.sources.claude_code.shapes import Spoken, Tokens

__all__ = ["Meter", "total"]

#: No tokenizer packs more bytes of an answer into a token: beyond it, the count is a start value.
BYTES_PER_TOKEN = 20


class _Reading(Struct, gc=False):
    model: str
    at: str | None
    tokens: Tokens
    output: int
    stopped: bool = False
    aborted: bool = False
    size: int = 0
    #: What it comes to, once it was asked for.
    usage: Usage | None = None


class Meter:
    def __init__(self) -> None:
        self._readings: dict[str, _Reading] = {}

    def note(self, line: TranscriptLine, spoken: Spoken) -> None:
        key, tokens = spoken.id, spoken.usage
        if key is None or tokens is None or spoken.model == SYNTHETIC:
            return
        look = line.look
        output = _count(tokens.output_tokens)
        reading = self._readings.get(key)
        if reading is None:
            at = look.timestamp if look is not None else None
            reading = _Reading(spoken.model or "unknown", at, tokens, output)
            self._readings[key] = reading
        elif output > reading.output:
            reading.tokens, reading.output = tokens, output
        if spoken.stop_reason is not None:
            reading.stopped = True
        elif len(line.data) > BYTES_PER_TOKEN * output:
            reading.size += _size(spoken)
        if look is not None and look.isAbortedMidStream:
            reading.aborted = True

    def interrupted(self, key: str | None) -> None:
        """A person stopped the answer of this id; the last one, where the source names none."""
        reading = self._readings.get(key or next(reversed(self._readings), ""))
        if reading is not None and not reading.stopped:
            reading.aborted = True

    def usage(self, key: str | None) -> Usage | None:
        reading = self._readings.get(key or "")
        return _usage(reading) if reading else None

    def answers(self) -> list[Answer]:
        return [
            Answer(key, reading.model, _usage(reading), from_iso(reading.at))
            for key, reading in self._readings.items()
        ]

    def models(self) -> list[str]:
        return list(dict.fromkeys(reading.model for reading in self._readings.values()))


def total(answers: Sequence[Answer]) -> Usage | None:
    """The tokens of all answers together; None when no model answered."""
    if not answers:
        return None
    parts = [answer.usage for answer in answers]
    return Usage(
        input_tokens=sum([part.input_tokens for part in parts]),
        output_tokens=sum([part.output_tokens for part in parts]),
        cache_read_tokens=sum([part.cache_read_tokens for part in parts]),
        cache_write_tokens=sum([part.cache_write_tokens for part in parts]),
        lower_bound=any(part.lower_bound for part in parts),
    )


def _usage(reading: _Reading) -> Usage:
    """Asked for when every line was noted: by the summary, and again by each message."""
    if reading.usage is None:
        reading.usage = _sum_up(reading)
    return reading.usage


def _sum_up(reading: _Reading) -> Usage:
    tokens, output = reading.tokens, reading.output
    started = output <= 1 or reading.size > BYTES_PER_TOKEN * output
    return Usage(
        _count(tokens.input_tokens),
        output,
        _count(tokens.cache_read_input_tokens),
        _count(tokens.cache_creation_input_tokens),
        reading.aborted or (not reading.stopped and started),
    )


def _count(number: int | None) -> int:
    """A count that a count can be; anything else is damage."""
    return number if number is not None and 0 <= number < 1 << 53 else 0


def _size(spoken: Spoken) -> int:
    if not isinstance(spoken.content, list):
        return len(spoken.content or "")
    return sum(
        _length(block.text) + _length(block.thinking) + _length(block.input)
        for block in spoken.content
    )


def _length(raw: Raw) -> int:
    return memoryview(raw).nbytes
