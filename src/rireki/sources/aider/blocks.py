"""The lines of one session, told apart: what Aider marked, and what it did not.

Aider writes `#### ` before every line that was typed and `> ` before what it says itself, ends both with two
spaces, and marks no answer. A text of several lines is marked at its first one only and ends at the first
line with two spaces. An answer may hold such marks as well, so this is a heuristic: see docs/sources/aider.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Literal, NamedTuple, TypeAlias

__all__ = ["Block", "BlockKind", "blocks_of", "fence_after", "prompt_line"]

BlockKind: TypeAlias = Literal["start", "prompt", "answer", "status"]
_PROMPT = re.compile("####(?:[ \u00a0]|$)")
_END = "  "
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)$")
_TOKENS = re.compile(r"> Tokens: .* received\.")
_STOPPED = "> ^C"


class Block(NamedTuple):
    """Lines that were said at once, from `start` up to `end`."""

    kind: BlockKind
    start: int
    end: int


def prompt_line(line: str) -> str:
    """A line as it was typed."""
    return (
        _PROMPT.sub("", line.removesuffix(_END), count=1).replace("\u00a0", "").removesuffix(_END)
    )


def fence_after(line: str, fence: str) -> str:
    """The code fence that is open after a line of an answer; empty for none."""
    found = _FENCE.match(line.rstrip())
    if not found:
        return fence
    if not fence:
        return found[1]
    closes = found[1].startswith(fence) and not found[2].strip()
    return "" if closes else fence


def blocks_of(lines: Sequence[str], typed: Collection[str]) -> list[Block]:
    """`typed` are first lines of what was typed in this folder, where that is known."""
    return _Blocks(lines, typed).found()


class _Blocks:
    def __init__(self, lines: Sequence[str], typed: Collection[str]) -> None:
        self.lines = lines
        self.typed = typed
        #: An editor may have taken the spaces at the ends of lines away.
        self.is_spaced = any(one.endswith(_END) and _is_marked(one) for one in lines)
        #: Whether every answer ends with the count of its tokens; versions before 0.38 had none.
        self.is_counted = any(map(_TOKENS.match, lines))
        self.blocks: list[Block] = []
        # Looked up instead of searched for: a session may have a hundred thousand lines.
        self._ends = _next(lines, lambda line: line.endswith(_END))
        self._blanks = _next(lines, lambda line: not line.strip())
        self._marks = _next(lines, _PROMPT.match)
        self._fences = _next(lines, _is_bare_fence)

    @property
    def kind(self) -> BlockKind:
        return self.blocks[-1].kind if self.blocks else "start"

    def found(self) -> list[Block]:
        at, fence = 0, ""
        while at < len(self.lines):
            line = self.lines[at]
            if fence and self._breaks(at, fence):
                fence = ""
            if not fence and self._is_prompt(at):
                at = self._take("prompt", at, self._end_of_prompt(at))
            elif not fence and (end := self._end_of_status(at)):
                at = self._take("start" if self.kind == "start" else "status", at, end)
            elif self.kind == "start" or (self.kind == "status" and self._is_direct(at)):
                at = self._take(self.kind, at, at + 1)
            elif not line.strip() and self.kind != "answer":
                at += 1
            else:
                fence = fence_after(line, fence)
                at = self._take("answer", at, at + 1)
        return self.blocks

    def _take(self, kind: BlockKind, start: int, end: int) -> int:
        last = self.blocks[-1] if self.blocks else None
        # What follows at once belongs together; two prompts are told apart by an empty line.
        if last and last.kind == kind and (last.end == start or kind == "answer"):
            self.blocks[-1] = last._replace(end=end)
        else:
            self.blocks.append(Block(kind, start, end))
        return end

    def _is_prompt(self, at: int) -> bool:
        line = self.lines[at]
        if not _PROMPT.match(line) or (at and self.lines[at - 1].strip()):
            return False
        if self.is_spaced and not line.endswith(_END):
            return False
        if self.kind == "answer" and (self.typed or self.is_counted):
            # No line of Aider's ended the answer: a heading in it, unless it is known to be typed.
            return prompt_line(line).strip() in self.typed
        return True

    def _breaks(self, at: int, fence: str) -> bool:
        """Whether an answer stops inside a code block: it was interrupted, or nobody closed the block."""
        line = self.lines[at]
        if _TOKENS.match(line):
            return not self._is_closed_soon(at, fence)
        if line.startswith(_STOPPED):
            return line.endswith(_END)
        return self._is_prompt(at) and prompt_line(line).strip() in self.typed

    def _end_of_prompt(self, at: int) -> int:
        while at < len(self.lines) and _PROMPT.match(self.lines[at]):
            at += 1
        return at

    def _end_of_status(self, at: int) -> int | None:
        """Where a text ends that Aider says itself; None for an answer, which may quote."""
        if not self.lines[at].startswith(">"):
            return None
        if not self.is_spaced or self.lines[at].endswith(_END):
            return at + 1
        goes_on = self.kind == "start" or (self.kind != "answer" and self._is_direct(at))
        end = self._ends[at + 1]
        is_cut = end == len(self.lines) or self._is_prompt(end)
        if is_cut or (not goes_on and self._blanks[at + 1] < end):
            return at + 1 if goes_on else None
        return end + 1

    def _is_direct(self, at: int) -> bool:
        return at > 0 and bool(self.lines[at].strip()) and bool(self.lines[at - 1].strip())

    def _is_closed_soon(self, at: int, fence: str) -> bool:
        """Whether an open fence ends before the next line that looks typed: then it hides what is in it."""
        mark, bare = self._marks[at + 1], self._fences[at + 1]
        while bare < mark and fence_after(self.lines[bare], fence):
            bare = self._fences[bare + 1]
        return bare < mark


def _next(lines: Sequence[str], hits: Callable[[str], object]) -> list[int]:
    """For each line the number of the next one that hits, itself counted; their count where none does."""
    found = [len(lines)] * (len(lines) + 2)
    for number in range(len(lines) - 1, -1, -1):
        found[number] = number if hits(lines[number]) else found[number + 1]
    return found


def _is_bare_fence(line: str) -> bool:
    found = _FENCE.match(line.rstrip())
    return found is not None and not found[2].strip()


def _is_marked(line: str) -> bool:
    return line.startswith(">") or bool(_PROMPT.match(line))
