"""What the events of a session say: prompts, answers, calls and results, and what the program added.

Sub-agents write into the same file; `agents_of` tells their events from the session's own. Tokens are
counted per call of the model where the client notes them, else per process, when it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rireki.model.message import Author, Display, Usage
from rireki.model.parts import Notice, Part, Text, Thinking, ToolCall
from rireki.model.times import from_iso
from rireki.sources.copilot.parts import attachments_of, number, result_of, tokens
from rireki.sources.kit.fields import amount, get, items, string, words
from rireki.sources.kit.pending import RESULTS, ConversationBuilder, PendingMessage
from rireki.sources.kit.records import DecodedLine
from rireki.sources.kit.rules import unwrapped

__all__ = ["SessionEvent", "EventReader", "agents_of"]

#: What says nothing to people, or says again what another event does.
_SILENT = frozenset(
    (
        *("session.start", "session.resume", "session.model_change", "session.compaction_start"),
        *("session.idle", "session.mode_changed", "session.plan_changed", "session.usage_info"),
        *("session.workspace_file_changed", "session.remote_steerable_changed"),
        *("session.background_tasks_changed", "session.tools_updated", "session.todos_changed"),
        *("session.mcp_servers_loaded", "session.mcp_server_status_changed"),
        *("session.skills_loaded", "session.extensions_loaded", "session.permissions_changed"),
        *("session.session_limits_changed", "session.title_changed", "session.context_changed"),
        "session.usage_checkpoint",
        *("assistant.turn_start", "assistant.turn_end", "assistant.intent"),
        *("assistant.message_start", "assistant.message_delta", "assistant.reasoning_delta"),
        *("assistant.streaming_delta", "tool.execution_partial_result", "tool.execution_progress"),
        *("permission.requested", "user_input.requested", "elicitation.requested"),
        *("exit_plan_mode.requested", "external_tool.requested", "external_tool.completed"),
        *("command.queued", "command.execute", "command.completed", "commands.changed"),
        *("subagent.started", "subagent.configured", "subagent.selected", "subagent.deselected"),
        *("subagent.completed", "hook.start", "hook.end", "pending_messages.modified"),
    )
)
#: Events that a person answered, and the fields with the words they typed.
_REPLIES = {
    "permission.completed": ("denial", "denied"),
    "user_input.completed": ("reply", "answered a question"),
    "elicitation.completed": ("reply", "answered a question"),
    "exit_plan_mode.completed": ("reply", "answered a plan"),
}
#: Events that tell people something, and how serious it is.
_NOTICES: dict[str, Literal["info", "warning", "error"]] = {
    "session.info": "info",
    "session.warning": "warning",
    "session.error": "error",
    "subagent.failed": "error",
    "session.handoff": "info",
    "session.task_complete": "info",
}
_NOTIFICATION = "system_notification"
_SHUTDOWN = "session.shutdown"
#: What Copilot counts in place of tokens.
PREMIUM = "premium request"
FORKED = "from the session it was forked from"


@dataclass(slots=True)
class SessionEvent:
    """A line of the file."""

    line: DecodedLine
    #: A copy of an event of the session that this one was forked from.
    copied: bool = False

    @property
    def type(self) -> str:
        return self.line.text("type")

    @property
    def data(self) -> Any:
        return get(self.line.value, "data")

    @property
    def id(self) -> str:
        return self.line.text("id") or f"line-{self.line.position}"

    @property
    def at(self) -> str | None:
        return from_iso(self.line.text("timestamp"))


def agents_of(events: Iterable[SessionEvent]) -> dict[str, list[SessionEvent]]:
    """The events of each agent, by the call that started it; the session's own under an empty name."""
    events = list(events)
    calls: dict[str, str] = {}
    for event in events:
        agent = event.line.text("agentId")
        call = string(event.data, "parentToolCallId") or _started(event)
        if agent and call:
            calls.setdefault(agent, call)
    found: dict[str, list[SessionEvent]] = {"": []}
    for event in events:
        agent = event.line.text("agentId")
        call = string(event.data, "parentToolCallId") or calls.get(agent, agent) or _started(event)
        found.setdefault(call, []).append(event)
    return found


def _started(event: SessionEvent) -> str:
    return string(event.data, "toolCallId") if event.type.startswith("subagent.") else ""


