"""One message as a block of HTML, in the form its display asks for.

Knows what stands before it only as far as it need not be said again.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import TypeAlias

from rireki.model.calls import Placed
from rireki.model.message import Message, Usage
from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from rireki.show import times
from rireki.show.html.calls import Came, raw_value, render_call, render_result
from rireki.show.html.index import TranscriptIndex, TranscriptSpot, goes_on, model_of, only_came
from rireki.show.html.markup import EMPTY, Markup, join, tag, void
from rireki.show.html.page import Page
from rireki.show.html.prose import plain, prose
from rireki.show.html.shapes import terminal
from rireki.show.html.terminal import is_coloured
from rireki.show.money import dollars
from rireki.show.parts import gist, part_text
from rireki.show.safe import one_line
from rireki.show.transcript import NEVER_ANSWERED, Transcript, error_in
from rireki.show.width import truncate
from rireki.show.words import NAMES, size

__all__ = ["MessageBlock", "TellChild", "picture", "render_part"]

#: How a sub-agent is told: its story, its number in the block, the block.
TellChild: TypeAlias = Callable[[Transcript, int, Page], Markup]

#: Columns of what stands on one line.
_LINE = 200


class MessageBlock:
    """Makes the block of one message."""

    def __init__(
        self, spot: TranscriptSpot, index: TranscriptIndex, page: Page, child: TellChild
    ) -> None:
        self.message = spot.message
        self.before = spot.before
        self.branch = spot.branch
        self.ends = spot.ends
        self.goes_on = goes_on(spot.message, spot.before)
        self.index = index
        self.page = page
        self.say = page.say
        self._child = child
        self._children = 0

    def article(self) -> Markup:
        message = self.message
        who = self.say(NAMES[message.author])
        kinds = ["message", message.display, message.author]
        kinds += ["gone"] if message.upstream == "gone" else []
        kinds += ["earlier"] if message.replaced_by is not None else []
        kinds += ["abandoned"] if message.abandoned else []
        kinds += ["failed"] if error_in(message) else []
        kinds += ["unanswered"] if message.id in self.index.unanswered else []
        kinds += ["again"] if self.goes_on else []
        return tag(
            "article",
            *self._content(),
            self._usage(),
            id=self.page.anchor,
            class_=" ".join(kinds),
            data_message=message.id,
            data_turn=message.turn,
            data_branch=self.branch,
            aria_label=self.say("{who}, {time}", who=who, time=times.moment(message.at))
            if message.at
            else who,
        )

    def _content(self) -> Iterator[Markup]:
        if error_in(self.message):
            yield self._error()
            return
        match self.message.display:
            case "bubble":
                yield self._header()
                yield tag("div", self._body() or self._nothing(), class_="body")
            case "chip":
                yield self._chip()
            case "divider":
                yield self._divider()
            case _:
                yield self._fold()

    # How each kind of message looks

    def _header(self) -> Markup:
        message = self.message
        if self.goes_on:
            return tag("header", self._time(), class_="quiet")
        model = model_of(message)
        model = model if model != self.before.model else None
        return tag(
            "header",
            tag(f"h{self.page.level}", self.say(NAMES[message.author]), class_="who"),
            self._label(message.label or ""),
            tag("span", truncate(one_line(model), _LINE), class_="model") if model else EMPTY,
            self._marks(),
            self._time(),
        )

    def _chip(self) -> Markup:
        words = one_line(self.message.label or gist(self.message))
        body, calls = self._behind(words, spoken=self.message.author == "person")
        return self._line(self._who(), self._label(words), body=body) + calls

    def _error(self) -> Markup:
        """Open, and in its own colour: why nothing came of a prompt is the first thing to be seen."""
        line = self._line(self._who(), self._label(self.message.label or ""), body=EMPTY)
        return line + tag("div", self._body(), class_="body")

    def _divider(self) -> Markup:
        words = one_line(self.message.label or gist(self.message))
        body, calls = self._behind(words)
        pieces = (self._label(words), self._marks(), self._time())
        rule = tag("div", join(filter(None, pieces), " "), class_="rule")
        if body:
            inside = tag("div", body, class_="inside")
            rule += tag("details", tag("summary", self.say("Summary")), inside)
        return rule + calls

    def _fold(self) -> Markup:
        hidden = self.message.display == "hidden"
        mark = tag("span", self.say("hidden"), class_="note") if hidden else EMPTY
        body = self._body(spoken=self.message.author in ("person", "agent"))
        return self._line(self._who(), self._label(self.message.label or ""), mark, body=body)

    def _line(self, *head: Markup, body: Markup) -> Markup:
        """One line; it opens where there is something behind it."""
        words, time = join(filter(None, (*head, self._marks())), " "), self._time()
        if not body:
            return tag("p", join(filter(None, (words, time)), " "), class_="line")
        fold = tag("details", tag("summary", words), tag("div", body, class_="inside"))
        # The link to the message stands beside what opens it: a button may not hold another.
        return tag("div", time, fold, class_="line")

    def _who(self) -> Markup:
        return tag("span", self.say(NAMES[self.message.author]), class_="who")

    def _label(self, words: str) -> Markup:
        if not words:
            return EMPTY
        words = one_line(words)
        told = self._in_words(words) if self.message.label else self.say(words)
        if told == words and self.message.label:
            # "refused: git push" is a word of ours about words of theirs.
            head, colon, rest = words.partition(": ")
            told = self._in_words(head) + colon + rest
        return tag("span", truncate(told, _LINE), class_="label")

    def _in_words(self, label: str) -> str:
        return self.say(self.page.say_reading(label))

    def _behind(self, label: str, spoken: bool = True) -> tuple[Markup, Markup]:
        """What the line does not say yet; and its calls, which are never folded away with it."""
        calls = [part for part in self.message.parts if isinstance(part, ToolCall)]
        rest = [
            part
            for part in self.message.parts
            if not isinstance(part, ToolCall) and one_line(part_text(part)) != label
        ]
        told = join(self._part(part, spoken) for part in rest)
        return told, join(self._part(call) for call in calls)

    # Parts

    def _body(self, spoken: bool = True) -> Markup:
        return join(self._part(part, spoken) for part in self.message.parts)

    def _part(self, part: Part, spoken: bool = True) -> Markup:
        if isinstance(part, ToolCall):
            return self._call(part)
        if isinstance(part, ToolResult):
            alone = (self.message.id, part.call_id) in self.index.results.alone
            return render_result(Came(part), self.page) if alone else EMPTY
        return render_part(part, self.page, spoken)

    def _call(self, call: ToolCall) -> Markup:
        key = (self.message.id, call.call_id)
        came = [self._came(placed) for placed in self.index.results.under.get(key, [])]
        children = []
        for child in self.index.children.get(key, []):
            children.append(self._child(child, self._children, self.page))
            self._children += 1
        finished = self.index.story.conversation.finished
        return render_call(call, came, join(children), self.page, finished)

    def _came(self, placed: Placed) -> Came:
        result, message = placed
        # Where the call is marked already, its result need not be.
        known = self._marks_of(self.message)
        marks = join(
            tag("p", mark, class_="mark") for mark in self._marks_of(message) if mark not in known
        )
        return Came(result, marks, join(self._pictures(placed)))

    def _pictures(self, placed: Placed) -> Iterator[Markup]:
        """Pictures that stand behind a result in its message came with it."""
        if not only_came(placed.message):
            return
        parts = placed.message.parts
        owner = next(part for part in parts if isinstance(part, ToolResult))
        for part in parts:
            if isinstance(part, ToolResult):
                owner = part
            elif isinstance(part, Attachment) and owner is placed.result:
                yield picture(part, self.page)

    # Small things

    def _nothing(self) -> Markup:
        return tag("p", self.say("(empty)"), class_="none")

    def _marks(self) -> Markup:
        return join((tag("span", m, class_="mark") for m in self._marks_of(self.message)), " ")

    def _marks_of(self, message: Message) -> list[str]:
        marks = []
        # Said once at the top, it need not be said again at every message.
        if message.upstream == "gone" and self.index.story.conversation.upstream != "gone":
            marks.append(self.say("no longer in the source"))
        if message.replaced_by is not None:
            marks.append(self.say("earlier version"))
        if message.abandoned:
            marks.append(self.say("on a branch you left"))
        if message.id in self.index.unanswered:
            marks.append(self.say(NEVER_ANSWERED))
        return marks

    def _time(self) -> Markup:
        """The minute, with the date on another day than before; it links to the message."""
        at = self.message.at
        if not at or not times.clock(at):
            return EMPTY
        same = times.day(at) == times.day(self.before.at)
        shown = tag("time", times.clock(at) if same else times.moment(at), datetime=at)
        told = self.page.look.message_url
        url = told(self.message.id) if told else f"#{self.page.anchor}"
        return tag("a", shown, href=url, class_="at", title=self.say("Link to this message"))

    def _usage(self) -> Markup:
        """What the turn that ends here took."""
        by_turn = self.page.look.spent
        by_turn = self.index.spent if by_turn is None else by_turn
        spent = by_turn.get(self.ends) if self.ends is not None else None
        if spent is None or spent.usage == Usage():
            return EMPTY
        usage = spent.usage
        many = "at least {n} tokens out" if usage.lower_bound else "{n} tokens out"
        out = self.say(many, n=f"{usage.output_tokens:,}")
        words = [self.say("{n} tokens in", n=f"{usage.input_tokens:,}"), out]
        if usage.cache_read_tokens:
            words.append(self.say("{n} from cache", n=f"{usage.cache_read_tokens:,}"))
        if usage.cache_write_tokens:
            words.append(self.say("{n} into cache", n=f"{usage.cache_write_tokens:,}"))
        told = [out] if spent.cost is None else [out, dollars(spent.cost, spent.least)]
        return tag("p", " · ".join(told), class_="usage", title=" · ".join(words))


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
