"""A conversation as a file for other people: masked, one self-contained document, and readable back.

The document has its content twice: as the page that people read, and, in a `<template>` that nothing
shows, as the values that `rireki import` reads. What both say is told by a digest.
"""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from hashlib import sha256
from io import BytesIO
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import msgspec

from rireki import __version__
from rireki.archive.base import Archive
from rireki.errors import RirekiError
from rireki.export.documents import DocumentReader, Wish
from rireki.intake.restore import safe_name
from rireki.masking import Mark
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Attachment, ToolCall, ToolResult
from rireki.model.seal import with_page_digest
from rireki.show import times
from rireki.show.formats import FormatOptions, write
from rireki.show.html.export import Seal, seal_words, write_sealed
from rireki.show.json import line
from rireki.show.transcript import Transcript, mask_transcript

__all__ = ["ENDINGS", "Shared", "share", "turns_of_range"]

#: What a file may be.
ENDINGS = (".html", ".md", ".zip")
_EPOCH = (1980, 1, 1, 0, 0, 0)


class Shared(NamedTuple):
    """What is ready to be given away, and what was masked in it."""

    transcript: Transcript
    options: FormatOptions
    masked: Counter[Mark]
    #: Of what was left in.
    digest: str
    #: What `rireki import` reads.
    sealed: str
    at: str

    @property
    def name(self) -> str:
        """What the file is called, without its ending."""
        about = self.transcript.conversation
        return safe_name(f"{about.source}-{about.native_id[:8]}")

    def content(self, ending: str) -> bytes:
        # Half a surrogate pair cannot be written.
        if ending == ".html":
            return with_page_digest("".join(self._html()).encode(errors="replace"))
        if ending == ".md":
            return "".join(self._markdown()).encode(errors="replace")
        if ending == ".zip":
            return self._zip()
        raise RirekiError("share-ending", ending=ending or "…", names=[*ENDINGS])

    def line(self, locale: str) -> str:
        """Which version this is, when it was shared, by which rireki, and what it was then."""
        about = self.transcript.conversation
        then = times.moment(about.updated_at) if about.updated_at else "?"
        return seal_words(locale, times.moment(self.at), then, len(self.masked), self.digest)

    def _html(self) -> Iterator[str]:
        seal = Seal(self.digest, self.line(self.options.locale), self.sealed)
        return write_sealed(self.transcript, self.options, seal)

    def _markdown(self) -> Iterator[str]:
        yield from write("markdown", self.transcript, self.options)
        yield f"\n---\n\n*{self.line(self.options.locale)}*\n"

    def _zip(self) -> bytes:
        packed = BytesIO()
        with ZipFile(packed, "w", ZIP_DEFLATED) as made:
            for name, data in self._members():
                made.writestr(ZipInfo(name, _EPOCH), data, ZIP_DEFLATED)
        return packed.getvalue()

    def _members(self) -> Iterator[tuple[str, bytes]]:
        yield "conversation.html", self.content(".html")
        yield "conversation.md", self.content(".md")
        taken = set()
        for part in _attachments(self.transcript.messages):
            data = self._bytes(part)
            if data is not None and part.digest not in taken:
                taken.add(part.digest)
                yield f"attachments/{part.digest[:8]}-{safe_name(part.name or 'file')}", data

    def _bytes(self, part: Attachment) -> bytes | None:
        ask = self.options.attachment_bytes
        return ask(part) if ask is not None else None


def share(
    archive: Archive,
    id: str,
    turns: tuple[int, int] | None = None,
    locale: str = "en",
    as_of: str | None = None,
) -> Shared:
    """Masked, the turns that are wanted, without what is hidden and without ties to others."""
    reader = DocumentReader(archive, Wish("html", locale, as_of, full=True, masked=True))
    assert reader.masker is not None
    transcript = reader.read(archive.find(id))
    messages = _wanted(transcript, turns)
    about = _for_others(transcript.conversation, messages, turns is None)
    # Only what is given away is masked, so that it alone is told of.
    transcript = mask_transcript(
        transcript._replace(conversation=about, messages=messages, children=[]), reader.masker
    )
    options = reader.options()
    at = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    content = _content(transcript, options)
    sealed = base64.b64encode(zlib.compress(content, 9)).decode()
    digest = sha256(content).hexdigest()
    return Shared(transcript, options, Counter(reader.masker.found), digest, sealed, at)


def _wanted(transcript: Transcript, turns: tuple[int, int] | None) -> Sequence[Message]:
    if turns is None:
        return transcript.messages
    first, last = turns
    found = [one for one in transcript.messages if first <= (one.turn or 0) <= last]
    if not found:
        raise RirekiError("share-no-turns", first=first, last=last, n=transcript.conversation.turns)
    return found


def _for_others(about: Conversation, messages: Sequence[Message], whole: bool) -> Conversation:
    """Without what leads to other conversations and files of this machine, and counted anew."""
    about = msgspec.structs.replace(about, links=[], troubles=[], held_by=[], trail=[])
    if whole:
        return about
    parts = [part for one in messages for part in one.parts]
    calls = {part.call_id for part in parts if isinstance(part, ToolCall)}
    results = {part.call_id for part in parts if isinstance(part, ToolResult)}
    moments = [one.at for one in messages if one.at]
    return msgspec.structs.replace(
        about,
        messages=len(messages),
        turns=len({one.turn for one in messages}),
        tool_calls=len(calls),
        calls_without_result=len(calls - results),
        started_at=min(moments, default=about.started_at),
        updated_at=max(moments, default=about.updated_at),
        usage=None,
        models=list(dict.fromkeys(one.model for one in messages if one.model)),
    )


def _content(transcript: Transcript, options: FormatOptions) -> bytes:
    """What was left in, as values: the conversation, its messages, its pictures."""
    ask = options.attachment_bytes
    files: dict[str, str] = {}
    for part in _attachments(transcript.messages):
        data = ask(part) if ask is not None and part.digest else None
        if data is not None:
            files[part.digest] = base64.b64encode(data).decode()
    value = {
        "rireki": __version__,
        "conversation": transcript.conversation,
        "messages": transcript.messages,
        "attachments": files,
    }
    return line(value).encode()


def _attachments(messages: Sequence[Message]) -> Iterator[Attachment]:
    return (part for one in messages for part in one.parts if isinstance(part, Attachment))


def turns_of_range(text: str) -> tuple[int, int]:
    """`3-7`, or `3` alone."""
    first, dash, last = text.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()):
        raise RirekiError("share-turns", text=text)
    found = int(first), int(last or first)
    if not 0 < found[0] <= found[1]:
        raise RirekiError("share-turns", text=text)
    return found
