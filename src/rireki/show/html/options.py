"""What the renderer has to know about where its HTML will stand: language, addresses, how much."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rireki.model.parts import Attachment

__all__ = ["RenderOptions"]


class RenderOptions(NamedTuple):
    """Without any address nothing is linked but what stands in the same document."""

    #: The language of the interface: "en" or "ja". What was said stays as it was said.
    locale: str = "en"
    #: The address of another conversation, by its id.
    conversation_url: Callable[[str], str] | None = None
    #: The address of a message of this one.
    message_url: Callable[[str], str] | None = None
    #: Where the records of a message are shown as they are.
    raw_url: Callable[[str], str] | None = None
    #: Where a picture or file lies; None for one that is told by its name only.
    attachment_url: Callable[[Attachment], str | None] | None = None
    #: The bytes of a picture, to be put into the document itself where there is no address.
    attachment_bytes: Callable[[Attachment], bytes | None] | None = None
    #: Nothing is cut, however long.
    full: bool = False
    #: Buttons that copy a block; they need a script beside them.
    copy: bool = True
