"""Texts that Codex writes in the user's name, and what the output of its tools says of their end.

The client itself takes a text for an injected one if it begins with an opening marker and ends with
the closing one, whatever the case of their letters; so do we. A prompt that only begins like one is
a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rireki.model.message import Display
from rireki.model.parts import ResultStatus, Unknown
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.rules import TextRule, tagged

__all__ = [
    "ASKED",
    "INJECTED",
    "SHELL",
    "agent_words",
    "directory_in",
    "odd_pieces",
    "output_of",
    "shell_command",
    "summaries_in",
]

SHELL = "shell command"
_SUMMARY = "Another language model started to solve this problem and produced a summary"
#: Earlier versions wrote these in the person's name; who types a warning of their own means it.
_WARNINGS = (
    "apply_patch was requested via ",
    "The maximum number of unified exec processes",
    "Your account was flagged for ",
)
_CONTEXT = (
    *("skill", "skills_instructions", "goal_context", "recommended_plugins", "model_switch"),
    *("current_time_reminder", "personality_spec", "collaboration_mode", "apps_instructions"),
    *("permissions instructions", "plugins_instructions", "multi_agent_mode", "multi_agent_role"),
    *("realtime_conversation", "realtime_delegation"),
)


class _Pattern(TextRule):
    """Texts whose opening marker has a name of its own in it: `opens` is an expression for the whole."""

    def hits(self, text: str) -> bool:
        return re.fullmatch(self.opens, text.strip(), re.DOTALL | re.IGNORECASE) is not None


def _marked(name: str, label: str, tag: str, display: Display = "chip") -> TextRule:
    """A text between exactly these two tags. With attributes in it, the first one is none of the client's."""
    return TextRule(name, label, f"<{tag}>", f"</{tag}>", display=display)


INJECTED: tuple[TextRule, ...] = (
    _marked("environment", "environment", "environment_context", "fold"),
    _marked("instructions", "instructions", "user_instructions", "fold"),
    TextRule(
        "instructions",
        "instructions of AGENTS.md",
        "# AGENTS.md instructions",
        "</INSTRUCTIONS>",
        display="fold",
    ),
    _marked("interrupted", "interrupted", "turn_aborted", "hidden"),
    _marked("sub-agent", "a sub-agent reported", "subagent_notification"),
    _marked(SHELL, SHELL, "user_shell_command"),
    _marked("picture", "picture", "image_resize_notice", "hidden"),
    _Pattern("picture", "picture", r"<image name=\[Image #\d+\][^<>]*>|</image>", display="hidden"),
    tagged("hook", "hook", "hook_prompt"),
    *(_marked("context", name, name, "fold") for name in _CONTEXT),
    *(
        tagged("context", name, name, "fold")
        for name in ("codex_internal_context", "context_window")
    ),
    _Pattern(
        "context", "context of an app", r"<external_([\w-]+)>.*</external_\1>", display="fold"
    ),
    *(TextRule("warning", "warning", f"Warning: {warning}") for warning in _WARNINGS),
    TextRule(
        "summary",
        "summary",
        _SUMMARY,
        display="fold",
    ),
)
#: How the client refuses, or tells that the person did.
_REFUSED = re.compile(
    r"aborted by user|aborted\s*\Z|((exec command|patch) )?rejected by user"
    r"|exec_command failed for .{0,4000}?Rejected\(",
    re.DOTALL,
)
_FAILED = ("Script failed", "execution error: ", "exec_command failed for ", "failed to parse ")
_COMMAND = re.compile(r"<command>\n?(.*?)\n?</command>\s*<result>\n?(.*?)\n?</result>", re.DOTALL)
_DIRECTORY = re.compile(r"<cwd>(.*?)</cwd>|^Current working directory: (.*)$", re.MULTILINE)
_EXIT = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d+)", re.MULTILINE)

#: Pieces of a prompt that are understood; and where a piece of anything has what it says.
ASKED = ("text", "image", "local_image", "skill", "mention")
_SAYING = ("text", "image_url", "encrypted_content")


def odd_pieces(content: Sequence[Any], known: Sequence[str] = ()) -> list[Unknown]:
    """Pieces of a message, or of an output, that say nothing that is understood."""
    return [
        Unknown(string(one, "type") or "content", one)
        for one in content
        if string(one, "type") not in known
        and not any(isinstance(get(one, name), str) for name in _SAYING)
    ]


def shell_command(text: str) -> tuple[str, str]:
    """A command that the person ran with `!`, and what came of it."""
    found = _COMMAND.search(text)
    return (found[1], found[2]) if found else (text, "")


def agent_words(payload: Any) -> tuple[str, str]:
    """What an agent says to another, and the task in it, if it is one that can be read."""
    said = []
    for one in items(payload, "content"):
        sealed = string(one, "encrypted_content")
        # The service gives and takes it sealed; others write what it says as it is.
        is_plain = re.search(r"\s|[^\x00-\x7f]", sealed) is not None
        said.append(
            string(one, "text") or (sealed if is_plain else "(encrypted)" if sealed else "")
        )
    text = "\n".join(filter(None, said))
    head, _, task = text.partition("Payload:\n")
    is_task = "NEW_TASK" in head and task.strip() != "(encrypted)"
    return text, task.strip() if is_task else ""


def directory_in(text: str) -> str:
    """Where the agent is, as the description of the machine says."""
    found = _DIRECTORY.search(text)
    return (found[1] or found[2]).strip() if found else ""


def summaries_in(compacted: Any) -> list[str]:
    """What was made of the thread so far: said outright, or among the texts that take its place."""
    history = items(compacted, "replacement_history")
    texts = [string(one, "text") for item in history for one in items(item, "content")]
    return [string(compacted, "message"), *(text for text in texts if text.startswith(_SUMMARY))]


def output_of(payload: Any) -> tuple[str, ResultStatus]:
    """The text of a tool's output, and how the tool ended: there is no flag, the text tells."""
    value = get(payload, "output")
    if isinstance(value, list):
        odd = [piece.raw for piece in odd_pieces(items(payload, "output"))]
        told = [*(string(one, "text") for one in items(payload, "output")), *map(words, odd)]
        text = "\n".join(filter(None, told))
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
    # What the tool itself printed says nothing about how it ended.
    head, marked, _ = text[:400].partition("\nOutput:")
    if _REFUSED.match(text) or head.rstrip().endswith("aborted by user"):
        return text, "cancelled"
    code = _EXIT.search(head) if marked else _EXIT.match(text)
    failed = head.startswith(_FAILED) or (code is not None and code[1] != "0")
    return text, "error" if failed else "ok"
