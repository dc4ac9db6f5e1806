"""Files of Amazon Q and Kiro: the roles of files and rows, and conversations saved by a person.

`/save` writes the same value as a database row; Kiro's second engine exports a session as one JSON
file, or as a zip of its two files. Saved files are recognised by content; where they lie is not
known here."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from rireki.sources.kit.decode import NotReadable, load

__all__ = [
    "ACTIONS",
    "BROKEN",
    "CHAT",
    "DATABASE",
    "EXPORT",
    "HISTORY",
    "LISTED",
    "LIVE",
    "LOG",
    "ROW",
    "RUN",
    "SAVE",
    "SESSION",
    "SIDE",
    "SPINE",
    "TYPED",
    "V3_LOG",
    "V3_PREFIX",
    "V3_SESSION",
    "V3_SUB",
    "Saved",
    "agent_of",
    "is_history_alone",
    "open_export",
    "recognise_saved",
    "session_of",
]


#: What the rows lie in.
DATABASE = "database"
#: A row of a database, and one that could not be understood.
ROW, BROKEN = "row", "broken"
#: Files people wrote with `/save` and `/chat save`.
SAVE, EXPORT = "save", "export"
#: Kiro's second engine: the log, what is noted beside it, and the lines that were typed.
LOG, SESSION, TYPED = "log", "session", "typed"
#: Kiro's third engine, and whatever else lies in its folders.
V3_LOG, V3_SESSION, V3_SUB, SIDE = "v3-log", "v3-session", "v3-sub", "side"
#: How the names of its folders, which are its sessions, begin.
V3_PREFIX = "sess_"
#: Kiro's editor up to 0.12: a session, its entry in the list of sessions, one run of the agent, and a
#: snapshot of a run as the editor's first versions kept it.
SPINE, LISTED, RUN, CHAT = "ide-session", "ide-listed", "ide-run", "ide-chat"
#: The lanes of a session's entries, and of a run's steps.
HISTORY, ACTIONS = "history", "actions"
#: What the agent itself works with; a file that a person saved is only a copy.
LIVE = (ROW, LOG, V3_LOG, V3_SUB, SPINE, RUN, CHAT)


_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")


def session_of(path: str) -> str:
    """The folder of the third engine that a file lies in, however deep."""
    # The outermost below `sessions`: what lies in it may be called anything.
    parts = re.split(r"[/\\]", path)
    at = max((n for n, part in enumerate(parts[:-2]) if part == "sessions"), default=0)
    return parts[min(at + 2, len(parts) - 1)].removeprefix(V3_PREFIX)


def agent_of(session: str, agent: str) -> str:
    """A sub-agent of the third engine: by its own id, or where that is none, by its session's as well."""
    return agent if _UUID.search(agent) else f"{session}.{agent}"


ZIP = b"PK\x03\x04"
#: What a packed file may unpack to: so many bytes, or so many times what it has. A megabyte of zeros
#: that are packed would take a gigabyte of memory.
PLENTY, TIMES = 64 << 20, 100
_FORMAT = "kiro-session-export-v1"
_METADATA, _LOG = "session_metadata.json", "conversation_log.jsonl"


class Saved(NamedTuple):
    """What a file turned out to be."""

    role: str
    #: Empty where the file does not say: its own name is the only one there is then.
    conversation: str
    kiro: bool


class Export(NamedTuple):
    metadata: Any
    #: Log entries: values, or lines that are still to be read.
    entries: list[Any]


def recognise_saved(data: bytes) -> Saved | None:
    """Whether the bytes are a saved conversation. Follows the order in which Kiro itself looks."""
    if data.startswith(ZIP):
        return _recognise_export(data)
    if data.lstrip()[:1] != b"{":
        return None
    fields = _fields(data)
    if "format" in fields:
        return _recognise_export(data)
    conversation = fields.get("conversation_id")
    if isinstance(conversation, str) and conversation and "history" in fields:
        return Saved(SAVE, conversation, _has_kiro_fields(fields))
    if is_history_alone(fields) and _is_entry(fields["history"]):
        return Saved(SAVE, "", _has_kiro_fields(fields))
    return None


def is_history_alone(fields: dict[str, Any]) -> bool:
    """Whether a value has the entries of a conversation, and no id."""
    history = fields.get("history")
    if isinstance(history, msgspec.Raw):
        history = [] if bytes(history).lstrip()[:1] == b"[" else None
    return not fields.get("conversation_id") and isinstance(history, list)


def open_export(data: bytes) -> Export:
    """Raises NotReadable when it is no export after all."""
    if data.startswith(ZIP):
        return _open_zip(data)
    value = load(data)
    if not isinstance(value, dict) or value.get("format") != _FORMAT:
        raise NotReadable("not-an-export")
    entries = value.get("log_entries")
    return Export(value.get("metadata"), entries if isinstance(entries, list) else [])


def _recognise_export(data: bytes) -> Saved | None:
    try:
        metadata = open_export(data).metadata
    except NotReadable:
        return None
    conversation = metadata.get("session_id") if isinstance(metadata, dict) else None
    return Saved(EXPORT, conversation, True) if isinstance(conversation, str) else None


def _open_zip(data: bytes) -> Export:
    # Imported late: hardly anyone has one, and every import would pay for it.
    import io
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in (_METADATA, _LOG):
                # No more is read than it says, and what it says is asked first.
                said, room = archive.getinfo(name).file_size, max(PLENTY, TIMES * len(data))
                if said > room:
                    raise NotReadable("unpacks-too-large", what=name, n=said)
            return Export(load(archive.read(_METADATA)), archive.read(_LOG).split(b"\n"))
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, RuntimeError, EOFError) as error:
        raise NotReadable("bad-export", why=error) from None


def _fields(data: bytes) -> dict[str, Any]:
    """The top level; long fields stay unread."""
    try:
        fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _fields_patiently(data)
    known = {"format", "conversation_id"} & fields.keys()
    return {**fields, **{name: load(bytes(fields[name])) for name in known}}


def _fields_patiently(data: bytes) -> dict[str, Any]:
    try:
        value = load(data)
    except NotReadable:
        return {}
    return value if isinstance(value, dict) else {}


def _is_entry(history: Any) -> bool:
    """Whether a list begins as only a history of Amazon Q does; other programs have such a field."""
    try:
        entries = load(bytes(history)) if isinstance(history, msgspec.Raw) else history
    except NotReadable:
        return False
    first = entries[0] if entries else None
    if isinstance(first, dict):
        first = [first.get("user"), first.get("assistant")]
    if not isinstance(first, list) or len(first) < 2:
        return False
    user, assistant = first[:2]
    content = user.get("content") if isinstance(user, dict) else None
    known = {"Prompt", "ToolUseResults", "CancelledToolUses"}
    answers = {"Response", "ToolUse"}
    return _has_one(content, known) and (assistant is None or _has_one(assistant, answers))


def _has_one(value: Any, names: set[str]) -> bool:
    return isinstance(value, dict) and bool(names & value.keys())


def _has_kiro_fields(fields: dict[str, Any]) -> bool:
    return "user_turn_metadata" in fields or any(
        name.startswith("mcp_") and name != "mcp_enabled" for name in fields
    )
