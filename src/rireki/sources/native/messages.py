"""Journals as conversations: every entry that was ever written, told in order.

What a model is no longer shown is told as well: a summary, a cut and a fresh start are dividers
in the story, and what a branch or a fresh start left is marked as abandoned.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from typing import TypeAlias

import msgspec

from rireki.errors import RirekiError
from rireki.journals.history_entry import MESSAGES, JournalEntry, parse
from rireki.journals.history_log import EntryLog
from rireki.model.conversation import LinkToken, Reading, Tally, Trouble, total_usage
from rireki.model.message import Author, Display, Entry, Message
from rireki.model.parts import Notice, Part, Text, Unknown
from rireki.model.strand import Ref, Strand
from rireki.model.times import from_iso
from rireki.providers import Call, Media, NeutralText, Result, Turn
from rireki.providers.archived import DECISION
from rireki.sources.kit.decode import clean
from rireki.sources.kit.journals import JournalLine, read_journal
from rireki.sources.kit.jsonl import LANE
from rireki.sources.kit.pending import conversation_of, first_words, upstream_of
from rireki.sources.native.parts import Calls, answer_of, model_of, parts_of
from rireki.sources.native.reader import NAME

__all__ = ["ASK", "interpret", "read_entry", "tally_of"]

#: Entries that say nothing by themselves.
_SILENT = ("start", "title", "note", "waiting")
#: Entries that people are told of in a line across the page, and what it says.
_DIVIDERS = {"summary": "summary", "clear": "cleared", "trim": "trimmed", "branch": "branch"}
#: The tool with which an agent asks its person, and what it gets when they would rather not say.
ASK, CANCELLED = "ask_user", "[User cancelled the question]"


HistoryLine: TypeAlias = JournalLine[JournalEntry]


def interpret(source: str, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
    troubles: list[Trouble] = []
    lines: dict[bytes, HistoryLine] = {}
    for strand in strands:
        read_journal(strand, read_entry, "not-a-history-entry", troubles, lines)
    if not lines and not troubles:
        return []
    story = _Story(list(lines.values()))
    messages = story.tell()
    entries = [line.entry for line in story.lines]
    answers = [answer for answer in map(answer_of, entries) if answer is not None]
    upstream = upstream_of(any(strand.present for strand in strands), messages)
    typed = (one for one in messages if one.author == "person" and one.label is None)
    story.tally.entries = len(entries)
    found = conversation_of(
        NAME,
        conversation,
        story.tally,
        [from_iso(entry.at) for entry in entries],
        project=_last(entries, "project"),
        title=_last(entries, "title") or first_words(typed),
        upstream=upstream,
        held_by=[NAME] if upstream != "gone" else [],
        troubles=troubles,
        usage=total_usage(answers),
        models=list(dict.fromkeys(answer.model for answer in answers)),
    )
    return [
        Reading(
            conversation=found,
            messages=lambda: messages,
            answers=answers,
            link_tokens=_ties(conversation, entries),
            attachment=partial(_attachment, entries),
            records=lambda: story.records,
            shown=story.shown,
        )
    ]


def tally_of(entries: Sequence[JournalEntry], finished: bool) -> Tally:
    """What is counted of entries that follow a story which was finished, or was not."""
    story = _Story([HistoryLine(entry, Ref(0, LANE, 0), True) for entry in entries])
    story.tally.finished = finished
    story.tell()
    return story.tally


def read_entry(line: bytes) -> JournalEntry | None:
    """The entry of a line, if its message can be read as well: nested too deep, it cannot."""
    entry = parse(line)
    if entry is None:
        return None
    try:
        _mend(entry)
        return entry if entry.turns is not None else None
    except (RirekiError, RecursionError):
        return None


def _mend(entry: JournalEntry) -> None:
    """Half a surrogate pair stays in the record; it can neither be stored nor shown."""
    try:
        msgspec.json.encode([entry.id, entry.at, entry.provider, entry.raw, entry.more])
    except UnicodeEncodeError:
        entry.id, entry.at, entry.provider, entry.raw, entry.more = clean(
            [entry.id, entry.at, entry.provider, entry.raw, entry.more]
        )


class _Story:
    """Messages in the order of the journal; a repair stands where its calls do."""

    def __init__(self, lines: list[HistoryLine]) -> None:
        self.lines = lines
        self.log = EntryLog(line.entry for line in lines)
        self.tally = Tally()
        self.records: dict[str, list[Ref]] = {}
        self.left = self._left()
        #: Calls that were marked as waiting for a person.
        self.waiting = {line.entry.text("call") for line in lines if line.entry.kind == "waiting"}
        #: The last message of each entry, for those that follow it.
        self.ends: dict[str, str] = {}
        #: What is told of each message of an entry.
        self.told: dict[tuple[str, int], list[str]] = {}

    def _left(self) -> set[str]:
        """Entries that are not on the way to the last one, or were cleared away."""
        chain = [entry.id for entry in self.log.chain(self.log.head)]
        clears = [i for i, id in enumerate(chain) if self.log.entries[id].kind == "clear"]
        way = chain[clears[-1] :] if clears else chain
        return self.log.entries.keys() - set(way)

    def tell(self) -> list[Message]:
        ordered = self._ordered()
        calls = Calls([turn for line in ordered for turns in line.entry.turns for turn in turns])
        told: list[Message] = []
        for line in ordered:
            for place, message in self._messages(line, calls):
                while message.id in self.records:
                    message.id += "~"
                self.records[message.id] = [line.ref]
                self.ends[line.entry.id] = message.id
                if message.entry is None or message.entry.rule != DECISION:
                    self.told.setdefault((line.entry.id, place), []).append(message.id)
                told.append(message)
        for message in told:
            message.parent = self._parent(message)
        return told

    def shown(self) -> list[str]:
        """What a model is shown when the history is gone on with: as `MessageHistory` would."""
        found: list[str] = []
        for entry, message in self.log.view.items:
            own = entry.messages
            place = 0 if len(own) == 1 else next(i for i, one in enumerate(own) if one is message)
            found += self.told.get((entry.id, place), ())
        return found

    def _ordered(self) -> list[HistoryLine]:
        places = {line.entry.id: place for place, line in enumerate(self.lines)}
        keys: list[tuple[int, int]] = []
        for place, line in enumerate(self.lines):
            after = places.get(line.entry.text("after") or "") if _is_repair(line.entry) else None
            keys.append((place, 0) if after is None or after > place else (after, place))
        return [self.lines[place] for place in sorted(range(len(keys)), key=keys.__getitem__)]

    def _messages(self, line: HistoryLine, calls: Calls) -> list[tuple[int, Message]]:
        """What is told of an entry, with the place of the message in it that it came from."""
        entry = line.entry
        if entry.kind in _DIVIDERS:
            calls.skip(entry)
            return [(0, self._divider(line))]
        if entry.kind == "torn":
            text = f"a line that was not finished: {entry.more.get('torn')}"
            parts: list[Part] = [Notice(text, "warning")]
            return [(0, self._message(line, "harness", "chip", parts, "torn line"))]
        if entry.kind not in (*MESSAGES, *_SILENT):
            parts = [Unknown(entry.kind, {**entry.more, "raw": entry.raw})]
            return [(0, self._message(line, "harness", "fold", parts, entry.kind))]
        found: list[tuple[int, Message]] = []
        each = ((place, turn) for place, turns in enumerate(entry.turns) for turn in turns)
        for place, turn in each:
            ids = calls.next(turn, entry.id)
            for author, some in _spoken(turn, entry):
                parts = parts_of(turn, some, ids)
                if not parts and turn.parts:
                    continue
                suffix = f".{len(found)}" if found else ""
                message = self._said(line, author, parts, suffix)
                found.append((place, message))
                self._count(author, turn, ids, message)
            if decided := self._decided(turn, ids, calls):
                found.append((place, self._decision(line, decided, f".{len(found)}")))
                self.tally.messages += 1
        return found

    def _decided(self, turn: Turn, ids: Sequence[str], calls: Calls) -> list[Part]:
        """What a person said in the results of calls that were questions to them."""
        answers = [
            part
            for part, id in zip(turn.parts, ids, strict=True)
            if isinstance(part, Result)
            and not part.is_error
            and (ASK in (part.name, calls.tools.get(id)) or id in self.waiting)
        ]
        texts = [
            one.text for part in answers for one in part.content if isinstance(one, NeutralText)
        ]
        return [Text(text) for text in texts if text.strip() and text != CANCELLED]

    def _decision(self, line: HistoryLine, parts: list[Part], suffix: str) -> Message:
        message = self._message(line, "person", "bubble", parts, "answered", suffix)
        message.entry = Entry(line.ref.record + 1, line.entry.kind, rule=DECISION)
        return message

    def _said(self, line: HistoryLine, author: Author, parts: list[Part], suffix: str) -> Message:
        display: Display = "bubble" if author in ("person", "agent") else "fold"
        entry = line.entry
        label = {"system": "system", "repair": "repaired"}.get(entry.kind)
        if author in ("agent", "person"):
            label = None
        message = self._message(line, author, display, parts, label, suffix)
        if author == "agent":
            message.model = model_of(entry)
            answer = answer_of(entry) if not suffix else None
            message.usage = answer.usage if answer else None
        return message

    def _divider(self, line: HistoryLine) -> Message:
        entry = line.entry
        summary = isinstance(entry.raw, str) and entry.kind == "summary"
        parts: list[Part] = [Text(str(entry.raw))] if summary else []
        return self._message(line, "harness", "divider", parts, _DIVIDERS[entry.kind])

    def _message(
        self,
        line: HistoryLine,
        author: Author,
        display: Display,
        parts: list[Part],
        label: str | None,
        suffix: str = "",
    ) -> Message:
        entry = line.entry
        return Message(
            id=f"{entry.id}{suffix}",
            author=author,
            display=display,
            label=label,
            at=from_iso(entry.at),
            turn=self.tally.turns or None,
            upstream="present" if line.present else "gone",
            parts=parts,
            abandoned=entry.id in self.left,
            entry=Entry(line.ref.record + 1, entry.kind, rule=entry.kind),
        )

    def _count(self, author: Author, turn: Turn, ids: Sequence[str], message: Message) -> None:
        self.tally.messages += 1
        if author == "person":
            message.turn = self.tally.typed(message.at)
        for part, id in zip(turn.parts, ids, strict=True):
            if author == "agent" and id:
                self.tally.asked(id, part.name if isinstance(part, Call) else "")
            elif author in ("tool", "harness") and isinstance(part, Result):
                self.tally.resulted(id, bool(part.is_error))
        if author == "agent" and not any(ids):
            self.tally.answered()

    def _parent(self, message: Message) -> str | None:
        id = self.log.parents.get(message.id.partition(".")[0])
        while id is not None and id not in self.ends:
            id = self.log.parents.get(id)
        return self.ends.get(id or "")


def _is_repair(entry: JournalEntry) -> bool:
    return entry.kind == "repair"


def _spoken(turn: Turn, entry: JournalEntry) -> list[tuple[Author, Callable[[int], bool]]]:
    """Who said which parts of a turn: results are a tool's, although they come as the user's."""
    if turn.role == "assistant":
        return [("agent", lambda index: True)]
    if turn.role != "user":
        return [("harness", lambda index: True)]
    returned = [isinstance(part, Result) for part in turn.parts]
    by: Author = "harness" if _is_repair(entry) else "tool"
    spoken: list[tuple[Author, Callable[[int], bool]]] = []
    if any(returned):
        spoken.append((by, lambda index: returned[index]))
    if not all(returned) or not returned:
        spoken.append(("person", lambda index: not returned[index]))
    return spoken


def _last(entries: Sequence[JournalEntry], name: str) -> str:
    said = [entry.text(name) for entry in entries if entry.kind not in MESSAGES]
    return next((text for text in reversed(said) if text), "")


def _ties(conversation: str, entries: Sequence[JournalEntry]) -> list[LinkToken]:
    wants = [entry.text("forked_from") for entry in entries if entry.kind == "start"]
    return [
        LinkToken("fork", "offer", conversation),
        *(LinkToken("fork", "want", other) for other in wants if other and other != conversation),
    ]


def _attachment(entries: Sequence[JournalEntry], digest: str) -> bytes | None:
    for entry in entries:
        for turn in (turn for turns in entry.turns for turn in turns):
            inner = [one for part in turn.parts if isinstance(part, Result) for one in part.content]
            for part in [*turn.parts, *inner]:
                if isinstance(part, Media) and part.data:
                    try:
                        data = base64.b64decode(part.data)
                    except binascii.Error:
                        continue
                    if sha256(data).hexdigest() == digest:
                        return data
    return None
