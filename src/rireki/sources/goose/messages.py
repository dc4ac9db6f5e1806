"""What the messages of a session say: rows of the database, or lines of an older file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

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
    Unknown,
)
from rireki.model.strand import Strand
from rireki.model.times import from_iso, from_unix
from rireki.sources.kit.fields import get, items, number, string, words
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.records import DecodedLine, records_of
from rireki.sources.kit.rows import ROWS
from rireki.sources.kit.rules import TextRule

__all__ = ["interpret"]

_TASK = TextRule("task of a sub-agent", "", "", display="bubble")
_SCHEDULED = TextRule("scheduled", "", "", display="bubble")
_NOT_SHOWN = TextRule("not shown", "for the model", "", display="fold")
#: In which sessions nobody types.
_UNTYPED = {"sub_agent": _TASK, "scheduled": _SCHEDULED, "hidden": _NOT_SHOWN}
_UNNAMED = ("CLI Session", "New Chat", "New Session")
#: Questions whether a tool may run: their answer is the result.
_SILENT = ("toolConfirmationRequest", "actionRequired")


def interpret(source: str, id: str, strands: Sequence[Strand]) -> list[Reading]:
    builder = ConversationBuilder(source, id, strands)
    session = _Session(builder)
    said: list[_Said] = []
    # The database comes last: it took over what files had.
    for strand in sorted(strands, key=lambda one: one.role == ROWS):
        if strand.role == ROWS:
            for line in records_of(strand, builder.troubles, "sessions"):
                session.describe(line.value)
            said += [_row(line) for line in records_of(strand, builder.troubles, "messages")]
        elif strand.role == "main":
            for line in records_of(strand, builder.troubles):
                if isinstance(line.value, dict) and "role" not in line.value:
                    session.describe(line.value)
                else:
                    said.append(_line(line))
    for one in _once(said):
        session.take(one)
    builder.join_beginnings()
    return [builder.reading()] if builder.entries or builder.troubles or session.about else []


class _Said(NamedTuple):
    """A message, wherever it stood."""

    line: DecodedLine
    id: str
    at: str | None
    role: str
    content: Any
    #: Whether the person, and the model, were shown it.
    seen: bool
    sent: bool

    @property
    def place(self) -> str:
        return self.line.refs[0].lane if self.line.refs else ""


def _row(line: DecodedLine) -> _Said:
    row = line.value
    at = from_unix(get(row, "created_timestamp")) or from_iso(line.text("timestamp"))
    id = line.text("message_id") or f"row-{words(get(row, 'id'))}"
    content = get(row, "content_json")
    return _said(line, id, at, content, get(row, "metadata_json"))


def _line(line: DecodedLine) -> _Said:
    value = line.value
    id = line.text("id") or f"line-{line.position}"
    at = from_unix(get(value, "created"))
    return _said(line, id, at, get(value, "content"), get(value, "metadata"))


def _said(line: DecodedLine, id: str, at: str | None, content: Any, metadata: Any) -> _Said:
    seen = get(metadata, "userVisible") is not False
    sent = get(metadata, "agentVisible") is not False
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return _Said(line, id, at, line.text("role"), blocks, seen, sent)


def _once(said: Sequence[_Said]) -> list[_Said]:
    """What stands in the older file as well, or was written anew by a compaction, is told once."""
    found: dict[Any, _Said] = {}
    for place, one in enumerate(said):
        key: Any = (one.at, one.role, words(one.content)) if one.at else place
        known = found.get(key)
        if known is None:
            found[key] = one
        elif known.line.present and one.line.present and known.place == one.place:
            found[place] = one
        elif one.line.present:
            found[key] = one
    return list(found.values())


class _Session:
    def __init__(self, builder: ConversationBuilder) -> None:
        self.builder = builder
        self.about: dict[str, Any] = {}
        self.model: str | None = None
        #: Whose the prompts are, where nobody types.
        self.untyped: TextRule | None = None
        #: The model is no longer sent what was said before, and no summary came yet.
        self.compacted = False

    def describe(self, about: Any) -> None:
        """What is said of the session itself; the newest counts, and the database before a file."""
        builder = self.builder
        self.about = about = {**self.about, **about} if isinstance(about, dict) else self.about
        names = [string(about, name) for name in ("name", "description")]
        named = [one for one in names if one and one != builder.native_id]
        # Before the model found a name, it has one like all others.
        builder.title = next((one for one in named if one not in _UNNAMED), None)
        builder.note_directory(string(about, "working_dir"))
        for moment in ("created_at", "updated_at"):
            builder.note_time(about.get(moment))
        self.model = string(about.get("model_config_json"), "model_name") or None
        self.untyped = _UNTYPED.get(string(about, "session_type"))
        if string(about, "session_type") == "sub_agent":
            builder.nature = "subagent"
        self._link(string(about, "parent_session_id"))
        self._use()

    def _link(self, parent: str) -> None:
        own = LinkToken("subagent", "offer", f"session:{self.builder.native_id}")
        self.builder.link_tokens = [own]
        if parent:
            self.builder.link_tokens.append(LinkToken("subagent", "want", f"session:{parent}"))

    def _use(self) -> None:
        """Of the whole session; what only the last answer took, where nothing else is told."""
        for prefix in ("accumulated_", ""):
            read = number(self.about, f"{prefix}input_tokens")
            written = number(self.about, f"{prefix}output_tokens")
            if read or written:
                usage = Usage(read, written, lower_bound=not prefix)
                self.builder.note_usage(self.builder.native_id, self.model or "unknown", usage)
                return

    # ── messages ──

    def take(self, said: _Said) -> None:
        self.builder.entries += 1
        self.compacted |= said.seen and not said.sent
        if not isinstance(said.content, list) or said.role not in ("user", "assistant"):
            what = said.role or "message"
            self.builder.unknown(said.line, said.id, what, at=said.at)
            return
        self._take_blocks(said)

    def _take_blocks(self, said: _Said) -> None:
        spoken: list[Part] = []
        results: list[Part] = []
        for position, block in enumerate(said.content):
            match string(block, "type"):
                case "toolResponse":
                    results += self._result(block)
                case "systemNotification" | "summarizationRequested" | "contextLengthExceeded":
                    self._notice(said, block, position)
                case kind if kind not in _SILENT:
                    spoken += self._part(block)
        if results:
            name = f"{said.id}-results" if spoken else said.id
            self.builder.result(said.line, name, results, at=said.at)
        if spoken:
            self._say(said, spoken)

    def _say(self, said: _Said, parts: Sequence[Part]) -> None:
        line, id, at = said.line, said.id, said.at
        if not said.seen:
            self._aside(said, parts)
        elif said.role == "assistant":
            self.builder.answer(line, id, parts, at=at, model=self.model)
        else:
            self.builder.ask(line, id, parts, rule=self.untyped, at=at)

    def _aside(self, said: _Said, parts: Sequence[Part]) -> None:
        """For the model alone: the summary in place of what it is no longer sent, or instructions."""
        line, id, at = said.line, said.id, said.at
        if self.compacted:
            self.compacted = False
            rule, label = "summary", "context compacted"
            self.builder.say(line, id, "harness", "divider", parts, rule, label=label, at=at)
        else:
            self.builder.ask(line, id, parts, rule=_NOT_SHOWN, at=at)

    def _notice(self, said: _Said, block: Any, position: int) -> None:
        text = string(block, "msg") or string(block, "message") or words(block)
        parts = [Notice(text)]
        name, rule = f"{said.id}-{position}", "notice"
        self.builder.say(said.line, name, "harness", "chip", parts, rule, label=rule, at=said.at)

    # ── blocks ──

    def _part(self, block: Any) -> list[Part]:
        match string(block, "type"):
            case "text":
                return [Text(text)] if (text := string(block, "text")) else []
            case "thinking" | "reasoning":
                text = string(block, "thinking") or string(block, "text")
                return [Thinking(text)] if text else []
            case "redactedThinking":
                # What the provider keeps to itself leaves no words.
                return []
            case "toolRequest" | "frontendToolRequest":
                return [_call(block)]
            case "image":
                return [self._picture(block)]
            case kind:
                return [Unknown(kind or "block", block)]

    def _picture(self, block: Any) -> Part:
        kind = string(block, "mimeType") or "image/png"
        return self.builder.pictures.add_base64(get(block, "data"), kind) or Attachment(kind)

    def _result(self, block: Any) -> list[Part]:
        result = get(block, "toolResult")
        value = get(result, "value")
        content = value if isinstance(value, list) else items(value, "content")
        failed = string(result, "status") == "error" or get(value, "isError") is True
        texts = [_output(one) for one in content]
        output = "\n".join(filter(None, texts)) or words(get(result, "error"))
        status: ResultStatus = "error" if failed else "ok"
        pictures = [self._picture(one) for one in content if string(one, "type") == "image"]
        return [ToolResult(string(block, "id"), status, output), *pictures]


def _output(one: Any) -> str:
    """A piece of a result: a text, a resource, or what is not understood, as it is."""
    if string(one, "type") in ("text", "image"):
        return string(one, "text")
    return string(one, "text") or words(get(one, "resource") or one)


def _call(block: Any) -> ToolCall:
    """One that the model spelled wrong has an error in place of its name."""
    call = get(block, "toolCall")
    value = get(call, "value")
    if isinstance(value, dict):
        return ToolCall(string(block, "id"), string(value, "name"), value.get("arguments"))
    return ToolCall(string(block, "id"), "(not understood)", get(call, "error"))
