"""From messages in order to a conversation: what all readers do alike once they know what was said.

A reader fills a `ConversationBuilder`; here messages get names of their own and the numbers of their
turns, are counted, and become a `Reading`. Two readers put the message itself off and hold lines instead:
Claude Code's (`TranscriptMessage`), because a first import must not decode what only a page shows, and
the bridge's (`JournalMessage`), because later lines say what an earlier one becomes. Both count with the
same `Tally` while they read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rireki.model.clusters import beginning
from rireki.model.conversation import (
    Answer,
    Conversation,
    ConversationUpstream,
    LinkToken,
    Reading,
    Tally,
    Trouble,
    total_usage,
)
from rireki.model.message import Author, Display, Entry, Message, Usage
from rireki.model.parts import Part, Text, ToolCall, ToolResult, Unknown
from rireki.model.strand import Ref, Strand
from rireki.model.times import from_iso
from rireki.sources.kit.pictures import Pictures
from rireki.sources.kit.records import DecodedLine
from rireki.sources.kit.rules import TextRule

__all__ = [
    "ANSWER",
    "NOT_UNDERSTOOD",
    "RESULTS",
    "ConversationBuilder",
    "PendingMessage",
    "conversation_of",
    "count",
    "first_words",
    "make_unique",
    "pending",
    "unknown",
    "upstream_of",
]

TITLE = 200
#: Rules that every source has.
ANSWER, RESULTS, NOT_UNDERSTOOD = "answer", "tool results", "not understood"
_TYPED = TextRule("typed prompt", "", "", author="person", display="bubble")


@dataclass(slots=True)
class PendingMessage:
    """A message and what counting still needs to know."""

    message: Message
    #: A person typed it (or chose it by a key): it starts a turn.
    typed: bool = False
    #: True: the agent had its say. False: something is still to come. None: does not matter.
    ends: bool | None = None
    #: The records it was made of, where they are known.
    refs: list[Ref] = field(default_factory=list)
    #: It came from the conversation this one was forked from: what it did was done there.
    copied: bool = False

    @property
    def announces(self) -> bool:
        """Whether it belongs to the turn of the prompt that follows."""
        return False

    @property
    def has_turn(self) -> bool:
        """Whether it stands in a turn, not between two."""
        return True


def pending(
    name: str,
    author: Author,
    display: Display,
    parts: Sequence[Part],
    rule: str,
    *,
    label: str | None = None,
    flags: tuple[str, ...] = (),
    ends: bool | None = None,
) -> PendingMessage:
    """A message that the rule of this name decided. Its place and type are noted later."""
    message = Message(
        id=name,
        author=author,
        display=display,
        label=label,
        parts=list(parts),
        entry=Entry(0, "", flags, rule),
    )
    return PendingMessage(message, ends=ends)


def unknown(name: str, what: str, raw: Any) -> PendingMessage:
    """Something we do not understand: kept, shown folded."""
    return pending(name, "harness", "fold", [Unknown(what, raw)], NOT_UNDERSTOOD, label=what)


@dataclass(slots=True)
class ConversationBuilder:
    """What a reader understood of one conversation so far."""

    source: str
    #: The agent's own id of it.
    native_id: str
    strands: Sequence[Strand] = ()
    flow: list[PendingMessage] = field(default_factory=list)
    #: What rireki calls it, where the agent's own id is not unique.
    name: str = ""
    #: History entries as the source counts them.
    entries: int = 0
    #: None: made of the first words that were typed.
    title: str | None = None
    nature: Literal["conversation", "subagent", "prompts", "titles", "notes"] = "conversation"
    times: list[str] = field(default_factory=list)
    times_from: Literal["source", "rireki"] = "source"
    directories: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    link_tokens: list[LinkToken] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    pictures: Pictures = field(default_factory=Pictures)
    _named: dict[str, PendingMessage] = field(default_factory=dict)
    _versions: dict[str, int] = field(default_factory=dict)
    #: Keys of answers whose tokens were noted.
    _counted: set[str] = field(default_factory=set)

    # ── what is said ──

    def say(
        self,
        line: DecodedLine,
        name: str,
        author: Author,
        display: Display,
        parts: Sequence[Part],
        rule: str,
        *,
        at: str | None = None,
        model: str | None = None,
        label: str | None = None,
        role: str = "",
        flags: tuple[str, ...] = (),
        ends: bool | None = None,
    ) -> PendingMessage:
        """A message of a record. One whose id came before is a newer version of that message."""
        message = pending(name, author, display, parts, rule, label=label, flags=flags, ends=ends)
        message.message.entry = Entry(line.position, role, flags, rule)
        message.message.at, message.message.model = at, model
        message.message.upstream = "present" if line.present else "gone"
        message.refs += line.refs
        self._succeed(name, message)
        self.flow.append(message)
        self.note_model(model)
        return message

    def _succeed(self, name: str, newer: PendingMessage) -> None:
        """The message of this id steps aside, right where it stands."""
        older = self._named.get(name)
        self._named[name] = newer
        if older is not None:
            number = self._versions[name] = self._versions.get(name, 0) + 1
            older.message.id, older.message.replaced_by = f"{name}~{number}", name
            older.typed, older.ends = False, None

    def ask(
        self,
        line: DecodedLine,
        name: str,
        parts: Sequence[Part],
        *,
        rule: TextRule | None = None,
        at: str | None = None,
        flags: tuple[str, ...] = (),
    ) -> PendingMessage:
        """What stands in a person's place: typed, or, by a rule for its text, put there by a program."""
        rule = rule or _TYPED
        asked = self.say(
            line,
            name,
            rule.author,
            rule.display,
            parts,
            rule.name,
            at=at,
            label=rule.label or None,
            role="user",
            flags=flags,
            ends=False,
        )
        asked.typed = rule.author == "person"
        return asked

    def answer(
        self,
        line: DecodedLine,
        name: str,
        parts: Sequence[Part],
        *,
        at: str | None = None,
        model: str | None = None,
    ) -> PendingMessage:
        """What the agent said. With calls in it, more is to come."""
        ends = not any(isinstance(part, ToolCall) for part in parts)
        return self.say(
            line,
            name,
            "agent",
            "bubble",
            parts,
            ANSWER,
            at=at,
            model=model,
            role="assistant",
            ends=ends,
        )

    def result(
        self, line: DecodedLine, name: str, parts: Sequence[Part], *, at: str | None = None
    ) -> PendingMessage:
        """What tools gave back; the ids in it say to which calls."""
        return self.say(line, name, "tool", "fold", parts, RESULTS, at=at, role="user", ends=False)

    def unknown(
        self, line: DecodedLine, name: str, what: str, *, at: str | None = None
    ) -> PendingMessage:
        """Something we do not understand: kept, shown folded."""
        parts = [Unknown(what, line.value)]
        return self.say(line, name, "harness", "fold", parts, NOT_UNDERSTOOD, label=what, at=at)

    def set_aside(self, start: int, label: str) -> None:
        """What was said from here on was copied from another conversation: kept and found, but said there."""
        kept = []
        for one in self.flow[start:]:
            texts = [part for part in one.message.parts if isinstance(part, Text)]
            if one.message.display == "bubble" and texts:
                one.message.parts, one.typed, one.ends = list(texts), False, None
                one.message.display, one.message.label = "fold", label
                kept.append(one)
        self.flow[start:] = kept

    def join_beginnings(self) -> None:
        """Versions that were saved while an answer came in are no versions: the whole has their words."""
        newest = {one.message.id: one for one in self.flow if one.message.replaced_by is None}
        kept = []
        for one in self.flow:
            newer = newest.get(one.message.replaced_by or "")
            if newer is not None and _is_beginning(one.message, newer.message):
                newer.refs += one.refs
            else:
                kept.append(one)
        self.flow[:] = kept

    def mark_left(self) -> None:
        """What went while the rest stayed was left: the person went back to an earlier point.

        Where nothing stayed, there is no such point: the file is torn, or was emptied.
        """
        if any(one.message.upstream == "present" for one in self.flow):
            for one in self.flow:
                one.message.abandoned = one.message.upstream == "gone"

    # ── what is known besides ──

    def note_directory(self, directory: str | None) -> None:
        if directory and directory not in self.directories:
            self.directories.append(directory)

    def note_model(self, model: str | None) -> None:
        if model and model not in self.models:
            self.models.append(model)

    def note_time(self, moment: object) -> None:
        known = from_iso(moment)
        if known:
            self.times.append(known)

    def note_usage(
        self,
        key: str,
        model: str,
        usage: Usage,
        at: str | None = None,
        *,
        cost: float | None = None,
        unit: str = "",
        amount: float = 0.0,
    ) -> None:
        """The tokens of an answer; told again under the same key, they count once, the last ones.

        `cost` is what the agent says it cost; nothing, where it says 0 of what it has no price for.
        """
        if key in self._counted:
            self.answers = [one for one in self.answers if one.key != key]
        self._counted.add(key)
        self.answers.append(
            Answer(key, model, usage, at, cost=cost or None, unit=unit, amount=amount)
        )
        if usage != Usage() or not unit:
            self.note_model(model)

    # ── what it comes to ──

    @property
    def present(self) -> bool:
        """Whether the source has it at all."""
        return any(strand.present for strand in self.strands)

    def held_by(self) -> list[str]:
        """The agents that can go on with it."""
        return [self.source] if self.present else []

    def conversation(self) -> Conversation:
        make_unique(self.flow)
        messages = [one.message for one in self.flow]
        title = self.title
        if title is None:
            title = first_words(one.message for one in self.flow if one.typed)
        conversation = conversation_of(
            self.source,
            self.native_id,
            count(self.flow, self.entries),
            [*(message.at for message in messages), *self.times],
            project=self.directories[0] if self.directories else None,
            trail=self.directories[1:],
            title=title,
            times_from=self.times_from,
            upstream=upstream_of(self.present, messages),
            troubles=self.troubles,
            models=self.models,
            usage=total_usage(self.answers),
            nature=self.nature,
            held_by=self.held_by(),
        )
        if self.name:
            conversation.id = f"{self.source}/{self.name}"
        return conversation

    def reading(self, shown: Callable[[], list[str]] | None = None) -> Reading:
        """Everything, for the archive; `shown` says which messages a model would be given now."""
        return Reading(
            conversation=self.conversation(),
            messages=lambda: [one.message for one in self.flow],
            answers=self.answers,
            link_tokens=self.link_tokens,
            attachment=self.pictures.bytes_of,
            records=lambda: {one.message.id: one.refs for one in self.flow if one.refs},
            shown=shown,
        )


