"""Digests by which a record is recognised when its source writes it again."""

from __future__ import annotations

import msgspec

from rireki.model.record import DIGEST_SIZE, digest_of_bytes

__all__ = ["DIGEST_SIZE", "digest_of_bytes", "digest_of_json"]


def digest_of_json(data: bytes) -> bytes:
    """Equal for equal JSON values, whatever the order of keys or the white space."""
    try:
        canonical = msgspec.json.encode(msgspec.json.decode(data), order="sorted")
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        # Imported late: hardly any value needs it.
        import json

        try:
            canonical = json.dumps(json.loads(data), sort_keys=True).encode()
        except (ValueError, RecursionError):
            return digest_of_bytes(data)
    return digest_of_bytes(canonical)
