"""What programs give as results of tools: told apart from what is none, and brought to text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rireki.errors import RirekiError
from rireki.history import late

__all__ = ["checked_result", "told_result"]

#: Under which names a mapping gives what the tool returned.
_SAID = ("result", "content")


def told_result(value: Any) -> Any:
    """Texts and lists of blocks as they are; everything else as JSON, which models read as well."""
    if value is None or isinstance(value, str | bytes | bytearray):
        return value
    if isinstance(value, list | tuple) and all(map(_is_block, value)):
        return value
    return late.json.dumps(late.providers.plain(value), ensure_ascii=False, separators=(",", ":"))


def _is_block(value: Any) -> bool:
    kind = value.get("type") if isinstance(value, Mapping) else getattr(value, "type", None)
    return isinstance(value, str) or isinstance(kind, str)


def checked_result(result: Any) -> Mapping[str, Any] | Sequence[Any]:
    """One of the results of several calls, with what the tool returned as `told_result` has it."""
    if isinstance(result, Mapping) and "tool_use_id" in result:
        return {**result, **{name: told_result(result[name]) for name in _SAID if name in result}}
    is_row = isinstance(result, Sequence) and not isinstance(result, str | bytes)
    if is_row and len(result) in (2, 3):
        return [result[0], told_result(result[1]), *result[2:]]
    raise RirekiError("no-tool-result", result=result)
