"""How each row of the table is put: a label, the parts to show, the time it was said.

Takes whole decoded lines; knows rows by their numbers, not how they were decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps
from typing import Any

from msgspec import Struct

from rireki.model.colours import without_colours
from rireki.model.parts import Attachment, Notice, Part, Text, Unknown
from rireki.sources.claude_code.content import picture_of_file, prompt_parts, texts
from rireki.sources.claude_code.words import (
    INTERRUPTED,
    SKILL_BODY,
    between,
    command_of,
    context_of,
    one_line,
    output_of,
    persons_reason,
    sender_of,
)
from rireki.sources.kit.fields import get, string

__all__ = [
    "ChipContent",
    "attachment_shown",
    "context_shown",
    "divider_shown",
    "prompt_shown",
    "queued_shown",
    "said_shown",
    "system_shown",
]


class ChipContent(Struct):
    label: str
    parts: list[Part]
    at: str | None = None


_BADGES = {"queued": "queued", "sdk": "headless", "suggestion_accepted": "accepted suggestion"}


def prompt_shown(row: str, line: Any) -> ChipContent:
    """A user entry that is no tool result."""
    content = get(line, "message", "content")
    text = texts(content)
    stopped = row == "2" and text.lstrip().startswith(INTERRUPTED)
    put = _interrupted if stopped else _PUT.get(row)
    if put is not None:
        label, words = put(text.lstrip(), line)
        return ChipContent(one_line(label), [Text(words)] if words else [])
    parts = prompt_parts(content)
    context, rest = context_of(text)
    if context and row in ("19", "20"):
        parts = [part for part in parts if not isinstance(part, Text)]
        parts = [Text(rest), *parts] if rest else parts
    badge = _BADGES.get(string(line, "promptSource"), "") if row in ("19", "20") else ""
    return ChipContent(_FIXED.get(row, badge), parts)


_FIXED = {
    "2": "task",
    "5": "command text",
    "6": "caveat",
    "7": "picture",
    "8": "hook",
    "9": "injected",
    "17": "context",
}


def _skill(text: str, line: Any) -> tuple[str, str]:
    where = (
        text.removeprefix(SKILL_BODY).partition("\n")[0].strip()
        if text.startswith(SKILL_BODY)
        else ""
    )
    name = where.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return f"skill: {name}" if name else "skill", text


def _elsewhere(text: str, line: Any) -> tuple[str, str]:
    origin = get(line, "origin")
    kind = string(origin, "kind") or string(line, "promptSource") or "injected"
    if "<task-notification>" in text:
        return _task(text, line)
    sender = string(origin, "from") or string(origin, "sender") or string(origin, "name")
    words = string(origin, "body") or text
    return f"{kind}: {sender}" if sender else kind, words


def _task(text: str, line: Any) -> tuple[str, str]:
    status, summary = between(text, "status").strip(), between(text, "summary").strip()
    return f"task {status}: {summary}".strip(": ") if summary else f"task {status}".strip(), text


def _message_of_agent(text: str, line: Any) -> tuple[str, str]:
    sender = sender_of(text)
    return f"from {sender}" if sender else "from another agent", text


def _command(text: str, line: Any) -> tuple[str, str]:
    return command_of(text), command_of(text)


def _output(text: str, line: Any) -> tuple[str, str]:
    return "output", output_of(text)


def _shell(text: str, line: Any) -> tuple[str, str]:
    if text.startswith("<bash-input>"):
        return "bash", between(text, "bash-input").strip()
    return "output", output_of(text)


def _remember(text: str, line: Any) -> tuple[str, str]:
    note = between(text, "user-memory-input").strip()
    return f"remember: {note}", note


def _interrupted(text: str, line: Any) -> tuple[str, str]:
    return "interrupted", text.strip()


_PUT = {
    "4": _skill,
    "10": _elsewhere,
    "11": _task,
    "12": _message_of_agent,
    "13": _command,
    "14": _output,
    "15": _shell,
    "16": _interrupted,
    "18": _remember,
}


def context_shown(line: Any) -> ChipContent:
    """What an editor or a loop put before the person's words."""
    context, _ = context_of(texts(get(line, "message", "content")))
    tag = context.lstrip("<").partition(">")[0].partition(" ")[0]
    return ChipContent(f"context: {tag}" if tag else "context", [Text(context)])


#: How refusals are put for the model when the person gave no words to them.
_WORDLESS = (
    "The user doesn't want",
    "User refused permission to run tool",
    "User rejected request to exit plan mode",
)


def said_shown(row: str, line: Any, tools: Mapping[str, str]) -> ChipContent:
    """A person's words or choice inside a tool's outcome."""
    outcome = get(line, "toolUseResult")
    block = _result_block(line)
    output = texts(get(block, "content"))
    tool = tools.get(string(block, "tool_use_id"), "")
    if row == "1b":
        return ChipContent("answered", [Text(_choices(outcome) or output)])
    failed = bool(get(block, "is_error"))
    if row == "1c":
        return _plan(outcome, output, failed)
    label = "plan rejected" if tool == "ExitPlanMode" else "refused" if failed else "said"
    reason = _reason(output)
    stopped = isinstance(reason, Notice) and "stopped while running" in output
    return ChipContent("stopped" if stopped else label, [reason])


