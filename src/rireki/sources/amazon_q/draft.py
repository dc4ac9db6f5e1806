"""Messages on their way into the story, with what the counting and placing still need to know."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from rireki.model.message import Entry, Message
from rireki.model.parts import Attachment, Part, ResultStatus, Text, ToolResult, Unknown
from rireki.model.strand import Ref
from rireki.sources.amazon_q.synthetic import CANCELLED, SyntheticRule, rule_of_prompt

__all__ = [
    "TASK",
    "Draft",
    "PictureStore",
    "divider",
    "make_task",
    "prompt",
    "result",
    "short_hash",
    "unknown",
]

#: A prompt that another agent wrote.
TASK = "task"
TYPED_PROMPT = "typed prompt"


@dataclass(slots=True)
class Draft:
    """A message and its part in the whole."""

    message: Message
    #: A person typed it (or chose it by a key): it starts a turn.
    typed: bool = False
    #: True: the agent had its say. False: something is still to come. None: does not matter.
    ends: bool | None = None
    #: Names the history entry or log entry it came from; drafts of one group stay together.
    group: str = ""
    #: The text by which the transcript would witness it: ("user", text) or ("agent", text).
    witness: tuple[str, str] | None = None
    #: The backend's id of the answer, where this is one.
    answer: str | None = None
    directory: str | None = None
    #: Stands at the very end, whatever else is put in.
    last: bool = False
    #: The records it was made of, where they are known.
    refs: list[Ref] = field(default_factory=list)

    @property
    def role(self) -> str:
        """Whose side of an entry it is; empty for what is no entry's."""
        return self.message.entry.role if self.message.entry else ""


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
) -> Draft:
    """What stands in a person's place: typed, chosen by a key, or written by the client.

    `place` is the rule for where it stands, which holds if its text tells nothing.
    """
    rule = rule_of_prompt(text) or place
    person = rule is None or not rule.harness
    return Draft(
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


def make_task(draft: Draft) -> None:
    """The agent that started a sub-agent wrote it, in a person's place."""
    message = draft.message
    entry = message.entry
    # What was typed or chosen instead of allowing a call is a person's, in a sub-agent too.
    if entry is None or entry.rule != TYPED_PROMPT or "Prompt" not in entry.flags:
        return
    message.author, message.label = "harness", message.label or TASK
    message.entry = Entry(entry.position, entry.role, entry.flags, TASK)
    draft.typed = False


def divider(name: str, label: str, parts: list[Part], at: str | None = None) -> Draft:
    return Draft(
        Message(id=name, author="harness", display="divider", label=label, at=at, parts=parts)
    )


def unknown(name: str, what: str, raw: Any, position: int) -> Draft:
    """Something we do not understand: kept, shown folded."""
    return Draft(
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
