"""What stands in a message, by its parts: typed text, files that were mentioned, calls, results, and
what the client put in. Both clients write the parts of Google's API.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rireki.model.message import Usage
from rireki.model.parts import Attachment, Part, ResultStatus, Text, ToolCall, Unknown
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pictures import Pictures
from rireki.sources.kit.rules import TextRule, rule_of, tagged, unwrapped

__all__ = [
    "FILLER",
    "FILLER_AFTER_SUMMARY",
    "SHELL",
    "SUMMARY",
    "MessageContent",
    "call_of",
    "content_of",
    "number",
    "parts_of",
    "picture_of",
    "response_of",
    "shell_command",
    "task_of",
    "usage_of",
]

#: What a result says of a call that the person did not allow.
_CANCELLED = "[Operation Cancelled]"
SHELL = TextRule("shell command", "shell command", "I ran the following shell command:\n")
_CONTEXT = ("This is the Gemini CLI. We are", "This is the Qwen Code. We are")
_EDITOR = ("Here is the user's editor context", "Here is a summary of changes in the user's editor")
_NUDGES = (
    *("System: Please continue.", "System: Potential loop detected"),
    "You have stopped calling tools without finishing.",
)
SUMMARY = tagged("summary", "summary", "state_snapshot", "fold")
#: Texts in a person's place that nobody typed; each part of a message is judged alone.
_INJECTED: tuple[TextRule, ...] = (
    tagged("session context", "session context", "session_context", "fold"),
    *(TextRule("session context", "session context", text, display="fold") for text in _CONTEXT),
    *(TextRule("editor context", "editor context", text, display="fold") for text in _EDITOR),
    *(TextRule("nudge", "nudge of the program", text, display="fold") for text in _NUDGES),
    TextRule("nudge", "nudge of the program", "Please continue.", exact=True, display="fold"),
    SUMMARY,
    TextRule("summary", "summary", "<scratchpad>", "</state_snapshot>", display="fold"),
    tagged("reminder", "reminder", "system-reminder", "fold"),
    tagged("hook", "hook", "hook_context", "fold"),
    tagged("background task", "a background task ended", "task-notification"),
    SHELL,
)
#: What the client lets the model say, so that there is an answer to what it put in.
FILLER_AFTER_SUMMARY = "Got it. Thanks for the additional context!"
FILLER = frozenset(("Got it. Thanks for the context!", FILLER_AFTER_SUMMARY))
#: Between these stand the files that a prompt mentions by `@path`.
_FILES, _FILES_END = "\n--- Content from referenced", "--- End of content ---"
_SHELL = re.compile(
    r"I ran the following shell command:\n```sh\n(.*?)\n```\n\n"
    r"This produced the following result:\n```\n(.*?)\n?```\s*",
    re.DOTALL,
)
_OBJECTIVE = re.compile(r"<objective>\s*(.*?)\s*</objective>", re.DOTALL)


@dataclass(slots=True)
class MessageContent:
    """The parts of one message, sorted by what they are."""

    #: Words and pictures: a prompt's, or an answer's.
    said: list[Part] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[Any] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)
    #: The text of files that a prompt mentions.
    files: list[str] = field(default_factory=list)
    injected: list[tuple[TextRule, str]] = field(default_factory=list)
    #: What the client made of what was typed, for the model.
    given: str = ""

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.said if isinstance(part, Text))


def parts_of(content: Any) -> list[Any]:
    """A content may be one text, one part, or a list of both."""
    found = content if isinstance(content, list) else [] if content is None else [content]
    return [{"text": one} if isinstance(one, str) else one for one in found]


def content_of(content: Any, pictures: Pictures, *, asked: bool) -> MessageContent:
    """`asked`: it stands in a person's place, where clients put texts of their own."""
    found = MessageContent()
    inside = False
    for part in parts_of(content):
        text = get(part, "text")
        if not isinstance(text, str):
            _sort(found, part, pictures)
        elif get(part, "thought") is True:
            found.thoughts.append(text)
        elif asked:
            inside = _judge(found, text, inside)
        elif text:
            found.said.append(Text(text))
    return found


def _judge(found: MessageContent, text: str, inside: bool) -> bool:
    """Sort a text in a person's place; returns whether files go on after it."""
    if not inside:
        typed, mark, rest = text.partition(_FILES)
        if rule := rule_of(text, _INJECTED):
            found.injected.append((rule, text))
            return False
        if typed:
            found.said.append(Text(typed))
        if not mark:
            return False
        text = mark + rest
    found.files.append(text)
    return _FILES_END not in text


def _sort(found: MessageContent, part: Any, pictures: Pictures) -> None:
    """A part that is no text."""
    if call := get(part, "functionCall"):
        found.calls.append(call)
    elif response := get(part, "functionResponse"):
        found.results.append(response)
    elif data := get(part, "inlineData"):
        found.said.append(picture_of(data, pictures))
    elif file := get(part, "fileData"):
        media = string(file, "mimeType") or "application/octet-stream"
        found.said.append(Attachment(media, name=string(file, "fileUri")))
    elif not isinstance(part, dict) or set(part) - {"thoughtSignature", "thought"}:
        found.said.append(Unknown("part of a message", part))


def picture_of(data: Any, pictures: Pictures) -> Attachment:
    media = string(data, "mimeType") or "application/octet-stream"
    try:
        return pictures.add(base64.b64decode(string(data, "data"), validate=True), media)
    except (binascii.Error, ValueError):
        return Attachment(media)


def call_of(call: Any, fallback: str) -> ToolCall:
    return ToolCall(string(call, "id") or fallback, string(call, "name"), get(call, "args"))


def response_of(response: Any, pictures: Pictures) -> tuple[str, ResultStatus, list[Part]]:
    """What a tool gave back: its words, how it ended, and pictures."""
    value = get(response, "response")
    failed = isinstance(value, dict) and "error" in value and "output" not in value
    told = value.get("error" if failed else "output", value) if isinstance(value, dict) else value
    seen = [data for one in items(response, "parts") if (data := get(one, "inlineData"))]
    text = unwrapped(words(told), "untrusted_context")
    ended: ResultStatus = "error" if failed else "ok"
    if failed and text.startswith(_CANCELLED):
        ended = "cancelled"
    return text, ended, [picture_of(data, pictures) for data in seen]


def shell_command(text: str) -> tuple[str, str]:
    """A command that the person ran with `!`, and what came of it."""
    found = _SHELL.fullmatch(text)
    return (found[1], found[2]) if found else (text, "")


def task_of(text: str) -> str:
    """What a sub-agent is asked for, without the template around it."""
    found = _OBJECTIVE.search(text)
    return found[1] if found and text.lstrip().startswith("Your task is to ") else text


def number(value: Any, name: str) -> int:
    found = get(value, name)
    return found if isinstance(found, int) and 0 <= found < 1 << 53 else 0


def usage_of(read: int, cached: int, written: int) -> Usage | None:
    """The tokens of one answer. What was read from the cache is part of the input."""
    if not read and not written:
        return None
    return Usage(max(0, read - cached), written, min(cached, read))


def strings_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from strings_in(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from strings_in(one)
