"""Which machine this is. The id lies outside of every archive: a copy of an archive on another
machine is another archive, and one that was put back is still on the same machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rireki.home import machine_file, make_folder_of
from rireki.late import LateModule

# Every command asks for the machine, and hardly any makes one up.
if TYPE_CHECKING:
    import socket
else:
    socket = LateModule("socket")

__all__ = ["Machine", "known_machine", "shown_name", "this_machine"]

#: Characters of a machine's name that are shown.
LONGEST = 60


class Machine(msgspec.Struct, frozen=True):
    id: str
    #: What people call it.
    name: str


def this_machine() -> Machine:
    """Made up when it is first asked for; the name in the file is the person's to change."""
    file = machine_file()
    known = _read(file)
    if known is None:
        _write(file, Machine(os.urandom(8).hex(), _named(socket.gethostname().split(".")[0])))
        known = _read(file)
    if known is None:
        raise OSError(0, "no machine is named in it", str(file))
    return known


def known_machine() -> Machine | None:
    """The same, where somebody has asked for it before."""
    return _read(machine_file())


def _read(file: Path) -> Machine | None:
    try:
        known = msgspec.json.decode(file.read_bytes(), type=Machine)
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None
    return msgspec.structs.replace(known, name=_named(known.name)) if known.id else None


def _write(file: Path, machine: Machine) -> None:
    """Another process that was faster keeps its own."""
    make_folder_of(file)
    aside = file.with_name(f"{file.name}.{os.urandom(4).hex()}")
    aside.write_bytes(msgspec.json.format(msgspec.json.encode(machine)) + b"\n")
    try:
        if _read(file) is None:
            aside.replace(file)
    finally:
        aside.unlink(missing_ok=True)


def shown_name(name: str) -> str:
    """What somebody calls a machine, as it can be shown and typed."""
    return "".join(each for each in name if each.isprintable() and not each.isspace())[:LONGEST]


def _named(name: str) -> str:
    return shown_name(name) or f"machine-{os.getpid()}"
