"""Tells the sessions of Kiro's third engine, which the CLI and the editor share: a line per event.

Known second hand only: what is not recognised is kept and shown folded. Lines are never taken back;
a checkpoint that was gone back to abandons what came after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from rireki.model.conversation import Answer
from rireki.model.message import Author, Display, Entry
from rireki.model.parts import Notice, Part, Text, Thinking, ToolCall, ToolResult, Unknown
from rireki.model.times import from_iso
from rireki.sources.amazon_q.blocks import credit_answer, credits_in
from rireki.sources.amazon_q.pending import (
    SavedMessage,
    divider,
    make,
    output_of,
    prompt,
    result,
    says_error,
    short_hash,
    unknown,
)
from rireki.sources.kit.decode import fit_loosely, text_of
from rireki.sources.kit.fields import get, items, string
from rireki.sources.kit.records import DecodedLine
from rireki.sources.kit.rules import TextRule, rule_of

__all__ = ["PROGRAM", "SPEC", "Telling", "V3Session", "open_v3_session"]

#: What the engine notes for itself.
PROGRAM = "notice of the program"
_NOTES = (
    *("session_start", "turn_start", "turn_end", "session_metadata", "usage_summary"),
    *("pending_interaction", "interaction_resolved", "sub_agent_start", "sub_agent_complete"),
)
#: Words in the reason why a turn stopped that mean it was broken off. Not every reason is known.
_BROKEN_OFF = ("error", "fail", "cancel", "abort", "interrupt")
#: Texts that the editor writes in a person's place, told by how they begin.
_WRITTEN = (
    *("<identity>", "# System Prompt", "# Identity", "## Included Rules", "<key_kiro_features>"),
    *("You are operating in a workspace", "<EnvironmentContext>", "<steering-reminder>"),
)
SPEC = TextRule(
    "put in by the editor",
    "task of a spec",
    "Follow these instructions for user requests related to spec tasks",
    display="fold",
)
_PROMPTS = (
    *(TextRule("put in by the editor", "context", opens, display="fold") for opens in _WRITTEN),
    TextRule("summary", "summary", "CONTEXT TRANSFER:", display="fold"),
    SPEC,
)
_COMPACTED = "context compacted"
#: A first prompt that stands in the line of the session's start is no longer than this.
_SHORT = 2000


def rule_of_prompt(text: str) -> TextRule | None:
    """The rule of a text that the editor wrote in a person's place; None for what was typed."""
    return rule_of(text, _PROMPTS)


class V3Session(msgspec.Struct, frozen=True):
    """`session.json` beside the messages."""

    id: str | None = None
    title: str | None = None
    workspace_paths: list[str] | None = msgspec.field(default=None, name="workspacePaths")
    model: str | None = msgspec.field(default=None, name="modelId")
    status: Any = None
    created_at: str | None = msgspec.field(default=None, name="createdAt")
    modified_at: str | None = msgspec.field(default=None, name="lastModifiedAt")
    parent: str | None = msgspec.field(default=None, name="parentSessionId")
    reason: str | None = msgspec.field(default=None, name="createdReason")

    @property
    def forked_at(self) -> str | None:
        """When it was made as a copy: older lines are those of the session it was made from."""
        is_fork = self.parent and self.reason != "subagent"
        return from_iso(self.created_at) if is_fork else None


def open_v3_session(value: Any) -> V3Session:
    opened, _ = fit_loosely(value, V3Session)
    return opened


