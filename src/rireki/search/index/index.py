"""The index of an archive on disk: finding it, making it, and trusting it.

    archive.search/
    ├── current            names the folder in use
    └── 1f0c…/             words/ (Tantivy)  texts.sqlite3 (what it has, and the texts)

It is a projection: whatever is wrong with it, a new one is made.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import ELOOP
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import apsw

from rireki.home import Home
from rireki.late import LateModule
from rireki.search.index.notes import (
    FORMAT,
    UNSETTLED,
    Damaged,
    IndexedConversation,
    IndexStore,
    cannot_write,
)
from rireki.search.index.words import (
    WordReader,
    WriteFailed,
    check_files,
    linked,
    make_index,
    open_index,
    shape,
)
from rireki.search.text.tokens import VERSION

if TYPE_CHECKING:
    import shutil
    from tempfile import TemporaryDirectory

    import zstandard
else:
    shutil = LateModule("shutil")
    zstandard = LateModule("zstandard")

__all__ = [
    "NOTE",
    "Index",
    "Indexed",
    "adopt",
    "entries",
    "glance",
    "index_folder",
    "make",
    "make_aside",
    "noted",
    "open_existing",
    "peek",
    "sweep",
]

#: The archive's note about the last commit of its index.
NOTE = "index"
#: The name of no commit yet; others have one that none ever had.
_FIRST = "none"
#: Of a folder that holds an index; ours are much shorter.
_LONGEST_NAME = 100


class Indexed(Protocol):
    """Whose index it is: an archive, or several together."""

    @property
    def name(self) -> str: ...
    @property
    def home(self) -> Home: ...
    def identity(self) -> str: ...
    def note_of(self, name: str) -> str | None: ...
    def set_note(self, name: str, value: str) -> None: ...


def index_folder(archive: Indexed) -> Path:
    return archive.home.index


def _kind(archive: Indexed) -> str:
    """What an index must have been made by and for to be of use."""
    return f"{FORMAT}.{VERSION}.{archive.identity()}"


class Index:
    def __init__(self, folder: Path, kind: str) -> None:
        self.folder = folder
        self.store = IndexStore(folder / "texts.sqlite3")
        #: The generation of its notes when they were last looked at.
        self.seen = 0
        self._links: TemporaryDirectory[str] | None = None
        try:
            facts = self.store.facts()
            if facts.get("kind") != kind:
                raise Damaged(f"{folder} was made by another version, or for another archive")
            check_files(self.words_folder, json.loads(facts.get("stamps", "{}")))
            self._links = linked(self.words_folder)
            words = Path(self._links.name) if self._links else self.words_folder
            self.words = open_index(words, facts.get("shape"))
            self._check_notes()
        except BaseException:
            self.close()
            raise

    @property
    def words_folder(self) -> Path:
        return self.folder / "words"

    @property
    def read_only(self) -> bool:
        return self.store.read_only or self._links is not None

    def reader(self) -> WordReader:
        return WordReader(self.words)

    def _check_notes(self) -> None:
        """The words first, the notes afterwards: they are of one commit, or tell nothing."""
        reader = self.reader()
        facts = self.store.facts()
        generation = self.seen = facts.get("generation", 0)
        if reader.generation > max(generation, facts.get("coming", 0)):
            raise Damaged(f"{self.folder} was written further than its notes know")
        wanted = facts.get("documents", reader.documents)
        if reader.generation == generation and reader.documents != wanted:
            raise Damaged(f"{self.words_folder} has lost documents")

    def verify(self) -> None:
        """Read every byte; raises Damaged."""
        self.store.check()
        check_files(self.words_folder, {}, thorough=True)
        reader = self.reader()
        found = reader.per_conversation()
        for kept in self.store.talks()[1]:
            blocks = [entries(data) for _, data in self.store.blocks(kept.number)]
            if kept.changed > UNSETTLED and kept.generation <= reader.generation:
                # One document more: the title.
                wanted = sum(map(len, blocks)) - len(kept.dead) + 1
                if found.get(kept.number, 0) != wanted:
                    raise Damaged(f"{self.folder} does not have all of {kept.id}")

    def is_known_to(self, archive: Indexed) -> bool:
        """Whether the archive remembers the last commit: one that was put back does not, nor does
        a copy that went its own way."""
        # The archive first: a writer tells our own notes of a commit before it tells the archive.
        noted = archive.note_of(NOTE)
        facts = self.store.facts()
        commits = (facts.get("name", _FIRST), facts.get("coming name"))
        return noted in [f"{self.folder.name}/{commit}" for commit in commits]

    def is_current(self) -> bool:
        try:
            name = (self.folder.parent / "current").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return False
        return name.strip() == self.folder.name

    def condemn(self) -> None:
        """Whoever used it found it damaged: nobody is to open it again.

        Unless it was written since it was looked at: then it only seemed so.
        """
        with suppress(Damaged):
            if self.store.get("generation") != self.seen:
                return
        with suppress(OSError, apsw.Error), _alone(self.folder.parent):
            if self.is_current():
                (self.folder.parent / "current").unlink()

    def close(self) -> None:
        self.store.close()
        if self._links is not None:
            self._links.cleanup()


def _current(archive: Indexed) -> Path | None:
    base = index_folder(archive)
    try:
        name = (base / "current").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Damaged(f"{base}: {error}") from error
    folder = base / name
    # A name of any length may stand there: is_dir() does not take all of them for an answer.
    if not name or len(name) > _LONGEST_NAME or not folder.is_dir():
        raise Damaged(f"{base / name[:_LONGEST_NAME]} is not there")
    return folder


def peek(archive: Indexed) -> list[IndexedConversation] | None:
    """How far the index is, without opening it whole; None when there is none."""
    with noted(archive) as store:
        return store.talks()[1] if store is not None else None


def glance(archive: Indexed) -> tuple[int, int]:
    """The same in two numbers: the newest change it has, and of how many conversations it has any.

    Raises Damaged for an index that has to be made anew.
    """
    with noted(archive) as store:
        if store is None:
            return 0, 0
        if store.get("kind") != _kind(archive):
            raise Damaged(f"{store.path} was made by another version, or for another archive")
        return store.reached()


@contextmanager
def noted(archive: Indexed) -> Iterator[IndexStore | None]:
    """The notes of the index alone, for a look; None when there is none. Raises Damaged."""
    folder = _current(archive)
    store = IndexStore(folder / "texts.sqlite3") if folder is not None else None
    try:
        yield store
    finally:
        if store is not None:
            store.close()


def open_existing(archive: Indexed) -> Index | None:
    """The index, or None when there is none yet. Raises Damaged when it cannot be used."""
    folder = _current(archive)
    if folder is None:
        return None
    index = Index(folder, _kind(archive))
    if not index.is_known_to(archive):
        index.close()
        raise Damaged(
            f"{folder} is not what {archive.name} wrote last: one of them was put back or copied"
        )
    return index


def make(archive: Indexed, *, anew: bool = False) -> Index:
    """A new, empty index, unless somebody else just made one; with `anew` in any case."""
    base = index_folder(archive)
    try:
        with _alone(base):
            index = None
            with suppress(Damaged):
                index = None if anew else open_existing(archive)
            return index if index is not None else _make(archive, base)
    except (OSError, apsw.Error, WriteFailed) as error:
        raise cannot_write(base, error) from error


def make_aside(archive: Indexed) -> Index:
    """An empty index that nobody uses before it is adopted; `make` and `sweep` would remove it."""
    folder = index_folder(archive) / os.urandom(6).hex()
    try:
        _fill(folder, _kind(archive))
    except (OSError, apsw.Error, WriteFailed) as error:
        raise cannot_write(folder, error) from error
    return Index(folder, _kind(archive))


def adopt(archive: Indexed, aside: Index) -> None:
    """Use an index that was made aside instead of the one in use, which goes."""
    base = index_folder(archive)
    try:
        with _alone(base):
            _use(archive, base, aside.folder, aside.store.get("name", _FIRST))
    except (OSError, apsw.Error) as error:
        raise cannot_write(base, error) from error


def _make(archive: Indexed, base: Path) -> Index:
    folder = base / os.urandom(6).hex()
    try:
        _fill(folder, _kind(archive))
        _use(archive, base, folder, _FIRST)
    except BaseException:
        # Who cannot make one tries again and again: nothing is to be left of each time.
        with suppress(OSError):
            _clear(folder)
        raise
    return Index(folder, _kind(archive))


def _use(archive: Indexed, base: Path, folder: Path, commit: str) -> None:
    fresh = base / "current.new"
    archive.set_note(NOTE, f"{folder.name}/{commit}")
    try:
        _clear(fresh)
        fresh.write_text(folder.name, encoding="utf-8")
        if (base / "current").is_dir():
            _clear(base / "current")
        fresh.replace(base / "current")
    except BaseException:
        with suppress(OSError):
            _clear(fresh)
        raise
    for old in _left_over(base):
        # A reader may still hold its files open; what cannot go now goes next time.
        with suppress(OSError):
            _clear(old)


def _fill(folder: Path, kind: str) -> None:
    make_index(folder / "words")
    store = IndexStore(folder / "texts.sqlite3", create=True)
    try:
        with store.writing():
            store.put("kind", kind)
            store.put("shape", shape(folder / "words"))
            store.put("generation", 0)
    finally:
        store.close()


def sweep(archive: Indexed, *, whole: bool = False) -> None:
    """Remove what is left over, and with `whole` the index in use as well: no word stays."""
    base = index_folder(archive)
    try:
        # A look without the lock: hardly ever there is something to do.
        if not whole and not _left_over(base):
            return
        with _alone(base):
            if whole:
                _clear(base / "current")
            for old in _left_over(base):
                _clear(old)
    except (OSError, apsw.Error) as error:
        raise cannot_write(base, error) from error


def _left_over(base: Path) -> list[Path]:
    """Folders beside the one in use: a killed process left them, or another is just making one."""
    if not base.is_dir():
        return []
    name = ""
    with suppress(FileNotFoundError, IsADirectoryError, UnicodeDecodeError):
        name = (base / "current").read_text(encoding="utf-8").strip()
    return [path for path in base.iterdir() if path.is_dir() and path.name != name]


def _clear(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _refuse_other_folder(base: Path) -> None:
    """A link in somebody else's folder could lead anywhere, and what we clear away would be lost there.

    One that leads to an index, or to nothing yet, was made to have it on another disk.
    """
    if base.is_symlink() and base.is_dir():
        inside = {path.name for path in base.iterdir()}
        if inside and "lock.sqlite3" not in inside:
            raise OSError(ELOOP, "it is a link to a folder that is no index", str(base))


@contextmanager
def _alone(base: Path) -> Iterator[None]:
    """One process at a time; a dead one's lock ends with it."""
    _refuse_other_folder(base)
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = base / "lock.sqlite3"
    try:
        lock = _locked(path)
    except (apsw.NotADBError, apsw.CorruptError, apsw.CantOpenError):
        # It never holds anything: whatever this is, it is not ours.
        _clear(path)
        lock = _locked(path)
    try:
        yield
    finally:
        lock.execute("ROLLBACK")
        lock.close()


def _locked(path: Path) -> apsw.Connection:
    lock = apsw.Connection(str(path))
    lock.set_busy_timeout(30_000)
    lock.execute("BEGIN EXCLUSIVE")
    return lock


def entries(data: bytes) -> list[tuple[str, int]]:
    """The message and mark of each document in a block."""
    # Imported late: only when a block is compared; searches read blocks otherwise.
    from rireki.search.text.blocks import open_block, open_entry

    try:
        return [(entry.message, entry.mark) for entry in map(open_entry, open_block(data))]
    except (ValueError, zstandard.ZstdError) as error:
        raise Damaged(f"a block of texts is damaged: {error}") from error
