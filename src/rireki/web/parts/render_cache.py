"""Conversations ready to be told: which units there are, in which turn and on which branch.

Making one renders nothing; each unit is rendered when it is first asked for, and kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from datetime import datetime, timezone
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from rireki.errors import NotFound, RirekiError
from rireki.home import Home
from rireki.model.message import Message
from rireki.model.prices import Prices
from rireki.search.text.documents import docs_of
from rireki.show.edits import ChangedFile, changed_files
from rireki.show.html.page import RenderOptions
from rireki.show.html.render import TranscriptRenderer, Unit
from rireki.show.money import prices, shows_money
from rireki.show.safe import safe, safe_for_browsers
from rireki.show.spent import running_turns, spent_by_answers
from rireki.show.transcript import Transcript, choose, is_over
from rireki.web.archive_reader import OpenConversation, Recent
from rireki.web.locale.words import counted, locale_of, say
from rireki.web.pages.drive import begun_conversation
from rireki.web.parts import urls
from rireki.web.parts.frame import archive_reader_of
from rireki.web.scope import scope_of

if TYPE_CHECKING:
    from rireki.masking import Masker

__all__ = ["Branch", "OutlinePrompt", "RenderedConversation", "masker_of", "story_of", "told_of"]

#: Conversations that are kept ready, and rendered units of each.
KEPT, RENDERED = 16, 400
#: Characters of a message that are shown whole where a search led to it.
BEARABLE = 1_000_000

_UNIT = Markup(
    '<div class="unit{kind}" data-unit="{id}" data-index="{index}" data-turn="{turn}"{branch}{anchor}>'
    "{before}{html}{note}{tools}</div>\n"
)
_TOOLS = Markup(
    '<div class="unit-tools"><button type="button" class="copy-text">{copy}</button>'
    '<button type="button" class="copy-link" data-url="{url}">{link}</button>'
    '{note}<a class="raw" href="{raw}">{records}</a></div>'
)
_NOTE = Markup('<a class="add-note" href="{url}" data-dialog="curate">{words}</a>')


class Branch(NamedTuple):
    """A way the person left: the unit it begins with, and how many units it has."""

    id: str
    units: int


class OutlinePrompt(NamedTuple):
    """A line of the outline."""

    id: str
    words: str
    #: The unit that tells it.
    place: int
    turn: int


class RenderedConversation:
    """One conversation, in one language, with or without what is usually hidden."""

    def __init__(
        self,
        talk: OpenConversation,
        story: Transcript,
        look: RenderOptions,
        lost: frozenset[str],
        own: bool,
    ) -> None:
        self.talk = talk
        #: Whether whoever reads it may add to it.
        self.own = own
        self.story = story
        self.look = look
        self.locale = look.locale
        self.teller = TranscriptRenderer(story, look)
        #: Messages that the source held then and does not hold now.
        self.lost = lost
        messages = {message.id: message for message in story.messages}
        units = [messages[unit.id] for unit in self.teller.units]
        self.turns = running_turns(units)
        self.branches = _branches(self.teller)
        self._rendered: Recent[int, Markup] = Recent(RENDERED)
        self._changed: list[ChangedFile] | None = None

    def __len__(self) -> int:
        return len(self.teller.units)

    def name(self, index: int) -> str:
        """The unit's id as pages and scripts spell it."""
        return safe(self.teller.units[index].id)

    def place(self, message: str, hint: int | None = None) -> int | None:
        """Where a message is told; a beginning of its id is enough.

        The hint tells apart units whose source gave them one id.
        """
        if hint is not None and hint < len(self) and self.name(hint) == message:
            return hint
        found = self.teller.place(message)
        if found is None and message:
            fitting = (m.id for m in self.story.messages if m.id.startswith(message))
            whole = next(fitting, None)
            found = None if whole is None else self.teller.place(whole)
        return found

    def messages_with(self, message: str) -> Sequence[str]:
        """This message and those told in the same unit."""
        index = self.teller.place(message)
        return [message] if index is None else self.teller.units[index].messages

    def outline(self, among: Container[int] | None = None) -> list[OutlinePrompt]:
        prompts = []
        for id, words in self.teller.outline(among):
            index = self.teller.place(id)
            if index is not None:
                prompts.append(OutlinePrompt(id, words, index, self.turns[index]))
        return prompts

    def orphans(self) -> Markup:
        """Sub-agents that no call told here has started."""
        return Markup(self.teller.orphans())

    def changed(self) -> list[ChangedFile]:
        """The files it changed."""
        if self._changed is None:
            self._changed = changed_files(self.talk.messages, self.talk.conversation.project)
        return self._changed

    def render(self, index: int) -> Markup:
        return self._rendered.get(index, lambda: self._wrapped(index))

    def opened(self, index: int, whole: bool = False) -> Markup:
        """The unit that a page is opened at: an address finds it without scripts, too.

        `whole` leaves nothing out of it that a page can bear.
        """
        whole = whole and self._length(index) <= BEARABLE
        return self._wrapped(index, opened=True, whole=whole)

    def _length(self, index: int) -> int:
        among = set(self.teller.units[index].messages)
        docs = docs_of(message for message in self.story.messages if message.id in among)
        return sum(len(text) for doc in docs for _, text in doc.parts)

    def _wrapped(self, index: int, opened: bool = False, whole: bool = False) -> Markup:
        teller = (
            TranscriptRenderer(self.story, self.look._replace(full=True)) if whole else self.teller
        )
        unit = self.teller.units[index]
        branch = self.branches[index]
        lost = any(message in self.lost for message in unit.messages)
        before = Markup()
        if branch and branch.id == self.name(index):
            words = counted(self.locale, branch.units, "message")
            before += Markup(
                '<button type="button" class="branch-switch" data-switch="{}" '
                'aria-expanded="false">{} · {}</button>'
            ).format(branch.id, say(self.locale, "A branch you left"), words)
        if lost:
            words = say(self.locale, "The source lost this later")
            before += Markup('<p class="lost-note">{}</p>').format(words)
        return _UNIT.format(
            kind=" lost" * lost + " opened" * opened,
            anchor=Markup(' id="opened"') if opened else "",
            id=self.name(index),
            index=index,
            turn=self.turns[index],
            branch=Markup(' data-branch="{}"').format(branch.id) if branch else "",
            before=before,
            html=Markup(teller.render(index)),
            note=self._note(unit),
            tools=self._tools(unit),
        )

    def _tools(self, unit: Unit) -> Markup:
        """What can be done with a message: copy it, link to it, see what its agent wrote."""
        id = self.talk.conversation.id
        return _TOOLS.format(
            copy=say(self.locale, "Copy"),
            url=urls.message_url(id, unit.id),
            link=say(self.locale, "Link"),
            note=_NOTE.format(
                url=urls.curate_url(id, message=unit.id), words=say(self.locale, "Note")
            )
            if self.own
            else "",
            raw=urls.raw_url(id, unit.messages),
            records=say(self.locale, "Raw"),
        )

    def _note(self, unit: Unit) -> Markup:
        """What the person noted on a message, and on what is told inside it."""
        notes = [self.talk.notes[id] for id in unit.messages if id in self.talk.notes]
        return Markup("").join(
            Markup('<aside class="note" aria-label="{}">{}</aside>').format(
                say(self.locale, "Your note"), safe_for_browsers(note)
            )
            for note in notes
        )


