"""Messages of opencode's newer engine (table `session_message`) in the form of the older one.

There, a message is one row with everything in it; which kind it is, its `type` says.
"""

from __future__ import annotations

from typing import Any

from rireki.sources.kit.fields import get, items, string, words

__all__ = ["as_message"]

#: What says nothing to people: which agent, model or directory comes next, and that nothing does.
_SILENT = ("agent-switched", "model-switched", "location-switched", "idle")


def as_message(row: Any) -> Any:
    """The message of a row; what is not known stays as it is, without a role."""
    data = get(row, "data")
    if not isinstance(row, dict) or not isinstance(data, dict):
        return row
    told = {**data, "id": row.get("id"), "sessionID": row.get("session_id")}
    if not isinstance(get(data, "time", "created"), int):
        told["time"] = {**(get(data, "time") or {}), "created": row.get("time_created")}
    match row.get("type"):
        case "user":
            files = [_file(one) for one in items(data, "files")]
            return {**told, "role": "user", "parts": [_text(data), *files]}
        case "synthetic" | "system" | "skill":
            return {**told, "role": "user", "parts": [_text(data) | {"synthetic": True}]}
        case "compaction":
            summary = {"type": "text", "text": string(data, "summary"), "synthetic": True}
            return {**told, "role": "user", "parts": [{"type": "compaction"}, summary]}
        case "shell":
            return {**told, "role": "assistant", "shell": True, "parts": [_shell(data)]}
        case "assistant":
            return _answer(told, data)
        case kind if kind in _SILENT:
            return {**told, "role": "none"}
    return {**told, "data": row}


def _answer(told: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    told |= {"role": "assistant", "modelID": string(data.get("model"), "id")}
    told["parts"] = [_part(one) for one in items(data, "content")]
    if error := data.get("error"):
        message = string(error, "message")
        told["error"] = {"name": string(error, "type"), "data": {"message": message}}
    return told


def _part(part: Any) -> Any:
    if string(part, "type") != "tool":
        return part
    state = get(part, "state")
    texts = [string(one, "text") for one in items(state, "content")]
    ended = {
        "status": string(state, "status"),
        "input": get(state, "input"),
        "output": "\n".join(filter(None, texts)),
        "error": string(get(state, "error"), "message"),
        "attachments": [_file(one) for one in items(state, "attachments")],
    }
    return {
        "type": "tool",
        "callID": string(part, "id"),
        "tool": string(part, "name"),
        "state": {**ended, "metadata": get(state, "structured")},
    }


def _text(data: dict[str, Any]) -> dict[str, Any]:
    return {"type": "text", "text": string(data, "text")}


def _file(file: Any) -> dict[str, Any]:
    name = string(file, "name")
    return {
        "type": "file",
        "mime": string(file, "mime"),
        "filename": name,
        "url": string(file, "uri"),
    }


def _shell(data: dict[str, Any]) -> dict[str, Any]:
    state = {"status": "completed", "input": {"command": words(data.get("command"))}}
    call = string(data, "callID")
    return {
        "type": "tool",
        "callID": call,
        "tool": "bash",
        "state": {**state, "output": words(data.get("output"))},
    }
