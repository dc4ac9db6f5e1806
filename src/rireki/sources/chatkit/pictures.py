"""Pictures that stand in an item as a data URL, and files that came with messages: bytes, by digest."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from rireki.model.parts import Attachment, Notice, Part, Unknown
from rireki.sources.chatkit.uploads import StoredFile
from rireki.sources.kit.fields import string

__all__ = ["ThreadPictures"]

_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}", re.ASCII)


@dataclass(slots=True)
class ThreadPictures:
    """The bytes of the pictures met so far."""

    found: dict[str, bytes] = field(default_factory=dict)
    #: Files that were uploaded, by the id of their attachment.
    files: dict[str, StoredFile] = field(default_factory=dict)

    def bytes_of(self, digest: str) -> bytes | None:
        """Files are brought when bytes are first asked for, all at once: the archive may close then."""
        while self.files:
            _, stored = self.files.popitem()
            self.found[stored.digest] = stored.read()
        return self.found.get(digest)

    def add(self, image: Any) -> Part:
        """The picture itself where the item holds it, else where it was to be had."""
        url, name = string(image, "url"), string(image, "id")
        if not url:
            return Unknown("image", image)
        if not url.startswith("data:"):
            return Notice(f"Picture {name} at {url}" if name else f"Picture at {url}")
        head, _, body = url.removeprefix("data:").partition(",")
        data = _bytes(head, body)
        if data is None:
            return Unknown("picture that cannot be decoded", image)
        kind = head.partition(";")[0]
        digest = sha256(data).hexdigest()
        self.found[digest] = data
        media_type = kind if _TYPE.fullmatch(kind) else "application/octet-stream"
        return Attachment(media_type, digest, name, len(data))


def _bytes(head: str, body: str) -> bytes | None:
    try:
        if "base64" in head.split(";"):
            return base64.b64decode(body, validate=True)
        from urllib.parse import unquote_to_bytes

        return unquote_to_bytes(body)
    except (binascii.Error, ValueError):
        return None
