"""Messages of Amazon Q and Kiro in the making: prompts, results, dividers, and texts of the client.

Shared by the interpreters of rows and of logs; where a text must stand for a rule to hold is theirs
to say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

from rireki.model.message import Entry, Message
from rireki.model.parts import Attachment, Part, ResultStatus, Text, ToolResult, Unknown
from rireki.sources.kit.decode import text_of
from rireki.sources.kit.pending import PendingMessage

__all__ = [
    "CANCELLED",
    "PUT_IN",
    "REDACTED",
    "TASK",
    "SavedMessage",
    "PictureStore",
    "SyntheticRule",
    "divider",
    "make_task",
    "output_of",
    "prompt",
    "result",
    "rule_of_answer",
    "rule_of_prompt",
    "says_error",
    "short_hash",
    "unknown",
]


#: The output of every call that a person cancelled.
CANCELLED = "Tool use was cancelled by the user"
#: Stands for results in a prompt that the client made of them when it trimmed.
REDACTED = "<tool result redacted>"


class SyntheticRule(NamedTuple):
    """Why a text is not simply what a person typed or a model said."""

    name: str
    label: str
    #: False where a person chose the text by a key, as with a denial: that is still their turn.
    harness: bool = True


#: Any text, of either side, that a prompt of a tool server put in.
PUT_IN = SyntheticRule("MCP prompt", "from an MCP prompt")
_RESUME = SyntheticRule("resume prompt", "asked for a summary on resuming")
_TIMEOUT_PROMPT = SyntheticRule("timeout prompt", "asked again after a timeout")
_INTERRUPT_PROMPT = SyntheticRule("interrupt text", "interrupted")
_REDACTED = SyntheticRule("redacted result", "tool results, left out")
_DENIAL = SyntheticRule("denial", "denied", harness=False)
_INTERRUPT_ANSWER = SyntheticRule("interrupt answer", "interrupted")
_TIMEOUT_ANSWER = SyntheticRule("timeout answer", "timed out")

_PROMPTS = {
    "In a few words, summarize our conversation so far.": _RESUME,
    "The user interrupted the tool execution.": _INTERRUPT_PROMPT,
    REDACTED: _REDACTED,
}
#: Texts whose end varies between versions.
_PROMPT_STARTS = {
    "You took too long to respond": _TIMEOUT_PROMPT,
    "I deny this tool request": _DENIAL,
}
_ANSWERS = {
    "Tool uses were interrupted, waiting for the next user prompt": _INTERRUPT_ANSWER,
    "Response timed out - message took too long to generate": _TIMEOUT_ANSWER,
}


def rule_of_prompt(text: str) -> SyntheticRule | None:
    """The rule for a prompt that the client wrote, or None for one that a person typed."""
    exact = _PROMPTS.get(text.strip())
    if exact is not None:
        return exact
    return next((rule for start, rule in _PROMPT_STARTS.items() if text.startswith(start)), None)


def rule_of_answer(text: str) -> SyntheticRule | None:
    """The rule for an answer that the client wrote, or None for one that a model gave."""
    return _ANSWERS.get(text.strip())


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


@dataclass(slots=True)
class PictureStore:
    """The bytes of the attachments met so far, by digest."""

    found: dict[str, bytes] = field(default_factory=dict)

    def add(self, data: Iterable[int], form: str) -> Part:
        """An attachment for a picture that the source keeps as a list of integers."""
        try:
            picture = bytes(data)
        except (ValueError, TypeError):
            return Unknown("picture that is no list of bytes")
        digest = sha256(picture).hexdigest()
        self.found[digest] = picture
        return Attachment(f"image/{form.lower()}", digest, size=len(picture))


def short_hash(text: str | bytes) -> str:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return sha256(data).hexdigest()[:8]


def prompt(
    name: str,
    text: str,
    at: str | None,
    position: int,
    flags: tuple[str, ...],
    place: SyntheticRule | None = None,
) -> SavedMessage:
    """What stands in a person's place: typed, chosen by a key, or written by the client.

    `place` is the rule for where it stands, which holds if its text tells nothing.
    """
    rule = rule_of_prompt(text) or place
    person = rule is None or not rule.harness
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
    return SavedMessage(
        Message(
            id=name,
            author="harness",
            display="fold",
            label=what,
            parts=[Unknown(what, raw)],
            entry=Entry(position, "unknown", (), "not understood"),
        )
    )


def result(call: str, output: str, failed: bool, cancelled: bool = False) -> ToolResult:
    status: ResultStatus = "error" if failed else "ok"
    if cancelled or (failed and output == CANCELLED):
        status = "cancelled"
    return ToolResult(call, status, output)
