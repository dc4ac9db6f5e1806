"""A conversation that somebody shared with rireki: the values that lie in its document, told again.

It came from elsewhere: whatever it says of itself, it is a conversation of the source `shared`, and says
so at its beginning.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Sequence
from hashlib import sha256

import msgspec

from rireki.model.conversation import Conversation, Reading, Trouble
from rireki.model.message import Message
from rireki.model.parts import Notice, ToolCall
from rireki.model.seal import is_page_altered
from rireki.model.strand import Ref, Strand, expand
from rireki.model.times import from_iso
from rireki.sources.exports.container import CHAT
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.records import DecodedLine
from rireki.sources.reader import LARGEST

__all__ = ["id_of", "read_shared"]

SHARED = "shared"

_DIGEST = re.compile(rb'<meta name="rireki-shared" content="sha256:([0-9a-f]{64})">')
_CONTENT = re.compile(rb'<template id="rireki-shared">([A-Za-z0-9+/=]*)</template>')


class _Values(msgspec.Struct):
    """What lies in the document."""

    conversation: Conversation
    messages: list[Message]
    rireki: str = ""
    attachments: dict[str, str] = msgspec.field(default_factory=dict)


def id_of(data: bytes) -> str:
    """Of what was left in: another version of it is another conversation."""
    found = _DIGEST.search(data)
    return found[1].decode()[:16] if found else digest_of_bytes(data).hex()[:16]


def read_shared(source: str, id: str, strands: Sequence[Strand]) -> list[Reading]:
    held = [strand for strand in strands if strand.role == CHAT]
    builder = ConversationBuilder(source, id, strands)
    if not held:
        return []
    # Files of one digest say the same: any that is there will do.
    strand = max(held, key=lambda one: (one.present, one.last_seen))
    state = strand.states[-1]
    document = b"" if state.in_pieces else strand.document()
    found = _values(document)
    if found is None:
        builder.troubles.append(Trouble.of(strand.place, "shared-unreadable"))
        return [builder.reading()]
    values, content = found
    declared = _DIGEST.search(document)
    if declared is None or declared[1].decode() != sha256(content).hexdigest():
        builder.troubles.append(Trouble.of(strand.place, "shared-altered"))
    elif is_page_altered(document):
        builder.troubles.append(Trouble.of(strand.place, "shared-page-altered"))
    refs = [Ref(strand.id, run.lane, n) for run in state.runs for n in expand(run.records)]
    _tell(builder, values, DecodedLine(None, 1, True, strand.present, refs))
    return [builder.reading()]


def _tell(builder: ConversationBuilder, values: _Values, line: DecodedLine) -> None:
    about = values.conversation
    builder.title = about.title
    builder.note_directory(about.project)
    builder.note_time(about.started_at)
    builder.note_time(about.updated_at)
    builder.times_from = about.times_from
    said = [Notice(f"shared with rireki {values.rireki} out of {about.id}")]
    builder.say(line, "shared", "harness", "chip", said, SHARED, label=SHARED)
    for data in values.attachments.values():
        builder.pictures.add_base64(data, "")
    for message in values.messages:
        builder.entries += 1
        told = builder.say(
            line._replace(position=builder.entries),
            message.id,
            message.author,
            message.display,
            message.parts,
            SHARED,
            at=from_iso(message.at),
            model=message.model,
            label=message.label,
        )
        told.message.abandoned = message.abandoned
        told.message.usage = message.usage
        is_bubble = message.display == "bubble" and not message.abandoned
        told.typed = is_bubble and message.author == "person"
        if is_bubble:
            calls = any(isinstance(part, ToolCall) for part in message.parts)
            told.ends = message.author == "agent" and not calls


def _values(document: bytes) -> tuple[_Values, bytes] | None:
    found = _CONTENT.search(document)
    if found is None:
        return None
    try:
        unpacker = zlib.decompressobj()
        # However small the file: no more than a record may be.
        content = unpacker.decompress(base64.b64decode(found[1], validate=True), LARGEST)
        if unpacker.unconsumed_tail:
            return None
        return msgspec.json.decode(content, type=_Values), content
    except (zlib.error, binascii.Error, ValueError):
        return None
