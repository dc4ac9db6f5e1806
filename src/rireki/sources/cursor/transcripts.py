"""Messages of Cursor's agent without ids, times or models: transcripts for people, and chats of the CLI.

The editor's agent writes transcripts too, under the ids of its conversations; the databases are richer, and
count where they have the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rireki.model.conversation import LinkToken, Reading
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
from rireki.model.strand import Strand
from rireki.sources.cursor.roles import AGENT, TEXT
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.pieces import WHOLE
from rireki.sources.kit.records import DecodedLine, records_of

__all__ = ["read_transcript", "say"]

NAME = "cursor"
_QUERY = re.compile(r"<user_query>\n?(.*?)\n?</user_query>", re.DOTALL)
#: What the program puts around a person's words, or in their place.
_CONTEXT = re.compile(
    r"\s*<(context|attached_files|system_reminder|open_and_recently_viewed_files|user_info"
    r"|git_status|project_layout|rules|agent_skills|agent_transcripts|additional_data"
    r"|system_notification|timestamp)\b[^>]*>.*?</\1>",
    re.DOTALL,
)
#: Who speaks in a transcript that is a text.
_SPEAKER = re.compile(r"^(user|assistant):[ \t]*\n", re.MULTILINE)


def read_transcript(id: str, strands: Sequence[Strand]) -> list[Reading]:
    """The longest of the copies that may lie in several project folders."""
    builder = ConversationBuilder(NAME, id, strands)
    copies = [_lines(strand, builder) for strand in strands]
    if any(strand.role == AGENT for strand in strands):
        builder.nature = "subagent"
    builder.link_tokens = [LinkToken("subagent", "offer", f"session:{id}")]
    for strand in strands:
        builder.note_directory(strand.project)
        if strand.role == AGENT:
            session = re.split(r"[/\\]", strand.place)[-3]
            builder.link_tokens = [LinkToken("subagent", "want", f"session:{session}")]
    lines = max(copies, key=len, default=[])
    for number, line in enumerate(lines, 1):
        content = get(line.value, "message", "content")
        say(builder, line, line.text("role"), content, f"l{number}")
    builder.entries = len(lines)
    return [builder.reading()] if builder.flow or builder.troubles else []


def _lines(strand: Strand, builder: ConversationBuilder) -> list[DecodedLine]:
    if strand.role != TEXT:
        return list(records_of(strand, builder.troubles))
    found = []
    for record in strand.story(WHOLE)[-1:]:
        text = record.data.decode("utf-8", "replace").replace("\r\n", "\n")
        _, *told = _SPEAKER.split(text)
        for number, (role, said) in enumerate(zip(told[::2], told[1::2], strict=True), 1):
            value = {"role": role, "message": {"content": said.strip()}}
            found.append(DecodedLine(value, number, True, strand.present, []))
    return found


def say(
    builder: ConversationBuilder, line: DecodedLine, role: str, content: Any, name: str
) -> None:
    """A message, of whatever role: its words, its calls, its results."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if role not in ("user", "assistant", "tool", "system") or not isinstance(blocks, list):
        builder.unknown(line, name, role or "line")
        return
    parts = [_part(block, f"{name}-{number}") for number, block in enumerate(blocks, 1)]
    results = [part for part in parts if isinstance(part, ToolResult)]
    others = [part for part in parts if not isinstance(part, ToolResult)]
    if results:
        builder.result(line, f"{name}-results", results)
    if others and role == "assistant":
        builder.answer(line, name, others)
    elif others and role == "system":
        rule = "system prompt"
        builder.say(line, name, "harness", "hidden", others, rule, label=rule, role=role)
    elif others:
        _ask(builder, line, name, others)


def _ask(builder: ConversationBuilder, line: DecodedLine, name: str, parts: Sequence[Part]) -> None:
    """The person's words stand between marks; what is around them was put there by the program."""
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    rest = [part for part in parts if not isinstance(part, Text)]
    typed, around = _apart(text)
    if around:
        label = "context"
        told = [Text(around)]
        builder.say(line, f"{name}-context", "harness", "fold", told, label, label=label)
    asked = [*([Text(typed)] if typed else []), *rest]
    if not asked:
        return
    if builder.nature == "subagent":
        rule = "task of a sub-agent"
        said = builder.say(line, name, "harness", "bubble", asked, rule)
        said.typed, said.ends = True, False
    else:
        builder.ask(line, name, asked)


def _apart(text: str) -> tuple[str, str]:
    """What was typed, and what the program added to it."""
    if queries := _QUERY.findall(text):
        return "\n\n".join(queries), _QUERY.sub("", text).strip()
    end = 0
    while found := _CONTEXT.match(text, end):
        end = found.end()
    return (text[end:].strip(), text[:end].strip()) if end else (text, "")


def _part(block: Any, name: str) -> Part:
    match string(block, "type"):
        case "text":
            return Text(string(block, "text"))
        case "thinking" | "reasoning":
            return Thinking(string(block, "thinking") or string(block, "text"))
        case "redacted-reasoning" | "redacted_thinking":
            return Notice("The provider withheld the thinking.")
        case "tool_use" | "tool-call":
            call = string(block, "id") or string(block, "toolCallId") or name
            tool = string(block, "name") or string(block, "toolName")
            given = get(block, "input")
            return ToolCall(call, tool, get(block, "args") if given is None else given)
        case "tool_result" | "tool-result":
            return _result(block, name)
        case "image" | "file":
            kind = string(block, "mimeType") or string(block, "mediaType") or "image/*"
            return Attachment(kind, name=string(block, "filename"))
        case kind:
            return Unknown(kind or "block", block)


def _result(block: Any, name: str) -> ToolResult:
    texts = [string(one, "text") for one in items(block, "content")]
    given = get(block, "content")
    output = "\n".join(filter(None, texts)) or words(
        get(block, "result") if given is None else given
    )
    failed = get(block, "is_error") is True or get(block, "isError") is True
    call = string(block, "tool_use_id") or string(block, "toolCallId") or name
    return ToolResult(call, "error" if failed else "ok", output)
