"""The finder as lines for a screen of a given size: the query, the list, the preview, the status.

Pure: the same state on the same screen gives the same lines, none wider than the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from rireki.cli.finder.state import FinderItem, Finding
from rireki.model.conversation import Conversation
from rireki.search.results import ConversationHits, Hit, Neighbour, Results
from rireki.show import times
from rireki.show.catalogue import say
from rireki.show.heading import fate
from rireki.show.hits import HitsView, counted, is_gone, notes, nothing, quoted, who
from rireki.show.safe import one_line
from rireki.show.width import Marked, around, marked, pad, painted, truncate, width, wrap, wrapped
from rireki.show.words import count

__all__ = ["Frame", "draw"]

PROMPT = "› "
#: From this width on the preview stands beside the list, else below it.
BESIDE = 100
#: A list with fewer lines than this leaves none to a preview.
FEWEST = 6
#: Lines of a neighbour that are shown.
NEIGHBOUR = 3
#: The ones that are known best come first: they go first where there is no room.
KEYS = {
    "box": ["↓ choose", "Enter read", "^R resume", "^C quit"],
    "list": ["↑↓ choose", "Enter read", "/ query", "r resume", "q quit"],
}


class Frame(NamedTuple):
    lines: list[str]
    #: Row and column of the cursor, from 0; None when it is not to be seen.
    cursor: tuple[int, int] | None
    #: How many lines of the list there are.
    page: int


def draw(state: Finding, columns: int, rows: int, view: HitsView) -> Frame:
    """The whole screen. `view` tells the clock, the colours and the signs of a conversation."""
    columns = max(columns, 10)
    view = view._replace(columns=columns, names=state.names)
    text, column = state.box.shown(columns - width(PROMPT) - 1)
    in_box = state.focus == "box"
    prompt = view.style.bold(PROMPT) if in_box else view.style.dim(PROMPT)
    body, page = _body(state, columns, max(rows - 3, 0), view)
    lines = [prompt + text, view.style.dim("─" * columns), *body, _status(state, columns, view)]
    if rows < 3:
        lines = [lines[0], lines[-1]][: max(rows, 1)]
    return Frame(lines, (0, width(PROMPT) + column) if in_box else None, page)


def _body(state: Finding, columns: int, rows: int, view: HitsView) -> tuple[list[str], int]:
    if not state.items:
        said = nothing(state.results) if state.results else ()
        told = [f"  {line}" for text in said for line in wrap(text, columns - 2)]
        return _filled(told, rows), rows
    if columns >= BESIDE:
        left = columns * 45 // 100
        right = columns - left - 3
        beside = _filled(_preview(state, view._replace(columns=right), rows), rows)
        shown = _list(state, left, rows, view)
        bar = view.style.dim(" │ ")
        return [a + bar + b for a, b in zip(_filled(shown, rows, left), beside, strict=True)], rows
    under = max(min(rows // 2, 12), 0) if rows >= 2 * FEWEST else 0
    upper = rows - under
    lines = _filled(_list(state, columns, upper, view), upper)
    if under:
        preview = _preview(state, view, under - 1)
        lines += [view.style.dim("─" * columns), *_filled(preview, under - 1)]
    return lines, upper


def _filled(lines: Sequence[str], rows: int, columns: int = 0) -> list[str]:
    """Exactly so many lines; with `columns` the empty ones are as wide as the others."""
    return [*lines[:rows], *[" " * columns] * (rows - len(lines))]


# ── the list ──


class _Row(NamedTuple):
    """A line of the list: a conversation's own, or one of its hits'."""

    talk: ConversationHits
    item: FinderItem | None
    is_chosen: bool


def _list(state: Finding, columns: int, rows: int, view: HitsView) -> list[str]:
    all_rows: list[_Row] = []
    chosen = 0
    for place, item in enumerate(state.items):
        is_chosen = place == state.chosen
        if place == 0 or state.items[place - 1].talk is not item.talk:
            whole = item.hit is None
            all_rows.append(_Row(item.talk, None, is_chosen and whole))
            chosen = len(all_rows) - 1 if is_chosen and whole else chosen
        if item.hit is not None:
            all_rows.append(_Row(item.talk, item, is_chosen))
            chosen = len(all_rows) - 1 if is_chosen else chosen
    top = max(min(chosen - rows // 2, len(all_rows) - rows), 0)
    pen = _Pen(state.focus == "list", columns, view)
    return [pen.row(row) for row in all_rows[top : top + rows]]


class _Pen:
    """Writes rows of the list, all equally wide."""

    def __init__(self, is_focus: bool, columns: int, view: HitsView) -> None:
        self.is_focus = is_focus
        self.columns = columns
        self.view = view
        self.style = view.style

    def row(self, row: _Row) -> str:
        hit = row.item.hit if row.item else None
        lead, line, rest = self._hit(hit, row.talk) if hit else self._talk(row.talk)
        sign = "▸ " if row.is_chosen else "  "
        # On a very narrow screen half of it is left for the words.
        lead = truncate(lead, self.columns - width(sign) - min(10, self.columns // 2))
        room = self.columns - width(sign + lead)
        shown = around(line, room)
        space = " " * (room - width(shown.text))
        if row.is_chosen and self.is_focus:
            paint, mark = self._painter("7"), self._painter("7;1;33")
            return paint(sign + lead) + painted(shown, mark, paint) + paint(space)
        if row.is_chosen:
            rest = self.style.bold
        lead = self.style.dim(lead) if hit is None else self.style.cyan(lead)
        return self.style.bold(sign) + lead + painted(shown, self.view.match, rest) + space

    def _talk(self, talk: ConversationHits) -> tuple[str, Marked, Callable[[str], str]]:
        about = talk.conversation
        words = [pad(times.ago(about.updated_at, self.view.now), 10)]
        if self.columns >= 60:
            name = self.view.names.get(about.id, about.id)
            words = [pad(one_line(name), 8), *words, pad(one_line(about.source), 11)]
        signs = f"{self.view.sign(about)} {'↳ ' if about.nature == 'subagent' else ''}"
        title = marked(about.title, talk.title_marks)
        lead = "  ".join([*words, signs])
        return lead, title if title.text else Marked(say("(no title)")), self.style.bold

    def _hit(self, hit: Hit, talk: ConversationHits) -> tuple[str, Marked, Callable[[str], str]]:
        name = truncate(who(hit), max(self.columns // 4, 8))
        gone = "✗ " if is_gone(hit, talk) else ""
        return f"  {name}  {gone}", quoted(hit.snippet), str

    def _painter(self, code: str) -> Callable[[str], str]:
        if not self.style.colour:
            return str
        return lambda text: f"\x1b[{code}m{text}\x1b[0m" if text else ""


# ── the preview ──


def _preview(state: Finding, view: HitsView, rows: int) -> list[str]:
    item = state.item
    if item is None or rows < 1:
        return []
    top = list(_about(item.talk.conversation, view, short=rows < 14))
    hit = state.seen.get(item.name, item.hit)
    if hit is None:
        return top[:rows]
    own = list(_own(hit, item.talk, view))
    # The hit itself first; what stands around it shares what is left.
    left = rows - len(top) - 1 - len(own)
    before = [list(_neighbour(each, view)) for each in reversed(hit.before)]
    after = [list(_neighbour(each, view)) for each in hit.after]
    behind = sum(map(len, after))
    above = _fitting(before, max(left // 2, left - behind))[::-1]
    below = _fitting(after, left - sum(map(len, above)))
    lines = [line for block in [*above, own, *below] for line in block]
    return [*top, "", *lines][:rows]


def _fitting(blocks: Sequence[list[str]], rows: int) -> list[list[str]]:
    """The first of them, as many as there is room for, each whole."""
    ends = accumulate(len(block) for block in blocks)
    return [block for block, end in zip(blocks, ends, strict=True) if end <= rows]


def _about(about: Conversation, view: HitsView, short: bool) -> Iterator[str]:
    title = one_line(about.title) or say("(no title)")
    lines = [truncate(title, view.columns)] if short else wrap(title, view.columns)[:3]
    yield from map(view.style.bold, lines)
    when = times.span_of(about)
    facts = [when, count(about.turns, "turn"), count(about.messages, "message")]
    if about.nature == "subagent":
        facts.append("sub-agent")
    elif about.nature == "notes":
        facts.append("notes")
    yield view.style.dim(truncate(" · ".join(map(say, facts)), view.columns))
    if not short:
        yield view.style.dim(truncate(one_line(about.id), view.columns))
        if about.project:
            yield view.style.dim(truncate(one_line(about.project), view.columns))
    for said in fate(about):
        yield view.style.yellow(truncate(say(said), view.columns))


def _own(hit: Hit, talk: ConversationHits, view: HitsView) -> Iterator[str]:
    paint = view.style.person if hit.author == "person" else view.style.cyan
    when = f" · {times.moment(hit.at)}" if hit.at else ""
    gone = f" · {say('no longer in the source')}" if is_gone(hit, talk) else ""
    yield paint(truncate(who(hit) + when + gone, view.columns))
    for line in wrapped(quoted(hit.snippet), view.columns - 2):
        yield "  " + painted(line, view.match)


def _neighbour(each: Neighbour, view: HitsView) -> Iterator[str]:
    name = say({"person": "you", "harness": "program"}.get(each.author, each.author))
    lines = wrap(f"{name}: {one_line(each.text)}", view.columns)
    if len(lines) > NEIGHBOUR:
        lines[NEIGHBOUR - 1] = truncate(lines[NEIGHBOUR - 1].rstrip("…") + "…", view.columns)
    yield from map(view.style.dim, lines[:NEIGHBOUR])


# ── the status ──


def _status(state: Finding, columns: int, view: HitsView) -> str:
    said, paint = _said(state, view)
    said = truncate(said, columns)
    keys = [say(key) for key in KEYS[state.focus]]
    while keys and width(said) + 2 + width("  ".join(keys)) > columns:
        keys.pop(0)
    told = "  ".join(keys)
    return paint(said) + " " * (columns - width(said) - width(told)) + view.style.dim(told)


def _said(state: Finding, view: HitsView) -> tuple[str, Callable[[str], str]]:
    if state.note:
        return one_line(state.note), view.style.yellow
    if state.progress:
        return one_line(state.progress), view.style.yellow
    if state.trouble:
        return one_line(state.trouble), view.style.red
    if state.is_slow:
        return say("searching …"), view.style.dim
    if state.results is None:
        return "", str
    return _found(state.results), view.style.green


def _found(results: Results) -> str:
    if not results.query.strip():
        return say(f"the newest of {count(results.scope.conversations, 'conversation')}")
    return " · ".join([counted(results), *map(one_line, notes(results))])
