"""What a file is: what may be uploaded, and whether the bytes are what their sender said.

Knows the first bytes of the kinds that browsers show. Nothing here decodes anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["HEAD", "INLINE", "TYPES", "is_kind", "plain_name", "plain_type"]

#: How many bytes tell a kind.
HEAD = 512
#: Pictures that a browser shows without running anything in them.
INLINE = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
#: What may be uploaded unless the app says otherwise.
TYPES = (*sorted(INLINE), "application/pdf", "text/plain", "text/markdown", "text/csv")

_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_STARTS: dict[str, Callable[[bytes], bool]] = {
    "image/png": lambda head: head.startswith(b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": lambda head: head.startswith(b"\xff\xd8\xff"),
    "image/gif": lambda head: head.startswith((b"GIF87a", b"GIF89a")),
    "image/webp": lambda head: head[:4] == b"RIFF" and head[8:12] == b"WEBP",
    "application/pdf": lambda head: head.startswith(b"%PDF-"),
}


def plain_type(mime_type: str) -> str | None:
    """`image/png` of `Image/PNG; x=y`; None when it is no media type."""
    plain = mime_type.partition(";")[0].strip().lower()
    return plain if _TYPE.fullmatch(plain) else None


def plain_name(name: str) -> bool:
    """Whether it is the name of a file, and no way to one."""
    parts = ("", ".", "..")
    return (
        len(name) <= 255
        and name.strip() not in parts
        and not any(sign in name for sign in "/\\")
        and _CONTROL.search(name) is None
    )


def is_kind(mime_type: str, head: bytes) -> bool:
    """Whether bytes begin as their kind does; of unknown kinds anything is believed."""
    if mime_type.startswith("text/"):
        return b"\x00" not in head
    starts = _STARTS.get(mime_type)
    return starts is None or starts(head)
