"""A remote that is a folder: every machine keeps a log of its batches in it, and reads the others'.

All of it is ciphertext. What a log holds of each strand is known to the machine that writes it, and
can be read out of the log again. Forgetting rewrites the log: what was forgotten is in no file then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256

import msgspec
from msgspec import structs

from rireki.archive.base import Archive
from rireki.archive.delta import LAST, NOTHING, Delta, Held, Part, StateFacts, behind
from rireki.archive.pack import Chunk, pack, unpack
from rireki.errors import RirekiError
from rireki.sync.cipher import Cipher
from rireki.sync.log import MARKER, BatchLog, log_name
from rireki.sync.private import write_bytes
from rireki.sync.receiver import Receiver
from rireki.sync.remotes import Remote, Remotes
from rireki.sync.sender import Told, Transferred
from rireki.sync.storage import Storage, storage_of
from rireki.sync.wire import (
    BadBatch,
    HeldStrands,
    MalformedBatch,
    PushAnswer,
    PushBatch,
    RecordsTaken,
    StreamConflict,
    StreamOpening,
    StreamPosition,
    decode,
    decode_batch,
    encode,
    encode_batch,
)

__all__ = ["FolderTarget", "ensure_folder", "is_ours", "opened", "pull"]


def ensure_folder(url: str, key: str) -> bool:
    """Make it a folder of ours; whether it was none before. Raises RirekiError if the key is not its."""
    storage, cipher = storage_of(url), Cipher(key, url)
    storage.prepare()
    try:
        cipher.decrypt(storage.read(MARKER), MARKER)
    except FileNotFoundError:
        storage.write(MARKER, cipher.encrypt(b"rireki 1\n"))
        return True
    return False


def is_ours(url: str) -> bool:
    """Whether such a folder is there already."""
    try:
        storage_of(url).read(MARKER)
    except FileNotFoundError:
        return False
    return True


def _reached(remote: Remote) -> tuple[Storage, Cipher]:
    """The folder, which is there and whose key is the right one."""
    storage, cipher = storage_of(remote.url), Cipher(remote.key, remote.url)
    try:
        cipher.decrypt(storage.read(MARKER), MARKER)
    except FileNotFoundError as error:
        raise RirekiError("folder-not-there", url=remote.url) from error
    return storage, cipher


# ── pushing ──


@contextmanager
def opened(archive: Archive, remote: Remote, remotes: Remotes) -> Iterator[FolderTarget]:
    """The folder, for one writer of this machine at a time."""
    with remotes.alone(remote.name):
        target = FolderTarget(archive, remote, remotes)
        yield target
        target.settle()


class _Log(msgspec.Struct):
    """What a log holds, as far as it was written or read."""

    folder: str = ""
    number: int = 0
    reached: int = 0
    seal: str = ""
    held: dict[int, Held] = {}
    #: What had been forgotten when it was last gone through for that.
    forgotten: str = ""

    def note(self, number: int, batch: PushBatch) -> None:
        self.number = number
        self.reached, self.seal = batch.delta.upto, batch.sealed
        for strand in batch.delta.removed:
            self.held.pop(strand, None)
        for part in batch.delta.parts:
            self.held[part.strand.id] = _after(part)


def _after(part: Part) -> Held:
    """What is there of a strand once its part is."""
    lanes = dict(part.held.lanes)
    for chunk in part.chunks:
        lanes[chunk.lane] = chunk.first + chunk.count
    return Held(part.number, lanes)


class FolderTarget:
    """Takes batches as a server does, and writes them into files."""

    def __init__(self, archive: Archive, remote: Remote, remotes: Remotes) -> None:
        self.archive = archive
        self.storage, self.cipher = _reached(remote)
        self.key = remote.key
        self._file = remotes.file(remote.name, "state")
        self._known = _Log()
        self._is_new = False

    def open(self, opening: StreamOpening) -> PushAnswer:
        self.opening = opening
        folder = log_name(opening, self.key)
        self.log = BatchLog(self.storage, self.cipher, folder)
        self._known = self._remembered(folder)
        files = self.log.files()
        if not self._known.number == self.log.end() == (files[-1].last if files else 0):
            self._known = self._read(folder)
            self.log.cut(self._known.number)
        known = self._known
        self._forget(known)
        return StreamPosition(stream=folder, reached=known.reached, seal=known.seal, kind="own")

    def _forget(self, known: _Log) -> None:
        """Whoever said to forget it: files that many conversations share had something of it, too."""
        names = sorted(self.archive.forgotten())
        forgotten = sha256(repr(names).encode()).hexdigest() if names else ""
        if known.forgotten != forgotten:
            self.log.rewrite(_Forgetting(self.archive, ()).rewritten)
            known.forgotten, self._is_new = forgotten, True

    def _remembered(self, folder: str) -> _Log:
        with suppress(OSError, BadBatch):
            known: _Log = decode(self._file.read_bytes(), _Log)
            if known.folder == folder:
                return known
        return _Log(folder)

    def _read(self, folder: str) -> _Log:
        """From the log itself: another machine's hands, or a kill, left it otherwise."""
        known = _Log(folder)
        self._is_new = True
        for number, _, body in self.log.after(0):
            known.note(number, _decoded(body, folder))
        return known

    def held(self, stream: str, strands: Sequence[int]) -> PushAnswer:
        return HeldStrands({id: self._known.held.get(id, NOTHING) for id in strands})

    def take(self, stream: str, body: bytes) -> PushAnswer:
        batch, known = _decoded(body, stream), self._known
        if (batch.delta.after, batch.seal) != (known.reached, known.seal):
            return StreamConflict(known.reached, known.seal)
        for part in batch.delta.parts:
            # The same id may have been given again.
            there = NOTHING if part.strand.id in batch.delta.removed else None
            if (there or known.held.get(part.strand.id, NOTHING)) != part.held:
                return StreamConflict(known.reached, known.seal)
        if batch.delta.removed:
            # First: were it ended in between, it would be done again.
            self.log.rewrite(_Forgetting(self.archive, batch.delta.removed).rewritten)
        known.note(self.log.append(self.opening, body), batch)
        self._is_new = True
        return RecordsTaken(known.reached, known.seal)

    def settle(self) -> None:
        """Remember it for the next time."""
        if self._is_new:
            write_bytes(self._file, encode(self._known))


