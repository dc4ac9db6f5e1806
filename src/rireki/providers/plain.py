"""SDK objects as plain JSON, without importing any SDK.

Response models (pydantic), dataclasses, structs, messages with `to_dict`, and objects that have
nothing but attributes; bytes become base64.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Mapping
from datetime import date
from enum import Enum
from typing import Any

import msgspec

from rireki.errors import RirekiError

__all__ = ["plain"]

_LEAVES = frozenset({str, int, float, bool, type(None)})
#: Deeper than any provider nests; an object that holds itself ends here.
_DEPTH = 200
#: What `parse` of OpenAI's package sets beside the text it read it from; the server takes it not.
_PARSED = frozenset({"parsed", "parsed_arguments"})


def plain(value: Any) -> Any:
    """The value as JSON; JSON itself comes back as it is, not copied."""
    return _plain(value, 0)


def _plain(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind in _LEAVES:
        return value
    if depth > _DEPTH:
        raise RirekiError("nested-too-deep", kind=kind.__name__, depth=_DEPTH)
    if kind is dict:
        return _dict(value, depth)
    if kind is list:
        return _list(value, depth)
    return _plain(_opened(value), depth + 1)


def _dict(value: dict[Any, Any], depth: int) -> dict[str, Any]:
    new: dict[str, Any] | None = None
    for key, inner in value.items():
        if type(inner) in _LEAVES and type(key) is str:
            continue
        made = _plain(inner, depth + 1)
        if made is not inner or type(key) is not str:
            if new is None:
                new = {str(name): kept for name, kept in value.items()}
            new[str(key)] = made
    return value if new is None else new


def _list(value: list[Any], depth: int) -> list[Any]:
    new: list[Any] | None = None
    for place, inner in enumerate(value):
        made = _plain(inner, depth + 1)
        if made is not inner:
            if new is None:
                new = list(value)
            new[place] = made
    return value if new is None else new


def _opened(value: Any) -> Any:
    """One layer less of something that is not JSON."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str | int | float):
        return next(base(value) for base in (str, int, float) if isinstance(value, base))
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    return _object(value)


def _object(value: Any) -> Any:
    kind = type(value)
    if callable(getattr(kind, "model_dump", None)):
        if kind.__name__.startswith("Parsed") and kind.__module__.startswith("openai."):
            return _unparsed(value)
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
    if isinstance(value, msgspec.Struct):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    if dataclasses.is_dataclass(kind):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(kind)}
    if callable(getattr(kind, "to_dict", None)):
        # Messages of protocol buffers have it on the class and take the message.
        return kind.to_dict(value)
    if hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        return _attributes(value)
    raise RirekiError("not-json", module=kind.__module__, name=kind.__name__)


def _unparsed(value: Any) -> dict[str, Any]:
    """The fields that were set, one layer: what is parsed may stand in those below, too."""
    fields = {**vars(value), **(value.model_extra or {})}
    kept = value.model_fields_set - _PARSED
    return {name: inner for name, inner in fields.items() if name in kept}


def _attributes(value: Any) -> dict[str, Any]:
    """What an object says of itself; its `type` may stand on the class."""
    said = {name: inner for name, inner in vars(value).items() if not name.startswith("_")}
    kind = getattr(value, "type", None)
    if "type" not in said and isinstance(kind, str):
        said["type"] = kind
    return said
