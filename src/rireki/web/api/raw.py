"""What agents wrote, byte by byte: records, whole transcripts, attachments.

All of it is hostile input: only pictures whose first bytes prove their kind are
given a kind, everything else is something to save.
"""

from __future__ import annotations

import base64

from starlette.responses import Response

from rireki.archive.base import Archive
from rireki.errors import NotFound
from rireki.intake.interpret import read_conversation
from rireki.model.strand import Ref, Strand
from rireki.web.api.answers import RawMessage, RawRecord
from rireki.web.api.call import TALK, ApiCall, operation
from rireki.web.api.parameters import Nothing, RawAsked, moment, plain

__all__ = ["attachment", "kind_of_picture", "raw", "raw_message"]

#: What a picture begins with. SVG is no picture here: it can hold scripts.
_PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_UNTYPED = "application/octet-stream"
#: Nothing in it may run or load anything, should a browser open it as a page after all.
_SANDBOX = {"Content-Security-Policy": "default-src 'none'; sandbox"}


def kind_of_picture(data: bytes) -> str | None:
    """By its own bytes, never by what a transcript says of it."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _PICTURES.items() if data.startswith(start)), None)


@operation(TALK + "/attachments/{digest}", "A picture or file that belongs to it.")
async def attachment(call: ApiCall[Nothing]) -> Response:
    digest = call.names["digest"]
    data = await call.archive_reader.attachment(call.conversation, digest)
    if data is None:
        raise NotFound("no-attachment", id=call.conversation, digest=digest[:80])
    kind = kind_of_picture(data)
    if kind is None:
        return _saved(data, "attachment.bin")
    return Response(data, media_type=kind, headers=_SANDBOX)


@operation(TALK + "/raw", "The bytes its agent wrote.")
async def raw(call: ApiCall[RawAsked]) -> Response:
    """The bytes of every file and row, one after the other, as `rireki show --raw` gives them."""
    as_of = moment(call.asked.as_of, end_of_day=True)

    def look(archive: Archive) -> bytes:
        found = archive.find(call.conversation)
        strands = archive.strands(found.family, found.grouping, as_of)
        if call.asked.all:
            return b"".join(_ended(record) for strand in strands for record in _ever(strand))
        return b"".join(strand.document() for strand in strands)

    return _saved(await call.archive_reader.read(look), "transcript.txt")


def _ever(strand: Strand) -> list[bytes]:
    """Every record it ever held."""
    lanes = dict.fromkeys(run.lane for state in strand.states for run in state.runs)
    return [occurrence.data for lane in lanes for occurrence in strand.story(lane)]


def _ended(record: bytes) -> bytes:
    return record if record.endswith(b"\n") else record + b"\n"


def _saved(data: bytes, name: str) -> Response:
    """Something to save rather than to look at."""
    told = {"Content-Disposition": f'attachment; filename="{name}"', **_SANDBOX}
    return Response(data, media_type=_UNTYPED, headers=told)


@operation(TALK + "/messages/{message}/raw", "The records a message was made of.")
async def raw_message(call: ApiCall[Nothing]) -> RawMessage:
    def look(archive: Archive) -> RawMessage:
        found = archive.find(call.conversation)
        known = read_conversation(archive, found).records()
        named = {plain(id): refs for id, refs in known.items()}
        refs = named.get(call.names["message"])
        if refs is None:
            raise NotFound("no-records-of", message=call.names["message"], id=found.conversation.id)
        strands = {s.id: s for s in archive.strands(found.family, found.grouping)}
        records = [_record(ref, strands[ref.strand]) for ref in refs]
        return RawMessage(found.conversation.id, call.names["message"], records)

    return await call.archive_reader.read(look)


def _record(ref: Ref, strand: Strand) -> RawRecord:
    (data,) = strand.fetch(ref.lane, [ref.record])
    told = RawRecord(
        source=strand.source,
        origin=strand.place,
        key=strand.key,
        role=strand.role,
        lane=ref.lane,
        record=ref.record,
        size=len(data),
    )
    try:
        told.text = data.decode()
    except UnicodeDecodeError:
        told.base64 = base64.b64encode(data).decode()
    return told
