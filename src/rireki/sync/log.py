"""The batches of one stream in an encrypted folder, in their order.

They are numbered from 1; a file holds several that follow each other, and its name says which. Small
ones are put together with the next, so that there are few files. Knows nothing of archives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import NamedTuple

import msgspec

from rireki.errors import RirekiError
from rireki.sync.cipher import Cipher
from rireki.sync.storage import Storage
from rireki.sync.wire import BadBatch, StreamOpening, decode, encode

__all__ = ["MARKER", "BatchLog", "LoggedBatches", "LogFile", "log_name"]

#: Tells that this is a folder of ours, and whether a key is the right one.
MARKER = "rireki.age"
#: A file is full with so many bytes.
FULL = 1 << 20
_NAME = re.compile(r"([0-9]{10})-([0-9]{10})\.age")
#: How often the folder is listed again when a file of it went meanwhile.
ATTEMPTS = 5


class LogFile(NamedTuple):
    first: int
    last: int
    name: str


class LoggedBatches(msgspec.Struct, frozen=True):
    """What is in a file."""

    opening: StreamOpening
    first: int
    bodies: list[bytes]


def log_name(opening: StreamOpening, key: str) -> str:
    """The folder of a stream: tells nothing to who has no key."""
    told = f"{key} {opening.archive} {opening.epoch}"
    return sha256(told.encode()).hexdigest()[:32]


class BatchLog:
    def __init__(self, storage: Storage, cipher: Cipher, folder: str) -> None:
        self.storage = storage
        self.cipher = cipher
        self.folder = folder

    def files(self) -> list[LogFile]:
        """In order, none of whose batches are in another: a merge may have been cut short."""
        found = [
            LogFile(int(match[1]), int(match[2]), name)
            for name in self.storage.names(self.folder)
            if (match := _NAME.fullmatch(name))
        ]
        files: list[LogFile] = []
        for file in sorted(found, key=lambda each: (each.first, -each.last)):
            if not files or file.last > files[-1].last:
                files.append(file)
        return files

    def end(self) -> int:
        """The number of the last batch, up to where one is missing."""
        end = 0
        for file in self.files():
            if file.first > end + 1:
                break
            end = file.last
        return end

    def read(self, file: LogFile) -> LoggedBatches:
        """Raises FileNotFoundError where it was put together with others meanwhile."""
        name = f"{self.folder}/{file.name}"
        plain = self.cipher.decrypt(self.storage.read(name), name)
        try:
            held: LoggedBatches = decode(plain, LoggedBatches)
        except BadBatch as error:
            raise RirekiError("folder-not-opened", url=name, why=error) from error
        numbers = (held.first, held.first + len(held.bodies) - 1)
        is_ours = log_name(held.opening, self.cipher.key) == self.folder
        if not is_ours or numbers != (file.first, file.last):
            raise RirekiError("folder-not-opened", url=name, why="it was renamed")
        return held

    def after(self, number: int) -> Iterator[tuple[int, StreamOpening, bytes]]:
        """Every batch behind one, up to where one is missing."""
        for _ in range(ATTEMPTS):
            try:
                for file in self.files():
                    if file.last <= number:
                        continue
                    if file.first > number + 1:
                        return
                    held = self.read(file)
                    for body in held.bodies[number + 1 - file.first :]:
                        number += 1
                        yield number, held.opening, body
            except FileNotFoundError:
                continue
            return

    def append(self, opening: StreamOpening, body: bytes) -> int:
        """One more; returns its number. One writer at a time."""
        files = self.files()
        last = files[-1] if files else LogFile(1, 0, "")
        held = LoggedBatches(opening, last.last + 1, [body])
        merged = False
        if files and len(body) < FULL:
            before = self.read(last)
            if sum(map(len, before.bodies)) + len(body) < FULL:
                held = LoggedBatches(opening, before.first, [*before.bodies, body])
                merged = True
        self._write(held)
        if merged:
            self.storage.remove(f"{self.folder}/{last.name}")
        return last.last + 1

    def rewrite(self, change: Callable[[bytes], bytes]) -> None:
        """Every batch anew, as `change` makes it."""
        for file in self.files():
            held = self.read(file)
            bodies = [change(body) for body in held.bodies]
            if bodies != held.bodies:
                self._write(LoggedBatches(held.opening, held.first, bodies))
        self._tidy()

    def cut(self, number: int) -> None:
        """Without what lies behind a batch: one is missing there, and all of it is told again."""
        for file in self.files():
            if file.first > number:
                self.storage.remove(f"{self.folder}/{file.name}")

    def _tidy(self) -> None:
        """What a merge that was cut short left behind."""
        kept = {file.name for file in self.files()}
        for name in self.storage.names(self.folder):
            if _NAME.fullmatch(name) and name not in kept:
                self.storage.remove(f"{self.folder}/{name}")

    def _write(self, held: LoggedBatches) -> None:
        name = f"{held.first:010}-{held.first + len(held.bodies) - 1:010}.age"
        self.storage.write(f"{self.folder}/{name}", self.cipher.encrypt(encode(held)))
