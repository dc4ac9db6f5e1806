"""Prompts that were queued while the agent worked: which of them never reached it.

A delivered prompt stands in the transcript again, so its queue line is left out.
"""

from __future__ import annotations

from msgspec import Struct

from rireki.sources.claude_code.lines import TranscriptLine
from rireki.sources.claude_code.tags import one_line

__all__ = ["Queue"]

#: How much of a prompt is compared.
LENGTH = 200
#: Prompts sent together may be long; more of them is not looked at.
TOGETHER = 20_000
#: What programs queue: nobody typed it.
_INJECTED = ("<task-notification>", "<teammate-message", "<agent-message", "<tick>", "<goal>")


class _Waiting(Struct, gc=False):
    line: TranscriptLine
    text: str
    taken: bool = False


class Queue:
    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []

    def enqueue(self, line: TranscriptLine, text: str) -> None:
        self._waiting.append(_Waiting(line, _beginning(text)))

    def dequeue(self) -> None:
        """The program took the oldest prompt that still waited."""
        for waiting in self._waiting:
            if not waiting.taken:
                waiting.taken = True
                return

    def delivered(self, text: str) -> None:
        """A prompt came out: the queued one of the same text, else all those it is made of.

        Texts may differ: a paste is written out, a command is spelled in tags. Then it was
        the oldest one taken.
        """
        if not self._waiting:
            return
        beginning, whole = _beginning(text), one_line(text, TOGETHER)
        same = [waiting for waiting in self._waiting if waiting.text == beginning][:1]
        inside = [w for w in self._waiting if w.taken and w.text and w.text in whole]
        oldest = [waiting for waiting in self._waiting if waiting.taken][:1]
        for waiting in same or inside or oldest:
            self._waiting.remove(waiting)

    def appeared(self, text: str) -> None:
        """The same text stands in the transcript, though nobody typed it: a program had queued it."""
        beginning = _beginning(text) if self._waiting else ""
        for waiting in self._waiting:
            if waiting.text == beginning:
                self._waiting.remove(waiting)
                return

    def never_sent(self) -> list[TranscriptLine]:
        return [
            waiting.line
            for waiting in self._waiting
            if waiting.text and not waiting.text.startswith(_INJECTED)
        ]


def _beginning(text: str) -> str:
    return one_line(text, LENGTH).removesuffix("…").rstrip()
