"""Transcripts of the Claude Agent SDK, mirrored to a folder of your choice (`SessionStore`).

    store = FolderSessionStore("sessions")
    options = ClaudeAgentOptions(session_store=store)

The folder looks like the one that Claude Code keeps itself, so rireki's reader for it
understands what is there: `CLAUDE_CONFIG_DIR=sessions rireki import`. Nothing else than lines of
JSON is stored, and a line that a kill tore is set apart by the next one.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

import msgspec

from rireki.errors import RirekiError

__all__ = ["FolderSessionStore"]

_ENDING = ".jsonl"
#: Beside a session's transcript: the SDK's summary of it, and how many bytes of it that covers.
_SUMMARY = ".summary.json"
#: Keys become names of files: nothing that leaves the folder, hides, or is too long for a name.
_NAME = re.compile(r"(?!\.)[^\\/\x00-\x1f:*?\"<>|]{1,200}")

_Mark: TypeAlias = "tuple[int, int, int] | None"


class FolderSessionStore:
    """One file of lines per transcript, sub-agents' below that of their session."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser().absolute() / "projects"
        self._lock = Lock()
        #: The uuids of each file that was written to, and which file that was then: a batch may come
        #: a second time, and others may write to it or remove it.
        self._seen: dict[Path, tuple[_Mark, set[str]]] = {}

    async def append(self, key: Mapping[str, str], entries: list[Any]) -> None:
        """Add entries in order; those whose uuid is there already are passed over."""
        if entries:
            await asyncio.to_thread(self._append, key, self._path(key), entries)

    async def load(self, key: Mapping[str, str]) -> list[Any] | None:
        """All entries of a transcript; None if there is none."""
        path = self._path(key)
        return await asyncio.to_thread(lambda: list(_read(path)) or None)

    async def list_sessions(self, project_key: str) -> list[Any]:
        folder = self.folder / _checked(project_key)
        return await asyncio.to_thread(lambda: list(_sessions(folder)))

    async def list_session_summaries(self, project_key: str) -> list[Any]:
        """What the SDK needs for a list of sessions, without reading them all."""
        folder = self.folder / _checked(project_key)
        return await asyncio.to_thread(lambda: list(_summaries(folder)))

    async def list_subkeys(self, key: Mapping[str, str]) -> list[str]:
        below = self._path({**key, "subpath": ""}).with_suffix("")

        def found() -> list[str]:
            files = sorted(below.rglob(f"*{_ENDING}"))
            return [path.relative_to(below).with_suffix("").as_posix() for path in files]

        return await asyncio.to_thread(found)

    async def delete(self, key: Mapping[str, str]) -> None:
        """Remove a transcript; that of a session together with its sub-agents'."""
        await asyncio.to_thread(self._delete, self._path(key), not key.get("subpath"))

    def _path(self, key: Mapping[str, str]) -> Path:
        session = self.folder / _checked(key["project_key"]) / _checked(key["session_id"])
        parts = [_checked(part) for part in (key.get("subpath") or "").split("/") if part]
        place = session.joinpath(*parts)
        return place.with_name(place.name + _ENDING)

    def _append(self, key: Mapping[str, str], path: Path, entries: list[Any]) -> None:
        with self._lock:
            seen = self._uuids(path)
            new: dict[Any, Any] = {}
            for number, entry in enumerate(entries):
                uuid = entry.get("uuid")
                if uuid is None or uuid not in seen:
                    new.setdefault(number if uuid is None else uuid, entry)
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            before, after = _write(path, b"".join(map(_line, new.values())))
            seen.update(id for id in new if isinstance(id, str))
            self._seen[path] = (_mark(path), seen)
            if not key.get("subpath"):
                _sum_up(key, path, list(new.values()), before, after)

    def _uuids(self, path: Path) -> set[str]:
        """Those of the entries in the file, which is read if it is not as this store left it."""
        mark, seen = self._seen.get(path, (None, set()))
        if mark is not None and mark == _mark(path):
            return seen
        return {entry["uuid"] for entry in _read(path) if entry.get("uuid")}

    def _delete(self, path: Path, whole: bool) -> None:
        with self._lock:
            path.unlink(missing_ok=True)
            _beside(path).unlink(missing_ok=True)
            below = path.with_suffix("")
            if whole and below.is_dir():
                shutil.rmtree(below)
            self._seen = {
                p: s for p, s in self._seen.items() if p != path and below not in p.parents
            }


def _mark(path: Path) -> _Mark:
    """Which file it is, and how far it was written; None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise RirekiError("bad-transcript-name", name=name)
    return name


def _line(entry: Any) -> bytes:
    try:
        return msgspec.json.encode(entry) + b"\n"
    except UnicodeEncodeError:
        # Half a surrogate pair: JavaScript cuts texts anywhere. Escapes can say it.
        return json.dumps(entry).encode() + b"\n"


def _write(path: Path, lines: bytes) -> tuple[int, int]:
    """Lines at the end of a file, in one piece; a torn line before them is ended first.

    Returns how long the file was, and is.
    """
    with open(
        os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600), "r+b", buffering=0
    ) as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
            lines = lines if file.read(1) == b"\n" else b"\n" + lines
        while lines:
            lines = lines[file.write(lines) :]
        return size, file.seek(0, os.SEEK_END)


def _read(path: Path) -> Iterator[Any]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return
    for line in content.split(b"\n"):
        entry = _decoded(line)
        if isinstance(entry, dict):
            yield entry


def _decoded(line: bytes) -> Any:
    """None for a line that a kill tore while it was written; the SDK sends its batch again."""
    try:
        return msgspec.json.decode(line)
    except msgspec.DecodeError:
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            return None


# ── summaries ──


def _beside(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(_ENDING) + _SUMMARY)


def _sum_up(key: Mapping[str, str], path: Path, new: list[Any], before: int, after: int) -> None:
    """Bring the summary up to the transcript; anew, if it was not up to where this began."""
    fold = _fold()
    if fold is None:
        return
    known = _decoded(_bytes_of(_beside(path)))
    if isinstance(known, dict) and known.get("covers") == before:
        summary = fold(known["summary"], key, new)
    else:
        summary = fold(None, key, list(_read(path)))
    fresh = _beside(path).with_suffix(".new")
    fresh.write_bytes(_line({"covers": after, "summary": summary}))
    fresh.replace(_beside(path))


def _fold() -> Callable[..., Any] | None:
    """The SDK's own; whoever has none gets no summaries, and needs none."""
    try:
        # An optional dependency.
        from claude_agent_sdk import fold_session_summary
    except ImportError:
        return None
    return fold_session_summary


def _summaries(folder: Path) -> Iterator[Any]:
    """Those that are up to date: of the others the SDK reads the transcripts."""
    for path in sorted(folder.glob(f"*{_ENDING}")):
        known = _decoded(_bytes_of(_beside(path)))
        if isinstance(known, dict) and known.get("covers") == path.stat().st_size:
            yield {**known["summary"], "mtime": _modified(path)}


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _modified(path: Path) -> int:
    return path.stat().st_mtime_ns // 1_000_000


def _sessions(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob(f"*{_ENDING}")):
        yield {"session_id": path.stem, "mtime": _modified(path)}
