"""A conversation as traces of OpenTelemetry: OTLP/JSON with the conventions for generative AI.

A trace per turn: `invoke_agent` around it, a `chat` per answer of a model, an `execute_tool` per call,
in which a sub-agent's spans lie. Ids are made of the conversation's own, so that whoever sends it twice
sends the same spans. Knows no network.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from rireki import __version__
from rireki.model.calls import PairedResults, Placed, results_by_call
from rireki.model.conversation import Conversation
from rireki.model.message import Message, Usage
from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from rireki.model.times import to_datetime
from rireki.show.json import line

if TYPE_CHECKING:
    from rireki.show.formats import FormatOptions
    from rireki.show.transcript import Transcript

__all__ = ["SCHEMA", "requests", "write"]

#: The conventions that names and values follow: the last release that had them all.
SCHEMA = "https://opentelemetry.io/schemas/1.41.0"
#: As OTLP numbers them.
_INTERNAL, _CLIENT, _ERROR = 1, 3, 2
#: How much goes into one request to a collector, which may refuse more than 4 MB.
LARGEST = 2 << 20
#: Providers by how the names of their models begin; elsewhere the agent is named.
_PROVIDERS = {
    "claude": "anthropic",
    "gpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "codex": "openai",
    "gemini": "gcp.gemini",
    "grok": "x_ai",
    "deepseek": "deepseek",
    "mistral": "mistral_ai",
    "command": "cohere",
    "kimi": "moonshot_ai",
}
_ROLES = {"person": "user", "agent": "assistant", "tool": "tool", "harness": "system"}


def write(transcript: Transcript, options: FormatOptions) -> Iterator[str]:
    """One export request with all spans, in one line."""
    before, after = _envelope(transcript.conversation)
    yield before
    for number, span in enumerate(_spans(transcript, options)):
        yield ("," if number else "") + line(span)
    yield after + "\n"


def requests(transcript: Transcript, options: FormatOptions) -> Iterator[bytes]:
    """The same as bodies of requests of a size that collectors take."""
    before, after = _envelope(transcript.conversation)
    waiting: list[str] = []
    size = 0
    for span in _spans(transcript, options):
        told = line(span)
        if waiting and size + len(told) > LARGEST:
            yield (before + ",".join(waiting) + after).encode()
            waiting, size = [], 0
        waiting.append(told)
        size += len(told)
    if waiting:
        yield (before + ",".join(waiting) + after).encode()


def _envelope(about: Conversation) -> tuple[str, str]:
    facts = {
        "service.name": about.source,
        "telemetry.sdk.name": "rireki",
        "telemetry.sdk.language": "python",
        "telemetry.sdk.version": __version__,
        "rireki.conversation.id": about.id,
        "rireki.conversation.title": about.title,
        "rireki.project": about.project,
        "rireki.semconv.schema_url": SCHEMA,
    }
    resource = line({"attributes": _attributes(facts)})
    scope = line({"name": "rireki", "version": __version__})
    before = f'{{"resourceSpans":[{{"resource":{resource},"scopeSpans":[{{"scope":{scope},"spans":['
    return before, f'],"schemaUrl":"{SCHEMA}"}}],"schemaUrl":"{SCHEMA}"}}]}}'


# ── Spans ──


class _Span(NamedTuple):
    """Where spans of one trace hang."""

    trace: str
    id: str


class _Times(NamedTuple):
    """When a span began and ended, in nanoseconds; `told` by the source, or worked out."""

    start: int
    end: int
    told: bool


def _spans(transcript: Transcript, options: FormatOptions) -> Iterator[dict[str, Any]]:
    yield from _Spans(transcript, options).all()


class _Spans:
    """The spans of one conversation, a turn after the other."""

    def __init__(
        self, transcript: Transcript, options: FormatOptions, below: _Span | None = None
    ) -> None:
        self.about = transcript.conversation
        self.options = options
        #: The call that started this sub-agent.
        self.below = below
        self.messages = [
            one
            for one in transcript.messages
            if one.replaced_by is None and (options.everything or one.display != "hidden")
        ]
        self.results: PairedResults = results_by_call(self.messages)
        links = {
            link.id: link.call_id
            for link in self.about.links
            if link.kind == "subagent" and link.side == "child"
        }
        parts = [part for one in self.messages for part in one.parts]
        calls = {part.call_id for part in parts if isinstance(part, ToolCall) and part.call_id}
        children = [child for child in transcript.children if child.messages]
        #: Sub-agents by the call that started them; None: nobody knows which.
        self.children: dict[str | None, list[Transcript]] = {}
        for child in children:
            call = links.get(child.conversation.id)
            self.children.setdefault(call if call in calls else None, []).append(child)
        first = next((one.at for one in self.messages if one.at), None)
        self.clock = _nanoseconds(first or self.about.started_at) or 0

    def all(self) -> Iterator[dict[str, Any]]:
        turn = 0
        turns = []
        for message in self.messages:
            turn = message.turn if message.turn is not None else turn
            turns.append((turn, message))
        for number, some in groupby(turns, lambda one: one[0]):
            yield from self._turn(number, [message for _, message in some])
        for child in self.children.get(None, ()):
            yield from _Spans(child, self.options).all()

    def _turn(self, number: int, messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
        key = f"{self.about.id}\0{number}\0{messages[0].id}"
        trace = self.below.trace if self.below else sha256(key.encode()).hexdigest()[:32]
        root = _Span(trace, _span_id(key, "turn"))
        times = self._times(messages[0], self._last(messages))
        asked = [_as_message(one, self.options) for one in messages if one.author == "person"]
        answers = [one for one in messages if one.author == "agent" and not one.abandoned]
        facts: dict[str, Any] = {
            **self._common("invoke_agent", next((a.model for a in answers if a.model), None)),
            "gen_ai.agent.name": self.about.source,
            "gen_ai.agent.id": self.about.id if self.below else None,
            "rireki.turn": number,
            **_usage(_sum([one.usage for one in answers if one.usage is not None])),
            "gen_ai.input.messages": line(asked) if asked else None,
            "gen_ai.output.messages": line([_answer(answers[-1], self.options)])
            if answers
            else None,
        }
        span = self._span(root, f"invoke_agent {self.about.source}", _INTERNAL, times, facts)
        if self.below:
            span["parentSpanId"] = self.below.id
        events = [event for one in messages for event in self._events(one)]
        if events:
            span["events"] = events
        yield span
        before: list[Message] = []
        for message in messages:
            if message.author == "agent":
                yield self._chat(root, message, before)
                before = []
            else:
                before.append(message)
            for part in message.parts:
                if isinstance(part, ToolCall):
                    yield from self._tool(root, message, part)

    def _chat(self, root: _Span, message: Message, before: Sequence[Message]) -> dict[str, Any]:
        """An answer, and what was given to the model since the one before."""
        start = before[-1] if before else message
        name = f"chat {message.model}" if message.model else "chat"
        told = [_as_message(one, self.options) for one in before]
        facts = {
            **self._common("chat", message.model),
            "gen_ai.response.id": message.id,
            "gen_ai.response.finish_reasons": [_reason(message)],
            **_usage(message.usage),
            "gen_ai.input.messages": line(told) if told else None,
            "gen_ai.output.messages": line([_answer(message, self.options)]),
            "rireki.message.upstream": "gone" if message.upstream == "gone" else None,
            "rireki.message.abandoned": True if message.abandoned else None,
        }
        span = _Span(root.trace, _span_id(self.about.id, message.id))
        told_span = self._span(span, name, _CLIENT, self._times(start, message), facts)
        told_span["parentSpanId"] = root.id
        return told_span

    def _tool(self, root: _Span, message: Message, call: ToolCall) -> Iterator[dict[str, Any]]:
        placed = self.results.under.get((message.id, call.call_id), [])
        failed = any(one.result.status != "ok" for one in placed)
        facts = {
            **self._common("execute_tool", None),
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": call.call_id or None,
            "gen_ai.tool.call.arguments": line(call.arguments),
            "gen_ai.tool.call.result": _output(placed) if placed else None,
            "error.type": placed[-1].result.status if failed else None,
            "rireki.tool.unanswered": None if placed else True,
        }
        own = _Span(root.trace, _span_id(self.about.id, message.id, call.call_id))
        times = self._times(message, placed[-1].message if placed else message)
        name = f"execute_tool {call.name}"
        span = self._span(own, name, _INTERNAL, times, facts)
        span["parentSpanId"] = root.id
        if failed:
            span["status"] = {"code": _ERROR}
        yield span
        for child in self.children.pop(call.call_id or "", []):
            yield from _Spans(child, self.options, own).all()

    def _events(self, message: Message) -> Iterator[dict[str, Any]]:
        """What the program said about the conversation, and what has no span of its own."""
        lonely = [
            part
            for part in message.parts
            if isinstance(part, ToolResult) and (message.id, part.call_id) in self.results.alone
        ]
        said = [part.text for part in message.parts if isinstance(part, Text | Notice)]
        if message.author in ("person", "agent") or not (said or lonely):
            return
        facts = {
            "rireki.message.id": message.id,
            "rireki.message.label": message.label,
            "rireki.message.text": "\n\n".join([*said, *(part.output for part in lonely)]),
        }
        kind = "rireki.result_without_call" if lonely else "rireki.notice"
        moment = self._times(message, message).start
        yield {"name": kind, "timeUnixNano": str(moment), "attributes": _attributes(facts)}

    # ── what all have ──

    def _common(self, operation: str, model: str | None) -> dict[str, Any]:
        model = model or next(iter(self.about.models), None)
        return {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": _provider(model) or self.about.source,
            "gen_ai.conversation.id": self.about.id,
            **({"gen_ai.request.model": model, "gen_ai.response.model": model} if model else {}),
        }

    def _span(
        self, own: _Span, name: str, kind: int, times: _Times, facts: dict[str, Any]
    ) -> dict[str, Any]:
        if not times.told:
            facts = {**facts, "rireki.times": "not told by the source"}
        return {
            "traceId": own.trace,
            "spanId": own.id,
            "name": name,
            "kind": kind,
            "startTimeUnixNano": str(times.start),
            "endTimeUnixNano": str(times.end),
            "attributes": _attributes(facts),
        }

    def _times(self, first: Message, last: Message) -> _Times:
        """Where the source noted none, the last that was known."""
        start, end = _nanoseconds(first.at), _nanoseconds(last.at)
        begun = start if start is not None else end if end is not None else self.clock
        ended = max(begun, end if end is not None else begun)
        self.clock = max(self.clock, begun)
        return _Times(begun, ended, start is not None and end is not None)

    def _last(self, messages: Sequence[Message]) -> Message:
        return next((one for one in reversed(messages) if one.at), messages[-1])


def _span_id(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def _nanoseconds(at: str | None) -> int | None:
    moment = to_datetime(at or "")
    return None if moment is None else round(moment.timestamp() * 1000) * 1_000_000


def _provider(model: str | None) -> str | None:
    name = (model or "").lower().rpartition("/")[2]
    return next((known for word, known in _PROVIDERS.items() if name.startswith(word)), None)


# ── Values ──


def _attributes(facts: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": name, "value": _value(value)} for name, value in facts.items() if value is not None
    ]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        # 64 bits are a string in the JSON of protocol buffers.
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(one) for one in value]}}
    return {"stringValue": str(value)}


def _sum(usages: Sequence[Usage]) -> Usage | None:
    if not usages:
        return None
    return Usage(
        sum([one.input_tokens for one in usages]),
        sum([one.output_tokens for one in usages]),
        sum([one.cache_read_tokens for one in usages]),
        sum([one.cache_write_tokens for one in usages]),
    )


def _usage(usage: Usage | None) -> dict[str, Any]:
    """The conventions count what came from a cache, and went into it, among the input."""
    if usage is None:
        return {}
    read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "gen_ai.usage.input_tokens": read,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens or None,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens or None,
    }


def _output(placed: Sequence[Placed]) -> str:
    return "\n".join(one.result.output for one in placed)


def _reason(message: Message) -> str:
    return "tool_call" if any(isinstance(p, ToolCall) for p in message.parts) else "stop"


def _answer(message: Message, options: FormatOptions) -> dict[str, Any]:
    return {**_as_message(message, options), "finish_reason": _reason(message)}


def _as_message(message: Message, options: FormatOptions) -> dict[str, Any]:
    """A message as `gen_ai.input.messages` has it."""
    parts = [_as_part(part, options) for part in message.parts]
    return {"role": _ROLES[message.author], "parts": parts}


def _as_part(part: Part, options: FormatOptions) -> dict[str, Any]:
    if isinstance(part, Text | Notice):
        return {"type": "text", "content": part.text}
    if isinstance(part, Thinking):
        return {"type": "reasoning", "content": part.text}
    if isinstance(part, ToolCall):
        return {
            "type": "tool_call",
            "id": part.call_id,
            "name": part.name,
            "arguments": part.arguments,
        }
    if isinstance(part, ToolResult):
        return {"type": "tool_call_response", "id": part.call_id, "response": part.output}
    if isinstance(part, Attachment):
        return _media(part, options)
    return {"type": "rireki.not_understood", "what": part.what, "raw": part.raw}


def _media(part: Attachment, options: FormatOptions) -> dict[str, Any]:
    modality = part.media_type.partition("/")[0]
    modality = modality if modality in ("image", "video", "audio") else "document"
    data = options.attachment_bytes(part) if options.attachment_bytes is not None else None
    if data is None:
        name = part.name or part.digest
        return {"type": "file", "modality": modality, "file_id": name, "mime_type": part.media_type}
    content = base64.b64encode(data).decode()
    return {
        "type": "blob",
        "modality": modality,
        "mime_type": part.media_type,
        "content": content,
    }
