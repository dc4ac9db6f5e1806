"""Small helpers that every codec shares: hostile JSON read without failing, JSON written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from rireki.providers.neutral import Media, MediaKind, NeutralText, Opaque, Part, Result

__all__ = [
    "NOBODY",
    "arguments",
    "data_url",
    "dumps",
    "first",
    "from_data_url",
    "items",
    "joined",
    "leftovers",
    "mapping",
    "media_kind",
    "names",
    "only",
    "result_text",
    "standard_base64",
    "string",
    "whole",
]

#: Provider name of what is no JSON of any provider: it can be sent to none.
NOBODY = ""
_Kind = TypeVar("_Kind")


def string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def first(value: dict[str, Any], *names: str) -> Any:
    """The value under the first of the names that is there (camelCase or snake_case)."""
    for name in names:
        if name in value:
            return value[name]
    return None


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def dumps(value: Any) -> str:
    """Compact JSON, as it stands inside of other JSON."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        # Half a surrogate pair can be said in escapes only.
        return json.dumps(value, separators=(",", ":"))


def arguments(value: Any) -> Any:
    """The arguments of a call as an object; text that is not JSON stays text."""
    if not isinstance(value, str):
        return {} if value is None else value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return value


def whole(parts: Iterable[Part]) -> bool:
    """Whether every part can be sent as it came."""
    return all(part.raw is not None for part in parts)


def only(parts: Iterable[Any], kind: type[_Kind]) -> list[_Kind]:
    return [part for part in parts if isinstance(part, kind)]


def joined(parts: Sequence[Part | NeutralText]) -> str:
    """The words of the parts, a blank line between."""
    if len(parts) == 1 and type(parts[0]) is NeutralText:
        return parts[0].text
    return "\n\n".join(part.text for part in parts if isinstance(part, NeutralText))


def result_text(result: Result) -> str:
    content = result.content
    if len(content) == 1 and type(content[0]) is NeutralText:
        return content[0].text
    return "\n".join(inner.text for inner in content if isinstance(inner, (NeutralText, Opaque)))


def leftovers(blocks: Iterable[Any], known: frozenset[str]) -> list[str]:
    """Names of keys that the neutral form has no place for, if they say anything."""
    found: dict[str, None] = {}
    for block in blocks:
        if isinstance(block, dict) and not block.keys() <= known:
            found.update(
                (name, None) for name, value in block.items() if name not in known and value
            )
    return list(found)


def media_kind(media_type: str) -> MediaKind:
    family = media_type.partition("/")[0]
    return family if family in ("image", "audio", "video") else "document"  # type: ignore[return-value]


def standard_base64(data: str) -> str:
    """Base64 in the usual letters; pydantic writes bytes with those that are safe in addresses."""
    if "-" in data or "_" in data:
        return data.replace("-", "+").replace("_", "/")
    return data


def data_url(media: Media) -> str:
    return media.url or f"data:{media.media_type};base64,{media.data or ''}"


def from_data_url(url: str) -> tuple[str, str | None, str | None]:
    """(media type, data, address) of an address that may hold the data itself."""
    head, comma, data = url.partition(",")
    if not (comma and head.startswith("data:") and head.endswith(";base64")):
        return "", None, url
    return head[len("data:") : -len(";base64")], data, None
