"""The saved conversation of Amazon Q and of Kiro's first engine, in every version, as types.

Every field is optional and unknown fields are let pass: the raw bytes are the
truth, these types are how we look at them. Field names are the source's own.
Nothing here knows what a message looks like to a reader of ours.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType, field

__all__ = [
    "AssistantMessage",
    "CancelledToolUses",
    "Checkpoint",
    "CheckpointManager",
    "ContextConfig",
    "ContextManager",
    "ConversationState",
    "Duration",
    "EnvContext",
    "EnvState",
    "HistoryEntry",
    "HistoryPair",
    "ImageBytes",
    "ModelInfo",
    "PromptContent",
    "RequestMetadata",
    "Response",
    "ResultBlock",
    "SavedImage",
    "SavedThinking",
    "SavedTool",
    "SavedToolUse",
    "TangentState",
    "ToolSpecification",
    "ToolUseResult",
    "ToolUseResults",
    "UserContent",
    "UserMessage",
    "UserTurnMetadata",
]


class Duration(msgspec.Struct, frozen=True):
    secs: int = 0
    nanos: int = 0


class RequestMetadata(msgspec.Struct, frozen=True):
    """What the client noted about one request, from 1.13 on. There are no token counts."""

    request_id: str | None = None
    message_id: str | None = None
    request_start_timestamp_ms: int | None = None
    stream_end_timestamp_ms: int | None = None
    time_to_first_chunk: Duration | None = None
    #: One per chunk, so often long.
    time_between_chunks: list[Duration] | None = None
    user_prompt_length: int | None = None
    response_size: int | None = None
    chat_conversation_type: str | None = None
    tool_use_ids_and_names: list[list[str]] | None = None
    model_id: str | None = None
    message_meta_tags: list[str] | None = None
    context_usage_percentage: float | None = None


class EnvState(msgspec.Struct, frozen=True):
    operating_system: str | None = None
    current_working_directory: str | None = None
    environment_variables: Any = None


class EnvContext(msgspec.Struct, frozen=True):
    env_state: EnvState | None = None


class ImageBytes(msgspec.Struct, frozen=True):
    #: A JSON list of integers, one per byte.
    bytes: list[int] | UnsetType = field(default=UNSET, name="Bytes")


class SavedImage(msgspec.Struct, frozen=True):
    format: str = "Png"
    source: ImageBytes | str = ""


class ResultBlock(msgspec.Struct, frozen=True):
    """A piece of a tool's output: exactly one of the two."""

    text: Any = field(default=UNSET, name="Text")
    json: Any = field(default=UNSET, name="Json")


class ToolUseResult(msgspec.Struct, frozen=True):
    tool_use_id: str | None = None
    content: list[ResultBlock] | None = None
    status: str | None = "Success"


class PromptContent(msgspec.Struct, frozen=True):
    prompt: str | None = None


class ToolUseResults(msgspec.Struct, frozen=True):
    tool_use_results: list[ToolUseResult] | None = None


class CancelledToolUses(msgspec.Struct, frozen=True):
    prompt: str | None = None
    tool_use_results: list[ToolUseResult] | None = None


class UserContent(msgspec.Struct, frozen=True):
    """What the user side holds: exactly one of the three."""

    prompt: PromptContent | UnsetType = field(default=UNSET, name="Prompt")
    results: ToolUseResults | UnsetType = field(default=UNSET, name="ToolUseResults")
    cancelled: CancelledToolUses | UnsetType = field(default=UNSET, name="CancelledToolUses")


class UserMessage(msgspec.Struct, frozen=True):
    content: UserContent = UserContent()
    #: Output of per-prompt hooks; nobody typed it.
    additional_context: str | None = ""
    env_context: EnvContext | None = None
    #: From 1.13.2: UTC first, with local offset from 1.15; often null.
    timestamp: str | None = None
    images: list[SavedImage] | None = None


class SavedThinking(msgspec.Struct, frozen=True):
    text: str | None = ""
    signature: Any = None
    redacted_content: Any = None


class SavedToolUse(msgspec.Struct, frozen=True):
    """A call. `name` and `args` are what the backend sees, and get rewritten later."""

    id: str | None = None
    name: str | None = None
    orig_name: str | None = None
    args: Any = None
    orig_args: Any = UNSET