def _decoded(body: bytes, place: str) -> PushBatch:
    try:
        batch = decode_batch(body)
    except BadBatch as error:
        raise RirekiError("folder-not-opened", url=place, why=error) from error
    if not isinstance(batch, PushBatch):
        raise RirekiError("remote-too-new", name=place)
    return batch


class _Forgetting:
    """Takes out of older batches what is forgotten."""

    def __init__(self, archive: Archive, removed: Collection[int]) -> None:
        self.archive = archive
        self.removed = set(removed)
        self.names = set(archive.forgotten())
        families = {family for family, _ in self.names}
        #: Files of many conversations: their records are empty where they named one of these.
        self.shared = {id for f in families for id in archive.rows.shared_strands(f)}

    def rewritten(self, body: bytes) -> bytes:
        batch = _decoded(body, "log")
        kept = [self._part(p) for p in batch.delta.parts if p.strand.id not in self.removed]
        facts = [f for f in batch.delta.facts if (f.family, f.conversation) not in self.names]
        if kept == batch.delta.parts and facts == batch.delta.facts:
            return body
        used = {part.strand.origin for part in kept}
        origins = [origin for origin in batch.delta.origins if origin.id in used]
        delta = structs.replace(batch.delta, parts=kept, facts=facts, origins=origins)
        return encode_batch(structs.replace(batch, delta=delta))

    def _part(self, part: Part) -> Part:
        if part.strand.id not in self.shared:
            return part
        chunks = [new for chunk in part.chunks for new in self._chunk(part.strand.id, chunk)]
        states = [self._without_tail(state) for state in part.states]
        return structs.replace(part, chunks=chunks, states=states)

    def _chunk(self, strand: int, chunk: Chunk) -> list[Chunk]:
        """With its records as they are now."""
        told = unpack(chunk.data, chunk.size, chunk.lengths, f"lane {chunk.lane}")
        ordinals = range(chunk.first, chunk.first + chunk.count)
        records = self.archive.fetch_records(strand, chunk.lane, ordinals)
        return [chunk] if records == told else pack(chunk.lane, chunk.first, records)

    def _without_tail(self, state: StateFacts) -> StateFacts:
        named = any(name.encode() in state.tail for _, name in self.names)
        return structs.replace(state, tail=b"") if named else state


# ── pulling ──


class _Pulled(msgspec.Struct):
    """Noted in the archive: how far a log was taken, and whose it is."""

    number: int
    opening: StreamOpening


def pull(
    archive: Archive, remote: Remote, receiver: Receiver, own: StreamOpening, told: Told
) -> Transferred:
    """Everything that other machines have written, and this one in an earlier life."""
    storage, cipher = _reached(remote)
    done = Transferred()
    mine = log_name(own, remote.key)
    troubles: list[RirekiError] = []
    for folder in storage.names(""):
        if folder != mine and len(folder) == len(mine):
            log = BatchLog(storage, cipher, folder)
            try:
                _LogPuller(archive, receiver, log, remote, done, told).pull()
            except RirekiError as error:
                # One log that is damaged keeps nothing of the others away.
                troubles.append(error)
    if troubles:
        raise troubles[0]
    return done


