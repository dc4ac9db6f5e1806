"""What the lines of a rollout say: prompts, answers, calls and results, and what the program added.

Each generation writes most things twice, for the model (`response_item`) and for people
(`event_msg`). What people see is taken from the events of the file's generation, calls and results
from the items; the other copy is passed over. A file that has no such events is told from its items.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from rireki.model.message import Author, Display, Usage
from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from rireki.sources.codex.rollout import Line, Rollout
from rireki.sources.codex.steps import end_of, reviewed, step_of
from rireki.sources.codex.texts import (
    ASKED,
    INJECTED,
    SHELL,
    agent_words,
    directory_in,
    odd_pieces,
    output_of,
    shell_command,
    summaries_in,
)
from rireki.sources.kit.decode import json_in
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pending import ConversationBuilder, PendingMessage
from rireki.sources.kit.rules import TextRule, rule_of

__all__ = ["RolloutReader"]

#: What says nothing to people, or says again what another line does.
_SILENT = frozenset(
    (
        *("world_state", "inter_agent_communication", "inter_agent_communication_metadata"),
        *("security_risk_score", "state", "task_started", "thread_settings_applied"),
        *("context_compacted", "thread_goal_updated", "mcp_tool_call_end"),
        *("web_search_end", "patch_apply_begin", "patch_apply_end", "exec_command_begin"),
        *("exec_command_end", "ghost_snapshot", "additional_tools", "compaction"),
        *("ContextCompaction", "HookPrompt", "turn_started", "view_image_tool_call"),
        *("compaction_summary", "compaction_trigger", "context_compaction", "image_generation_end"),
        *("collab_agent_interaction_end", "collab_waiting_end", "collab_close_end"),
        *("collab_resume_end", "dynamic_tool_call_request", "dynamic_tool_call_response"),
    )
)
#: Items that are calls, and the field with what is called for.
_CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "web_search_call": "action",
    "tool_search_call": "arguments",
    "image_generation_call": "revised_prompt",
}
#: Calls that are over when they are written: no output follows.
_OVER = ("web_search_call", "image_generation_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "tool_search_output")
_COMPACTED = "Compact task completed"
_FORKED = "from the thread it was forked from"


class RolloutReader:
    """Goes through the lines of one file and says what is in them to a builder."""

    def __init__(self, rollout: Rollout, builder: ConversationBuilder, prefix: str) -> None:
        self.rollout = rollout
        self.builder = builder
        self.prefix = prefix
        #: Threads that this one started, and the calls that did.
        self.children: dict[str, str | None] = {}
        #: What the thread was called last.
        self.name = ""
        #: What there is to say of the file as a whole.
        self.note = ""
        self._line = rollout.lines[0]
        self._answer: PendingMessage | None = None
        self._pictures: list[str] = []
        #: Calls that started a sub-agent, by its name; and the last call of all.
        self._tasks: dict[str, str] = {}
        self._call_before: str | None = None
        self._model = ""
        self._total: Any = None
        #: Whether calls of the model are noted one by one by now.
        self._metered = False
        #: How many messages each line gave.
        self._said: dict[int, int] = {}
        self._survey()

    def _survey(self) -> None:
        """Which of two copies there is, and what is a summary rather than an answer."""
        lines = self.rollout.lines
        events = [line.payload for line in lines if line.type == "event_msg"]
        if self.rollout.generation == 3:
            events = [item for event in events if isinstance(item := get(event, "item"), dict)]
        kinds = {string(event, "type") for event in events}
        self._has_prompts = bool(kinds & {"user_message", "UserMessage"})
        self._has_answers = bool(kinds & {"agent_message", "AgentMessage"})
        self._has_thoughts = bool(kinds & {"agent_reasoning", "Reasoning"})
        self._calls = {_call_id(line.payload): line.kind for line in lines if line.kind in _CALLS}
        #: How calls ended that did not end well, as the event beside their output says.
        self._ends = {
            call: end for event in events if (end := end_of(event)) for call in _ids(event)
        }
        self._spoken = {string(event, "message") or _text(event) for event in events}
        #: Answers by their ids: what people see of one may lack marks for the program.
        self._seen = {string(event, "id") for event in events} - {""}
        compacted = [line.payload for line in lines if line.type == "compacted"]
        told = [text.strip() for payload in compacted for text in summaries_in(payload)]
        # What the summary is stands in a line of its own before it.
        self._summaries = {*told, *(text.partition("\n")[2].strip() for text in told)} - {""}

    def read(self) -> None:
        for line in self.rollout.lines:
            self._line = line
            before = len(self.builder.flow)
            self._take(line)
            if line.copied:
                self.builder.set_aside(before, _FORKED)
                self._answer = None

    def _take(self, line: Line) -> None:
        payload = line.payload
        match line.type:
            case "session_meta":
                self._meta(payload)
            case "turn_context":
                self._context(payload)
            case "event_msg":
                self._event(payload)
            case "response_item":
                self._item(payload)
            case "compacted":
                self._divide("context compacted", string(payload, "message"))
            case "token_usage_record":
                self._metered = True
                self._use(get(payload, "usage"), string(payload, "response_id"))
            case _ if self.rollout.generation == 1:
                if line is not self.rollout.lines[0] and not line.record.text("record_type"):
                    self._item(line.record.value)
            case kind:
                self._unknown(kind)

    # ── facts ──

    def _meta(self, payload: Any) -> None:
        if self._line.number > 1:
            return
        self.builder.note_directory(string(payload, "cwd"))
        prompt = string(get(payload, "base_instructions"), "text") or string(
            payload, "instructions"
        )
        if prompt:
            self._say("harness", "hidden", [Text(prompt)], "system prompt", "system prompt")
        if self.note:
            self._say("harness", "chip", [Notice(self.note)], "note")

    def _context(self, payload: Any) -> None:
        if not self._line.copied:
            self._model = string(payload, "model")
            self.builder.note_model(self._model)
            self.builder.note_directory(string(payload, "cwd"))

    def _use(self, usage: Any, key: str) -> None:
        """The tokens of one call of the model. What was read from the cache is part of the input."""
        if self._line.copied:
            return
        read, cached, stored, written = (
            _number(usage, f"{name}_tokens")
            for name in ("input", "cached_input", "cache_write_input", "output")
        )
        if read or written:
            tokens = Usage(max(0, read - cached - stored), written, cached, stored)
            name = key or f"{self.rollout.id}:{self._line.number}"
            self.builder.note_usage(name, self._model or "unknown", tokens, self._line.at)

    def _count(self, payload: Any) -> None:
        """Written again whenever limits change: only a call of the model raises the total."""
        total = get(payload, "info", "total_token_usage")
        if total is not None and total != self._total:
            self._total = total
            if not self._metered:
                self._use(get(payload, "info", "last_token_usage"), "")

    # ── what people see ──

    def _event(self, payload: Any) -> None:
        match string(payload, "type"):
            case "token_count":
                self._count(payload)
            case "item_completed":
                item = get(payload, "item")
                # In the second generation, only what no other event says.
                if self.rollout.generation == 3 or string(item, "type") == "Plan":
                    self._completed(item)
            case "user_message" | "agent_message" | "agent_reasoning" as kind:
                if self.rollout.generation != 3:
                    self._told(kind, payload)
            case "task_complete":
                self._answer = None
                if error := get(payload, "error"):
                    said = Notice(string(error, "message") or words(error), "error")
                    self._say("harness", "chip", [said], "API error", "API error").ends = False
            case "turn_aborted":
                reason = string(payload, "reason")
                author: Author = "person" if reason == "interrupted" else "harness"
                said = Notice("The turn was interrupted.", "warning")
                self._say(author, "chip", [said], "interrupted", reason).ends = False
            case "thread_rolled_back":
                self._divide("went back to an earlier point", words(get(payload, "num_turns")))
            case "entered_review_mode" | "exited_review_mode" as kind:
                self._divide(kind.replace("_", " "), reviewed(payload))
            case "agent_reasoning_raw_content":
                self._think([string(payload, "text")])
            case "thread_name_updated":
                self.name = string(payload, "thread_name")
            case "error" | "warning" as kind:
                level: Literal["error", "warning"] = "error" if kind == "error" else "warning"
                said = Notice(string(payload, "message") or words(payload), level)
                self._say("harness", "chip", [said], kind).ends = False
            case "collab_agent_spawn_end":
                started = string(payload, "new_thread_id") or string(payload, "new_session_id")
                self.children.setdefault(started, string(payload, "call_id") or None)
            case "sub_agent_activity":
                self._activity(payload, string(payload, "event_id"))
            case kind:
                self._unknown(kind)

    def _told(self, kind: str, payload: Any) -> None:
        if kind == "user_message" and string(payload, "kind") not in ("", "plain"):
            pass  # context, which the item for the model has as well
        elif kind == "user_message":
            images = [url for url in items(payload, "images") if isinstance(url, str)]
            paths = [path for path in items(payload, "local_images") if isinstance(path, str)]
            self._ask([string(payload, "message")], images, paths)
        elif kind == "agent_message":
            self._reply(string(payload, "message"))
        else:
            self._think([string(payload, "text")])

    def _completed(self, item: Any) -> None:
        match string(item, "type"):
            case "UserMessage":
                self._asked(items(item, "content"))
            case "AgentMessage":
                self._reply(_text(item), odd_pieces(items(item, "content")))
            case "Reasoning":
                self._think(items(item, "summary_text") or items(item, "raw_content"))
            case "CommandExecution":
                self._command(item)
            case "CollabAgentToolCall":
                for thread in items(item, "receiver_thread_ids"):
                    self.children.setdefault(words(thread), self._caller(string(item, "id")))
            case "SubAgentActivity":
                self._activity(item, string(item, "id"))
            case "EnteredReviewMode":
                self._divide("entered review mode", reviewed(item))
            case "ExitedReviewMode":
                self._divide("exited review mode", reviewed(item))
            case "Plan":
                self._say("agent", "fold", [Text(string(item, "text"))], "plan", "plan")
            case _ if string(item, "id") in self._calls:
                pass  # the same call, told richer
            case "WebSearch" if "web_search_call" in self._calls.values():
                pass  # the same call, which has no id in some versions
            case _ if step := step_of(item):
                label = step.partition("\n")[0]
                self._say("tool", "fold", [Text(step)], "step of a script", label)
            case kind:
                self._unknown(kind)

    def _activity(self, told: Any, id: str) -> None:
        """An agent that was started here; one that is only spoken with may be this one's parent."""
        if string(told, "kind") in ("started", ""):
            task = self._tasks.get(string(told, "agent_path"))
            self.children.setdefault(string(told, "agent_thread_id"), task or self._caller(id))

    def _caller(self, id: str) -> str | None:
        """The call of this id; what a script did belongs to the script's."""
        return id if id in self._calls else self._call_before

    def _asked(self, content: Sequence[Any]) -> None:
        found: dict[str, list[str]] = {}
        for one in content:
            kind = string(one, "type")
            field = {"image": "image_url", "local_image": "path", "text": "text"}.get(kind, "name")
            found.setdefault(kind, []).append(string(one, field) or string(one, "path"))
        named = [f"@{name}" for kind in ("skill", "mention") for name in found.get(kind, ())]
        self._ask(
            [*found.get("text", ()), *named],
            found.get("image", []),
            found.get("local_image", []),
            odd_pieces(content, ASKED),
        )

    def _ask(
        self,
        texts: Sequence[str],
        images: Sequence[str],
        paths: Sequence[str],
        odd: Sequence[Unknown] = (),
    ) -> None:
        parts: list[Part] = [*(Text(text) for text in texts if text), *odd]
        # The bytes of a picture that was given by its path are in the copy for the model.
        urls = images or self._pictures[-len(paths) :] if images or paths else []
        parts += [self._picture(url) for url in urls]
        parts += [Attachment("image/*", name=path) for path in paths if not urls]
        if self.builder.nature == "subagent":
            asked = self._say("harness", "bubble", parts, "task of a sub-agent")
        else:
            asked = self._say("person", "bubble", parts, "typed prompt")
        asked.typed, asked.ends = True, False

    def _reply(self, text: str, odd: Sequence[Unknown] = ()) -> None:
        bare = text.strip()
        if bare == _COMPACTED or bare in self._summaries:
            self._say("harness", "fold", [Text(text)], "summary", "summary")
        elif text or odd:
            said = [Text(text)] if text else []
            self._continue([*said, *odd], after=(Thinking,)).ends = True

    def _think(self, texts: Sequence[Any]) -> None:
        parts = [Thinking(words(text)) for text in texts if text]
        if parts:
            self._continue(parts, after=(Thinking,))

    def _continue(self, parts: Sequence[Part], after: tuple[type, ...]) -> PendingMessage:
        """Thoughts, words and calls of one answer are one message, in that order."""
        answer = self._answer
        if answer is None or not all(isinstance(part, after) for part in answer.message.parts):
            answer = self._say("agent", "bubble", [], "answer")
            answer.message.model = self._model or None
        answer.message.parts += parts
        answer.refs += [ref for ref in self._line.record.refs if ref not in answer.refs]
        self._answer = answer
        return answer

    def _command(self, item: Any) -> None:
        """A command that no item of the model names: the person's own, or one of a script."""
        if string(item, "id") in self._calls:
            return
        command = items(item, "command")
        spoken, output = words(command[-1]) if command else "", string(item, "aggregated_output")
        if string(item, "source") == "user_shell":
            self._shell(spoken, output)
        else:
            told = [Text(f"$ {spoken}\n{output}")]
            self._say("tool", "fold", told, "command of a script", spoken)

    def _shell(self, command: str, output: str) -> None:
        told = [Text(f"! {command}"), Text(output)]
        self._say("person", "chip", told, SHELL, f"! {command}")

    # ── what the model saw ──

    def _item(self, payload: Any) -> None:
        match string(payload, "type"):
            case kind if kind in _CALLS:
                self._call(kind, payload)
            case kind if kind in _OUTPUTS:
                self._output(payload)
            case "message":
                if string(payload, "role") == "assistant":
                    self._copied_reply(_text(payload), string(payload, "id"))
                else:
                    self._message(payload)
            case "reasoning":
                if not self._has_thoughts:
                    summary = items(payload, "summary") or items(payload, "content")
                    self._think([string(one, "text") for one in summary])
            case "agent_message":
                text, task = agent_words(payload)
                if task and self.builder.nature == "subagent":
                    self._ask([task], [], [])
                else:
                    label = f"from {string(payload, 'author') or 'another agent'}"
                    self._say("harness", "fold", [Text(text)], "between agents", label)
            case kind:
                self._unknown(kind)

    def _copied_reply(self, text: str, id: str) -> None:
        if not self._has_answers:
            self._reply(text)
        elif text not in self._spoken and id not in self._seen:
            self._say("harness", "fold", [Text(text)], "summary", "summary")

    def _message(self, payload: Any) -> None:
        """Each text of a message is judged alone: a prompt, or what the program put beside it."""
        passed = get(payload, "internal_chat_message_metadata_passthrough")
        origins = items(passed, "content_item_metadata")
        typed: list[str] = []
        self._pictures = []
        odd = odd_pieces(items(payload, "content"))
        if odd:
            label = "added by the program"
            self._say("harness", "fold", odd, "not typed", label)
        for number, item in enumerate(items(payload, "content")):
            text, url = string(item, "text"), string(item, "image_url")
            origin = get(origins[number], "provenance", "type") if number < len(origins) else None
            rule = self._judge(text, string(payload, "role"), origin)
            if url:
                self._pictures.append(url)
            elif rule is None:
                typed.append(text)
            elif rule.name == "environment":
                self._say(rule.author, rule.display, [Text(text)], rule.name, rule.label)
                # The first generation says nowhere else where it is.
                self.builder.note_directory(
                    directory_in(text) if not self.rollout.meta.get("cwd") else ""
                )
            elif rule.name != SHELL:
                self._say(rule.author, rule.display, [Text(text)], rule.name, rule.label)
            elif self.rollout.generation != 3:
                self._shell(*shell_command(text))
        copies = {*typed, "\n".join(typed), "".join(typed)}
        if (any(typed) or self._pictures) and not self._has_prompts:
            self._ask(typed, self._pictures, [])
        elif any(typed) and not copies & self._spoken:
            told = [Text("\n".join(typed))]
            self._say("harness", "fold", told, "not typed", "added by the program")

    def _judge(self, text: str, role: str, origin: Any) -> TextRule | None:
        """The rule of a text that no person typed. Where the client says whose it is, that counts."""
        if origin == "user":
            return None
        if rule := rule_of(text, INJECTED):
            return rule
        if role not in ("user", "") or isinstance(origin, str):
            return TextRule("instructions", "instructions", "", display="fold")
        return None

    def _call(self, kind: str, payload: Any) -> None:
        spaces = (string(payload, "namespace"), string(payload, "name"))
        name = ".".join(filter(None, spaces)) or kind.removesuffix("_call")
        call = _call_id(payload) or f"{self.prefix}{self._line.number}"
        arguments = json_in(payload.get(_CALLS[kind]))
        self._continue([ToolCall(call, name, arguments)], (Thinking, Text, ToolCall)).ends = False
        self._call_before = call
        if kind in _OVER and string(payload, "status") in ("completed", "failed"):
            failed = string(payload, "status") == "failed"
            picture = self.builder.pictures.add_base64(payload.get("result"), "image/png")
            result = ToolResult(call, "error" if failed else "ok")
            self._result([result, picture] if picture else [result])

    def _output(self, payload: Any) -> None:
        text, status = output_of(payload)
        call = _call_id(payload)
        status = self._ends.get(call, status) if status == "ok" else status
        urls = [string(one, "image_url") for one in items(payload, "output")]
        self._result([ToolResult(call, status, text), *map(self._picture, filter(None, urls))])
        started = json_in(text) if "agent_id" in text or "task_name" in text else None
        if thread := string(started, "agent_id"):
            self.children[thread] = call
        elif task := string(started, "task_name"):
            self._tasks[task] = call

    def _result(self, parts: Sequence[Part]) -> None:
        self._say("tool", "fold", parts, "tool results").ends = False

    # ── putting down ──

    def _picture(self, url: str) -> Attachment:
        return self.builder.pictures.add_url(url) or Attachment("image/*", name=url[:200])

    def _divide(self, label: str, text: str) -> None:
        self._say("harness", "divider", [Text(text)], label, label)

    def _unknown(self, kind: str) -> None:
        if kind not in _SILENT:
            self._answer = None
            name = f"{self.prefix}{self._line.number}"
            told = self.builder.unknown(self._line.record, name, kind or "line", at=self._line.at)
            told.message.abandoned = self._line.abandoned

    def _say(
        self,
        author: Author,
        display: Display,
        parts: Sequence[Part],
        rule: str,
        label: str | None = None,
    ) -> PendingMessage:
        line = self._line
        # A line may say several things: all but the first get a name of their own.
        said = self._said[line.number] = self._said.get(line.number, 0) + 1
        name = f"{self.prefix}{line.number}" + (f".{said}" if said > 1 else "")
        role = string(line.payload, "role") or line.kind or line.type
        told = self.builder.say(
            line.record, name, author, display, parts, rule, at=line.at, label=label, role=role
        )
        told.message.abandoned = line.abandoned
        self._answer = None
        return told


def _text(item: Any) -> str:
    return "\n".join(filter(None, (string(one, "text") for one in items(item, "content"))))


def _ids(event: Any) -> tuple[str, ...]:
    return tuple(filter(None, (string(event, "call_id"), string(event, "id"))))


def _call_id(payload: Any) -> str:
    return string(payload, "call_id") or string(payload, "id")


def _number(usage: Any, name: str) -> int:
    value = get(usage, name)
    return value if isinstance(value, int) and 0 <= value < 1 << 53 else 0
