"""Checking the archive: the file, every row and record against its checksum, every version, and
the projection."""

from __future__ import annotations

import msgspec

from rireki.archive.base import Archive, PendingGroup, StoredConversation
from rireki.errors import RirekiError
from rireki.intake.interpret import interpret
from rireki.intake.progress import Progress, Silent
from rireki.intake.rules import is_current
from rireki.model.conversation import Conversation, Reading, Trouble

__all__ = ["HINT", "verify"]

HINT = (
    "'rireki verify --salvage NEW' saves all that can be read into a new archive; or put a backup in"
    " its place."
)


def verify(archive: Archive, progress: Progress | None = None) -> list[Trouble]:
    """What is wrong with the archive; empty when all is well."""
    progress = progress or Silent()
    troubles = archive.check()
    groups = list(archive.groups())
    progress.start("verifying", len(groups))
    for group in groups:
        # Another process may be writing: what is compared has to be of one moment.
        with archive.reading():
            troubles += _verify_group(archive, group)
        progress.advance(1)
    progress.finish()
    troubles += archive.damage
    return list(dict.fromkeys(troubles))


def _verify_group(archive: Archive, group: PendingGroup) -> list[Trouble]:
    """Every version of every strand can be put together again, and means what is stored."""
    place = f"{group.family}/{group.conversation}"
    strands = archive.strands(group.family, group.conversation)
    troubles = []
    for strand in strands:
        try:
            for state in strand.states:
                strand.document(state)
        except (RirekiError, ValueError) as error:
            message = error.message if isinstance(error, RirekiError) else str(error)
            troubles.append(Trouble(f"{place} ({strand.place})", message, HINT))
    if troubles or group.conversation.startswith("@") or any(archive.pending(*group[:2])):
        return troubles
    if not is_current(archive):
        # The next import interprets it again.
        return troubles
    stored = archive.kept_as(group.family, group.conversation)
    readings = interpret(group.conversation, strands)
    read = {r.conversation.id: r for r in readings if r.conversation.nature != "titles"}
    if stored.keys() != read.keys() or not all(_fits(stored[id], read[id]) for id in read):
        troubles.append(Trouble.of(place, "projection-differs"))
    return troubles


def _fits(kept: StoredConversation, reading: Reading) -> bool:
    return (
        kept.copies
        and _plain(kept.conversation) == _plain(reading.conversation)
        and kept.answers == reading.answers
        and kept.link_tokens == list(reading.link_tokens)
    )


def _plain(conversation: Conversation) -> bytes:
    return msgspec.json.encode(msgspec.structs.replace(conversation, links=[]))
