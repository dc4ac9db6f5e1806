"""Chats of VS Code as requests: what is asked and answered, from files written whole and from logs of changes.

A log has the whole state in its first line and one change per line after that; changes are applied in
order. What the chat has no more is kept where it stood.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rireki.model.conversation import Trouble
from rireki.model.strand import Strand
from rireki.sources.kit.fields import get, items, string
from rireki.sources.kit.pieces import WHOLE
from rireki.sources.kit.records import KEPT, DecodedLine, document_of, head_of, records_of

__all__ = ["StoredChat", "ChatRequest", "merged", "read_chats"]

#: Kinds of changes in a log.
_WHOLE, _SET, _PUSH, _DELETE = range(4)


@dataclass(slots=True)
class ChatRequest:
    """A prompt and what came of it."""

    id: str
    value: Any
    #: Whether the chat still has it.
    live: bool = True
    #: Lines and pieces that it was made of.
    lines: list[DecodedLine] = field(default_factory=list)
    #: What it was before, where that said something else.
    earlier: list[Any] = field(default_factory=list)

    def take(self, value: Any, line: DecodedLine) -> None:
        """It is this by now; what it was is kept where it did not only grow."""
        if value is not self.value:
            if not _words(value).startswith(_words(self.value)):
                self.earlier.append(self.value)
            self.value = value
            self.lines.append(line)

    @property
    def line(self) -> DecodedLine:
        last = self.lines[-1]
        refs = list(dict.fromkeys(ref for line in self.lines for ref in line.refs))
        present = any(line.present for line in self.lines)
        return last._replace(value=self.value, present=present, refs=refs)

    @property
    def abandoned(self) -> bool:
        """Whether the person took it back: removed, or undone and to be removed with the next prompt."""
        undone = get(self.value, "shouldBeRemovedOnSend") or get(self.value, "isHidden")
        return not self.live or bool(undone)

    @property
    def time(self) -> float:
        value = get(self.value, "timestamp")
        return value if isinstance(value, int | float) else 0


@dataclass(slots=True)
class StoredChat:
    """The requests of one file or row, and the fields beside them."""

    strand: Strand
    head: Any = None
    requests: list[ChatRequest] = field(default_factory=list)

    def hold(self, values: Sequence[Any], line: DecodedLine) -> None:
        """The chat holds these requests now: others are gone, and stay where they stood."""
        known = {request.id: request for request in self.requests}
        named = [(string(v, "requestId") or f"request-{n}", v) for n, v in enumerate(values, 1)]
        held = {name for name, _ in named}
        for request in self.requests:
            request.live = request.id in held
        at = 0
        for name, value in named:
            while at < len(self.requests) and not self.requests[at].live:
                at += 1
            if name in known:
                known[name].take(value, line)
                at = self.requests.index(known[name]) + 1
            else:
                known[name] = ChatRequest(name, value, lines=[line])
                self.requests.insert(at, known[name])
                at += 1


def _words(value: Any) -> str:
    """What a request says, to tell whether it only grew."""
    message = get(value, "message")
    asked = message if isinstance(message, str) else string(message, "text")
    said = (get(one, "value") if isinstance(one, dict) else one for one in items(value, "response"))
    return asked + "".join(one for one in said if isinstance(one, str))


# ── one file ──


def _read_log(strand: Strand, troubles: list[Trouble]) -> StoredChat:
    """The state that the changes of a log lead to."""
    chat = StoredChat(strand)
    state: Any = {}
    for line in records_of(strand, troubles):
        path = items(line.value, "k")
        try:
            state = _changed(state, line.value, path)
        except (KeyError, IndexError, TypeError, ValueError):
            place = f"{strand.place}: line {line.position}"
            troubles.append(Trouble.of(place, "change-of-nothing", hint=KEPT))
            continue
        if path[:1] in ([], ["requests"]) and len(path) <= 2:
            chat.hold(items(state, "requests"), line)
        elif path[0] == "requests":
            _note(chat, state, path[1], line)
    chat.head = state
    return chat


def _note(chat: StoredChat, state: Any, number: Any, line: DecodedLine) -> None:
    """A line that changed something inside a request."""
    values = items(state, "requests")
    for request in chat.requests if isinstance(number, int) and number < len(values) else ():
        if request.value is values[number]:
            request.lines.append(line)


def _changed(state: Any, entry: Any, path: list[Any]) -> Any:
    """The state after one change. Raises where its path leads nowhere."""
    kind, value = get(entry, "kind"), get(entry, "v")
    if kind == _WHOLE:
        return value
    if not path or kind not in (_SET, _PUSH, _DELETE):
        raise ValueError(kind)
    parent = state
    for key in path[:-1]:
        parent = _at(parent, key)
    last = path[-1]
    if kind == _SET and isinstance(parent, list) and _index(last) == len(parent):
        parent.append(value)
    elif kind == _SET:
        parent[_key(parent, last)] = value
    elif kind == _DELETE:
        del parent[_key(parent, last)]
    else:
        _push(parent, last, value, get(entry, "i"))
    return state


def _push(parent: Any, last: Any, value: Any, length: Any) -> None:
    if isinstance(parent, dict) and parent.get(last) is None:
        parent[last] = []
    target = _at(parent, last)
    if not isinstance(target, list):
        raise TypeError("not a list")
    if isinstance(length, int) and length >= 0:
        del target[length:]
    target.extend(value if isinstance(value, list) else ())


def _at(value: Any, key: Any) -> Any:
    return value[_key(value, key)]


def _key(value: Any, key: Any) -> Any:
    """A key of an object, or an index of a list; nothing else is one."""
    if isinstance(value, list):
        return _index(key)
    if not isinstance(value, dict) or not isinstance(key, str):
        raise KeyError(key)
    return key


def _index(key: Any) -> int:
    if isinstance(key, bool) or not isinstance(key, int) or key < 0:
        raise IndexError(key)
    return key


def _read_document(strand: Strand, troubles: list[Trouble]) -> StoredChat:
    """Every request that a file which is written whole ever had."""
    chat = StoredChat(strand)
    for line in records_of(strand, troubles, "requests"):
        name = string(line.value, "requestId") or f"request-{line.position}"
        known = next((one for one in chat.requests if one.id == name), None)
        if known is None:
            chat.requests.append(ChatRequest(name, line.value, line.held, [line]))
        else:
            known.take(line.value, line)
            known.live = known.live or line.held
    if any(run.lane == WHOLE for run in strand.states[-1].runs):
        chat.head = document_of(strand, troubles)
        line = DecodedLine(chat.head, 1, True, strand.present, [])
        if chat.head is not None:
            chat.hold(items(chat.head, "requests"), line)
    else:
        chat.head = head_of(strand, troubles)
    return chat


# ── all files of one chat ──


def read_chats(strands: Iterable[Strand], troubles: list[Trouble]) -> list[StoredChat]:
    """The files and rows of a chat, the one that counts most last: a log counts more than a document."""
    chats = [
        _read_log(strand, troubles) if strand.role == "log" else _read_document(strand, troubles)
        for strand in strands
        if strand.role in ("log", "session")
    ]
    chats.sort(key=lambda chat: (chat.strand.role == "log", not chat.strand.key, _size(chat)))
    for number, chat in enumerate(chats):
        _supersede(chat, chats[number + 1 :])
    return chats


def _size(chat: StoredChat) -> tuple[int, str]:
    return len(chat.requests), chat.strand.place


def _supersede(chat: StoredChat, newer: Sequence[StoredChat]) -> None:
    """What a log beside a document no longer has was removed, although the document still has it.

    What was asked after the last line of the log was not: a setting has the editor go back to documents.
    """
    for log in newer:
        if log.strand.role == "log" and log.strand.place == f"{chat.strand.place}l":
            held = {request.id for request in log.requests if request.live}
            last = max((request.time for request in log.requests), default=0)
            for request in chat.requests:
                request.live = request.live and (request.id in held or request.time > last)


def merged(chats: Sequence[StoredChat]) -> list[ChatRequest]:
    """The requests of all files of a chat, each once, in the order they were made."""
    found: dict[str, ChatRequest] = {}
    order: list[ChatRequest] = []
    for chat in reversed(chats):
        at = 0
        for request in chat.requests:
            if known := found.get(request.id):
                known.lines[:0] = request.lines
                known.live = known.live or request.live
                at = order.index(known) + 1
                continue
            while at < len(order) and order[at].time <= request.time:
                at += 1
            found[request.id] = request
            order.insert(at, request)
            at += 1
    return order
