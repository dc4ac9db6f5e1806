"""The index proper, in Tantivy: which documents hold which words.

Every commit carries its generation in a document of its own, so that a reader
knows exactly which commit it looks at. Files are checked before they are
believed: those this program has not stamped itself by their checksums.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from msgspec.structs import replace

from rireki.late import LateModule
from rireki.search.index.notes import Damaged

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    import tantivy

    from rireki.search.text.blocks import IndexRow
else:
    tantivy = LateModule("tantivy")

__all__ = [
    "HEADING",
    "IndexBusy",
    "WordReader",
    "WordWriter",
    "WriteFailed",
    "check_files",
    "linked",
    "make_index",
    "open_index",
    "panics_are_damage",
    "shape",
    "stamps",
]

#: Bytes of memory a writer gathers documents in before it writes them out. Less makes many small files, and
#: joining these takes more time and memory than it saves.
HEAP = 40 << 20
#: The engine gives no more than 65,000 counts at once.
COUNTS = 50_000
_MARKER = "marker"
_TYPED = "author:person"
#: The fact of documents that are a conversation's title and project.
HEADING = "is:heading"
#: Tantivy's own files beside those of its segments.
_META, _MANAGED, _LOCK = "meta.json", ".managed.json", ".tantivy-meta.lock"
_FOOTER = 8
_MAGIC = 1337
_PIECE = 1 << 20


class IndexBusy(Exception):
    """Another process is writing the index."""


class WriteFailed(Exception):
    """What was to be written is not; whether the disk is full or the index damaged, nobody said."""


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("words", tokenizer_name="cut", index_option="position")
    # Titles apart, so that a search for messages need not leave them out.
    builder.add_text_field("title", tokenizer_name="cut", index_option="position")
    builder.add_text_field("facts", tokenizer_name="cut", index_option="basic")
    builder.add_unsigned_field("talk", indexed=True, fast=True)
    builder.add_unsigned_field("place", fast=True)
    builder.add_integer_field("at", fast=True)
    builder.add_unsigned_field("typed", fast=True)
    return builder.build()


def make_index(path: Path) -> tantivy.Index:
    with _telling():
        path.mkdir(parents=True)
        return _ready(tantivy.Index(_schema(), path=str(path)))


def open_index(path: Path, wanted: int | None) -> tantivy.Index:
    """The index, if its shape is the one it was made in."""
    try:
        if shape(path) != wanted:
            raise Damaged(f"{path} has other fields than it was made with")
        with panics_are_damage():
            return _ready(tantivy.Index.open(str(path)))
    except (ValueError, OSError, KeyError, TypeError) as error:
        raise Damaged(f"{path}: {error}") from error


def linked(path: Path) -> TemporaryDirectory[str] | None:
    """A folder that leads to the files of an index; None where the index's own will do.

    Tantivy holds a file locked while it opens the others, and cannot where it may not write.
    """
    lock = path / _LOCK
    if os.access(lock if lock.exists() else path, os.W_OK):
        return None
    # Imported late: hardly any index lies there.
    from tempfile import TemporaryDirectory

    try:
        folder = TemporaryDirectory(prefix="rireki-")
        for name in (_META, _MANAGED, *(file.name for file in _segment_files(path))):
            (Path(folder.name) / name).symlink_to(path.absolute() / name)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{path}: {error}") from error
    return folder


def _ready(index: tantivy.Index) -> tantivy.Index:
    # We cut the words ourselves; here they only have to be taken apart again.
    cutter = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer("cut", cutter)
    index.config_reader(reload_policy="manual")
    return index


@contextmanager
def panics_are_damage() -> Iterator[None]:
    """Tantivy trusts its files: one that rotted under an old stamp makes it panic."""
    try:
        yield
    except BaseException as error:
        # Its class cannot be imported, and is made not to be caught by chance.
        if type(error).__name__ != "PanicException":
            raise
        raise Damaged(f"Tantivy gave up: {error}") from error


# ── reading ──


class WordReader:
    """One commit of the index, unchanged while it is looked at."""

    def __init__(self, index: tantivy.Index) -> None:
        self.schema = index.schema
        try:
            with panics_are_damage():
                index.reload()
                self.searcher = index.searcher()
                self.generation = self._generation()
        except (ValueError, OSError) as error:
            raise Damaged(str(error)) from error

    @property
    def documents(self) -> int:
        return self.searcher.num_docs

    def per_conversation(self, query: tantivy.Query | None = None) -> dict[int, int]:
        """How many documents of each conversation answer; without a query all, headings too."""
        query = query or tantivy.Query.all_query()
        found: dict[int, int] = {}
        for start in range(0, self._last_conversation + 1, COUNTS):
            among = (
                query if self._last_conversation < COUNTS else self._in_conversations(query, start)
            )
            counted = self.searcher.aggregate(
                among, {"talks": {"terms": {"field": "talk", "size": COUNTS}}}
            )
            found.update((int(b["key"]), int(b["doc_count"])) for b in counted["talks"]["buckets"])
        return found

    def _in_conversations(self, query: tantivy.Query, start: int) -> tantivy.Query:
        some = tantivy.Query.range_query(
            self.schema,
            "talk",
            tantivy.FieldType.Unsigned,
            start,
            start + COUNTS,
            include_upper=False,
        )
        must = tantivy.Occur.Must
        return tantivy.Query.boolean_query([(must, query), (must, some)])

    @cached_property
    def _last_conversation(self) -> int:
        """The largest number of a conversation."""
        found = self.searcher.aggregate(
            tantivy.Query.all_query(), {"last": {"max": {"field": "talk"}}}
        )
        return int(found["last"]["value"] or 0)

    def more_conversations_than(self, messages: int) -> int:
        """So many conversations, however large, do not hold that many messages."""
        return bisect_left(self._filled, messages)

    @cached_property
    def _filled(self) -> list[int]:
        """How many documents the largest conversation has, the two largest, and so on."""
        return list(accumulate(sorted(self.per_conversation().values(), reverse=True)))

    def _generation(self) -> int:
        query = tantivy.Query.term_query(self.schema, "facts", _MARKER, index_option="basic")
        hits = self.searcher.search(query, limit=2, count=False).hits
        if not hits:
            return 0
        values = self.searcher.fast_field_values("at", [address for _, address in hits])
        return max(int(value or 0) for value in values)


# ── writing ──


class WordWriter:
    """Adds and removes documents; nothing of it is seen before `commit`."""

    def __init__(self, index: tantivy.Index, heap: int = HEAP, threads: int = 1) -> None:
        self._document: Any = tantivy.Document
        self.schema = index.schema
        try:
            self.writer = index.writer(heap, threads)
        except ValueError as error:
            if "LockBusy" in str(error):
                raise IndexBusy(str(error)) from error
            raise WriteFailed(str(error)) from error

    def add(self, talk: int, first: int, rows: Sequence[IndexRow], facts: str = "") -> None:
        """Documents that stand in one block, their places counted from `first` on; with what each of
        them tells besides."""
        with _telling():
            for place, row in enumerate(rows, first):
                self._add(talk, place, row, facts)

    def _add(
        self, talk: int, place: int, row: IndexRow, facts: str = "", field: str = "words"
    ) -> None:
        document = self._document()
        document.add_text(field, row.words.decode())
        document.add_text("facts", f"{row.facts} {facts}" if facts else row.facts)
        document.add_unsigned("talk", talk)
        document.add_unsigned("place", place)
        document.add_integer("at", row.at)
        # What a person typed counts more; a number is read faster than a fact.
        document.add_unsigned("typed", int(_TYPED in row.facts))
        self.writer.add_document(document)

    def head(self, talk: int, row: IndexRow, facts: str = "") -> None:
        """The title and project of a conversation."""
        with _telling():
            self._add(talk, 0, replace(row, facts=f"{HEADING} {row.facts}"), facts, "title")

    def remove_head(self, talk: int) -> None:
        query: Any = tantivy.Query
        schema = self.schema
        mine = query.term_query(schema, "talk", talk, index_option="basic")
        heading = query.term_query(schema, "facts", HEADING, index_option="basic")
        must = tantivy.Occur.Must
        with _telling():
            self.writer.delete_documents_by_query(
                query.boolean_query([(must, mine), (must, heading)])
            )

    def remove_conversation(self, talk: int) -> None:
        # Not by term: Tantivy takes our numbers for signed ones there, and finds nothing.
        mine = tantivy.Query.term_query(self.schema, "talk", talk, index_option="basic")
        with _telling():
            self.writer.delete_documents_by_query(mine)

    def remove(self, places: Iterable[int]) -> None:
        unsigned = tantivy.FieldType.Unsigned
        with _telling():
            for place in places:
                just_it = tantivy.Query.range_query(self.schema, "place", unsigned, place, place)
                self.writer.delete_documents_by_query(just_it)

    def commit(self, generation: int) -> None:
        # Imported late: a search writes nothing.
        from rireki.search.text.blocks import IndexRow

        with _telling():
            self.writer.delete_documents_by_term("facts", _MARKER)
            # It is no message: what leaves headings out leaves this out as well.
            self._add(0, 0, IndexRow(b"", f"{_MARKER} {HEADING}", generation))
            self.writer.commit()

    def close(self) -> None:
        """Wait until files that are being joined are whole, then let others write."""
        with _telling():
            self.writer.wait_merging_threads()


@contextmanager
def _telling() -> Iterator[None]:
    """Tantivy has one kind of error for everything."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise WriteFailed(str(error)) from error


