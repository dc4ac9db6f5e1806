"""Texts that Codex writes in the user's name, and what the output of its tools says of their end.

The client itself takes a text for an injected one if it begins with an opening marker and ends with
the closing one, whatever the case of their letters; so do we. A prompt that only begins like one is
a prompt.
"""

from __future__ import annotations

import re
from typing import Any

from rireki.model.parts import ResultStatus
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.rules import TextRule, tagged

__all__ = ["INJECTED", "SHELL", "output_of", "shell_command"]

SHELL = "shell command"
_CONTEXT = (
    *("skill", "skills_instructions", "goal_context", "recommended_plugins", "model_switch"),
    *("current_time_reminder", "personality_spec", "collaboration_mode", "apps_instructions"),
    *("permissions instructions", "plugins_instructions", "multi_agent_mode", "multi_agent_role"),
    *("realtime_conversation", "realtime_delegation", "codex_internal_context", "context_window"),
)
_EXTERNAL = re.compile(r"\s*<external_([\w-]+)>.*</external_\1>\s*", re.DOTALL | re.IGNORECASE)


class _External(TextRule):
    """Context that an app gives, under a name of its own."""

    def hits(self, text: str) -> bool:
        return _EXTERNAL.fullmatch(text) is not None


INJECTED: tuple[TextRule, ...] = (
    tagged("environment", "environment", "environment_context", "fold"),
    tagged("instructions", "instructions", "user_instructions", "fold"),
    TextRule(
        "instructions",
        "instructions of AGENTS.md",
        "# AGENTS.md instructions",
        "</INSTRUCTIONS>",
        display="fold",
    ),
    tagged("interrupted", "interrupted", "turn_aborted", "hidden"),
    tagged("sub-agent", "a sub-agent reported", "subagent_notification"),
    tagged(SHELL, SHELL, "user_shell_command"),
    tagged("picture", "picture", "image_resize_notice", "hidden"),
    TextRule("picture", "picture", "<image ", ">", display="hidden"),
    TextRule("picture", "picture", "</image>", exact=True, display="hidden"),
    tagged("hook", "hook", "hook_prompt"),
    *(tagged("context", name, name, "fold") for name in _CONTEXT),
    _External("context", "context of an app", "", display="fold"),
    TextRule("warning", "warning", "Warning: "),
    TextRule(
        "summary",
        "summary",
        "Another language model started to solve this problem and produced a summary",
        display="fold",
    ),
)
_COMMAND = re.compile(r"<command>\n?(.*?)\n?</command>\s*<result>\n?(.*?)\n?</result>", re.DOTALL)
_EXIT = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d+)", re.MULTILINE)


def shell_command(text: str) -> tuple[str, str]:
    """A command that the person ran with `!`, and what came of it."""
    found = _COMMAND.search(text)
    return (found[1], found[2]) if found else (text, "")


def output_of(payload: Any) -> tuple[str, ResultStatus]:
    """The text of a tool's output, and how the tool ended: there is no flag, the text tells."""
    value = get(payload, "output")
    if isinstance(value, list):
        text = "\n".join(filter(None, (string(one, "text") for one in items(payload, "output"))))
    elif isinstance(value, dict):
        text = words(value.get("content", value))
        if value.get("success") is False:
            return text, "error"
    else:
        text = words(value)
    return _unwrapped(text)


def _unwrapped(text: str) -> tuple[str, ResultStatus]:
    """Up to 0.47, and for patches also later, the output is JSON with the exit code beside it."""
    if text.startswith('{"output"'):
        try:
            wrapped = load(text.encode("utf-8", "replace"))
        except NotReadable:
            return text, "ok"
        code = get(wrapped, "metadata", "exit_code")
        return string(wrapped, "output"), "ok" if code in (0, None) else "error"
    head = text[:400]
    if head.rstrip().endswith("aborted by user") or head.startswith("aborted"):
        return text, "cancelled"
    code = _EXIT.search(head)
    failed = head.startswith("Script failed") or (code is not None and code[1] != "0")
    return text, "error" if failed else "ok"
