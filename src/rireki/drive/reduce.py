"""What the entries of a journal come to: the queue, what is asked, what runs, how it stands.

The same entries always come to the same, whether they were just written or read after a crash.
Keeps no text of the agent. Knows no process and no file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from rireki.drive.values import Ask, Prompt, PromptImage, Queued, RunningCall, in_order
from rireki.journals.session_entry import BridgeEntry

__all__ = ["SessionLog", "SessionOrigin"]

#: Ends of a turn after which the queue waits for the person.
_HOLDING = {"cancelled", "failed"}
#: Ends of a turn that the agent will know of when it goes on with the conversation.
_REMEMBERED = {"end_turn", "max_tokens", "max_turn_requests", "refusal"}


class SessionOrigin(msgspec.Struct, frozen=True):
    """How it began."""

    agent: str
    source: str | None
    project: str
    model: str | None
    title: str
    continues: str | None
    at: str


class SessionLog:
    def __init__(self) -> None:
        self.number = 0
        self.origin: SessionOrigin | None = None
        #: The agent's own id of the conversation.
        self.native: str | None = None
        self.resumable = False
        self.images: bool | None = None
        #: Every prompt that ever came, by id: the number it was acknowledged with.
        self.prompts: dict[str, int] = {}
        self.waiting: dict[str, tuple[Prompt, Queued]] = {}
        #: The prompt that was given and is not answered yet.
        self.turn: str | None = None
        self.held = False
        #: Whether a turn ended in a way the agent remembers.
        self.remembered = False
        self.asks: dict[str, Ask] = {}
        #: How each ask ended, in the fields of its `answer`.
        self.answers: dict[str, dict[str, Any]] = {}
        self.calls: dict[str, RunningCall] = {}
        #: Calls of this turn that have a result.
        self.done: set[str] = set()
        #: The last of the states that have lines, and what was said with it.
        self.state = ""
        self.detail = ""
        #: The last process that was started: {pid, born}.
        self.process: dict[str, Any] = {}

    def add(self, entry: BridgeEntry) -> None:
        self.number = max(self.number, entry.number)
        take = _KINDS.get(entry.kind)
        if take is not None:
            take(self, entry)

    @property
    def queue(self) -> list[Queued]:
        # A copy first: threads that show it look while prompts come and go.
        return [queued for _, queued in list(self.waiting.values())]

    @property
    def next(self) -> Prompt | None:
        """The prompt whose turn it is, if the queue is not held."""
        if self.held:
            return None
        return next((prompt for prompt, _ in self.waiting.values()), None)

    @property
    def conversation(self) -> str | None:
        """The id of the agent's own conversation in the archive, if the agent leaves any."""
        if self.origin is None or self.origin.source is None:
            return None
        native = self.native or self.origin.continues
        return f"{self.origin.source}/{native}" if native else None

    # ── one method per kind ──

    def _start(self, entry: BridgeEntry) -> None:
        more = entry.more
        self.origin = SessionOrigin(
            agent=entry.text("agent"),
            source=more.get("source"),
            project=entry.text("project"),
            model=more.get("model"),
            title=entry.text("title"),
            continues=more.get("continues"),
            at=entry.at,
        )

    def _session(self, entry: BridgeEntry) -> None:
        self.native = entry.text("id") or self.native
        self.resumable = entry.more.get("resumable") is True
        self.images = entry.more.get("images")

    def _prompt(self, entry: BridgeEntry) -> None:
        id = entry.text("id")
        if not id or id in self.prompts:
            return
        self.prompts[id] = entry.number
        self.held = False
        prompt = Prompt(id, entry.text("text"), _images(entry), _strings(entry, "mentions"))
        queued = Queued(
            id,
            prompt.text,
            at=entry.at,
            number=entry.number,
            by=entry.text("by"),
            images=len(prompt.images),
            mentions=prompt.mentions,
        )
        first = entry.more.get("first") is True
        item = {id: (prompt, queued)}
        self.waiting = {**item, **self.waiting} if first else {**self.waiting, **item}

    def _edit(self, entry: BridgeEntry) -> None:
        id, text = entry.text("id"), entry.text("text")
        if id in self.waiting:
            prompt, queued = self.waiting[id]
            replace = msgspec.structs.replace
            self.waiting[id] = (replace(prompt, text=text), replace(queued, text=text))

    def _withdraw(self, entry: BridgeEntry) -> None:
        self.waiting.pop(entry.text("id"), None)

    def _given(self, entry: BridgeEntry) -> None:
        self.turn = entry.text("id")
        self.waiting.pop(self.turn, None)

    def _turn_end(self, entry: BridgeEntry) -> None:
        self.turn = None
        self.calls.clear()
        self.done.clear()
        reason = entry.text("reason")
        self.held = reason in _HOLDING and bool(self.waiting)
        self.remembered = self.remembered or reason in _REMEMBERED

    def _call(self, entry: BridgeEntry) -> None:
        id = entry.text("call")
        if id in self.done:
            return
        known = self.calls.get(id, RunningCall(id, ""))
        fields = ("name", "title", "tool", "arguments", "diffs")
        news = {name: entry.more[name] for name in fields if name in entry.more}
        self.calls[id] = msgspec.structs.replace(known, **news)

    def _result(self, entry: BridgeEntry) -> None:
        self.calls.pop(entry.text("call"), None)
        self.done.add(entry.text("call"))

    def _ask(self, entry: BridgeEntry) -> None:
        try:
            ask = msgspec.convert({**entry.more, "at": entry.at, "number": entry.number}, Ask)
        except msgspec.ValidationError:
            return
        self.asks[ask.id] = msgspec.structs.replace(ask, options=in_order(ask.options))

    def _answer(self, entry: BridgeEntry) -> None:
        self.asks.pop(entry.text("id"), None)
        self.answers[entry.text("id")] = {**entry.more, "at": entry.at, "number": entry.number}

    def _state(self, entry: BridgeEntry) -> None:
        self.state = entry.text("state")
        self.detail = entry.text("detail")
        if self.state == "starting":
            self.held = False
        elif self.state in ("ended", "failed"):
            self.held = bool(self.waiting)

    def _proceed(self, entry: BridgeEntry) -> None:
        self.held = False

    def _process(self, entry: BridgeEntry) -> None:
        self.process = dict(entry.more)


_KINDS: dict[str, Callable[[SessionLog, BridgeEntry], None]] = {
    "start": SessionLog._start,
    "session": SessionLog._session,
    "prompt": SessionLog._prompt,
    "edit": SessionLog._edit,
    "withdraw": SessionLog._withdraw,
    "given": SessionLog._given,
    "turn_end": SessionLog._turn_end,
    "call": SessionLog._call,
    "result": SessionLog._result,
    "ask": SessionLog._ask,
    "answer": SessionLog._answer,
    "state": SessionLog._state,
    "process": SessionLog._process,
    "proceed": SessionLog._proceed,
}


def _images(entry: BridgeEntry) -> list[PromptImage]:
    try:
        return msgspec.convert(entry.more.get("images", []), list[PromptImage])
    except msgspec.ValidationError:
        return []


def _strings(entry: BridgeEntry, name: str) -> list[str]:
    value = entry.more.get(name)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
