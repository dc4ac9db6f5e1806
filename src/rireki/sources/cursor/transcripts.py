"""Transcripts that Cursor's agent writes for people: lines without ids, times or models.

The editor's agent writes them too, under the ids of its conversations; the database is richer, and counts where
it has the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rireki.model.conversation import LinkToken, Reading
from rireki.model.parts import Part, Text, Thinking, ToolCall, ToolResult, Unknown
from rireki.model.strand import Strand
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.records import DecodedLine, records_of

__all__ = ["read_transcript"]

NAME = "cursor"
_QUERY = re.compile(r"<user_query>\n?(.*?)\n?</user_query>", re.DOTALL)


def read_transcript(id: str, strands: Sequence[Strand]) -> list[Reading]:
    """The longest of the copies that may lie in several project folders."""
    builder = ConversationBuilder(NAME, id, strands)
    copies = [list(records_of(strand, builder.troubles)) for strand in strands]
    if any(strand.role == "sub-transcript" for strand in strands):
        builder.nature = "subagent"
    builder.link_tokens = [LinkToken("subagent", "offer", f"session:{id}")]
    for strand in strands:
        if strand.role == "sub-transcript":
            session = re.split(r"[/\\]", strand.place)[-3]
            builder.link_tokens = [LinkToken("subagent", "want", f"session:{session}")]
    lines = max(copies, key=len, default=[])
    for number, line in enumerate(lines, 1):
        _say(builder, line, f"l{number}")
    builder.entries = len(lines)
    return [builder.reading()] if builder.flow or builder.troubles else []


def _say(builder: ConversationBuilder, line: DecodedLine, name: str) -> None:
    content = get(line.value, "message", "content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if line.text("role") not in ("user", "assistant") or not isinstance(blocks, list):
        builder.unknown(line, name, line.text("role") or "line")
        return
    parts = [_part(block, f"{name}-{number}") for number, block in enumerate(blocks, 1)]
    results = [part for part in parts if isinstance(part, ToolResult)]
    others = [part for part in parts if not isinstance(part, ToolResult)]
    if results:
        builder.result(line, f"{name}-results", results)
    if others and line.text("role") == "assistant":
        builder.answer(line, name, others)
    elif others:
        _ask(builder, line, name, others)


def _ask(builder: ConversationBuilder, line: DecodedLine, name: str, parts: Sequence[Part]) -> None:
    """The person's words stand between marks; what is around them was put there by the program."""
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    rest = [part for part in parts if not isinstance(part, Text)]
    found = _QUERY.search(text)
    around = (text[: found.start()] + text[found.end() :]).strip() if found else ""
    if around:
        label = "context"
        told = [Text(around)]
        builder.say(line, f"{name}-context", "harness", "fold", told, label, label=label)
    asked = [Text(found[1] if found else text), *rest]
    if builder.nature == "subagent":
        rule = "task of a sub-agent"
        said = builder.say(line, name, "harness", "bubble", asked, rule)
        said.typed, said.ends = True, False
    else:
        builder.ask(line, name, asked)


def _part(block: Any, name: str) -> Part:
    match string(block, "type"):
        case "text":
            return Text(string(block, "text"))
        case "thinking" | "reasoning":
            return Thinking(string(block, "thinking") or string(block, "text"))
        case "tool_use":
            call = string(block, "id") or name
            return ToolCall(call, string(block, "name"), get(block, "input"))
        case "tool_result":
            texts = [string(one, "text") for one in items(block, "content")]
            output = "\n".join(filter(None, texts)) or words(get(block, "content"))
            failed = get(block, "is_error") is True
            call = string(block, "tool_use_id") or name
            return ToolResult(call, "error" if failed else "ok", output)
        case kind:
            return Unknown(kind or "block", block)