def _is_beginning(older: Message, newer: Message) -> bool:
    """Whether nothing is lost when the older one is not told."""
    if any(isinstance(part, Unknown) for part in older.parts):
        return False
    return _told(newer).startswith(_told(older))


def _told(message: Message) -> str:
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    results = [part.output for part in message.parts if isinstance(part, ToolResult)]
    return "\n".join([*texts, *results])


def make_unique(flow: Sequence[PendingMessage]) -> set[str]:
    """Give every message an id of its own; returns the ids."""
    seen: set[str] = set()
    for one in flow:
        name, number = one.message.id, 1
        while one.message.id in seen:
            number += 1
            one.message.id = f"{name}.{number}"
        seen.add(one.message.id)
    return seen


def count(flow: Sequence[PendingMessage], entries: int) -> Tally:
    """Count, and give every message the number of its turn."""
    tally = Tally()
    tally.entries = entries
    turn: int | None = None
    waiting: list[Message] = []
    for one in flow:
        message = one.message
        if one.typed:
            turn = tally.typed(message.at)
            for early in waiting:
                early.turn = turn
        message.turn = turn if one.has_turn else None
        waiting = [*waiting, message] if one.announces else []
        tally.messages += message.display != "hidden" and message.replaced_by is None
        tally.note(message.parts, copied=one.copied)
    tally.finished = _finished(flow)
    return tally


