"""A history's own way into the archive, and back out through search.

A keeper does this for everybody as it happens. Where none runs, a history is found all the same:
it is taken in when it is closed, and before it is searched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rireki.archive.open import open_archive
from rireki.errors import ArchiveTrouble, SourceTrouble
from rireki.intake.pending import interpret_pending
from rireki.intake.progress import Silent
from rireki.intake.take import take_origin
from rireki.journals.history_entry import parse
from rireki.journals.lock import is_kept
from rireki.model.conversation import Reading
from rireki.model.record import Origin, Roll, Update
from rireki.search.results import SearchOptions
from rireki.search.search import Search
from rireki.sources.kit.jsonl import LANE
from rireki.sources.native.fold import fold
from rireki.sources.native.reader import NAME, READER, origin_of

if TYPE_CHECKING:
    from rireki.archive.base import Archive
    from rireki.search.results import Hit

__all__ = ["find_in", "is_kept", "take_in_journal"]

#: Bytes at the end of a journal in which its last entry is looked for.
WINDOW = 1 << 16
#: An id that can be spelled in one way only, unless somebody escapes letters that need it not.
_SIMPLE = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
_ESCAPED = re.compile(rb"\\u00[2-7]")
#: Conversations whose ids begin alike.
MANY = 1000


def take_in_journal(archive: Path, journal: Path) -> None:
    """Keep what is new in a journal, and read it; whoever else does so at the moment does no harm."""
    with closing(open_archive(archive, create=True)) as opened:
        _take(opened, journal)


def _take(archive: Archive, journal: Path) -> None:
    origin = origin_of(journal)
    if origin is None:
        return
    goes = partial(_folded, archive, origin)
    taken = take_origin(archive, READER, origin, goes=goes)
    if taken.trouble is not None:
        raise SourceTrouble(taken.trouble.message, taken.trouble.hint)
    for _ in interpret_pending(archive, Silent(), alone=True):
        # Each is stored as it comes.
        continue


def _folded(
    archive: Archive, origin: Origin, items: Sequence[Update | Roll], cursors: Mapping[str, Any]
) -> Reading | None:
    """What the history comes to with a few new lines, where that hangs on nothing before them."""
    before, lines = cursors.get(""), _only_lines(items)
    name = origin.conversation
    if (
        lines is None
        or not before
        or before["tail"]
        or name is None
        or any(archive.pending(NAME, name))
    ):
        return None
    try:
        kept = archive.kept_as(NAME, name).get(f"{NAME}/{name}")
    except (ArchiveTrouble, msgspec.MsgspecError):
        # What is stored of it is damaged: it is read again from its records.
        return None
    seq = _seq_before(origin.place, before["offset"])
    if kept is None or not kept.copies or seq is None:
        return None
    earlier = _Earlier(origin.place, before["offset"])
    found = fold(kept.conversation, kept.answers, lines, seq, earlier.lacks)
    if found is None:
        return None
    conversation, answers = found
    return Reading(
        conversation=conversation, messages=list, answers=answers, link_tokens=kept.link_tokens
    )


def _only_lines(items: Sequence[Update | Roll]) -> list[bytes] | None:
    """The lines, if nothing else happened to the journal than that they came to its end."""
    if len(items) != 1 or not isinstance(items[0], Update):
        return None
    update = items[0]
    (content,) = update.contents
    plain = update.grows and update.keeps is None and not (update.continues or update.tail)
    if not plain or update.troubles or content.lane != LANE:
        return None
    return [piece.data for piece in content.pieces]


def _seq_before(journal: str, offset: int) -> int | None:
    """The number of the last entry before a place in the journal."""
    start = max(0, offset - WINDOW)
    with Path(journal).open("rb") as file:
        file.seek(start)
        lines = file.read(offset - start).splitlines(keepends=True)
    # The first may be the end of a longer line.
    entry = parse(lines[-1]) if len(lines) > 1 or (lines and not start) else None
    return entry.seq if entry is not None else None


class _Earlier:
    """The bytes of a journal before what is new in it, read when they are first asked for."""

    def __init__(self, journal: str, offset: int) -> None:
        self._journal = journal
        self._offset = offset
        self._bytes: bytes | None = None

    def lacks(self, id: str) -> bool:
        """Whether an id stands nowhere in them, whatever it is the id of."""
        if self._bytes is None:
            with Path(self._journal).open("rb") as file:
                self._bytes = file.read(self._offset)
            # Looked for as it stands first: many times as fast, and nearly always not there.
            if rb"\u00" in self._bytes and _ESCAPED.search(self._bytes):
                self._offset = 0
        return (
            bool(self._offset and _SIMPLE.fullmatch(id)) and f'"{id}"'.encode() not in self._bytes
        )


def find_in(archive: Path, journal: Path, query: str, limit: int) -> list[Hit]:
    """The messages of one history that answer a query, the best first."""
    with closing(open_archive(archive, create=True)) as opened:
        _take(opened, journal)
        with closing(Search(opened)) as search:
            asked = f"({query}) id:{NAME}/{journal.stem}"
            found = search.find(asked, SearchOptions(limit=MANY, hits=limit, hidden=True))
    talks = [talk for talk in found.talks if talk.conversation.native_id == journal.stem]
    return [hit for talk in talks for hit in talk.hits]
