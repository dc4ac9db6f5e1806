"""A story as blocks of HTML, one per message; what came back from a call stands under its call.

Making a `Teller` only counts and matches; a block is made when it is asked for.
"""

from __future__ import annotations

from collections.abc import Container

from rireki.show.html.block import MessageBlock
from rireki.show.html.index import Unit, index
from rireki.show.html.markup import EMPTY, Markup, join, tag
from rireki.show.html.page import Page, RenderOptions, say
from rireki.show.parts import gist
from rireki.show.safe import one_line
from rireki.show.transcript import Transcript
from rireki.show.width import truncate

__all__ = ["TranscriptRenderer", "Unit"]

#: Columns of a prompt's first words.
_FIRST_WORDS = 80
#: The lowest heading a story inside a story may begin with.
_DEEPEST = 5


class TranscriptRenderer:
    """Knows the blocks of a story and makes each on demand.

    `prefix` and `level` are for a story told inside another: its names and its headings.
    """

    def __init__(
        self, story: Transcript, look: RenderOptions, prefix: str = "m", level: int = 2
    ) -> None:
        self.story = story
        self.look = look
        self.prefix = prefix
        self.level = level
        self._index = index(story)
        self.units = [spot.unit for spot in self._index.spots]

    def place(self, message: str) -> int | None:
        """Which unit tells a message; None where it adds nothing to tell."""
        return self._index.places.get(message)

    def outline(self, among: Container[int] | None = None) -> list[tuple[str, str]]:
        """What the person typed: message and first words; of all units, or among some."""
        told, turn = [], None
        for place, message in enumerate(spot.message for spot in self._index.spots):
            begins = message.turn is not None and message.turn != turn
            turn = message.turn if message.turn is not None else turn
            if among is not None and place not in among:
                continue
            typed = message.display == "bubble" or (message.display == "chip" and begins)
            if message.author == "person" and typed and not message.abandoned:
                words = message.label if message.display == "chip" else None
                first = truncate(one_line(words or gist(message)), _FIRST_WORDS)
                told.append((message.id, first or say(self.look.locale, "(empty)")))
        return told

    def render(self, index: int) -> str:
        """The block of a unit."""
        spot = self._index.spots[index]
        page = Page(self.look, spot.anchor(self.prefix), spot.message.id, self.level)
        return MessageBlock(spot, self._index, page, self._child).article()

    def branch(self, index: int) -> str | None:
        """The branch a unit stands on, where the person left it: the id of its first message."""
        return self._index.spots[index].branch

    def orphans(self) -> str:
        """The sub-agents that were started by no call of this story."""
        children = self._index.children.get(None, [])
        if not children:
            return EMPTY
        page = Page(self.look, f"{self.prefix}-orphans", "", self.level)
        head = tag("p", page.say("Sub-agents started by no call told here"), class_="about")
        told = [self._child(child, number, page) for number, child in enumerate(children)]
        return tag("section", head, *told, class_="orphans")

    def _child(self, child: Transcript, number: int, page: Page) -> Markup:
        """A sub-agent: a link, and its own story folded where it was brought along."""
        about = child.conversation
        title = tag("span", one_line(about.title) or about.id, class_="title")
        url = self.look.conversation_url(about.id) if self.look.conversation_url else None
        head = [
            tag("span", page.say("Sub-agent"), class_="kind"),
            tag("a", title, href=url) if url else title,
            tag("span", page.count(about.messages, "1 message", "{n} messages"), class_="about"),
            tag(
                "span",
                page.count(about.tool_calls, "1 tool call", "{n} tool calls"),
                class_="about",
            ),
        ]
        line = join(head, " ")
        if not child.messages:
            return tag("p", line, class_="subagent")
        # The addresses of messages are those of this story, not of the one inside it.
        look = self.look._replace(message_url=None, raw_url=None, spent=None)
        prefix = f"s{number}-{page.anchor}"
        inner = TranscriptRenderer(child, look, prefix, min(self.level + 1, _DEEPEST))
        blocks = [Markup(inner.render(index)) for index in range(len(inner.units))]
        body = tag("div", *blocks, Markup(inner.orphans()), class_="inside")
        return tag("details", tag("summary", line), body, class_="subagent")
