"""What a conversation made of a place in a file, as a diff from before its first edit to after its last."""

from __future__ import annotations

from rireki.show.edits import EditSpot
from rireki.show.html.diff import Diff, TextChange, diff
from rireki.show.html.page import Page, RenderOptions

__all__ = ["render_spot"]


def render_spot(spot: EditSpot, look: RenderOptions) -> Diff:
    page = Page(look, "", spot.messages[-1])
    return diff([TextChange(spot.before, spot.after)], page)