@dataclass(slots=True)
class EventReader:
    """Goes through the events of one agent and says what is in them to a builder."""

    builder: ConversationBuilder
    events: Sequence[SessionEvent]
    model: str = ""
    title: str = ""
    #: Calls that the model asked for, with their arguments.
    calls: dict[str, Any] = field(default_factory=dict)
    #: Commands that the person ran.
    _typed: set[str] = field(default_factory=set)
    _prompts: set[str] = field(default_factory=set)
    _questions: dict[str, str] = field(default_factory=dict)
    _thoughts: list[str] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)
    #: Tokens of answers since the client was started, where it does not note them call by call.
    _written: dict[str, int] = field(default_factory=dict)
    _metered: bool = False
    #: Whether answers say which model gave them.
    _names_models: bool = False
    _ended: bool = False
    _before: str = ""

    def read(self) -> None:
        for event in self.events:
            answers = event.type == "assistant.message"
            self._names_models |= answers and bool(string(event.data, "model"))
            for call in items(event.data, "toolRequests"):
                self.calls[string(call, "toolCallId")] = get(call, "arguments")
        for event in self.events:
            self._places[event.id] = before = len(self.builder.flow)
            self._take(event)
            if event.copied:
                self._set_aside(before)
            if event.type not in _SILENT:
                self._before = event.type
        for model, count in self._written.items():
            key = f"{self.builder.native_id}:{model}:open"
            self.builder.note_usage(key, model, Usage(0, count, lower_bound=True))

    def _take(self, event: SessionEvent) -> None:
        data = event.data
        match event.type:
            case "user.message":
                self._ask(event)
            case "assistant.message":
                self._reply(event)
            case "assistant.reasoning":
                self._thoughts.append(string(data, "content"))
            case "tool.execution_start":
                self._start(event)
            case "tool.execution_complete":
                self._result(event)
            case "tool.user_requested":
                self._typed.add(string(data, "toolCallId"))
                command = words(get(data, "arguments", "command")) or words(get(data, "arguments"))
                self._say(event, "person", "chip", [Text(f"! {command}")], "shell command")
            case "system.message":
                self._instruct(event)
            case "system.notification":
                text = unwrapped(string(data, "content"), _NOTIFICATION)
                self._say(event, "harness", "chip", [Notice(text)], "notification")
            case "skill.invoked":
                label = f"skill {string(data, 'name')}"
                self._say(event, "harness", "fold", [Text(string(data, "content"))], "skill", label)
            case "session.usage_record" | "assistant.usage":
                self._use(event)
            case kind if kind == _SHUTDOWN:
                self._shut_down(event)
            case kind if kind in _REPLIES:
                self._answered(event, *_REPLIES[kind])
            case kind if kind in _NOTICES:
                self._notice(event)
            case kind if kind.startswith("model."):
                pass  # a second copy of the whole context, written around a compaction
            case "user_input.requested" | "elicitation.requested" | "exit_plan_mode.requested":
                self._questions[string(data, "requestId")] = _question(data)
            case _:
                self._change(event)

    def _change(self, event: SessionEvent) -> None:
        """What happens to the session as a whole."""
        data = event.data
        match event.type:
            case "session.compaction_complete":
                if get(data, "success") is False:
                    told = Notice(words(get(data, "error")) or "compaction failed", "error")
                    self._say(event, "harness", "chip", [told], "error", "compaction failed")
                else:
                    self._divide(event, "context compacted", string(data, "summaryContent"))
            case "session.truncation":
                count = words(get(data, "messagesRemovedDuringTruncation"))
                self._divide(event, "trimmed", count)
            case "session.context_cleared":
                self._divide(event, "cleared", string(data, "initialMessage"))
            case "session.snapshot_rewind":
                begin = self._places.get(string(data, "upToEventId"), len(self.builder.flow))
                for left in self.builder.flow[begin:]:
                    left.message.abandoned = True
                self._divide(event, "went back to an earlier point", "")
            case "abort":
                self._abort(event)
            case kind if kind in _SILENT:
                self._note(event)
            case _:
                self._unknown(event)

    # ── facts ──

    def _note(self, event: SessionEvent) -> None:
        data = event.data
        self.builder.note_directory(string(get(data, "context"), "cwd") or string(data, "cwd"))
        self.model = string(data, "newModel") or string(data, "selectedModel") or self.model
        self.title = string(data, "title") or self.title
        if event.type in ("session.start", "session.resume"):
            self._ended = False

    def _use(self, event: SessionEvent) -> None:
        """The tokens of one call of the model. What was read from the cache is part of the input."""
        self._metered = True
        usage = get(event.data, "usage") or event.data
        if not event.copied:
            model = string(usage, "model") or self.model or "unknown"
            self.builder.note_usage(event.id, model, tokens(usage), event.at)

    def _shut_down(self, event: SessionEvent) -> None:
        """Totals of the process that ends here, where calls are not noted one by one.

        Where they are, the totals are those of all processes so far, and of the session it was forked from.
        """
        data = event.data
        metrics = get(data, "modelMetrics") or get(data, "accountingSnapshot", "modelMetrics")
        for model, one in metrics.items() if isinstance(metrics, dict) else ():
            if not self._metered and not event.copied:
                usage = tokens(get(one, "usage"))
                self.builder.note_usage(f"{event.id}:{model}", model, usage, event.at)
                self._written = {}
        # A total of all processes so far is told again by each; one of a process alone is not.
        key = self.builder.native_id if self._metered else event.id
        if not event.copied and (requests := amount(data, "totalPremiumRequests")):
            self.builder.note_usage(
                f"{key}:premium", "", Usage(), event.at, unit=PREMIUM, amount=requests
            )
        self._ended = True

    # ── what is said ──

    def _ask(self, event: SessionEvent) -> None:
        data = event.data
        source = string(data, "source")
        text = string(data, "content")
        parts: list[Part] = [Text(text)] if text else []
        parts += attachments_of(items(data, "attachments"), self.builder.pictures)
        if self.builder.nature == "subagent":
            asked = self._say(event, "harness", "bubble", parts, "task of a sub-agent")
            asked.typed, asked.ends = True, False
        elif source and source != "user":
            label = f"from {source}"
            self._say(event, "harness", "fold", parts, "not typed", label)
        else:
            self.builder.ask(event.line, event.id, parts, at=event.at)

    def _reply(self, event: SessionEvent) -> None:
        data = event.data
        model = string(data, "model")
        thought = string(data, "reasoningText") or "\n\n".join(filter(None, self._thoughts))
        self._thoughts = []
        parts: list[Part] = [Thinking(thought)] if thought else []
        parts += [Text(string(data, "content"))] if string(data, "content") else []
        parts += [
            ToolCall(string(call, "toolCallId"), string(call, "name"), get(call, "arguments"))
            for call in items(data, "toolRequests")
        ]
        written = get(data, "outputTokens")
        notified = self._before == "system.notification" or self._names_models
        if not model and not written and notified:
            # The client asks for the output of a command that ended; no model did.
            self._say(event, "harness", "fold", parts, "call of the client", "read by the client")
            return
        model = model or self.model
        self.builder.answer(event.line, event.id, parts, at=event.at, model=model or None)
        # What a sub-agent wrote is part of the totals of the session.
        own = self.builder.nature != "subagent" and not event.copied
        if own and not self._metered and (count := number(written)):
            model = model or "unknown"
            self._written[model] = self._written.get(model, 0) + count

    def _start(self, event: SessionEvent) -> None:
        """The call again; it is news only where no answer asked for it."""
        call = string(event.data, "toolCallId")
        if call not in self.calls and call not in self._typed:
            self.calls[call] = get(event.data, "arguments")
            part = ToolCall(call, string(event.data, "toolName"), self.calls[call])
            self._say(event, "harness", "fold", [part], "call of the client", "read by the client")

    def _result(self, event: SessionEvent) -> None:
        call = string(event.data, "toolCallId")
        result, pictures = result_of(call, event.data, self.builder.pictures)
        if call in self._typed:
            self._say(event, "person", "chip", [Text(result.output)], "shell command")
        else:
            said = self._say(event, "tool", "fold", [result, *pictures], RESULTS)
            said.ends = False

    def _instruct(self, event: SessionEvent) -> None:
        """The system prompt, which is written again on every turn: once is enough."""
        text = string(event.data, "content")
        if text not in self._prompts:
            self._prompts.add(text)
            self._say(event, "harness", "hidden", [Text(text)], "system prompt", "system prompt")

    # ── what happens ──

    def _answered(self, event: SessionEvent, rule: str, label: str) -> None:
        """What a person typed when the agent asked for something; that they only agreed is no news."""
        data = event.data
        result = get(data, "result")
        said = (
            string(result, "feedback")
            or string(data, "feedback")
            or words(get(data, "answer"))
            or words(get(data, "content"))
        )
        question = self._questions.get(string(data, "requestId"), "")
        if said:
            label = f"{label}: {question}" if question and rule == "reply" else label
            self._say(event, "person", "chip", [Text(said)], rule, label)

    def _notice(self, event: SessionEvent) -> None:
        level = _NOTICES[event.type]
        data = event.data
        text = string(data, "message") or string(data, "summary") or words(get(data, "error"))
        if not text:
            self._unknown(event)
            return
        rule = "error" if level == "error" else "note"
        said = self._say(event, "harness", "chip", [Notice(text, level)], rule)
        if level == "error":
            said.ends = False

    def _abort(self, event: SessionEvent) -> None:
        """Written also without a person, when the client has ended and a command in the background does."""
        reason = string(event.data, "reason")
        by_person = not self._ended and reason.startswith("user")
        told = Notice("The turn was interrupted.", "warning")
        author: Author = "person" if by_person else "harness"
        # After the end of the client there was no turn any more.
        display: Display = "hidden" if self._ended else "chip"
        said = self._say(event, author, display, [told], "interrupted", "interrupted")
        if not self._ended:
            said.ends = False

    # ── putting down ──

    def _divide(self, event: SessionEvent, label: str, text: str) -> None:
        self._say(event, "harness", "divider", [Text(text)], label, label)

    def _unknown(self, event: SessionEvent) -> None:
        self.builder.unknown(event.line, event.id, event.type or "event", at=event.at)

    def _say(
        self,
        event: SessionEvent,
        author: Author,
        display: Display,
        parts: Sequence[Part],
        rule: str,
        label: str | None = None,
    ) -> PendingMessage:
        return self.builder.say(
            event.line,
            event.id,
            author,
            display,
            parts,
            rule,
            at=event.at,
            label=label,
            role=event.type,
        )

    def _set_aside(self, before: int) -> None:
        """What was copied from the session this one was forked from: kept and found, not said again."""
        for one in self.builder.flow[before:]:
            one.typed, one.ends, one.copied = False, None, True
            if one.message.display == "bubble":
                one.message.display, one.message.label = "fold", FORKED


def _question(data: Any) -> str:
    return string(data, "question") or string(data, "message") or string(data, "summary")
