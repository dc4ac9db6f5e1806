"""The formats a conversation can be written in: one list for `show --format` and for the web's menu.

To add one: a module with `write(transcript, options)`, which gives the pieces of a document, and a
line here. It is imported when it is asked for. Formats for a provider's API are in `providers/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import NamedTuple

from rireki.model.parts import Attachment
from rireki.show.transcript import Transcript

__all__ = ["FORMATS", "Format", "FormatOptions", "write"]


class Format(NamedTuple):
    title: str
    #: Of a file's name, and of what a server answers with.
    ending: str
    media_type: str
    module: str
    #: Whether programs read it rather than people: never in a pager, nothing folded away.
    for_programs: bool = False


class FormatOptions(NamedTuple):
    """What is asked of a document. A format that has no use for one of these leaves it."""

    locale: str = "en"
    #: Shorten nothing.
    full: bool = False
    #: With the sub-agents that agents started.
    nested: bool = False
    #: The message that was asked for.
    opened: str | None = None
    attachment_bytes: Callable[[Attachment], bytes | None] | None = None


FORMATS = {
    "markdown": Format("Markdown", "md", "text/markdown", "rireki.show.markdown"),
    "html": Format("HTML", "html", "text/html", "rireki.show.html.export"),
    "json": Format("JSON", "json", "application/json", "rireki.show.json", for_programs=True),
}


def write(name: str, transcript: Transcript, options: FormatOptions) -> Iterator[str]:
    """The pieces of the document, made as they are taken."""
    pieces: Iterator[str] = import_module(FORMATS[name].module).write(transcript, options)
    return pieces
