"""What the person saw of a task: the records of `ui_messages.json`, with the full data of tools from
what the model was sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rireki.model.message import Author, Display, Usage
from rireki.model.parts import Attachment, Notice, Part, Text, Thinking, ToolCall, ToolResult
from rireki.sources.cline.blocks import Sent, number, opened, picture, time_of
from rireki.sources.cline.paired import Seen, pairs
from rireki.sources.kit.fields import amount, items, string, words
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
    "use_subagents": "use_subagents",
}
_OUTPUTS = (
    *("command_output", "mcp_server_response", "browser_action_result", "subtask_result"),
    *("codebase_search_result", "subagent"),
)
_WORDS = (
    *("text", "completion_result", "plan_mode_respond", "followup", "act_mode_respond"),
    *("new_task", "report_bug"),
)
#: Words of which a choice is part, in JSON.
_ASKING = ("followup", "plan_mode_respond")
#: What the program wrote behind a text for its own use.
_MARKS = {"completion_result": "HAS_CHANGES", "command": "REQ_APP"}
_TROUBLES = (
    *("error", "diff_error", "clineignore_error", "rooignore_error", "api_req_failed"),
    *("mistake_limit_reached", "auto_approval_max_req_reached", "shell_integration_warning"),
    *("shell_integration_warning_with_suggestion", "command_permission_denied"),
    *("mcp_notification", "too_many_tools_warning", "payment_required_prompt", "invalid_model"),
)
#: Requests that are counted together: those of sub-agents, and those that are not told any more.
_SUMS = ("subagent_usage", "deleted_api_reqs")
#: Outputs that the model's copy has as well.
_RETOLD = ("command_output", "mcp_server_response", "browser_action_result", "subagent")
_COMPACTED = (
    *("condense", "condense_context", "sliding_window_truncation", "summarize_task"),
    "condense_context_error",
)
#: What says nothing to people, or says again what another record does.
_SILENT = (
    *("checkpoint_created", "checkpoint_saved", "api_req_retried", "error_retry"),
    *("api_req_retry_delayed", "api_req_finished", "api_req_deleted", "resume_task"),
    *("api_req_rate_limited", "browser_session_status", "conditional_rules_applied"),
    "user_edit_todos",
    *("resume_completed_task", "mcp_server_request_started", "load_mcp_documentation"),
    *("task_progress", "generate_explanation", "info", "hook_status", "hook_output_stream"),
)


class TaskReader:
    """Goes through the records and says what is in them to a builder."""

    def __init__(self, builder: ConversationBuilder, calls: Sequence[Sent], model: str) -> None:
        self.builder = builder
        self.model = model
        self._sent = calls
        #: For each call that is shown, the number of the one that was made.
        self._pairs: list[int | None] = []
        #: How many of either were told.
        self._shown = self._made = 0
        self._is_whole = True
        self._said = False
        self._answer: PendingMessage | None = None
        #: The call whose output is being shown, and that output.
        self._open: tuple[str, list[str], list[Part]] | None = None
        self._line: DecodedLine
        self._name = ""

    def read(self, lines: Sequence[DecodedLine]) -> None:
        lines = _settled(lines)
        self._pairs = pairs([_seen(line) for line in lines if _kind(line) in _CALLS], self._sent)
        self._is_whole = all(line.held for line in lines)
        seen: Counter[str] = Counter()
        for line in lines:
            self._line, self._name = line, _name(line)
            # Two records of one moment are two, unless one of them is a version that went.
            seen[self._name] += line.held
            if line.held and seen[self._name] > 1:
                self._name += f".{seen[self._name]}"
            self._take(_kind(line), line.value)
        self._tell_unseen(len(self._sent))
        self._close()

    def _take(self, kind: str, value: Any) -> None:
        text = string(value, "text").removesuffix(_MARKS.get(kind, ""))
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
        elif kind in _SUMS:
            # What was deleted is known where it was seen before.
            if kind == "subagent_usage" or self._is_whole:
                self._use(value, opened(text))
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
        told = opened(text) if kind in _ASKING else None
        said = string(told, "question") or string(told, "response") or text
        options = [*items(told, "options"), *items(told, "suggest")]
        said = "\n".join([said, *(f"- {string(one, 'answer') or words(one)}" for one in options)])
        last = self._answer.message.parts if self._answer is not None else []
        if said and Text(said) not in last:
            self._continue([Text(said)]).ends = True
        if chosen := string(told, "selected"):
            # Who chooses is not asked to type: no other record has the answer.
            name = f"{self._name}.chosen"
            answer = self._say("person", "bubble", [Text(chosen)], "chosen answer", name=name)
            answer.typed, answer.ends = True, False

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
        sent, place = None, self._pairs[self._shown]
        self._shown += 1
        if place is not None:
            self._tell_unseen(place)
            self._made = place + 1
            sent = self._sent[place]
            call, name = sent.id or call, sent.name
            arguments = arguments if sent.arguments is None else sent.arguments
        self._continue([ToolCall(call, name, arguments)]).ends = False
        if sent is not None and sent.output is not None:
            self._result(call, sent)
        else:
            self._open = (call, [], [])
        self._answer = None

    def _tell_unseen(self, end: int) -> None:
        """Calls that were made and not shown, as those that failed."""
        for place, sent in enumerate(self._sent[self._made : end], self._made + 1):
            if sent.is_said or not sent.held:
                continue
            call = sent.id or f"call-{place}"
            told = [ToolCall(call, sent.name, sent.arguments)]
            self._say("agent", "bubble", told, "answer", name=f"{call}.call")
            if sent.output is not None:
                self._result(call, sent, ends=None)

    def _output(self, kind: str, text: str, is_repeated: bool) -> None:
        """What a tool showed: the output of the call before it, unless the model's copy was told."""
        told, pictures = opened(text), list[Part]()
        if kind == "browser_action_result":
            shot = self.builder.pictures.add_url(string(told, "screenshot"))
            pictures = [shot] if shot else []
            text = "\n".join(filter(None, (string(told, "currentUrl"), string(told, "logs"))))
        elif kind == "subagent":
            results = [
                string(one, "result") or string(one, "error") for one in items(told, "items")
            ]
            text = "\n".join(filter(None, results))
        if self._open is not None and not is_repeated:
            self._open[1].append(text)
            self._open[2].extend(pictures)
        elif self._open is None and kind not in _RETOLD:
            label = kind.replace("_", " ")
            self._say("tool", "fold", [Text(text), *pictures], RESULTS, label).ends = False

    def _close(self) -> None:
        """The output that was being shown is whole."""
        if self._open is not None:
            call, shown, pictures = self._open
            self._open = None
            if shown:
                output = "\n".join(shown)
                told = [ToolResult(call, "ok", output), *pictures]
                self._say("tool", "fold", told, RESULTS, name=f"{call}.result").ends = False

    def _result(self, call: str, sent: Sent, ends: bool | None = False) -> None:
        shots = [picture(one, self.builder.pictures) for one in sent.pictures]
        told = [ToolResult(call, sent.status, sent.output or ""), *shots]
        self._open = None
        self._say("tool", "fold", told, RESULTS, name=f"{call}.result").ends = ends

    def _request(self, value: Any, request: Any) -> None:
        """One call of the model: what it took, and whether it was cut off."""
        self._close()
        self._answer = None
        self._use(value, request)
        reason = string(request, "cancelReason")
        if reason == "user_cancelled":
            said = Notice("The turn was interrupted.", "warning")
            self._say("person", "chip", [said], "interrupted", "interrupted").ends = False
        elif reason:
            failed = string(request, "streamingFailedMessage") or reason
            said = Notice(failed, "error")
            self._say("harness", "chip", [said], "API error", "API error").ends = False

    def _use(self, value: Any, told: Any) -> None:
        usage = Usage(
            number(told, "tokensIn"),
            number(told, "tokensOut"),
            number(told, "cacheReads"),
            number(told, "cacheWrites"),
        )
        if usage != Usage():
            key = f"{self.builder.native_id}:{self._name}"
            model, noted = self._model() or "unknown", amount(told, "cost")
            self.builder.note_usage(key, model, usage, time_of(value), cost=noted)

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
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        is_partial = isinstance(line.value, dict) and bool(line.value.get("partial"))
        text, last = line.text("text"), final[_name(line)]
        if (not line.held or is_partial) and last != text and last.startswith(text):
            continue
        if not (is_partial and following is not None and _is_whole_of(line, following)):
            kept.append(line)
    return kept


def _is_whole_of(line: DecodedLine, following: DecodedLine) -> bool:
    """Whether a record was written anew, with a moment of its own, when it was whole."""
    kind, text = _kind(line), line.text("text")
    return _kind(following) == kind and (kind in _CALLS or following.text("text").startswith(text))


def _seen(line: DecodedLine) -> Seen:
    kind, text = _kind(line), line.text("text")
    value = opened(text)
    texts = [words(one) for one in value.values()] if isinstance(value, dict) else [text]
    return Seen(_CALLS[kind] or string(value, "tool"), texts, line.held)


def _kind(line: DecodedLine) -> str:
    return line.text("ask") or line.text("say")


def _name(line: DecodedLine) -> str:
    at = number(line.value, "ts")
    return f"{at}-{_kind(line)}" if at else f"record-{line.position}"
