"""A conversation as one HTML document that stands alone: no script, nothing fetched, nothing linked.

Its own policy allows this very style and pictures inside the document, nothing else.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING

from jinja2 import Environment

from rireki.show.html.about import about, title
from rireki.show.html.markup import Markup, anchor, tag
from rireki.show.html.page import RenderOptions, say
from rireki.show.html.render import TranscriptRenderer
from rireki.show.transcript import Transcript

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["export_html"]


def export_html(story: Transcript, look: RenderOptions, full: bool = False) -> Iterator[str]:
    """The pieces of the document; `full` cuts nothing. Of the look only language and bytes count."""
    look = RenderOptions(
        locale=look.locale, attachment_bytes=look.attachment_bytes, full=full, copy=False
    )
    teller = TranscriptRenderer(story, look)
    # How a conversation looks anywhere, and what a document that stands alone adds to it.
    style = _resource("talk.css") + _resource("export.css")
    yield from _template().generate(
        locale=look.locale,
        policy=_policy(style),
        style=Markup(style),
        title=title(story.conversation, look),
        about=about(story.conversation, look),
        outline_title=say(look.locale, "What you asked"),
        outline=[(anchor(message), words) for message, words in teller.outline()],
        blocks=_blocks(teller, look),
        orphans=Markup(teller.orphans()),
    )
    yield "\n"


@cache
def _resource(name: str) -> str:
    return files("rireki.show.html").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str) -> str:
    digest = base64.b64encode(sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _blocks(teller: TranscriptRenderer, look: RenderOptions) -> Iterator[Markup]:
    """The blocks in order; a branch that was left stands folded where it was left."""
    for branch, indices in groupby(range(len(teller.units)), teller.branch):
        blocks = [Markup(teller.render(index)) for index in indices]
        if branch is None:
            yield from blocks
        else:
            words = say(look.locale, "A branch you left")
            head = tag("summary", f"{words} ({len(blocks):,})")
            yield tag("details", head, *blocks, class_="branch")


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_resource("export.html.jinja"))
