"""A conversation at two moments: which of its messages came in between, were lost, or say something else.

Knows what the source held; why it changed is not known to anybody.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from markupsafe import Markup

from rireki.model.message import Message
from rireki.show.html.diff import TextChange, diff
from rireki.show.html.page import Page
from rireki.show.transcript import plain_text
from rireki.web.parts.render_cache import RenderedConversation

__all__ = ["ChangeKind", "Comparison", "Step", "compare"]

ChangeKind: TypeAlias = Literal["came", "lost", "changed"]

#: Changed units that one page tells.
MOST = 150


class Step(NamedTuple):
    """A unit that differs, or a run of those that do not."""

    kind: ChangeKind | None
    #: How many messages it stands for.
    messages: int
    html: Markup = Markup()
    unit: str = ""


class Comparison(NamedTuple):
    came: int
    lost: int
    changed: int
    steps: list[Step]
    #: Changed units that are not told any more.
    left_out: int


def compare(then: RenderedConversation, now: RenderedConversation) -> Comparison:
    """Both with everything that is usually hidden; `now` also tells what is gone by then."""
    before, after = _held(then), _held(now)
    kinds: dict[str, ChangeKind] = dict.fromkeys(after.keys() - before.keys(), "came")
    kinds |= dict.fromkeys(before.keys() - after.keys(), "lost")
    both = before.keys() & after.keys()
    kinds |= {id: "changed" for id in both if before[id].parts != after[id].parts}
    steps = list(_steps(then, now, kinds, both))
    told = [place for place, step in enumerate(steps) if step.kind is not None]
    end = told[MOST] if len(told) > MOST else len(steps)
    found = list(kinds.values())
    counts = (found.count("came"), found.count("lost"), found.count("changed"))
    return Comparison(*counts, steps[:end], max(len(told) - MOST, 0))


def _held(ready: RenderedConversation) -> dict[str, Message]:
    return {m.id: m for m in ready.story.messages if m.upstream == "present"}


def _steps(
    then: RenderedConversation,
    now: RenderedConversation,
    kinds: dict[str, ChangeKind],
    both: Collection[str],
) -> Iterator[Step]:
    same = 0
    number = 0
    for index, unit in enumerate(now.teller.units):
        kind = _kind(unit.messages, kinds)
        if kind is None:
            # What was gone at both moments is none of their business.
            same += sum(message in both for message in unit.messages)
            continue
        if same:
            yield Step(None, same)
            same = 0
        number += 1
        # What will not be told need not be rendered.
        html = Markup() if number > MOST else _told(then, now, index, kinds)
        yield Step(kind, len(unit.messages), html, now.name(index))
    if same:
        yield Step(None, same)


def _kind(messages: Sequence[str], kinds: dict[str, ChangeKind]) -> ChangeKind | None:
    """The unit's own message decides; one whose result came later has changed."""
    found = [kinds[message] for message in messages if message in kinds]
    if not found:
        return None
    return found[0] if len(found) == len(messages) or messages[0] in kinds else "changed"


def _told(
    then: RenderedConversation, now: RenderedConversation, index: int, kinds: dict[str, ChangeKind]
) -> Markup:
    unit = now.teller.units[index]
    block = Markup(now.teller.render(index))
    if kinds.get(unit.id) != "changed":
        return block
    old, new = (_words(each, unit.id) for each in (then, now))
    if old == new:
        return block
    page = Page(now.look, f"v{index}", unit.id)
    return diff([TextChange(old, new)], page).shown


def _words(ready: RenderedConversation, id: str) -> str:
    return next((plain_text(m) for m in ready.story.messages if m.id == id), "")
