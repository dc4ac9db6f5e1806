"""Counts a conversation while it is being read: the same rules for every source.

Calls and results are counted by distinct call id, over the whole story. A turn
is something a person typed. A conversation is finished when the agent spoke
last and every call of that last answer has its result, or when nobody ever
asked it anything. Whether it is finished says nothing about its pattern.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rireki.model.conversation import Answer, Conversation, Pattern
from rireki.model.message import Usage
from rireki.model.parts import Part, ToolCall, ToolResult

__all__ = ["Tally", "pattern_of", "total_usage"]


def pattern_of(calls: int) -> Pattern:
    """What kind of conversation so many tool calls make."""
    if not calls:
        return "simple"
    return "single tool" if calls == 1 else "several tools"


def total_usage(answers: Sequence[Answer]) -> Usage | None:
    """The tokens of all answers together; None when no model answered."""
    if not answers:
        return None
    parts = [answer.usage for answer in answers]
    return Usage(
        input_tokens=sum([part.input_tokens for part in parts]),
        output_tokens=sum([part.output_tokens for part in parts]),
        cache_read_tokens=sum([part.cache_read_tokens for part in parts]),
        cache_write_tokens=sum([part.cache_write_tokens for part in parts]),
        lower_bound=any(part.lower_bound for part in parts),
    )


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

    def note(self, parts: Iterable[Part]) -> None:
        """The calls and results among the parts of a message."""
        for part in parts:
            if isinstance(part, ToolCall):
                self.asked(part.call_id, part.name)
            elif isinstance(part, ToolResult):
                self.resulted(part.call_id)

    def answered(self) -> None:
        """The agent said something that ends a turn unless a call follows."""
        self.finished = True

    def interrupted(self) -> None:
        self.finished = False

    @property
    def unanswered(self) -> set[str]:
        """Calls without a result."""
        return self.calls.keys() - self.results.keys()

    @property
    def unasked(self) -> set[str]:
        """Results without a call."""
        return self.results.keys() - self.calls.keys()

    def fill(self, conversation: Conversation) -> None:
        """Write the counts into the conversation."""
        conversation.messages = self.messages
        conversation.turns = self.turns
        conversation.entries = self.entries
        conversation.finished = self.finished
        conversation.tool_calls = len(self.calls)
        conversation.tools = dict(Counter(filter(None, self.calls.values())))
        conversation.tool_results = len(self.results)
        conversation.calls_without_result = len(self.unanswered)
        conversation.results_without_call = len(self.unasked)
        conversation.pattern = pattern_of(len(self.calls))
