"""Directories in which agents may work, and the files in them, for whoever is choosing.

Every look is bounded: a home directory may hold millions of files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

from rireki.archive.base import Archive
from rireki.drive.bridge import Settings
from rireki.drive.checks import checked_project
from rireki.errors import RirekiError

__all__ = ["Directory", "Files", "find_files", "is_allowed", "near", "recent_projects"]

#: Projects that are offered, and how many are looked at for that.
RECENT, LOOKED = 30, 200
#: Files that are looked at, and offered.
MOST, OFFERED = 20_000, 30
#: Folders nobody means.
PASSED = {"node_modules", "__pycache__", "target", "dist", "build", "venv"}


class Directory(msgspec.Struct, kw_only=True):
    """Whether an agent may work in a directory."""

    path: str
    allowed: bool
    message: str = ""
    hint: str = ""
    #: Directories that begin like it, for whoever is typing.
    near: list[str] = msgspec.field(default_factory=list)


class Files(msgspec.Struct):
    """Files of a project that fit what was typed, the best first."""

    files: list[str]
    #: Whether there may be more than were looked at.
    more: bool


def recent_projects(archive: Archive, settings: Settings) -> list[str]:
    """Where conversations were held lately, if an agent may work there now."""
    seen = islice(archive.projects(), LOOKED)
    return list(islice((path for path in seen if is_allowed(settings, path)), RECENT))


def is_allowed(settings: Settings, path: str) -> bool:
    try:
        checked_project(path, settings.roots)
    except RirekiError:
        return False
    return True


def near(settings: Settings, path: str, locale: str) -> Directory:
    """What would be said to this directory, and those that begin like it."""
    found = Directory(path=path, allowed=True, near=_beginning_so(settings, path))
    try:
        checked_project(path, settings.roots)
    except RirekiError as error:
        found.allowed = False
        found.message, found.hint = error.lines(locale)
    return found


def _beginning_so(settings: Settings, path: str) -> list[str]:
    if not os.path.isabs(path):  # noqa: PTH117 - as it was typed
        return []
    folder, _, begun = path.rpartition(os.sep)
    try:
        with os.scandir(folder or os.sep) as entries:
            named = [
                entry.name
                for entry in islice(entries, MOST)
                if entry.name.startswith(begun)
                and (begun.startswith(".") or not entry.name.startswith("."))
                and entry.is_dir()
            ]
    except (OSError, ValueError):
        return []
    there = (f"{folder}{os.sep}{name}" for name in sorted(named))
    return list(islice((path for path in there if is_allowed(settings, path)), OFFERED))


def find_files(settings: Settings, project: str, query: str) -> Files:
    """Files below the project whose path has what was typed; those whose name begins so first."""
    root = checked_project(project, settings.roots)
    wanted = query.lower()
    found, looked = [], 0
    for path in _below(root):
        looked += 1
        if looked > MOST:
            break
        if wanted in path.lower():
            found.append(path)
    found.sort(key=lambda path: _rank(path, wanted))
    return Files(found[:OFFERED], looked > MOST or len(found) > OFFERED)


def _rank(path: str, wanted: str) -> tuple[int, int, str]:
    name = path.rpartition("/")[2].lower()
    if name.startswith(wanted):
        return 0, path.count("/"), path
    return (1 if wanted in name else 2), path.count("/"), path


def _below(root: Path) -> Iterator[str]:
    """Relative paths, folder by folder, the near ones first; links are not followed."""
    folders = [""]
    while folders:
        deeper: list[str] = []
        for folder in folders:
            yield from _in(root, folder, deeper)
        folders = deeper


def _in(root: Path, folder: str, deeper: list[str]) -> Iterator[str]:
    try:
        with os.scandir(root / folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in listed:
        if entry.name.startswith(".") or entry.name in PASSED:
            continue
        path = f"{folder}/{entry.name}" if folder else entry.name
        if entry.is_dir(follow_symlinks=False):
            deeper.append(path)
        elif entry.is_file(follow_symlinks=False):
            yield path