class _LogPuller:
    def __init__(
        self,
        archive: Archive,
        receiver: Receiver,
        log: BatchLog,
        remote: Remote,
        done: Transferred,
        told: Told,
    ) -> None:
        self.archive = archive
        self.receiver = receiver
        self.log = log
        self.name = remote.name
        self.done = done
        self.told = told
        self._note = f"log {log.folder}"

    def pull(self) -> None:
        begun = self._begin()
        if not self._pull(begun) and begun:
            # The log is another one than it was: a drive was put back, and it was told again.
            self._pull(0)

    def _pull(self, begun: int) -> bool:
        """All that is behind a batch; False where that is not where we are."""
        reached = begun
        for number, opening, body in self.log.after(begun):
            batch = _decoded(body, self.log.folder)
            where = self._position(opening)
            if number == begun + 1 > 1 and not _goes_on(batch, where):
                return False
            self._take(where, batch, len(body))
            reached = number
            noted = _Pulled(number, opening)
            self.archive.set_note(self._note, msgspec.json.encode(noted).decode())
        last = max((file.last for file in self.log.files()), default=0)
        # A drive may bring files one after the other, and not in their order.
        self.done.missing += last > reached
        return last >= reached

    def _begin(self) -> int:
        """Behind which batch to go on; from the beginning where something was remembered again."""
        noted = self.archive.note_of(self._note)
        if not noted:
            return 0
        pulled = msgspec.json.decode(noted, type=_Pulled)
        return pulled.number if self._position(pulled.opening).reached else 0

    def _position(self, opening: StreamOpening) -> StreamPosition:
        answer = self.receiver.open(opening)
        if not isinstance(answer, StreamPosition):
            raise RirekiError("remote-refused", name=self.name, why=_why(answer))
        return answer

    def _take(self, where: StreamPosition, batch: PushBatch, size: int) -> None:
        delta = batch.delta
        if delta.upto < where.reached or delta.after < delta.upto == where.reached:
            return
        # Another way, or an earlier time, may have led further already.
        parts = self._missing(int(where.stream), delta)
        going_on = structs.replace(
            batch,
            delta=structs.replace(delta, parts=parts, after=max(delta.after, where.reached)),
            seal=where.seal,
        )
        answer = self.receiver.take_batch(where.stream, going_on)
        if not isinstance(answer, RecordsTaken):
            raise RirekiError("remote-refused", name=self.name, why=_why(answer))
        self.done.batches += 1
        self.done.bytes += size
        self.done.strands += len(parts)
        self.told(self.done)

    def _missing(self, stream: int, delta: Delta) -> list[Part]:
        """What is not here of each strand, going on from what is."""
        known = self.archive.held(stream, [part.strand.id for part in delta.parts])
        # These go before anything is told of their ids again.
        known = {id: held for id, held in known.items() if id not in delta.removed}
        found = (_rest(part, known.get(part.strand.id, NOTHING)) for part in delta.parts)
        return [part for part in found if part is not None]


def _goes_on(batch: PushBatch, where: StreamPosition) -> bool:
    return (batch.delta.after, batch.seal) == (where.reached, where.seal)


def _rest(part: Part, known: Held) -> Part | None:
    """A part without what is here; None where that is all of it, or it was forgotten here."""
    wanted = _after(part)
    if known.number >= LAST:
        return None
    if known == part.held or not _covers(known, part.held):
        return part
    if _covers(known, wanted):
        return None
    chunks = [
        new
        for chunk in part.chunks
        if chunk.first + chunk.count > known.lanes.get(chunk.lane, 0)
        for new in behind(chunk, known.lanes.get(chunk.lane, 0))
    ]
    here = [state for state in part.states if state.number <= known.number]
    states = part.states[len(here) :]
    return structs.replace(
        part, held=known, chunks=chunks, kept=part.kept + len(here), states=states
    )


def _covers(known: Held, wanted: Held) -> bool:
    lanes = all(known.lanes.get(lane, 0) >= count for lane, count in wanted.lanes.items())
    return known.number >= wanted.number and lanes


def _why(answer: PushAnswer) -> str:
    if isinstance(answer, StreamConflict):
        return "it goes on from records that are not here"
    return answer.why if isinstance(answer, MalformedBatch) else type(answer).__name__
