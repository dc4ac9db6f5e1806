"""What an agent wants to do, told exactly: the command, the change, the plan, every argument.

Nothing is cut: whoever allows something has to have seen all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rireki.drive.values import Ask
from rireki.show.html.calls import raw_value
from rireki.show.html.code import code_block
from rireki.show.html.diff import TextChange, diff
from rireki.show.html.markup import Markup, anchor, join, tag
from rireki.show.html.page import Page, RenderOptions
from rireki.show.html.prose import prose
from rireki.show.html.shapes import asked
from rireki.web.locale.words import say

__all__ = ["tell_ask"]


def tell_ask(ask: Ask, locale: str) -> Markup:
    """The part of a card that says what would be done."""
    page = Page(RenderOptions(locale=locale, full=True), anchor(ask.id, "ask"), ask.id, level=3)
    return join(_told(ask, page, locale))


def _told(ask: Ask, page: Page, locale: str) -> Iterator[Markup]:
    if ask.what == "plan" and ask.detail:
        yield tag("div", prose(ask.detail, page), class_="plan")
        return
    if ask.diffs:
        yield from (_changed(change, page) for change in ask.diffs)
    shape = None
    if isinstance(ask.arguments, Mapping):
        shape = asked(ask.arguments, [], page)
        if shape is not None and not ask.diffs:
            yield shape.body
    if ask.arguments and ask.what == "permission":
        inside = tag("div", raw_value(ask.arguments, page), class_="inside")
        summary = tag("summary", say(locale, "Every argument"))
        # Where no form is known for it, this is all there is to see.
        bare = shape is None and not ask.diffs
        yield tag("details", summary, inside, class_="call", open=bare)
    if ask.detail and not ask.diffs and shape is None:
        yield code_block(ask.detail, "", page)


def _changed(change: Mapping[str, Any], page: Page) -> Markup:
    old, new = change.get("old") or "", change.get("new") or ""
    return diff([TextChange(str(old), str(new), str(change.get("path") or ""))], page).shown
