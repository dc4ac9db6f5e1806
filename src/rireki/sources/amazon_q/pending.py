"""Messages of Amazon Q and Kiro in the making: prompts, results, dividers, and texts of the client.

Shared by the interpreters of rows and of logs; where a text must stand for a rule to hold is theirs
to say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from rireki.model.message import Author, Display, Entry, Message
from rireki.model.parts import Notice, Part, ResultStatus, Text, Thinking, ToolResult, Unknown
from rireki.sources.kit.decode import text_of
from rireki.sources.kit.pending import ANSWER, NOT_UNDERSTOOD, PendingMessage
from rireki.sources.kit.rules import TextRule, rule_of

__all__ = [
    "PUT_IN",
    "REDACTED",
    "RULES",
    "TASK",
    "SavedMessage",
    "answer",
    "divider",
    "hook",
    "make",
    "make_task",
    "output_of",
    "prompt",
    "result",
    "rule_of_answer",
    "says_error",
    "short_hash",
    "thinking",
    "unknown",
]


#: The output of every call that a person cancelled.
CANCELLED = "Tool use was cancelled by the user"
#: Stands for results in a prompt that the client made of them when it trimmed.
REDACTED = "<tool result redacted>"


#: Any text, of either side, that a prompt of a tool server put in.
PUT_IN = TextRule("MCP prompt", "from an MCP prompt", "")
#: Texts whose end varies between versions are known by their beginning.
_PROMPTS = (
    TextRule(
        "resume prompt",
        "asked for a summary on resuming",
        "In a few words, summarize our conversation so far.",
        exact=True,
    ),
    TextRule(
        "interrupt text", "interrupted", "The user interrupted the tool execution.", exact=True
    ),
    TextRule("redacted result", "tool results, left out", REDACTED, exact=True),
    TextRule("timeout prompt", "asked again after a timeout", "You took too long to respond"),
    # A person chose it by a key: that is still their turn.
    TextRule("denial", "denied", "I deny this tool request", author="person"),
)
_ANSWERS = (
    TextRule(
        "interrupt answer",
        "interrupted",
        "Tool uses were interrupted, waiting for the next user prompt",
        exact=True,
    ),
    TextRule(
        "timeout answer",
        "timed out",
        "Response timed out - message took too long to generate",
        exact=True,
    ),
)
#: The rules for texts that the client wrote.
RULES = (PUT_IN, *_PROMPTS, *_ANSWERS)


def rule_of_answer(text: str) -> TextRule | None:
    """The rule for an answer that the client wrote, or None for one that a model gave."""
    return rule_of(text, _ANSWERS)


def output_of(value: Any) -> str:
    """A tool's JSON output as people read it."""
    if isinstance(value, str):
        return value
    if _is_shell(value):
        return _with_rest(_shell(value), value, "stdout", "stderr", "exit_status")
    if _is_answer(value):
        text = "\n".join(_content(item) for item in value["content"])
        known = ["content", *(["isError"] if isinstance(value.get("isError"), bool) else [])]
        return _with_rest(text, value, *known)
    return text_of(value)


def says_error(value: Any) -> bool:
    """Whether a tool's server itself says that the call failed: the client calls that a success."""
    return isinstance(value, dict) and value.get("isError") is True


def _is_shell(value: Any) -> bool:
    return isinstance(value, dict) and all(
        name in value and isinstance(value[name], str | None) for name in ("stdout", "stderr")
    )


def _shell(value: dict[str, Any]) -> str:
    lines = [value[name].rstrip("\n") for name in ("stdout", "stderr") if value[name]]
    status = value.get("exit_status")
    if status not in (None, "", 0, "0", "exit status: 0"):
        lines.append(f"[{status}]")
    return "\n".join(lines)


def _is_answer(value: Any) -> bool:
    """Whether it is what a server of tools answers: a list of blocks, each with its type."""
    content = value.get("content") if isinstance(value, dict) else None
    return isinstance(content, list) and all(
        isinstance(item, dict) and ("type" in item or "text" in item) for item in content
    )


def _content(item: dict[str, Any]) -> str:
    if not isinstance(item.get("text"), str):
        return text_of(item)
    known = ["text", *(["type"] if item.get("type") == "text" else [])]
    return _with_rest(item["text"], item, *known)


def _with_rest(text: str, value: dict[str, Any], *told: str) -> str:
    """The text, and on a line of its own whatever the value says besides."""
    rest = {name: item for name, item in value.items() if name not in told and item is not None}
    return "\n".join(filter(None, [text, text_of(rest) if rest else ""]))


#: A prompt that another agent wrote.
TASK = "task"
TYPED_PROMPT = "typed prompt"
HOOK = "hook context"


