"""What an edit changed, line by line, with the words that differ marked inside the lines.

Bounded: texts too large to compare are told as all old lines, then all new ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple, TypeAlias

from rireki.show.html.markup import EMPTY, Markup, exact, tag
from rireki.show.html.page import LINES, SIZE, Cut, Page

__all__ = ["TextChange", "Diff", "diff", "patch"]

Kind: TypeAlias = Literal["add", "del", "same", "gap"]

#: More lines are not compared, nor more pairs of lines word by word, nor longer lines.
_MOST_LINES, _MOST_PAIRS, _LONGEST_LINE = 1_500, 40, 400
#: Unchanged lines told around a change.
_AROUND = 3
_SIGNS: dict[Kind, str] = {"add": "+", "del": "-", "same": " ", "gap": " "}
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)


class TextChange(NamedTuple):
    """A text that took another's place; what is new has no old, what was deleted no new."""

    old: str
    new: str
    #: Where in the file, as far as the call says so.
    place: str = ""


class Diff(NamedTuple):
    shown: Markup
    added: int
    removed: int


class _Row(NamedTuple):
    kind: Kind
    line: Markup


def diff(changes: Sequence[TextChange], page: Page) -> Diff:
    """The changes one after the other."""
    blocks, added, removed = [], 0, 0
    for change in changes:
        rows = list(_rows(_lines(change.old, page), _lines(change.new, page), page))
        added += sum(row.kind == "add" for row in rows)
        removed += sum(row.kind == "del" for row in rows)
        caption = tag("p", change.place, class_="place") if change.place else EMPTY
        blocks.append(caption + _block(rows, page))
    return Diff(EMPTY.join(blocks), added, removed)


def patch(words: str, page: Page) -> Diff:
    """A text that is a diff already."""
    kinds: dict[str, Kind] = {"+": "add", "-": "del"}
    rows = [
        _Row(kind, exact(line[1:] if kind != "gap" else line))
        for line in _lines(words, page)
        for kind in [_kind_of(line, kinds)]
    ]
    added = sum(row.kind == "add" for row in rows)
    return Diff(_block(rows, page), added, sum(row.kind == "del" for row in rows))


def _kind_of(line: str, kinds: dict[str, Kind]) -> Kind:
    if line.startswith(("+++", "---", "***", "@@", "diff ", "index ")):
        return "gap"
    return kinds.get(line[:1], "same")


def _lines(words: str, page: Page) -> list[str]:
    lines = words.removesuffix("\n").split("\n") if words else []
    if page.look.full or len(words) <= SIZE:
        return lines
    return [line if len(line) <= SIZE else line[:SIZE] + "…" for line in lines]


def _block(rows: Sequence[_Row], page: Page) -> Markup:
    shown = len(rows) if page.look.full else _fitting(rows)
    told = EMPTY.join(_told(row) for row in rows[:shown])
    left = page.more(Cut("", lines=len(rows) - shown))
    return tag("pre", told, class_="diff", tabindex=0) + left


def _fitting(rows: Sequence[_Row]) -> int:
    """How many rows are shown before they are cut."""
    room = SIZE
    for number, row in enumerate(rows[:LINES]):
        room -= len(row.line)
        if room < 0:
            return max(number, 1)
    return min(len(rows), LINES)


def _told(row: _Row) -> Markup:
    sign = tag("span", _SIGNS[row.kind], class_="sign")
    return tag("span", sign, row.line, "\n", class_=f"row {row.kind}")


def _rows(old: list[str], new: list[str], page: Page) -> Iterator[_Row]:
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    yield from _same(old[:head], page, first=True, last=head == len(old) == len(new))
    old_end, new_end = len(old) - tail, len(new) - tail
    yield from _compared(old[head:old_end], new[head:new_end], page)
    yield from _same(old[old_end:], page, first=False, last=True)


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    for number, (one, other) in enumerate(zip(a, b, strict=False)):
        if one != other:
            return number
    return min(len(a), len(b))


def _compared(old: list[str], new: list[str], page: Page) -> Iterator[_Row]:
    if not old or not new or max(len(old), len(new)) > _MOST_LINES:
        if old and new:
            yield _Row("gap", exact(page.say("too large to compare line by line")))
        yield from _replaced(old, new)
        return
    for what, a1, a2, b1, b2 in SequenceMatcher(None, old, new).get_opcodes():
        if what == "equal":
            yield from _same(old[a1:a2], page, first=False, last=False)
        else:
            yield from _replaced(old[a1:a2], new[b1:b2])


def _same(lines: list[str], page: Page, *, first: bool, last: bool) -> Iterator[_Row]:
    """Unchanged lines: those next to a change, and how many there are besides."""
    before, after = (0 if first else _AROUND), (0 if last else _AROUND)
    left = len(lines) - before - after
    # A gap of one line would take a line to say so.
    if left < 2:
        before, after, left = len(lines), 0, 0
    yield from (_Row("same", exact(line)) for line in lines[:before])
    if left:
        yield _Row("gap", exact(page.count(left, "1 unchanged line", "{n} unchanged lines")))
    yield from (_Row("same", exact(line)) for line in lines[len(lines) - after :] if after)


def _replaced(old: list[str], new: list[str]) -> Iterator[_Row]:
    before: list[Markup] = [exact(line) for line in old]
    after: list[Markup] = [exact(line) for line in new]
    if len(old) == len(new) <= _MOST_PAIRS:
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            before[number], after[number] = _marked(one, other)
    yield from (_Row("del", line) for line in before)
    yield from (_Row("add", line) for line in after)


def _marked(old: str, new: str) -> tuple[Markup, Markup]:
    """Two lines with what differs between them marked, where they have enough in common."""
    if max(len(old), len(new)) > _LONGEST_LINE:
        return exact(old), exact(new)
    a, b = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.ratio() < 0.4:
        return exact(old), exact(new)
    before, after = [], []
    for what, a1, a2, b1, b2 in matcher.get_opcodes():
        before.append(_piece(a[a1:a2], what))
        after.append(_piece(b[b1:b2], what))
    return EMPTY.join(before), EMPTY.join(after)


def _piece(words: Sequence[str], what: str) -> Markup:
    said = "".join(words)
    return exact(said) if what == "equal" or not said else tag("mark", exact(said))
