"""ATIF: one trajectory per file, a list of steps, with the results of calls in the step that called.

Versions 1.0 to 1.x: what a version lacks is not looked for, what a later one adds is kept in the record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, get_args

from rireki.model.conversation import LinkToken, Reading, Trouble
from rireki.model.message import Display, Usage
from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    ResultStatus,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from rireki.model.strand import Strand
from rireki.model.times import from_iso
from rireki.sources.exports.versions import Chat, read_versions
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.fields import get, items, number, string, words
from rireki.sources.kit.pending import ConversationBuilder, PendingMessage
from rireki.sources.kit.records import DecodedLine
from rireki.sources.kit.rules import TextRule

__all__ = ["id_of", "read_atif"]

_SYSTEM = TextRule("system step", "system", "", display="fold")
_COPIED = "copied context"


def id_of(data: bytes) -> str:
    """The trajectory's own id; before version 1.7 only its run had one."""
    try:
        value = load(data)
    except NotReadable:
        value = None
    named = string(value, "trajectory_id") or string(value, "session_id")
    return named or digest_of_bytes(data).hex()


def read_atif(source: str, id: str, strands: Sequence[Strand]) -> list[Reading]:
    """Segments of one run may share its id: those that begin differently are conversations apart."""
    readings: list[Reading] = []
    troubles: list[Trouble] = []
    for some in _apart(strands, troubles):
        native = f"{id}~{len(readings) + 1}" if readings else id
        found: list[Trouble] = []
        chat = read_versions(some, lambda value: float(len(items(value, "steps"))), found)
        builder = ConversationBuilder(source, native, some, troubles=found)
        if chat is None:
            readings += [builder.reading()] if found else []
            continue
        offers = _offers(chat.newest, some)
        readings += _read(builder, chat, offers)
    return readings


def _apart(strands: Sequence[Strand], troubles: list[Trouble]) -> list[list[Strand]]:
    """Files of one id, together where one is the beginning of the other."""
    groups: list[tuple[list[Any], list[Strand]]] = []
    for strand in sorted(strands, key=lambda one: one.place):
        chat = read_versions([strand], lambda value: 0.0, troubles)
        said = [_said(step) for step in items(chat.newest, "steps")] if chat else []
        for known, some in groups:
            shared = min(len(known), len(said))
            if known[:shared] == said[:shared]:
                known[:] = said if len(said) > len(known) else known
                some.append(strand)
                break
        else:
            groups.append((said, [strand]))
    return [some for _, some in groups]


def _said(step: Any) -> Any:
    return get(step, "source"), get(step, "message")


def _offers(trajectory: Any, strands: Sequence[Strand]) -> list[LinkToken]:
    """The file in which it goes on, as seen from its own."""
    tokens = []
    for strand in strands:
        kind = PureWindowsPath if "\\" in strand.place else PurePosixPath
        place = kind(strand.place)
        tokens.append(LinkToken("continuation", "want", f"file:{place}"))
        if following := string(trajectory, "continued_trajectory_ref"):
            tokens.append(LinkToken("continuation", "offer", f"file:{place.parent / following}"))
    return tokens


def _read(builder: ConversationBuilder, chat: Chat, tokens: Sequence[LinkToken]) -> list[Reading]:
    """A trajectory, and those of its sub-agents that are embedded in it."""
    value = chat.newest
    builder.link_tokens += tokens
    _Steps(builder, value).take(chat.merged(_nodes_like(value)))
    readings = [builder.reading()]
    readings[0].original = chat.versions[-1].data
    for child in items(value, "subagent_trajectories"):
        name = f"{builder.native_id}.{string(child, 'trajectory_id')}"
        inner = ConversationBuilder(builder.source, name, builder.strands, nature="subagent")
        newest = chat.versions[-1]
        whole = newest._replace(value=child, data=_spelled(child))
        tokens = [LinkToken("subagent", "want", name)]
        readings += _read(inner, Chat([whole], {}), tokens)
    return readings


