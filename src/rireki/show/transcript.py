"""Which messages of a conversation are told, and which tool results belong under which call.

The same choice for text, Markdown and JSON. Knows nothing about how they look.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Notice, Text, ToolCall, ToolResult
from rireki.model.times import to_datetime

__all__ = [
    "NEVER_ANSWERED",
    "Placed",
    "PairedResults",
    "Transcript",
    "choose",
    "error_in",
    "is_over",
    "plain_text",
    "prompts_before",
    "results_by_call",
    "unanswered",
]

#: An answer may still come as long as something happened so lately.
QUIET = timedelta(minutes=10)
NEVER_ANSWERED = "never answered"
#: What a prompt that was sent may be called; any other label says itself what became of it.
_SENT = (
    None,
    "from an MCP prompt",
    "headless",
    "only here",
    "only in the transcript",
    "sent while working",
    "task",
)


class Transcript(NamedTuple):
    """A conversation with its messages, and the sub-agents it started."""

    conversation: Conversation
    messages: Sequence[Message]
    children: Sequence[Transcript] = ()
    #: Nothing more is to be expected of it just now.
    over: bool = True


def choose(
    messages: Iterable[Message], everything: bool = False, upstream: bool = False
) -> list[Message]:
    """The whole story; with `everything` also what is hidden and earlier versions of rewritten
    messages, with `upstream` only what the source holds now."""
    return [
        message
        for message in messages
        if (everything or (message.display != "hidden" and message.replaced_by is None))
        and (not upstream or message.upstream == "present")
    ]


class Placed(NamedTuple):
    """A result and the message it came in."""

    result: ToolResult
    message: Message


class PairedResults(NamedTuple):
    """Results by the message and the id of the call they belong to, and those that found none."""

    under: dict[tuple[str, str], list[Placed]]
    #: (message id, call id) of results that are told where they stand.
    alone: set[tuple[str, str]]


def results_by_call(messages: Sequence[Message]) -> PairedResults:
    """Match by call id over the whole story; where an id was used twice, the last call before."""
    calls: dict[str, list[tuple[int, str]]] = {}
    for position, message in enumerate(messages):
        for part in message.parts:
            if isinstance(part, ToolCall):
                calls.setdefault(part.call_id, []).append((position, message.id))
    results = PairedResults({}, set())
    for position, message in enumerate(messages):
        for part in message.parts:
            if isinstance(part, ToolResult):
                owner = _owner(calls.get(part.call_id, []), position)
                if owner is None:
                    results.alone.add((message.id, part.call_id))
                else:
                    placed = results.under.setdefault((owner, part.call_id), [])
                    placed.append(Placed(part, message))
    return results


def _owner(calls: Sequence[tuple[int, str]], position: int) -> str | None:
    before = [owner for place, owner in calls if place <= position]
    if before:
        return before[-1]
    return calls[0][1] if calls else None


def error_in(message: Message) -> str:
    """The words of an error that stands by itself: the provider's, the agent's, a hook's."""
    if message.display not in ("chip", "fold"):
        return ""
    errors = [part for part in message.parts if isinstance(part, Notice) and part.level == "error"]
    return "\n".join(error.text.strip() for error in errors)


def is_over(conversation: Conversation, now: datetime) -> bool:
    last = to_datetime(conversation.updated_at or "")
    return last is None or now - last > QUIET


def unanswered(story: Transcript) -> set[str]:
    """Prompts to which the agent never said a word: an error came instead, or nothing at all.

    What was typed right before another prompt may have been answered together with it.
    """
    if story.conversation.nature == "prompts":
        return set()
    found: set[str] = set()
    waiting: list[str] = []
    failed = False
    for message in story.messages:
        if _is_passed_over(message):
            continue
        if _is_prompt(message):
            if failed:
                found.update(waiting)
                waiting, failed = [], False
            waiting += [message.id] if message.label in _SENT else []
        elif _ends_waiting(message):
            waiting, failed = [], False
        elif error_in(message):
            failed = True
    if failed or story.over:
        found.update(waiting)
    return found


def prompts_before(messages: Iterable[Message], changed: Container[str]) -> set[str]:
    """Prompts that may be `unanswered` no longer, or only now, since these messages changed."""
    found: set[str] = set()
    waiting: list[str] = []
    for message in messages:
        if message.id in changed:
            found.update(waiting)
        if _is_passed_over(message):
            continue
        if _is_prompt(message):
            waiting.append(message.id)
        elif _ends_waiting(message):
            waiting = []
    return found


def _is_passed_over(message: Message) -> bool:
    hidden = message.display == "hidden"
    return hidden or message.abandoned or message.replaced_by is not None


def _is_prompt(message: Message) -> bool:
    return message.author == "person" and message.display == "bubble"


def _ends_waiting(message: Message) -> bool:
    return message.author in ("agent", "tool") or message.label == "interrupted"


def plain_text(message: Message) -> str:
    """What was said in words."""
    return "\n\n".join(part.text for part in message.parts if isinstance(part, Text))