class Response(msgspec.Struct, frozen=True):
    """Both kinds of answer; a plain one has no `tool_uses`. The id is null where the client made it up."""

    message_id: str | UnsetType | None = UNSET
    content: str | None = ""
    tool_uses: list[SavedToolUse] | None = None
    thinking: SavedThinking | None = None


class AssistantMessage(msgspec.Struct, frozen=True):
    """Exactly one of the two."""

    response: Response | UnsetType = field(default=UNSET, name="Response")
    tool_use: Response | UnsetType = field(default=UNSET, name="ToolUse")


class HistoryEntry(msgspec.Struct, frozen=True):
    """From 1.13 on."""

    user: Any = None
    assistant: Any = None
    request_metadata: Any = None


class HistoryPair(msgspec.Struct, frozen=True, array_like=True):
    """Up to 1.12; a third element is possible."""

    user: Any = None
    assistant: Any = None
    request_metadata: Any = None


class ModelInfo(msgspec.Struct, frozen=True):
    model_id: str | None = None
    model_name: str | None = None
    description: str | None = None
    context_window_tokens: int | None = None
    rate_multiplier: float | None = None
    rate_unit: str | None = None


class ToolSpecification(msgspec.Struct, frozen=True):
    name: str = ""
    description: str | None = None
    input_schema: Any = None


class SavedTool(msgspec.Struct, frozen=True):
    specification: ToolSpecification | UnsetType = field(default=UNSET, name="ToolSpecification")


class ContextConfig(msgspec.Struct, frozen=True):
    paths: list[str] | None = None
    hooks: Any = None


class ContextManager(msgspec.Struct, frozen=True):
    """The agent's context files and hooks; `current_profile` is the agent's name."""

    max_context_files_size: int | None = None
    current_profile: str | None = None
    #: Up to 1.12.
    global_config: ContextConfig | None = None
    profile_config: ContextConfig | None = None
    #: From 1.13.
    paths: Any = None
    hooks: Any = None


class TangentState(msgspec.Struct, frozen=True):
    """The main talk, put aside while a side talk runs."""

    main_history: list[Any] | None = None
    main_next_message: Any = None
    main_transcript: list[str] | None = None
    main_latest_summary: Any = None
    #: Year, day of year, h, m, s, nanoseconds, offset h, m, s; or a text.
    tangent_start_time: Any = None


class Checkpoint(msgspec.Struct, frozen=True):
    tag: str | None = None
    timestamp: str | None = None
    description: str | None = None
    #: A full copy of the history at that moment.
    history_snapshot: list[Any] | None = None
    is_turn: bool | None = None
    tool_name: str | None = None


class CheckpointManager(msgspec.Struct, frozen=True):
    shadow_repo_path: Any = None
    work_tree_path: Any = None
    checkpoints: list[Checkpoint] | None = None
    tag_index: Any = None
    current_turn: int | None = None
    tools_in_turn: int | None = None
    pending_user_message: Any = None
    message_locked: bool | None = None
    file_stats_cache: Any = None


class UserTurnMetadata(msgspec.Struct, frozen=True):
    continuation_id: str | None = None
    requests: list[Any] | None = None
    usage_info: list[Any] | None = None


class ConversationState(msgspec.Struct, frozen=True):
    conversation_id: str | None = None
    #: A typed prompt that has no answer yet.
    next_message: Any = None
    history: list[Any] | None = None
    #: Computed before the newest pair is pushed: informational, never a slice.
    valid_history_range: Any = None
    transcript: list[str] | None = None
    #: By server name; the built-in tools stand under `native___`.
    tools: dict[str, list[SavedTool]] | None = None
    context_manager: ContextManager | None = None
    context_message_length: int | None = None
    #: A text up to 1.12, then a pair of text and request metadata.
    latest_summary: Any = None
    #: 1.11, 1.12–1.13, and 1.14 on.
    current_model_id: str | None = None
    model: str | None = None
    model_info: ModelInfo | None = None
    file_line_tracker: Any = None
    mcp_enabled: bool | None = None
    tangent_state: TangentState | None = None
    checkpoint_manager: CheckpointManager | None = None
    user_turn_metadata: UserTurnMetadata | None = None

    @property
    def model_name(self) -> str | None:
        """The model, whichever way this version spells it."""
        info = self.model_info or ModelInfo()
        return info.model_id or info.model_name or self.model or self.current_model_id
