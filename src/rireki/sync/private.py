"""Small files with keys and tokens in them: for their owner alone, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import mkstemp
from typing import Any

import msgspec

from rireki.errors import RirekiError
from rireki.home import make_folder_of

__all__ = ["read_private", "write_bytes", "write_private"]


def read_private(file: Path, kind: Any, default: Any) -> Any:
    """What a file of ours says; raises RirekiError where it says nothing that can be understood."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except FileNotFoundError:
        return default
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise RirekiError("sync-file-damaged", path=file, why=error) from error


def write_private(file: Path, value: Any) -> None:
    write_bytes(file, msgspec.json.format(msgspec.json.encode(value)) + b"\n")


def write_bytes(file: Path, data: bytes) -> None:
    make_folder_of(file)
    # Made under a name that nobody can have put a link at, readable for us alone.
    made, aside = mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(made, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())
        Path(aside).replace(file)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
