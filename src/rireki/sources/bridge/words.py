"""What a message says and which rule made it, for whoever compares messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rireki.model.message import Message
from rireki.model.parts import Text, Thinking

__all__ = [
    "flags_of",
    "is_given",
    "is_provisional",
    "is_typed",
    "rule_of",
    "squeezed",
    "strings_in",
    "texts_of",
    "words_of",
]

#: Values nested deeper than this are not walked.
DEEPEST = 40


def is_typed(message: Message) -> bool:
    shown = message.display != "hidden" and message.replaced_by is None
    return message.author == "person" and shown


def rule_of(message: Message) -> str:
    return message.entry.rule if message.entry is not None else ""


def flags_of(message: Message) -> tuple[str, ...]:
    return message.entry.flags if message.entry is not None else ()


def is_given(message: Message) -> bool:
    return rule_of(message) == "prompt" and "given" in flags_of(message)


def is_provisional(message: Message) -> bool:
    return "provisional" in flags_of(message)


def words_of(message: Message) -> str:
    return squeezed(texts_of(message, Text))


def texts_of(message: Message, *kinds: type[Text] | type[Thinking]) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, kinds)]


def squeezed(texts: Sequence[str]) -> str:
    """Words without any white space: nobody keeps it as it was."""
    return "".join("".join(text.split()) for text in texts)


def strings_in(value: Any, depth: int = 0) -> list[str]:
    """Every text in a JSON value that is not nested beyond all reason."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list) or depth == DEEPEST:
        return []
    return [text for one in value for text in strings_in(one, depth + 1)]
