"""Every file that belongs to an archive, and the user's own data directory: where each lies is
worked out here, and nowhere else. Opens none of them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from rireki.errors import RirekiError

__all__ = [
    "ARCHIVE",
    "BRIDGE",
    "HISTORIES",
    "SETTINGS",
    "STORES",
    "Home",
    "archive_path",
    "data_directories",
    "data_directory",
    "history_name",
    "is_own",
    "machine_file",
    "make_folder_of",
    "own_directories",
    "private_path",
]

ARCHIVE = "archive.sqlite3"
SETTINGS = "config.toml"
#: The folder of the histories that programs keep with `MessageHistory`.
HISTORIES = "histories"
#: The folder of the stores that ChatKit apps keep with `RirekiStore`.
STORES = "chatkit"
#: The folder of the journals that are written while agents are driven.
BRIDGE = "bridge"
#: In the data directory: what has to be trusted and belongs to archives and journals elsewhere.
PRIVATE = "private"


class Home:
    """The files of one archive: beside it, except for those that have to be trusted."""

    def __init__(self, archive: Path) -> None:
        self.archive = archive
        self.folder = archive.parent

    def __repr__(self) -> str:
        return f"Home({str(self.archive)!r})"

    @property
    def index(self) -> Path:
        """The folder of the search index."""
        return self.archive.with_suffix(".search")

    @property
    def keeper(self) -> Path:
        """The lock of whoever keeps the archive up."""
        return self.archive.with_name(f"{self.archive.name}.keeper")

    @property
    def log(self) -> Path:
        """What was written to the archive and is not in its file yet."""
        return self.archive.with_name(f"{self.archive.name}-wal")

    # ── what has to be trusted ──

    @cached_property
    def token(self) -> Path:
        """The token that opens the web app."""
        return private_path(self.archive, self.archive.with_suffix(".token").name)

    @cached_property
    def masking_key(self) -> Path:
        """The key behind the numbers of masked secrets: never given away, and not part of a backup."""
        return private_path(self.archive, self.archive.with_suffix(".masking").name)

    @cached_property
    def server(self) -> Path:
        """The lock of the server that shows the archive. Whoever follows its address sends the token."""
        return private_path(self.archive, f"{self.archive.name}.serve")

    @cached_property
    def server_address(self) -> Path:
        return private_path(self.archive, f"{self.archive.name}.served")

    @cached_property
    def sync(self) -> Path:
        """The folder of what concerns other machines: remotes and their keys, devices that may push."""
        return private_path(self.archive, self.archive.with_suffix(".sync").name)

    @cached_property
    def certificates(self) -> Path:
        """The folder of the certificates made for the local network, with their keys."""
        return private_path(self.archive, self.archive.with_suffix(".lan").name)

    # ── what is written by ourselves, and read like every source ──

    @property
    def histories(self) -> Path:
        return self.folder / HISTORIES

    @property
    def bridge(self) -> Path:
        return self.folder / BRIDGE

    @property
    def stores(self) -> Path:
        return self.folder / STORES

    def history(self, conversation: str) -> Path:
        """The journal of a history."""
        return self.histories / f"{history_name(conversation)}.jsonl"

    def session(self, id: str) -> Path:
        """The journal of a driven conversation."""
        if not _is_name(id, 64):
            raise RirekiError("bad-session-id", id=id)
        return self.bridge / f"{id}.jsonl"

    def store(self, name: str) -> Path:
        """The store of a ChatKit app."""
        if not _is_name(name, 100):
            raise RirekiError("bad-store-name", name=name)
        return self.stores / f"{name}.sqlite3"


def history_name(conversation: str) -> str:
    """What a history is called where it is kept."""
    name = conversation.removeprefix("rireki/")
    if not _is_name(name, 200):
        raise RirekiError("bad-conversation-name", name=conversation)
    return name


def _is_name(name: str, longest: int) -> bool:
    return len(name) <= longest and bool(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name))


def archive_path(given: str | os.PathLike[str] | None = None) -> Path:
    """The archive the user means: --archive, then RIREKI_ARCHIVE, then the platform's place."""
    chosen = given or os.environ.get("RIREKI_ARCHIVE")
    if not chosen:
        return data_directory() / ARCHIVE
    path = Path(chosen).expanduser().absolute()
    # A name without an ending is taken for a folder: the search index will lie beside the file.
    is_folder = path.is_dir() or (not path.suffix and not path.exists())
    return path / ARCHIVE if is_folder else path


# ── the user's own data ──


def data_directories(
    application: str, home: Path, environment: Mapping[str, str] | None = None
) -> list[Path]:
    """Where an application's local data may lie, on every platform, most likely first."""

    def variable(name: str) -> Path | None:
        value = (environment or {}).get(name)
        return Path(value).expanduser() if value else None

    bases = [
        variable("XDG_DATA_HOME"),
        home / ".local" / "share",
        home / "Library" / "Application Support",
        variable("LOCALAPPDATA"),
        home / "AppData" / "Local",
        variable("APPDATA"),
        home / "AppData" / "Roaming",
    ]
    return list(dict.fromkeys(base / application for base in bases if base))


def data_directory() -> Path:
    """The user's own folder; closed to others where they could look into it until now."""
    # Imported late: who names the archive does not need it.
    from platformdirs import user_data_path

    folder = user_data_path("rireki", appauthor=False)
    if not folder.is_absolute():
        # XDG_DATA_HOME=. would be whatever directory the user happens to be in.
        folder = Path.home() / ".local" / "share" / "rireki"
    # Who may not change it (it is somebody else's, or nothing can be written) uses it as it is.
    with suppress(OSError):
        mode = folder.stat().st_mode
        if os.name == "posix" and mode & 0o077:
            folder.chmod(mode & 0o700)
    return folder


def own_directories() -> list[Path]:
    """Where rireki's data of the user who runs it may lie: what may be run, ended or opened is
    said there alone, never by files that came with an archive or a home that was only named."""
    folders = data_directories("rireki", Path.home(), os.environ)
    # A relative one (XDG_DATA_HOME=.) would be whatever directory the user happens to be in.
    return [folder for folder in folders if folder.is_absolute()]


def is_own(file: Path) -> bool:
    """Whether a file lies in a data directory of the user who runs this, not in one below it."""
    own = {os.path.realpath(folder) for folder in own_directories()}
    return os.path.realpath(file.parent) in own


def private_path(file: Path, beside: str) -> Path:
    """Where `beside` is kept, which belongs to a file and has to be trusted: next to it only in the
    user's data directory.

    Beside an archive that somebody else made, a token could be one that they know, the address of
    a running server one of theirs, and the number of an agent's process any process of the user's.
    So nothing of that is read there, and nothing removed.
    """
    if is_own(file):
        # Without the links by which it was named: those may lead elsewhere a moment later.
        return Path(os.path.realpath(file.parent)) / beside
    # Imported late: every command pays for it, and hardly any asks for an archive elsewhere.
    from hashlib import sha256

    name = sha256(os.fsencode(os.path.realpath(file))).hexdigest()[:32]
    return data_directory() / PRIVATE / f"{name}{Path(beside).suffix}"


def machine_file() -> Path:
    """Which machine this is: outside of every archive."""
    return data_directory() / "machine.json"


def make_folder_of(path: Path) -> None:
    """For its owner alone, and so is the data directory, should it not be there yet."""
    for folder in (path.parent.parent, path.parent):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
