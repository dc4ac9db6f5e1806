"""Messages as the model gets them: blocks of text, calls and results; and whose each text is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from rireki.model.message import Usage
from rireki.model.parts import Part, ResultStatus, Text, Thinking, ToolCall, ToolResult, Unknown
from rireki.model.times import from_ms
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.pictures import Pictures
from rireki.sources.kit.records import DecodedLine
from rireki.sources.kit.rules import TextRule, rule_of, tagged

__all__ = ["RESULT", "Sent", "number", "opened", "read_message", "sent_calls", "time_of"]

#: What a person typed stands in one of these; the rest of such a text is the program's.
_TYPED = re.compile(
    r"<(user_input|task|feedback|answer|user_message)\b[^>]*>(.*?)</\1>\s*", re.DOTALL
)
_INPUT = re.compile(r"\s*<user_input\b[^>]*>(.*)</user_input>\s*", re.DOTALL)
#: How a result is told where tools had no ids.
RESULT = re.compile(r"\[(\w+)(?: for [^\]]*)?\] Result:\n?(.*)", re.DOTALL)
_WRAPPED = (
    tagged("context", "environment", "environment_details", "hidden"),
    tagged("file for the model", "file", "file_content", "fold"),
    tagged("context", "instructions", "explicit_instructions", "fold"),
)
_TOLD = (TextRule("tool results", "tool results", "[", author="tool", display="fold"),)
_AROUND = (
    *_WRAPPED,
    TextRule("notice", "task resumed", "[TASK RESUMPTION]", display="fold"),
    TextRule("notice", "notice", "[ERROR]", display="fold"),
    TextRule("not typed", "added by the program", "", display="fold"),
)
_DENIED = ("The user denied", "Tool approval requires an interactive session")
#: Tools that say something to the person: what they say is told as words.
_SPEAKING = (
    *("attempt_completion", "ask_followup_question", "plan_mode_respond", "ask_question"),
    *("new_task", "switch_mode", "condense", "summarize_task", "update_todo_list", "focus_chain"),
)


class Sent(NamedTuple):
    """A call as the model made it, and what it got back."""

    id: str
    name: str
    arguments: Any
    status: ResultStatus = "ok"
    output: str | None = None


def read_message(builder: ConversationBuilder, line: DecodedLine, name: str) -> None:
    """What one message says; of a user's, what was typed and what the program put beside it."""
    value = line.value
    content = get(value, "content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": words(content)}]
    at, model = time_of(value), string(get(value, "modelInfo"), "id")
    if string(get(value, "metadata"), "displayRole") == "error":
        text = [Text(string(one, "text")) for one in blocks]
        builder.say(line, name, "harness", "chip", text, "API error", label="API error", at=at)
    elif string(value, "role") == "assistant":
        parts = [part for one in blocks for part in _parts(one, builder.pictures)]
        builder.answer(line, name, parts, at=at, model=model or None)
        note_usage(builder, name, model, get(value, "metrics"), at)
    elif string(value, "role") == "user":
        _ask(builder, line, name, blocks)
    else:
        builder.unknown(line, name, string(value, "role") or "message", at=at)


def note_usage(
    builder: ConversationBuilder, name: str, model: str, used: Any, at: str | None
) -> None:
    """What was read from the cache, or put there, is part of the input."""
    read, stored = number(used, "cacheReadTokens"), number(used, "cacheWriteTokens")
    fresh = max(0, number(used, "inputTokens") - read - stored)
    usage = Usage(fresh, number(used, "outputTokens"), read, stored)
    if usage != Usage():
        builder.note_usage(f"{builder.native_id}:{name}", model or "unknown", usage, at)


def _ask(builder: ConversationBuilder, line: DecodedLine, name: str, blocks: list[Any]) -> None:
    at = time_of(line.value)
    typed: list[Part] = []
    results: list[Part] = []
    others: list[tuple[TextRule, Part]] = []
    for one in blocks:
        if string(one, "type") == "text":
            for text, rule in _texts(string(one, "text")):
                if rule is None:
                    typed.append(Text(text))
                else:
                    others.append((rule, Text(text)))
        elif string(one, "type") == "file":
            told = f"{string(one, 'path')}\n{words(get(one, 'content'))}"
            others.append((TextRule("file for the model", "file", "", display="fold"), Text(told)))
        elif string(one, "type") == "tool_result":
            results += _parts(one, builder.pictures)
        else:
            typed += _parts(one, builder.pictures)
    if results:
        builder.result(line, f"{name}.results", results, at=at)
    if typed:
        rule = None
        if builder.nature == "subagent":
            rule = TextRule("task of a sub-agent", "", "", display="bubble")
        builder.ask(line, name, typed, rule=rule, at=at).typed = True
    for count, (rule, part) in enumerate(others):
        builder.ask(line, f"{name}.{count}", [part], rule=rule, at=at)


