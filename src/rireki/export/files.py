"""Documents in a folder: written whole or not at all, and only what is not there yet.

A list in the folder (`.rireki-export.jsonl`) says of every file what it was made of. What is there and
made of the same is left alone, so an export that was cut short goes on where it was, and one that is
repeated writes what changed. What the list does not name is somebody else's and never replaced.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import msgspec

from rireki import __version__
from rireki.archive.base import Archive, Found
from rireki.errors import NotFound, RirekiError
from rireki.export.documents import DocumentReader, Wish, is_text, masker_for
from rireki.home import SETTINGS, data_directory
from rireki.intake.interpret import with_subagents
from rireki.intake.restore import restore, safe_name
from rireki.late import LateModule
from rireki.masking.key import ensure_key
from rireki.masking.known import known_values
from rireki.model.conversation import Conversation
from rireki.show.formats import COLLECTED, FORMATS, NATIVE, earlier
from rireki.show.otlp import requests
from rireki.show.words import count

if TYPE_CHECKING:
    from rireki.export import collector
    from rireki.masking import Masker
else:
    # What goes into a file asks for no network.
    collector = LateModule("rireki.export.collector")

__all__ = ["LIST", "ExportFolder", "Exported", "exporter", "native_zip", "write_whole_bytes"]

LIST = ".rireki-export.jsonl"
#: When a zip's files were made: equal files make equal zips.
_EPOCH = (1980, 1, 1, 0, 0, 0)


class Exported(NamedTuple):
    """What became of one conversation."""

    id: str
    files: list[Path]
    #: It was there already, and is as it was.
    was_there: bool
    #: What the format could not carry as it was.
    notes: list[str]


class _Entry(msgspec.Struct, frozen=True):
    """A line of the list."""

    id: str
    #: What its files were made of.
    made_of: str
    files: dict[str, int]


class ExportFolder:
    """A folder that conversations are exported to."""

    def __init__(self, archive: Archive, folder: Path, wish: Wish) -> None:
        self.archive = archive
        self.folder = folder
        self.wish = wish
        self._masker = masker_for(archive, wish)
        self._secrets = _known_secrets(archive) if wish.masked else ""
        self._known = _read_list(folder / LIST)
        #: Files that the list names, and whose they are.
        self._owners = {name: one.id for one in self._known.values() for name in one.files}

    def add(self, id: str) -> Exported:
        found = self.archive.find(id)
        id, made_of = found.conversation.id, self._made_of(found)
        self.folder.mkdir(parents=True, exist_ok=True)
        known = self._known.get(self._key(id))
        if known is not None and known.made_of == made_of and self._is_there(known):
            return Exported(id, [self.folder / name for name in known.files], True, [])
        notes: list[str] = []
        files = self._write(found, notes)
        sizes = {str(file.relative_to(self.folder)): file.stat().st_size for file in files}
        self._note(_Entry(self._key(id), made_of, sizes))
        return Exported(id, files, False, notes)

    def _write(self, found: Found, notes: list[str]) -> list[Path]:
        key = self._key(found.conversation.id)
        ours = {name for name, owner in self._owners.items() if owner == key}
        if self.wish.form == NATIVE:
            name = self._free(found.conversation, "")
            return list(self._native(found, name, ours, notes))
        path = self.folder / self._free(found.conversation, f".{FORMATS[self.wish.form].ending}")
        reader = DocumentReader(self.archive, self.wish, self._masker)
        return list(_documents(reader, found, path, notes, ours))

    def _free(self, conversation: Conversation, ending: str) -> str:
        """Two ids may be spelled alike in the names of files."""
        id, key = conversation.id.partition("/")[2], self._key(conversation.id)
        name = safe_name(f"{conversation.source}-{id}{ending}")
        if self._owners.get(name, key) == key:
            return name
        mark = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return safe_name(f"{conversation.source}-{id}-{mark}{ending}")

    def _native(
        self, found: Found, name: str, ours: Container[str], notes: list[str]
    ) -> Iterator[Path]:
        """Brought back beside, then put in place: what changed in the source replaces what it was."""
        beside = self.folder / f".{sha256(name.encode('utf-8', 'replace')).hexdigest()[:16]}.part"
        rmtree(beside, ignore_errors=True)
        try:
            for file in _restored(self.archive, found, beside, self.wish, self._masker, notes):
                path = self.folder / name / file.relative_to(beside)
                path.parent.mkdir(parents=True, exist_ok=True)
                _put(file, path, str(path.relative_to(self.folder)) in ours)
                yield path
        except OSError as error:
            why = error.strerror
            raise RirekiError("export-not-written", path=self.folder / name, why=why) from error
        finally:
            rmtree(beside, ignore_errors=True)

    def _key(self, id: str) -> str:
        return f"{self.wish.form} {id}"

    def _made_of(self, found: Found) -> str:
        """Everything that decides what the files say."""
        numbers = [
            (each.conversation.id, each.changed) for each in with_subagents(self.archive, found)
        ]
        told = json.dumps([__version__, self.wish, self.archive.name, numbers, self._secrets])
        return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _is_there(self, entry: _Entry) -> bool:
        paths = [(self.folder / name, size) for name, size in entry.files.items()]
        return all(path.is_file() and path.stat().st_size == size for path, size in paths)

    def _note(self, entry: _Entry) -> None:
        self._known[entry.id] = entry
        self._owners.update(dict.fromkeys(entry.files, entry.id))
        with (self.folder / LIST).open("ab") as file:
            file.write(msgspec.json.encode(entry) + b"\n")


def exporter(archive: Archive, to: str, wish: Wish, single: bool) -> Callable[[str], Exported]:
    """What writes one conversation after the other: into a folder, a file, or to a collector."""
    if is_address(to):
        if wish.form != COLLECTED:
            raise RirekiError("export-address", form=wish.form, to=to)
        return lambda id: _send(archive, id, to, wish)
    path = Path(to)
    if not single or (wish.form != NATIVE and (path.is_dir() or to.endswith(("/", os.sep)))):
        return ExportFolder(archive, path, wish).add
    return lambda id: export_to_file(archive, id, path, wish)


def _send(archive: Archive, id: str, to: str, wish: Wish) -> Exported:
    notes: list[str] = []
    document = DocumentReader(archive, wish).document(archive.find(id), notes.append)
    rejected = collector.send(to, requests(document.transcript, document.options))
    if rejected:
        notes.append(f"otlp: the collector did not take {count(rejected, 'span')}")
    return Exported(document.transcript.conversation.id, [], False, notes)


def export_to_file(archive: Archive, id: str, path: Path, wish: Wish) -> Exported:
    """One conversation into a file, with earlier versions beside it; its own files into a folder."""
    found = archive.find(id)
    notes: list[str] = []
    if wish.form == NATIVE:
        files = _restored(archive, found, path, wish, masker_for(archive, wish), notes)
    else:
        files = list(_documents(DocumentReader(archive, wish), found, path, notes, ours=()))
    return Exported(found.conversation.id, files, False, notes)


def _documents(
    reader: DocumentReader, found: Found, path: Path, notes: list[str], ours: Container[str]
) -> Iterator[Path]:
    """The newest version last: whoever finds it finds all."""
    form = reader.wish.form
    document = reader.document(found, notes.append)
    options = document.options._replace(name=path.name)
    ending = f".{FORMATS[form].ending}"
    stem = path.name.removesuffix(ending)
    ending = ending if path.name.endswith(ending) else ""
    for one in earlier(form, document.transcript, options):
        beside = path.with_name(f"{stem}.{one.mark}{ending}")
        write_whole(beside, one.pieces, replace=beside.name in ours)
        yield beside
    pieces = document._replace(options=options).pieces()
    write_whole(path, pieces, replace=path.name in ours)
    yield path


def _restored(
    archive: Archive, found: Found, to: Path, wish: Wish, masker: Masker | None, notes: list[str]
) -> list[Path]:
    """The conversation's own files; masked, what cannot be read as text is left out, and named."""
    if masker is None:
        return restore(archive, found, to, wish.as_of)
    files = []
    with TemporaryDirectory(prefix="rireki-") as folder:
        for file in restore(archive, found, Path(folder), wish.as_of):
            name, data = file.relative_to(folder), file.read_bytes()
            if is_text(data):
                write_whole_bytes(to / name, [masker.record(data)])
                files.append(to / name)
            else:
                notes.append(f"native: {name} is left out: it cannot be masked")
    return files


