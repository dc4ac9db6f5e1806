"""claude.ai: a list of messages per conversation, with blocks as its API has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rireki.model.conversation import Reading
from rireki.model.parts import Attachment, Part, Text, Thinking, ToolCall, ToolResult, Unknown
from rireki.model.strand import Strand
from rireki.model.times import from_iso, to_datetime
from rireki.sources.exports.tree import Node, in_order
from rireki.sources.exports.versions import read_versions
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.records import DecodedLine
from rireki.sources.kit.rules import TextRule

__all__ = ["read_claude_ai"]

#: Blocks that say nothing.
_SILENT = ("token_budget", "flag")
_ATTACHED = TextRule("attached file", "attached file", "", display="fold")


def read_claude_ai(source: str, id: str, strands: Sequence[Strand]) -> list[Reading]:
    builder = ConversationBuilder(source, id, strands)
    chat = read_versions(strands, _changed, builder.troubles)
    if chat is None:
        return [builder.reading()] if builder.troubles else []
    builder.title = string(chat.newest, "name") or None
    builder.note_time(string(chat.newest, "created_at"))
    builder.note_time(string(chat.newest, "updated_at"))
    lines = chat.merged(_messages)
    leaf = string(chat.newest, "current_leaf_message_uuid") or list(_messages(chat.newest))[-1:]
    for node in in_order(_parents(lines), lines, leaf if isinstance(leaf, str) else "".join(leaf)):
        builder.entries += 1
        _take(builder, node, node.value)
    return [builder.reading()]


def _changed(value: Any) -> float:
    moment = to_datetime(string(value, "updated_at"))
    return moment.timestamp() if moment else 0.0


def _messages(value: Any) -> Mapping[str, Any]:
    listed = enumerate(items(value, "chat_messages"), 1)
    return {string(one, "uuid") or f"message-{number}": one for number, one in listed}


def _parents(lines: Mapping[str, DecodedLine]) -> dict[str, str | None]:
    """Where no message names the one before it, the list is one branch."""
    named = {id: string(line.value, "parent_message_uuid") or None for id, line in lines.items()}
    if any(parent in lines for parent in named.values()):
        return named
    ids = list(lines)
    return dict(zip(ids, [None, *ids], strict=False))


def _take(builder: ConversationBuilder, node: Node, line: DecodedLine) -> None:
    message, at = line.value, from_iso(string(line.value, "created_at"))
    sender = string(message, "sender")
    said, results = _parts(node.id, message)
    files = [*items(message, "attachments"), *items(message, "files"), *items(message, "files_v2")]
    if sender == "human":
        told = [builder.ask(line, node.id, [*said, *map(_file, files)], at=at)]
        for number, one in enumerate(files, 1):
            if text := string(one, "extracted_content"):
                name = f"{node.id}-file-{number}"
                told.append(builder.ask(line, name, [Text(text)], rule=_ATTACHED, at=at))
    elif sender == "assistant":
        told = [builder.answer(line, node.id, [*said, *map(_file, files)], at=at)] if said else []
    else:
        told = [builder.unknown(line, node.id, sender or "message", at=at)]
    if results:
        told.append(builder.result(line, f"{node.id}-results", results, at=at))
        # The answer goes on behind its results, in the same message.
        told[-1].ends = not isinstance(said[-1], ToolCall) if said else None
    for one in told:
        one.message.abandoned = node.abandoned
        if node.abandoned:
            one.ends = None


def _parts(id: str, message: Any) -> tuple[list[Part], list[Part]]:
    """What is said, and what tools gave back: both stand in one message."""
    said: list[Part] = []
    results: list[Part] = []
    open_calls: list[str] = []
    for number, block in enumerate(items(message, "content"), 1):
        match string(block, "type"):
            case "text":
                said.append(Text(string(block, "text")))
            case "thinking":
                said.append(Thinking(_thought(block)))
            case "tool_use":
                call = string(block, "id") or f"{id}-{number}"
                open_calls.append(call)
                said.append(ToolCall(call, string(block, "name"), get(block, "input")))
            case "tool_result":
                named = string(block, "tool_use_id")
                call = named or (open_calls[0] if open_calls else f"{id}-{number}")
                open_calls = [one for one in open_calls if one != call]
                failed = get(block, "is_error") is True
                results.append(ToolResult(call, "error" if failed else "ok", _output(block)))
            case kind if kind not in _SILENT:
                said.append(Unknown(kind or "block", block))
    if not said and not results and string(message, "text"):
        # Older exports have nothing else.
        said.append(Text(string(message, "text")))
    return [p for p in said if not isinstance(p, Text | Thinking) or p.text], results


def _thought(block: Any) -> str:
    summaries = [string(one, "summary") for one in items(block, "summaries")]
    return string(block, "thinking") or "\n".join(filter(None, summaries))


def _output(block: Any) -> str:
    content = get(block, "content")
    if not isinstance(content, list):
        return words(content)
    return "\n".join(string(one, "text") or words(one) for one in content)


def _file(value: Any) -> Attachment:
    name = string(value, "file_name") or string(value, "file_uuid")
    size = get(value, "file_size")
    kind = string(value, "file_type")
    return Attachment(
        kind if "/" in kind else "application/octet-stream",
        name=name,
        size=size if isinstance(size, int) else 0,
    )
