"""The file a person downloaded: a JSON list of conversations, alone or in a zip with pictures beside it.

Each conversation becomes a strand of its own, verbatim. What one says is not known here.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from io import BufferedReader, FileIO
from typing import NamedTuple

from rireki.errors import SourceTrouble
from rireki.model.strand import PIECES
from rireki.sources.kit.decode import elements, load
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.fields import string
from rireki.sources.kit.jsonl import PIECE, too_large
from rireki.sources.kit.stamps import open_plain
from rireki.sources.reader import Content, Known, Origin, Piece, Roll, Update

__all__ = ["CHAT", "FILE", "LANE", "ExportKind", "is_export", "read_export"]

#: What a strand is: a conversation, or a file that one names.
CHAT, FILE = "chat", "file"
LANE = "export"
#: How much of a file is looked at to tell whose export it is.
_PEEK = 1 << 20
#: What reading a damaged or foreign zip may raise.
_BROKEN = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, NotImplementedError),
    *(RuntimeError, EOFError, KeyError, ValueError),
)


class ExportKind(NamedTuple):
    """How an export of one service is told, and where its conversations say their ids."""

    #: What stands in the beginning of every export, and of none of another service.
    mark: re.Pattern[bytes]
    #: Fields of which the first that is there names a conversation.
    ids: tuple[str, ...]
    #: What the list of conversations is called, in a zip or in a folder.
    names: re.Pattern[str]
    #: Finds, in a conversation, how the names of its files begin.
    files: re.Pattern[bytes] | None = None
    #: How the file begins: a list of conversations, or what stands for one alone.
    opening: bytes = b"["
    #: Names the conversation of a file that is one.
    name_of: Callable[[bytes], str] | None = None


def is_export(place: str, kind: ExportKind) -> bool:
    """Whether a file is an export of this kind, as its beginning tells."""
    try:
        with BufferedReader(open_plain(place)) as file:
            if not _is_zip(file):
                return _is_of(file.read(_PEEK), kind)
            with zipfile.ZipFile(file) as archive:
                for member in _lists(archive, kind):
                    with archive.open(member) as opened:
                        return _is_of(opened.read(_PEEK), kind)
    except (SourceTrouble, OSError, *_BROKEN):
        return False
    return False


def _is_of(head: bytes, kind: ExportKind) -> bool:
    return head.lstrip().startswith(kind.opening) and bool(kind.mark.search(head))


def _is_zip(file: BufferedReader[FileIO]) -> bool:
    return file.peek(4)[:4] == b"PK\x03\x04"


def _lists(archive: zipfile.ZipFile, kind: ExportKind) -> list[zipfile.ZipInfo]:
    return [one for one in archive.infolist() if kind.names.fullmatch(_base(one))]


def _base(member: zipfile.ZipInfo) -> str:
    return member.filename.rpartition("/")[2]


def read_export(origin: Origin, known: Known, kind: ExportKind) -> Iterator[Update | Roll]:
    """An update per conversation that is new or other than it was, then the roll of all there are."""
    keys: dict[str, None] = {}
    with BufferedReader(open_plain(origin.place)) as file:
        try:
            if _is_zip(file):
                with zipfile.ZipFile(file) as archive:
                    yield from _Unzipped(archive, origin, known, kind, keys).updates()
            else:
                for id, data in _chats(file.read(), kind):
                    yield from _chat(origin, known, id, data, keys)
        except _BROKEN as error:
            raise SourceTrouble("export-broken", place=origin.place, why=error) from None
    yield Roll(list(keys))


def _chats(data: bytes, kind: ExportKind) -> Iterator[tuple[str, bytes]]:
    """The conversations of a list, each as it is written; one without an id is named by its content."""
    if kind.name_of is not None:
        if _is_of(data[:_PEEK], kind):
            yield kind.name_of(data), data
        return
    # Damage is told by msgspec's error, which is a ValueError.
    for chat in elements(data):
        value = load(chat)
        named = (string(value, name) for name in kind.ids)
        yield next(filter(None, named), digest_of_bytes(chat).hex()), chat


def _chat(
    origin: Origin, known: Known, id: str, data: bytes, keys: dict[str, None]
) -> Iterator[Update]:
    keys[id] = None
    cursor = {"digest": digest_of_bytes(data).hex()}
    if known.thorough or known.cursors.get(id) != cursor:
        yield _update(f"{origin.place}: {id}", id, CHAT, id, data, cursor, known)


class _Unzipped(NamedTuple):
    """A zip, with the pictures and files that its conversations name."""

    archive: zipfile.ZipFile
    origin: Origin
    known: Known
    kind: ExportKind
    keys: dict[str, None]

    def updates(self) -> Iterator[Update]:
        for member in _lists(self.archive, self.kind):
            for id, data in _chats(self._content(member), self.kind):
                yield from _chat(self.origin, self.known, id, data, self.keys)
                for file in self._named_in(data):
                    yield from self._file(file, id)

    def _named_in(self, data: bytes) -> list[zipfile.ZipInfo]:
        found = self.kind.files.finditer(data) if self.kind.files else ()
        beginnings = tuple({one[one.lastindex or 0].decode() for one in found})
        return [one for one in self.archive.infolist() if _base(one).startswith(beginnings)]

    def _file(self, member: zipfile.ZipInfo, chat: str) -> Iterator[Update]:
        key = json.dumps([FILE, _base(member), chat], ensure_ascii=False)
        self.keys[key] = None
        cursor = {"crc": member.CRC}
        if self.known.thorough or self.known.cursors.get(key) != cursor:
            place = f"{self.origin.place}: {member.filename}"
            yield _update(place, key, FILE, chat, self._content(member), cursor, self.known)

    def _content(self, member: zipfile.ZipInfo) -> bytes:
        """What a member says of its size need not be true: no more is read than that."""
        if member.file_size > max(self.known.largest, 8 * member.compress_size):
            raise ValueError(f"{member.filename} says it unpacks to {member.file_size:,} bytes")
        return self.archive.read(member)


def _update(
    place: str,
    key: str,
    role: str,
    chat: str,
    data: bytes,
    cursor: Mapping[str, object],
    known: Known,
) -> Update:
    is_large = len(data) > known.largest
    size = PIECE if is_large else max(len(data), 1)
    parts = [data[start : start + size] for start in range(0, len(data), size)]
    return Update(
        key=key,
        role=role,
        conversation=chat,
        contents=[
            Content(PIECES if is_large else LANE, [Piece(o, digest_of_bytes(o)) for o in parts])
        ],
        cursor=cursor,
        troubles=[too_large(place, "it", len(data), known.largest)] if is_large else [],
    )
