"""What Amazon Q and Kiro's classic engine keep of a conversation: one JSON object, `ConversationState`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rireki.intake.demo.steps import (
    Clock,
    Compact,
    DemoAnswer,
    DemoCall,
    DemoConversation,
    DemoPrompt,
    Ids,
    Json,
)

__all__ = ["DemoState", "bash", "create", "read", "use_aws", "write"]

_CANCELLED = "Tool use was cancelled by the user"


def bash(command: str, why: str, output: str, status: int = 0) -> DemoCall:
    result: Json = {"exit_status": f"exit status: {status}", "stdout": output, "stderr": ""}
    return DemoCall("execute_bash", {"command": command, "summary": why}, result)


def read(path: str, content: str) -> DemoCall:
    return DemoCall("fs_read", {"operations": [{"mode": "Line", "path": path}]}, content)


def create(path: str, text: str) -> DemoCall:
    return DemoCall("fs_write", {"command": "create", "path": path, "file_text": text}, "")


def write(path: str, old: str, new: str) -> DemoCall:
    given: Json = {"command": "str_replace", "path": path, "old_str": old, "new_str": new}
    return DemoCall("fs_write", given, "")


def use_aws(service: str, operation: str, parameters: Json, output: str) -> DemoCall:
    given: Json = {
        "service_name": service,
        "operation_name": operation,
        "parameters": parameters,
        "region": "ap-northeast-1",
        "label": operation,
    }
    return DemoCall("use_aws", given, {"exit_status": "0", "stdout": output, "stderr": ""})


class DemoState:
    """A story as it lies in the `value` of a row."""

    def __init__(self, story: DemoConversation, kiro: bool = False) -> None:
        self.story = story
        self.kiro = kiro
        self.ids = Ids(story.name)
        self.clock = Clock(story.start)
        self.history: list[Json] = []
        self.transcript: list[str] = []
        self.summary: list[object] | None = None
        #: Calls of the last answer that have no result yet.
        self.open: list[tuple[DemoCall, str]] = []
        self.user: Json | None = None
        for step in story.steps:
            match step:
                case DemoPrompt():
                    self._type(step)
                case DemoAnswer():
                    self._answer(step)
                case Compact():
                    self._compact(step)
                case _:
                    raise TypeError(f"{step} is not told in this format")

    def value(self) -> str:
        state: Json = {
            "conversation_id": self.ids.session,
            "next_message": None,
            "history": self.history,
            "valid_history_range": [0, max(len(self.history) - 1, 0)],
            "transcript": self.transcript,
            "tools": _TOOLS,
            "context_manager": {
                "max_context_files_size": 150_000,
                "current_profile": "kiro_default" if self.kiro else "q_cli_default",
                "paths": ["AmazonQ.md", "AGENTS.md", "README.md"],
                "hooks": {},
            },
            "context_message_length": 552,
            "latest_summary": self.summary,
            "model_info": self._model(),
            "file_line_tracker": {},
            **(self._kiro_fields() if self.kiro else {"checkpoint_manager": None}),
            "mcp_enabled": True,
        }
        return json.dumps(state, ensure_ascii=False, separators=(",", ":"))

    def _type(self, step: DemoPrompt) -> None:
        self.clock.wait(step.after)
        self.transcript.append("> " + step.text.replace("\n", "> \n"))
        if self.open:
            results = [_result(id, {"Text": _CANCELLED}, "Error") for _, id in self.open]
            cancelled = {"prompt": step.text, "tool_use_results": results}
            self.user = self._message({"CancelledToolUses": cancelled}, timed=True)
        else:
            self.user = self._message({"Prompt": {"prompt": step.text}}, timed=True)
        self.open = []

    def _answer(self, step: DemoAnswer) -> None:
        user = self.user or self._outcomes()
        self.user = None
        started = self.clock.milliseconds()
        self.clock.wait(2 + len(step.text) / 50)
        message = self.ids.uuid()
        self.open = [(call, self.ids.token("tooluse_")) for call in step.calls]
        said: Json = {"message_id": message, "content": step.text}
        if self.open:
            uses = [_use(call, id) for call, id in self.open]
            assistant: Json = {"ToolUse": {**said, "tool_uses": uses}}
        else:
            assistant = {"Response": said}
        metadata = self._metadata(message, started, step.text, [])
        self.history.append({"user": user, "assistant": assistant, "request_metadata": metadata})
        names = ",".join(call.tool for call in step.calls) or "none"
        self.transcript.append(f"{step.text}\n[Tool uses: {names}]")

    def _outcomes(self) -> Json:
        self.clock.wait(3)
        results = [_result(id, _content(call), _status(call)) for call, id in self.open]
        return self._message({"ToolUseResults": {"tool_use_results": results}}, timed=False)

    def _compact(self, step: Compact) -> None:
        """The history is emptied; only the summary and the transcript still know of it."""
        started = self.clock.milliseconds()
        self.clock.wait(20)
        self.transcript.append("> /compact")
        self.history = []
        self.open = []
        metadata = self._metadata(self.ids.uuid(), started, step.summary, ["Compact"])
        self.summary = [step.summary, metadata]

    def _message(self, content: Json, timed: bool) -> Json:
        place: Json = {
            "operating_system": "linux",
            "current_working_directory": self.story.project,
            "environment_variables": [],
        }
        return {
            "additional_context": "",
            "env_context": {"env_state": place},
            "content": content,
            "timestamp": self.clock.local() if timed else None,
            "images": None,
        }

    def _metadata(self, message: str, started: int, text: str, tags: Sequence[str]) -> Json:
        names = [[id, call.tool] for call, id in self.open]
        usage = {"context_usage_percentage": 3.5 + len(self.history)} if self.kiro else {}
        return {
            "request_id": self.ids.uuid(),
            **usage,
            "message_id": message,
            "request_start_timestamp_ms": started,
            "stream_end_timestamp_ms": self.clock.milliseconds(),
            "time_to_first_chunk": {"secs": 1, "nanos": 250_000_000},
            "time_between_chunks": [{"secs": 0, "nanos": 20_000_000}],
            "user_prompt_length": 120,
            "response_size": len(text.encode()),
            "chat_conversation_type": "ToolUse" if names else "NotToolUse",
            "tool_use_ids_and_names": names,
            "model_id": self.story.model,
            "message_meta_tags": list(tags),
        }

    def _model(self) -> Json:
        rate = {"rate_multiplier": 1.3, "rate_unit": "credit"} if self.kiro else {}
        model = self.story.model
        return {"model_name": model, "model_id": model, "context_window_tokens": 200_000, **rate}

    def _kiro_fields(self) -> Json:
        asked = [entry["request_metadata"] for entry in self.history[-1:]]
        credit = {"value": 0.21, "unit": "credit", "unit_plural": "credits"}
        return {
            "mcp_server_versions": {},
            "mcp_disabled_due_to_api_failure": False,
            "user_turn_metadata": {
                "continuation_id": self.ids.uuid(),
                "requests": asked,
                "usage_info": [credit],
            },
        }


_SCHEMA = {"json": {"type": "object", "properties": {}}}
_TOOLS = {
    "native___": [
        {"ToolSpecification": {"name": name, "description": text, "input_schema": _SCHEMA}}
        for name, text in (
            ("fs_read", "Read files and directories"),
            ("fs_write", "Create and edit files"),
            ("execute_bash", "Run a command"),
            ("use_aws", "Make an AWS CLI call"),
        )
    ]
}


def _use(call: DemoCall, id: str) -> Json:
    names = {"name": call.tool, "orig_name": call.tool}
    return {"id": id, **names, "args": call.input, "orig_args": call.input}


def _result(id: str, content: Json, status: str) -> Json:
    return {"tool_use_id": id, "content": [content], "status": status}


def _content(call: DemoCall) -> Json:
    return {"Text": call.output} if isinstance(call.output, str) else {"Json": call.output}


def _status(call: DemoCall) -> str:
    return "Error" if call.error else "Success"
