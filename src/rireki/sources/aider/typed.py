"""What was typed in a folder, and when: the history of the input line, of all sessions there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rireki.model.strand import Strand
from rireki.model.times import to_datetime
from rireki.sources.aider.zones import as_utc
from rireki.sources.kit.jsonl import LANE

__all__ = ["Typed"]

_TIME = re.compile(r"# (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)\s*$")
#: Several lines may be typed one by one, between braces; these may have a name.
_OPEN = re.compile(r"\{(\w*)$")
#: What is given by `--message` is written twice, this many seconds apart at most.
_TWICE = 0.05


class _Entry(NamedTuple):
    #: As it is written: local time.
    at: str
    text: str
    #: The same in our spelling.
    time: str | None


class Typed:
    """Entries in order; each gives its time to one prompt."""

    def __init__(self, strands: Sequence[Strand] = (), entries: Iterable[_Entry] = ()) -> None:
        self.entries = [*entries, *(one for strand in strands for one in _entries(strand))]

    def between(self, start: str, end: str) -> Typed:
        """Those of one session: it ends where the next one starts."""
        return Typed(entries=[one for one in self.entries if start <= one.at < end])

    def beginnings(self) -> set[str]:
        """First lines, also of what commands go on with."""
        firsts = [one.text.partition("\n")[0].strip() for one in self.entries]
        return {*firsts, *(one.partition(" ")[2].strip() for one in firsts if one[:1] == "/")}

    def time_of(self, text: str) -> str | None:
        for number, entry in enumerate(self.entries):
            if entry.text.strip() == text.strip():
                # What comes later was typed later.
                del self.entries[: number + 1]
                return entry.time
        return None


def _entries(strand: Strand) -> list[_Entry]:
    found: list[_Entry] = []
    for at, text in _blocks(strand):
        last = found[-1] if found else None
        if last is None or last.text != text or _apart(last.at, at) > _TWICE:
            found.append(_Entry(at, text, as_utc(at, strand.cursor)))
    return _joined(found)


def _blocks(strand: Strand) -> list[tuple[str, str]]:
    found: list[tuple[str, list[str]]] = []
    for record in strand.occurrences(LANE):
        line = record.data.decode("utf-8", "replace").rstrip("\r\n")
        if time := _TIME.match(line):
            found.append((time[1], []))
        elif line.startswith("+") and found:
            found[-1][1].append(line[1:])
    return [(at, "\n".join(lines)) for at, lines in found]


def _joined(entries: Sequence[_Entry]) -> list[_Entry]:
    """Lines between braces are one prompt, typed when they were closed."""
    found: list[_Entry] = []
    close, inner = "", list[_Entry]()
    for entry in entries:
        opened = _OPEN.match(entry.text.strip())
        if not close and opened:
            close, inner = f"{opened[1]}}}", []
        elif close and entry.text.strip() == close:
            found.append(entry._replace(text="\n".join(one.text for one in inner)))
            close = ""
        elif close:
            inner.append(entry)
        else:
            found.append(entry)
    return found + (inner if close else [])


def _apart(one: str, other: str) -> float:
    first, second = to_datetime(one), to_datetime(other)
    return abs((second - first).total_seconds()) if first and second else _TWICE + 1
