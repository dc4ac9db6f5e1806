"""Which files the conversations of a project changed most; each conversation is read once, and kept."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from rireki.archive.base import Archive
from rireki.errors import NotFound
from rireki.intake.interpret import read_conversation
from rireki.model.conversation import Conversation
from rireki.show.edits import changed_files
from rireki.web.archive_reader import ArchiveReader

__all__ = ["FileChanges", "MostChanged", "most_changed"]

#: Files that are told, and the seconds that one page reads for them.
MOST, PATIENCE = 15, 0.3
#: Of a longer conversation the files are told by its own page.
READABLE = 4000


class FileChanges(NamedTuple):
    path: str
    edits: int
    conversations: int


class MostChanged(NamedTuple):
    files: list[FileChanges]
    #: How many files there were in all, and conversations that were not read yet.
    number: int
    unread: int


def most_changed(
    reader: ArchiveReader, archive: Archive, found: Sequence[Conversation], roots: Sequence[str]
) -> MostChanged:
    """The newest conversations are read first; what there is no time for is read for the next page."""
    changed = {
        heading.id: heading.changed for heading in archive.headings(ids=[c.id for c in found])
    }
    edits: Counter[str] = Counter()
    conversations: Counter[str] = Counter()
    unread = 0
    end = time.monotonic() + PATIENCE
    for about in found:
        if not about.tools or about.id not in changed:
            continue
        name = (about.id, changed[about.id])
        known = reader.edited.known(name)
        if known is None and time.monotonic() > end:
            unread += 1
            continue
        kept = (
            known
            if known is not None
            else reader.edited.get(name, partial(_edited, archive, about))
        )
        for path, number in kept.items():
            short = _below(path, roots)
            edits[short] += number
            conversations[short] += 1
    files = [
        FileChanges(path, number, conversations[path]) for path, number in edits.most_common(MOST)
    ]
    return MostChanged(files, len(edits), unread)


def _edited(archive: Archive, about: Conversation) -> Mapping[str, int]:
    if about.messages > READABLE:
        return {}
    try:
        messages = read_conversation(archive, archive.find(about.id)).messages()
    except NotFound:
        # Forgotten in this very moment.
        return {}
    return {one.path: one.edits for one in changed_files(messages)}


def _below(path: str, roots: Sequence[str]) -> str:
    """A path as it is called within the project."""
    for root in sorted(roots, key=len, reverse=True):
        if path.startswith(f"{root.rstrip('/')}/"):
            return path[len(root.rstrip("/")) + 1 :]
    return path