def _known_secrets(archive: Archive) -> str:
    """Changes with what is masked by its value; tells nothing to who has not the key."""
    values = known_values(os.environ, data_directory() / SETTINGS)
    return hmac.new(ensure_key(archive.home), repr(sorted(values)).encode(), "sha256").hexdigest()


def native_zip(archive: Archive, id: str, wish: Wish) -> bytes:
    """A conversation's own files in one, for who cannot be given a folder."""
    packed = BytesIO()
    with TemporaryDirectory(prefix="rireki-") as folder:
        masker = masker_for(archive, wish)
        files = _restored(archive, archive.find(id), Path(folder), wish, masker, [])
        with ZipFile(packed, "w", ZIP_DEFLATED) as made:
            for file in files:
                # Not with the file's own time: before 1980, a zip has none.
                name = str(file.relative_to(folder))
                made.writestr(ZipInfo(name, _EPOCH), file.read_bytes(), ZIP_DEFLATED)
    return packed.getvalue()


def is_address(to: str) -> bool:
    return to.startswith(("http://", "https://"))


def write_whole(path: Path, pieces: Iterable[str], replace: bool = False) -> None:
    """A document that is there only when it is complete; what is there already stays, unless it is ours."""
    # Half a surrogate pair cannot be written.
    write_whole_bytes(path, (piece.encode(errors="replace") for piece in pieces), replace)


def write_whole_bytes(path: Path, blocks: Iterable[bytes], replace: bool = False) -> None:
    digest = sha256(path.name.encode("utf-8", "replace")).hexdigest()
    part = path.with_name(f".{digest[:16]}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            part.unlink()
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            for block in blocks:
                file.write(block)
        _put(part, path, replace)
    except OSError as error:
        raise RirekiError("export-not-written", path=path, why=error.strerror) from error
    finally:
        with suppress(OSError):
            part.unlink()


def _put(made: Path, path: Path, replace: bool) -> None:
    if not replace and path.exists() and not _are_equal(made, path):
        raise RirekiError("export-exists", path=path)
    made.replace(path)


def _are_equal(one: Path, other: Path) -> bool:
    """A regular file that says the same: an export that ended before it could note it."""
    if not one.is_file() or one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as first, other.open("rb") as second:
        return all(block == second.read(len(block)) for block in _blocks(first))


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(1 << 20):
        yield block


def _read_list(path: Path) -> dict[str, _Entry]:
    """The last line of a conversation counts; one that was cut short by a crash counts for nothing."""
    found: dict[str, _Entry] = {}
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise NotFound("export-list-unreadable", path=path, why=error.strerror) from error
    for line in lines:
        with suppress(msgspec.DecodeError, msgspec.ValidationError):
            entry = msgspec.json.decode(line, type=_Entry)
            found[entry.id] = entry
    return found
