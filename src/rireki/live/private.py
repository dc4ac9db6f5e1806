"""Where rireki keeps what it has to trust: with the user's own data, whoever made the archive.

Beside an archive that somebody else made, a token could be one that they know, the address of a
running server one of theirs, and the number of an agent's process any process of the user's. So
nothing of that is read there, and nothing removed.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from rireki.archive.open import data_directory
from rireki.sources.kit.places import is_own

__all__ = ["make_folder_of", "private_path"]

#: In the data directory, for archives and journals that lie elsewhere.
FOLDER = "private"


def private_path(file: Path, beside: str) -> Path:
    """Where `beside` is kept, which belongs to a file: next to it in the user's data directory."""
    if is_own(file):
        # Without the links by which it was named: those may lead elsewhere a moment later.
        return Path(os.path.realpath(file.parent)) / beside
    name = sha256(os.fsencode(os.path.realpath(file))).hexdigest()[:32]
    return data_directory() / FOLDER / f"{name}{Path(beside).suffix}"


def make_folder_of(path: Path) -> None:
    """For its owner alone, and so is the data directory, should it not be there yet."""
    for folder in (path.parent.parent, path.parent):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
