"""The JSON that programs read: the names of the model's values, as they are.

What cannot be said in UTF-8 (half a surrogate pair) is escaped, never dropped.
"""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["line"]


def line(value: Any) -> str:
    """A value of the model, or plain values around one, as one line of JSON."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        # Imported late: hardly any value has half a surrogate pair in it.
        import json

        return json.dumps(msgspec.to_builtins(value, str_keys=True), separators=(",", ":"))
