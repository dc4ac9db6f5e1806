"""Chats of Gemini's kind as messages in order, each once: from whole files of JSON, or from its log.

The log (0.39 and later) is not replayed as the client does, because its view of a chat loses much: a
list of messages that replaces all others (`$set`) has them poorer than before, leaves some out, and
says some again under new ids. Here every message that was ever written stays, the richest version of
it; such a list only tells what the model is shown now, and what nobody had seen before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from rireki.model.conversation import Trouble
from rireki.model.strand import Ref, Strand
from rireki.model.times import from_iso, to_datetime
from rireki.sources.gemini.reader import MESSAGES
from rireki.sources.gemini.texts import content_of
from rireki.sources.kit.decode import text_of
from rireki.sources.kit.fields import get, items, string
from rireki.sources.kit.pictures import Pictures
from rireki.sources.kit.pieces import WHOLE
from rireki.sources.kit.records import DecodedLine, head_of, records_of

__all__ = ["REWIND", "UNKNOWN", "ChatMessage", "ChatSession", "joined", "lines_of"]

#: Types of what is no message.
REWIND, UNKNOWN = "$rewindTo", "$unknown"
#: Messages that are said again, and the list that has them, are written within this many seconds.
_BURST = 2.0


@dataclass(slots=True, eq=False)
class ChatMessage:
    """A message as it was written at its richest, or something that happened between two."""

    type: str
    value: dict[str, Any]
    line: DecodedLine
    #: Left by going back to an earlier point.
    abandoned: bool = False
    #: What the builder calls what became of it.
    names: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        return string(self.value, "id")

    @property
    def at(self) -> str | None:
        return from_iso(self.value.get("timestamp"))


@dataclass(slots=True)
class ChatSession:
    """What is known of one session so far."""

    flow: list[ChatMessage] = field(default_factory=list)
    #: Facts about all of it, the newest; every time that was noted.
    facts: dict[str, Any] = field(default_factory=dict)
    times: list[Any] = field(default_factory=list)
    #: What the model is shown, where a list said so.
    view: list[ChatMessage] | None = None
    _known: dict[tuple[str, str], ChatMessage] = field(default_factory=dict)
    #: By what they say, in order: the same words may be said more than once.
    _texts: dict[tuple[str, str], list[ChatMessage]] = field(default_factory=dict)
    #: Those that the list at hand has said again already.
    _repeated: set[ChatMessage] = field(default_factory=set)

    def take(self, lines: Sequence[DecodedLine]) -> None:
        again = _said_again(lines)
        for line in lines:
            value = line.value
            if isinstance(get(value, "$set"), dict):
                self._set(line, value["$set"])
            elif isinstance(get(value, "$rewindTo"), str):
                self._rewind(line, value["$rewindTo"])
            elif isinstance(value, dict) and isinstance(value.get("id"), str):
                self.add(line, value, may_repeat=string(value, "id") in again)
            elif string(value, "sessionId"):
                self.note(value)
            else:
                kept = value if isinstance(value, dict) else {"value": value}
                self.flow.append(ChatMessage(UNKNOWN, kept, line))

    def note(self, facts: dict[str, Any]) -> None:
        self.times += [facts.get("startTime"), facts.get("lastUpdated")]
        told = {name: value for name, value in facts.items() if value not in (None, "", [])}
        self.facts |= {name: value for name, value in told.items() if name != "messages"}

    def add(
        self, line: DecodedLine, value: dict[str, Any], *, may_repeat: bool = False
    ) -> ChatMessage:
        """A message: a new one, a richer version of one, or one that is said again."""
        kind = string(value, "type")
        said = self._known.get((string(value, "id"), kind))
        if said is not None and not _is_other_context(said, value):
            if said.id == value["id"]:
                said.value = _richer(said.value, value)
            refs = said.line.refs if may_repeat else [*said.line.refs, *line.refs]
            said.line = said.line._replace(refs=refs, present=said.line.present or line.present)
        else:
            alike = self._texts.setdefault((kind, _essence(value, kind)), [])
            said = self._not_yet_repeated(alike) if may_repeat and said is None else None
            if said is None:
                said = ChatMessage(kind, value, line)
                self.flow.append(said)
                alike.append(said)
                if self.view is not None:
                    self.view.append(said)
            self._known[string(value, "id"), kind] = said
        if may_repeat:
            self._repeated.add(said)
        return said

    def _not_yet_repeated(self, alike: Sequence[ChatMessage]) -> ChatMessage | None:
        """What a list says again: one message for each time that it says so."""
        left = (one for one in alike if not one.abandoned and one not in self._repeated)
        return next(left, None)

    def _set(self, line: DecodedLine, facts: dict[str, Any]) -> None:
        self.note(facts)
        if isinstance(facts.get("messages"), list):
            self._replace(line, [one for one in items(facts, "messages") if string(one, "id")])

    def _replace(self, line: DecodedLine, messages: Sequence[Any]) -> None:
        """The model is shown these now."""
        self.view = None
        self.view = list(dict.fromkeys(self.add(line, one, may_repeat=True) for one in messages))
        self._repeated.clear()

    def _rewind(self, line: DecodedLine, id: str) -> None:
        """Everything from that message on is left; where it is none of ours, everything."""
        target = next((said for (known, _), said in self._known.items() if known == id), None)
        start = self.flow.index(target) if target is not None else 0
        for said in self.flow[start:]:
            said.abandoned = True
        if self.view is not None:
            self.view = [said for said in self.view if not said.abandoned]
        name = f"rewind-{line.position}"
        self.flow.append(ChatMessage(REWIND, {"id": name}, line))

    def shown(self) -> list[str] | None:
        """The names of what the model is shown now; None for all that is there."""
        if self.view is None:
            return None
        return [name for said in self.view for name in said.names]


def lines_of(
    strand: Strand, troubles: list[Trouble]
) -> tuple[dict[str, Any], Sequence[DecodedLine]]:
    """The facts at the head of a chat's file, and its lines: messages, and what changes them."""
    if strand.place.endswith(".jsonl"):
        lines = list(records_of(strand, troubles))
        heads: list[dict[str, Any]] = [one.value for one in lines if string(one.value, "sessionId")]
        return heads[0] if heads else {}, lines
    head = head_of(strand, troubles)
    lines = list(records_of(strand, troubles, MESSAGES))
    if any(run.lane == WHOLE and run.records for run in strand.states[-1].runs):
        held = [n for numbers in strand.states[-1].ordinals(WHOLE) for n in numbers]
        refs = [Ref(strand.id, WHOLE, held[-1])]
        lines += [
            DecodedLine(one, number, True, strand.present, refs)
            for number, one in enumerate(items(head, "messages"), 1)
        ]
    return head if isinstance(head, dict) else {}, lines


