"""Which process was started for a conversation, so that one that outlived us is ended.

Noted in the user's data directory: a journal in somebody else's folder could name any process.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from rireki.drive.process import born, end_group
from rireki.home import is_own, make_folder_of, private_path

__all__ = ["end_leftover", "forget_process", "note_process"]


class StartedProcess(msgspec.Struct, frozen=True):
    pid: int
    #: When it began, as the system spells it: another process may get the same number later.
    born: str


def note_process(journal: Path, pid: int) -> dict[str, Any]:
    """Note the process of a journal's conversation; what the journal says of it."""
    started = StartedProcess(pid, born(pid))
    path = _path(journal)
    # Where nothing can be kept, the process is not ended after a crash.
    with suppress(OSError):
        make_folder_of(path)
        path.unlink(missing_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "wb") as opened:
            opened.write(msgspec.json.encode(started))
    return msgspec.structs.asdict(started)


def forget_process(journal: Path) -> None:
    with suppress(OSError):
        _path(journal).unlink(missing_ok=True)


def end_leftover(journal: Path, named: Mapping[str, Any]) -> None:
    """End an agent that outlived the bridge that started it; not another process of its number.

    `named` is what the journal says of it; that counts in the user's data directory alone, where
    earlier versions noted it nowhere else.
    """
    started = _noted(journal)
    if started is None and is_own(journal.parent):
        with suppress(msgspec.ValidationError):
            started = msgspec.convert(named, StartedProcess)
    forget_process(journal)
    if started and started.pid > 1 and started.born and born(started.pid) == started.born:
        end_group(started.pid, firmly=True)


def _noted(journal: Path) -> StartedProcess | None:
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(_path(journal).read_bytes(), type=StartedProcess)
    return None


def _path(journal: Path) -> Path:
    return private_path(journal, f"{journal.stem}.process")
