"""The index proper, in Tantivy: which documents hold which words.

Every commit carries its generation in a document of its own, so that a reader
knows exactly which commit it looks at. Files are checked before they are
believed: those this program has not stamped itself by their checksums.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from rireki.search.blocks import Row
from rireki.search.store import Damaged

if TYPE_CHECKING:
    import tantivy

__all__ = [
    "HEADING",
    "Busy",
    "WordReader",
    "WordWriter",
    "check_files",
    "make_index",
    "open_index",
    "stamps",
]

#: Bytes of memory a writer gathers documents in before it writes them out.
HEAP = 48 << 20
_MARKER = "marker"
#: The fact of documents that are a conversation's title and project.
HEADING = "is:heading"
_FOOTER = 8
_MAGIC = 1337


class Busy(Exception):
    """Another process is writing the index."""


def _schema() -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder()
    # Without positions the index is less than half as large; phrases are checked on the texts.
    builder.add_text_field("words", tokenizer_name="cut", index_option="freq")
    builder.add_text_field("facts", tokenizer_name="cut", index_option="basic")
    builder.add_unsigned_field("talk", indexed=True, fast=True)
    builder.add_unsigned_field("place", indexed=True, fast=True)
    builder.add_integer_field("at", fast=True)
    return builder.build()


def make_index(path: Path) -> tantivy.Index:
    import tantivy

    path.mkdir(parents=True)
    return _ready(tantivy.Index(_schema(), path=str(path)))


def open_index(path: Path) -> tantivy.Index:
    import tantivy

    try:
        return _ready(tantivy.Index.open(str(path)))
    except (ValueError, OSError) as error:
        raise Damaged(f"{path}: {error}") from error


def _ready(index: tantivy.Index) -> tantivy.Index:
    import tantivy

    # We cut the words ourselves; here they only have to be taken apart again.
    cutter = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer("cut", cutter)
    index.config_reader(reload_policy="manual")
    return index


# ── reading ──


class WordReader:
    """One commit of the index, unchanged while it is looked at."""

    def __init__(self, index: tantivy.Index) -> None:
        try:
            index.reload()
            self.searcher = index.searcher()
        except (ValueError, OSError) as error:
            raise Damaged(str(error)) from error
        self.schema = index.schema
        self.generation = self._generation()

    def _generation(self) -> int:
        import tantivy

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
        import tantivy

        self._document: Any = tantivy.Document
        self.schema = index.schema
        try:
            self.writer = index.writer(heap, threads)
        except ValueError as error:
            if "lock" in str(error).lower():
                raise Busy(str(error)) from error
            raise Damaged(str(error)) from error

    def add(self, talk: int, first: int, rows: Sequence[Row]) -> None:
        """Documents that stand in one block, their places counted from `first` on."""
        for place, row in enumerate(rows, first):
            self._add(talk, place, row)

    def _add(self, talk: int, place: int, row: Row) -> None:
        document = self._document()
        document.add_text("words", row.words)
        document.add_text("facts", row.facts)
        document.add_unsigned("talk", talk)
        document.add_unsigned("place", place)
        document.add_integer("at", row.at)
        self.writer.add_document(document)

    def head(self, talk: int, row: Row) -> None:
        """The title and project of a conversation, in place of earlier ones."""
        import tantivy

        query: Any = tantivy.Query
        schema = self.schema
        mine = query.term_query(schema, "talk", talk, index_option="basic")
        heading = query.term_query(schema, "facts", HEADING, index_option="basic")
        must = tantivy.Occur.Must
        self.writer.delete_documents_by_query(query.boolean_query([(must, mine), (must, heading)]))
        self._add(talk, 0, Row(row.words, HEADING, row.at))

    def remove_talk(self, talk: int) -> None:
        self.writer.delete_documents_by_term("talk", talk)

    def remove(self, places: Iterable[int]) -> None:
        for place in places:
            self.writer.delete_documents_by_term("place", place)

    def commit(self, generation: int) -> None:
        self.writer.delete_documents_by_term("facts", _MARKER)
        self._add(0, 0, Row("", _MARKER, generation))
        self.writer.commit()

    def close(self) -> None:
        """Wait until files that are being joined are whole, then let others write."""
        self.writer.wait_merging_threads()


# ── trust ──


def stamps(path: Path) -> dict[str, list[int]]:
    """What tells that a file of the index is untouched: its size and time."""
    return {
        file.name: [file.stat().st_size, file.stat().st_mtime_ns]
        for file in path.iterdir()
        if _is_segment(file)
    }


def check_files(path: Path, known: dict[str, list[int]], *, thorough: bool = False) -> None:
    """Raise Damaged if a file is not what was written; `thorough` reads those we stamped too."""
    try:
        meta = json.loads((path / "meta.json").read_bytes())
        names = {segment["segment_id"].replace("-", "") for segment in meta["segments"]}
        for file in path.iterdir():
            if not _is_segment(file) or file.name.partition(".")[0] not in names:
                continue
            stat = file.stat()
            if thorough or known.get(file.name) != [stat.st_size, stat.st_mtime_ns]:
                _check_sum(file)
    except FileNotFoundError:
        # A segment was joined with others and removed meanwhile: Tantivy tells if one is missing.
        return
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{path}: {error}") from error


def _is_segment(file: Path) -> bool:
    return not file.name.startswith(".") and file.suffix not in (".json", ".lock")


def _check_sum(file: Path) -> None:
    data = file.read_bytes()
    size = int.from_bytes(data[-_FOOTER : -_FOOTER // 2], "little")
    magic = int.from_bytes(data[-_FOOTER // 2 :], "little")
    end = len(data) - _FOOTER - size
    if magic != _MAGIC or end < 0:
        raise Damaged(f"{file} is cut short")
    if json.loads(data[end:-_FOOTER])["crc"] != crc32(data[:end]):
        raise Damaged(f"{file} is damaged")
