"""The records a message was made of, as the agent wrote them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from rireki.archive.base import Archive
from rireki.errors import NotFound
from rireki.intake.interpret import read_conversation
from rireki.model.conversation import Conversation
from rireki.model.strand import Ref, Strand
from rireki.web.parts.frame import archive_reader_of, number_of, page, told

__all__ = ["show_raw"]

#: So much of one record is shown; a download has all of it.
SHOWN = 400_000


class RecordView(NamedTuple):
    """One record, where it stood and what it says."""

    place: str
    key: str
    record: int
    data: bytes

    @property
    def text(self) -> str:
        """Laid out for reading where it is JSON."""
        said = self.data.decode(errors="replace")
        try:
            value: Any = json.loads(said)
        except (ValueError, RecursionError):
            return said
        return json.dumps(value, ensure_ascii=False, indent=2)


@told
async def show_raw(request: Request) -> Response:
    """`/raw/ID?message=`: the records; `record=N` downloads one of them as it is."""
    number = await number_of(request)
    id, messages = request.path_params["id"], request.query_params.getlist("message")
    about, pieces = await archive_reader_of(request).read(
        lambda archive: _records(archive, id, messages)
    )
    wanted = request.query_params.get("record")
    if wanted is not None:
        return _download(pieces, wanted, about.id)
    return page(
        request,
        "raw.html",
        number=number,
        about=about,
        messages=messages,
        pieces=pieces,
        shown=SHOWN,
    )


def _download(pieces: list[RecordView], wanted: str, id: str) -> Response:
    # Numbers of thousands of digits are none that Python would read.
    if not wanted.isdecimal() or len(wanted) > 9 or int(wanted) >= len(pieces):
        raise NotFound("no-record", id=id, record=wanted)
    headers = {"content-disposition": f'attachment; filename="record-{int(wanted)}.json"'}
    return Response(
        pieces[int(wanted)].data, media_type="application/octet-stream", headers=headers
    )


def _records(
    archive: Archive, id: str, messages: Sequence[str]
) -> tuple[Conversation, list[RecordView]]:
    found = archive.find(id)
    known = read_conversation(archive, found).records()
    refs = [ref for message in messages for ref in known.get(message, [])]
    if not refs:
        raise NotFound("message-without-records", id=found.conversation.id, message=[*messages])
    strands = {s.id: s for s in archive.strands(found.family, found.grouping)}
    return found.conversation, [_piece(ref, strands[ref.strand]) for ref in dict.fromkeys(refs)]


def _piece(ref: Ref, strand: Strand) -> RecordView:
    (data,) = strand.fetch(ref.lane, [ref.record])
    return RecordView(strand.place, strand.key, ref.record, data)
