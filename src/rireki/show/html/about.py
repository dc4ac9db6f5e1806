"""What stands above a conversation: what it is, what became of it, what it is tied to."""

from __future__ import annotations

from collections.abc import Iterator

from rireki.model.conversation import Conversation
from rireki.show import times
from rireki.show.heading import RELATIONS
from rireki.show.html.markup import EMPTY, Markup, join, tag
from rireki.show.html.page import Page, RenderOptions
from rireki.show.safe import one_line, one_line_for_browsers
from rireki.show.words import source_name

__all__ = ["about", "title"]


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
