"""How a shared document is known again, and the digest that stands in it: what that is of, how it is compared.

The digest is of all bytes, with zeros where it stands; ends of lines, which mail and tools of versions change,
count as one character.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

__all__ = ["is_page_altered", "is_sealed_markdown", "with_page_digest"]

_PLACE = re.compile(rb'(<meta name="rireki-shared-page" content="sha256:)([0-9a-f]{64})(">)')
_EMPTY = rb"\g<1>" + b"0" * 64 + rb"\g<3>"

#: How a document in Markdown ends, in any language; and how much of it is looked at.
_LAST_LINE = re.compile(rb"\n---\n\n\*[^\n]*rireki[^\n]*SHA-256[^\n]*[0-9a-f]{64}[^\n]*\*\s*\Z")
_MOST = 2000


def with_page_digest(document: bytes) -> bytes:
    """The document with its digest in the place kept for it."""
    digest = _digest(document)
    return _PLACE.sub(lambda found: found[1] + digest + found[3], document, count=1)


def is_page_altered(document: bytes) -> bool:
    """Whether the page is another than it was; one that has no digest says nothing of that."""
    found = _PLACE.search(document)
    return found is not None and found[2] != _digest(document)


def is_sealed_markdown(path: Path) -> bool:
    """Whether a file was shared as Markdown: it has the words alone, and cannot be read back."""
    if path.suffix.lower() != ".md" or not path.is_file():
        return False
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _MOST))
        return _LAST_LINE.search(file.read(_MOST).replace(b"\r\n", b"\n")) is not None


def _digest(document: bytes) -> bytes:
    plain = document.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return sha256(_PLACE.sub(_EMPTY, plain, count=1)).hexdigest().encode()
