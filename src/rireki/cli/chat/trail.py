"""The journal of a conversation, read on while it is written: what is told besides the text.

Text is shown as it streams; everything else waits until the text before it was shown whole.
"""

from __future__ import annotations

from pathlib import Path

from rireki.sources.bridge.entry import BridgeEntry, parse

__all__ = ["Trail"]


class Trail:
    def __init__(self, path: Path) -> None:
        """What is in it already is not told again."""
        self._path = path
        self._place = path.stat().st_size if path.exists() else 0
        self._rest = b""
        self._waiting: list[BridgeEntry] = []
        self._shown: set[str] = set()

    def settled(self, block: str) -> None:
        """The text of a block was shown to its end."""
        self._shown.add(block)

    def entries(self) -> list[BridgeEntry]:
        """What may be told now, in order."""
        self._waiting += self._new()
        count = next(
            (n for n, entry in enumerate(self._waiting) if self._is_ahead(entry)),
            len(self._waiting),
        )
        told, self._waiting = self._waiting[:count], self._waiting[count:]
        return told

    def _is_ahead(self, entry: BridgeEntry) -> bool:
        return entry.kind in ("text", "thought") and entry.text("block") not in self._shown

    def _new(self) -> list[BridgeEntry]:
        try:
            with self._path.open("rb") as file:
                file.seek(self._place)
                data = file.read()
        except FileNotFoundError:
            return []
        self._place += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [entry for line in lines if (entry := parse(line)) is not None]
