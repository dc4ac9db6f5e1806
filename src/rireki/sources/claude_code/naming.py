"""Which session a transcript belongs to: its name says so, else its first readable line does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from rireki.sources.claude_code.repair import loads
from rireki.sources.kit.stamps import is_regular

__all__ = ["UUID", "first_value", "session_of"]

#: How much of a file is looked at.
PEEK = 256 << 10
UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def session_of(stem: str, path: str) -> str:
    """The conversation of a transcript. One with a name of its own, such as a backup, belongs to
    the session its lines name."""
    if stem.startswith("agent-") or UUID.fullmatch(stem):
        return stem
    try:
        first = first_value(Path(path))
    except OSError:
        # Whoever reads it says what is wrong with it.
        return stem
    session = first.get("sessionId") if first is not None else None
    return session if isinstance(session, str) and session else stem


def first_value(path: Path) -> dict[str, Any] | None:
    """The first JSON object of a file of lines, or None."""
    if not is_regular(path.stat()):
        return None
    with path.open("rb") as file:
        head = file.read(PEEK)
    for line in head.split(b"\n"):
        value = loads(line.replace(b"\0", b""))
        if isinstance(value, dict):
            return value
    return None
