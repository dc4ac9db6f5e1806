"""Prompts that an earlier process stored and never gave: they wait for one yes of the person.

The yes is asked like everything that waits for the person, as an `Ask`, so that every interface
shows and answers it. It is made from the queue, not from the journal: a journal may come from
somebody else, and nothing it says can stand for a yes.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from rireki.drive.values import Ask, Option, Queued

__all__ = ["GIVE", "TAKE_BACK", "is_recovered", "recovered_ask"]

GIVE, TAKE_BACK = "give", "take_back"
_OPTIONS = [
    Option(GIVE, "Give them to the agent", "choice"),
    Option(TAKE_BACK, "Take them back", "choice"),
]
_MARK = "-recovered-"


def recovered_ask(session: str, prompts: Sequence[Queued]) -> Ask:
    """Its id changes with the prompts: a yes counts only for what was shown."""
    shown = "\n\n".join(prompt.text for prompt in prompts)
    told = repr([(prompt.id, prompt.text) for prompt in prompts])
    count = "a prompt" if len(prompts) == 1 else f"{len(prompts)} prompts"
    return Ask(
        id=f"{session}{_MARK}{crc32(told.encode('utf-8', 'surrogatepass')):08x}",
        what="prompts",
        title=f"{count} from before rireki was restarted",
        detail=shown,
        options=_OPTIONS,
        at=prompts[0].at,
        number=prompts[0].number,
    )


def is_recovered(session: str, ask: str) -> bool:
    """Whether an ask is, or was, one about the recovered prompts of a session."""
    return ask.startswith(session + _MARK)
