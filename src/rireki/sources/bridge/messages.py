"""Journals as messages: what was sent, said, done, asked and answered, in the order it happened.

A prompt stands where it was given to the agent; until then, at the end. Knows the journals
alone: what the agent's own transcript has of the same is the matter of `join.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from rireki.journals.session_entry import SILENT, BridgeEntry, fits
from rireki.model.conversation import Tally
from rireki.model.message import Message
from rireki.model.parts import Notice
from rireki.model.strand import Ref
from rireki.sources.bridge.journal_message import JournalMessage, order_of, tool_of
from rireki.sources.bridge.lines import BridgeJournal, BridgeLine
from rireki.sources.kit.pictures import Pictures

__all__ = ["BridgeTranscript"]

#: How a turn ended that did not just end, and how grave that is.
_ENDS: dict[str, tuple[str, Literal["info", "warning", "error"]]] = {
    "cancelled": ("stopped", "info"),
    "interrupted": ("interrupted", "warning"),
    "failed": ("failed", "error"),
    "max_tokens": ("cut off at the token limit", "warning"),
    "max_turn_requests": ("stopped after too many requests", "warning"),
    "refusal": ("refused by the model", "warning"),
}
#: Ends after which the agent may have kept nothing of the turn.
_CUT = ("cancelled", "interrupted", "failed")


class BridgeTranscript:
    """What some journals tell together."""

    def __init__(self, journals: Sequence[BridgeJournal]) -> None:
        told = [_Teller(journal) for journal in journals]
        drafts = [draft for teller in told for draft in teller.drafts.values()]
        drafts = [draft for draft in drafts if not draft.is_empty()]
        drafts.sort(key=order_of)
        self.tally = Tally()
        self.pictures = Pictures()
        self.records: dict[str, list[Ref]] = {}
        self.messages = [self._message(draft) for draft in drafts]
        running = {turn for teller in told for turn in teller.running}
        if running or any(draft.waiting for draft in drafts):
            self.tally.finished = False
        #: The prompts of turns that are going on, and what was said in them.
        self.running = running | {d.id for d in drafts if d.turn in running}

    def _message(self, draft: JournalMessage) -> Message:
        while draft.id in self.records:
            draft.id += "~"
        self.records[draft.id] = draft.refs
        self._count(draft)
        return draft.message(None if draft.waiting else self.tally.turns or None, self.pictures)

    def _count(self, draft: JournalMessage) -> None:
        tally = self.tally
        tally.messages += 1
        if draft.kind == "prompt" and draft.given:
            tally.typed()
        elif draft.kind == "text":
            tally.answered()
        elif draft.kind == "call":
            tally.asked(str(draft.more.get("call")), tool_of(draft.more))
        elif draft.kind == "result":
            tally.resulted(str(draft.more.get("call")))
        elif draft.label is not None:
            tally.interrupted()


class _Teller:
    """Goes along one journal and gathers what belongs together."""

    def __init__(self, journal: BridgeJournal) -> None:
        #: By what they are and their id.
        self.drafts: dict[tuple[str, str], JournalMessage] = {}
        self.turn: str | None = None
        self.model: str | None = None
        self.running: set[str] = set()
        for line in journal.lines.values():
            take = _KINDS.get(line.entry.kind)
            if take is None or not fits(line.entry):
                self._unknown(line)
            else:
                take(self, line)

    def _draft(self, line: BridgeLine, id: str, message: str = "") -> JournalMessage:
        """The draft of that kind and id; a new one stands where the line does."""
        entry = line.entry
        draft = self.drafts.get((entry.kind, id))
        if draft is None:
            draft = JournalMessage(
                message or id,
                entry.kind,
                entry.number,
                entry.at,
                line.ref.record + 1,
                self.turn,
                self.model,
            )
            self.drafts[entry.kind, id] = draft
        draft.take(line)
        return draft

    def _unknown(self, line: BridgeLine) -> None:
        """Of a kind that nobody knows yet, or not as its kind should be: kept, and shown folded."""
        if line.entry.kind not in SILENT:
            number = str(line.entry.number)
            self._draft(line, f"unknown {number}", f"n{number}").unknown = line.entry.more

    def _start(self, line: BridgeLine) -> None:
        self.model = line.entry.text("model") or self.model

    def _prompt(self, line: BridgeLine) -> None:
        id = line.entry.text("id")
        if id and ("prompt", id) not in self.drafts:
            draft = self._draft(line, id)
            draft.more = line.entry.more
            draft.waiting = True

    def _waiting(self, entry: BridgeEntry) -> JournalMessage | None:
        draft = self.drafts.get(("prompt", entry.text("id")))
        return draft if draft is not None and draft.waiting else None

    def _edit(self, line: BridgeLine) -> None:
        if draft := self._waiting(line.entry):
            draft.more = {**draft.more, **line.entry.more}
            draft.take(line)

    def _withdraw(self, line: BridgeLine) -> None:
        if draft := self._waiting(line.entry):
            draft.waiting, draft.withdrawn = False, True
            draft.take(line)

    def _given(self, line: BridgeLine) -> None:
        entry = line.entry
        self.turn = entry.text("id")
        self.running = {self.turn}
        if draft := self._waiting(entry):
            draft.waiting, draft.given = False, True
            draft.place, draft.at = entry.number, entry.at
            draft.take(line)

    def _stretch(self, line: BridgeLine) -> None:
        entry = line.entry
        if block := entry.text("block"):
            draft = self._draft(line, block)
            draft.stretches.append(entry.text("text"))
            draft.more = {**draft.more, "provisional": entry.more.get("provisional") is True}

    def _work(self, line: BridgeLine) -> None:
        """A call or its result."""
        entry = line.entry
        if call := entry.text("call"):
            draft = self._draft(line, call, f"{entry.kind}:{call}")
            draft.more = {**draft.more, **entry.more}

    def _plan(self, line: BridgeLine) -> None:
        """The newest plan of a turn is the plan of that turn."""
        draft = self._draft(line, self.turn or "", f"n{line.entry.number}")
        draft.more = line.entry.more

    def _ask(self, line: BridgeLine) -> None:
        if id := line.entry.text("id"):
            self._draft(line, id).ask = line.entry

    def _answer(self, line: BridgeLine) -> None:
        draft = self.drafts.get(("ask", line.entry.text("id")))
        if draft is not None and draft.answer is None:
            draft.answer = line.entry
            draft.take(line)

    def _turn_end(self, line: BridgeLine) -> None:
        entry = line.entry
        ended = entry.text("prompt") or self.turn or ""
        self.running.discard(ended)
        reason = entry.text("reason")
        prompt = self.drafts.get(("prompt", ended))
        if prompt is not None:
            prompt.cut = reason in _CUT
        if reason in _ENDS:
            self._chip(line, *_ENDS[reason])
        self.turn = None

    def _state(self, line: BridgeLine) -> None:
        if line.entry.text("state") == "failed":
            self._chip(line, "failed", "error")

    def _chip(
        self, line: BridgeLine, label: str, level: Literal["info", "warning", "error"]
    ) -> None:
        """A turn that failed because its agent did is told once, with what the agent printed."""
        words = line.entry.text("detail") or label
        last = next(reversed(self.drafts.values()), None)
        if last is not None and last.label == label == "failed":
            if line.entry.text("detail"):
                last.notice = Notice(words, level)
            last.take(line)
            return
        draft = self._draft(line, str(line.entry.number), f"n{line.entry.number}")
        draft.label, draft.notice = label, Notice(words, level)

    def _note(self, line: BridgeLine) -> None:
        level = line.entry.text("level")
        known = level if level in ("warning", "error") else "info"
        draft = self._draft(line, str(line.entry.number), f"n{line.entry.number}")
        draft.notice = Notice(line.entry.text("text"), known)  # type: ignore[arg-type]


_KINDS: dict[str, Callable[[_Teller, BridgeLine], None]] = {
    "start": _Teller._start,
    "prompt": _Teller._prompt,
    "edit": _Teller._edit,
    "withdraw": _Teller._withdraw,
    "given": _Teller._given,
    "text": _Teller._stretch,
    "thought": _Teller._stretch,
    "call": _Teller._work,
    "result": _Teller._work,
    "plan": _Teller._plan,
    "ask": _Teller._ask,
    "answer": _Teller._answer,
    "turn_end": _Teller._turn_end,
    "state": _Teller._state,
    "note": _Teller._note,
}