# ── trust ──


def stamps(path: Path) -> dict[str, list[int]]:
    """What tells that a file of the index is untouched: its size and time."""
    found: dict[str, list[int]] = {}
    with _telling():
        for file in _segment_files(path):
            # One that was joined with others may go while we look.
            with suppress(FileNotFoundError):
                found[file.name] = _stamp(file)
    return found


def _stamp(file: Path) -> list[int]:
    stat = file.stat()
    return [stat.st_size, stat.st_mtime_ns]


def shape(path: Path) -> int:
    """Tells the fields and settings of an index from any others."""
    meta = _meta(path)
    kept = json.dumps([meta["schema"], meta["index_settings"]], sort_keys=True)
    return crc32(kept.encode())


def _meta(path: Path) -> Any:
    return json.loads((path / _META).read_bytes())


def check_files(path: Path, known: dict[str, list[int]], *, thorough: bool = False) -> None:
    """Raise Damaged if a file is not what was written; `thorough` reads those we stamped too."""
    try:
        for file in _segment_files(path):
            # One that was joined with others may go while we look: Tantivy tells if one is missing.
            with suppress(FileNotFoundError):
                if thorough or known.get(file.name) != _stamp(file):
                    _check_sum(file)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"{path}: {error}") from error


def _segment_files(path: Path) -> list[Path]:
    """The files of the last commit; others are being written, or waiting to be removed."""
    deletes: dict[str, str] = {}
    for segment in _meta(path)["segments"]:
        name = segment["segment_id"].replace("-", "")
        deletes[name] = f"{name}.{(segment['deletes'] or {}).get('opstamp')}.del"
    return [
        file
        for file in path.iterdir()
        if (name := file.name.partition(".")[0]) in deletes
        and (file.suffix != ".del" or file.name == deletes[name])
    ]


def _check_sum(file: Path) -> None:
    """Tantivy ends its files with a note about what stands before it."""
    with file.open("rb") as data:
        end = data.seek(0, os.SEEK_END) - _FOOTER
        data.seek(max(end, 0))
        size = int.from_bytes(data.read(_FOOTER // 2), "little")
        if int.from_bytes(data.read(), "little") != _MAGIC or end < size:
            raise Damaged(f"{file} is cut short")
        data.seek(end - size)
        wanted = json.loads(data.read(size))["crc"]
        data.seek(0)
        found, left = 0, end - size
        while left and (piece := data.read(min(left, _PIECE))):
            found, left = crc32(piece, found), left - len(piece)
    if found != wanted:
        raise Damaged(f"{file} is damaged")
