"""Which files a conversation changed: what its editing tools said, call by call, put together per file.

Knows nothing of the files themselves, nor of what a command did to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from rireki.model.calls import results_by_call
from rireki.model.message import Message
from rireki.model.parts import ToolCall

__all__ = ["NEW", "OLD", "PATCHES", "PATHS", "WHOLE", "ChangedFile", "FileEdit", "EditSpot"]
__all__ += ["changed_files", "edits_of", "is_patch"]

EditKind: TypeAlias = Literal["part", "whole", "delete", "move"]

#: Agents rename their tools more often than what they hand to them: names of arguments decide.
PATHS = ("file_path", "path", "notebook_path", "filePath", "filename", "file")
OLD = ("old_string", "old_str", "oldStr", "old_text", "oldText", "oldString")
NEW = ("new_string", "new_str", "newStr", "new_text", "newText", "newString", "new_source")
WHOLE = ("file_text", "content", "fileText")
PATCHES = ("patch", "diff", "input")
#: What a file becomes, where the name of the tool says that it writes one.
_WRITING = re.compile(r"write|append|create", re.IGNORECASE)
_PATCH = re.compile(r"^(?:\*\*\* Begin Patch|@@ |--- |diff --git )", re.MULTILINE)
_FILE = re.compile(r"\*\*\* (Update|Add|Delete) File: (.+)|\*\*\* Move to: (.+)")
_REPLACED = re.compile(
    r"^[<-]{7,} SEARCH>?\n(.*?)\n?^={7,}\n(.*?)\n?^[>+]{7,} REPLACE", re.MULTILINE | re.DOTALL
)
#: Places of one file that are looked through for what an edit goes on with.
_MOST = 200
#: Of a longer patch nothing is read.
_LARGEST = 4_000_000


class FileEdit(NamedTuple):
    """One text that took another's place in a file, or all of it."""

    path: str
    old: str = ""
    new: str = ""
    kind: EditKind = "part"
    #: Every place where the old text stood.
    everywhere: bool = False


@dataclass
class EditSpot:
    """A place in a file: what stood there before the conversation, and what stands there after it."""

    before: str
    after: str
    #: Whether it is all of the file.
    whole: bool = False
    #: The messages that changed it, in their order.
    messages: list[str] = field(default_factory=list)


@dataclass
class ChangedFile:
    path: str
    spots: list[EditSpot] = field(default_factory=list)
    edits: int = 0
    deleted: bool = False
    #: What it was called before.
    moved_from: str = ""

    @property
    def left(self) -> list[EditSpot]:
        """Places that differ in the end from what they were."""
        return [spot for spot in self.spots if spot.before != spot.after]

    def take(self, edit: FileEdit, message: str) -> None:
        self.edits += 1
        self.deleted = edit.kind == "delete"
        if edit.kind == "whole":
            self._write(edit.new, message)
        elif edit.kind == "part":
            self._replace(edit, message)

    def _write(self, words: str, message: str) -> None:
        spot = next((spot for spot in self.spots if spot.whole), None)
        if spot is None:
            spot = EditSpot("", "", whole=True)
            self.spots.append(spot)
        spot.after = words
        spot.messages.append(message)

    def _replace(self, edit: FileEdit, message: str) -> None:
        near = self.spots[-_MOST:]
        spot = next((spot for spot in reversed(near) if edit.old and edit.old in spot.after), None)
        if spot is not None:
            spot.after = spot.after.replace(edit.old, edit.new, -1 if edit.everywhere else 1)
            spot.messages.append(message)
            return
        before, messages = edit.old, [message]
        # An edit that reaches further than an earlier one takes it in.
        for inner in [spot for spot in near if spot.after and spot.after in edit.old]:
            before = before.replace(inner.after, inner.before, 1)
            messages = [*inner.messages, *messages]
            self.spots.remove(inner)
        self.spots.append(EditSpot(before, edit.new, messages=messages))


def changed_files(messages: Sequence[Message], project: str | None = None) -> list[ChangedFile]:
    """The files in the order in which they were touched first; calls that failed changed nothing."""
    came = results_by_call(messages).under
    files: dict[str, ChangedFile] = {}
    for message in messages:
        if message.replaced_by is not None or message.abandoned:
            continue
        for part in message.parts:
            if not isinstance(part, ToolCall):
                continue
            results = came.get((message.id, part.call_id), [])
            if not results or results[-1].result.status == "ok":
                for edit in edits_of(part):
                    _take(files, edit, message.id, project)
    return list(files.values())


def _take(files: dict[str, ChangedFile], edit: FileEdit, message: str, project: str | None) -> None:
    path = _below(edit.path, project)
    if edit.kind == "move":
        target = _below(edit.new, project)
        moved = files.pop(path, ChangedFile(path))
        moved.path, moved.moved_from = target, moved.moved_from or path
        files[target] = moved
    else:
        files.setdefault(path, ChangedFile(path)).take(edit, message)


