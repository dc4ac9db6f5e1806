"""What a transcript and a journal both have, message by message.

Knows messages only: the rules and flags that `journal_message.py` gave those of the journal, and of the
transcript's nothing but what every reader's messages have.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Container, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice

from rireki.model.message import Message
from rireki.model.parts import Text, ToolCall, ToolResult
from rireki.sources.bridge.turns import TranscriptTurn
from rireki.sources.bridge.words import (
    flags_of,
    is_given,
    is_typed,
    rule_of,
    squeezed,
    texts_of,
    words_of,
)

__all__ = ["MessageMatcher"]

#: How much earlier than it was given a transcript may say that a prompt came.
SLACK = timedelta(seconds=2)
#: After every time there is.
LATEST = "9999"


class MessageMatcher:
    """Finds what both have: the place in the transcript by the place in the journal.

    None stands for what the transcript has somewhere in the turn, in no message alone. What only
    the journal has is left out.
    """

    def __init__(
        self, transcript: Sequence[Message], journal: Sequence[Message], running: Container[str]
    ) -> None:
        self.transcript = transcript
        self.journal = journal
        self.running = running
        self.prompts = [(at, m) for at, m in enumerate(journal) if rule_of(m) == "prompt"]
        self.words = [words_of(message) for _, message in self.prompts]
        self.twins: dict[int, int | None] = {}
        #: The prompts that have a twin, by their number, and where those twins stand.
        self.known: list[int] = []
        self.taken: dict[int, int] = {}
        #: The turns of the transcript that were looked into, by where they begin.
        self.turns: dict[int, TranscriptTurn] = {}

    def find(self) -> dict[int, int | None]:
        self._prompts_by_id()
        self._prompts_by_time()
        self._prompts_by_order()
        turn: TranscriptTurn | None = None
        for at, message in enumerate(self.journal):
            rule = rule_of(message)
            if rule == "prompt":
                turn = self._turn(self.twins.get(at)) if is_given(message) else turn
            elif rule in ("call", "result"):
                self._work(at, message)
            elif turn is not None and turn.has(message):
                self.twins[at] = turn.place_of(message)
        return self.twins

    # ── prompts ──

    def _prompts_by_id(self) -> None:
        known = {m.id: at for at, m in enumerate(self.transcript) if is_typed(m)}
        for number, (_, message) in enumerate(self.prompts):
            if message.id in known:
                self._note(number, known[message.id])

    def _prompts_by_time(self) -> None:
        """In order, each at most once: the first thing of these words typed since it was given."""
        for number in range(len(self.prompts)):
            places = self._open(number)
            if places:
                since, before = self._span(number)
                times = [(place, self.transcript[place].at) for place in places]
                self._take(number, [place for place, at in times if at and since <= at < before])

    def _prompts_by_order(self) -> None:
        """Where the transcript has no times: what was typed last is what was given last.

        What is typed has been kept when its turn has ended. Before that, and if the turn was cut
        short, equal words may be far older ones; unless they stand behind another twin.
        """
        ended: dict[str, list[int]] = {}
        others: list[int] = []
        for number, (_, message) in enumerate(self.prompts):
            if self._open(number):
                certain = message.id not in self.running and "cut" not in flags_of(message)
                (ended.setdefault(self.words[number], []) if certain else others).append(number)
        for words, numbers in ended.items():
            places = self._untimed(self.typed[words])[-len(numbers) :]
            for number, place in zip(numbers, places, strict=False):
                self._take(number, [place])
        for number in others:
            if self._bounds(number)[0]:
                self._take(number, self._untimed(self._open(number)))

    def _take(self, number: int, places: Sequence[int]) -> None:
        """The first of some places that is open to a prompt."""
        free = set(self._open(number))
        found = next((place for place in places if place in free), None)
        if found is not None:
            self._note(number, found)

    def _note(self, number: int, place: int) -> None:
        self.twins[self.prompts[number][0]] = place
        self.taken[place] = number
        insort(self.known, number)

    def _untimed(self, places: Sequence[int]) -> list[int]:
        return [at for at in places if self.transcript[at].at is None and at not in self.taken]

    def _open(self, number: int) -> list[int]:
        """Where a prompt that is still without a twin may have one."""
        at, message = self.prompts[number]
        if at in self.twins or not is_given(message):
            return []
        start, end = self._bounds(number)
        places = self.typed.get(self.words[number], [])
        between = places[bisect_left(places, start) : bisect_left(places, end)]
        return [place for place in between if place not in self.taken]

    def _bounds(self, number: int) -> tuple[int, int]:
        """Behind the twins of the prompts before, before those of the prompts behind."""
        at = bisect_left(self.known, number)
        before, after = self.known[max(0, at - 1) : at], self.known[at : at + 1]
        start = next((self._place(other) + 1 for other in before), 0)
        return start, next((self._place(other) for other in after), len(self.transcript))

    def _place(self, number: int) -> int:
        place = self.twins[self.prompts[number][0]]
        assert place is not None
        return place

    @cached_property
    def typed(self) -> dict[str, list[int]]:
        """Where each text was typed. What is mentioned in a prompt may follow it, in a part of its own."""
        found: dict[str, list[int]] = {}
        for place, message in enumerate(self.transcript):
            if is_typed(message):
                texts = texts_of(message, Text)
                for words in {squeezed(texts), *filter(None, (squeezed([one]) for one in texts))}:
                    found.setdefault(words, []).append(place)
        return found

    def _span(self, number: int) -> tuple[str, str]:
        """From when on, and before when, the agent may have noted a prompt.

        What came after the next one of these words was given is the copy of that one; what came
        after a turn was cut short was typed again by somebody.
        """
        at, message = self.prompts[number]
        rival = self._rivals[number]
        before = rival.at or LATEST if rival is not None else LATEST
        if "cut" in flags_of(message):
            behind = islice(self.journal, at + 1, None)
            end = next((m.at for m in behind if rule_of(m) in ("turn_end", "state")), None)
            before = min(before, _moved(end, SLACK) if end else before)
        return _moved(message.at, -SLACK) if message.at else LATEST, before

    @cached_property
    def _rivals(self) -> list[Message | None]:
        """For each prompt the next one that says the same."""
        found: list[Message | None] = []
        newest: dict[str, Message] = {}
        for (_, message), words in zip(reversed(self.prompts), reversed(self.words), strict=True):
            found.append(newest.get(words))
            if is_given(message):
                newest[words] = message
        return found[::-1]

    # ── what the agent did ──

    @cached_property
    def _calls(self) -> dict[tuple[str, str], int]:
        found: dict[tuple[str, str], int] = {}
        for at, message in enumerate(self.transcript):
            for part in message.parts:
                if isinstance(part, ToolCall):
                    found.setdefault(("call", part.call_id), at)
                elif isinstance(part, ToolResult):
                    found.setdefault(("result", part.call_id), at)
        return found

    def _work(self, at: int, message: Message) -> None:
        for part in message.parts:
            if isinstance(part, ToolCall | ToolResult):
                twin = self._calls.get((rule_of(message), part.call_id))
                if twin is not None:
                    self.twins[at] = twin

    def _turn(self, start: int | None) -> TranscriptTurn | None:
        """The turn that a message of the transcript begins; None when it has none of it."""
        if start is None:
            return None
        if start not in self.turns:
            self.turns[start] = TranscriptTurn(self.transcript, start)
        return self.turns[start]


def _moved(at: str, by: timedelta) -> str:
    try:
        moment = datetime.fromisoformat(at) + by
    except (OverflowError, ValueError):
        # A day that never was, or one at the end of all days.
        return at
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
