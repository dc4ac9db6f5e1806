"""Messages as the model gets them: blocks of text, calls and results; and whose each text is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rireki.model.message import Usage
from rireki.model.parts import Part, ResultStatus, Text, Thinking, ToolCall, ToolResult, Unknown
from rireki.model.times import from_ms
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import amount, get, items, string, words
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.pictures import Pictures
from rireki.sources.kit.records import DecodedLine
from rireki.sources.kit.rules import TextRule, rule_of, tagged

__all__ = [
    "Sent",
    "is_wrapped",
    "number",
    "opened",
    "picture",
    "read_message",
    "sent_calls",
    "time_of",
]

#: What a person typed stands in one of these; the rest of such a text is the program's.
_TYPED = ("user_input", "task", "feedback", "answer", "user_message")
_INPUT = re.compile(r"\s*<user_(input|command)\b([^>]*)>(.*)</user_\1>\s*", re.DOTALL)
_SLASH = re.compile(r'slash="([^"]+)"')
#: What stands inside, before or behind the words, and was not typed.
_ADDED = ("mode_notice", "editor_state")
#: The tools that models called by tags in their answers.
_SPELLED = (
    *("read_file", "write_to_file", "replace_in_file", "apply_diff", "insert_content"),
    *("search_and_replace", "execute_command", "search_files", "list_files", "browser_action"),
    *("list_code_definition_names", "use_mcp_tool", "access_mcp_resource", "web_fetch"),
    *("codebase_search", "fetch_instructions", "attempt_completion", "ask_followup_question"),
    *("plan_mode_respond", "plan_mode_response", "new_task", "switch_mode", "update_todo_list"),
)
#: More than any tool is given.
_MOST = 20
#: A result that is what the person said to it.
_SAID = re.compile(
    r"\s*(?:<(?:answer|user_message|feedback)>|The user (?:has )?(?:provided|denied))"
)
#: How a result is told where tools had no ids: of which tool, and what that was called for.
_RESULT = re.compile(r"\[(\w+)(?: for (.*?))?\] Result:\n?(.*)", re.DOTALL)
_WRAPPED = (
    tagged("context", "environment", "environment_details", "hidden"),
    tagged("context", "environment", "editor_state", "hidden"),
    tagged("notice", "mode changed", "mode_notice"),
    tagged("context", "hook", "hook_context", "fold"),
    tagged("file for the model", "file", "file_content", "fold"),
    tagged("context", "instructions", "explicit_instructions", "fold"),
)
_TOLD = (TextRule("tool results", "tool results", "[", author="tool", display="fold"),)
_RESUMED = (
    TextRule("notice", "task resumed", "[TASK RESUMPTION]", display="fold"),
    TextRule("notice", "plan approved", "The user approved switching to act mode.", display="fold"),
)
_AROUND = (
    *_WRAPPED,
    *_RESUMED,
    TextRule("notice", "notice", "[ERROR]", display="fold"),
    TextRule("not typed", "added by the program", "", display="fold"),
)
#: Messages in a person's place that the program wrote, by their kind.
_NOTICES = (
    *("recovery_notice", "loop_detection_notice", "mistake_stop_notice", "completion_reminder"),
    "system",
)
_COMPACTED = ("compaction", "compaction_summary")
_DENIED = ("The user denied", "Tool approval requires an interactive session")
#: Tools that say something to the person: what they say is told as words.
_SPEAKING = (
    *("attempt_completion", "ask_followup_question", "plan_mode_respond", "ask_question"),
    "plan_mode_response",
    *("new_task", "switch_mode", "condense", "summarize_task", "update_todo_list", "focus_chain"),
)
#: What tells calls of one tool apart.
_ABOUT = ("path", "file_path", "absolutePath", "command", "regex", "query", "url", "tool_name")


class Sent(NamedTuple):
    """A call as the model made it, and what it got back."""

    id: str
    name: str
    arguments: Any
    #: What it was called for: a path, a command.
    about: str = ""
    held: bool = True
    #: It says something to the person: told as words, unless it was shown as a call.
    is_said: bool = False
    status: ResultStatus = "ok"
    output: str | None = None
    pictures: Sequence[Any] = ()


def is_wrapped(line: DecodedLine) -> bool:
    """Whether a message has words in the tags that a program puts around what was typed."""
    texts = (string(one, "text") for one in _blocks(line.value))
    is_users = string(line.value, "role") == "user"
    return is_users and any(True for text in texts for _ in _tags(text, _TYPED))


def read_message(
    builder: ConversationBuilder, line: DecodedLine, name: str, *, wrapped: bool = False
) -> None:
    """What one message says; of a user's, what was typed and what the program put beside it.

    `wrapped`: whatever was typed in this conversation stands in tags, and calls may as well.
    """
    value = line.value
    blocks = _blocks(value)
    at, model, about = time_of(value), _model(value), get(value, "metadata")
    kinds = (string(about, "kind"), string(about, "displayRole"))
    text = [Text(string(one, "text")) for one in blocks]
    if "error" in kinds:
        builder.say(line, name, "harness", "chip", text, "API error", label="API error", at=at)
    elif any(kind in _COMPACTED for kind in kinds) or get(value, "isSummary") is True:
        label = "context compacted"
        builder.say(line, name, "harness", "divider", text, label, label=label, at=at)
    elif any(kind in _NOTICES for kind in kinds):
        builder.say(line, name, "harness", "fold", text, "notice", label="notice", at=at)
    elif string(value, "role") == "assistant":
        parts = [part for one in blocks for part in _parts(one, builder.pictures)]
        if wrapped and not any(isinstance(part, ToolCall) for part in parts):
            parts = [part for one in parts for part in _spelled(one, name)]
        builder.answer(line, name, parts, at=at, model=model or None)
        note_usage(builder, name, model, get(value, "metrics"), at)
    elif string(value, "role") == "user":
        _ask(builder, line, name, blocks, wrapped)
    elif string(value, "type") != "reasoning":
        # What a provider thinks for itself is stored as an item without a role, and encrypted.
        builder.unknown(line, name, string(value, "role") or "message", at=at)


def _blocks(value: Any) -> list[Any]:
    content = get(value, "content")
    if not isinstance(content, list):
        return [{"type": "text", "text": words(content)}]
    blocks: list[Any] = []
    for one in content:
        # What a tool gave back may stand in the text behind the one that names the tool.
        head = _RESULT.fullmatch(string(blocks[-1], "text")) if blocks else None
        text = string(one, "text")
        if head and text and not (head[3] or _RESULT.match(text) or rule_of(text, _WRAPPED[:1])):
            blocks[-1] = {"type": "text", "text": f"{string(blocks[-1], 'text')}\n{text}"}
        else:
            blocks.append(one)
    return blocks


def note_usage(
    builder: ConversationBuilder, name: str, model: str, used: Any, at: str | None
) -> None:
    """What was read from the cache, or put there, is part of the input."""
    read, stored = number(used, "cacheReadTokens"), number(used, "cacheWriteTokens")
    fresh = max(0, number(used, "inputTokens") - read - stored)
    usage = Usage(fresh, number(used, "outputTokens"), read, stored)
    if counts := get(used, "tokens"):
        # The extension counts what was cached beside the input, and does not tell which way.
        read = number(counts, "cached")
        usage = Usage(number(counts, "prompt"), number(counts, "completion"), read, 0)
    if usage != Usage():
        key, noted = f"{builder.native_id}:{name}", amount(used, "cost")
        builder.note_usage(key, model or "unknown", usage, at, cost=noted)


def _model(value: Any) -> str:
    info = get(value, "modelInfo")
    return string(info, "id") or string(info, "modelId")


def _ask(
    builder: ConversationBuilder,
    line: DecodedLine,
    name: str,
    blocks: Sequence[Any],
    wrapped: bool,
) -> None:
    at = time_of(line.value)
    typed: list[Part] = []
    results: list[Part] = []
    others: list[tuple[TextRule, Part]] = []
    for one in blocks:
        if string(one, "type") == "text":
            for text, rule in _texts(string(one, "text"), wrapped):
                if rule is None:
                    typed.append(Text(text))
                elif rule in _TOLD and (call := _open_call(builder, text, results)):
                    results.append(call)
                else:
                    others.append((rule, Text(text)))
        elif string(one, "type") == "file":
            told = f"{string(one, 'path')}\n{words(get(one, 'content'))}"
            others.append((TextRule("file for the model", "file", "", display="fold"), Text(told)))
        elif string(one, "type") == "tool_result":
            results += _parts(one, builder.pictures)
            output, _ = _output(one)
            if _SAID.match(output):
                typed += [Text(said.inner.strip("\n")) for said in _tags(output, _TYPED)]
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


def _texts(text: str, wrapped: bool) -> Iterator[tuple[str, TextRule | None]]:
    """A text, cut into what a person typed and what stands around it."""
    if whole := _INPUT.fullmatch(text):
        yield from _typed(whole[3], whole[2])
        return
    found = _RESULT.match(text)
    spoken = found is None or found[1] in _SPEAKING or any(told in text for told in _DENIED)
    if rule := rule_of(text, _WRAPPED if spoken else _TOLD):
        yield text, rule
        return
    end = 0
    for typed in _tags(text, _TYPED):
        if around := text[end : typed.start].strip():
            yield around, rule_of(around, _AROUND)
        yield from _typed(typed.inner.strip("\n"), "")
        end = typed.end
    if rest := text[end:].strip():
        outside = bool(end) or wrapped
        yield (rest if outside else text), rule_of(rest, _AROUND if outside else _AROUND[:-1])


def _typed(inner: str, attributes: str) -> Iterator[tuple[str, TextRule | None]]:
    """What stands in the tag of what was typed, without what the program put there as well."""
    said, end = "", 0
    for added in _tags(inner, _ADDED):
        said += inner[end : added.start].strip()
        end = added.end
        yield inner[added.start : end], rule_of(inner[added.start : end], _WRAPPED)
    said += inner[end:].strip() if end else inner
    if command := _SLASH.search(attributes):
        said = said.strip().removeprefix("spawn a team of agents for the following task:")
        said = f"/{command[1]} {said.strip()}".strip()
    if said:
        yield said, rule_of(said, _RESUMED)


class _Tag(NamedTuple):
    """What stands in `<name …>` and `</name>`, and from where to where."""

    name: str
    inner: str
    start: int
    end: int


def _tags(text: str, names: Sequence[str]) -> Iterator[_Tag]:
    """Tags of these names, one after another; none that lies in another."""
    end, left_open = 0, set[str]()
    for tag in re.finditer(rf"<({'|'.join(names)})\b[^<>]*>", text) if names else ():
        if tag.start() < end or tag[1] in left_open:
            continue
        close = text.find(f"</{tag[1]}>", tag.end())
        if close < 0:
            left_open.add(tag[1])
        else:
            end = close + len(f"</{tag[1]}>")
            yield _Tag(tag[1], text[tag.end() : close], tag.start(), end)


def _spelled(part: Part, name: str) -> Iterator[Part]:
    """Calls as models wrote them before they had tools: in tags, somewhere in the text."""
    if not isinstance(part, Text):
        yield part
        return
    end = 0
    for count, tool in enumerate(_tags(part.text, _SPELLED), 1):
        if before := part.text[end : tool.start].strip():
            yield Text(before)
        end = tool.end
        names = list(dict.fromkeys(re.findall(r"<(\w+)>", tool.inner)[:_MOST]))
        given = {one.name: one.inner.strip("\n") for one in _tags(tool.inner, names)}
        if tool.name in _SPEAKING:
            yield Text(next(iter(given.values()), tool.inner))
        else:
            yield ToolCall(f"{name}.{count}", tool.name, given)
    if rest := part.text[end:].strip():
        yield Text(rest)


def _open_call(
    builder: ConversationBuilder, text: str, results: Sequence[Part]
) -> ToolResult | None:
    """A result that names its tool alone, as that of a call in the last answer."""
    found = _RESULT.match(text)
    answer = next((m.message for m in reversed(builder.flow) if m.message.author == "agent"), None)
    done = {one.call_id for one in results if isinstance(one, ToolResult)}
    name, output = (found[1], found[3].strip()) if found else ("", "")
    for call in answer.parts if answer else ():
        if isinstance(call, ToolCall) and call.name == name and call.call_id not in done:
            return ToolResult(call.call_id, "ok", output)
    return None


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
            shots = [picture(one, pictures) for one in items(block, "content") if _is_picture(one)]
            return [ToolResult(string(block, "tool_use_id"), status, output), *shots]
        case "image":
            return [picture(block, pictures)]
        case kind:
            return [Unknown(kind or "block", block)]


def _is_picture(block: Any) -> bool:
    return string(block, "type") == "image"


def picture(block: Any, pictures: Pictures) -> Part:
    source = get(block, "source")
    url = f"data:{string(source, 'media_type')};base64,{string(source, 'data')}"
    return pictures.add_url(url) or Unknown("picture", block)


def _output(block: Any) -> tuple[str, ResultStatus]:
    """The text of a result: per command or file, where there were several."""
    content = get(block, "content")
    value = content if isinstance(content, list) else opened(content)
    listed = value if isinstance(value, list) else None
    told = [_one(item) for item in listed or () if not _is_picture(item)]
    output = "\n".join(told) if listed is not None else _told(content)
    if any(text in output for text in _DENIED):
        return output, "cancelled"
    failed = any(get(item, "success") is False for item in listed or ())
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


def sent_calls(lines: Sequence[DecodedLine]) -> list[Sent]:
    """The calls of tools in what the model was sent, in order, with their results."""
    calls: list[Sent] = []
    places: dict[str, int] = {}
    answered = 0
    for line in lines:
        if string(line.value, "role") == "assistant":
            answered = len(calls)
        for one in _blocks(line.value):
            match string(one, "type"):
                case "tool_use":
                    places[string(one, "id")] = len(calls)
                    calls.append(_call(one, line.held))
                case "tool_result":
                    place = places.get(string(one, "tool_use_id"))
                    if place is not None:
                        calls[place] = _closed(calls[place], one)
                case "text" if string(line.value, "role") == "user":
                    _close_told(calls, answered, string(one, "text"), line.held)
    return calls


def _call(block: Any, held: bool) -> Sent:
    given = get(block, "input")
    about = next(filter(None, (string(given, name) for name in _ABOUT)), "")
    name = string(block, "name")
    return Sent(string(block, "id"), name, given, about, held, name in _SPEAKING)


def _closed(call: Sent, result: Any) -> Sent:
    output, status = _output(result)
    pictures = [part for part in items(result, "content") if _is_picture(part)]
    return call._replace(status=status, output=output, pictures=pictures)


def _close_told(calls: list[Sent], start: int, text: str, held: bool) -> None:
    """A result that names its tool alone: that of the first such call of the last answer."""
    found = _RESULT.match(text)
    if found is None or found[1] in _SPEAKING:
        return
    output = found[3].strip()
    status: ResultStatus = "cancelled" if any(told in output for told in _DENIED) else "ok"
    for place in range(start, len(calls)):
        if calls[place].id and calls[place].name == found[1] and calls[place].output is None:
            calls[place] = calls[place]._replace(status=status, output=output)
            return
    quoted = (found[2] or "").split("'")
    about = quoted[1] if len(quoted) > 1 else ""
    calls.append(Sent("", found[1], None, about, held, False, status, output))


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
