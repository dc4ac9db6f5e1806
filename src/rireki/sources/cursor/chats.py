"""Chats of Cursor's CLI as readings: the messages that the newest root lists, and what earlier ones had."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import Any

from rireki.model.conversation import LinkToken, Reading
from rireki.model.strand import Strand, weave
from rireki.model.times import from_ms
from rireki.sources.cursor.roles import CHAT, CLI, NOTE
from rireki.sources.cursor.stores import BLOBS, META
from rireki.sources.cursor.transcripts import say
from rireki.sources.kit.fields import get, string
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.records import DecodedLine, document_of, records_of

__all__ = ["read_chat_messages"]

NAME = "cursor"
#: Names that say nothing, of models and of chats.
_ANY = ("", "default", "auto")
_UNNAMED = ("", "New Agent", "New Chat")
_HASH = 32


def read_chat_messages(id: str, strands: Sequence[Strand]) -> list[Reading]:
    chats = [strand for strand in strands if strand.role == CHAT]
    if not chats:
        return []
    builder = ConversationBuilder(NAME, id, chats)
    builder.link_tokens = [LinkToken("subagent", "offer", f"session:{id}")]
    for strand in (one for one in strands if one.role == NOTE):
        _note(builder, document_of(strand, builder.troubles))
    for strand in chats:
        _tell(builder, strand)
        builder.note_directory(strand.project)
    if not builder.flow and not builder.troubles:
        return []
    reading = builder.reading()
    reading.conversation.held_by += [CLI] if builder.present else []
    return [reading]


def _tell(builder: ConversationBuilder, strand: Strand) -> None:
    meta: Any = None
    for line in records_of(strand, builder.troubles, META):
        meta = get(line.value, "value") or meta
    _note(builder, meta)
    model = string(meta, "lastUsedModel")
    builder.note_model(model if model not in _ANY else None)
    messages: dict[str, DecodedLine] = {}
    roots: dict[str, list[str]] = {}
    for line in records_of(strand, builder.troubles, BLOBS):
        value = get(line.value, "data")
        if isinstance(value, dict) and string(value, "role"):
            messages[line.text("id")] = line._replace(value=value)
        elif ids := list(_listed(_bytes(line.value))):
            roots[line.text("id")] = ids
    for number, (line, present) in enumerate(_story(messages, roots, meta), 1):
        begun = len(builder.flow)
        say(builder, line, line.text("role"), get(line.value, "content"), f"m{number}")
        for said in builder.flow[begun:]:
            said.message.abandoned = not present
        builder.entries += 1


def _note(builder: ConversationBuilder, meta: Any) -> None:
    """What the chat says of itself, in its database or in the file beside it."""
    builder.note_directory(string(meta, "cwd"))
    names = (string(meta, name) for name in ("title", "name"))
    builder.title = builder.title or next((one for one in names if one not in _UNNAMED), None)
    for name in ("createdAtMs", "updatedAtMs", "createdAt"):
        moment = get(meta, name)
        if isinstance(moment, int | float) and (at := from_ms(moment)):
            builder.times.append(at)


def _story(
    messages: dict[str, DecodedLine], roots: dict[str, list[str]], meta: Any
) -> list[tuple[DecodedLine, bool]]:
    """The messages in order, each with whether the chat has it now."""
    newest = roots.get(string(meta, "latestRootBlobId"))
    if newest is None:
        return [(line, True) for line in messages.values()]
    # Other blobs may list other things: what was this chat begins as it does.
    lists = [ids for ids in roots.values() if ids[0] == newest[0] and ids != newest]
    ids = list(messages)
    numbers = {id: number for number, id in enumerate(ids)}
    states = [[[numbers[id] for id in one if id in numbers]] for one in (*lists, newest)]
    return [(messages[ids[number]], present) for number, present, _ in weave(states)]


def _bytes(row: Any) -> bytes:
    if text := string(row, "data:text"):
        return text.encode()
    try:
        return base64.b64decode(string(row, "data:base64"))
    except binascii.Error:
        return b""


def _listed(data: bytes) -> Iterator[str]:
    """The hashes in field 1 of a protobuf message; nothing where it is none."""
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        kind = tag & 7
        if kind == 0:
            _, at = _number(data, at)
            continue
        length, at = _number(data, at) if kind == 2 else ({1: 8, 5: 4}.get(kind, len(data)), at)
        if tag >> 3 == 1 and kind == 2 and length == _HASH and at + length <= len(data):
            yield data[at : at + length].hex()
        at += length


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number as protobuf writes it, seven bits a byte, and where it ends."""
    found = shift = 0
    while at < len(data):
        found |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            break
    return found, at
