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
from typing import TYPE_CHECKING, NamedTuple

from jinja2 import Environment

from rireki import __version__
from rireki.model.conversation import Conversation
from rireki.show import times
from rireki.show.heading import RELATIONS
from rireki.show.html.markup import EMPTY, Markup, anchor, join, tag
from rireki.show.html.page import Page, RenderOptions, say
from rireki.show.html.render import TranscriptRenderer
from rireki.show.safe import one_line, one_line_for_browsers
from rireki.show.transcript import Transcript
from rireki.show.words import source_name

if TYPE_CHECKING:
    from jinja2 import Template

    from rireki.show.formats import FormatOptions

__all__ = ["Seal", "about", "export_html", "seal_words", "title", "write", "write_sealed"]


def write(transcript: Transcript, options: FormatOptions) -> Iterator[str]:
    """With its pictures inside, so that it can be kept and sent as one file."""
    return write_sealed(transcript, options, None)


def write_sealed(
    transcript: Transcript, options: FormatOptions, seal: Seal | None
) -> Iterator[str]:
    """The same with what it says of itself, for other people."""
    look = RenderOptions(locale=options.locale, attachment_bytes=options.attachment_bytes)
    return export_html(transcript, look, options.full, seal)


class Seal(NamedTuple):
    """What a document that is shared says of itself, and the values that can be read back from it."""

    digest: str
    words: str
    content: str
    #: Stands where the digest of the whole document comes, which is known once it is written.
    page: str = "0" * 64


def seal_words(locale: str, when: str, then: str, masked: int, digest: str) -> str:
    """Which version of a conversation was shared, when, by which rireki, and what was left in."""
    told = [
        say(
            locale,
            "Shared on {when} with rireki {version}, as it stood on {then}.",
            when=when,
            version=__version__,
            then=then,
        ),
        say(locale, "Secrets masked: {n}.", n=f"{masked:,}"),
        say(locale, "What was left in has the SHA-256 {digest}.", digest=digest),
    ]
    return " ".join(told)


def export_html(
    story: Transcript, look: RenderOptions, full: bool = False, seal: Seal | None = None
) -> Iterator[str]:
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
        seal=seal,
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


# ── What stands above the conversation ──


def title(conversation: Conversation, look: RenderOptions) -> str:
    page = Page(look, "", "")
    return one_line_for_browsers(conversation.title) or page.say("(no title)")


def about(conversation: Conversation, look: RenderOptions) -> Markup:
    """The heading of a document about one conversation."""
    page = Page(look, "", "")
    return tag(
        "header",
        tag("h1", title(conversation, look)),
        tag("p", join(_facts(conversation, page), " · "), class_="facts"),
        tag("p", tag("code", one_line(conversation.id)), class_="id"),
        *(tag("p", said, class_="fate") for said in _fate(conversation, page)),
        *_relations(conversation, page),
        _troubles(conversation, page),
        class_="about-talk",
    )


def _facts(conversation: Conversation, page: Page) -> Iterator[str]:
    yield page.say(source_name(one_line(conversation.source)))
    if conversation.project:
        yield tag("span", one_line(conversation.project), class_="project")
    told = times.span(conversation.started_at, conversation.updated_at)
    yield page.say("seen {when}", when=told) if conversation.times_from == "rireki" else told
    yield page.count(conversation.turns, "1 turn", "{n} turns")
    yield page.count(conversation.messages, "1 message", "{n} messages")
    if conversation.tool_calls:
        yield page.count(conversation.tool_calls, "1 tool call", "{n} tool calls")
    if conversation.calls_without_result:
        yield page.say("{n} without result", n=f"{conversation.calls_without_result:,}")
    if conversation.unfinished:
        yield page.say("unfinished")
    yield from map(one_line, conversation.models)


def _fate(conversation: Conversation, page: Page) -> Iterator[str]:
    """What the source did to it."""
    source = page.say(source_name(one_line(conversation.source)))
    if conversation.nature == "prompts":
        yield page.say(
            "Only what you typed survived: the transcript was gone before rireki saw it."
        )
    if conversation.times_from == "rireki":
        words = "{source} noted no times for it; these are of when rireki saw it."
        yield page.say(words, source=source)
    if conversation.upstream == "gone":
        yield page.say("{source} no longer has this conversation.", source=source)
    elif conversation.upstream == "changed":
        words = "{source} no longer has all of it; what is gone there is marked."
        yield page.say(words, source=source)


def _relations(conversation: Conversation, page: Page) -> Iterator[Markup]:
    """Its ties to others, except the sub-agents it started: those are told where they started."""
    for link in conversation.links:
        if name := RELATIONS.get((link.kind, link.side)):
            url = page.look.conversation_url(link.id) if page.look.conversation_url else None
            other = one_line(link.id)
            shown = tag("a", other, href=url) if url else tag("code", other)
            yield tag("p", page.say(name), " ", shown, class_="relation")


def _troubles(conversation: Conversation, page: Page) -> Markup:
    if not conversation.troubles:
        return EMPTY
    told = [
        tag(
            "li",
            tag("code", one_line(trouble.place)),
            " ",
            one_line(trouble.message),
            " ",
            one_line(trouble.hint),
        )
        for trouble in conversation.troubles
    ]
    head = tag("summary", f"{page.say('Could not be read')} ({len(told):,})")
    return tag("details", head, tag("ul", *told), class_="troubles")
