"""Texts that the client itself puts into a conversation, and what they mean.

A table, read by the interpreters of rows and of logs. It knows texts only; where
a text must stand for a rule to hold is theirs to say.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CANCELLED", "PUT_IN", "REDACTED", "SyntheticRule", "rule_of_answer", "rule_of_prompt"]

#: The output of every call that a person cancelled.
CANCELLED = "Tool use was cancelled by the user"
#: Stands for results in a prompt that the client made of them when it trimmed.
REDACTED = "<tool result redacted>"


class SyntheticRule(NamedTuple):
    """Why a text is not simply what a person typed or a model said."""

    name: str
    label: str
    #: False where a person chose the text by a key, as with a denial: that is still their turn.
    harness: bool = True


#: Any text, of either side, that a prompt of a tool server put in.
PUT_IN = SyntheticRule("MCP prompt", "from an MCP prompt")
_RESUME = SyntheticRule("resume prompt", "asked for a summary on resuming")
_TIMEOUT_PROMPT = SyntheticRule("timeout prompt", "asked again after a timeout")
_INTERRUPT_PROMPT = SyntheticRule("interrupt text", "interrupted")
_REDACTED = SyntheticRule("redacted result", "tool results, left out")
_DENIAL = SyntheticRule("denial", "denied", harness=False)
_INTERRUPT_ANSWER = SyntheticRule("interrupt answer", "interrupted")
_TIMEOUT_ANSWER = SyntheticRule("timeout answer", "timed out")

_PROMPTS = {
    "In a few words, summarize our conversation so far.": _RESUME,
    "The user interrupted the tool execution.": _INTERRUPT_PROMPT,
    REDACTED: _REDACTED,
}
#: Texts whose end varies between versions.
_PROMPT_STARTS = {
    "You took too long to respond": _TIMEOUT_PROMPT,
    "I deny this tool request": _DENIAL,
}
_ANSWERS = {
    "Tool uses were interrupted, waiting for the next user prompt": _INTERRUPT_ANSWER,
    "Response timed out - message took too long to generate": _TIMEOUT_ANSWER,
}


def rule_of_prompt(text: str) -> SyntheticRule | None:
    """The rule for a prompt that the client wrote, or None for one that a person typed."""
    exact = _PROMPTS.get(text.strip())
    if exact is not None:
        return exact
    return next((rule for start, rule in _PROMPT_STARTS.items() if text.startswith(start)), None)


def rule_of_answer(text: str) -> SyntheticRule | None:
    """The rule for an answer that the client wrote, or None for one that a model gave."""
    return _ANSWERS.get(text.strip())
