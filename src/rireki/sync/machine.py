"""What other archives call this one."""

from __future__ import annotations

from rireki.archive.base import Archive
from rireki.machine import Machine, this_machine

__all__ = ["Machine", "name_of", "this_machine"]


def name_of(archive: Archive, machine: Machine) -> str:
    return f"{archive.identity()}-{machine.id}"
