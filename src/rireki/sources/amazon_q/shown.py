"""What a model is shown when a conversation is gone on with: its last summary, and what came since."""

from __future__ import annotations

from collections.abc import Sequence

from rireki.model.message import Message
from rireki.sources.amazon_q.messages import CHECKPOINT, COMPACTED
from rireki.sources.amazon_q.transcript import LABEL, TYPED

__all__ = ["shown"]

#: Held by the source, but not for the model; so are the chips of commands and answers to questions.
_ASIDE = (CHECKPOINT, LABEL, TYPED)


def shown(messages: Sequence[Message]) -> list[str]:
    """Ids of messages in the order a model gets them; all of them without a compaction."""
    summaries = [at for at, message in enumerate(messages) if message.label == COMPACTED]
    if not summaries:
        return [message.id for message in messages]
    last = summaries[-1]
    # An event log tells a compaction where it happened: what it spared stands before it.
    spared = [message for message in messages[:last] if _is_held(message)]
    return [message.id for message in [messages[last], *spared, *messages[last + 1 :]]]


def _is_held(message: Message) -> bool:
    said = message.display not in ("divider", "chip") and message.label not in _ASIDE
    return said and message.upstream == "present"
