"""The texts behind the index: short ones kept compressed, long ones as places in the archive.

Most text of a history is tool output that the archive holds already; keeping it
twice would make the index several times its size. So a long text is kept as the
bytes of a record it stands in, found when it is indexed and therefore certain.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from json import dumps
from zlib import crc32

import msgspec
import zstandard

from rireki.archive.base import Heading
from rireki.archive.pack import unsqueeze
from rireki.model.conversation import Reading
from rireki.model.strand import Ref, Strand
from rireki.search.language.match import Doc
from rireki.search.results import Where
from rireki.search.text.documents import conversation_facts, docs_in_turn, docs_of
from rireki.search.text.tokens import GAP, fold, in_bytes

__all__ = [
    "PackedBlock",
    "Digest",
    "IndexedMessage",
    "IndexRow",
    "digest",
    "digest_parts",
    "heading_rows",
    "open_block",
    "open_digest",
    "text_of",
]

#: A text of this many characters is looked for in the records. That costs less time than to compress
#: it once more; for shorter ones it would cost more.
LONG = 300
#: A block is closed at about this size, so that a single text is quick to get.
FULL = 32 << 10
#: Texts per block; their numbers share an integer with the block's.
MOST = 4096
#: Characters of a very long conversation that are brought into the index together.
PART = 8 << 20
#: Three per cent larger than level 3, and an import is one per cent faster.
LEVEL = 1
#: Between the texts of a message: no phrase goes from one to another.
_APART = f"\n{GAP}\n"


class TextPlace(msgspec.Struct, array_like=True, frozen=True):
    """Bytes of a record that are a text: as JSON writes it, or plain."""

    strand: int
    lane: str
    record: int
    start: int
    length: int
    plain: bool = False


class IndexedMessage(msgspec.Struct, array_like=True):
    """A message as it is kept beside the index."""

    message: str
    mark: int
    at: str | None
    facts: list[str]
    parts: list[tuple[Where, str | TextPlace]]


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
    #: The ids of the strands as the reader saw them; places name them by their position here.
    strands: list[int]
    blocks: list[PackedBlock]
    #: The mark of every message there is now.
    marks: dict[str, int]
    #: How many characters the texts have that are to be written.
    letters: int


def digest(
    reading: Reading, strands: Sequence[Strand], known: dict[str, int] | None = None
) -> Digest:
    """A conversation for the index; messages whose mark is `known` are left out."""
    docs = docs_of(reading.messages(), reading.conversation.updated_at)
    return _Digesting(reading, strands, known).part(docs)


def digest_parts(
    reading: Reading, strands: Sequence[Strand], known: dict[str, int] | None = None
) -> Iterator[Digest]:
    """The same of a very long conversation, in parts: so many of its messages are held at a time."""
    digesting = _Digesting(reading, strands, known)
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

    def __init__(
        self, reading: Reading, strands: Sequence[Strand], known: dict[str, int] | None
    ) -> None:
        told = reading.conversation
        self.id = told.id
        self.strands = [strand.id for strand in strands]
        self.known = known or {}
        self.about = " ".join(conversation_facts(told.source, told.nature, told.project))
        self.seed = crc32(self.about.encode())
        self.keeper = _Keeper(reading, strands)

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
        entries = self.keeper.entries(docs, marks)
        blocks = [PackedBlock(rows[a:b], _close(entries[a:b])) for a, b in _cuts(entries)]
        return Digest(self.id, self.strands, blocks, marks, sum(map(len, texts)))


def _cuts(entries: Sequence[IndexedMessage]) -> Iterator[tuple[int, int]]:
    """Where blocks begin and end."""
    start = size = 0
    for end, entry in enumerate(entries, 1):
        for _, text in entry.parts:
            if isinstance(text, str):
                size += len(text)
        if size >= FULL or end - start == MOST or end == len(entries):
            yield start, end
            start, size = end, 0


def packed_digest(reading: Reading, strands: Sequence[Strand]) -> bytes:
    """The same as bytes, which travel between processes faster than values do."""
    return msgspec.msgpack.encode(digest(reading, strands))


open_digest = msgspec.msgpack.Decoder(Digest).decode


def _mark(doc: Doc, text: bytes, seed: int) -> int:
    """Tells a message from itself in another state, or in a conversation that tells something else."""
    shape = "\n".join([doc.at or "", *doc.facts, *[where for where, _ in doc.parts]])
    return crc32(text, crc32(shape.encode(), seed))


def heading_rows(headings: Sequence[Heading]) -> list[IndexRow]:
    """The titles and projects of conversations for the index."""
    from rireki.search.text.tokenizer import cut_many

    texts = [f"{heading.title}{_APART}{heading.project or ''}" for heading in headings]
    words = cut_many(texts, list(map(in_bytes, texts)))
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


# ── texts out of records ──


class _Keeper:
    """Finds the long texts of one conversation in its records."""

    def __init__(self, reading: Reading, strands: Sequence[Strand]) -> None:
        self.refs = reading.records
        self.known: dict[str, list[Ref]] | None = None
        self.strands = {strand.id: strand for strand in strands}
        self.order = {strand.id: place for place, strand in enumerate(strands)}
        self.lanes: dict[tuple[int, str], dict[int, bytes]] = {}

    def entries(self, docs: Sequence[Doc], marks: dict[str, int]) -> list[IndexedMessage]:
        """The messages as they are kept; what was fetched for them is let go."""
        long = [doc.message for doc in docs if any(len(text) >= LONG for _, text in doc.parts)]
        if long:
            self._fetch([message or "" for message in long])
        made = [self._entry(doc, marks[doc.message or ""]) for doc in docs]
        self.lanes = {}
        return made

    def _entry(self, doc: Doc, mark: int) -> IndexedMessage:
        assert doc.message is not None
        parts: list[tuple[Where, str | TextPlace]] = [
            (where, (self._place(doc.message, text) or text) if len(text) >= LONG else text)
            for where, text in doc.parts
        ]
        return IndexedMessage(doc.message, mark, doc.at, doc.facts, parts)

    def _place(self, message: str, text: str) -> TextPlace | None:
        for ref in (self.known or {}).get(message, ()):
            data = self.lanes.get((ref.strand, ref.lane), {}).get(ref.record)
            if data is not None and (found := _stands_in(data, text)) is not None:
                start, length, plain = found
                return TextPlace(self.order[ref.strand], ref.lane, ref.record, start, length, plain)
        return None

    def _fetch(self, messages: Sequence[str]) -> None:
        """All records that these refer to, a lane at a time: each chunk is unpacked once."""
        if self.known is None:
            self.known = self.refs()
        wanted: dict[tuple[int, str], set[int]] = {}
        for message in messages:
            for ref in self.known.get(message, ()):
                wanted.setdefault((ref.strand, ref.lane), set()).add(ref.record)
        for (strand, lane), records in wanted.items():
            if strand in self.strands:
                ordinals = sorted(records)
                data = self.strands[strand].fetch(lane, ordinals)
                self.lanes[strand, lane] = dict(zip(ordinals, data, strict=True))


def _stands_in(data: bytes, text: str) -> tuple[int, int, bool] | None:
    """Where a record holds a text, in one of the spellings JSON has for it, or as it is."""
    try:
        spelled = msgspec.json.encode(text)[1:-1]
    except UnicodeEncodeError:
        return None
    start = _find(data, spelled)
    if start < 0 and not text.isascii():
        spelled = dumps(text)[1:-1].encode()
        start = _find(data, spelled)
    if start >= 0:
        return start, len(spelled), False
    spelled = text.encode()
    start = _find(data, spelled)
    return (start, len(spelled), True) if start >= 0 else None


def _find(data: bytes, wanted: bytes) -> int:
    """Like `find`, which prepares itself at length for a long text: here a beginning leads the way."""
    start = data.find(wanted[:64])
    while start >= 0 and not data.startswith(wanted, start):
        start = data.find(wanted[:64], start + 1)
    return start


Fetch = Callable[[int, str, int], bytes]


def text_of(text: str | TextPlace, strands: Sequence[int], fetch: Fetch) -> str:
    """A kept text; `fetch(strand, lane, record)` brings a record out of the archive."""
    if isinstance(text, str):
        return text
    data = fetch(strands[text.strand], text.lane, text.record)
    piece = data[text.start : text.start + text.length]
    if text.plain:
        return piece.decode()
    return msgspec.json.decode(b'"' + piece + b'"', type=str)


# ── blocks ──


class _Zstd(threading.local):
    """One of each per thread: used by two at once they mix up the bytes of both, or crash."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)


_zstd = _Zstd()


def _close(entries: list[IndexedMessage]) -> bytes:
    return _zstd.compressor.compress(msgspec.msgpack.encode(entries))


_entries = msgspec.msgpack.Decoder(list[msgspec.Raw]).decode
_entry = msgspec.msgpack.Decoder(IndexedMessage).decode


def open_block(data: bytes) -> list[msgspec.Raw]:
    """The entries of a block, still packed. Raises zstandard.ZstdError or ValueError for a damaged one."""
    return _entries(unsqueeze(data))


def open_entry(packed: msgspec.Raw) -> IndexedMessage:
    return _entry(packed)
