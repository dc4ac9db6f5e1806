"""What a person types, or a program sends: lines that become prompts and answers.

At a terminal with the editing and the history that other programs have; pasted text stays in
one piece. Knows nothing of agents.
"""

from __future__ import annotations

import sys

from rireki.show.safe import Style, safe

__all__ = ["ChatInput"]

#: Around codes that take no room, so that the line editor can count.
_HIDDEN = "\x01{}\x02"


class ChatInput:
    def __init__(self, style: Style) -> None:
        self.terminal = sys.stdin.isatty() and sys.stdout.isatty()
        self._style = style
        if self.terminal:
            _edit_lines()

    def prompt(self) -> str | None:
        """The next prompt; None at the end. A line that ends with a backslash goes on."""
        text = self._line("> ")
        if text is None:
            return None
        while text.endswith("\\"):
            more = self._line("… ")
            if more is None:
                break
            text = f"{text[:-1]}\n{more}"
        return text

    def ask(self, question: str) -> str | None:
        """An answer; None where nobody is there to give one, or does not want to."""
        return self._line(f"{question} ") if self.terminal else None

    def _line(self, before: str) -> str | None:
        if not self.terminal:
            line = sys.stdin.readline()
            return line.removesuffix("\n") if line else None
        try:
            # The line editor writes it itself, past whatever guards the terminal.
            return input(self._drawn(safe(before)))
        except EOFError:
            sys.stdout.write("\n")
            return None

    def _drawn(self, before: str) -> str:
        drawn = self._style.person(before.rstrip())
        if not self._style.colour:
            return before
        codes, text = drawn.split(before.rstrip()), before.rstrip()
        return f"{_HIDDEN.format(codes[0])}{text}{_HIDDEN.format(codes[1])} "


def _edit_lines() -> None:
    """`input` edits lines as soon as this is imported; a paste of several lines is one."""
    try:
        # Windows has none; and every later `input` would be another.
        import readline
    except ImportError:
        return
    readline.parse_and_bind("set enable-bracketed-paste on")