def _below(path: str, project: str | None) -> str:
    """As it is called in its project."""
    path = path.removeprefix("file://").removeprefix("./")
    return path.removeprefix(f"{project.rstrip('/')}/") if project else path


# ── One call ──


def is_patch(words: str) -> bool:
    return len(words) <= _LARGEST and _PATCH.search(words) is not None


def edits_of(call: ToolCall) -> list[FileEdit]:
    """What a call changes; nothing for one that is not understood."""
    given = call.arguments
    if isinstance(given, str):
        return list(_patched(given, "")) if is_patch(given) else []
    if not isinstance(given, Mapping):
        return []
    path = _string(given, PATHS)
    listed = given.get("edits")
    if isinstance(listed, list) and all(isinstance(one, Mapping) for one in listed):
        found = [edit for one in listed for edit in _edit(one, _string(one, PATHS) or path)]
    else:
        found = list(_edit(given, path)) or list(_written(call.name, given, path))
    return found or list(_in_texts(given, path))


def _edit(given: Mapping[str, Any], path: str) -> Iterator[FileEdit]:
    old, new = _text(given, OLD), _text(given, NEW)
    if path and (old is not None or new is not None):
        everywhere = given.get("replace_all") is True or given.get("replaceAll") is True
        yield FileEdit(path, old or "", new or "", everywhere=everywhere)


def _written(name: str, given: Mapping[str, Any], path: str) -> Iterator[FileEdit]:
    whole = _text(given, WHOLE)
    if whole is None and _WRITING.search(name):
        whole = _text(given, ("text",))
    if path and whole is not None:
        added = "append" in f"{name} {given.get('command', '')}".lower()
        yield FileEdit(path, new=whole, kind="part" if added else "whole")


def _in_texts(given: Mapping[str, Any], path: str) -> Iterator[FileEdit]:
    """Patches, also those that are handed to a command."""
    for key, value in given.items():
        words = " ".join(map(str, value)) if isinstance(value, list) else value
        if not isinstance(words, str) or len(words) > _LARGEST:
            continue
        if path and (pairs := _REPLACED.findall(words)):
            yield from (FileEdit(path, old, new) for old, new in pairs)
        elif "*** Begin Patch" in words or (key in PATCHES and is_patch(words)):
            yield from _patched(words, path)


def _patched(words: str, path: str) -> Iterator[FileEdit]:
    """The hunks of a patch, of both forms: with `*** Update File:`, and as `diff` writes it."""
    hunk = _Hunk(path)
    lines = words.split("\n")
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if found := _FILE.match(line):
            yield from hunk.done()
            hunk = _begun(hunk, found)
            yield from hunk.said()
        elif line.startswith("--- ") and following.startswith("+++ "):
            yield from hunk.done()
            hunk = _Hunk(_named(line, following), whole=line.startswith("--- /dev/null"))
        elif line.startswith("@@"):
            yield from hunk.done()
        elif line.startswith("*** End Patch"):
            break
        elif not line.startswith(("+++ ", "diff --git ", "index ", "***")):
            hunk.add(line)
    yield from hunk.done()


class _Hunk:
    """The lines of a patch that stand together."""

    def __init__(
        self, path: str, whole: bool = False, kind: EditKind = "part", to: str = ""
    ) -> None:
        self.path, self.whole, self.kind, self.to = path, whole, kind, to
        self._old: list[str] = []
        self._new: list[str] = []

    def add(self, line: str) -> None:
        if line[:1] in ("-", " "):
            self._old.append(line[1:])
        if line[:1] in ("+", " "):
            self._new.append(line[1:])

    def said(self) -> Iterator[FileEdit]:
        """What is done to the file as such."""
        if self.kind in ("delete", "move"):
            yield FileEdit(self.path, new=self.to, kind=self.kind)
            self.path = self.to or self.path

    def done(self) -> Iterator[FileEdit]:
        old, new = "\n".join(self._old), "\n".join(self._new)
        self._old, self._new = [], []
        if self.path and old != new:
            yield FileEdit(self.path, old, new, "whole" if self.whole else "part")


def _begun(before: _Hunk, found: re.Match[str]) -> _Hunk:
    if found[3]:
        return _Hunk(before.path, kind="move", to=found[3].strip())
    kind: EditKind = "delete" if found[1] == "Delete" else "part"
    return _Hunk(found[2].strip(), whole=found[1] == "Add", kind=kind)


def _named(old: str, new: str) -> str:
    path = (old if new.startswith("+++ /dev/null") else new)[4:].split("\t")[0].strip()
    return re.sub(r"^[ab]/", "", path)


def _string(given: Mapping[str, Any], names: Sequence[str]) -> str:
    return _text(given, names) or ""


def _text(given: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((v for name in names if isinstance(v := given.get(name), str)), None)
