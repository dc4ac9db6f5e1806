"""Prompts that were queued while the agent worked: which of them never reached it.

A delivered prompt stands in the transcript again, so its queue line is left out.
"""

from __future__ import annotations

from msgspec import Struct

from rireki.sources.claude_code.lines import Line
from rireki.sources.claude_code.tags import one_line

__all__ = ["Queue"]


class _Waiting(Struct, gc=False):
    line: Line
    text: str
    taken: bool = False


class Queue:
    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []

    def enqueue(self, line: Line, text: str) -> None:
        self._waiting.append(_Waiting(line, one_line(text)))

    def dequeue(self) -> None:
        """The program took the oldest prompt that still waited."""
        for waiting in self._waiting:
            if not waiting.taken:
                waiting.taken = True
                return

    def delivered(self, text: str) -> None:
        """A prompt came out: the queued one of the same text, else the oldest one taken.

        Texts may differ: a paste is written out, a command is spelled in tags.
        """
        if not self._waiting:
            return
        text = one_line(text)
        for waiting in self._waiting:
            if waiting.text == text:
                self._waiting.remove(waiting)
                return
        for waiting in self._waiting:
            if waiting.taken:
                self._waiting.remove(waiting)
                return

    def never_sent(self) -> list[Line]:
        return [
            waiting.line
            for waiting in self._waiting
            if waiting.text and not waiting.text.startswith("<task-notification>")
        ]