@dataclass(slots=True)
class Telling:
    """Fed with the lines of `messages.jsonl`, all at once, in order."""

    #: Lines before this moment were copied from another session.
    forked_at: str | None = None
    #: Another agent asks, no person.
    is_subagent: bool = False
    drafts: list[SavedMessage] = field(default_factory=list)
    entries: int = 0
    #: Sub-agents, each with the call that started it.
    children: dict[str, str | None] = field(default_factory=dict)
    #: The credits of each run.
    credits: list[Answer] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _denied: set[str] = field(default_factory=set)
    #: What could be chosen, by call: the options that mean no.
    _refusals: dict[str, set[str]] = field(default_factory=dict)
    _opens: bool = False

    def feed_all(self, lines: Sequence[DecodedLine]) -> None:
        kinds = [string(get(line.value, "payload"), "type") for line in lines]
        end = kinds.index("turn_end") if "turn_end" in kinds else len(kinds)
        self._opens = "user" not in kinds[:end]
        for line in lines:
            self.feed(line)

    def _note_credits(self, payload: dict[str, Any], at: str | None) -> None:
        run = string(payload, "executionId")
        metered = credits_in(items(payload, "promptTurnSummaries"), "usage")
        if run and metered and string(payload, "type") == "usage_summary":
            self.credits.append(credit_answer(run, "", at, metered))

    def feed(self, line: DecodedLine) -> None:
        value = line.value
        fields = value if isinstance(value, dict) else {}
        payload = fields.get("payload")
        self.entries += 1
        if isinstance(payload, dict):
            self._note_credits(payload, from_iso(fields.get("timestamp")))
            draft = self._draft(fields, payload, line.position)
        else:
            draft = unknown(self._name(fields, value), "line", value, line.position)
        draft.group = draft.message.id
        draft.refs += line.refs
        draft.message.at = from_iso(fields.get("timestamp"))
        draft.message.upstream = "present" if line.present else "gone"
        if self.forked_at and draft.message.at and draft.message.at < self.forked_at:
            _make_copy(draft)
        self.drafts.append(draft)

    def _draft(self, value: dict[str, Any], payload: dict[str, Any], position: int) -> SavedMessage:
        name, kind = self._name(value, value), payload.get("type")
        self._note(kind, payload)
        if kind == "user":
            return self._asked(name, payload, position)
        if kind == "session_start" and self._is_prompt(payload):
            return self._asked(name, payload, position)
        if kind == "assistant":
            return self._said(name, payload, position)
        if kind == "tool_call":
            call = ToolCall(_call(payload), str(payload.get("toolName")), payload.get("args"))
            return _draft(name, "agent", "bubble", [call], position, "assistant", "answer")
        if kind == "tool_result":
            return _draft(
                name,
                "tool",
                "fold",
                [self._result(name, payload)],
                position,
                "user",
                "tool results",
            )
        if kind == "tombstone":
            return self._taken_back(name, payload)
        if kind in _NOTES:
            note = Notice(f"{kind}: {text_of({**payload, 'type': kind})}")
            draft = _draft(name, "harness", "hidden", [note], position, "note", PROGRAM)
            draft.ends = False if _is_broken_off(payload) else None
            return draft
        return unknown(name, str(kind), value, position)

    def _note(self, kind: Any, payload: dict[str, Any]) -> None:
        """What later lines, or other sessions, are understood by."""
        call = _call(payload)
        if kind == "pending_interaction":
            self._refusals[call] = {
                string(one, "optionId")
                for one in items(payload, "options")
                if string(one, "kind").startswith("reject")
            }
        elif kind == "interaction_resolved":
            if payload.get("selectedOption") in self._refusals.get(call, set()) | {"reject"}:
                self._denied.add(call)
        elif kind == "sub_agent_start" and string(payload, "subSessionId"):
            self.children[string(payload, "subSessionId")] = string(payload, "toolCallId") or None

    def _is_prompt(self, payload: dict[str, Any]) -> bool:
        """Whether a session's start holds what was asked first: nothing else does, and it is short."""
        text = text_in(payload.get("content"))
        return self._opens and 0 < len(text) <= _SHORT and rule_of_prompt(text) is None

    def _asked(self, name: str, payload: dict[str, Any], position: int) -> SavedMessage:
        text = text_in(payload.get("content"))
        rule = rule_of_prompt(text)
        draft = prompt(name, text, None, position, ("user",), rule)
        if rule is not None:
            draft.message.display = rule.display
        elif self.is_subagent:
            draft.message.author, draft.message.label = "harness", "task"
            draft.message.entry = Entry(position, "user", ("user",), "task")
        extra = [(what, payload[what]) for what in ("images", "documents") if payload.get(what)]
        draft.message.parts += [Unknown(what, raw) for what, raw in extra]
        if payload.get("source") == "steer":
            # Typed while the agent worked: a part of that turn.
            draft.typed, draft.ends = False, None
        return draft

    def _said(self, name: str, payload: dict[str, Any], position: int) -> SavedMessage:
        text, operation = text_in(payload.get("content")), payload.get("operationType")
        if operation == "Summary":
            return self._compacted(name, [Text(text)])
        thinks = operation == "Reasoning"
        said: Part = Text(text)
        if thinks and text.strip() in ("", "..."):
            said = Notice("The provider withheld the thinking.")
        elif thinks:
            said = Thinking(text)
        answer = _draft(name, "agent", "bubble", [said], position, "assistant", "answer")
        # Who only thought has not had their say.
        answer.ends = not thinks
        return answer

    def _result(self, name: str, payload: dict[str, Any]) -> ToolResult:
        content, call = payload.get("content"), _call(payload)
        failed = payload.get("success") is False or says_error(content)
        broken_off = failed and (name.endswith(_SYNTHETIC) or call in self._denied)
        return result(call, text_in(content), failed, broken_off)

    def _taken_back(self, name: str, payload: dict[str, Any]) -> SavedMessage:
        if payload.get("kind") != "checkpoint_revert":
            return self._compacted(name, [])
        first = payload.get("effectiveFromMessageId")
        at = next((n for n, one in enumerate(self.drafts) if one.group == first), len(self.drafts))
        for draft in self.drafts[at:]:
            draft.message.abandoned = True
        label = "went back to an earlier point"
        return divider(name, label, [Notice(label)])

    def _compacted(self, name: str, parts: list[Part]) -> SavedMessage:
        """A summary and the note that the context was cut come together: that is one divider."""
        shown = (one.message for one in reversed(self.drafts) if one.message.display != "hidden")
        before = next(shown, None)
        again = before is not None and (before.display, before.label) == ("divider", _COMPACTED)
        draft = divider(name, _COMPACTED, parts or [Notice(_COMPACTED)])
        if again and before is not None:
            twice = draft.message if not parts else before
            twice.display, twice.label = "hidden", PROGRAM
        return draft

    def _name(self, fields: dict[str, Any], value: Any) -> str:
        name = fields.get("id")
        name = name if isinstance(name, str) and name else f"v{short_hash(text_of(value))}"
        while name in self._seen:
            name += "+"
        self._seen.add(name)
        return name