def _texts(text: str) -> Iterator[tuple[str, TextRule | None]]:
    """A text, cut into what a person typed and what stands around it."""
    if whole := _INPUT.fullmatch(text):
        yield whole[1], None
        return
    found = RESULT.match(text)
    spoken = found is None or found[1] in _SPEAKING or any(told in text for told in _DENIED)
    if rule := rule_of(text, _WRAPPED if spoken else _TOLD):
        yield text, rule
        return
    end = 0
    for typed in _TYPED.finditer(text):
        if around := text[end : typed.start()].strip():
            yield around, rule_of(around, _AROUND)
        yield typed[2].strip("\n"), None
        end = typed.end()
    if rest := text[end:].strip():
        yield (rest, rule_of(rest, _AROUND)) if end else (text, rule_of(text, _AROUND[:-1]))


def _parts(block: Any, pictures: Pictures) -> list[Part]:
    match string(block, "type"):
        case "text":
            text = string(block, "text")
            return [Text(text)] if text else []
        case "thinking" | "reasoning":
            return [Thinking(string(block, "thinking") or string(block, "text"))]
        case "redacted_thinking":
            return []
        case "tool_use":
            call = string(block, "id")
            return [ToolCall(call, string(block, "name"), get(block, "input"))]
        case "tool_result":
            output, status = _output(block)
            return [ToolResult(string(block, "tool_use_id"), status, output)]
        case "image":
            source = get(block, "source")
            url = f"data:{string(source, 'media_type')};base64,{string(source, 'data')}"
            found = pictures.add_url(url)
            return [found] if found else [Unknown("picture", block)]
        case kind:
            return [Unknown(kind or "block", block)]


def _output(block: Any) -> tuple[str, ResultStatus]:
    """The text of a result: per command or file, where there were several."""
    content = get(block, "content")
    texts = [_one(item) for item in content] if isinstance(content, list) else [_told(content)]
    output = "\n".join(texts)
    failed = [item for item in items(block, "content") if get(item, "success") is False]
    if any(told in output for told in _DENIED):
        return output, "cancelled"
    return output, "error" if failed or get(block, "is_error") is True else "ok"


def _one(item: Any) -> str:
    if string(item, "type") == "text":
        return string(item, "text")
    if isinstance(item, dict) and "query" in item:
        told = words(item.get("result")) or words(item.get("error"))
        return f"$ {words(item['query'])}\n{told}"
    return words(item)


def _told(content: Any) -> str:
    """What a sub-agent said stands in JSON with what it took."""
    value = opened(content)
    return string(value, "text") or words(get(value, "error")) or words(content)


def sent_calls(lines: list[DecodedLine]) -> list[Sent]:
    """The calls of tools in what the model was sent, in order; paired by id, or by order where none is."""
    calls: dict[str, Sent] = {}
    told: list[Sent] = []
    for line in lines:
        content = get(line.value, "content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for place, one in enumerate(blocks):
            name, kind = string(one, "name"), string(one, "type")
            if kind == "tool_use" and name not in _SPEAKING:
                calls[string(one, "id")] = Sent(string(one, "id"), name, get(one, "input"))
            elif kind == "tool_result" and (call := calls.get(string(one, "tool_use_id"))):
                output, status = _output(one)
                calls[call.id] = call._replace(status=status, output=output)
            elif kind == "text" and string(line.value, "role") == "user":
                told += _told_result(blocks, place)
    return list(calls.values()) or told


def _told_result(blocks: list[Any], place: int) -> list[Sent]:
    """A result of the time before ids: named in a text, which it follows at once or in the next."""
    found = RESULT.match(string(blocks[place], "text"))
    if found is None or found[1] in _SPEAKING:
        return []
    after = string(blocks[place + 1], "text") if place + 1 < len(blocks) else ""
    output = found[2].strip() or after
    denied = any(text in output for text in _DENIED)
    return [Sent("", found[1], None, "cancelled" if denied else "ok", output)]


def opened(text: Any) -> Any:
    """JSON in a text; None where it is none."""
    if not isinstance(text, str) or text[:1] not in ("{", "["):
        return None
    try:
        return load(text.encode("utf-8", "replace"))
    except NotReadable:
        return None


def time_of(value: Any) -> str | None:
    at = number(value, "ts")
    return from_ms(at) if at else None


def number(value: Any, name: str) -> int:
    found = get(value, name)
    return found if isinstance(found, int) and 0 <= found < 1 << 53 else 0