def joined(files: Iterable[Sequence[DecodedLine]]) -> list[list[DecodedLine]]:
    """The lines of a session's files, without those with which one begins as another does: it was copied."""
    found: list[list[DecodedLine]] = []
    for lines in files:
        rest = list(lines)
        for known in found:
            pairs = zip(known, rest, strict=False)
            same = takewhile(lambda pair: pair[0].value == pair[1].value, pairs)
            both = [
                one._replace(present=one.present or other.present, refs=[*one.refs, *other.refs])
                for one, other in same
            ]
            known[: len(both)] = both
            rest = rest[len(both) :]
        found.append(rest)
    return found


def _said_again(lines: Iterable[DecodedLine]) -> set[str]:
    """Ids of messages that were written together with a list that has them: what the model is shown
    got new ids, so they may be others in new clothes."""
    found: set[str] = set()
    recent: list[Any] = []
    for line in lines:
        if string(line.value, "id"):
            recent.append(line.value)
        elif isinstance(get(line.value, "$set", "messages"), list):
            facts = get(line.value, "$set")
            listed = {string(one, "id") for one in items(facts, "messages")}
            at = to_datetime(string(facts, "lastUpdated"))
            found |= {
                string(one, "id")
                for one in recent
                if string(one, "id") in listed and _is_near(one, at)
            }
            recent = []
    return found


def _is_near(value: Any, at: Any) -> bool:
    written = to_datetime(string(value, "timestamp"))
    return at is not None and written is not None and abs((at - written).total_seconds()) < _BURST


def _essence(value: Any, kind: str) -> str:
    """What tells a message from others, whatever form it has: its words, else its calls or results."""
    content = content_of(get(value, "content"), Pictures(), asked=kind == "user")
    calls = [string(one, "id") for one in [*items(value, "toolCalls"), *content.calls]]
    results = [string(one, "id") for one in content.results]
    return content.text or text_of(
        ["", *dict.fromkeys(filter(None, calls)), *results]
        if calls or results
        else [rule.name for rule, _ in content.injected]
    )


def _is_other_context(said: ChatMessage, value: dict[str, Any]) -> bool:
    """Whether it is another text under the one id that all descriptions of a session have."""
    if said.type != "user" or said.value.get("content") == value.get("content"):
        return False
    found = [content_of(one.get("content"), Pictures(), asked=True) for one in (said.value, value)]
    return all(one.injected and not one.said for one in found)


def _richer(known: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Both versions as one that has what either has."""
    told = known | {name: value for name, value in other.items() if not _is_empty(value)}
    told["timestamp"] = known.get("timestamp") or other.get("timestamp")
    told["content"] = max((known, other), key=_length).get("content")
    told["thoughts"] = max(items(known, "thoughts"), items(other, "thoughts"), key=len)
    calls: dict[str, Any] = {}
    for call in [*items(known, "toolCalls"), *items(other, "toolCalls")]:
        if isinstance(call, dict):
            before = calls.get(string(call, "id"), {})
            # Results are cut short later on, to spare the model.
            best = max((before, call), key=lambda one: len(text_of(one.get("result"))))
            calls[string(call, "id")] = before | call | {"result": best.get("result")}
    if calls:
        told["toolCalls"] = list(calls.values())
    return told


def _length(value: dict[str, Any]) -> int:
    content = content_of(value.get("content"), Pictures(), asked=value.get("type") == "user")
    pictures = sum(part.size for part in content.said if hasattr(part, "size"))
    return len(content.text) + pictures


def _is_empty(value: Any) -> bool:
    return value is None or value == "" or value == []