def _finished(flow: Sequence[PendingMessage]) -> bool:
    """Whether the agent had its say, in what the source holds now, or in what it held last."""
    said = [one for one in flow if one.ends is not None]
    said = [one for one in said if one.message.upstream == "present"] or said
    if said:
        return said[-1].ends is True
    # Nothing but what was shown: a command to the client, which it answers itself, asks for nothing.
    messages = [one.message for one in flow]
    spoken = [m.author for m in messages if m.display == "bubble" and m.replaced_by is None]
    return not spoken or spoken[-1] != "person"


def upstream_of(present: bool, messages: Iterable[Message]) -> ConversationUpstream:
    """What the source still has of it; `present` says that it has the conversation at all."""
    if not present:
        return "gone"
    return "changed" if any(message.upstream == "gone" for message in messages) else "present"


def conversation_of(
    source: str, native_id: str, tally: Tally, times: Iterable[str | None], **facts: Any
) -> Conversation:
    """A conversation with its counts; `times` are all that are known of it, in any order."""
    known = [time for time in times if time]
    conversation = Conversation(
        id=f"{source}/{native_id}",
        source=source,
        native_id=native_id,
        started_at=min(known, default=None),
        updated_at=max(known, default=None),
        **facts,
    )
    tally.fill(conversation)
    return conversation


def first_words(messages: Iterable[Message]) -> str:
    """A title made of the first of these messages that says something."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, Text) and part.text.strip():
                return beginning(" ".join(part.text.split()), TITLE)
    return ""
