"""The index of an archive on disk: finding it, making it, trusting it, and writing to it.

    archive.search/
    ├── current            names the folder in use
    └── 1f0c…/             words/ (Tantivy)  texts.sqlite3 (what it has, and the texts)

It is a projection: whatever is wrong with it, a new one is made. Only the process
that holds Tantivy's own lock writes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from rireki.archive.base import Archive, Heading
from rireki.search.blocks import MOST, Digest, heading_row, open_block, open_entry
from rireki.search.store import FORMAT, UNSETTLED, Damaged, Kept, Store, cannot_write
from rireki.search.tokens import VERSION
from rireki.search.words import (
    WordReader,
    WordWriter,
    WriteFailed,
    check_files,
    linked,
    make_index,
    open_index,
    shape,
    stamps,
)

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

__all__ = ["Index", "IndexWriter", "index_folder", "make", "open_existing", "peek", "sweep"]

#: Documents per commit: bounds what a kill costs, and the texts that wait in memory.
BATCH = 150_000
#: A conversation in more blocks than this, or with more dead documents than live ones, is
#: written anew.
MANY_BLOCKS = 40
#: The archive's note about the last commit of its index.
NOTE = "index"
#: The name of no commit yet; others have one that none ever had.
_FIRST = "none"
#: Of a folder that holds an index; ours are much shorter.
_LONGEST_NAME = 100


def index_folder(archive: Archive) -> Path:
    return archive.path.with_suffix(".search")


def _kind(archive: Archive) -> str:
    """What an index must have been made by and for to be of use."""
    return f"{FORMAT}.{VERSION}.{archive.identity()}"


class Index:
    def __init__(self, folder: Path, kind: str) -> None:
        self.folder = folder
        self.store = Store(folder / "texts.sqlite3")
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
        found = reader.per_talk()
        for kept in self.store.talks()[1]:
            blocks = [_entries(data) for _, _, data in self.store.blocks(kept.number)]
            if kept.changed > UNSETTLED and kept.generation <= reader.generation:
                # One document more: the title.
                wanted = sum(map(len, blocks)) - len(kept.dead) + 1
                if found.get(kept.number, 0) != wanted:
                    raise Damaged(f"{self.folder} does not have all of {kept.id}")

    def is_known_to(self, archive: Archive) -> bool:
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


def _current(archive: Archive) -> Path | None:
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


def peek(archive: Archive) -> list[Kept] | None:
    """How far the index is, without opening it whole; None when there is none."""
    folder = _current(archive)
    if folder is None:
        return None
    store = Store(folder / "texts.sqlite3")
    try:
        return store.talks()[1]
    finally:
        store.close()


def open_existing(archive: Archive) -> Index | None:
    """The index, or None when there is none yet. Raises Damaged when it cannot be used."""
    folder = _current(archive)
    if folder is None:
        return None
    index = Index(folder, _kind(archive))
    if not index.is_known_to(archive):
        index.close()
        raise Damaged(
            f"{folder} is not what {archive.path} wrote last: one of them was put back or copied"
        )
    return index


def make(archive: Archive, *, anew: bool = False) -> Index:
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


def _make(archive: Archive, base: Path) -> Index:
    folder, fresh = base / os.urandom(6).hex(), base / "current.new"
    try:
        _fill(folder, _kind(archive))
        archive.set_note(NOTE, f"{folder.name}/{_FIRST}")
        _clear(fresh)
        fresh.write_text(folder.name, encoding="utf-8")
        if (base / "current").is_dir():
            _clear(base / "current")
        fresh.replace(base / "current")
    except BaseException:
        # Who cannot make one tries again and again: nothing is to be left of each time.
        for begun in (folder, fresh):
            with suppress(OSError):
                _clear(begun)
        raise
    for old in _left_over(base):
        # A reader may still hold its files open; what cannot go now goes next time.
        with suppress(OSError):
            _clear(old)
    return Index(folder, _kind(archive))


def _fill(folder: Path, kind: str) -> None:
    make_index(folder / "words")
    store = Store(folder / "texts.sqlite3", create=True)
    try:
        with store.writing():
            store.put("kind", kind)
            store.put("shape", shape(folder / "words"))
            store.put("generation", 0)
    finally:
        store.close()


def sweep(archive: Archive, *, whole: bool = False) -> None:
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
        import shutil

        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _alone(base: Path) -> Iterator[None]:
    """One process at a time; a dead one's lock ends with it."""
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


def _entries(data: bytes) -> list[tuple[str, int]]:
    """The message and mark of each document in a block."""
    import zstandard

    try:
        entries = map(open_entry, open_block(data))
        return [(entry.message, entry.mark) for entry in entries]
    except (ValueError, zstandard.ZstdError) as error:
        raise Damaged(f"a block of texts is damaged: {error}") from error


