"""Fields of JSON that may be of any kind: what is asked for, or nothing."""

from __future__ import annotations

from typing import Any

from rireki.sources.kit.decode import text_of

__all__ = ["amount", "get", "items", "number", "string", "words"]


def get(value: Any, *path: str) -> Any:
    """What stands at a path of field names; None where there is nothing."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def string(value: Any, name: str) -> str:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def items(value: Any, name: str) -> list[Any]:
    found = get(value, name)
    return found if isinstance(found, list) else []


def number(value: Any, name: str) -> int:
    """A count, as of tokens; 0 where there is none that makes sense."""
    found = get(value, name)
    return found if isinstance(found, int) and 0 <= found < 1 << 53 else 0


def amount(value: Any, name: str) -> float:
    """A sum of money or credits; 0 where there is none that makes sense."""
    found = get(value, name)
    sensible = isinstance(found, int | float) and not isinstance(found, bool) and 0 <= found < 1e9
    return float(found) if sensible else 0.0


def words(value: Any) -> str:
    """A text as it is, anything else as JSON on one line."""
    if value is None:
        return ""
    return value if isinstance(value, str) else text_of(value)
