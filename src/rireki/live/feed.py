"""The feed: what changed in an archive between two numbers, conversation by conversation.

Nothing is kept for it but which conversation was read anew at which number: the
messages that are new, other or gone are found by reading the conversation as it
was and as it is. So whoever knows the archive up to any number can be told
exactly what came after, however long they were away.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal, TypeAlias

import msgspec

from rireki.archive.base import Archive, Change
from rireki.errors import NotFound
from rireki.live.readings import Readings
from rireki.model.message import Message
from rireki.model.parts import ToolCall

__all__ = ["ChangeKind", "Feed", "News", "Touched", "kind_of"]

#: More conversations than this at once are an import: their messages are not named one by one.
MANY = 50
#: So many conversations are remembered as they were last told.
REMEMBERED = 64


ChangeKind: TypeAlias = Literal["new", "changed", "removed"]


class Touched(msgspec.Struct, frozen=True):
    """A conversation that changed, and which of its messages did."""

    conversation: str
    kind: ChangeKind
    #: Ids of messages that are new or say something else now, in their order.
    #: None: too much changed to name them, the conversation is to be read again.
    messages: list[str] | None = msgspec.field(default_factory=list)
    #: Ids of messages that are not told any more.
    removed: list[str] = msgspec.field(default_factory=list)


class News(msgspec.Struct, frozen=True):
    """Everything that changed after one number up to another."""

    after: int
    number: int
    changes: list[Touched]


class Feed:
    """Tells what is new. Belongs to the thread its archive belongs to."""

    def __init__(self, archive: Archive, readings: Readings | None = None) -> None:
        self.archive = archive
        self.readings = readings or Readings()
        self._prints: OrderedDict[tuple[str, int], dict[str, int]] = OrderedDict()

    def number(self) -> int:
        return self.archive.number()

    def since(self, after: int) -> News:
        """What changed after a number, all in one: told again from there, it says the same."""
        # Asked first: what is committed while we look is told next time, and not named twice.
        number = self.archive.number()
        changes = self.archive.changes(after, number)
        noted = self.archive.noted_messages(after, number) if changes else set()
        many = len(changes) > MANY
        return News(after, number, [self._touched(c, many, noted) for c in changes])

    def touched(self, change: Change) -> Touched:
        """Of one change, the messages that differ."""
        return self._touched(change, False, set())

    def _touched(self, change: Change, briefly: bool, noted: set[str]) -> Touched:
        kind = kind_of(change)
        if kind == "removed":
            return Touched(change.conversation, kind)
        if briefly:
            return Touched(change.conversation, kind, None)
        before = self._fingerprints(change.conversation, change.before)
        now = self._fingerprints(change.conversation, change.reached)
        changed = [message for message, value in now.items() if before.get(message) != value]
        if change.before == change.reached:
            changed = self._starters(change.conversation, change.reached)
        changed += [message for message in now if message in noted and message not in changed]
        removed = [message for message in before if message not in now]
        return Touched(change.conversation, kind, changed, removed)

    def _starters(self, conversation: str, number: int) -> list[str]:
        """The messages that started sub-agents: where the records are what they were, one of
        those has become known."""
        try:
            links = self.archive.find(conversation).conversation.links
        except NotFound:
            return []
        calls = {link.call_id for link in links if link.side == "child" and link.call_id}
        if not calls:
            return []
        return [
            message.id
            for message in self._messages(conversation, number)
            if any(isinstance(part, ToolCall) and part.call_id in calls for part in message.parts)
        ]

    def _fingerprints(self, conversation: str, number: int) -> dict[str, int]:
        """Each message of a conversation as it was at a number, in a few bytes."""
        if not number:
            return {}
        known = self._prints.pop((conversation, number), None)
        if known is None:
            known = {m.id: _fingerprint(m) for m in self._messages(conversation, number)}
        self._prints[conversation, number] = known
        while len(self._prints) > REMEMBERED:
            self._prints.popitem(last=False)
        return known

    def _messages(self, conversation: str, number: int) -> list[Message]:
        try:
            found = self.archive.find(conversation)
        except NotFound:
            # Forgotten in this very moment: the next look says so.
            return []
        if found.conversation.id != conversation:
            # It has just turned out to be another one: the next look says so.
            return []
        told = self.readings.at(self.archive, found, number)
        return told[1] if told else []


def kind_of(change: Change) -> ChangeKind:
    if not change.reached:
        return "removed"
    return "changed" if change.before else "new"


def _fingerprint(message: Message) -> int:
    return hash(msgspec.msgpack.encode(message))