class IndexWriter:
    """Brings conversations into the index, many to a commit. Raises Busy when another process writes."""

    def __init__(self, index: Index, archive: Archive) -> None:
        if index.read_only:
            raise cannot_write(index.folder, "it can only be read")
        self.index = index
        self.store = index.store
        self.archive = archive
        self.words = WordWriter(index.words)
        try:
            self._begin(self._agreed())
            #: What the index had of each conversation, before anything is begun.
            self.known = {kept.id: kept for kept in self.store.talks()[1]}
        except BaseException:
            self.words.close()
            raise

    def _agreed(self) -> int:
        """The last commit, as words and notes have it.

        Notes are not forced to the disk: after a power cut they may lack the last commits,
        and what they say then no longer fits the words.
        """
        generation = self.index.reader().generation
        facts = self.store.facts()
        if generation not in (facts.get("generation"), facts.get("coming")):
            raise Damaged(f"{self.index.folder} was written further than its notes know")
        return generation

    def _begin(self, generation: int) -> None:
        self.generation = generation + 1
        self.name = os.urandom(6).hex()
        self.next_block = self.store.next_block()
        self._settling: list[Kept] = []
        self._blocks: list[tuple[int, int, str, bytes]] = []
        self._cleared: list[int] = []
        self._dropped: list[int] = []
        self._documents = 0
        self._letters = 0

    def marks(self, id: str) -> dict[str, tuple[int, int]]:
        """Mark and place of each document of a conversation; empty when it has to be written anew."""
        kept = self.known.get(id)
        if kept is None or kept.changed == UNSETTLED:
            return {}
        blocks = self.store.blocks(kept.number)
        if len(blocks) > MANY_BLOCKS:
            return {}
        marks: dict[str, tuple[int, int]] = {}
        total = 0
        for number, _, data in blocks:
            for place, (message, mark) in enumerate(_entries(data), number * MOST):
                total += 1
                if place not in kept.dead:
                    marks[message] = (mark, place)
        return marks if total < 2 * len(marks) + 8 else {}

    def begin(self, ids: list[str]) -> None:
        """Say which conversations are about to be written: nobody relies on them until then."""
        with self.store.writing():
            for id in ids:
                self.store.begin(id, self.generation)

    def put(
        self,
        digest: Digest,
        heading: Heading,
        strands: list[int],
        marks: dict[str, tuple[int, int]] | None = None,
    ) -> None:
        """Write a conversation; `marks` is what the index has of it, where that is to be kept."""
        kept = self.store.talk(digest.id)
        assert kept is not None, "begin was not called"
        dead: frozenset[int] = frozenset()
        if marks:
            gone = {p for m, (mark, p) in marks.items() if digest.marks.get(m) != mark}
            self.words.remove(gone)
            self.words.remove_head(kept.number)
            dead = self.known[digest.id].dead | gone
        elif digest.id in self.known:
            self.words.remove_talk(kept.number)
            self._cleared.append(kept.number)
        names = json.dumps(strands, separators=(",", ":"))
        for block in digest.blocks:
            self.words.add(kept.number, self.next_block * MOST, block.rows)
            self._blocks.append((self.next_block, kept.number, names, block.data))
            self._documents += len(block.rows)
            self._letters += sum(len(row.words) for row in block.rows)
            self.next_block += 1
        self._head(kept.number, heading)
        self._settling.append(Kept(kept.number, kept.id, heading.changed, self.generation, dead))
        if self._documents >= BATCH:
            self.commit()

    def carry_over(self, heading: Heading, *, renamed: bool) -> None:
        """What was written of a conversation holds at a later change too, maybe but for its title."""
        if renamed:
            self.begin([heading.id])
        kept = self.store.talk(heading.id)
        assert kept is not None, "it was never written"
        if renamed:
            self.words.remove_head(kept.number)
            self._head(kept.number, heading)
        self._settling.append(kept._replace(changed=heading.changed, generation=self.generation))

    def _head(self, number: int, heading: Heading) -> None:
        self.words.head(number, heading_row(heading))

    def drop(self, numbers: list[int]) -> None:
        """Forget conversations that the archive no longer has."""
        for number in numbers:
            self.words.remove_talk(number)
        self._dropped += numbers

    def commit(self) -> None:
        with self.store.writing():
            # Tells a kill between the two commits from notes that were lost.
            self.store.put("coming", self.generation)
            self.store.put("coming name", self.name)
        self.archive.set_note(NOTE, f"{self.index.folder.name}/{self.name}")
        self.words.commit(self.generation)
        with self.store.writing():
            self._note()
        self.index.seen = self.generation
        self._begin(self.generation)

    def _note(self) -> None:
        self.store.drop(self._dropped)
        for number in self._cleared:
            self.store.drop_blocks(number)
        for block in self._blocks:
            self.store.add_block(*block)
        for kept in self._settling:
            self.store.settle(kept)
            self.known[kept.id] = kept
        self.store.put("generation", self.generation)
        self.store.put("name", self.name)
        self.store.put("documents", self.index.reader().documents)
        # What was ever added, for an average.
        self.store.put("letters", self.store.get("letters", 0) + self._letters)
        self.store.put("added", self.store.get("added", 0) + self._documents)
        self.store.put("stamps", json.dumps(stamps(self.index.words_folder)))

    def close(self) -> None:
        try:
            if self._settling:
                self.commit()
        finally:
            self.words.close()
        with self.store.writing():
            self.store.put("stamps", json.dumps(stamps(self.index.words_folder)))
