"""Prompts of an earlier process, at the terminal: shown, then given, taken back or left waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from rireki.drive.recovered import GIVE, TAKE_BACK
from rireki.drive.values import AskAnswer
from rireki.errors import RirekiError
from rireki.show.catalogue import say
from rireki.show.safe import safe

if TYPE_CHECKING:
    from rireki.cli.chat.bridge import Running
    from rireki.cli.chat.lines import ChatInput
    from rireki.cli.chat.output import ChatOutput
    from rireki.drive.values import Ask, PromptReceipt

__all__ = ["Decision", "decide"]

Decision: TypeAlias = Literal["give", "take_back", "leave"]
_CHOICES: dict[str, Decision] = {
    "1": "give",
    "y": "give",
    "yes": "give",
    "はい": "give",
    "2": "take_back",
    "3": "leave",
    "n": "leave",
    "no": "leave",
    "いいえ": "leave",
}


def decide(
    running: Running, paper: ChatOutput, lines: ChatInput
) -> tuple[Decision, PromptReceipt | None]:
    """Ask what is to become of them, if there are any; "give" with nothing given means there are none."""
    ask = next((ask for ask in running.status().asks if ask.what == "prompts"), None)
    if ask is None:
        return "give", None
    if not lines.terminal:
        raise RirekiError("recovered-prompts-wait", title=ask.title)
    decision = _asked(ask, paper, lines)
    if decision == "leave":
        return decision, None
    option = GIVE if decision == "give" else TAKE_BACK
    return decision, running.answer(ask.id, AskAnswer(option=option))


def _asked(ask: Ask, paper: ChatOutput, lines: ChatInput) -> Decision:
    style = paper.style
    paper.line(f"{style.yellow(say('Waiting for your yes:'))} {style.bold(say(ask.title))}")
    for line in safe(ask.detail).splitlines():
        paper.line(f"  {line}")
    for number, words in enumerate(("Give them to the agent", "Take them back", "Leave"), 1):
        paper.line(f"  {number}. {say(words)}")
    while True:
        try:
            said = lines.ask(say("A number:"))
        except KeyboardInterrupt:
            return "leave"
        if said is None:
            return "leave"
        if decision := _CHOICES.get(said.strip().lower()):
            return decision