async def told_of(
    request: Request,
    id: str,
    everything: bool = False,
    as_of: str | None = None,
    mask: bool = False,
) -> RenderedConversation:
    """The conversation as it is, or as it was at a time. Raises NotFound or Ambiguous."""
    talk = await _talk(request, id, as_of)
    now = await archive_reader_of(request).talk(id) if as_of else talk
    locale = locale_of(request)
    over = is_over(talk.conversation, datetime.now(timezone.utc))
    about = (talk.conversation.id, talk.changed, as_of, everything, over, mask)
    # By who reads it as well: what one may see is not what another may.
    name = (archive_reader_of(request), archive_reader_of(request).path, locale, *about)
    lately = _rendered_lately(request)
    known = lately.known(name)
    if known is not None:
        return known
    masker = masker_of(request) if mask else None
    own = not scope_of(request).person
    make = partial(_make, talk, now, locale, everything, as_of, masker, own)
    return await run_in_threadpool(lately.get, name, make)


async def _talk(request: Request, id: str, as_of: str | None) -> OpenConversation:
    try:
        return await archive_reader_of(request).talk(id, as_of)
    except NotFound:
        # One that was just begun from here has its page already.
        begun = begun_conversation(request, id)
        if begun is None:
            raise
        return begun


def _rendered_lately(request: Request) -> Recent[tuple[object, ...], RenderedConversation]:
    """Belongs to one app."""
    state = request.app.state
    if not hasattr(state, "rendered"):
        state.rendered = Recent(KEPT)
    rendered: Recent[tuple[object, ...], RenderedConversation] = state.rendered
    return rendered


