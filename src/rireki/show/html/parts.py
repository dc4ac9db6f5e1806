"""The parts of a message as HTML, except calls and results, which are told together."""

from __future__ import annotations

import base64

from rireki.model.parts import Attachment, Notice, Part, Text, Thinking, Unknown
from rireki.show.html.calls import raw_value
from rireki.show.html.markup import EMPTY, Markup, tag, void
from rireki.show.html.page import Page
from rireki.show.html.prose import plain, prose
from rireki.show.html.shapes import terminal
from rireki.show.html.terminal import is_coloured
from rireki.show.safe import one_line
from rireki.show.width import truncate
from rireki.show.words import size

__all__ = ["picture", "render_part"]

#: What a browser may show as a picture; an SVG is a program.
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
#: Larger pictures are not put into a document.
_LARGEST = 2_000_000


def render_part(part: Part, page: Page, spoken: bool = True) -> Markup:
    """`spoken` words are Markdown; others, such as a file a program put in, stay as they are."""
    if isinstance(part, Text):
        return _words(part.text, page, spoken)
    if isinstance(part, Thinking):
        return _thinking(part, page)
    if isinstance(part, Notice):
        shown = page.cut(page.say_reading(part.text))
        said = tag("p", shown.text, class_=f"notice {part.level}", role="note")
        return said + page.more(shown)
    if isinstance(part, Attachment):
        return picture(part, page)
    if isinstance(part, Unknown):
        head = tag("summary", one_line(part.what))
        return tag("details", head, raw_value(part.raw, page), class_="unknown")
    return EMPTY


def _words(words: str, page: Page, spoken: bool) -> Markup:
    if not words.strip():
        return EMPTY
    if is_coloured(words):
        return terminal(words, page)
    if spoken:
        return _prose(words, page)
    shown = page.cut(words.strip("\n"))
    return plain(shown.text) + page.more(shown)


def _prose(words: str, page: Page) -> Markup:
    """What was said is cut only where it is beyond all reading."""
    shown = page.cut(words, lines=len(words))
    return prose(shown.text, page) + page.more(shown)


def _thinking(part: Thinking, page: Page) -> Markup:
    if not part.text.strip():
        return EMPTY
    first = tag("span", truncate(one_line(part.text[:400]), 100), class_="subject")
    head = tag("summary", tag("span", page.say("Thinking"), class_="kind"), " ", first)
    return tag("details", head, _prose(part.text, page), class_="thinking")


def picture(part: Attachment, page: Page) -> Markup:
    """A picture where there is an address or the bytes for it; else what it is."""
    is_picture = part.media_type in _PICTURES
    name = one_line(part.name) or page.say("image" if is_picture else "attachment")
    facts = [part.media_type, size(part.size) if part.size else ""]
    about = tag("span", " · ".join(one_line(fact) for fact in facts if fact), class_="about")
    url = page.look.attachment_url(part) if page.look.attachment_url else None
    if is_picture and (source := url or _embedded(part, page)):
        shown = void("img", src=source, alt=name, loading="lazy")
        shown = tag("a", shown, href=url) if url else shown
        return tag("figure", shown, tag("figcaption", name, " ", about), class_="attachment")
    told = tag("a", name, href=url) if url else tag("span", name, class_="name")
    return tag("p", told, " ", about, class_="attachment")


def _embedded(part: Attachment, page: Page) -> str | None:
    if page.look.attachment_bytes is None or (part.size > _LARGEST and not page.look.full):
        return None
    data = page.look.attachment_bytes(part)
    if not data:
        return None
    return f"data:{part.media_type};base64,{base64.b64encode(data).decode()}"