def _spelled(value: Any) -> Callable[[], bytes]:
    return lambda: json.dumps(value).encode()


def _nodes_like(newest: Any) -> Callable[[Any], Mapping[str, Any]]:
    """Steps by their numbers; one that said something else in an earlier version is another."""
    now = {_number(step, n): step for n, step in enumerate(items(newest, "steps"), 1)}

    def nodes(value: Any) -> Mapping[str, Any]:
        found = {}
        for n, step in enumerate(items(value, "steps"), 1):
            name = _number(step, n)
            if name in now and _said(now[name]) != _said(step):
                name += f"~{digest_of_bytes(json.dumps(_said(step)).encode()).hex()[:6]}"
            found[name] = step
        return found

    return nodes


def _number(step: Any, place: int) -> str:
    return str(number(step, "step_id") or place)


class _Steps:
    """Makes messages of the steps of one trajectory."""

    def __init__(self, builder: ConversationBuilder, trajectory: Any) -> None:
        self.builder = builder
        self.trajectory = trajectory
        self.model = string(get(trajectory, "agent"), "model_name")

    def take(self, steps: Mapping[str, DecodedLine]) -> None:
        ours = get(self.trajectory, "extra", "rireki")
        self.builder.title = string(ours, "title") or None
        self.builder.note_directory(string(ours, "project"))
        self.builder.note_time(get(ours, "started_at"))
        self.builder.note_time(get(ours, "updated_at"))
        for name, line in steps.items():
            self.builder.entries += 1
            self._step(name, line)
        self._notes(steps)
        self._note_agent()

    def _step(self, name: str, line: DecodedLine) -> None:
        step = line.value
        told: list[PendingMessage] = []
        said = self._content(get(step, "message"))
        at = from_iso(get(step, "timestamp"))
        match string(step, "source"):
            case "user":
                told.append(self.builder.ask(line, name, said, at=at))
            case "agent":
                told += self._agent(name, line, said, at)
            case "system":
                told += self._system(name, line, said, at)
            case source:
                told.append(self.builder.unknown(line, name, source or "step", at=at))
        for one in told:
            if get(step, "is_copied_context") is True:
                # It was said in another trajectory: kept and found, and no turn of this one.
                one.message.display, one.message.label = "fold", _COPIED
                one.typed, one.ends = False, None
            elif one is told[0]:
                _as_it_was(one, get(step, "extra"))

    def _agent(
        self, name: str, line: DecodedLine, said: list[Part], at: str | None
    ) -> list[PendingMessage]:
        step = line.value
        if thought := string(step, "reasoning_content"):
            said.insert(0, Thinking(thought))
        for call in items(step, "tool_calls"):
            id = string(call, "tool_call_id")
            said.append(ToolCall(id, string(call, "function_name"), get(call, "arguments")))
            self._offer(step, id)
        model = string(step, "model_name") or self.model or None
        told = [self.builder.answer(line, name, said, at=at, model=model)]
        if usage := _usage(get(step, "metrics")):
            told[0].message.usage = usage
            self.builder.note_usage(
                f"{self.builder.native_id}#{name}", model or "unknown", usage, at
            )
        return told + self._observed(name, line, at)

    def _system(
        self, name: str, line: DecodedLine, said: list[Part], at: str | None
    ) -> list[PendingMessage]:
        told = []
        if said or not get(line.value, "observation"):
            told.append(self.builder.ask(line, name, said, rule=_SYSTEM, at=at))
            told[0].ends = None
        return told + self._observed(name, line, at)

    def _observed(self, name: str, line: DecodedLine, at: str | None) -> list[PendingMessage]:
        """Results under their calls; what answers no call is what the surroundings said."""
        told = []
        for place, result in enumerate(items(get(line.value, "observation"), "results"), 1):
            if get(result, "content") is None:
                continue
            content = self._content(get(result, "content"))
            extra = get(result, "extra")
            moment = from_iso(get(extra, "timestamp")) or at
            id = string(result, "source_call_id") or string(extra, "call_id")
            own = f"{name}-{place}"
            if not id:
                told.append(self.builder.ask(line, own, content, rule=_SYSTEM, at=moment))
                told[-1].ends = None
                continue
            output = "\n".join(part.text for part in content if isinstance(part, Text))
            others = [part for part in content if not isinstance(part, Text)]
            given = ToolResult(id, _status(extra), output)
            told.append(self.builder.result(line, own, [given, *others], at=moment))
        return told

    def _offer(self, step: Any, call: str) -> None:
        """The sub-agent that a call started, as its result names it."""
        for result in items(get(step, "observation"), "results"):
            if string(result, "source_call_id") == call:
                for reference in items(result, "subagent_trajectory_ref"):
                    token = f"{self.builder.native_id}.{string(reference, 'trajectory_id')}"
                    self.builder.link_tokens.append(LinkToken("subagent", "offer", token, call))

    def _content(self, content: Any) -> list[Part]:
        if isinstance(content, str):
            return [Text(content)] if content else []
        if not isinstance(content, list):
            return [Unknown("content", content)] if content is not None else []
        return [self._part(one) for one in content]

    def _part(self, value: Any) -> Part:
        if string(value, "type") == "text":
            return Text(string(value, "text"))
        source = get(value, "source")
        path, kind = string(source, "path"), string(source, "media_type")
        if path.startswith("data:"):
            found = self.builder.pictures.add_url(path)
            return found or Unknown("picture that cannot be decoded", value)
        if path:
            return Attachment(kind or "application/octet-stream", name=path)
        return Unknown(string(value, "type") or "part", value)

    def _notes(self, steps: Mapping[str, DecodedLine]) -> None:
        notes = string(self.trajectory, "notes")
        if notes and steps:
            line = next(iter(steps.values()))
            said = [Notice(notes)]
            self.builder.say(line, "notes", "harness", "chip", said, "notes", label="notes")

    def _note_agent(self) -> None:
        self.builder.note_model(self.model or None)
        embedded = {string(one, "trajectory_id") for one in self._children()}
        offered = {token.token for token in self.builder.link_tokens}
        for id in sorted(embedded):
            token = f"{self.builder.native_id}.{id}"
            if token not in offered:
                self.builder.link_tokens.append(LinkToken("subagent", "offer", token))

    def _children(self) -> list[Any]:
        return items(self.trajectory, "subagent_trajectories")


