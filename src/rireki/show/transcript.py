"""Which messages of a conversation are told, and which prompts were never answered.

The same choice for text, Markdown and JSON. Knows nothing about how they look.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from rireki.errors import NotFound
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Notice, Text
from rireki.model.times import to_datetime

if TYPE_CHECKING:
    from rireki.masking import Masker

__all__ = [
    "NEVER_ANSWERED",
    "Transcript",
    "choose",
    "error_in",
    "is_over",
    "mask_transcript",
    "message_named",
    "plain_text",
    "prompts_before",
    "short_message",
    "unanswered",
]

_UUID = re.compile(r"([0-9a-fA-F]{8})(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

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


def mask_transcript(story: Transcript, masker: Masker) -> Transcript:
    """The same without the secrets in it, nor in its sub-agents."""
    return story._replace(
        conversation=masker.conversation(story.conversation),
        messages=[masker.message(message) for message in story.messages],
        children=[mask_transcript(child, masker) for child in story.children],
    )


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


def short_message(id: str) -> str:
    """What to type for a message: the beginning of a UUID, and what a reader put behind it."""
    found = _UUID.match(id)
    return found[1] + id[found.end() :] if found else id


def message_named(conversation: str, ids: Sequence[str], name: str) -> str:
    """The id of a message: of one that is named so, or printed so, or begins so."""
    fitting = (
        [id for id in ids if id == name]
        or [id for id in ids if short_message(id) == name]
        or [id for id in ids if id.startswith(name)]
    )
    if not fitting:
        raise NotFound("no-message-to-show", id=conversation, name=name)
    return fitting[0]
