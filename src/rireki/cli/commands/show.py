"""`rireki show`: one conversation, told in full."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from rireki.cli.archive import conversation_argument, opened
from rireki.cli.options import archive_option, json_option, no_pager_option
from rireki.cli.output import StandardOutput, now, time_of
from rireki.cli.waiting import waiting_now
from rireki.export.documents import Document, DocumentReader, Wish
from rireki.late import LateModule
from rireki.model.providers import PROVIDERS
from rireki.show.catalogue import language, say
from rireki.show.formats import FORMATS, NATIVE
from rireki.show.safe import escaped, safe
from rireki.show.text import TextOptions, render_transcript
from rireki.show.transcript import Transcript, choose, mask_transcript, message_named
from rireki.sources import registry

if TYPE_CHECKING:
    from rireki import masking
    from rireki.archive.base import Archive, Found
    from rireki.masking import Masker
    from rireki.model.conversation import Reading
    from rireki.model.message import Message
    from rireki.show.text import TextBlock

else:
    masking = LateModule("rireki.masking")

__all__ = ["command", "open_at"]

#: Lines of a message that are sure to be seen with its first, and those to see before a hit.
_NEAR, _BEFORE = 10, 5
#: Places that are marked in one line.
_MARKED = 50


@click.command("show")
@conversation_argument
@click.option(
    "--all", "everything", is_flag=True, help="Also hidden messages and earlier versions."
)
@click.option("--upstream", is_flag=True, help="Only what the source still holds.")
@click.option("--as-of", metavar="TIME", help="As the source held it then: 3d, a date, a time.")
@click.option("--full", is_flag=True, help="Shorten nothing: whole results, arguments, summaries.")
@click.option("--nested", is_flag=True, help="Tell sub-agents where they were started.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", *FORMATS]),
    default="text",
    help="How to write it (text), or for which provider, to go on with another model.",
)
@click.option("--model", metavar="NAME", help="The model that a provider's form is for.")
@click.option("--find", "query", metavar="WORDS", help="Mark what a search finds in ID#MESSAGE.")
@click.option("--mask", is_flag=True, help="Without keys, tokens and passwords: marks instead.")
@click.option("--raw", is_flag=True, help="The very bytes the agent wrote; --all: every version.")
@no_pager_option
@json_option
@archive_option
def command(
    name: str,
    everything: bool,
    upstream: bool,
    as_of: str | None,
    full: bool,
    nested: bool,
    form: str,
    model: str | None,
    query: str | None,
    mask: bool,
    raw: bool,
    no_pager: bool,
    as_json: bool,
) -> None:
    """Tell a conversation from its beginning, with what its source no longer has.

    ID is any beginning of an id that means one conversation only. ID#MESSAGE
    opens at that message, with all that is usually folded away in it; a hidden
    one, or an earlier version, brings all others.

    \b
    Examples:
      rireki show 5471a680
      rireki show 5471a680 --as-of yesterday --full
      rireki show 5471a680 --format markdown > talk.md
      rireki show 5471a680 --format html --nested > talk.html
      rireki show 5471a680 --format openai --model gpt-5 > request.json
      rireki show 5471a680 --raw | head -1
    """
    screen = StandardOutput()
    name, _, place = name.partition("#")
    moment = time_of(as_of, end_of_day=True)
    form = "json" if as_json and form not in PROVIDERS else form
    wish = Wish(form, language(), moment, everything, upstream, full, nested, model, as_json, mask)
    with opened() as archive:
        found = archive.find(name)
        if raw or form == NATIVE:
            masker = masking.Masker.for_home(archive.home) if mask else None
            _raw(archive, found, moment, everything, screen.terminal, masker)
            return
        teller = _Reading(archive, wish)
        story = teller.story(found, place)
        if teller.masker is not None:
            story = mask_transcript(story, teller.masker)
        if form in FORMATS:
            # What others offer, and the bytes of attachments, may still be asked for.
            options = teller.options(_say_note)._replace(opened=teller.at)
            document = Document(form, story, options)
            if not screen.terminal:
                _write(document)
                return
            lines = "".join(document.pieces()).rstrip("\n").split("\n")
    if form in FORMATS:
        _page(form, lines, screen, not no_pager)
        return
    view = _view(story, screen, full, nested)._replace(opened=teller.at, find=_finder(query))
    _tell(story, screen, view, pager=not no_pager)


def open_at(name: str, query: str) -> None:
    """What the command shows of `ID` or `ID#MESSAGE`, in a pager that stays until it is closed."""
    name, _, place = name.partition("#")
    with opened() as archive:
        teller = _Reading(archive, Wish("text"))
        story = teller.story(archive.find(name), place)
    screen = StandardOutput()
    view = _view(story, screen)._replace(opened=teller.at, find=_finder(query))
    _tell(story, screen, view, pager=True, stay=True)


class _Reading(DocumentReader):
    """Also remembers the message that was meant."""

    def __init__(self, archive: Archive, wish: Wish) -> None:
        super().__init__(archive, wish)
        self._place: str | None = None
        #: The message that was meant.
        self.at: str | None = None

    def story(self, found: Found, place: str) -> Transcript:
        """The conversation; a `place` that is not usually told makes it tell everything."""
        self._place = place
        return self.read(found)

    def choose(self, reading: Reading) -> list[Message]:
        shown = super().choose(reading)
        place, self._place = self._place, None
        if place:
            known = choose(reading.messages(), True, self.upstream)
            ids = [message.id for message in [*shown, *known]]
            self.at = message_named(reading.conversation.id, ids, place)
            if all(message.id != self.at for message in shown):
                self.everything, shown = True, known
        return shown


def _write(document: Document) -> None:
    """In UTF-8, whatever the letters of this system are."""
    for piece in document.pieces():
        # Half a surrogate pair cannot be written.
        sys.stdout.buffer.write(piece.encode(errors="replace"))


def _page(form: str, lines: Sequence[str], screen: StandardOutput, pager: bool) -> None:
    """The lines of a document, for somebody who looks."""
    if FORMATS[form].for_programs:
        screen.say(map(escaped, lines))
    else:
        screen.page(map(escaped, lines) if FORMATS[form].for_models else lines, pager)


def _say_note(sentence: str) -> None:
    """What the format could not carry goes to standard error."""
    click.echo(say(sentence), err=True)


def _view(
    story: Transcript, screen: StandardOutput, full: bool = False, nested: bool = False
) -> TextOptions:
    waits = waiting_now().get(story.conversation.id)
    words = say(waits.words) if waits else ""
    words = f"{words}: {waits.detail}" if waits and waits.detail else words
    return TextOptions(screen.columns, screen.style, full, nested, words)


def _finder(query: str | None) -> Callable[[str], Sequence[tuple[int, int]]] | None:
    """Where the words of a query stand in a line."""
    if not query or not query.strip():
        return None
    # Imported late: the search engine, for which hardly any `show` has a query.
    from rireki.search.language import match, parse

    matcher = match.Matcher(parse.parse(query, now(), registry.names()))
    return lambda line: matcher.spans(line, _MARKED)


def _tell(
    story: Transcript, screen: StandardOutput, view: TextOptions, pager: bool, stay: bool = False
) -> None:
    blocks = render_transcript(story, view)
    if view.opened is None and not stay:
        screen.page((line for block in blocks for line in block.lines), pager)
        return
    told = list(blocks)
    first = _place(told, view.opened) if view.opened else BlockLine(0, 0)
    if screen.terminal and pager and screen.opens_in_the_middle():
        lines = [line for block in told for line in block.lines]
        above = sum(len(block.lines) for block in told[: first.block]) + first.line
        if not above:
            # Opened at its first line, the pager would close at once behind a short text.
            lines, above = ["", *lines], 1
        screen.page(lines, pager, at=above)
    else:
        screen.page((line for block in told[first.block :] for line in block.lines), pager)


class BlockLine(NamedTuple):
    """A block, and a line of it."""

    block: int
    line: int


def _place(told: Sequence[TextBlock], at: str) -> BlockLine:
    """Where a message is told: a result under its call, what adds nothing with what precedes it.

    Where it is long, what was found in it is what to look at, with a few lines before it.
    """
    found = next((n for n, block in enumerate(told) if block.found is not None), None)
    opened = next((n for n, block in enumerate(told) if block.opened is not None), None)
    if found is not None:
        line = told[found].found or 0
        return BlockLine(found, line - _BEFORE if line > _NEAR else 0)
    if opened is not None:
        line = told[opened].opened or 0
        return BlockLine(opened, line - _BEFORE if line > _NEAR else 0)
    place = next(n for n, block in enumerate(told) if block.message == at)
    return BlockLine(next(before for before in range(place, -1, -1) if told[before].lines), 0)


def _raw(
    archive: Archive,
    found: Found,
    as_of: str | None,
    everything: bool,
    terminal: bool,
    masker: Masker | None,
) -> None:
    """The bytes as they are; a terminal gets them without what could steer it."""
    for strand in archive.strands(found.family, found.grouping, as_of):
        lanes = dict.fromkeys(run.lane for state in strand.states for run in state.runs)
        if everything:
            records = [record.data for lane in lanes for record in strand.story(lane)]
        else:
            records = [strand.document()]
        for record in map(masker.record, records) if masker else records:
            ended = record if record.endswith(b"\n") or not everything else record + b"\n"
            if terminal:
                click.echo(safe(ended.decode(errors="replace")))
            else:
                sys.stdout.buffer.write(ended)
