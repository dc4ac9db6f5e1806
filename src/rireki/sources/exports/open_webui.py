"""Open WebUI: a tree of messages per chat, with thoughts and calls as HTML inside the text."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from rireki.model.conversation import Reading
from rireki.model.message import Usage
from rireki.model.parts import Attachment, Notice, Part, Text, Thinking, ToolCall, ToolResult
from rireki.model.strand import Strand
from rireki.model.times import from_ms
from rireki.sources.exports.tree import Node, in_order
from rireki.sources.exports.versions import read_versions
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.records import DecodedLine

__all__ = ["read_open_webui"]

_DETAILS = re.compile(
    r'<details\s+type="(reasoning|tool_calls)"([^>]*)>(.*?)</details>\s*', re.DOTALL
)
_END = "</details>"
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_SUMMARY = re.compile(r"\s*<summary>.*?</summary>\s*", re.DOTALL)
_COUNTS = (
    ("prompt_tokens", "input_tokens", "prompt_eval_count"),
    ("completion_tokens", "output_tokens", "eval_count"),
)


def read_open_webui(source: str, id: str, strands: Sequence[Strand]) -> list[Reading]:
    builder = ConversationBuilder(source, id, strands)
    chat = read_versions(strands, lambda value: _number(value, "updated_at"), builder.troubles)
    if chat is None:
        return [builder.reading()] if builder.troubles else []
    newest = _chat(chat.newest)
    builder.title = string(chat.newest, "title") or string(newest, "title") or None
    for name in ("created_at", "updated_at"):
        if at := _time(_number(chat.newest, name)):
            builder.times.append(at)
    lines = chat.merged(_messages)
    parents = {id: string(line.value, "parentId") or None for id, line in lines.items()}
    if not get(newest, "history", "messages"):
        parents = dict(zip(lines, [None, *lines], strict=False))
    leaf = string(get(newest, "history"), "currentId") or list(lines)[-1] if lines else None
    for node in in_order(parents, lines, leaf):
        builder.entries += 1
        _take(builder, node, node.value)
    return [builder.reading()]


def _chat(value: Any) -> Any:
    """An export has the chat as an object, the database as JSON of a column."""
    found = get(value, "chat")
    if isinstance(found, str):
        try:
            return load(found.encode("utf-8", "replace"))
        except NotReadable:
            return {}
    return found


def _messages(value: Any) -> Mapping[str, Any]:
    chat = _chat(value)
    found = get(chat, "history", "messages")
    if isinstance(found, dict) and found:
        return found
    listed = enumerate(items(chat, "messages"), 1)
    return {string(one, "id") or f"message-{number}": one for number, one in listed}


def _take(builder: ConversationBuilder, node: Node, line: DecodedLine) -> None:
    message, at = line.value, _time(_number(line.value, "timestamp"))
    text = words(get(message, "content"))
    files = [_file(builder, one) for one in items(message, "files")]
    match string(message, "role"):
        case "user":
            told = [builder.ask(line, node.id, [Text(text), *files] if text else files, at=at)]
        case "assistant":
            told = _answer(builder, node, line, [*_spoken(node.id, text), *files], at)
        case "system":
            rule = "system prompt"
            said = builder.say(
                line, node.id, "harness", "hidden", [Text(text)], rule, label=rule, at=at
            )
            told = [said]
        case role:
            told = [builder.unknown(line, node.id, role or "message", at=at)]
    for one in told:
        one.message.abandoned = node.abandoned
        if node.abandoned:
            one.ends = None


def _answer(
    builder: ConversationBuilder,
    node: Node,
    line: DecodedLine,
    parts: Sequence[Part],
    at: str | None,
) -> list[Any]:
    model = string(line.value, "model") or None
    results = [part for part in parts if isinstance(part, ToolResult)]
    said = [part for part in parts if not isinstance(part, ToolResult)]
    told = []
    if said:
        told.append(builder.answer(line, node.id, said, at=at, model=model))
        told[-1].ends = get(line.value, "done") is not False
    if results:
        told.append(builder.result(line, f"{node.id}-results", results, at=at))
        told[-1].ends = told[0].ends if said else False
    if error := get(line.value, "error"):
        notice = [Notice(string(error, "content") or words(error), "error")]
        name = f"{node.id}-error"
        told.append(
            builder.say(line, name, "harness", "chip", notice, "API error", label="API error")
        )
        told[-1].ends = False
    usage = get(line.value, "usage")
    read, written = (next(filter(None, (_count(usage, n) for n in names)), 0) for names in _COUNTS)
    if read or written:
        builder.note_usage(node.id, model or "unknown", Usage(read, written, 0, 0), at)
    return told


def _spoken(id: str, text: str) -> list[Part]:
    found: list[Part] = []
    end = 0
    # Behind the last end there is none to be looked for.
    last = text.rfind(_END) + len(_END) if _END in text else 0
    for number, block in enumerate(_DETAILS.finditer(text, 0, last), 1):
        found += _words(text[end : block.start()])
        end = block.end()
        inner = html.unescape(_SUMMARY.sub("", block[3], count=1)).strip()
        if block[1] == "reasoning":
            found.append(Thinking(re.sub(r"(?m)^> ?", "", inner)))
            continue
        said = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(block[2])}
        call = said.get("id") or f"{id}-{number}"
        found.append(ToolCall(call, said.get("name", "tool"), _value(said.get("arguments", ""))))
        if said.get("done") != "false":
            found.append(ToolResult(call, "ok", words(_value(said.get("result", "") or inner))))
    return found + _words(text[end:])


def _words(text: str) -> list[Part]:
    return [Text(text.strip())] if text.strip() else []


def _value(text: str) -> Any:
    """Arguments and results are JSON, sometimes JSON in a JSON text."""
    value: Any = text
    for _ in range(2):
        if isinstance(value, str) and value[:1] in ('"', "{", "["):
            try:
                value = load(value.encode("utf-8", "replace"))
            except NotReadable:
                break
    return value


def _file(builder: ConversationBuilder, value: Any) -> Attachment:
    url, name = string(value, "url"), string(value, "name")
    if url.startswith("data:") and (picture := builder.pictures.add_url(url, name)):
        return picture
    kind = "image/*" if string(value, "type") == "image" else "application/octet-stream"
    return Attachment(kind, name=name or url[:200])


def _count(usage: Any, name: str) -> int:
    value = get(usage, name)
    return value if isinstance(value, int) and 0 < value < 1 << 53 else 0


def _number(value: Any, name: str) -> float:
    found = get(value, name)
    return float(found) if isinstance(found, int | float) and abs(found) < 1e20 else 0.0


def _time(number: float) -> str | None:
    """Seconds; some versions write milliseconds, or less."""
    while number > 1e11:
        number /= 1000
    return from_ms(number * 1000) if number else None
