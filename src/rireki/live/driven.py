"""What the agents that rireki drives are doing, told by their journals, whichever process drives them.

A journal whose writer holds its lock is read from where it was read last. Starts and answers nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Lock

from rireki.home import BRIDGE
from rireki.journals.lock import WriterLock
from rireki.journals.session_entry import BridgeEntry, parse
from rireki.model.activity import Activity, ActivityState, state_of_ask
from rireki.model.times import to_datetime
from rireki.sources.bridge.filing import Filed, note
from rireki.sources.kit.jsonl import split_lines
from rireki.sources.kit.processes import is_alive

__all__ = ["driven_activities", "recovered_activities"]

#: So many journals are remembered as they were last read.
REMEMBERED = 64


class _Journal:
    """What the entries that were read so far say about the present."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._size = 0
        self._filed = Filed()
        self._turn = False
        self._asks: dict[str, tuple[ActivityState, str]] = {}
        self._calls: dict[str, str] = {}
        #: When each prompt was stored; empty, once it was given to the agent or withdrawn.
        self._queue: dict[str, str] = {}
        self._at = ""

    def read_on(self) -> None:
        if self.path.stat().st_size == self._size:
            return
        with self.path.open("rb") as file:
            file.seek(self._size)
            data = file.read()
        lines, torn = split_lines(data)
        self._size += len(data) - len(torn)
        for line in lines:
            if (entry := parse(line)) is not None:
                self._note(entry)

    def activities(self) -> Iterator[Activity]:
        state, detail = self._state()
        return self._named(state, detail, self._at)

    def recovered(self, since: float | None) -> Iterator[Activity]:
        """While prompts wait that its writer did not store itself; that one writes `since` then."""
        first = next((at for at in self._queue.values() if at), None)
        stored = to_datetime(first or "")
        if first is None or (since and (self._turn or not stored or stored.timestamp() >= since)):
            return iter(())
        return self._named("permission", "", first)

    def _named(self, state: ActivityState, detail: str, at: str) -> Iterator[Activity]:
        """Under the bridge's name for it, and under the agent's own where it has one."""
        yield Activity(BRIDGE, f"{BRIDGE}/{self.path.stem}", state, detail, at or None)
        if self._filed.family is not None:
            source, id = self._filed
            yield Activity(source, f"{source}/{id}", state, detail, at or None)

    def _state(self) -> tuple[ActivityState, str]:
        if self._asks:
            return next(iter(self._asks.values()))
        if self._turn:
            return "working", next(reversed(self._calls.values()), "")
        return "idle", ""

    def _note(self, entry: BridgeEntry) -> None:
        self._filed = note(self._filed, entry)
        kind, more = entry.kind, entry.text
        if kind == "prompt":
            self._queue.setdefault(more("id"), entry.at)
        elif kind in ("given", "withdraw"):
            self._queue[more("id")] = ""
        if kind in ("given", "turn_end"):
            self._turn = kind == "given"
            self._calls.clear()
        elif kind == "ask":
            self._asks[more("id")] = (state_of_ask(more("what")), more("title"))
        elif kind == "answer":
            self._asks.pop(more("id"), None)
        elif kind == "call":
            name = more("name") or self._calls.get(more("call"), "")
            self._calls[more("call")] = name
        elif kind == "result":
            self._calls.pop(more("call"), None)
        else:
            return
        self._at = entry.at


_known: OrderedDict[Path, _Journal] = OrderedDict()
_known_lock = Lock()


def driven_activities(folders: Sequence[Path]) -> list[Activity]:
    """Of every journal that is being written; one whose writer died says nothing."""
    found: list[Activity] = []
    for folder in folders:
        for path in _held(folder):
            try:
                found += _read(path, _Journal.activities)
            except OSError:
                # It was let go, or removed, in this very moment.
                continue
    return found


def recovered_activities(journals: Iterable[Path]) -> list[Activity]:
    """Of the journals with prompts that an earlier process stored: they wait for the person's yes."""
    found: list[Activity] = []
    for path in journals:
        lock = path.with_suffix(".lock")
        try:
            held = is_alive(WriterLock(path).holder() or 0)
            since = lock.stat().st_mtime if held else None
            found += _read(path, partial(_Journal.recovered, since=since))
        except OSError:
            # It was let go, or removed, in this very moment.
            continue
    return found


def _held(folder: Path) -> list[Path]:
    """The journals whose writers live: looked for by their locks, for most journals have none."""
    try:
        locks = sorted(folder.glob("*.lock"))
    except OSError:
        return []
    journals = [lock.with_suffix(".jsonl") for lock in locks]
    return [path for path in journals if is_alive(WriterLock(path).holder() or 0)]


def _read(path: Path, ask: Callable[[_Journal], Iterator[Activity]]) -> list[Activity]:
    with _known_lock:
        journal = _known.pop(path, None) or _Journal(path)
        journal.read_on()
        _known[path] = journal
        while len(_known) > REMEMBERED:
            _known.popitem(last=False)
        return list(ask(journal))
