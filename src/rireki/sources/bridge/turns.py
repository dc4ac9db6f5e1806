"""What a transcript has of one turn, and whether words of a journal are among it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rireki.model.message import Message
from rireki.model.parts import Text, Thinking, ToolCall
from rireki.sources.bridge.words import (
    is_provisional,
    is_typed,
    rule_of,
    squeezed,
    strings_in,
    texts_of,
    words_of,
)

__all__ = ["TranscriptTurn"]


class TranscriptTurn:
    """What the transcript has of one turn: where each thing stands, and its words."""

    def __init__(self, transcript: Sequence[Message], start: int) -> None:
        self.said: dict[str, list[tuple[int, str]]] = {"text": [], "thought": [], "plan": []}
        self.answers: list[int] = []
        for at, message in _messages_of(transcript, start):
            if message.author in ("agent", "harness"):
                words = words_of(message)
                self.said["text"].append((at, words))
                self.said["thought"].append((at, squeezed(texts_of(message, Thinking))))
                self.answers += [at] if words and message.author == "agent" else []
            calls = [part.arguments for part in message.parts if isinstance(part, ToolCall)]
            self.said["plan"].append((at, squeezed(strings_in(calls))))
        self.whole = {kind: "".join(words for _, words in said) for kind, said in self.said.items()}

    def has(self, message: Message) -> bool:
        kind = rule_of(message)
        if kind == "plan":
            steps = [
                squeezed([line[6:]])
                for text in texts_of(message, Text)
                for line in text.split("\n")
            ]
            return any(all(step in words for step in steps) for _, words in self.said[kind])
        if is_provisional(message):
            return bool(self.answers)
        return (
            kind in self.whole and squeezed(texts_of(message, Text, Thinking)) in self.whole[kind]
        )

    def place_of(self, message: Message) -> int | None:
        """The message that has all of it; the first answer, for words that it replaces."""
        if is_provisional(message):
            return self.answers[0]
        words = squeezed(texts_of(message, Text, Thinking))
        return next((at for at, said in self.said[rule_of(message)] if words in said), None)


def _messages_of(transcript: Sequence[Message], start: int) -> Iterator[tuple[int, Message]]:
    """From what a person typed to the next thing a person typed."""
    turn = transcript[start].turn
    for at in range(start, len(transcript)):
        message = transcript[at]
        if turn is None and at > start and is_typed(message):
            return
        if turn is not None and message.turn is not None and message.turn != turn:
            return
        yield at, message
