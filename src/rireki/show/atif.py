"""A conversation as a trajectory of ATIF, the interchange format of agents' runs (version 1.7).

Written step by step, so that a long conversation is never there twice. What ATIF has no place for
goes into its `extra` fields, and what had to be changed is told there: `completeness` counts what
went in and what became of it, `conversion_warnings` name what is not as it was.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rireki import __version__
from rireki.model.calls import PairedResults, Placed, results_by_call
from rireki.model.conversation import Conversation, Link
from rireki.model.message import Message, Usage
from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from rireki.show.formats import Earlier
from rireki.show.json import line

if TYPE_CHECKING:
    from rireki.show.formats import FormatOptions
    from rireki.show.transcript import Transcript

__all__ = ["SOURCE", "VERSION", "earlier", "write"]

VERSION = "ATIF-v1.7"
#: What was read from a trajectory goes back as the trajectory that it was.
SOURCE = "atif"
#: The version of an agent, which no source notes for a whole conversation.
_UNTOLD = "unknown"
_PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_SOURCES = {"person": "user", "agent": "agent", "tool": "system", "harness": "system"}


def write(transcript: Transcript, options: FormatOptions) -> Iterator[str]:
    """The newest version: everything that was not taken back or told anew."""
    original = _original(transcript, options)
    if original is not None:
        yield original.rstrip("\n") + "\n"
        return
    told = [one for one in transcript.messages if not _was_left(one)]
    yield from _Trajectory(transcript, options).pieces(told)
    yield "\n"


def earlier(transcript: Transcript, options: FormatOptions) -> Iterator[Earlier]:
    """A trajectory for each branch that was left, and for what was told anew; oldest first.

    Each ends where it was left and names the one it was continued in. What it shares with the newest
    version is marked as copied there, so that nothing is counted twice.
    """
    if _original(transcript, options) is not None:
        return
    runs = _left_runs(transcript.messages, options)
    for number, (start, end) in enumerate(runs, 1):
        before = [one for one in transcript.messages[:start] if not _was_left(one)]
        mark = str(number)
        following = options.name if number == len(runs) else _named(options.name, str(number + 1))
        one = _Trajectory(
            transcript._replace(children=()),
            options._replace(name=_named(options.name, mark)),
            copied={message.id for message in before},
            version=mark,
            following=following,
        )
        yield Earlier(mark, one.pieces([*before, *transcript.messages[start:end]], "\n"))


def _named(name: str, mark: str) -> str:
    stem, dot, ending = name.partition(".atif.json")
    return f"{stem}.{mark}{dot}{ending}" if dot else f"{name}.{mark}"


def _original(transcript: Transcript, options: FormatOptions) -> str | None:
    if transcript.conversation.source != SOURCE or options.original is None:
        return None
    document = options.original()
    return None if document is None else document.decode("utf-8", "replace")


def _was_left(message: Message) -> bool:
    return message.abandoned or message.replaced_by is not None


def _left_runs(messages: Sequence[Message], options: FormatOptions) -> list[tuple[int, int]]:
    """Where stretches of messages begin and end that the newest version does not have."""
    runs: list[tuple[int, int]] = []
    open_at: int | None = None
    for place, message in enumerate(messages):
        if message.display == "hidden" and not options.everything:
            continue
        if _was_left(message):
            open_at = place if open_at is None else open_at
        elif open_at is not None:
            runs.append((open_at, place))
            open_at = None
    if open_at is not None:
        runs.append((open_at, len(messages)))
    return runs


@dataclass
class _Trajectory:
    """One trajectory while it is written."""

    transcript: Transcript
    options: FormatOptions
    #: Messages that another trajectory has as well.
    copied: set[str] = field(default_factory=set)
    #: Which earlier version it is; empty for the newest.
    version: str = ""
    #: The document that goes on with it.
    following: str = ""
    steps: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)

    def pieces(self, messages: Sequence[Message], end: str = "") -> Iterator[str]:
        about = self.transcript.conversation
        shown = [one for one in messages if self.options.everything or one.display != "hidden"]
        self.counts["messages_left_out"] = len(messages) - len(shown)
        self.copied |= self._copied_from_parent(shown)
        yield _opened(self._head())
        yield ',"steps":['
        for step in self._steps(shown):
            self.steps += 1
            comma = "," if self.steps > 1 else ""
            yield comma + line({"step_id": self.steps, **step})
        yield "]"
        children = [child for child in self.transcript.children if child.messages]
        if children:
            yield ',"subagent_trajectories":['
            for number, child in enumerate(children):
                yield "," if number else ""
                told = [one for one in child.messages if not _was_left(one)]
                yield from _Trajectory(child, self.options).pieces(told)
            yield "]"
        yield "," + line(self._tail(about, len(messages), len(children)))[1:] + end

    # ── around the steps ──

    def _head(self) -> dict[str, Any]:
        about = self.transcript.conversation
        agent: dict[str, Any] = {"name": about.source, "version": _UNTOLD}
        if about.models:
            agent["model_name"] = about.models[0]
        mark = f"#{self.version}" if self.version else ""
        return {
            "schema_version": VERSION,
            "session_id": about.native_id,
            "trajectory_id": about.id + mark,
            "agent": agent,
        }

    def _tail(self, about: Conversation, messages: int, children: int) -> dict[str, Any]:
        counts = dict(self.counts)
        counts["subagent_trajectories"] = children
        if not self.version:
            left = sum(map(_was_left, self.transcript.messages))
            counts["messages_in_earlier_versions"] = left
        found: dict[str, Any] = {
            "final_metrics": _totals(about.usage, self.steps),
            "extra": {
                "rireki": _facts(about),
                "completeness": {
                    "messages": messages,
                    "steps": self.steps,
                    **{name: count for name, count in counts.items() if count},
                },
                "conversion_warnings": self.warnings,
            },
        }
        if self.following:
            found["continued_trajectory_ref"] = self.following
        return found

    def _warn(self, sentence: str) -> None:
        self.warnings.append(sentence)
        if self.options.note is not None and not self.version:
            self.options.note(f"atif: {sentence}")

    def _copied_from_parent(self, messages: Sequence[Message]) -> set[str]:
        """What a fork began with: the messages that its parent has too, word for word."""
        forks = [
            link.id
            for link in self.transcript.conversation.links
            if link.kind == "fork" and link.side == "parent"
        ]
        if not forks or self.options.messages_of is None or self.version:
            return set()
        held = {_fingerprint(one) for id in forks for one in self.options.messages_of(id)}
        found: set[str] = set()
        for message in messages:
            if _fingerprint(message) not in held:
                break
            found.add(message.id)
        return found

    # ── the steps ──

    def _steps(self, messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
        results = results_by_call(messages)
        started = {
            link.call_id: link
            for link in self.transcript.conversation.links
            if link.kind == "subagent" and link.side == "child" and link.call_id
        }
        for message in messages:
            for number, parts in enumerate(_stretches(message.parts)):
                yield from self._step(message, parts, results, started, number == 0)

    def _step(
        self,
        message: Message,
        parts: Sequence[Part],
        results: PairedResults,
        started: dict[str, Link],
        is_first: bool,
    ) -> Iterator[dict[str, Any]]:
        calls = [part for part in parts if isinstance(part, ToolCall)]
        alone = [
            part
            for part in parts
            if isinstance(part, ToolResult) and (message.id, part.call_id) in results.alone
        ]
        said = [part for part in parts if not isinstance(part, ToolCall | ToolResult)]
        if any(isinstance(part, ToolResult) for part in parts):
            # A picture behind a result is what the tool returned: it stands there.
            said = [part for part in said if not isinstance(part, Attachment) or alone]
        is_agent = message.author == "agent"
        if not said and not calls and not alone and (parts or not is_first):
            return
        step = self._bare(message, _SOURCES[message.author], said)
        if calls and not is_agent:
            # Only steps of the agent may call: what a program or a person ran is one without a model.
            if said:
                yield step
            step = self._bare(message, "agent", [])
            step["llm_call_count"] = 0
        if is_agent and is_first and message.usage is not None:
            step["metrics"] = _metrics(message.usage)
        observed = [self._unmatched(message, part) for part in alone]
        if calls:
            step["tool_calls"] = [self._call(message, call, n) for n, call in enumerate(calls)]
            first: dict[str, int] = {}
            for n, call in enumerate(calls):
                # An id that was used twice has its results once.
                if first.setdefault(call.call_id, n) == n:
                    link = started.get(call.call_id)
                    observed += self._observed(message, call, n, results, link)
        if observed:
            step["observation"] = {"results": observed}
        yield step

    def _bare(self, message: Message, source: str, said: Sequence[Part]) -> dict[str, Any]:
        step: dict[str, Any] = {}
        if message.at:
            step["timestamp"] = message.at
        step["source"] = source
        step["message"] = self._content(message, said, thinking=source != "agent")
        if source == "agent":
            if message.model:
                step["model_name"] = message.model
            thoughts = [part.text for part in said if isinstance(part, Thinking)]
            if thoughts:
                step["reasoning_content"] = "\n\n".join(thoughts)
        if message.id in self.copied:
            step["is_copied_context"] = True
            self.counts["copied_steps"] += 1
        step["extra"] = self._extra(message, said)
        return step

    def _content(self, message: Message, said: Sequence[Part], thinking: bool) -> Any:
        """Words as a string; with pictures among them, what came in its order."""
        found: list[dict[str, Any]] = []
        for part in said:
            if isinstance(part, Text | Notice) or (thinking and isinstance(part, Thinking)):
                found.append({"type": "text", "text": part.text})
            elif isinstance(part, Attachment):
                found.append(self._attachment(message, part))
        if any(one["type"] != "text" for one in found):
            return found
        return "\n\n".join(one["text"] for one in found)

    def _attachment(self, message: Message, part: Attachment) -> dict[str, Any]:
        self.counts["attachments"] += 1
        ask = self.options.attachment_bytes
        data = ask(part) if ask is not None else None
        if data and part.media_type in _PICTURES:
            path = f"data:{part.media_type};base64,{base64.b64encode(data).decode()}"
            return {"type": "image", "source": {"media_type": part.media_type, "path": path}}
        why = "its bytes are not archived" if data is None else "the format takes pictures only"
        what = part.name or part.media_type
        self.counts["attachments_named_only"] += 1
        self._warn(f"message {message.id}: the attachment {what} is only named: {why}")
        return {"type": "text", "text": f"[attachment: {what}]"}

    def _extra(self, message: Message, said: Sequence[Part]) -> dict[str, Any]:
        found: dict[str, Any] = {"message": message.id}
        if message.author in ("tool", "harness"):
            found["author"] = message.author
        if message.display != "bubble":
            found["display"] = message.display
        if message.label:
            found["label"] = message.label
        if message.turn is not None:
            found["turn"] = message.turn
        if message.upstream == "gone":
            found["upstream"] = "gone"
        unknown = [part for part in said if isinstance(part, Unknown)]
        if unknown:
            self.counts["parts_not_understood"] += len(unknown)
            found["not_understood"] = unknown
        return found

    def _call(self, message: Message, call: ToolCall, number: int) -> dict[str, Any]:
        self.counts["tool_calls"] += 1
        found: dict[str, Any] = {
            "tool_call_id": _call_id(message, call, number),
            "function_name": call.name,
            "arguments": call.arguments,
        }
        if call.arguments is None:
            found["arguments"] = {}
        elif not isinstance(call.arguments, dict):
            found["arguments"] = {"input": call.arguments}
            self._warn(f"call {call.call_id}: its arguments were no object; they are its `input`")
        return found

    def _observed(
        self,
        message: Message,
        call: ToolCall,
        number: int,
        results: PairedResults,
        link: Link | None,
    ) -> Iterator[dict[str, Any]]:
        id = _call_id(message, call, number)
        placed = results.under.get((message.id, call.call_id), [])
        reference = {"subagent_trajectory_ref": [{"trajectory_id": link.id}]} if link else {}
        for one in placed:
            yield {"source_call_id": id, **self._result(one), **reference}
            reference = {}
        if not placed:
            self.counts["tool_calls_without_result"] += 1
            if reference:
                yield {"source_call_id": id, **reference}

    def _result(self, placed: Placed) -> dict[str, Any]:
        self.counts["tool_results"] += 1
        result, message = placed.result, placed.message
        pictures = [self._attachment(message, part) for part in _behind(message.parts, result)]
        content: Any = result.output
        if pictures:
            content = [{"type": "text", "text": result.output}] if result.output else []
            content += pictures
        extra: dict[str, Any] = {"message": message.id}
        if result.status != "ok":
            extra["status"] = result.status
        if message.at:
            extra["timestamp"] = message.at
        return {"content": content, "extra": extra}

    def _unmatched(self, message: Message, part: ToolResult) -> dict[str, Any]:
        self.counts["tool_results_without_call"] += 1
        self._warn(f"message {message.id}: no call has the id of the result {part.call_id}")
        extra = {"call_id": part.call_id, "status": part.status}
        return {"content": part.output, "extra": extra}


def _opened(value: dict[str, Any]) -> str:
    """A JSON object that goes on."""
    return line(value)[:-1]


def _stretches(parts: Sequence[Part]) -> list[list[Part]]:
    """A step says what it says before it calls: words behind a call begin another."""
    found: list[list[Part]] = [[]]
    for part in parts:
        if isinstance(part, Text | Thinking) and any(isinstance(p, ToolCall) for p in found[-1]):
            found.append([])
        found[-1].append(part)
    return found


def _behind(parts: Sequence[Part], result: ToolResult) -> Iterator[Attachment]:
    """The attachments between a result and the next."""
    place = next(n for n, part in enumerate(parts) if part is result)
    for part in parts[place + 1 :]:
        if isinstance(part, ToolResult):
            return
        if isinstance(part, Attachment):
            yield part


def _call_id(message: Message, call: ToolCall, number: int) -> str:
    return call.call_id or f"{message.id}.{number + 1}"


def _fingerprint(message: Message) -> str:
    return line([message.author, message.parts])


def _metrics(usage: Usage) -> dict[str, Any]:
    """ATIF counts what came from the cache among the tokens of the prompt."""
    read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    found: dict[str, Any] = {
        "prompt_tokens": read,
        "completion_tokens": usage.output_tokens,
        "cached_tokens": usage.cache_read_tokens,
    }
    extra = _usage_extra(usage)
    return {**found, "extra": extra} if extra else found


def _usage_extra(usage: Usage) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    if usage.cache_write_tokens:
        extra["cache_write_tokens"] = usage.cache_write_tokens
    if usage.lower_bound:
        extra["lower_bound"] = True
    return extra


def _totals(usage: Usage | None, steps: int) -> dict[str, Any]:
    found: dict[str, Any] = {"total_steps": steps}
    if usage is not None:
        told = _metrics(usage)
        found |= {
            "total_prompt_tokens": told["prompt_tokens"],
            "total_completion_tokens": told["completion_tokens"],
            "total_cached_tokens": told["cached_tokens"],
        }
        if "extra" in told:
            found["extra"] = told["extra"]
    return found


def _facts(about: Conversation) -> dict[str, Any]:
    """What is known of the conversation as a whole."""
    found: dict[str, Any] = {"version": __version__, "id": about.id, "source": about.source}
    for name in ("project", "title", "started_at", "updated_at", "nature", "upstream"):
        if value := getattr(about, name):
            found[name] = value
    if about.times_from == "rireki":
        found["times_from"] = "rireki"
    if about.links:
        found["links"] = about.links
    if about.troubles:
        found["troubles"] = about.troubles
    return found
