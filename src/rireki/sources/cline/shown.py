"""What the person saw of a task: the records of `ui_messages.json`, with the full data of tools from
what the model was sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rireki.model.message import Author, Display, Usage
from rireki.model.parts import Attachment, Notice, Part, Text, Thinking, ToolCall, ToolResult
from rireki.sources.cline.blocks import Sent, number, opened, time_of
from rireki.sources.kit.fields import items, string, words
from rireki.sources.kit.pending import RESULTS, ConversationBuilder, PendingMessage
from rireki.sources.kit.records import DecodedLine

__all__ = ["TaskReader"]

_PROMPTS = ("task", "user_feedback", "user_feedback_diff")
#: Records that call a tool, and the name of that tool; of the others, the text names it.
_CALLS = {
    "tool": "",
    "command": "execute_command",
    "use_mcp_server": "use_mcp_tool",
    "browser_action_launch": "browser_action",
    "browser_action": "browser_action",
}
_OUTPUTS = (
    *("command_output", "mcp_server_response", "browser_action_result", "subtask_result"),
    "codebase_search_result",
)
_WORDS = ("text", "completion_result", "plan_mode_respond", "followup", "act_mode_respond")
_TROUBLES = (
    *("error", "diff_error", "clineignore_error", "rooignore_error", "api_req_failed"),
    *("mistake_limit_reached", "auto_approval_max_req_reached", "shell_integration_warning"),
)
_COMPACTED = (
    *("condense", "condense_context", "sliding_window_truncation", "summarize_task"),
    "condense_context_error",
)
#: What says nothing to people, or says again what another record does.
_SILENT = (
    *("checkpoint_created", "checkpoint_saved", "deleted_api_reqs", "api_req_retried"),
    *("api_req_retry_delayed", "api_req_finished", "api_req_deleted", "resume_task"),
    *("resume_completed_task", "mcp_server_request_started", "load_mcp_documentation"),
    *("task_progress", "generate_explanation", "info", "hook_status", "hook_output_stream"),
)


class TaskReader:
    """Goes through the records and says what is in them to a builder."""

    def __init__(self, builder: ConversationBuilder, calls: Sequence[Sent], model: str) -> None:
        self.builder = builder
        self.model = model
        self._sent = list(calls)
        self._said = False
        self._answer: PendingMessage | None = None
        #: The call whose output is being shown, and that output.
        self._open: tuple[str, list[str]] | None = None
        self._line: DecodedLine
        self._name = ""

    def read(self, lines: Sequence[DecodedLine]) -> None:
        lines = _settled(lines)
        calls = [line for line in lines if _kind(line) in _CALLS and line.held]
        # Without ids, only as many calls as were sent can be told apart by their order.
        if len(calls) != len(self._sent):
            self._sent = []
        seen: Counter[str] = Counter()
        for line in lines:
            self._line, self._name = line, _name(line)
            # Two records of one moment are two, unless one of them is a version that went.
            seen[self._name] += line.held
            if line.held and seen[self._name] > 1:
                self._name += f".{seen[self._name]}"
            self._take(_kind(line), line.value)
        self._close()

    def _take(self, kind: str, value: Any) -> None:
        text = string(value, "text")
        if kind in _PROMPTS or (kind == "text" and not self._said):
            self._ask(value, text)
        elif kind in _WORDS:
            self._reply(kind, text)
        elif kind == "reasoning":
            self._continue([Thinking(string(value, "reasoning") or text)])
        elif kind in _CALLS:
            self._call(kind, text)
        elif kind in _OUTPUTS:
            self._output(kind, text, string(value, "type") == "ask")
        elif kind == "api_req_started":
            self._request(value, opened(text))
        elif kind in _TROUBLES:
            self._say("harness", "chip", [Notice(text or kind, "warning")], "notice", "notice")
        elif kind in _COMPACTED:
            condensed = value.get("contextCondense") or opened(text)
            summary = string(condensed, "summary") or text
            self._say("harness", "divider", [Text(summary)], *("context compacted",) * 2)
        elif kind not in _SILENT:
            self._close()
            self.builder.unknown(self._line, self._name, kind or "record", at=time_of(value))

    def _ask(self, value: Any, text: str) -> None:
        self._said = True
        parts: list[Part] = [Text(text)] if text else []
        for url in items(value, "images"):
            found = self.builder.pictures.add_url(words(url))
            parts.append(found or Attachment("image/*", name=words(url)[:200]))
        parts += [
            Attachment("application/octet-stream", name=words(f)) for f in items(value, "files")
        ]
        if not parts:
            return
        if self.builder.nature == "subagent" and not self.builder.flow:
            asked = self._say("harness", "bubble", parts, "task of a sub-agent")
        else:
            asked = self._say("person", "bubble", parts, "typed prompt")
        asked.typed, asked.ends = True, False

    def _reply(self, kind: str, text: str) -> None:
        """Words of the agent; a question or a plan stands in JSON, with what may be chosen."""
        told = opened(text) if kind in ("followup", "plan_mode_respond") else None
        said = string(told, "question") or string(told, "response") or text
        said = "\n".join([said, *(f"- {words(one)}" for one in items(told, "options"))])
        last = self._answer.message.parts if self._answer is not None else []
        if said and Text(said) not in last:
            self._continue([Text(said)]).ends = True

    def _continue(self, parts: Sequence[Part]) -> PendingMessage:
        """Thoughts, words and calls of one answer are one message."""
        if self._answer is None:
            self._close()
            self._answer = self._say("agent", "bubble", [], "answer")
            self._answer.message.model = self._model() or None
        answer = self._answer
        answer.message.parts += parts
        answer.refs += [ref for ref in self._line.refs if ref not in answer.refs]
        return answer

    def _call(self, kind: str, text: str) -> None:
        value = opened(text)
        call, name = self._name, _CALLS[kind] or string(value, "tool") or kind
        arguments = value if value is not None else {"command": text} if kind == "command" else text
        sent = self._sent.pop(0) if self._sent and self._line.held else None
        if sent is not None:
            call, name = sent.id or call, sent.name
            arguments = arguments if sent.arguments is None else sent.arguments
        self._continue([ToolCall(call, name, arguments)]).ends = False
        if sent is not None and sent.output is not None:
            self._result(call, sent)
        else:
            self._open = (call, [])
        self._answer = None

    def _output(self, kind: str, text: str, is_repeated: bool) -> None:
        """What a tool showed: the output of the call before it, unless the model's copy was told."""
        if self._open is not None and not is_repeated:
            self._open[1].append(text)
        elif self._open is None and kind not in ("command_output", "mcp_server_response"):
            self._say("tool", "fold", [Text(text)], RESULTS, kind.replace("_", " ")).ends = False

    def _close(self) -> None:
        """The output that was being shown is whole."""
        if self._open is not None:
            call, shown = self._open
            self._open = None
            if shown:
                self._result(call, Sent(call, "", None, "ok", "\n".join(shown)))

    def _result(self, call: str, sent: Sent) -> None:
        told = [ToolResult(call, sent.status, sent.output or "")]
        self._open = None
        self._say("tool", "fold", told, RESULTS, name=f"{call}.result").ends = False

    def _request(self, value: Any, request: Any) -> None:
        """One call of the model: what it took, and whether it was cut off."""
        self._close()
        self._answer = None
        usage = Usage(
            number(request, "tokensIn"),
            number(request, "tokensOut"),
            number(request, "cacheReads"),
            number(request, "cacheWrites"),
        )
        if usage != Usage():
            key = f"{self.builder.native_id}:{number(value, 'ts')}"
            self.builder.note_usage(key, self._model() or "unknown", usage, time_of(value))
        reason = string(request, "cancelReason")
        if reason == "user_cancelled":
            said = Notice("The turn was interrupted.", "warning")
            self._say("person", "chip", [said], "interrupted", "interrupted").ends = False
        elif reason:
            failed = string(request, "streamingFailedMessage") or reason
            said = Notice(failed, "error")
            self._say("harness", "chip", [said], "API error", "API error").ends = False

    def _model(self) -> str:
        info = self._line.value.get("modelInfo") if isinstance(self._line.value, dict) else None
        return string(info, "modelId") or string(info, "id") or self.model

    def _say(
        self,
        author: Author,
        display: Display,
        parts: Sequence[Part],
        rule: str,
        label: str | None = None,
        name: str = "",
    ) -> PendingMessage:
        self._close()
        self._answer = None
        line = self._line
        at, role = time_of(line.value), line.text("type")
        return self.builder.say(
            line, name or self._name, author, display, parts, rule, at=at, label=label, role=role
        )


def _settled(lines: Sequence[DecodedLine]) -> list[DecodedLine]:
    """Without what was written again while it streamed: the last one of its moment says it all."""
    final: dict[str, str] = {}
    for line in lines:
        if line.held or _name(line) not in final:
            final[_name(line)] = line.text("text")
    kept = []
    for line in lines:
        is_early = not line.held or (isinstance(line.value, dict) and line.value.get("partial"))
        last = final[_name(line)]
        if is_early and last != line.text("text") and last.startswith(line.text("text")):
            continue
        kept.append(line)
    return kept


def _kind(line: DecodedLine) -> str:
    return line.text("ask") or line.text("say")


def _name(line: DecodedLine) -> str:
    at = number(line.value, "ts")
    return f"{at}-{_kind(line)}" if at else f"record-{line.position}"
