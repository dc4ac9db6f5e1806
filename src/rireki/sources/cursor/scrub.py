"""Keys of ciphers stand in the middle of what is kept: they are left out before anything is."""

from __future__ import annotations

from typing import Any

import msgspec

from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import get, string

__all__ = ["cleaned", "scrubbed"]

#: How fields end that are keys of a cipher.
_SECRET = "EncryptionKey"


def cleaned(data: bytes) -> bytes:
    """A row without the keys of ciphers."""
    if _SECRET.encode() not in data:
        return data
    try:
        value = scrubbed(load(data))
    except (NotReadable, RecursionError):
        return b"{}"
    if _SECRET in string(value, "value:text"):
        # No JSON: nobody can tell the key from the rest.
        value = {"key": get(value, "key")}
    return msgspec.json.encode(value)


def scrubbed(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: scrubbed(v) for k, v in value.items() if not str(k).endswith(_SECRET)}
    return [scrubbed(each) for each in value] if isinstance(value, list) else value
