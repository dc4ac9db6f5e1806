"""Checking the archive: the file, every record's checksum, every version, and the projection."""

from __future__ import annotations

import msgspec

from rireki.archive.base import Archive, Dirty
from rireki.errors import RirekiError
from rireki.intake.progress import Progress, Silent
from rireki.intake.rules import is_current
from rireki.intake.understand import interpret
from rireki.model.conversation import Conversation, Trouble

__all__ = ["verify"]


def verify(archive: Archive, progress: Progress | None = None) -> list[Trouble]:
    """What is wrong with the archive; empty when all is well."""
    progress = progress or Silent()
    troubles = [
        Trouble("the archive file", message, "Restore the archive from a backup.")
        for message in archive.check()
    ]
    groups = archive.groups()
    progress.start("verifying", len(groups))
    for group in groups:
        # Another process may be writing: what is compared has to be of one moment.
        with archive.reading():
            troubles += _verify_group(archive, group)
        progress.advance(1)
    progress.finish()
    return troubles


def _verify_group(archive: Archive, group: Dirty) -> list[Trouble]:
    """Every version of every strand can be put together again, and means what is stored."""
    place = f"{group.family}/{group.conversation}"
    strands = archive.strands(group.family, group.conversation)
    troubles = []
    for strand in strands:
        try:
            for state in strand.states:
                strand.document(state)
        except (RirekiError, KeyError) as error:
            message = error.message if isinstance(error, RirekiError) else "records are missing"
            troubles.append(
                Trouble(f"{place} ({strand.place})", message, "Restore the archive from a backup.")
            )
    if troubles or group.conversation.startswith("@") or archive.is_dirty(*group[:2]):
        return troubles
    if not is_current(archive):
        # The next import interprets it again.
        return troubles
    stored = archive.read_as(group.family, group.conversation)
    readings = interpret(group.conversation, strands)
    read = [one.conversation for one in readings if one.conversation.nature != "titles"]
    found = {conversation.id: conversation for conversation in read}
    if {key: _plain(value) for key, value in found.items()} != {
        key: _plain(value) for key, value in stored.items()
    }:
        hint = "Run 'rireki rebuild': the records are sound, only their interpretation is old."
        troubles.append(Trouble(place, "the projection does not fit the records", hint))
    return troubles


def _plain(conversation: Conversation) -> bytes:
    return msgspec.json.encode(msgspec.structs.replace(conversation, links=[]))
