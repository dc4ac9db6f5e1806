"""Pictures and files that stand inside records: attachments of messages, and their bytes by digest."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256

from rireki.model.parts import Attachment, Part, Unknown

__all__ = ["Pictures", "bytes_of_url"]

_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}", re.ASCII)


@dataclass(slots=True)
class Pictures:
    """The bytes of the attachments met so far."""

    found: dict[str, bytes] = field(default_factory=dict)

    def add(self, data: bytes, media_type: str, name: str = "") -> Attachment:
        digest = sha256(data).hexdigest()
        self.found[digest] = data
        plain = media_type if _TYPE.fullmatch(media_type) else "application/octet-stream"
        return Attachment(plain, digest, name, len(data))

    def add_numbers(self, numbers: Iterable[int], media_type: str) -> Part:
        """One that the source keeps as a list of integers."""
        try:
            return self.add(bytes(numbers), media_type)
        except (ValueError, TypeError):
            return Unknown("picture that is no list of bytes")

    def add_base64(self, data: object, media_type: str, name: str = "") -> Attachment | None:
        """One that stands in base64; None when it does not."""
        try:
            return self.add(base64.b64decode(data, validate=True), media_type, name)  # type: ignore[arg-type]
        except (binascii.Error, ValueError, TypeError):
            return None

    def add_url(self, url: str, name: str = "") -> Attachment | None:
        """One that stands in a data URL; None when that cannot be decoded."""
        head = url.removeprefix("data:").partition(",")[0]
        data = bytes_of_url(url)
        return None if data is None else self.add(data, head.partition(";")[0], name)

    def bytes_of(self, digest: str) -> bytes | None:
        return self.found.get(digest)


def bytes_of_url(url: str) -> bytes | None:
    """What a data URL holds."""
    head, _, body = url.removeprefix("data:").partition(",")
    try:
        if "base64" in head.split(";"):
            return base64.b64decode(body, validate=True)
        # Imported late: hardly any picture is written so.
        from urllib.parse import unquote_to_bytes

        return unquote_to_bytes(body)
    except (binascii.Error, ValueError):
        return None
