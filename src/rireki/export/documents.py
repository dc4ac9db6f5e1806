"""A conversation brought into a format: what is read for it, and what the writer may ask for.

The command, the web and `rireki export` get the same document for the same wish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rireki.archive.base import Archive, Found
from rireki.intake.interpret import read_conversation
from rireki.late import LateModule
from rireki.library import TranscriptReader
from rireki.model.message import Message
from rireki.model.parts import Attachment
from rireki.show.formats import FORMATS, FormatOptions, write
from rireki.show.transcript import Transcript, choose, mask_transcript

if TYPE_CHECKING:
    from rireki import masking
    from rireki.masking import Masker
    from rireki.model.conversation import Reading
else:
    masking = LateModule("rireki.masking")

__all__ = ["Document", "DocumentReader", "Wish", "document", "is_text", "masker_for"]


class Wish(NamedTuple):
    """What is asked of a document."""

    form: str
    locale: str = "en"
    #: As the source held it then.
    as_of: str | None = None
    #: Also what is hidden, and earlier versions.
    everything: bool = False
    #: Only what the source still holds.
    upstream: bool = False
    #: Shorten nothing.
    full: bool = False
    #: With the messages of sub-agents.
    nested: bool = False
    #: The model that a provider's form is for.
    model: str | None = None
    compact: bool = False
    #: With secrets masked.
    masked: bool = False


class Document(NamedTuple):
    """A conversation, and how it is to be written."""

    form: str
    transcript: Transcript
    options: FormatOptions

    def pieces(self) -> Iterator[str]:
        return write(self.form, self.transcript, self.options)


def masker_for(archive: Archive, wish: Wish) -> Masker | None:
    """Who reads many documents makes it once: it reads the files that the user named."""
    return masking.Masker.for_home(archive.home) if wish.masked else None


class DocumentReader(TranscriptReader):
    """Reads a conversation as a format needs it, and what its writer may ask for."""

    def __init__(self, archive: Archive, wish: Wish, masker: Masker | None = None) -> None:
        self.wish = wish
        self.format = FORMATS.get(wish.form)
        super().__init__(
            archive,
            wish.as_of,
            everything=wish.everything,
            upstream=wish.upstream,
            nested=wish.nested or self._is_whole,
        )
        self.masker = masker or masker_for(archive, wish)
        #: Where the bytes of attachments are, a place per conversation.
        self._attachments: list[Callable[[str], bytes | None]] = []
        self._original: Callable[[], bytes | None] = lambda: None

    @property
    def _is_whole(self) -> bool:
        return self.format is not None and self.format.whole

    def document(self, found: Found, note: Callable[[str], None] | None = None) -> Document:
        transcript = self.read(found)
        if self.masker is not None:
            transcript = mask_transcript(transcript, self.masker)
        return Document(self.wish.form, transcript, self.options(note))

    def options(self, note: Callable[[str], None] | None = None) -> FormatOptions:
        wish = self.wish
        return FormatOptions(
            locale=wish.locale,
            full=wish.full,
            nested=wish.nested,
            everything=wish.everything,
            attachment_bytes=self.bytes_of,
            model=wish.model,
            compact=wish.compact,
            note=note,
            messages_of=self._messages_of,
            original=self._masked_original,
        )

    def choose(self, reading: Reading) -> list[Message]:
        is_first = not self._attachments
        self._attachments.append(reading.attachment)
        if is_first and reading.original is not None:
            self._original = reading.original
        if self.format is not None and self.format.for_models and not self.everything:
            return self._shown_to_a_model(reading)
        return choose(reading.messages(), self.everything or self._is_whole, self.upstream)

    def _shown_to_a_model(self, reading: Reading) -> list[Message]:
        """Without what a summary stands for."""
        told = super().choose(reading)
        if reading.shown is None:
            return told
        by_id = {message.id: message for message in told}
        return [by_id[id] for id in reading.shown() if id in by_id]

    def bytes_of(self, attachment: Attachment) -> bytes | None:
        found = (bytes_of(attachment.digest) for bytes_of in self._attachments)
        data = next((data for data in found if data), None)
        if data is None or self.masker is None:
            return data
        return _masked_bytes(attachment.media_type, data, self.masker)

    def _messages_of(self, id: str) -> Sequence[Message]:
        """Another conversation's, where it is still there."""
        if id in self.archive.missing([id]):
            return []
        messages = read_conversation(self.archive, self.archive.find(id), self.as_of).messages()
        return messages if self.masker is None else list(map(self.masker.message, messages))

    def _masked_original(self) -> bytes | None:
        data = self._original()
        return data if data is None or self.masker is None else self.masker.record(data)


def _masked_bytes(media_type: str, data: bytes, masker: Masker) -> bytes | None:
    """Pictures and sounds as they are, texts masked; in anything else nobody can look for secrets."""
    if media_type.partition("/")[0] in ("image", "audio", "video") and "svg" not in media_type:
        return data
    return masker.record(data) if is_text(data) else None


def is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def document(
    archive: Archive, id: str, wish: Wish, note: Callable[[str], None] | None = None
) -> Document:
    return DocumentReader(archive, wish).document(archive.find(id), note)
