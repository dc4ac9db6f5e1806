"""Questions to the person: the tool `ask_user`, and who answers.

Whoever answers is a function of the question, sync or async. It returns the answer, or None if
the person would rather not; it raises `Later` if the answer will come another time, and the
question then stays open in the history, over restarts of the program too.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from rireki.agent.events import Question
from rireki.interrupts import heard_at_once

__all__ = ["ASK", "CANCELLED", "Ask", "Later", "ask_user", "in_terminal", "later"]

ASK = "ask_user"
CANCELLED = "[User cancelled the question]"

Ask: TypeAlias = Callable[[Question], "str | Awaitable[str | None] | None"]


class Later(Exception):
    """The question stays open; the run ends, and goes on when it has been answered."""


def ask_user(question: str, options: list[str] | None = None) -> str:
    """Ask the person who gave you the task. Use it when only they can know or decide.

    Args:
        question: What you want to know, in full: they may not see what you did so far.
        options: Answers to choose from, if there are only a few; they may answer otherwise.
    """
    raise NotImplementedError("the agent answers this call by asking")


def later(question: Question) -> str:
    """Nobody is there now: for programs where a page or a mail brings the answer."""
    raise Later(question.id)


def in_terminal(question: Question) -> str | None:
    """Ask on the terminal; a number chooses an option. Ctrl-C and Ctrl-D decline to answer."""
    lines = [f"\n? {_printable(question.question)}"]
    lines += [f"  {number}. {_printable(o)}" for number, o in enumerate(question.options, 1)]
    sys.stdout.write("\n".join(lines) + "\n")
    try:
        with _interruptible(), heard_at_once():
            said = input("> ").strip()
    except (EOFError, KeyboardInterrupt):
        sys.stdout.write("\n")
        return None
    chosen = int(said) if said.isascii() and said.isdigit() and len(said) < 6 else 0
    return question.options[chosen - 1] if 0 < chosen <= len(question.options) else said


def _printable(text: str) -> str:
    """A model's words must not steer the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C ends the prompt. The event loop's own handler would only end the run after it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