@dataclass(slots=True)
class SavedMessage(PendingMessage):
    """A message, and what putting the stores of a conversation together needs to know of it."""

    #: Names the history entry or log entry it came from; messages of one group stay together.
    group: str = ""
    #: The text by which the transcript would witness it: ("user", text) or ("agent", text).
    witness: tuple[str, str] | None = None
    #: The backend's id of the answer, where this is one.
    answer: str | None = None
    directory: str | None = None
    #: Stands at the very end, whatever else is put in.
    last: bool = False

    @property
    def role(self) -> str:
        """Whose side of an entry it is; empty for what is no entry's."""
        return self.message.entry.role if self.message.entry else ""

    @property
    def announces(self) -> bool:
        """Hook output, or an earlier version of the prompt that follows."""
        return self.role == "context" or self.message.replaced_by is not None

    @property
    def has_turn(self) -> bool:
        """What only the transcript knows stands between turns, not in one."""
        return bool(self.group)


def short_hash(text: str | bytes) -> str:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return sha256(data).hexdigest()[:8]


def prompt(
    name: str,
    text: str,
    at: str | None,
    position: int,
    flags: tuple[str, ...],
    place: TextRule | None = None,
) -> SavedMessage:
    """What stands in a person's place: typed, chosen by a key, or written by the client.

    `place` is the rule for where it stands, which holds if its text tells nothing.
    """
    rule = rule_of(text, _PROMPTS) or place
    person = rule is None or rule.author == "person"
    return SavedMessage(
        Message(
            id=name,
            author="person" if person else "harness",
            display="bubble" if rule is None else "chip",
            label=rule.label if rule else None,
            at=at,
            parts=[Text(text)],
            entry=Entry(
                position,
                "user",
                (*flags, "synthetic") if rule else flags,
                rule.name if rule else TYPED_PROMPT,
            ),
        ),
        typed=person,
        ends=False,
        witness=("user", text),
    )


def make_task(draft: SavedMessage) -> None:
    """The agent that started a sub-agent wrote it, in a person's place."""
    message = draft.message
    entry = message.entry
    # What was typed or chosen instead of allowing a call is a person's, in a sub-agent too.
    if entry is None or entry.rule != TYPED_PROMPT or "Prompt" not in entry.flags:
        return
    message.author, message.label = "harness", message.label or TASK
    message.entry = Entry(entry.position, entry.role, entry.flags, TASK)
    draft.typed = False


def divider(name: str, label: str, parts: list[Part], at: str | None = None) -> SavedMessage:
    return SavedMessage(
        Message(id=name, author="harness", display="divider", label=label, at=at, parts=parts)
    )


def unknown(name: str, what: str, raw: Any, position: int) -> SavedMessage:
    """Something we do not understand: kept, shown folded."""
    return make(
        name,
        "harness",
        "fold",
        [Unknown(what, raw)],
        Entry(position, "unknown", (), NOT_UNDERSTOOD),
        label=what,
    )


def make(
    name: str,
    author: Author,
    display: Display,
    parts: list[Part],
    entry: Entry,
    *,
    at: str | None = None,
    label: str | None = None,
    ends: bool | None = None,
) -> SavedMessage:
    message = Message(
        id=name, author=author, display=display, label=label, at=at, parts=parts, entry=entry
    )
    return SavedMessage(message, ends=ends)


def hook(name: str, text: str, at: str | None, position: int, field: str) -> SavedMessage:
    """What hooks added to a prompt."""
    entry = Entry(position, "context", (field,), HOOK)
    return make(name, "harness", "chip", [Text(text)], entry, at=at, label="hook context")


def answer(
    name: str,
    parts: list[Part],
    position: int,
    *,
    text: str,
    names: Sequence[str],
    made_up: TextRule | None,
    synthetic: bool,
    at: str | None,
    model: str | None,
) -> SavedMessage:
    """What a model said, or the client in its place; the transcript has its text, or its tools' names."""
    said = make(
        name,
        "harness" if synthetic else "agent",
        "chip" if synthetic else "bubble",
        parts,
        Entry(position, "assistant", (), made_up.name if made_up else ANSWER),
        at=at,
        label=made_up.label if made_up else None,
    )
    said.message.model = model
    said.witness = ("agent", text or ",".join(names))
    return said


def thinking(text: str | None, redacted: Any) -> list[Part]:
    if text:
        return [Thinking(text)]
    return [Notice("The provider withheld the thinking.")] if redacted else []


def result(call: str, output: str, failed: bool, cancelled: bool = False) -> ToolResult:
    status: ResultStatus = "error" if failed else "ok"
    if cancelled or (failed and output == CANCELLED):
        status = "cancelled"
    return ToolResult(call, status, output)