def _as_it_was(one: PendingMessage, extra: Any) -> None:
    """What rireki itself noted when it wrote the trajectory: how a message was shown, and called."""
    if not string(extra, "message"):
        return
    message = one.message
    if (author := string(extra, "author")) in ("tool", "harness"):
        message.author = "tool" if author == "tool" else "harness"
        one.typed = False
    if string(extra, "display") in get_args(Display):
        message.display = get(extra, "display")
    message.label = string(extra, "label") or None
    for unknown in items(extra, "not_understood"):
        message.parts.append(Unknown(string(unknown, "what"), get(unknown, "raw")))


def _status(extra: Any) -> ResultStatus:
    said = string(extra, "status")
    return "error" if said == "error" else "cancelled" if said == "cancelled" else "ok"


def _usage(metrics: Any) -> Usage | None:
    """ATIF counts what came from a cache among the tokens of the prompt."""
    if not isinstance(metrics, dict):
        return None
    extra = get(metrics, "extra")
    cached, written = number(metrics, "cached_tokens"), number(extra, "cache_write_tokens")
    fresh = max(number(metrics, "prompt_tokens") - cached - written, 0)
    bound = get(extra, "lower_bound") is True
    found = Usage(fresh, number(metrics, "completion_tokens"), cached, written, bound)
    return found if words(metrics) else None