def masker_of(request: Request) -> Masker:
    """Takes the secrets out of what is given away."""
    # Imported late: pages show their owner all there is, unless told otherwise.
    from rireki.masking import Masker

    return Masker.for_home(Home(archive_reader_of(request).path))


def _make(
    talk: OpenConversation,
    now: OpenConversation,
    locale: str,
    everything: bool,
    as_of: str | None,
    masker: Masker | None,
    own: bool,
) -> RenderedConversation:
    id = talk.conversation.id
    if masker is not None:
        talk = talk.masked(masker)
    look = RenderOptions(
        locale=locale,
        conversation_url=urls.conversation_url,
        message_url=partial(
            urls.message_url,
            id,
            as_of=as_of,
            all="1" if everything else None,
            mask="1" if masker else None,
        ),
        # What came back from a call is told with it, and has records of its own.
        raw_url=lambda message: urls.raw_url(id, told.messages_with(message)),
        attachment_url=lambda part: urls.attachment_url(id, part.digest) if part.digest else None,
        # Answers that came later are none of an earlier moment's.
        spent=None if as_of else spent_by_answers(talk.messages, talk.answers, _prices()),
    )
    lost = _lost(talk.messages, now.messages) if as_of else frozenset()
    told = RenderedConversation(talk, story_of(talk, everything, as_of), look, lost, own)
    return told


def _prices() -> Prices | None:
    """The page of the usage says what is wrong with prices of one's own."""
    try:
        return prices() if shows_money() else None
    except RirekiError:
        return None


def story_of(
    talk: OpenConversation, everything: bool = False, as_of: str | None = None
) -> Transcript:
    """What `rireki show` would tell of it."""
    children = [
        Transcript(child, [])
        for child in talk.children
        if not as_of or (child.started_at or "") <= as_of
    ]
    over = is_over(talk.conversation, datetime.now(timezone.utc))
    return Transcript(talk.conversation, choose(talk.messages, everything), children, over)


def _lost(then: Sequence[Message], now: Sequence[Message]) -> frozenset[str]:
    held = {message.id for message in now if message.upstream == "present"}
    return frozenset(m.id for m in then if m.upstream == "present" and m.id not in held)


def _branches(teller: TranscriptRenderer) -> list[Branch | None]:
    """The branch of each unit that stands on one the person left."""
    named = [teller.branch(index) for index in range(len(teller.units))]
    sizes = Counter(named)
    first: dict[str, str] = {}
    for name, unit in zip(named, teller.units, strict=True):
        if name is not None:
            first.setdefault(name, safe(unit.id))
    return [Branch(first[name], sizes[name]) if name is not None else None for name in named]
