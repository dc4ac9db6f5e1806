"""What is sent along with a request: JSON, as large as a prompt with its pictures may be."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import Request

from rireki.errors import RirekiError
from rireki.web.api.parameters import BadRequest

__all__ = ["LARGEST", "TooLarge", "read_body"]

#: Bytes of what is sent: a prompt and its pictures.
LARGEST = 20 * 1024 * 1024


class TooLarge(RirekiError):
    """More than is taken; answered with 413."""

    def __init__(self) -> None:
        super().__init__("body-too-large", most=LARGEST // 1024**2)


async def read_body(request: Request, kind: Any) -> Any:
    """Of the type an address takes. Raises BadRequest, which says what is wrong, or TooLarge."""
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        # What it says of its own size is not to be relied upon.
        if size > LARGEST:
            raise TooLarge
        pieces.append(piece)
    try:
        return msgspec.json.decode(b"".join(pieces), type=kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadRequest("bad-body", why=error) from error
