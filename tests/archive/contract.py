"""Small values to tell an archive stories with."""

from __future__ import annotations

from typing import Any

from rireki.archive.base import Archive
from rireki.model.conversation import Conversation, LinkToken, Reading
from rireki.model.record import Content, Origin, Piece, Update, digest_of_bytes

ORIGIN = Origin(source="pad", place="/pad/one", root="/pad", form="lines", role="journal")


def update(
    *lines: bytes, conversation: str = "one", cursor: Any = 1, key: str = "", **more: Any
) -> Update:
    """What a strand got, or, with `grows=False`, holds now."""
    pieces = [Piece(line, digest_of_bytes(line)) for line in lines]
    told: dict[str, Any] = {"grows": True, **more}
    return Update(
        key=key,
        role="journal",
        conversation=conversation,
        contents=[Content("lines", pieces)],
        cursor=cursor,
        **told,
    )


def add(archive: Archive, found: Update, before: Any = None, origin: Origin = ORIGIN) -> int:
    with archive.writing() as batch:
        return batch.add(origin, "pad", found, before)


def reading(id: str, *tokens: LinkToken, **more: Any) -> Reading:
    source, _, native_id = id.partition("/")
    conversation = Conversation(id=id, source=source, native_id=native_id, **more)
    return Reading(conversation=conversation, messages=list, link_tokens=list(tokens))


def project(archive: Archive, **readings: list[Reading]) -> None:
    """Store these readings of the groups that wait for one."""
    with archive.writing() as batch:
        for waiting in archive.pending():
            batch.project(waiting, readings.get(waiting.conversation, []))
