"""The types of line this source writes, by what becomes of them."""

from __future__ import annotations

__all__ = ["CONTEXT", "FILES", "HOOKS", "QUIET_SYSTEM", "SILENT_SYSTEM", "SYNTHETIC", "is_metadata"]

#: The model of answers that no model gave.
SYNTHETIC = "<synthetic>"

_METADATA = frozenset(
    (
        "summary",
        "custom-title",
        "ended-by-model",
        "ai-title",
        "last-prompt",
        "tag",
        "relocated",
        "agent-name",
        "agent-color",
        "agent-setting",
        "pr-link",
        "frame-link",
        "bridge-session",
        "file-history-snapshot",
        "attribution-snapshot",
        "speculation-accept",
        "mode",
        "permission-mode",
        "isolation-latch",
        "worktree-state",
        "queue-operation",
        "marble-origami-commit",
        "marble-origami-snapshot",
        "marble-origami-reset",
        "content-replacement",
        "fork-context-ref",
        "continued-in",
        "history-suppression",
        "file-history-delta",
        "session-owner",
        "dev-mods",
        "memory-mode",
        "atis-latch",
        "tools-used",
        "derived-from",
        "cost-state",
        "api-request-shape",
        "api-request-blob",
        "api-request",
        "observer-ref",
        "resume-head-vouch",
    )
)
#: Families of metadata whose members we have not all seen.
_FAMILIES = ("data-flow-", "artifact-")


def is_metadata(name: str) -> bool:
    """Lines that tell facts about a session and are no messages. The last of a type counts."""
    return name in _METADATA or name.startswith(_FAMILIES)


#: System lines that only time or count something.
QUIET_SYSTEM = frozenset(("turn_duration", "stop_hook_summary"))
#: System lines we know by name; where one of them says nothing, there is nothing to show.
SILENT_SYSTEM = frozenset(
    (
        "api_error",
        "informational",
        "local_command",
        "away_summary",
        "bridge_status",
        "memory_saved",
        "model_fallback",
        "permission_retry",
        "scheduled_task_fire",
        "agents_killed",
    )
)

HOOKS = ("hook_", "async_hook_response")
FILES = frozenset(("file", "directory"))
#: Attachments by which the program tells the model where it is; people are not shown them.
CONTEXT = frozenset(
    [
        "agent_listing_delta",
        "agent_mention",
        "auto_mode",
        "budget_usd",
        "command_permissions",
        "compact_file_reference",
        "critical_system_reminder",
        "date",
        "date_change",
        "deferred_tools_delta",
        "delegate_mode",
        "diagnostics",
        "dynamic_skill",
        "edited_image_file",
        "edited_text_file",
        "environment",
        "instructions",
        "invoked_skills",
        "mcp_instructions_delta",
        "mcp_resource",
        "memory",
        "model",
        "nested_memory",
        "new_directory",
        "opened_file_in_ide",
        "output_style",
        "plan_file_reference",
        "plan_mode",
        "plan_mode_exit",
        "plan_mode_reentry",
        "prompt_snapshot",
        "relevant_memories",
        "remote_session_change",
        "selected_lines_in_ide",
        "session_context",
        "skill_listing",
        "structured_output",
        "task_progress",
        "task_reminder",
        "task_status",
        "team_context",
        "teammate_mailbox",
        "todo",
        "todo_reminder",
        "token_usage",
        "ultramemory",
        "ultrathink_effort",
        "unified_tasks",
    ]
)
