"""The types of line this source writes, by what becomes of them."""

from __future__ import annotations

__all__ = ["FILES", "HOOKS", "QUIET_SYSTEM", "SILENT_SYSTEM", "SYNTHETIC", "is_metadata"]

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
