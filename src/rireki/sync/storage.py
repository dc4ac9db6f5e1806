"""Files in a folder that somebody else may look after: on a disk, a synchronised drive, or behind SSH.

Nothing is known here of what is in them. A file is there whole or not at all.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from shlex import quote
from typing import Protocol
from urllib.parse import unquote, urlsplit

from rireki.errors import RirekiError

__all__ = ["LocalStorage", "SshStorage", "Storage", "folder_url", "storage_of"]

#: Seconds for one file over SSH.
PATIENCE = 300
#: What a command of ours ends with where a file is not there.
_MISSING = 44
#: Bytes of a file of ours: a batch may have one record of 256 MB.
LARGEST = 512 << 20
_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
_TIDY = re.compile(r"[A-Za-z0-9._-]+")


class Storage(Protocol):
    """Names are of ours, with a slash between folder and file; raises RirekiError where nothing can
    be reached, FileNotFoundError where one file is not there."""

    def prepare(self) -> None:
        """Make the folder itself."""
        ...

    def names(self, folder: str) -> list[str]: ...
    def read(self, name: str) -> bytes: ...
    def write(self, name: str, data: bytes) -> None: ...
    def remove(self, name: str) -> None: ...


def folder_url(url: str) -> str:
    """An address of a folder as it is kept: a whole path, or ssh://."""
    if url.startswith("ssh://"):
        _ssh_parts(url)
        return url.rstrip("/")
    if url.startswith("file:"):
        parts = urlsplit(url)
        if parts.netloc not in ("", "localhost") or not parts.path:
            raise RirekiError("remote-bad-url", url=url, why="file:///FOLDER")
        url = unquote(parts.path)
    elif re.match(r"[a-z][a-z0-9+.-]+://", url):
        raise RirekiError("remote-bad-url", url=url, why=url.partition(":")[0])
    return os.path.abspath(os.path.expanduser(url))  # noqa: PTH100, PTH111 - `..` is taken out


def storage_of(url: str) -> Storage:
    return SshStorage(url) if url.startswith("ssh://") else LocalStorage(Path(url))


class LocalStorage:
    def __init__(self, root: Path) -> None:
        self.root = root

    def prepare(self) -> None:
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise self._unreached(error) from error

    def names(self, folder: str) -> list[str]:
        try:
            return _tidy([path.name for path in (self.root / folder).iterdir()])
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise self._unreached(error) from error

    def read(self, name: str) -> bytes:
        try:
            # A pipe would be waited for.
            file = os.open(self.root / name, os.O_RDONLY | _FLAGS)
            try:
                return _read(file, str(self.root / name))
            finally:
                os.close(file)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise self._unreached(error) from error

    def write(self, name: str, data: bytes) -> None:
        file = self.root / name
        aside = file.with_name(f".{file.name}.{token_hex(4)}")
        try:
            # The root itself is not made: where it went, a disk is not there.
            file.parent.mkdir(mode=0o700, exist_ok=True)
            try:
                with aside.open("xb") as made:
                    made.write(data)
                    made.flush()
                    os.fsync(made.fileno())
                aside.replace(file)
            except BaseException:
                with suppress(OSError):
                    aside.unlink()
                raise
        except OSError as error:
            raise self._unreached(error) from error

    def remove(self, name: str) -> None:
        with suppress(OSError):
            (self.root / name).unlink()

    def _unreached(self, error: OSError) -> RirekiError:
        why = error.strerror or error
        return RirekiError("folder-not-reached", url=self.root, why=why)


class SshStorage:
    """Each file is one command on the other machine, which needs a shell and nothing of ours."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._ssh, self.root = _ssh_parts(url)

    def prepare(self) -> None:
        self._run(f"umask 077 && mkdir -p {self._place('')}")

    def names(self, folder: str) -> list[str]:
        place = self._place(folder)
        with suppress(FileNotFoundError):
            found = self._run(f"test -d {place} || exit {_MISSING}; ls -1 {place}")
            return _tidy(found.decode("utf-8", "replace").splitlines())
        return []

    def read(self, name: str) -> bytes:
        place = self._place(name)
        # What is there and no file (a pipe would be waited for) is told from what is not there.
        found = f"test -e {place} || exit {_MISSING}; test -f {place} || {{ echo no file >&2; exit 1; }}"
        return _bounded(self._run(f"{found}; head -c {LARGEST + 1} {place}"), name)

    def write(self, name: str, data: bytes) -> None:
        folder, _, file = name.rpartition("/")
        aside = self._place("/".join(filter(None, [folder, f".{file}.{token_hex(4)}"])))
        root, parent = self._place(""), self._place(folder)
        # What came only in part is never given its name.
        made = f"test -d {root} && mkdir -p {parent} && cat > {aside}"
        whole = f"test $(wc -c < {aside}) -eq {len(data)} && mv {aside} {self._place(name)}"
        self._run(f"umask 077 && {made} && {whole}", data)

    def remove(self, name: str) -> None:
        self._run(f"rm -f {self._place(name)}")

    def _place(self, name: str) -> str:
        return quote("/".join(filter(None, [self.root, name])))

    def _run(self, command: str, data: bytes = b"") -> bytes:
        try:
            done = subprocess.run(
                [*self._ssh, command], input=data, capture_output=True, timeout=PATIENCE
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise self._unreached(getattr(error, "strerror", None) or error) from error
        if done.returncode == _MISSING:
            raise FileNotFoundError(command)
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise self._unreached(said[-1] if said else f"exit code {done.returncode}")
        return done.stdout

    def _unreached(self, why: object) -> RirekiError:
        return RirekiError("folder-not-reached", url=self.url, why=why)


def _ssh_parts(url: str) -> tuple[list[str], str]:
    """The program that gets there, with its arguments, and the folder there."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise RirekiError("remote-bad-url", url=url, why=error) from error
    user = unquote(parts.username or "")
    path = unquote(parts.path)
    # What begins with a dash would be taken for an option.
    named = not host.startswith("-") and not user.startswith("-") and parts.password is None
    if not host or not named or path in ("", "/") or not (host + user).isprintable():
        raise RirekiError("remote-bad-url", url=host or url, why="ssh://HOST/FOLDER")
    # Below the home of whoever is logged in: ssh://host/~/folder.
    place = path.removeprefix("/~/") if path.startswith("/~/") else path
    where = ["-p", str(port)] if port else []
    ssh: Sequence[str] = ["ssh", "-o", "BatchMode=yes", *where, "--"]
    return [*ssh, f"{user}@{host}" if user else host], place.rstrip("/")


def _read(file: int, place: str) -> bytes:
    if not stat.S_ISREG(os.fstat(file).st_mode):
        raise RirekiError("folder-not-opened", url=place, why="no file")
    with os.fdopen(file, "rb", closefd=False) as opened:
        return _bounded(opened.read(LARGEST + 1), place)


def _bounded(data: bytes, place: str) -> bytes:
    if len(data) > LARGEST:
        raise RirekiError("folder-not-opened", url=place, why="too large")
    return data


def _tidy(names: list[str]) -> list[str]:
    """Those that may be ours: what else lies in a folder is none of our business."""
    return sorted(name for name in names if _TIDY.fullmatch(name) and not name.startswith("."))