def _choices(outcome: Any) -> str:
    answers = get(outcome, "answers")
    if not isinstance(answers, dict):
        return ""
    return "\n".join(f"{question} → {_words(choice)}" for question, choice in answers.items())


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_words(item) for item in value)
    return value if isinstance(value, str) else str(value)


def _plan(outcome: Any, output: str, failed: bool) -> ChipContent:
    if failed:
        return ChipContent("plan rejected", [_reason(output)])
    edited = " (edited)" if get(outcome, "planWasEdited") else ""
    return ChipContent(f"plan approved{edited}", [Text(string(outcome, "plan") or output)])


def _reason(output: str) -> Text | Notice:
    reason = persons_reason(output)
    if not reason and output.startswith(_WORDLESS):
        return Notice("no reason was given")
    return Text(reason or output)


def _result_block(line: Any) -> Any:
    content = get(line, "message", "content")
    for block in content if isinstance(content, list) else []:
        if string(block, "type") == "tool_result":
            return block
    return None


def divider_shown(lines: list[Any]) -> ChipContent:
    """A compaction: how much was left out, and the summary that took its place."""
    label = "context compacted"
    parts: list[Part] = []
    for line in lines:
        meta = get(line, "compactMetadata")
        before, after = get(meta, "preTokens"), get(meta, "postTokens")
        if isinstance(before, int) and isinstance(after, int):
            label = f"context compacted ({before:,} → {after:,} tokens)"
        elif isinstance(before, int):
            label = f"context compacted ({before:,} tokens before)"
        if summary := texts(get(line, "message", "content")):
            parts.append(Text(summary))
    return ChipContent(label, parts)


def attachment_shown(row: str, line: Any) -> ChipContent:
    attached = get(line, "attachment")
    if row in ("A1", "A2"):
        prompt = get(attached, "prompt")
        at = string(attached, "timestamp") or None
        if row == "A1":
            return ChipContent("sent while working", prompt_parts(prompt), at)
        label, words = _elsewhere(texts(prompt), attached)
        return ChipContent(one_line(label), [Text(words)], at)
    if row == "A4":
        return _hook(attached)
    if row == "A5":
        return _mentioned(attached)
    kind = string(attached, "type") or "attachment"
    return ChipContent(kind, [Unknown(kind, attached)])


def _hook(attached: Any) -> ChipContent:
    name = string(attached, "hookName") or string(attached, "hookEvent")
    label = f"hook: {name}" if name else "hook"
    blocked = get(attached, "blockingError")
    if blocked is not None:
        words = string(blocked, "blockingError") or (blocked if isinstance(blocked, str) else "")
        return ChipContent(label, [Notice(without_colours(words).strip(), "error")])
    said = texts(get(attached, "content")) or _lines(get(attached, "content"))
    pieces = [said, *(string(attached, name) for name in ("message", "stdout", "stderr"))]
    unique = dict.fromkeys(without_colours(piece).strip() for piece in pieces if piece.strip())
    failed = "error" in string(attached, "type")
    if failed:
        return ChipContent(label, [Notice("\n".join(unique), "warning")])
    return ChipContent(label, [Text("\n".join(unique))])


def _lines(value: Any) -> str:
    return (
        "\n".join(item for item in value if isinstance(item, str))
        if isinstance(value, list)
        else ""
    )


def _mentioned(attached: Any) -> ChipContent:
    """The body of a file or folder that a prompt mentioned."""
    name = (
        string(attached, "displayPath") or string(attached, "filename") or string(attached, "path")
    )
    content = get(attached, "content")
    label = f"{string(attached, 'type')}: {name}"
    if isinstance(content, str):
        return ChipContent(label, [Text(content)] if content else [])
    file = get(content, "file")
    if text := string(file, "content"):
        return ChipContent(label, [Text(text)])
    picture = picture_of_file(file, name)
    return ChipContent(
        label, [picture if isinstance(picture, Attachment) else Unknown("file", content)]
    )


def system_shown(row: str, line: Any) -> ChipContent:
    text = texts(get(line, "content"))
    if row == "unknown":
        kind = string(line, "subtype") or "system"
        return ChipContent(kind, [Unknown(kind, line)])
    if row in _PUT:
        label, words = _PUT[row](text.lstrip(), line)
        return ChipContent(one_line(label), [Text(words)] if words else [])
    if row == "S1":
        return ChipContent(one_line(text), [Text(text.strip())])
    return ChipContent(string(line, "subtype") or "notice", [_notice(line, text)])


def _notice(line: Any, text: str) -> Notice:
    words = without_colours(text).strip() or _lines(get(line, "hookErrors"))
    words = words or _error(get(line, "error"))
    level = string(line, "level")
    if level == "error":
        return Notice(words, "error")
    return Notice(words, "warning" if level.startswith("warn") else "info")


def _error(error: Any) -> str:
    """What went wrong: in the program's words, else in the server's, else what is known of it."""
    if isinstance(error, str):
        return error
    if words := string(error, "formatted"):
        return words
    inside = error
    while not words and isinstance(inside, dict):
        words, inside = string(inside, "message"), inside.get("error")
    cause = get(error, "cause")
    words = words or string(cause, "message") or string(cause, "code")
    told = [str(told) for told in (get(error, "status"), words) if told]
    return " ".join(told) or dumps(error, ensure_ascii=False)


def queued_shown(line: Any) -> ChipContent:
    return ChipContent("never sent", prompt_parts(get(line, "content")))