_SYNTHETIC = "-result-synthetic"


def _call(payload: dict[str, Any]) -> str:
    return str(payload.get("toolCallId")).removesuffix(_SYNTHETIC)


def text_in(content: Any) -> str:
    """A text, a block of text, or a list of such blocks; whatever else as JSON."""
    if isinstance(content, list) and all(isinstance(one, dict | str) for one in content):
        return "\n".join(filter(None, map(text_in, content)))
    if isinstance(content, dict) and content.get("type", "text") == "text" and "text" in content:
        return text_in(content["text"])
    return output_of("" if content is None else content)


def _make_copy(draft: SavedMessage) -> None:
    """A line of the session it was forked from: neither its turn nor its calls count again."""
    message = draft.message
    draft.typed, draft.ends = False, None
    message.parts = [
        Notice(f"{part.name}: {text_of(part.arguments)}")
        if isinstance(part, ToolCall)
        else Text(part.output)
        if isinstance(part, ToolResult)
        else part
        for part in message.parts
    ]
    if message.display == "bubble":
        message.author, message.display = "harness", "fold"
        message.label = "from the session it was forked from"
        position = message.entry.position if message.entry else 0
        message.entry = Entry(position, "copy", (), message.label)


def _is_broken_off(payload: dict[str, Any]) -> bool:
    reason = str(payload.get("stopReason") or "").lower()
    return payload.get("type") == "turn_end" and any(word in reason for word in _BROKEN_OFF)


def _draft(
    name: str,
    author: Author,
    display: Display,
    parts: list[Part],
    position: int,
    role: str,
    rule: str,
) -> SavedMessage:
    return make(name, author, display, parts, Entry(position, role, (), rule), ends=False)
