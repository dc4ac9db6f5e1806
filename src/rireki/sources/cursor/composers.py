"""Conversations of Cursor as readings: messages in the order of their headers, edited ones abandoned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rireki.model.conversation import LinkToken, Reading
from rireki.model.message import Usage
from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    ResultStatus,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from rireki.model.strand import Strand
from rireki.model.times import from_iso, from_ms
from rireki.sources.cursor.roles import COMPOSER, MEMBER, PANEL
from rireki.sources.kit.decode import json_in
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pending import RESULTS, ConversationBuilder
from rireki.sources.kit.records import DecodedLine, document_of, records_of
from rireki.sources.kit.vscode import path_of_uri

__all__ = ["read_composer", "read_panel"]

NAME = "cursor"
#: Of messages; the chats of 2023 and the first composers had words for them.
_PERSON, _AGENT = (1, "user"), (2, "ai")
#: Names of models that say nothing.
_ANY = ("", "default", "auto")
_STATUS: dict[str, ResultStatus] = {
    "error": "error",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "rejected": "cancelled",
}


@dataclass(slots=True)
class Bubble:
    """A piece of a conversation: a prompt, a thought, an answer, or a call with its result."""

    id: str
    value: Any
    line: DecodedLine
    #: What it was before, where it did not only grow.
    earlier: list[Any] = field(default_factory=list)
    abandoned: bool = False
    #: Whether the editor shows it.
    shown: bool = True

    @property
    def at(self) -> str | None:
        return _time(get(self.value, "createdAt"))

    def take(self, value: Any, line: DecodedLine) -> None:
        if not string(value, "text").startswith(string(self.value, "text")):
            self.earlier.append(self.value)
        present = self.line.present or line.present
        refs = [*self.line.refs, *line.refs]
        self.value, self.line = value, line._replace(present=present, refs=refs)


def _time(value: Any) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return from_ms(value)
    return from_iso(value)


def read_composer(id: str, strands: Sequence[Strand]) -> list[Reading]:
    rows = [strand for strand in strands if strand.role == COMPOSER]
    # At first, the list of a workspace had the messages, too.
    rows = rows or [strand for strand in strands if strand.role == MEMBER]
    builder = ConversationBuilder(NAME, id, rows)
    bubbles: dict[str, Bubble] = {}
    data: Any = None
    for strand in rows:
        data = _gather_rows(bubbles, strand, builder) or data
    ordered = _ordered(bubbles, data)
    if not ordered:
        return [builder.reading()] if builder.troubles else []
    entry = _catalog(rows, builder)
    _note_facts(builder, strands, data, entry, ordered)
    composer = _Composer(builder, data)
    for bubble in ordered:
        composer.say(bubble)
        composer.add_summary(bubble.id)
    composer.add_summary()
    builder.entries = len(ordered)
    builder.link_tokens = _links(id, data, ordered)
    return [builder.reading()]


# ── gathering ──


def _gather_rows(bubbles: dict[str, Bubble], strand: Strand, builder: ConversationBuilder) -> Any:
    """The messages in a strand, of all its versions; returns what the conversation says of itself."""
    data: Any = None
    if strand.role == MEMBER:
        data = document_of(strand, builder.troubles)
        _gather(bubbles, _inline(data), DecodedLine(data, 1, True, strand.present, []))
    for line in records_of(strand, builder.troubles, "composerData"):
        if isinstance(value := get(line.value, "value"), dict):
            data = value
            _gather(bubbles, _inline(value), line)
    for line in records_of(strand, builder.troubles, "bubbleId"):
        key, value = line.text("key"), get(line.value, "value")
        if value is not None:
            _gather(bubbles, [(key.rpartition(":")[2] or f"row-{line.position}", value)], line)
    return data


def _inline(data: Any) -> list[tuple[str, Any]]:
    """Messages that stand in the row of the conversation itself, as they did before 2025."""
    tabs = [one for tab in items(data, "tabs") for one in items(tab, "bubbles")]
    listed = [("", one) for one in (*items(data, "conversation"), *tabs)]
    mapped = get(data, "conversationMap")
    found = listed or (list(mapped.items()) if isinstance(mapped, dict) else [])
    return [
        (string(one, "bubbleId") or name or f"inline-{n}", one)
        for n, (name, one) in enumerate(found, 1)
    ]


def _gather(
    bubbles: dict[str, Bubble], found: Sequence[tuple[str, Any]], line: DecodedLine
) -> None:
    for id, value in found:
        if id in bubbles:
            bubbles[id].take(value, line)
        else:
            bubbles[id] = Bubble(id, value, line)


def _ordered(bubbles: dict[str, Bubble], data: Any) -> list[Bubble]:
    """As the headers say; what they do not name was edited away, and stands where its time puts it."""
    headers = items(data, "fullConversationHeadersOnly")
    names = [string(header, "bubbleId") for header in headers] or [id for id, _ in _inline(data)]
    for header in headers:
        known = bubbles.get(string(header, "bubbleId"))
        if known is not None:
            known.shown = get(header, "grouping", "isRenderable") is not False
    found = [bubbles[name] for name in dict.fromkeys(names) if name in bubbles]
    left = [bubble for id, bubble in bubbles.items() if id not in set(names)]
    if not names:
        return sorted(left, key=lambda bubble: bubble.at or "")
    for bubble in left:
        bubble.abandoned = True
        later = (n for n, one in enumerate(found) if bubble.at and one.at and one.at > bubble.at)
        found.insert(next(later, len(found)), bubble)
    return found


def _catalog(rows: Sequence[Strand], builder: ConversationBuilder) -> Any:
    entry: Any = None
    for strand in rows:
        for line in records_of(strand, builder.troubles, "catalog"):
            entry = line.value
    return entry


def _note_facts(
    builder: ConversationBuilder,
    strands: Sequence[Strand],
    data: Any,
    entry: Any,
    bubbles: Sequence[Bubble],
) -> None:
    listed = get(entry, "value") if isinstance(get(entry, "value"), dict) else entry
    builder.title = string(listed, "name") or string(data, "name") or None
    is_agent = get(entry, "isSubagent") in (1, True) or get(listed, "isSubagent") is True
    started = (line for strand in strands for line in records_of(strand, [], "parent"))
    if is_agent or any(started):
        builder.nature = "subagent"
    for name in ("createdAt", "lastUpdatedAt"):
        if at := _time(get(data, name)):
            builder.times.append(at)
    for told in (data, listed):
        uri = get(told, "workspaceIdentifier", "uri")
        builder.note_directory(string(uri, "fsPath") or path_of_uri(string(uri, "external")))
    for bubble in bubbles if not builder.directories else ():
        if not builder.directories:
            builder.note_directory(_directory(bubble.value))
    for strand in strands if not builder.directories else ():
        builder.note_directory(strand.project)


def _directory(value: Any) -> str:
    told = string(value, "workspaceProjectDir")
    uris = [path_of_uri(uri) for uri in items(value, "workspaceUris") if isinstance(uri, str)]
    return told or next(filter(None, uris), "")


def _links(id: str, data: Any, bubbles: Sequence[Bubble]) -> list[LinkToken]:
    """A conversation names the sub-agents it started; sometimes a call does, too."""
    tokens = [
        LinkToken("subagent", "want", f"composer:{id}"),
        LinkToken("subagent", "offer", f"session:{id}"),
    ]
    for child in items(data, "subComposerIds"):
        if isinstance(child, str) and child != id:
            calls = (get(bubble.value, "toolFormerData") for bubble in bubbles)
            call = next((string(one, "toolCallId") for one in calls if child in words(one)), None)
            tokens.append(LinkToken("subagent", "offer", f"composer:{child}", call or None))
    return tokens


# ── telling ──


class _Composer:
    """Says the messages of one conversation to a builder."""

    def __init__(self, builder: ConversationBuilder, data: Any) -> None:
        self.builder = builder
        self.data = data
        self._at = _time(get(data, "createdAt"))
        chosen = string(get(data, "modelConfig"), "modelName")
        self._model = chosen if chosen not in _ANY else None
        self._summed_up = False

    def say(self, bubble: Bubble) -> None:
        before = len(self.builder.flow)
        for value in (*bubble.earlier, bubble.value):
            self._say(bubble, value)
        for said in self.builder.flow[before:]:
            said.message.abandoned = bubble.abandoned
            if not bubble.shown and said.message.display == "bubble":
                said.message.display, said.message.label = "fold", "not shown by the editor"

    def _say(self, bubble: Bubble, value: Any) -> None:
        # Old messages have no times: they follow each other.
        self._at = at = _time(get(value, "createdAt")) or self._at
        match get(value, "type"):
            case kind if kind in _PERSON:
                self._ask(bubble, value, at)
            case kind if kind in _AGENT:
                self._answer(bubble, value, at)
            case kind:
                self.builder.unknown(bubble.line, bubble.id, f"type {words(kind)}", at=at)

    def _ask(self, bubble: Bubble, value: Any, at: str | None) -> None:
        parts = [*_text(value), *_attachments(value)]
        if self.builder.nature == "subagent":
            rule = "task of a sub-agent"
            asked = self.builder.say(
                bubble.line, bubble.id, "harness", "bubble", parts, rule, at=at, role="1"
            )
            asked.typed, asked.ends = True, False
        else:
            self.builder.ask(bubble.line, bubble.id, parts, at=at)

    def _answer(self, bubble: Bubble, value: Any, at: str | None) -> None:
        thought = string(get(value, "thinking"), "text")
        parts: list[Part] = [Thinking(thought)] if thought else []
        parts += _text(value)
        tool = get(value, "toolFormerData")
        if isinstance(tool, dict) and (string(tool, "name") or string(tool, "toolCallId")):
            parts.append(_call(bubble, tool))
        model = string(get(value, "modelInfo"), "modelName")
        model = model if model not in _ANY else self._model or ""
        if parts:
            said = self.builder.answer(bubble.line, bubble.id, parts, at=at, model=model or None)
            said.ends = isinstance(parts[-1], Text)
        if parts and isinstance(parts[-1], ToolCall) and (result := _result(parts[-1], tool)):
            name = f"{bubble.id}-result"
            said = self.builder.say(bubble.line, name, "tool", "fold", [result], RESULTS, at=at)
            said.ends = False
        self._count(bubble, value, model, at)
        if error := get(value, "errorDetails"):
            told = Notice(string(error, "message") or words(error), "error")
            name = f"{bubble.id}-error"
            self.builder.say(
                bubble.line, name, "harness", "chip", [told], "error", label="error", at=at
            ).ends = False

    def _count(self, bubble: Bubble, value: Any, model: str, at: str | None) -> None:
        """Tokens are noted with the last message of some turns: there were more."""
        counts = [get(value, "tokenCount", name) for name in ("inputTokens", "outputTokens")]
        read, written = (n if isinstance(n, int) and 0 < n < 1 << 53 else 0 for n in counts)
        if read or written:
            key = f"{self.builder.native_id}:{bubble.id}"
            tokens = Usage(read, written, lower_bound=True)
            self.builder.note_usage(key, model or "unknown", tokens, at)

    def add_summary(self, after: str = "") -> None:
        """What stands for the talk before it, where that became too long for the model."""
        summary = get(self.data, "latestConversationSummary")
        place = string(summary, "lastBubbleId")
        inner = get(summary, "summary")
        text = inner if isinstance(inner, str) else string(inner, "summary")
        if not text or self._summed_up or (after and after != place):
            return
        self._summed_up = True
        line = DecodedLine(summary, 0, True, self.builder.present, [])
        self.builder.say(
            *(line, "summary", "harness", "divider", [Text(text)], "summary"),
            label="context compacted",
        )


def _text(value: Any) -> list[Part]:
    text = _words(value)
    if not text and not get(value, "toolFormerData"):
        # Beside a call, they are what it changed.
        blocks = (string(block, "content") for block in items(value, "codeBlocks"))
        text = "\n\n".join(filter(None, blocks))
    return [Text(text)] if text else []


def _words(value: Any) -> str:
    text = string(value, "text") or string(value, "rawText")
    return text or _lexical(get(value, "richText")) or _lexical(get(value, "initText"))


def _lexical(value: Any) -> str:
    """The words of a text as the editor's input field has it, a line per paragraph."""
    tree = json_in(value)
    paragraphs = items(get(tree, "root"), "children")
    return "\n".join("".join(_leaves(paragraph)) for paragraph in paragraphs).strip()


