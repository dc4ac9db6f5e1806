"""Finding the files of a config root: one walk, and no file is opened whose name says what it is.

Follows symbolic links to folders, but enters each folder once. Folder names
under `projects` are lossy and never decoded.
"""

# Strings instead of pathlib: a thousand files are listed at every run.
# ruff: noqa: PTH116, PTH118, PTH119

from __future__ import annotations

import os
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

from rireki.model.conversation import Trouble
from rireki.sources.claude_code.naming import UUID, session_of
from rireki.sources.kit.stamps import file_stamp, is_regular
from rireki.sources.reader import Form, Origin

__all__ = ["HISTORY", "NAME", "Walk"]

NAME = "claude-code"
#: The group of prompts typed in the terminal, whatever session they belong to.
HISTORY = "@history"
#: Folders beside `projects` with a folder per session: file versions to rewind to, pasted pictures.
BESIDE = ("file-history", "image-cache")


class Walk:
    """Gathers origins below a root; what cannot be listed becomes a trouble."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.origins: list[Origin] = []
        self.troubles: list[Trouble] = []
        self._entered: set[tuple[int, int]] = set()

    def config_root(self) -> None:
        """`projects`, the terminal's history, and what is kept per session beside them."""
        self.history(os.path.join(self.root, "history.jsonl"))
        for entry in self._list(os.path.join(self.root, "projects")):
            if entry.is_dir():
                self.project(entry.path)
        for name in BESIDE:
            for entry in self._list(os.path.join(self.root, name)):
                if entry.is_dir() and UUID.fullmatch(entry.name):
                    self.session_folder(entry.path, entry.name)

    def history(self, path: str) -> None:
        self._add(path, "lines", "prompts", HISTORY)

    def project(self, folder: str) -> None:
        """Transcripts, flat sub-agents, and a folder of more files per session."""
        folders: list[os.DirEntry[str]] = []
        sessions: set[str] = set()
        for entry in self._list(folder):
            name = entry.name
            if name.endswith(".jsonl"):
                self.transcript(entry.path, session_of(name[:-6], entry.path))
                sessions.add(name[:-6])
            elif entry.is_dir():
                folders.append(entry)
        for entry in folders:
            if entry.name in sessions or UUID.fullmatch(entry.name):
                self.session_folder(entry.path, entry.name)

    def transcript(self, path: str, conversation: str) -> None:
        role = "agent" if conversation.startswith("agent-") else "main"
        self._add(path, "lines", role, conversation)

    def agent_meta(self, path: str, conversation: str) -> None:
        self._add(path, "document", "agent-meta", conversation)

    def session_folder(self, folder: str, session: str) -> None:
        """Sub-agents at any depth, spilled tool outputs, and whatever else lies there."""
        for entry in self._list(folder):
            name, path = entry.name, entry.path
            if entry.is_dir():
                self.session_folder(path, session)
            elif name.startswith("agent-") and name.endswith(".jsonl"):
                self.transcript(path, name[:-6])
            elif name.startswith("agent-") and name.endswith(".meta.json"):
                self.agent_meta(path, name[:-10])
            elif os.path.basename(folder) == "tool-results":
                self._add(path, "document", "tool-output", session)
            else:
                self._add(path, "document", "side", session)

    def _add(self, path: str, form: Form, role: str, conversation: str) -> None:
        try:
            status = os.stat(path)
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                self._complain(path, error)
            return
        if not is_regular(status):
            return
        self.origins.append(
            Origin(
                source=NAME,
                place=path,
                root=self.root,
                form=form,
                role=role,
                conversation=conversation,
                stamp=file_stamp(status),
                size=status.st_size,
            )
        )

    def _list(self, folder: str) -> Iterator[os.DirEntry[str]]:
        """The entries of a folder in a stable order; nothing for one already entered."""
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in self._entered:
                return
            self._entered.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as entries:
                found = sorted(entries, key=attrgetter("name"))
        except FileNotFoundError:
            return
        except OSError as error:
            self._complain(folder, error)
            return
        yield from found

    def _complain(self, path: str, error: OSError) -> None:
        self.troubles.append(
            Trouble(
                path,
                f"cannot be read ({error.strerror or error})",
                "Check that you may read it; everything else was read.",
            )
        )
