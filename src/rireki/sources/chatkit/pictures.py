"""Pictures that stand in an item, and files that came with messages: bytes, by digest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rireki.model.parts import Notice, Part, Unknown
from rireki.sources.chatkit.uploads import StoredFile
from rireki.sources.kit.fields import string
from rireki.sources.kit.pictures import Pictures

__all__ = ["ThreadPictures"]


@dataclass(slots=True)
class ThreadPictures(Pictures):
    #: Files that were uploaded, by the id of their attachment.
    files: dict[str, StoredFile] = field(default_factory=dict)

    def bytes_of(self, digest: str) -> bytes | None:
        """Files are brought when bytes are first asked for, all at once: the archive may close then."""
        while self.files:
            _, stored = self.files.popitem()
            self.found[stored.digest] = stored.read()
        return self.found.get(digest)

    def add_image(self, image: Any) -> Part:
        """The picture itself where the item holds it, else where it was to be had."""
        url, name = string(image, "url"), string(image, "id")
        if not url:
            return Unknown("image", image)
        if not url.startswith("data:"):
            return Notice(f"Picture {name} at {url}" if name else f"Picture at {url}")
        return self.add_url(url, name) or Unknown("picture that cannot be decoded", image)
