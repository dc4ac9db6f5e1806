"""Whatever waits for the person, asked at the terminal: permissions, plans, questions.

A number chooses, in the same order as in the browser; words refuse with a reason. Where nobody is
at the terminal it is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from rireki.drive.values import Ask, AskAnswer, Option
from rireki.errors import RirekiError
from rireki.show.catalogue import say
from rireki.show.safe import one_line, safe

if TYPE_CHECKING:
    from rireki.cli.chat.bridge import Running
    from rireki.cli.chat.lines import ChatInput
    from rireki.cli.chat.output import ChatOutput

__all__ = ["Asker"]

NOBODY = "Nobody is at the terminal who could allow this."
YES, NO = ("y", "yes", "はい"), ("n", "no", "いいえ")


class Asker:
    def __init__(self, running: Running, paper: ChatOutput, lines: ChatInput) -> None:
        self._running, self._paper, self._lines = running, paper, lines
        self._done: set[str] = set()

    def work_off(self, asks: list[dict[str, Any]]) -> None:
        """One after the other; each is asked once."""
        for ask in asks:
            # Prompts of an earlier process are asked about before anything else (chat_recovered.py).
            if ask["id"] in self._done or ask["what"] == "prompts":
                continue
            self._done.add(ask["id"])
            answer = self._answer(msgspec.convert(ask, Ask))
            try:
                self._running.answer(ask["id"], answer)
            except RirekiError as error:
                # It ended meanwhile, or the agent did.
                self._paper.error(error)

    def _answer(self, ask: Ask) -> AskAnswer:
        if not self._lines.terminal:
            told = f"refused, for nobody is there to ask: {one_line(ask.title)}"
            self._paper.hint(say(told))
            return AskAnswer(reason=NOBODY) if ask.what != "question" else AskAnswer()
        self._tell(ask)
        if ask.what == "question":
            return self._values(msgspec.to_builtins(ask.questions))
        return self._option(ask)

    def _tell(self, ask: Ask) -> None:
        style = self._paper.style
        head = {
            "permission": say("May it?"),
            "plan": say("The plan:"),
            "question": say("It asks:"),
        }[ask.what]
        self._paper.line(f"{style.yellow(say(head))} {style.bold(one_line(ask.title))}")
        for line in safe(ask.detail).splitlines():
            self._paper.line(f"  {line}")

    # ── permissions and plans ──

    def _option(self, ask: Ask) -> AskAnswer:
        choices = [*map(_choice, ask.options), say(ask.reasoned)]
        for number, choice in enumerate(choices, 1):
            self._paper.line(f"  {number}. {choice}")
        while True:
            said = self._lines.ask(say("A number, or words to refuse with:"))
            if said is None:
                return AskAnswer(option=_refusal(ask.options))
            said = said.strip()
            chosen = _chosen(ask.options, said)
            if chosen is not None:
                return AskAnswer(option=chosen.id)
            if said == str(len(choices)):
                said = (self._lines.ask(say("Why?")) or "").strip()
                return AskAnswer(option=_refusal(ask.options), reason=said or None)
            if said and not said.isdigit():
                return AskAnswer(option=_refusal(ask.options), reason=said)

    # ── questions ──

    def _values(self, questions: list[dict[str, Any]]) -> AskAnswer:
        values: dict[str, list[str]] = {}
        for question in questions:
            said = self._question(question)
            if said is None:
                return AskAnswer()
            if said:
                values[question["id"]] = said
        return AskAnswer(values=values)

    def _question(self, question: dict[str, Any]) -> list[str] | None:
        """The labels that were chosen, or the person's own words; None refuses to answer at all."""
        options = question.get("options", [])
        self._paper.line(f"  {one_line(question['question'])}")
        for number, option in enumerate(options, 1):
            more = f" — {one_line(option['description'])}" if option.get("description") else ""
            self._paper.line(f"  {number}. {one_line(option['label'])}{more}")
        while True:
            said = self._lines.ask(_way(question))
            if said is None:
                return None
            found = _labels(question, said.strip())
            if found is not None:
                return found


def _way(question: dict[str, Any]) -> str:
    if not question.get("options"):
        return say("Your answer:")
    ways = "Numbers" if question.get("multiple") else "A number"
    return say(f"{ways}, or your own words:" if question.get("free") else f"{ways}:")


def _labels(question: dict[str, Any], said: str) -> list[str] | None:
    """None when it has to be asked again."""
    if not said:
        return None if question.get("required") else []
    options = question.get("options", [])
    parts = said.replace(",", " ").split()
    if options and all(part.isdecimal() and 1 <= int(part) <= len(options) for part in parts):
        if len(parts) > 1 and not question.get("multiple"):
            return None
        return [options[int(part) - 1]["label"] for part in parts]
    same = [option["label"] for option in options if option["label"].lower() == said.lower()]
    if same or not options or question.get("free"):
        return same or [said]
    return None


def _choice(option: Option) -> str:
    more = f" ({one_line(option.more)})" if option.more else ""
    label = option.label if option.kind == "choice" else say(option.label)
    return f"{one_line(label)}{more}"


def _chosen(options: list[Option], said: str) -> Option | None:
    if said.isdecimal() and 1 <= int(said) <= len(options):
        return options[int(said) - 1]
    for words, kind in ((YES, "allow_once"), (NO, "reject_once")):
        if said.lower() in words:
            return next((option for option in options if option.kind == kind), None)
    return None


def _refusal(options: list[Option]) -> str | None:
    return next((option.id for option in options if option.refuses), None)
