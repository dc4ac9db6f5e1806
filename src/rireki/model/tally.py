"""Counts a conversation while it is being read: the same rules for every source.

Calls and results are counted by distinct call id, over the whole story. A turn
is something a person typed. A conversation is finished when the agent spoke
last and every call of that last answer has its result, or when nobody ever
asked it anything. Whether it is finished says nothing about its pattern.
"""

from __future__ import annotations

from collections import Counter

from rireki.model.conversation import Conversation, Pattern

__all__ = ["Tally", "pattern_of"]


def pattern_of(calls: int) -> Pattern:
    """What kind of conversation so many tool calls make."""
    if not calls:
        return "simple"
    return "single tool" if calls == 1 else "several tools"


class Tally:
    def __init__(self) -> None:
        self.messages = 0
        self.turns = 0
        self.entries = 0
        #: The tool behind each call.
        self.calls: dict[str, str] = {}
        self.results: dict[str, None] = {}
        self.finished = True
        self.gone = False

    def typed(self) -> int:
        """A person typed something that starts a turn; returns its number."""
        self.turns += 1
        self.finished = False
        return self.turns

    def asked(self, call_id: str, tool: str) -> None:
        self.calls.setdefault(call_id, tool)
        self.finished = False

    def resulted(self, call_id: str) -> None:
        self.results.setdefault(call_id)
        self.finished = False

    def answered(self) -> None:
        """The agent said something that ends a turn unless a call follows."""
        self.finished = True

    def interrupted(self) -> None:
        self.finished = False

    def fill(self, conversation: Conversation) -> None:
        """Write the counts into the conversation."""
        conversation.messages = self.messages
        conversation.turns = self.turns
        conversation.entries = self.entries
        conversation.finished = self.finished
        conversation.tool_calls = len(self.calls)
        conversation.tools = dict(Counter(filter(None, self.calls.values())))
        conversation.tool_results = len(self.results)
        conversation.calls_without_result = len(self.calls.keys() - self.results.keys())
        conversation.results_without_call = len(self.results.keys() - self.calls.keys())
        conversation.pattern = pattern_of(len(self.calls))
