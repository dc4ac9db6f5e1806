"""Messages of pydantic-ai, as JSON, told the way that small agents' histories are."""

from __future__ import annotations

from typing import Any

import msgspec

from rireki.providers.kit import standard_base64

__all__ = ["told"]


def told(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The message as messages of a history; instructions come before the rest."""
    parts = message.get("parts") or []
    if message.get("kind") == "response":
        return [{"role": "assistant", "content": [_said(part) for part in parts]}]
    system = [part for part in parts if part.get("part_kind") == "system-prompt"]
    blocks = [b for part in parts if part not in system for b in _asked(part)]
    made = [{"role": "system", "content": part["content"]} for part in system]
    return [*made, {"role": "user", "content": blocks}]


def _said(part: dict[str, Any]) -> dict[str, Any]:
    kind = part.get("part_kind")
    if kind == "text":
        return _text(part["content"])
    if kind == "thinking":
        return {"type": "thinking", "thinking": part["content"]}
    if kind == "tool-call":
        given = part.get("args")
        given = _decoded(given) if isinstance(given, str) else given or {}
        name, id = part["tool_name"], part["tool_call_id"]
        return {"type": "tool_use", "id": id, "name": name, "input": given}
    return _text(f"[{kind}]")


def _asked(part: dict[str, Any]) -> list[dict[str, Any]]:
    kind, content = part.get("part_kind"), part.get("content")
    # Retries had a part of their own before they became an outcome.
    failed = kind == "retry-prompt" or part.get("outcome", "success") != "success"
    if kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name")):
        block = {
            "type": "tool_result",
            "tool_use_id": part["tool_call_id"],
            "tool_name": part["tool_name"],
            "content": _written(content),
        }
        return [{**block, "is_error": True} if failed else block]
    if kind == "user-prompt" and isinstance(content, list):
        return [_piece(piece) for piece in content]
    return [_text(_written(content))]


def _piece(piece: Any) -> dict[str, Any]:
    """A text, a picture, or something else that a person gave."""
    if isinstance(piece, str):
        return _text(piece)
    media_type = str(piece.get("media_type") or "")
    if piece.get("kind") == "binary" and media_type.startswith("image/"):
        data = standard_base64(piece["data"])
        source = {"type": "base64", "media_type": media_type, "data": data}
        return {"type": "image", "source": source}
    return _text(str(piece.get("url") or piece.get("content") or f"[{piece.get('kind')}]"))


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _written(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text or "{}")
    except msgspec.DecodeError:
        # Cut off while it was written.
        return text
