"""Conversations on their way into the index: words for Tantivy, and their texts in compressed blocks.

Tantivy could store the texts as well. It compresses them by LZ4 alone: index and archive together
would take more room (0.63 of the source) than blocks by zstd (0.57).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec
import zstandard

from rireki.archive.base import Heading
from rireki.archive.pack import unsqueeze
from rireki.late import LateModule
from rireki.model.conversation import Conversation, Reading
from rireki.search.language.match import Doc
from rireki.search.results import Where
from rireki.search.text.documents import conversation_facts, docs_in_turn, docs_of
from rireki.search.text.tokens import GAP, fold, in_bytes

if TYPE_CHECKING:
    from rireki.search.text import tokenizer
else:
    tokenizer = LateModule("rireki.search.text.tokenizer")

__all__ = [
    "PackedBlock",
    "Digest",
    "IndexedMessage",
    "IndexRow",
    "MOST",
    "digest",
    "digest_docs",
    "digest_parts",
    "heading_rows",
    "open_block",
    "open_digest",
    "open_entry",
    "packed_digest",
]

#: A block is closed at about this size, so that a single text is quick to get.
FULL = 32 << 10
#: Texts per block; their numbers share an integer with the block's.
MOST = 4096
#: Characters of a very long conversation that are brought into the index together.
PART = 8 << 20
LEVEL = 3
#: Between the texts of a message: no phrase goes from one to another.
_APART = f"\n{GAP}\n"


class IndexedMessage(msgspec.Struct, array_like=True):
    """A message as it is kept beside the index."""

    message: str
    mark: int
    at: str | None
    facts: list[str]
    parts: list[tuple[Where, str]]


class IndexRow(msgspec.Struct, array_like=True, gc=False):
    """A message as the index takes it."""

    words: bytes
    facts: str
    #: Milliseconds since 1970; 0 when the time is not known.
    at: int


class PackedBlock(msgspec.Struct, array_like=True):
    rows: list[IndexRow]
    data: bytes


class Digest(msgspec.Struct, array_like=True):
    """What became of one conversation, ready to be written."""

    id: str
    blocks: list[PackedBlock]
    #: The mark of every message there is now.
    marks: dict[str, int]
    #: How many characters the texts have that are to be written.
    letters: int


def digest(reading: Reading, known: dict[str, int] | None = None) -> Digest:
    """A conversation for the index; messages whose mark is `known` are left out."""
    docs = docs_of(reading.messages(), reading.conversation.updated_at)
    return _Digesting(reading.conversation, known).part(docs)


def digest_docs(about: Heading, docs: list[Doc]) -> Digest:
    """The same of a conversation whose texts are at hand."""
    return _Digesting(about, None).part(docs)


def digest_parts(reading: Reading, known: dict[str, int] | None = None) -> Iterator[Digest]:
    """The same of a very long conversation, in parts: so many of its messages are held at a time."""
    digesting = _Digesting(reading.conversation, known)
    messages = reading.stream() if reading.stream is not None else iter(reading.messages())
    docs: list[Doc] = []
    size = 0
    for doc in docs_in_turn(messages, reading.conversation.updated_at):
        docs.append(doc)
        size += sum(len(text) for _, text in doc.parts)
        if size >= PART:
            yield digesting.part(docs)
            docs, size = [], 0
    yield digesting.part(docs)


class _Digesting:
    """One conversation on its way into the index."""

    def __init__(self, told: Conversation | Heading, known: dict[str, int] | None) -> None:
        self.id = told.id
        self.known = known or {}
        self.about = " ".join(conversation_facts(told.source, told.nature, told.project))
        self.seed = crc32(self.about.encode())

    def part(self, docs: list[Doc]) -> Digest:
        # Imported late: who only searches cuts nothing.
        from rireki.search.text.tokenizer import cut_many

        texts = [_APART.join([text for _, text in doc.parts]) for doc in docs]
        data = list(map(in_bytes, texts))
        marks = {
            doc.message or "": _mark(doc, each, self.seed)
            for doc, each in zip(docs, data, strict=True)
        }
        if self.known:
            fresh = [
                at
                for at, doc in enumerate(docs)
                if self.known.get(doc.message or "") != marks[doc.message or ""]
            ]
            docs = [docs[at] for at in fresh]
            texts, data = [texts[at] for at in fresh], [data[at] for at in fresh]
        rows = [
            IndexRow(words, f"{fold(' '.join(doc.facts))} {self.about}", _milliseconds(doc.at))
            for doc, words in zip(docs, cut_many(texts, data), strict=True)
        ]
        entries = [_entry(doc, marks[doc.message or ""]) for doc in docs]
        blocks = [PackedBlock(rows[a:b], _close(entries[a:b])) for a, b in _cuts(entries)]
        return Digest(self.id, blocks, marks, sum(map(len, texts)))


def _cuts(entries: Sequence[IndexedMessage]) -> Iterator[tuple[int, int]]:
    """Where blocks begin and end."""
    start = size = 0
    for end, entry in enumerate(entries, 1):
        size += sum(len(text) for _, text in entry.parts)
        if size >= FULL or end - start == MOST or end == len(entries):
            yield start, end
            start, size = end, 0


def packed_digest(reading: Reading) -> bytes:
    """The same as bytes, which travel between processes faster than values do."""
    return msgspec.msgpack.encode(digest(reading))


open_digest = msgspec.msgpack.Decoder(Digest).decode


def _mark(doc: Doc, text: bytes, seed: int) -> int:
    """Tells a message from itself in another state, or in a conversation that tells something else."""
    shape = "\n".join([doc.at or "", *doc.facts, *[where for where, _ in doc.parts]])
    return crc32(text, crc32(shape.encode(), seed))


def heading_rows(headings: Sequence[Heading]) -> list[IndexRow]:
    """The titles and projects of conversations for the index."""
    texts = [f"{heading.title}{_APART}{heading.project or ''}" for heading in headings]
    words = tokenizer.cut_many(texts, list(map(in_bytes, texts)))
    about = [
        " ".join(conversation_facts(each.source, each.nature, each.project)) for each in headings
    ]
    times = [_milliseconds(heading.updated_at) for heading in headings]
    return list(map(IndexRow, words, about, times))


def _milliseconds(at: str | None) -> int:
    try:
        return max(1, round(datetime.fromisoformat(at or "").timestamp() * 1000))
    except (ValueError, OverflowError):
        return 0


# ── blocks ──


def _entry(doc: Doc, mark: int) -> IndexedMessage:
    assert doc.message is not None
    return IndexedMessage(doc.message, mark, doc.at, doc.facts, doc.parts)


class _Zstd(threading.local):
    """One of each per thread: used by two at once they mix up the bytes of both, or crash."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)


_zstd = _Zstd()


def _close(entries: list[IndexedMessage]) -> bytes:
    return _zstd.compressor.compress(msgspec.msgpack.encode(entries))


_entries = msgspec.msgpack.Decoder(list[msgspec.Raw]).decode
_opened_entry = msgspec.msgpack.Decoder(IndexedMessage).decode


def open_block(data: bytes) -> list[msgspec.Raw]:
    """The entries of a block, still packed. Raises zstandard.ZstdError or ValueError for a damaged one."""
    return _entries(unsqueeze(data))


def open_entry(packed: msgspec.Raw) -> IndexedMessage:
    return _opened_entry(packed)
