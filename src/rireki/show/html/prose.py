"""Markdown as HTML that cannot do anything: no HTML inside, no remote picture, few kinds of links.

What is not allowed is shown as it was written. Knows no conversations.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from rireki.show.html.code import code_block
from rireki.show.html.markup import EMPTY, Markup, tag, text
from rireki.show.safe import safe_for_browsers

if TYPE_CHECKING:
    from markdown_it.token import Token

    from rireki.show.html.page import Page

__all__ = ["link", "plain", "prose"]

#: Longer texts are shown as they were written: to find their structure would take seconds.
_LARGEST = 60_000
_REL = "noopener noreferrer nofollow"
_ALLOWED = re.compile(r"https?://[^/\s]|mailto:[^\s]", re.IGNORECASE)
_URL = re.compile(r"https?://[^\s<>\"'`、。，．（）「」『』【】〈〉《》…]+", re.IGNORECASE)
# Only a text with one of these can be anything but paragraphs.
_MARKS = re.compile(
    r"[*_`#\[\]<>|~\\!]|^\s{0,3}(?:[-+=]|\d+[.)])|^(?: {4}|\t)|://| {2}\n", re.MULTILINE
)


def prose(words: str, page: Page) -> Markup:
    """A text as paragraphs, lists, tables and code; its line breaks stay."""
    words = safe_for_browsers(words).strip("\n")
    if not words.strip():
        return EMPTY
    if not _MARKS.search(words):
        return tag("div", _paragraphs(words), class_="prose")
    if len(words) > _LARGEST:
        return plain(words)
    try:
        return tag("div", _rendered(words, page), class_="prose")
    except Exception:  # noqa: BLE001 - what a parser stumbles over is shown as it was written
        return plain(words)


def plain(words: str) -> Markup:
    """A text as it was written."""
    return tag("div", words, class_="plain")


def link(url: str, words: str) -> Markup:
    """A link, or the words alone where the address is not one to follow."""
    return tag("a", words, href=url, rel=_REL) if _ALLOWED.match(url) else text(words)


def _paragraphs(words: str) -> Markup:
    """What Markdown would make of a text without any mark, many times faster."""
    lines = re.split(r"\n[ \t]*\n\s*", words.strip())
    return EMPTY.join(
        tag("p", Markup("<br>\n").join(text(line.strip()) for line in paragraph.split("\n")))
        for paragraph in lines
    )


def _rendered(words: str, page: Page) -> Markup:
    parser = _parser()
    tokens = parser.parse(words, {})
    return _Writer(page, tokens).blocks()


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    parser.enable(["table", "strikethrough"])
    # Entities would bring back what `safe` made visible; they are shown as they were typed.
    parser.disable(["entity", "html_block", "html_inline"])
    # A link that is not allowed then stays the text it was.
    parser.validateLink = lambda url: _ALLOWED.match(url) is not None  # type: ignore[method-assign]
    return parser


_TAGS = {
    *("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote"),
    *("em", "strong", "s", "table", "thead", "tbody", "tr", "th", "td"),
}


class _Writer:
    """Writes the tokens of one text, each through the one door; an unknown one is told as text."""

    def __init__(self, page: Page, tokens: Sequence[Token]) -> None:
        self.page = page
        self.tokens = tokens
        levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open"]
        # The text's own headings stand right below the heading of its message.
        self.shift = page.level + 1 - min(levels, default=1)
        self.inside_link = 0

    def blocks(self) -> Markup:
        return EMPTY.join(self._block(token) for token in self.tokens)

    def _block(self, token: Token) -> Markup:
        if token.type == "inline":
            return EMPTY.join(self._inline(child) for child in token.children or [])
        if token.type in ("fence", "code_block"):
            language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
            return code_block(
                token.content.removesuffix("\n"), language.strip("{}.")[:40], self.page
            )
        if token.type == "hr":
            return Markup("<hr>")
        if token.hidden or token.tag not in _TAGS:
            return text(token.content)
        return self._tag(token)

    def _tag(self, token: Token) -> Markup:
        name = token.tag
        if token.type.startswith("heading"):
            name = f"h{min(max(int(name[1]) + self.shift, 1), 6)}"
        if token.nesting < 0:
            return Markup(f"</{name}>" + ("</div>" if name == "table" else ""))
        start = token.attrs.get("start")
        known = f' start="{start}"' if isinstance(start, int) and start != 1 else ""
        style = str(token.attrs.get("style", ""))
        for side in ("right", "center"):
            known += f' class="{side}"' if style.endswith(side) else ""
        return Markup(
            ('<div class="table" tabindex="0">' if name == "table" else "") + f"<{name}{known}>"
        )

    def _inline(self, token: Token) -> Markup:
        match token.type:
            case "text":
                return self._words(token.content)
            case "code_inline":
                return tag("code", token.content)
            case "softbreak" | "hardbreak":
                return Markup("<br>\n")
            case "image":
                return self._image(token)
            case "link_open":
                self.inside_link += 1
                href = text(str(token.attrs.get("href", "")))
                return Markup(f'<a href="{href}" rel="{_REL}">')
            case "link_close":
                self.inside_link -= 1
                return Markup("</a>")
        return self._tag(token) if token.tag in _TAGS else text(token.content)

    def _image(self, token: Token) -> Markup:
        """A picture elsewhere is not fetched: that would tell its owner who reads this."""
        url = str(token.attrs.get("src", ""))
        words = f"{self.page.say('image')}: {token.content} ({url})"
        return text(words) if self.inside_link else link(url, words)

    def _words(self, words: str) -> Markup:
        """Words in which an address is a link."""
        if self.inside_link or "://" not in words:
            return text(words)
        told, at = [], 0
        for found in _URL.finditer(words):
            url = _trimmed(found[0])
            told += [text(words[at : found.start()]), link(url, url)]
            at = found.start() + len(url)
        return EMPTY.join([*told, text(words[at:])])


def _trimmed(url: str) -> str:
    """An address without the punctuation of the sentence it stands in."""
    url = url.rstrip(".,:;!?*_~|\\")
    while url.endswith((")", "]")) and url.count(url[-1]) > url.count("(["[")]".index(url[-1])]):
        url = url[:-1].rstrip(".,:;!?")
    return url
