"""What the API answers: the model's own values, and little around them."""

from __future__ import annotations

import msgspec

from rireki.intake.survey import Surveyed
from rireki.live.status import KeeperStatus
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.show.decisions import Decision

__all__ = [
    "ConversationAnswer",
    "ConversationsPage",
    "Decisions",
    "DriveAgent",
    "ErrorBody",
    "Failure",
    "Health",
    "MessageAnswer",
    "MessagesPage",
    "RawMessage",
    "RawRecord",
    "Sources",
    "StrandVersions",
    "VersionInfo",
    "Versions",
]


class ErrorBody(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What went wrong and what to do about it."""

    code: str
    message: str
    hint: str = ""
    #: Where a query is wrong, in characters from 0.
    position: int | None = None
    length: int | None = None


class Failure(msgspec.Struct):
    error: ErrorBody


class Health(msgspec.Struct, kw_only=True):
    version: str
    #: The file the conversations are kept in.
    archive: str
    #: The number of the last change.
    number: int
    conversations: int
    #: Open connections to `/events`.
    listeners: int
    #: Whether the conversations are invented, because this machine has none.
    demo: bool
    #: Whether something in the archive cannot be read, as far as anybody came upon it.
    damaged: bool
    #: What the keeper is doing; null when none runs here.
    keeper: KeeperStatus | None


class Sources(msgspec.Struct):
    sources: list[Surveyed]
    keeper: KeeperStatus | None


class ConversationsPage(msgspec.Struct):
    conversations: list[Conversation]
    #: The `cursor` of the next page; null when this is the last.
    next: str | None


class ConversationAnswer(msgspec.Struct):
    conversation: Conversation
    #: The sub-agents it started.
    subagents: list[Conversation]
    #: The number of the change it was last read at.
    changed: int
    #: The command that goes on with it; null when its source has lost it.
    resume: str | None


class MessagesPage(msgspec.Struct, kw_only=True):
    conversation: str
    changed: int
    #: How many messages there are, and where among them the first of these stands.
    total: int
    first: int
    messages: list[Message]
    #: Addresses of what stands before and after; null at the ends.
    previous: str | None
    next: str | None


class MessageAnswer(msgspec.Struct):
    conversation: str
    changed: int
    message: Message


class RawRecord(msgspec.Struct, kw_only=True):
    """One record, as its agent wrote it."""

    source: str
    #: The file or database, and the row in it.
    origin: str
    key: str
    role: str
    lane: str
    record: int
    size: int
    #: Its bytes: as text where they are UTF-8, else in base64.
    text: str | None = None
    base64: str | None = None


class RawMessage(msgspec.Struct):
    conversation: str
    message: str
    records: list[RawRecord]


class VersionInfo(msgspec.Struct):
    """What a file or row held from one moment on."""

    number: int
    at: str
    records: int
    #: Records that it held and the one before did not, and the other way round.
    added: int
    lost: int


class StrandVersions(msgspec.Struct, kw_only=True):
    source: str
    origin: str
    key: str
    role: str
    project: str | None
    first_seen: str
    last_seen: str
    vanished_at: str | None
    versions: list[VersionInfo]


class Versions(msgspec.Struct):
    conversation: str
    strands: list[StrandVersions]


class Decisions(msgspec.Struct):
    conversation: str
    decisions: list[Decision]


class DriveAgent(msgspec.Struct, kw_only=True):
    """An agent of the registry, and whether it can be started here."""

    name: str
    title: str
    protocol: str
    #: The source whose conversations it can go on with; null when it leaves none we read.
    source: str | None
    found: bool
    #: Why not.
    reason: str
