"""What the rows of a session say."""

from __future__ import annotations

from collections.abc import Sequence
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
    Unknown,
)
from rireki.model.strand import Strand
from rireki.model.times import from_unix
from rireki.sources.kit.decode import json_in
from rireki.sources.kit.fields import amount, get, number, string, words
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.records import DecodedLine, records_of
from rireki.sources.kit.rules import TextRule

__all__ = ["interpret"]

_TASK = TextRule("task of a sub-agent", "", "", display="bubble")
#: Between the message and the call that a sub-agent is named by.
_NAMED = "$$"


def interpret(source: str, id: str, strands: Sequence[Strand]) -> list[Reading]:
    builder = ConversationBuilder(source, id, strands)
    session = _Session(builder)
    for strand in strands:
        builder.note_directory(strand.project)
        for line in records_of(strand, builder.troubles, "sessions"):
            session.describe(line.value)
        for line in records_of(strand, builder.troubles, "messages"):
            builder.entries += line.held
            session.take(line)
    builder.join_beginnings()
    session.use()
    return [builder.reading()] if builder.flow or builder.troubles or builder.title else []


class _Session:
    def __init__(self, builder: ConversationBuilder) -> None:
        self.builder = builder
        self.about: Any = {}
        self.is_agent = False

    def describe(self, row: Any) -> None:
        builder, self.about = self.builder, row
        builder.title = string(row, "title") or builder.title
        for moment in ("created_at", "updated_at"):
            at = from_unix(get(row, moment))
            builder.times += [at] if at else []
        parent, (_, _, call) = string(row, "parent_session_id"), builder.native_id.partition(_NAMED)
        builder.link_tokens = [LinkToken("subagent", "offer", f"session:{builder.native_id}")]
        if parent:
            self.is_agent, builder.nature = True, "subagent"
            want = LinkToken("subagent", "want", f"session:{parent}", call or None)
            builder.link_tokens.append(want)

    def use(self) -> None:
        """Crush notes what the last request took, not the sum."""
        read, written = (
            number(self.about, name) for name in ("prompt_tokens", "completion_tokens")
        )
        if read or written:
            model = self.builder.models[-1] if self.builder.models else "unknown"
            usage = Usage(read, written, lower_bound=True)
            noted = amount(self.about, "cost")
            self.builder.note_usage(self.builder.native_id, model, usage, cost=noted)

    def take(self, line: DecodedLine) -> None:
        id, at = line.text("id") or f"row-{line.position}", from_unix(get(line.value, "created_at"))
        content = get(line.value, "parts")
        if not isinstance(content, list):
            self.builder.unknown(line, id, line.text("role") or "message", at=at)
            return
        parts = [part for one in content for part in self._part(one)]
        match line.text("role"):
            case "user":
                self.builder.ask(line, id, parts, rule=_TASK if self.is_agent else None, at=at)
            case "assistant" if get(line.value, "is_summary_message"):
                rule, label = "summary", "context compacted"
                self.builder.say(line, id, "harness", "divider", parts, rule, label=label, at=at)
            case "assistant":
                self._answer(line, id, parts, at)
            case "tool":
                self.builder.result(line, id, parts, at=at)
            case role:
                self.builder.unknown(line, id, role or "message", at=at)

    def _answer(self, line: DecodedLine, id: str, parts: Sequence[Part], at: str | None) -> None:
        answer = self.builder.answer(line, id, parts, at=at, model=line.text("model") or None)
        ended = [one for one in get(line.value, "parts") if string(one, "type") == "finish"]
        if not ended and get(line.value, "finished_at") is None:
            # It is still coming in.
            answer.ends = False

    def _part(self, one: Any) -> list[Part]:
        data = get(one, "data")
        match string(one, "type"):
            case "text":
                return [Text(text)] if (text := string(data, "text")) else []
            case "reasoning":
                return [Thinking(text)] if (text := string(data, "thinking")) else []
            case "tool_call":
                return [
                    ToolCall(string(data, "id"), string(data, "name"), json_in(get(data, "input")))
                ]
            case "tool_result":
                status: ResultStatus = "error" if get(data, "is_error") is True else "ok"
                call = string(data, "tool_call_id")
                return [ToolResult(call, status, words(get(data, "content")))]
            case "finish":
                return _finish(data)
            case "binary":
                return [self._picture(data)]
            case "image_url":
                url = string(data, "url")
                held = self.builder.pictures.add_url(url) if url.startswith("data:") else None
                return [held or Attachment("image/png", name=url[:200])]
            case kind:
                return [Unknown(kind or "part", one)]

    def _picture(self, data: Any) -> Part:
        kind = string(data, "MIMEType") or string(data, "mime_type") or "application/octet-stream"
        name = string(data, "Path") or string(data, "path")
        held = get(data, "Data") if get(data, "data") is None else get(data, "data")
        return self.builder.pictures.add_base64(held, kind, name) or Attachment(kind, name=name)


def _finish(data: Any) -> list[Part]:
    """How an answer ended is told where it did not end well."""
    reason = string(data, "reason")
    told = " ".join(filter(None, (string(data, "message"), string(data, "details"))))
    if reason in ("error", "canceled", "permission_denied", "max_tokens"):
        return [Notice(told or reason, "error" if reason == "error" else "warning")]
    return []
