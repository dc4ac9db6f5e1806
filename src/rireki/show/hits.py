"""What a search found: conversations with the lines that match, for a terminal and as HTML.

Everything that comes out of a transcript is cleaned piece by piece between its
marks, so that a mark stays on its words. Knows neither the search nor who asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from html import escape
from typing import NamedTuple

from rireki.model.conversation import Conversation
from rireki.search.results import ConversationHits, Hit, Neighbour, Results, Snippet
from rireki.show import times
from rireki.show.catalogue import say
from rireki.show.safe import PLAIN, Style, one_line
from rireki.show.transcript import short_message
from rireki.show.width import (
    Marked,
    around,
    marked,
    moved,
    pad,
    painted,
    truncate,
    width,
    wrap,
    wrapped,
)
from rireki.show.words import AUTHORS, count, folder

__all__ = [
    "HitsView",
    "counted",
    "html_results",
    "is_gone",
    "notes",
    "nothing",
    "quoted",
    "render_results",
    "who",
]


#: From this width on there is room for the project beside the title; below that one for little.
ROOMY, NARROW = 110, 60
#: At least so much of who said it is told.
SHORTEST_NAME = 8
#: Columns of a neighbour's text that are told.
NEIGHBOUR = 200
#: What a hit stands in, where the author does not tell it.
_PLACES = {"thinking": "thinking", "attachment": "attachment", "notice": "notice"}


# ── Small things ──


def quoted(snippet: Snippet) -> Marked:
    """A snippet, with an ellipsis where it is cut."""
    line = marked(snippet.text, snippet.marks)
    before, after = "…" * snippet.cut_before, "…" * snippet.cut_after
    return moved(Marked(before + line.text.rstrip() + after, line.marks), len(before))


def who(hit: Hit) -> str:
    """Who said it, and with which tool; or what of the conversation it is."""
    if hit.author is None:
        return say(hit.where)
    tools = f" ▸ {', '.join(hit.tools)}" if hit.tools else ""
    place = f" · {say(_PLACES[hit.where])}" if hit.where in _PLACES else ""
    return one_line(say(AUTHORS[hit.author]) + tools + place)


def counted(results: Results) -> str:
    """How much was found, and how fast."""
    messages = count(results.messages, "message")
    talks = count(results.conversations, "conversation")
    if not results.exact:
        messages = f"at least {messages}"
    elif results.more_conversations:
        talks = f"more than {talks}"
    return say(f"{messages} in {talks}, {results.milliseconds:,.0f} ms")


def notes(results: Results) -> list[str]:
    """What has to be known about an answer besides the answer."""
    apart = say("no message has all of it; these conversations have it in different messages")
    hidden = left_out(results.scope.hidden)
    return [note for note in (apart if results.apart else "", hidden, results.scope.slower) if note]


def left_out(hidden: int) -> str:
    """That what a person hid was not looked at; nothing where nothing is hidden."""
    return say(f"left out: {count(hidden, 'hidden conversation')}") if hidden else ""


def nothing(results: Results) -> Iterator[str]:
    """That nothing was found, where it was looked for, and what may have been meant."""
    scope = results.scope
    if not scope.conversations:
        yield say("The archive is empty. Run 'rireki import' to take in what is on this machine.")
        return
    yield say(f"nothing found for {one_line(results.query)}")
    if results.near:
        yield say(f"Did you mean: {', '.join(map(one_line, results.near))}")
    until = f", up to {times.moment(scope.until)}" if scope.until else ""
    yield say(f"searched {count(scope.conversations, 'conversation')}{until}")


def is_gone(hit: Hit, talk: ConversationHits) -> bool:
    """Whether it has to be said: of a whole conversation that is gone it is said once."""
    return hit.upstream == "gone" and talk.conversation.upstream != "gone"


# ── For the terminal ──


class HitsView(NamedTuple):
    """On what to tell it, and how `list` calls and marks a conversation."""

    now: datetime
    columns: int = 80
    style: Style = PLAIN
    #: What to type for an id.
    names: Mapping[str, str] = {}
    #: One sign for what became of a conversation.
    sign: Callable[[Conversation], str] = lambda _: " "

    def match(self, text: str) -> str:
        return self.style.bold(self.style.yellow(text))


def render_results(results: Results, view: HitsView) -> Iterator[str]:
    """Every conversation with its hits, an empty line between two."""
    teller = _Teller(results, view)
    for place, talk in enumerate(results.talks):
        if place:
            yield ""
        yield from teller.talk(talk)


class _Teller:
    """Knows how wide each column of the headings is."""

    def __init__(self, results: Results, view: HitsView) -> None:
        self.view = view
        self.style = view.style
        about = [talk.conversation for talk in results.talks]
        self.ids = max((width(self._name(c)) for c in about), default=2)
        sources = max((width(one_line(c.source)) for c in about), default=0)
        self.sources = sources if view.columns >= NARROW else 0
        homes = max((width(folder(c.project)) for c in about), default=0)
        self.home = min(homes, 16) if view.columns >= ROOMY else 0

    def talk(self, talk: ConversationHits) -> Iterator[str]:
        title, whole = self._title(talk)
        yield f"{self._facts(talk.conversation)}  {title}"
        # The heading has the title already.
        hits = [hit for hit in talk.hits if not (hit.where == "title" and whole)]
        for place, hit in enumerate(hits):
            if place and (hit.before or hits[place - 1].after):
                yield ""
            yield from self._hit(hit, talk)
        told = sum(hit.message is not None for hit in talk.hits)
        if talk.total is not None and talk.total > told:
            yield self.style.dim(say(f"  … {count(talk.total - told, 'more message')}"))

    def _name(self, conversation: Conversation) -> str:
        return one_line(self.view.names.get(conversation.id, conversation.id))

    def _facts(self, about: Conversation) -> str:
        words = [
            self.style.cyan(pad(self._name(about), self.ids)),
            pad(times.ago(about.updated_at, self.view.now), 10, right=True),
        ]
        if self.sources:
            words.append(self.style.dim(pad(one_line(about.source), self.sources)))
        if self.home:
            words.append(self.style.dim(pad(folder(about.project), self.home)))
        return "  ".join(words)

    def _title(self, talk: ConversationHits) -> tuple[str, bool]:
        """The title with its signs, and whether there was room for all of it."""
        about = talk.conversation
        signs = f"{self.view.sign(about)} {'↳ ' if about.nature == 'subagent' else ''}"
        columns = [self.ids, 10, *filter(None, [self.sources, self.home])]
        taken = sum(columns) + 2 * len(columns)
        room = max(self.view.columns - taken - width(signs), 10)
        title = marked(about.title, talk.title_marks)
        shown = around(title if title.text else Marked(say("(no title)")), room)
        rest = self.style.dim if about.upstream == "gone" else str
        told = painted(shown, self.view.match, rest)
        return self.style.yellow(signs) + told, shown == title

    def _hit(self, hit: Hit, talk: ConversationHits) -> Iterator[str]:
        for neighbour in hit.before:
            yield from self._neighbour(neighbour)
        facts = [f"#{one_line(short_message(hit.message))}"] if hit.message else []
        room = self.view.columns - sum(width(fact) + 3 for fact in facts) - 4
        moment = times.moment(hit.at) if hit.author and hit.at else ""
        if moment and self.view.columns >= NARROW and room - width(moment) - 3 >= SHORTEST_NAME:
            facts.insert(0, moment)
            room -= width(moment) + 3
        paint = self.style.person if hit.author == "person" else self.style.cyan
        name = truncate(who(hit), max(room, SHORTEST_NAME))
        line = "".join(self.style.dim(" · ") + fact for fact in facts)
        gone = " " + self.style.yellow("✗") if is_gone(hit, talk) else ""
        yield f"  {paint(name)}{line}{gone}"
        for part in wrapped(quoted(hit.snippet), self.view.columns - 4):
            yield f"    {painted(part, self.view.match)}".rstrip()
        for neighbour in hit.after:
            yield from self._neighbour(neighbour)

    def _neighbour(self, neighbour: Neighbour) -> Iterator[str]:
        """In half a voice: it matters only for what stands beside it."""
        name = say(AUTHORS[neighbour.author])
        text = truncate(f"{name}: {one_line(neighbour.text)}", NEIGHBOUR)
        for line in wrap(text, self.view.columns - 4):
            yield "    " + self.style.dim(line)


# ── For a web page ──


def html_results(results: Results, link: Callable[[str, str | None], str]) -> str:
    """An HTML fragment; `link` knows where a conversation, or a message of it, is shown."""
    if not results.talks:
        said = "\n".join(f"<p>{escape(line)}</p>" for line in nothing(results))
        return f'<section class="results nothing">\n{said}\n</section>'
    talks = "\n".join(_html_conversation(talk, link) for talk in results.talks)
    return (
        f'<section class="results">\n<p class="count">{escape(counted(results))}</p>\n'
        f"{talks}\n</section>"
    )


def _html_conversation(talk: ConversationHits, link: Callable[[str, str | None], str]) -> str:
    about = talk.conversation
    title = marked(about.title, talk.title_marks)
    kinds = ["talk", about.upstream, *(["subagent"] if about.nature == "subagent" else [])]
    facts = [f'<span class="source">{escape(one_line(about.source))}</span>']
    if about.project:
        path = escape(one_line(about.project))
        facts.append(f'<span class="project" title="{path}">{escape(folder(about.project))}</span>')
    facts.append(_html_time(about.updated_at))
    facts += [say("no longer in the source")] if about.upstream == "gone" else []
    facts += [say("sub-agent")] if about.nature == "subagent" else []
    facts += [say("notes")] if about.nature == "notes" else []
    hits = "\n".join(_html_hit(hit, talk, link) for hit in talk.hits)
    return (
        f'<article class="{" ".join(kinds)}">\n'
        f'<h3><a href="{escape(link(about.id, None))}">'
        f"{_html_marked(title if title.text else Marked(say('(no title)')))}</a></h3>\n"
        f'<p class="about">{" · ".join(facts)}</p>\n'
        f"<ol>\n{hits}\n</ol>\n</article>"
    )


def _html_hit(hit: Hit, talk: ConversationHits, link: Callable[[str, str | None], str]) -> str:
    kinds = ["hit", hit.author or hit.where, *(["gone"] if hit.upstream == "gone" else [])]
    gone = f" · {say('no longer in the source')}" if is_gone(hit, talk) else ""
    before, after = ("".join(map(_html_neighbour, side)) for side in (hit.before, hit.after))
    return (
        f'<li class="{" ".join(kinds)}">{before}'
        f'<a href="{escape(link(talk.conversation.id, hit.message))}">'
        f'<span class="who">{escape(who(hit))}</span> {_html_time(hit.at)}</a>{gone}'
        f'<p class="snippet">{_html_marked(quoted(hit.snippet))}</p>{after}</li>'
    )


def _html_neighbour(neighbour: Neighbour) -> str:
    text = truncate(one_line(neighbour.text), NEIGHBOUR)
    return f'<p class="neighbour">{say(AUTHORS[neighbour.author])}: {escape(text)}</p>'


def _html_marked(line: Marked) -> str:
    return painted(line, lambda text: f"<mark>{escape(text)}</mark>", escape)


def _html_time(stamp: str | None) -> str:
    if stamp is None:
        return ""
    return f'<time datetime="{escape(stamp)}">{times.moment(stamp)}</time>'