def _leaves(node: Any) -> Iterator[str]:
    stack = [node]
    while stack:
        one = stack.pop()
        if string(one, "type") == "linebreak":
            yield "\n"
        yield string(one, "text")
        stack += reversed(items(one, "children"))


def _attachments(value: Any) -> Iterator[Part]:
    for image in items(value, "images"):
        name = string(image, "path") or string(image, "uuid")
        yield Attachment("image/*", name=name or words(image)[:200])
    for file in items(get(value, "context"), "fileSelections"):
        uri = get(file, "uri")
        path = string(uri, "fsPath") or string(uri, "path") or path_of_uri(words(uri))
        if path:
            yield Attachment("application/octet-stream", name=path)


def _call(bubble: Bubble, tool: Any) -> ToolCall:
    given = get(tool, "rawArgs") or get(tool, "params")
    name = string(tool, "name") or words(get(tool, "tool"))
    return ToolCall(string(tool, "toolCallId") or bubble.id, name, json_in(given))


def _result(call: ToolCall, tool: Any) -> ToolResult | None:
    """What a tool gave back, which stands with the call; None while it runs."""
    state, result = string(tool, "status"), get(tool, "result")
    if "rejected" in (string(tool, "userDecision"), string(get(tool, "additionalData"), "status")):
        state = "rejected"
    if state in ("loading", "") and not result:
        return None
    value = json_in(result)
    output = next(
        (found for name in ("output", "contents", "result") if (found := string(value, name))),
        words(value),
    )
    error = string(get(tool, "error"), "message") or string(value, "error")
    code = get(value, "exitCode")
    failed = isinstance(code, int) and code != 0
    return ToolResult(
        call.call_id, _STATUS.get(state, "error" if failed else "ok"), output or error
    )


# ── the chat panel of 2023 and 2024 ──


def read_panel(id: str, strands: Sequence[Strand]) -> list[Reading]:
    """A tab of the panel; its messages have neither ids nor times."""
    tabs = [strand for strand in strands if strand.role == PANEL]
    builder = ConversationBuilder(NAME, id, tabs)
    for strand in tabs:
        builder.note_directory(strand.project)
        value = document_of(strand, builder.troubles)
        builder.title = string(value, "chatTitle") or builder.title
        if at := _time(get(value, "lastSendTime")):
            builder.times.append(at)
        for number, bubble in enumerate(items(value, "bubbles"), 1):
            _panel_message(builder, DecodedLine(bubble, number, True, strand.present, []))
    builder.entries = len(builder.flow)
    return [builder.reading()] if builder.flow or builder.troubles else []


def _panel_message(builder: ConversationBuilder, line: DecodedLine) -> None:
    name = line.text("id") or f"m{line.position}"
    text = _words(line.value)
    match line.text("type"):
        case "user":
            builder.ask(line, name, [Text(text)])
        case "ai":
            model = line.text("modelType")
            builder.answer(line, name, [Text(text)], model=model if model not in _ANY else None)
        case kind:
            builder.unknown(line, name, kind or "message")
