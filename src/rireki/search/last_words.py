"""What was said last in a conversation, from the texts beside the search index: no record is read for it.

What the index does not have yet is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import zstandard
from msgspec import MsgspecError

from rireki.archive.base import Archive
from rireki.model.message import Author, Message
from rireki.model.parts import Text
from rireki.search.execute.snippet import beginning
from rireki.search.index.index import noted
from rireki.search.index.notes import Damaged, IndexStore
from rireki.search.text.blocks import MOST, IndexedMessage, open_block, open_entry

__all__ = ["LastWords", "last_words", "last_words_of"]

#: Blocks from the end of a conversation that are looked at: behind it may lie a few of tool output alone.
BLOCKS = 3
#: Characters of which a line is made.
LONGEST = 2000
#: A command to the client asks nothing of the agent.
_COMMAND = re.compile(r"/[\w:-]+(?:\s|$)")
#: Signs of Markdown that only stand in the way on one line.
_MARKUP = re.compile(r"^\s*(?:#+ |> ?|[-*] )|\*\*|`+", re.MULTILINE)
_SPEAKERS: dict[str, Author] = {"author:person": "person", "author:agent": "agent"}


class LastWords(NamedTuple):
    author: Author
    #: How the last message begins, on one line.
    text: str


def last_words(archive: Archive, changed: Mapping[str, int]) -> dict[str, LastWords]:
    """By id, of those conversations that the index has as they were changed last."""
    found: dict[str, LastWords] = {}
    try:
        with noted(archive) as store:
            if store is None:
                return found
            for id, number in changed.items():
                if said := _said_last(store, id, number):
                    found[id] = said
    except Damaged:
        # Whoever searches next makes another index.
        return found
    return found


def last_words_of(messages: Iterable[Message]) -> LastWords | None:
    """The same of a conversation that is at hand."""
    found = None
    for message in messages:
        texts = [part.text for part in message.parts if isinstance(part, Text)]
        spoken = message.author in ("person", "agent") and message.display == "bubble"
        there = message.replaced_by is None and not message.abandoned
        if spoken and there and any(text.strip() for text in texts):
            found = LastWords(message.author, _line(texts))
    return found


def _said_last(store: IndexStore, id: str, changed: int) -> LastWords | None:
    known = store.talk(id)
    if known is None or known.changed != changed:
        return None
    for block, data in store.last_blocks(known.number, BLOCKS):
        entries = enumerate(_opened(block, data), block * MOST)
        spoken = [entry for place, entry in entries if place not in known.dead and _is_said(entry)]
        if spoken:
            # A message that was only looked at again is written behind those that came after it.
            last = max(reversed(spoken), key=lambda entry: entry.at or "")
            return LastWords(_author(last) or "agent", _line(_texts(last)))
    return None


def _is_said(entry: IndexedMessage) -> bool:
    """Whether a person or the agent says something in it that was not left."""
    texts = _texts(entry)
    if not texts or "is:abandoned" in entry.facts:
        return False
    author = _author(entry)
    return author == "agent" or (author == "person" and not _COMMAND.match(texts[0]))


def _author(entry: IndexedMessage) -> Author | None:
    return next((_SPEAKERS[fact] for fact in entry.facts if fact in _SPEAKERS), None)


def _texts(entry: IndexedMessage) -> list[str]:
    return [text for where, text in entry.parts if where == "text" and text.strip()]


def _opened(block: int, data: bytes) -> list[IndexedMessage]:
    try:
        return list(map(open_entry, open_block(data)))
    except (ValueError, MsgspecError, zstandard.ZstdError) as error:
        raise Damaged(f"block {block} is damaged: {error}") from error


def _line(texts: Iterable[str]) -> str:
    text = next(text for text in texts if text.strip())
    shown = beginning(_MARKUP.sub("", text[:LONGEST]))
    return shown.text + ("…" if shown.cut_after else "")
